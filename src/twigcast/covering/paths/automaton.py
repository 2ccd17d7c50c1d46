"""Automata of label paths: which nodes documents may have, and where.

A label path leads from the root of a document to one of its nodes: ``/news/body/@lang``. A set of
such paths describes what a publisher can send. NITF 2.5 has 38 million of them up to twelve labels
and infinitely many in all, so they are never listed; they are the paths through an automaton:

    <!ELEMENT list (item*)>                          list
    <!ELEMENT item (#PCDATA | list)*>        (0) ───────────▶ (1)
    <!ATTLIST item  kind CDATA #IMPLIED>                      │ ▲
                                                         item ▼ │ list
                                                              (2)   @kind, text

State 0 is the document node, an edge is an element with its label, and each state carries the
attributes and the text that such an element may have. Recursion is a cycle. Every path through the
automaton is a label path, wherever it ends: a document with a node has all nodes above it.

*Labels.* ``{u}f`` is that name alone, ``*:f`` an f in any namespace, ``*`` any element. A general
label stands only for names that no more special label of the same state covers. So a name takes the
most special edge that fits, and there is at most one: the automaton is deterministic, and follows a
document in one pass. A special edge leads to at least as much as a more general one beside it.

*Canonical form.* :func:`path_automaton` takes a :class:`Sketch`, in which edges may overlap at
will, makes it deterministic (Rabin and Scott 1959), merges equivalent states (Moore 1956) and
numbers them breadth first. States in which ``*:f`` or ``*`` stands for ``{u}f`` are merged as if
they named it, so that sketches of equal path sets become equal automata (up to
:data:`COMPLETED_EDGES_MAX`). :func:`covers_paths` decides inclusion in general.

Construction takes time linear in the edges, times the depth at which states become distinguishable,
which is 2 for a DTD. :class:`AutomatonLimits` bounds all of it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from enum import IntEnum
from itertools import chain
from typing import Final, NamedTuple, TypeAlias, TypeVar

from twigcast.covering.bits import mask_of
from twigcast.errors import SchemaLimitError
from twigcast.language.condition.model import Label
from twigcast.slips import check_fields

_Entry = TypeVar("_Entry")

DOCUMENT_NODE: Final = 0
"""The state in which every path begins."""

COMPLETED_EDGES_MAX: Final = 500_000
"""Edges that are looked at to tell states apart by what labels stand for. DTDs need none, but for
those that have names with and without a fixed namespace; beyond it, states are told apart by the
labels they name, and some that lead to the same stay two."""

INCLUSION_STEPS_MAX: Final = 2_000_000
"""Labels compared before an inclusion check gives up; two DTDs of 400 elements need some 40,000."""


class TextKind(IntEnum):
    """The text that may stand directly in an element; each kind allows all that lower ones do."""

    NONE = 0
    BLANK = 1
    """White space between elements, which readers without the DTD see as text."""
    ANY = 2


Values: TypeAlias = tuple[str, ...] | None
"""The values an attribute may have, ignoring spaces around them; None for any."""


@dataclass(frozen=True, slots=True)
class AutomatonLimits:
    """How large an automaton may be; each bound is inclusive."""

    states_max: int = 20_000
    """States, and pairs of a label and the state it leads to. DocBook needs 400."""
    edges_max: int = 1_000_000
    """Edges, attributes and their values visited during construction. DocBook needs 26,000; 1,000
    elements with content ``ANY`` need all."""

    def __post_init__(self) -> None:
        check_fields(self)

    def check_states(self, count: int) -> None:
        """SchemaLimitError if there are too many states, or pairs of a label and a state."""
        if count > self.states_max:
            raise SchemaLimitError(
                "the advertisement has too many states",
                limit="states_max",
                given=count,
                allowed=self.states_max,
            )

    def check_edges(self, count: int) -> None:
        """SchemaLimitError if there are too many edges, attributes and values."""
        if count > self.edges_max:
            raise SchemaLimitError(
                "the advertisement has too many edges",
                limit="edges_max",
                given=count,
                allowed=self.edges_max,
            )


AUTOMATON_LIMITS: Final = AutomatonLimits()


class PathState(NamedTuple):
    """The direct content of an element; edges and attributes are in the order of labels."""

    text: TextKind = TextKind.NONE
    attributes: tuple[tuple[Label, Values], ...] = ()
    edges: tuple[tuple[Label, int], ...] = ()


@dataclass(frozen=True, slots=True)
class PathAutomaton:
    """A set of label paths. Make one with :func:`path_automaton`."""

    states: tuple[PathState, ...]

    @property
    def size(self) -> int:
        """The number of edges, attributes and values."""
        return sum(len(state.edges) + _leaves(state) for state in self.states)

    def edges(self) -> Iterator[tuple[int, Label, int]]:
        """Every edge: its source state, its label, its target state."""
        for source, state in enumerate(self.states):
            for label, target in state.edges:
                yield source, label, target

    def targets(self) -> list[int]:
        """For each state, the states that its edges lead to, as bits."""
        return [mask_of(target for _, target in state.edges) for state in self.states]

    def sources(self) -> list[int]:
        """For each state, the states with an edge to it, as bits."""
        found = [0] * len(self.states)
        for source, _, target in self.edges():
            found[target] |= 1 << source
        return found

    def tables(self) -> list[dict[Label, int]]:
        """For each state, the target of each label; see :func:`most_special`."""
        return [dict(state.edges) for state in self.states]


@dataclass(slots=True)
class Sketch:
    """A nondeterministic draft of an automaton: edges with overlapping labels may lead apart.

    State 0 exists from the beginning.
    """

    texts: list[TextKind] = field(default_factory=lambda: [TextKind.NONE])
    attributes: list[dict[Label, Values]] = field(default_factory=lambda: [{}])
    edges: list[Sequence[tuple[Label, int]]] = field(default_factory=lambda: [[]])

    def add(
        self,
        text: TextKind = TextKind.NONE,
        attributes: Mapping[Label, Values] | None = None,
        edges: Sequence[tuple[Label, int]] = (),
    ) -> int:
        """Add a state and return its number."""
        self.texts.append(text)
        self.attributes.append(dict(attributes or {}))
        self.edges.append(edges)
        return len(self.texts) - 1

    def include(self, automaton: PathAutomaton) -> None:
        """Add every path of an automaton."""
        shift = len(self.texts) - 1
        for number, state in enumerate(automaton.states):
            edges = [(label, target + shift) for label, target in state.edges]
            if number == DOCUMENT_NODE:
                self.edges[DOCUMENT_NODE] = [*self.edges[DOCUMENT_NODE], *edges]
            else:
                self.add(state.text, dict(state.attributes), edges)


def most_special(table: Mapping[Label, int], label: Label) -> int | None:
    """The entry under the most special label that includes this one; None if none does.

    >>> from twigcast.language.condition.model import ANY_ELEMENT, Kind
    >>> f, g = Label(Kind.ELEMENT, None, "f"), Label(Kind.ELEMENT, "urn:u", "f")
    >>> most_special({f: 1, ANY_ELEMENT: 2}, g), most_special({g: 1}, f)
    (1, None)
    """
    target = table.get(label)
    if target is None and label.namespace is not None:
        target = table.get(Label(label.kind, None, label.local))
    return table.get(Label(label.kind)) if target is None else target


def path_automaton(sketch: Sketch, limits: AutomatonLimits = AUTOMATON_LIMITS) -> PathAutomaton:
    """The sketched paths as a minimal deterministic automaton.

    SchemaLimitError if it would be too large.
    """
    states = _completed(
        [_without_redundant(state, edges=False) for state in _determinised(sketch, limits)]
    )
    while True:
        states = _numbered(_merged(states))
        reduced = [_without_redundant(state) for state in states]
        if reduced == states:
            return PathAutomaton(tuple(states))
        states = reduced


def covers_paths(
    *, wider: PathAutomaton, narrower: PathAutomaton, steps_max: int = INCLUSION_STEPS_MAX
) -> bool:
    """Whether every path of the narrower automaton, with its text and values, is in the wider.

    A yes is always certain; a no is, unless the check would visit more than ``steps_max`` labels,
    attributes and values. Both automata are followed side by side. Where one has a label that the
    other has only as a special case of ``*:f`` or ``*``, the special case is tried.
    """
    wide, narrow = wider.tables(), narrower.tables()
    seen = {(DOCUMENT_NODE, DOCUMENT_NODE)}
    waiting = [(DOCUMENT_NODE, DOCUMENT_NODE)]
    for here, there in waiting:
        steps_max -= _leaves(wider.states[there]) + _leaves(narrower.states[here])
        if any(label.namespace is None for label in narrow[here]):
            steps_max -= len(wide[there])
        if steps_max < 0 or not _covers_leaves(wider.states[there], narrower.states[here]):
            return False
        for label in _labels_to_try(narrow[here], wide[there]):
            steps_max -= 1
            target, image = most_special(narrow[here], label), most_special(wide[there], label)
            if target is None:
                continue
            if image is None or steps_max < 0:
                return False
            if (target, image) not in seen:
                seen.add((target, image))
                waiting.append((target, image))
    return True


def label_order(label: Label) -> tuple[str, bool, str]:
    """A sort key: by name, then namespace; general labels come first."""
    return label.local or "", label.namespace is not None, label.namespace or ""


def _labels_to_try(narrow: Mapping[Label, object], wide: Mapping[Label, object]) -> Iterable[Label]:
    """All labels of the narrower side, and the special cases of them on the wider side."""
    if not any(label.namespace is None for label in narrow):
        return narrow
    special = (label for label in wide if label not in narrow)
    return [*narrow, *(new for new in special if any(old in narrow for old in _more_general(new)))]


def _leaves(state: PathState) -> int:
    """The number of attributes and values."""
    return sum(1 + len(values or ()) for _, values in state.attributes)


def _covers_leaves(wide: PathState, narrow: PathState) -> bool:
    if narrow.text > wide.text:
        return False
    places = {label: place for place, (label, _) in enumerate(wide.attributes)}
    own = {label: place for place, (label, _) in enumerate(narrow.attributes)}
    for label in _labels_to_try(own, places):
        place, image = most_special(own, label), most_special(places, label)
        if place is None:
            continue
        if image is None:
            return False
        values, allowed = narrow.attributes[place][1], wide.attributes[image][1]
        if allowed is not None and (values is None or not set(values) <= set(allowed)):
            return False
    return True


def _determinised(sketch: Sketch, limits: AutomatonLimits) -> list[PathState]:
    """One state for each set of the sketch's states that some path leads to."""
    sets = _StateSets(sketch, limits)
    states: list[PathState] = []
    for members in sets.waiting:
        edges = sets.edges_of(members)
        text = max(sketch.texts[member] for member in members)
        parts = [sketch.attributes[member] for member in members]
        sets.count_visits(sum(1 + len(values or ()) for part in parts for values in part.values()))
        attributes = _joined(parts)
        states.append(PathState(text, attributes, edges))
    return states


