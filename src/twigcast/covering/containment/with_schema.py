"""Containment among documents that keep to a schema, where patterns cover more.

A schema is represented by its label paths, an automaton
(:mod:`~twigcast.covering.paths.automaton`): which elements, attributes and texts can be where. If
``price`` stands only in ``/stocks/stock``, then ``/stocks/stock/price`` and ``//price`` cover each
other. Documents need only have paths of the schema. (That a ``stock`` must have a ``price`` is not
used.)

For single paths this is decided exactly. The narrower path, the schema and the wider paths are
followed together, from the document node down. A search state is a state of the schema, how far the
narrower path has been matched (chosen nondeterministically), and for the wider paths the *set* of
steps that they can have reached, as bits:

    schema     (0) ──stocks──▶ (1) ──stock──▶ (2) ──price──▶ (3)
    narrower   //price          0              0              done
    wider      /stocks/*/price  1              2              done

A search state in which the narrower path is done and no wider one is, is a counterexample; if there
is none, every path of the schema with a node for the narrower pattern has one for a wider one. Of
search states that differ in the set alone, those with a minimal set suffice.

Trees are expanded by the schema first: :mod:`~twigcast.covering.containment.schema_expansion`.

Dissemination uses schemas for advertisements alone, not for this.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Final, NamedTuple

from twigcast.covering.containment.canonical_models import Steps
from twigcast.covering.containment.homomorphism import Follows, TargetTwig, target_twig
from twigcast.covering.containment.twig import Twig, twig_from_arrays
from twigcast.covering.paths.automaton import DOCUMENT_NODE, PathAutomaton, TextKind
from twigcast.language.condition.model import ANY_ELEMENT, TEXT, Condition, Kind, Label

_LABELS_KNOWN_MAX: Final = 1024
"""Labels whose edges are cached; the cache is cleared when it is full."""

_EDGES_PER_STEP: Final = 8
"""Visiting so many edges of a schema takes about as long as trying to join two nodes."""


@dataclass(frozen=True)
class SchemaPaths:
    """The label paths of a schema, with tables to follow them up and down."""

    automaton: PathAutomaton
    _edges_by_label: dict[Label, dict[int, list[tuple[Label, int]]]] = field(
        default_factory=dict, repr=False, compare=False
    )

    def edges(self, label: Label) -> dict[int, list[tuple[Label, int]]]:
        """The edges that an element with the label can take, by source state.

        Each is the intersection of the element's and the edge's label, and the target.
        """
        found = self._edges_by_label.get(label)
        if found is None:
            if len(self._edges_by_label) >= _LABELS_KNOWN_MAX:
                self._edges_by_label.clear()
            found = self._edges_by_label[label] = {}
            for source, other, target in self.automaton.edges():
                met = label.meet(other)
                if met is not None:
                    found.setdefault(source, []).append((met, target))
        return found

    @cached_property
    def steps_a_node(self) -> int:
        """The steps it takes to find the possible states of one node."""
        edges = sum(len(state.edges) for state in self.automaton.states)
        return 1 + (len(self.automaton.states) + edges) // _EDGES_PER_STEP

    @cached_property
    def above(self) -> list[set[int]]:
        """For each state, the states with an edge to it."""
        found: list[set[int]] = [set() for _ in self.automaton.states]
        for source, _, target in self.automaton.edges():
            found[target].add(source)
        return found

    def or_below(self, states: Iterable[int]) -> set[int]:
        """The states, and all states that can be reached from them."""
        found = self.automaton.states
        return _with_reached(states, lambda state: (target for _, target in found[state].edges))

    def or_above(self, states: Iterable[int]) -> set[int]:
        """The states, and all states from which they can be reached."""
        return _with_reached(states, self.above.__getitem__)

    def with_leaf(self, label: Label) -> set[int]:
        """The states that may have such an attribute, or text."""
        return {
            number
            for number, state in enumerate(self.automaton.states)
            if (
                state.text is not TextKind.NONE
                if label == TEXT
                else any(label.meet(other) for other, _ in state.attributes)
            )
        }

    def with_child(self, label: Label, targets: set[int]) -> set[int]:
        """The states in which an element with the label may lead to one of the targets."""
        return {
            source
            for source, edges in self.edges(label).items()
            if any(target in targets for _, target in edges)
        }


def _with_reached(states: Iterable[int], near: Callable[[int], Iterable[int]]) -> set[int]:
    found = set(states)
    waiting = list(found)
    for state in waiting:
        new = set(near(state)) - found
        found |= new
        waiting.extend(new)
    return found


def possible_states(twig: Twig, schema: SchemaPaths) -> tuple[list[set[int]], list[set[int]]]:
    """For each node, its possible states by what is below it, and those of its parent."""
    everywhere = set(range(len(schema.automaton.states)))
    possible, above = [everywhere] * twig.size, [everywhere] * twig.size
    for node in range(twig.size - 1, 0, -1):
        label = twig.labels[node]
        assert label is not None
        if label.kind is Kind.ELEMENT:
            above[node] = schema.with_child(label, possible[node])
        else:
            above[node] = schema.with_leaf(label)
        if twig.reaches[node]:
            above[node] = schema.or_above(above[node])
        parent = twig.parents[node]
        possible[parent] = possible[parent] & above[node]
    return possible, above


def edges_from(
    schema: SchemaPaths, states: Iterable[int], label: Label
) -> Iterator[tuple[Label, int]]:
    """The edges from these states that an element with the label can take."""
    known = schema.edges(label)
    for state in states:
        yield from known.get(state, ())


def single_paths_of(twig: Twig) -> list[Twig]:
    """The paths from the context to the leaves of a twig."""
    paths = []
    for leaf in range(twig.size):
        if twig.children[leaf]:
            continue
        nodes = [leaf]
        while nodes[-1]:
            nodes.append(twig.parents[nodes[-1]])
        nodes.reverse()
        paths.append(
            twig_from_arrays(
                [twig.labels[node] for node in nodes],
                range(-1, len(nodes) - 1),
                [twig.reaches[node] for node in nodes],
                [twig.tests[node] for node in nodes],
            )
        )
    return paths


class _WiderStep(NamedTuple):
    """A step of a wider path: its conditions, and whether levels may be skipped before it."""

    label: Label
    tests: tuple[Condition, ...]
    far: bool


def _steps_of(path: Twig) -> list[_WiderStep]:
    """The steps of a condensed path, with a ``*`` for each level it requires."""
    steps: list[_WiderStep] = []
    for node in range(1, path.size):
        label, reach = path.labels[node], path.reaches[node]
        assert label is not None
        levels = [_WiderStep(ANY_ELEMENT, (), far=place == 0) for place in range(reach - 1)]
        steps += [*levels, _WiderStep(label, path.tests[node], far=reach == 1)]
    return steps


def paths_cover_under(
    schema: SchemaPaths,
    *,
    widers: Sequence[Twig],
    narrower: Twig,
    steps: Steps,
    follows: Follows,
) -> bool:
    """Whether the condensed wider paths together cover the narrower one, by the schema.

    Exact where there are no tests, otherwise sound. Raises OutOfSteps.
    """
    narrower_target = target_twig(narrower)
    positions = _WiderPositions(
        [w for w in widers if all(follows(narrower_target, 0, t) for t in w.tests[0])], follows
    )
    if positions.done(positions.first):
        return True
    steps.take(narrower.size * schema.steps_a_node)
    possible, above = possible_states(narrower, schema)
    if DOCUMENT_NODE not in possible[0]:
        return True
    last = narrower.size - 1
    smallest: dict[tuple[int, int], list[int]] = {(DOCUMENT_NODE, 0): [positions.first]}
    waiting = [(DOCUMENT_NODE, 0, positions.first)]
    while waiting:
        state, node, reached = waiting.pop()
        if node == last:
            return False
        steps.take(1 + len(schema.automaton.states[state].edges))
        for target, now, label_seen in _moves(schema, state, node, narrower):
            if target not in (possible[now] if now != node else above[node + 1]):
                continue
            after = positions.after(
                reached, label_seen, narrower_target, now if now != node else None
            )
            if positions.done(after):
                continue
            known = smallest.setdefault((target, now), [])
            if not any(other & after == other for other in known):
                known[:] = [other for other in known if other & after != after]
                known.append(after)
                waiting.append((target, now, after))
    return True


def _moves(
    schema: SchemaPaths, state: int, node: int, path: Twig
) -> Iterator[tuple[int, int, Label]]:
    """The next states of the schema and the narrower path, each with its label."""
    wanted = path.labels[node + 1]
    assert wanted is not None
    schema_state = schema.automaton.states[state]
    if wanted.kind is Kind.ELEMENT:
        for label_seen, target in edges_from(schema, (state,), wanted):
            yield target, node + 1, label_seen
    elif wanted == TEXT:
        if schema_state.text is not TextKind.NONE:
            yield state, node + 1, wanted
    else:
        for label, _ in schema_state.attributes:
            met = wanted.meet(label)
            if met is not None:
                yield state, node + 1, met
    if path.reaches[node + 1]:
        for label, target in schema_state.edges:
            yield target, node, label


class _WiderPositions:
    """Positions that wider paths can have reached: a bit for each number of steps of each path."""

    def __init__(self, widers: Sequence[Twig], follows: Follows) -> None:
        self.first = self._ends = self._skipping = 0
        self._steps: list[tuple[int, _WiderStep]] = []
        self._follows = follows
        self._passing: dict[tuple[Label, int | None], int] = {}
        place = 0
        for wider in widers:
            self.first |= 1 << place
            for step in _steps_of(wider):
                self._steps.append((1 << place, step))
                self._skipping |= step.far << place
                place += 1
            self._ends |= 1 << place
            place += 1

    def done(self, reached: int) -> bool:
        """Whether one of the wider paths has reached its end."""
        return bool(reached & self._ends)

    def after(
        self, reached: int, label_seen: Label, narrower_target: TargetTwig, node: int | None
    ) -> int:
        """The positions after one more node, of the narrower path if ``node`` is not None."""
        key = (label_seen, node)
        passing = self._passing.get(key)
        if passing is None:
            passing = self._passing[key] = sum(
                bit
                for bit, step in self._steps
                if step.label.includes(label_seen)
                and all(
                    node is not None and self._follows(narrower_target, node, test)
                    for test in step.tests
                )
            )
        return (reached & passing) << 1 | (reached & self._skipping)
