"""Labels that can stand at a position of a path, in documents of a schema.

Between ``/news/body`` and ``/para`` there may stand a ``section`` or a ``note``, and nothing else:
then ``/news/body/*/para`` means the same as its two special cases together. Merging needs this for
tens of thousands of positions, so sets of states of the schema are bits of integers:

    states_after(/news/body)     where the last node of a path can be
    states_with(/para)           which states allow such a path below them

and what both have in common is computed once for each pair of such sets.

All labels that *may* stand there are returned, including those in any namespace, and white space
counts as text.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple, TypeAlias

from twigcast.covering.bits import numbers_of, reached_from
from twigcast.covering.paths.automaton import DOCUMENT_NODE, PathAutomaton, TextKind
from twigcast.covering.paths.linear import LinearPath
from twigcast.language.condition.model import Kind, Label, Reach

States: TypeAlias = int
"""A set of states, as bits."""


class _Edge(NamedTuple):
    """A label, the states it can be taken from, and where it leads."""

    label: Label
    sources: States
    target: int


class ContextLabels:
    """The labels that can stand at positions of paths, with a cache."""

    def __init__(self, paths: PathAutomaton) -> None:
        self._paths = paths
        self._all: States = (1 << len(paths.states)) - 1
        self._edges = _joined_edges(paths)
        self._below = _Closure(paths.targets())
        self._above = _Closure(paths.sources())
        self._fitting: dict[Label, list[_Edge]] = {}
        self._after: dict[LinearPath, States] = {(): 1 << DOCUMENT_NODE}
        self._with: dict[LinearPath, States] = {(): self._all}
        self._leaves: dict[Label, States] = {}
        self._labels: dict[tuple[States, States, Kind], frozenset[Label]] = {}
        self._sequences: dict[tuple[States, States, int], frozenset[tuple[Label, ...]] | None] = {}

    def labels_at(
        self, *, before: LinearPath, reach: Reach, kind: Kind, behind: LinearPath
    ) -> frozenset[Label]:
        """The labels of all nodes that can stand between two parts of a path."""
        begin = self.states_after(before)
        if reach is Reach.DESCENDANT:
            begin = self._below.of(begin)
        key = (begin, self.states_with(behind), kind)
        found = self._labels.get(key)
        if found is None:
            found = self._labels[key] = frozenset(self._find_labels(*key))
        return found

    def sequences_between(
        self, *, before: LinearPath, behind: LinearPath, most: int
    ) -> frozenset[tuple[Label, ...]] | None:
        """The label sequences that can stand between; None if infinite or more than ``most``."""
        begin = self.states_after(before)
        ends = self.states_with((behind[0]._replace(reach=Reach.CHILD), *behind[1:]))
        key = (begin, ends, most)
        if key not in self._sequences:
            self._sequences[key] = self._find_sequences(*key)
        return self._sequences[key]

    def states_after(self, path: LinearPath) -> States:
        """Where the last node of a path of elements can be."""
        found = self._after.get(path)
        if found is None:
            reach, label = path[-1]
            above = self.states_after(path[:-1])
            if reach is Reach.DESCENDANT:
                above = self._below.of(above)
            found = 0
            for edge in self._fits(label):
                if edge.sources & above:
                    found |= 1 << edge.target
            self._after[path] = found
        return found

    def states_with(self, path: LinearPath) -> States:
        """The states below which there can be such a path."""
        states = self._with.get(path)
        if states is None:
            reach, label = path[0]
            if label.kind is Kind.ELEMENT:
                below = self.states_with(path[1:])
                states = 0
                for edge in self._fits(label):
                    if below >> edge.target & 1:
                        states |= edge.sources
            else:
                states = self._with_leaf(label)
            if reach is Reach.DESCENDANT:
                states = self._above.of(states)
            self._with[path] = states
        return states

    def _find_labels(self, begin: States, ends: States, kind: Kind) -> Iterator[Label]:
        if kind is Kind.ELEMENT:
            for edge in self._edges:
                if edge.sources & begin and ends >> edge.target & 1:
                    yield edge.label
        else:
            for number, state in enumerate(self._paths.states):
                if begin >> number & 1:
                    for label, _values in state.attributes:
                        yield label

    def _find_sequences(
        self, begin: States, ends: States, most: int
    ) -> frozenset[tuple[Label, ...]] | None:
        inside = self._above.of(ends)
        sequences: set[tuple[Label, ...]] = set()
        waiting: list[tuple[int, tuple[Label, ...], States]] = [
            (state, (), 1 << state) for state in numbers_of(begin & inside)
        ]
        while waiting:
            state, sequence, passed = waiting.pop()
            if ends >> state & 1:
                sequences.add(sequence)
            for label, target in self._paths.states[state].edges:
                if inside >> target & 1:
                    if passed >> target & 1:
                        return None
                    waiting.append((target, (*sequence, label), passed | 1 << target))
            if len(sequences) > most or len(waiting) > most:
                return None
        return frozenset(sequences)

    def _fits(self, label: Label) -> list[_Edge]:
        found = self._fitting.get(label)
        if found is None:
            found = [edge for edge in self._edges if edge.label.meet(label)]
            self._fitting[label] = found
        return found

    def _with_leaf(self, label: Label) -> States:
        found = self._leaves.get(label)
        if found is None:
            found = 0
            for number, state in enumerate(self._paths.states):
                if label.kind is Kind.TEXT:
                    allowed = state.text is not TextKind.NONE
                else:
                    allowed = any(label.meet(other) for other, _ in state.attributes)
                found |= allowed << number
            self._leaves[label] = found
        return found


def _joined_edges(paths: PathAutomaton) -> list[_Edge]:
    """The edges of the automaton, joined where they share label and target."""
    sources: dict[tuple[Label, int], States] = {}
    for source, label, target in paths.edges():
        sources[label, target] = sources.get((label, target), 0) | 1 << source
    return [_Edge(label, states, target) for (label, target), states in sources.items()]


class _Closure:
    """Reachability closures of sets of states, with a cache."""

    def __init__(self, near: list[States]) -> None:
        self._near = near
        self._known: dict[States, States] = {}

    def of(self, states: States) -> States:
        found = self._known.get(states)
        if found is None:
            found = self._known[states] = states | reached_from(states, self._near)
        return found