class _StateSets:
    """Sets of a sketch's states, numbered in the order in which they are reached."""

    def __init__(self, sketch: Sketch, limits: AutomatonLimits) -> None:
        first: tuple[int, ...] = (DOCUMENT_NODE,)
        self.waiting = [first]
        self._numbers = {first: DOCUMENT_NODE}
        self._arrivals: set[tuple[Label, int]] = set()
        self._visited = 0
        self._known: dict[tuple[int, ...], tuple[tuple[Label, int], ...]] = {}
        self._sketch = sketch
        self._limits = limits

    def edges_of(self, members: tuple[int, ...]) -> tuple[tuple[Label, int], ...]:
        """The edges of a set. Sets made of the same edge lists share the result."""
        lists = [self._sketch.edges[member] for member in members]
        self.count_visits(sum(map(len, lists)))
        key = tuple(map(id, lists))
        if key not in self._known:
            self._known[key] = tuple(self._new_edges(lists))
            self._arrivals.update(self._known[key])
            self._limits.check_states(max(len(self._numbers), len(self._arrivals)))
        return self._known[key]

    def count_visits(self, count: int) -> None:
        """Count visits to edges, attributes and values; SchemaLimitError if there are too many."""
        self._visited += count
        self._limits.check_edges(self._visited)

    def _new_edges(self, lists: list[Sequence[tuple[Label, int]]]) -> Iterator[tuple[Label, int]]:
        by_label: dict[Label, set[int]] = {}
        for label, target in chain.from_iterable(lists):
            by_label.setdefault(label, set()).add(target)
        has_general = any(label.namespace is None for label in by_label)
        for label in sorted(by_label, key=label_order):
            targets = by_label[label]
            if has_general:
                targets = targets.union(*_targets_of_more_general(by_label, label))
            members = tuple(targets) if len(targets) == 1 else tuple(sorted(targets))
            yield label, self._number(members)

    def _number(self, targets: tuple[int, ...]) -> int:
        if targets not in self._numbers:
            self._numbers[targets] = len(self._numbers)
            self.waiting.append(targets)
        return self._numbers[targets]


