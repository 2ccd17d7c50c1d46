"""How many label paths of a schema a linear pattern accepts, level by level; which ones, if any.

A *linear* pattern has no branches: ``/news//para/@lang``. It *selects* the label paths that end at
a node it asks for, and *accepts* those that pass such a node:

    /a/*/c selects /a/b/c; it accepts /a/b/c, /a/b/c/d, /a/b/c/@x, …

A document matches exactly if it has a path that is accepted. So patterns can be compared by the
paths of a schema: how many does a merger accept that none of its parts does (the degree D of
Dissemination, section 1.5.3), and is there any at all? There are too many paths to look at each,
but those that have come to the same state of the schema's automaton and to the same places in the
patterns have the same future. They are counted together, so a level costs at most as many
steps as there are such combinations times the edges, however many paths there are.

The automaton of a linear pattern with k steps has the places 0 to k, as bits of an integer: place i
says that the first i steps have been found. A step with ``//`` also stays where it is.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Final, NamedTuple, TypeAlias

from twigcast.covering.paths.automaton import (
    AUTOMATON_LIMITS,
    DOCUMENT_NODE,
    AutomatonLimits,
    PathAutomaton,
    Sketch,
    State,
    TextKind,
    path_automaton,
)
from twigcast.errors import SchemaLimitError, UsageError
from twigcast.language.condition.model import TEXT, TRUE, Condition, Exists, Kind, Label, Reach

__all__ = [
    "COUNTING_STEPS_MAX",
    "LinearPath",
    "Step",
    "accepted_path",
    "count_accepted",
    "count_selected",
    "linear_path",
    "selected_paths",
]

COUNTING_STEPS_MAX: Final = 5_000_000
"""Labels followed by one question about paths. Twenty levels of NITF take some 30,000 a pattern."""


class Step(NamedTuple):
    """One step of a linear pattern."""

    reach: Reach
    label: Label


LinearPath: TypeAlias = tuple[Step, ...]


def linear_path(condition: Condition) -> LinearPath | None:
    """The steps of a condition on the document node, or None if it is no linear pattern.

    >>> from twigcast.language import Pattern
    >>> len(linear_path(Pattern.parse("/a//b/@c").condition))
    3
    >>> linear_path(Pattern.parse("/a[b]/c").condition)
    """
    steps: list[Step] = []
    while isinstance(condition, Exists):
        steps.append(Step(condition.reach, condition.label))
        condition = condition.where
    return tuple(steps) if steps and condition is TRUE else None


def count_selected(paths: PathAutomaton, pattern: LinearPath, *, depth: int) -> tuple[int, ...]:
    """How many label paths of each length from 1 to ``depth`` end at a node the pattern asks for.

    An attribute or a text is one more label. A label with an open namespace counts as one.
    """
    walk = _Walk(paths, [pattern], absorbing=False)
    return walk.counts(depth, lambda places: places[0] >> len(pattern) & 1 == 1)


def count_accepted(
    paths: PathAutomaton,
    wanted: Sequence[LinearPath],
    *,
    but_not: Sequence[LinearPath] = (),
    depth: int,
) -> tuple[int, ...]:
    """How many label paths of each length are accepted by some pattern, but by none of the others.

    Every path of the schema counts, not only those to leaves: whether an element may be a leaf is
    more than an automaton of paths knows. SchemaLimitError if it takes too many steps.
    """
    walk = _Walk(paths, [*wanted, *but_not], absorbing=True)
    return walk.counts(depth, _between(wanted, but_not))


def accepted_path(
    paths: PathAutomaton, wanted: Sequence[LinearPath], *, but_not: Sequence[LinearPath] = ()
) -> tuple[Label, ...] | None:
    """A shortest label path that some pattern accepts and none of the others, or None.

    Without a limit on depth, hence exact: with None, ``wanted`` adds nothing to ``but_not``.
    SchemaLimitError if it takes too many steps.
    """
    return _Walk(paths, [*wanted, *but_not], absorbing=True).shortest(_between(wanted, but_not))


def selected_paths(
    paths: PathAutomaton, pattern: LinearPath, limits: AutomatonLimits = AUTOMATON_LIMITS
) -> PathAutomaton | None:
    """The paths of the automaton that lead to nodes the pattern asks for; None if there are none.

    What lies beside the way or below those nodes is left out.
    """
    walk = _Walk(paths, [pattern], absorbing=False)
    edges = walk.explored()
    selected = [at for at in edges if at[1][0] >> len(pattern) & 1]
    alive = _leading_to(selected, edges)
    if walk.start not in alive:
        return None
    return path_automaton(_narrowed(walk.start, edges, alive), limits)


Places: TypeAlias = tuple[int, ...]
At: TypeAlias = tuple[int, Places]
"""Where a path has come to: a state of the schema, and the places in each pattern."""

_Question: TypeAlias = Callable[[Places], bool]

_LEAF: Final = -1
"""The state of attributes and texts, below which there is nothing."""


class _Walk:
    """The paths of an automaton, followed together with some patterns."""

    def __init__(
        self, paths: PathAutomaton, patterns: Sequence[LinearPath], *, absorbing: bool
    ) -> None:
        if not all(patterns):
            raise UsageError("a linear pattern has at least one step")
        self.start: At = (DOCUMENT_NODE, (1,) * len(patterns))
        self._patterns = patterns
        self._absorbing = absorbing
        self._steps_left = COUNTING_STEPS_MAX
        self._labels = [[*_all_labels(state)] for state in paths.states]
        self._fits: dict[Label, list[tuple[int, int]]] = {}

    def counts(self, depth: int, is_wanted: _Question) -> tuple[int, ...]:
        level: dict[At, int] = {self.start: 1}
        found: list[int] = []
        for _ in range(depth):
            below: dict[At, int] = {}
            for at, number in level.items():
                for _label, target in self._from(at):
                    below[target] = below.get(target, 0) + number
            found.append(sum(number for at, number in below.items() if is_wanted(at[1])))
            level = below
        return tuple(found)

    def shortest(self, is_wanted: _Question) -> tuple[Label, ...] | None:
        came: dict[At, tuple[At, Label] | None] = {self.start: None}
        waiting = [self.start]
        for at in waiting:
            if at != self.start and is_wanted(at[1]):
                return _way_to(at, came)
            for label, target in self._from(at):
                if target not in came:
                    came[target] = (at, label)
                    waiting.append(target)
        return None

    def explored(self) -> dict[At, list[tuple[Label, At]]]:
        """All that can be come to, and what follows each."""
        edges: dict[At, list[tuple[Label, At]]] = {}
        waiting = [self.start]
        for at in waiting:
            if at not in edges:
                edges[at] = list(self._from(at))
                waiting.extend(target for _, target in edges[at])
        return edges

    def _from(self, at: At) -> Iterator[tuple[Label, At]]:
        state, places = at
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
                for here, (stay, fits) in zip(places, masks, strict=True)
            )
            if any(ahead):
                yield label, (target, ahead)

    def _masks(self, label: Label) -> list[tuple[int, int]]:
        """For each pattern the places that stay where they are, and those that a label advances."""
        masks = []
        for pattern in self._patterns:
            stay = 1 << len(pattern) if self._absorbing else 0
            fits = 0
            for place, step in enumerate(pattern):
                if step.reach is Reach.DESCENDANT:
                    stay |= 1 << place
                if step.label.meet(label):
                    fits |= 1 << place
            masks.append((stay, fits))
        self._fits[label] = masks
        return masks


def _between(wanted: Sequence[LinearPath], but_not: Sequence[LinearPath]) -> _Question:
    """Whether one of the first patterns has come to its end, and none of the others."""
    ends = [1 << len(pattern) for pattern in (*wanted, *but_not)]

    def is_wanted(places: Places) -> bool:
        done = [bool(here & end) for here, end in zip(places, ends, strict=True)]
        return any(done[: len(wanted)]) and not any(done[len(wanted) :])

    return is_wanted


def _all_labels(state: State) -> Iterator[tuple[Label, int]]:
    yield from state.edges
    for label, _values in state.attributes:
        yield label, _LEAF
    if state.text is TextKind.ANY:
        yield TEXT, _LEAF


def _way_to(at: At, came: dict[At, tuple[At, Label] | None]) -> tuple[Label, ...]:
    labels: list[Label] = []
    step = came[at]
    while step is not None:
        at, label = step
        labels.append(label)
        step = came[at]
    return tuple(reversed(labels))


def _leading_to(goals: Iterable[At], edges: dict[At, list[tuple[Label, At]]]) -> set[At]:
    """The goals and all from which one of them can be reached."""
    above: dict[At, list[At]] = {}
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


def _narrowed(start: At, edges: dict[At, list[tuple[Label, At]]], alive: set[At]) -> Sketch:
    """What was explored, as far as it is alive."""
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
