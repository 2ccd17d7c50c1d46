"""Counts of the label paths of a schema that linear patterns accept, level by level.

A *linear* pattern has no branches: ``/news//para/@lang``. It *selects* the label paths that end at
a node of its last step, and *accepts* those that pass such a node:

    /a/*/c selects /a/b/c; it accepts /a/b/c, /a/b/c/d, /a/b/c/@x, …

A document matches exactly if it has a path that is accepted. So patterns can be compared by the
paths of a schema: how many does a merger accept that none of its parts does (the degree D of
Dissemination, section 1.5.3), and is there any at all? There are too many paths to visit each, but
paths that have reached the same state of the schema's automaton and the same positions in the
patterns have the same continuations. They are counted together, so a level costs at most as many
steps as there are such combinations times the edges, however many paths there are.

The automaton of a linear pattern with k steps has the positions 0 to k, as bits of an integer:
position i means that the first i steps have been matched. Before a ``//`` step, a path also stays
at its position.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Final, NamedTuple, TypeAlias

from twigcast.covering.paths.automaton import (
    AUTOMATON_LIMITS,
    DOCUMENT_NODE,
    AutomatonLimits,
    PathAutomaton,
    PathState,
    Sketch,
    TextKind,
    path_automaton,
)
from twigcast.errors import SchemaLimitError, UsageError
from twigcast.language.condition.model import TEXT, TRUE, Condition, Exists, Kind, Label, Reach

COUNTING_STEPS_MAX: Final = 5_000_000
"""Labels followed in one count or search; twenty levels of NITF take some 30,000 for a pattern."""


class PathStep(NamedTuple):
    """One step of a linear pattern."""

    reach: Reach
    label: Label


LinearPath: TypeAlias = tuple[PathStep, ...]


def linear_path(condition: Condition) -> LinearPath | None:
    """The steps of a condition on the document node, or None if it is no linear pattern.

    >>> from twigcast.language import Pattern
    >>> len(linear_path(Pattern.parse("/a//b/@c").condition))
    3
    >>> linear_path(Pattern.parse("/a[b]/c").condition)
    """
    steps: list[PathStep] = []
    while isinstance(condition, Exists):
        steps.append(PathStep(condition.reach, condition.label))
        condition = condition.where
    return tuple(steps) if steps and condition is TRUE else None


def count_selected(paths: PathAutomaton, pattern: LinearPath, *, depth: int) -> tuple[int, ...]:
    """The number of label paths that the pattern selects, for each length from 1 to ``depth``.

    An attribute or a text is one more label. A label with any namespace counts as one.
    """
    search = _PathSearch(paths, [pattern], absorbing=False)
    return search.counts(depth, lambda positions: positions[0] >> len(pattern) & 1 == 1)


def count_accepted(
    paths: PathAutomaton,
    wanted: Sequence[LinearPath],
    *,
    but_not: Sequence[LinearPath] = (),
    depth: int,
) -> tuple[int, ...]:
    """The number of label paths of each length accepted by a wanted pattern and no excluded one.

    Every path of the schema counts, not only those to leaves: an automaton of
    paths does not record which elements may be leaves. SchemaLimitError if it takes too many steps.
    """
    search = _PathSearch(paths, [*wanted, *but_not], absorbing=True)
    return search.counts(depth, _accepts_only(wanted, but_not))


def accepted_path(
    paths: PathAutomaton, wanted: Sequence[LinearPath], *, but_not: Sequence[LinearPath] = ()
) -> tuple[Label, ...] | None:
    """A shortest label path accepted by a wanted pattern and no excluded one, or None.

    Without a limit on depth, hence exact: with None, ``wanted`` adds nothing to ``but_not``.
    SchemaLimitError if it takes too many steps.
    """
    search = _PathSearch(paths, [*wanted, *but_not], absorbing=True)
    return search.shortest(_accepts_only(wanted, but_not))


def selected_paths(
    paths: PathAutomaton, pattern: LinearPath, limits: AutomatonLimits = AUTOMATON_LIMITS
) -> PathAutomaton | None:
    """The paths of the automaton that lead to selected nodes; None if there are none.

    Everything beside these paths or below those nodes is left out.
    """
    search = _PathSearch(paths, [pattern], absorbing=False)
    edges = search.explored()
    selected = [at for at in edges if at[1][0] >> len(pattern) & 1]
    alive = _leading_to(selected, edges)
    if search.start not in alive:
        return None
    return path_automaton(_restricted(search.start, edges, alive), limits)


Positions: TypeAlias = tuple[int, ...]
SearchState: TypeAlias = tuple[int, Positions]
"""Where a path has arrived: a state of the schema, and the positions in each pattern."""

_Acceptance: TypeAlias = Callable[[Positions], bool]

_LEAF: Final = -1
"""The state of attributes and texts, below which there is nothing."""


class _PathSearch:
    """A search through the paths of an automaton together with some patterns."""

    def __init__(
        self, paths: PathAutomaton, patterns: Sequence[LinearPath], *, absorbing: bool
    ) -> None:
        if not all(patterns):
            raise UsageError("a linear pattern has at least one step")
        self.start: SearchState = (DOCUMENT_NODE, (1,) * len(patterns))
        self._patterns = patterns
        self._absorbing = absorbing
        self._steps_left = COUNTING_STEPS_MAX
        self._labels = [[*_all_labels(state)] for state in paths.states]
        self._fits: dict[Label, list[tuple[int, int]]] = {}

    def counts(self, depth: int, is_wanted: _Acceptance) -> tuple[int, ...]:
        level: dict[SearchState, int] = {self.start: 1}
        found: list[int] = []
        for _ in range(depth):
            below: dict[SearchState, int] = {}
            for at, number in level.items():
                for _label, target in self._successors(at):
                    below[target] = below.get(target, 0) + number
            found.append(sum(number for at, number in below.items() if is_wanted(at[1])))
            level = below
        return tuple(found)

    def shortest(self, is_wanted: _Acceptance) -> tuple[Label, ...] | None:
        reached_from: dict[SearchState, tuple[SearchState, Label] | None] = {self.start: None}
        waiting = [self.start]
        for at in waiting:
            if at != self.start and is_wanted(at[1]):
                return _path_to(at, reached_from)
            for label, target in self._successors(at):
                if target not in reached_from:
                    reached_from[target] = (at, label)
                    waiting.append(target)
        return None

    def explored(self) -> dict[SearchState, list[tuple[Label, SearchState]]]:
        """Every reachable search state, and its successors."""
        edges: dict[SearchState, list[tuple[Label, SearchState]]] = {}
        waiting = [self.start]
        for at in waiting:
            if at not in edges:
                edges[at] = list(self._successors(at))
                waiting.extend(target for _, target in edges[at])
        return edges

    def _successors(self, at: SearchState) -> Iterator[tuple[Label, SearchState]]:
        state, positions = at
        if state == _LEAF:
            return
        labels = self._labels[state]
        self._steps_left -= len(labels)
        if self._steps_left < 0:
            raise SchemaLimitError(
                "too many combinations of paths and patterns",
                limit="COUNTING_STEPS_MAX",
                given=COUNTING_STEPS_MAX - self._steps_left,
                allowed=COUNTING_STEPS_MAX,
            )
        for label, target in labels:
            masks = self._fits.get(label) or self._masks(label)
            ahead = tuple(
                (here & stay) | (here & fits) << 1
                for here, (stay, fits) in zip(positions, masks, strict=True)
            )
            if any(ahead):
                yield label, (target, ahead)

    def _masks(self, label: Label) -> list[tuple[int, int]]:
        """For each pattern, the positions that persist and those that the label advances."""
        masks = []
        for pattern in self._patterns:
            stay = 1 << len(pattern) if self._absorbing else 0
            fits = 0
            for position, step in enumerate(pattern):
                if step.reach is Reach.DESCENDANT:
                    stay |= 1 << position
                if step.label.meet(label):
                    fits |= 1 << position
            masks.append((stay, fits))
        self._fits[label] = masks
        return masks


def _accepts_only(wanted: Sequence[LinearPath], but_not: Sequence[LinearPath]) -> _Acceptance:
    """A test whether a wanted pattern is matched to its end and no excluded one is."""
    ends = [1 << len(pattern) for pattern in (*wanted, *but_not)]

    def is_wanted(positions: Positions) -> bool:
        done = [bool(here & end) for here, end in zip(positions, ends, strict=True)]
        return any(done[: len(wanted)]) and not any(done[len(wanted) :])

    return is_wanted


def _all_labels(state: PathState) -> Iterator[tuple[Label, int]]:
    yield from state.edges
    for label, _values in state.attributes:
        yield label, _LEAF
    if state.text is TextKind.ANY:
        yield TEXT, _LEAF


def _path_to(
    at: SearchState, reached_from: dict[SearchState, tuple[SearchState, Label] | None]
) -> tuple[Label, ...]:
    labels: list[Label] = []
    step = reached_from[at]
    while step is not None:
        at, label = step
        labels.append(label)
        step = reached_from[at]
    return tuple(reversed(labels))


def _leading_to(
    goals: Iterable[SearchState], edges: dict[SearchState, list[tuple[Label, SearchState]]]
) -> set[SearchState]:
    """The goals and all search states from which one of them can be reached."""
    above: dict[SearchState, list[SearchState]] = {}
    for at, followers in edges.items():
        for _label, target in followers:
            above.setdefault(target, []).append(at)
    found = set(goals)
    waiting = list(found)
    while waiting:
        new = [at for at in above.get(waiting.pop(), ()) if at not in found]
        found.update(new)
        waiting.extend(new)
    return found


def _restricted(
    start: SearchState,
    edges: dict[SearchState, list[tuple[Label, SearchState]]],
    alive: set[SearchState],
) -> Sketch:
    """The explored part of the automaton, restricted to the states that are alive."""
    sketch = Sketch()
    numbers = {start: DOCUMENT_NODE}
    for at in edges:
        if at in alive and at not in numbers and at[0] != _LEAF:
            numbers[at] = sketch.add(TextKind.BLANK)
    for at, number in numbers.items():
        kept = [(label, target) for label, target in edges[at] if target in alive]
        sketch.edges[number] = [
            (label, numbers[target]) for label, target in kept if label.kind is Kind.ELEMENT
        ]
        for label, _target in kept:
            if label.kind is Kind.ATTRIBUTE:
                sketch.attributes[number][label] = None
            elif label.kind is Kind.TEXT:
                sketch.texts[number] = TextKind.ANY
    return sketch