def _targets_of_more_general(
    by_label: Mapping[Label, set[int]], label: Label
) -> Iterator[set[int]]:
    """The targets of more general labels of the same state."""
    for general in _more_general(label):
        if general in by_label:
            yield by_label[general]


def _more_general(label: Label) -> Iterator[Label]:
    """The labels other than this one that include it, the most special first."""
    for general in (Label(label.kind, None, label.local), Label(label.kind)):
        if general != label:
            yield general


def _joined(parts: list[dict[Label, Values]]) -> tuple[tuple[Label, Values], ...]:
    """The attributes of several states as those of one, which allows what any of them allows."""
    if len(parts) == 1 and all(label.namespace is not None for label in parts[0]):
        return tuple(sorted(parts[0].items(), key=lambda item: label_order(item[0])))
    labels = sorted({label for part in parts for label in part}, key=label_order)
    return tuple((label, _all_values(parts, label)) for label in labels)


def _all_values(parts: list[dict[Label, Values]], label: Label) -> Values:
    union: set[str] = set()
    for part in parts:
        for other in (label, *_more_general(label)):
            if other in part:
                values = part[other]
                if values is None:
                    return None
                union.update(values)
    return tuple(sorted(union))


def _completed(states: list[PathState]) -> list[PathState]:
    """The states with an edge for each special label that only a more general one stands for.

    Two states can lead to the same of which one names a label and the other does not: so they are
    told apart by where labels lead, not by which are named. What says nothing new is dropped later.
    """
    named = {label for state in states for label, _ in state.edges}
    special: dict[str | None, list[Label]] = {None: sorted(named, key=label_order)}
    for label in special[None]:
        if label.namespace is not None:
            special.setdefault(label.local, []).append(label)
    left = COMPLETED_EDGES_MAX
    completed = []
    for state in states:
        table = dict(state.edges)
        wanted = {
            other: None
            for label in table
            if label.namespace is None
            for other in special.get(label.local, ())
        }
        left -= len(wanted)
        if left < 0:
            return states
        edges = [(label, most_special(table, label)) for label in {**table, **wanted}]
        there = [(label, target) for label, target in edges if target is not None]
        completed.append(state._replace(edges=tuple(sorted(there, key=_edge_order))))
    return completed


def _edge_order(edge: tuple[Label, int]) -> tuple[str, bool, str]:
    return label_order(edge[0])


def _merged(states: list[PathState]) -> list[PathState]:
    """The same paths without equivalent states."""
    classes = _numbered_classes(_equivalence_classes(states))
    kept: dict[int, PathState] = {}
    for own, state in zip(classes, states, strict=True):
        edges = tuple((label, classes[target]) for label, target in state.edges)
        kept.setdefault(own, PathState(state.text, state.attributes, edges))
    return list(kept.values())


def _equivalence_classes(states: list[PathState]) -> list[int]:
    """The class of each state: states with the same class have the same paths ahead of them.

    States with equal text, attributes and labels begin in one class. A class is split where its
    states lead to different classes; only states with an edge into a class that was just split are
    checked again. The largest piece of a class keeps its number, so a state is moved, and its
    predecessors are checked, no more often than the logarithm of the number of states (Hopcroft's
    argument). A chain of states, which splits one state at a time, takes one pass instead of one
    for each state.
    """
    classes = _numbered_classes(
        (state.text, state.attributes, tuple(label for label, _ in state.edges)) for state in states
    )
    members: dict[int, set[int]] = {}
    predecessors: list[list[int]] = [[] for _ in states]
    for number, state in enumerate(states):
        members.setdefault(classes[number], set()).add(number)
        for _, target in state.edges:
            predecessors[target].append(number)
    touched = set(range(len(states)))
    while touched:
        moved: list[set[int]] = []
        for own in sorted({classes[number] for number in touched}):
            moved.extend(_pieces(members[own], touched, classes, states))
        for piece in moved:
            members[classes[next(iter(piece))]] -= piece
            members[len(members)] = piece
            for number in piece:
                classes[number] = len(members) - 1
        touched = {number for piece in moved for one in piece for number in predecessors[one]}
    return classes


def _pieces(
    members: set[int], touched: set[int], classes: list[int], states: list[PathState]
) -> list[set[int]]:
    """The pieces of a class by the classes that its states lead to, without the largest piece.

    States that were not touched still lead to equal classes, so one of them represents all.
    """
    pieces: dict[tuple[int, ...], set[int]] = {}
    own = touched & members
    representative = next((number for number in members if number not in own), None)
    for number in own if representative is None else (*own, representative):
        classes_ahead = tuple(classes[target] for _, target in states[number].edges)
        pieces.setdefault(classes_ahead, set()).add(number)
    if len(pieces) == 1:
        return []
    untouched = len(members) - len(own)
    sizes = {
        classes_ahead: len(piece) + (untouched - 1 if representative in piece else 0)
        for classes_ahead, piece in pieces.items()
    }
    largest = max(sizes, key=lambda classes_ahead: sizes[classes_ahead])
    return [
        piece | (members - own) if representative in piece else piece
        for classes_ahead, piece in pieces.items()
        if classes_ahead != largest
    ]


def _numbered_classes(signatures: Iterable[object]) -> list[int]:
    """Numbers for signatures, from 0 in the order of arrival, equal ones for equal signatures."""
    numbers: dict[object, int] = {}
    return [numbers.setdefault(signature, len(numbers)) for signature in signatures]


def _numbered(states: list[PathState]) -> list[PathState]:
    """The reachable states, numbered breadth first."""
    numbers = {DOCUMENT_NODE: DOCUMENT_NODE}
    waiting = [DOCUMENT_NODE]
    for number in waiting:
        for _, target in states[number].edges:
            if target not in numbers:
                numbers[target] = len(numbers)
                waiting.append(target)
    return [
        PathState(
            states[number].text,
            states[number].attributes,
            tuple((label, numbers[target]) for label, target in states[number].edges),
        )
        for number in waiting
    ]


def _without_redundant(state: PathState, *, edges: bool = True) -> PathState:
    """The state without special labels that have the entry of a more general one."""
    leads = _not_redundant(state.edges) if edges else state.edges
    return PathState(state.text, _not_redundant(state.attributes), leads)


def _not_redundant(items: tuple[tuple[Label, _Entry], ...]) -> tuple[tuple[Label, _Entry], ...]:
    if all(label.namespace is not None for label, _ in items):
        return items  # None of them is more general than another: most states of most schemas.
    table = dict(items)
    return tuple(item for item in items if not _is_redundant(table, *item))


def _is_redundant(table: Mapping[Label, object], label: Label, entry: object) -> bool:
    if label.namespace is None:
        general = [Label(label.kind)] if label.local is not None else []
    else:
        general = [Label(label.kind, None, label.local), Label(label.kind)]
    for other in general:
        if other in table:
            return table[other] == entry
    return False
