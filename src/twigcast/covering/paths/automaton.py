"""Automata over label paths: which nodes documents may have, and where.

A label path leads from the root of a document to one of its nodes: ``/news/body/@lang``. What a
publisher can send is a set of such paths. NITF 2.5 has 38 million of them up to twelve labels and
no end of them in all, so they are never listed; they are the ways through an automaton:

    <!ELEMENT list (item*)>                          list
    <!ELEMENT item (#PCDATA | list)*>        (0) ───────────▶ (1)
    <!ATTLIST item  kind CDATA #IMPLIED>                      │ ▲
                                                         item ▼ │ list
                                                              (2)   @kind, text

State 0 is the document node, an edge is an element with its label, and what hangs on a state are
the attributes and the text that such an element may have. Recursion is just a cycle. Every way
through the automaton is a path, wherever it ends: a document with a node has all nodes above it.

*Labels.* ``{u}f`` is itself, ``*:f`` is an f in any namespace, ``*`` is any element, each standing
for what no more special label of the same state names. So the most special label that fits is the
edge to take, and there is at most one: the automaton is deterministic, and a document is followed
in one pass. A more special edge always leads to at least as much as a more general one beside it.

*One form.* :func:`path_automaton` takes a :class:`Sketch`, in which edges may overlap at will,
makes it deterministic (Rabin and Scott 1959), merges states that lead to the same (Moore 1956) and
numbers them breadth first. States in which ``*:f`` or ``*`` stands for ``{u}f`` are merged as if
they said so, so that sketches of equal path sets become equal automata (up to
:data:`COMPLETED_EDGES_MAX`). :func:`covers_paths` decides inclusion in general.

Making an automaton takes time linear in the edges, times the depth at which states are told apart,
which is 2 for a DTD. :class:`AutomatonLimits` bounds all of it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from enum import IntEnum
from itertools import chain
from typing import Final, NamedTuple, TypeAlias, TypeVar

from twigcast.errors import SchemaLimitError
from twigcast.language.condition.model import Label
from twigcast.slips import check_fields

__all__ = [
    "AUTOMATON_LIMITS",
    "DOCUMENT_NODE",
    "INCLUSION_STEPS_MAX",
    "AutomatonLimits",
    "PathAutomaton",
    "Sketch",
    "State",
    "TextKind",
    "Values",
    "covers_paths",
    "most_special",
    "path_automaton",
]

_Told = TypeVar("_Told")

DOCUMENT_NODE: Final = 0
"""The state every path begins in."""

COMPLETED_EDGES_MAX: Final = 500_000
"""Edges that are looked at to tell states apart by what labels stand for. DTDs need none, but for
those that have names with and without a fixed namespace; beyond it, states are told apart by the
labels they name, and some that lead to the same stay two."""

INCLUSION_STEPS_MAX: Final = 2_000_000
"""Labels compared before inclusion is given up. Two DTDs of 400 elements need some 40,000."""


class TextKind(IntEnum):
    """What text may stand directly in an element; each kind allows what those before it allow."""

    NONE = 0
    BLANK = 1
    """White space between elements, which readers without the DTD see as text."""
    ANY = 2


Values: TypeAlias = tuple[str, ...] | None
"""The values an attribute may have, but for spaces around them; None for any."""


@dataclass(frozen=True, slots=True)
class AutomatonLimits:
    """How large an automaton may be; each is a number that is still allowed."""

    states_max: int = 20_000
    """States, and pairs of a label and the state it leads to. DocBook needs 400."""
    edges_max: int = 1_000_000
    """Edges, attributes and their values looked at while the automaton is made. DocBook needs
    26,000; 1,000 elements with content ``ANY`` need all."""

    def __post_init__(self) -> None:
        check_fields(self)

    def check_states(self, given: int) -> None:
        """SchemaLimitError if there are too many states, or pairs of a label and a state."""
        if given > self.states_max:
            raise SchemaLimitError(
                "the advertisement has too many states",
                limit="states_max",
                given=given,
                allowed=self.states_max,
            )

    def check_edges(self, given: int) -> None:
        """SchemaLimitError if there are too many edges, attributes and values."""
        if given > self.edges_max:
            raise SchemaLimitError(
                "the advertisement has too many edges",
                limit="edges_max",
                given=given,
                allowed=self.edges_max,
            )


AUTOMATON_LIMITS: Final = AutomatonLimits()


class State(NamedTuple):
    """What an element may have directly in it; edges and attributes are in the order of labels."""

    text: TextKind = TextKind.NONE
    attributes: tuple[tuple[Label, Values], ...] = ()
    edges: tuple[tuple[Label, int], ...] = ()


@dataclass(frozen=True, slots=True)
class PathAutomaton:
    """A set of label paths. Make one with :func:`path_automaton`."""

    states: tuple[State, ...]

    @property
    def size(self) -> int:
        """Edges, attributes and values: what there is to be looked at."""
        return sum(len(state.edges) + _leaves(state) for state in self.states)

    def edges(self) -> Iterator[tuple[int, Label, int]]:
        """Every edge: where it begins, its label, where it ends."""
        for number, state in enumerate(self.states):
            for label, target in state.edges:
                yield number, label, target

    def tables(self) -> list[dict[Label, int]]:
        """For each state, where each of its labels leads; see :func:`most_special`."""
        return [dict(state.edges) for state in self.states]


@dataclass(slots=True)
class Sketch:
    """An automaton in the making, in which edges with overlapping labels may lead apart.

    State 0 is there from the beginning.
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
        """The number of a new state."""
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
    """Where a label leads, by the most special entry of the table that fits; None if none does.

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
    """The sketched paths as a deterministic automaton with as few states as it takes.

    SchemaLimitError if it would be too large.
    """
    states = _completed(
        [_without_idle(state, edges=False) for state in _determinised(sketch, limits)]
    )
    while True:
        states = _numbered(_merged(states))
        thinned = [_without_idle(state) for state in states]
        if thinned == states:
            return PathAutomaton(tuple(states))
        states = thinned


def covers_paths(
    *, wider: PathAutomaton, narrower: PathAutomaton, steps_max: int = INCLUSION_STEPS_MAX
) -> bool:
    """Whether every path of the narrower automaton, with its text and values, is in the wider.

    A no is certain unless more than ``steps_max`` labels, attributes and values would have to be
    looked at; a yes always.
    Both automata are followed side by side. Where one has a label that the other knows only as a
    special case of ``*:f`` or ``*``, the special case is tried.
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
        for label in _letters(narrow[here], wide[there]):
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
    """Labels by name, then namespace; those that leave something open come first."""
    return label.local or "", label.namespace is not None, label.namespace or ""


def _letters(narrow: Mapping[Label, object], wide: Mapping[Label, object]) -> Iterable[Label]:
    """The labels that must be tried: all of the narrower side, and special cases of them."""
    if not any(label.namespace is None for label in narrow):
        return narrow
    special = (label for label in wide if label not in narrow)
    return [*narrow, *(new for new in special if any(old in narrow for old in _more_general(new)))]


def _leaves(state: State) -> int:
    """How many attributes and values there are to be looked at."""
    return sum(1 + len(values or ()) for _, values in state.attributes)


def _covers_leaves(wide: State, narrow: State) -> bool:
    if narrow.text > wide.text:
        return False
    places = {label: place for place, (label, _) in enumerate(wide.attributes)}
    own = {label: place for place, (label, _) in enumerate(narrow.attributes)}
    for label in _letters(own, places):
        place, image = most_special(own, label), most_special(places, label)
        if place is None:
            continue
        if image is None:
            return False
        values, allowed = narrow.attributes[place][1], wide.attributes[image][1]
        if allowed is not None and (values is None or not set(values) <= set(allowed)):
            return False
    return True


def _determinised(sketch: Sketch, limits: AutomatonLimits) -> list[State]:
    """A state for each set of the sketch's states that some path leads to."""
    sets = _Sets(sketch, limits)
    states: list[State] = []
    for members in sets.waiting:
        edges = sets.edges_of(members)
        text = max(sketch.texts[member] for member in members)
        found = [sketch.attributes[member] for member in members]
        sets.scan(sum(1 + len(values or ()) for part in found for values in part.values()))
        attributes = _joined(found)
        states.append(State(text, attributes, edges))
    return states


class _Sets:
    """Sets of a sketch's states, numbered as they are come to."""

    def __init__(self, sketch: Sketch, limits: AutomatonLimits) -> None:
        first: tuple[int, ...] = (DOCUMENT_NODE,)
        self.waiting = [first]
        self._numbers = {first: DOCUMENT_NODE}
        self._arrivals: set[tuple[Label, int]] = set()
        self._scanned = 0
        self._known: dict[tuple[int, ...], tuple[tuple[Label, int], ...]] = {}
        self._sketch = sketch
        self._limits = limits

    def edges_of(self, members: tuple[int, ...]) -> tuple[tuple[Label, int], ...]:
        """The edges of a set. States that share their list of edges share what becomes of it."""
        lists = [self._sketch.edges[member] for member in members]
        self.scan(sum(map(len, lists)))
        key = tuple(map(id, lists))
        if key not in self._known:
            self._known[key] = tuple(self._new_edges(lists))
            self._arrivals.update(self._known[key])
            self._limits.check_states(max(len(self._numbers), len(self._arrivals)))
        return self._known[key]

    def scan(self, number: int) -> None:
        """So many edges, attributes and values more are looked at."""
        self._scanned += number
        self._limits.check_edges(self._scanned)

    def _new_edges(self, lists: list[Sequence[tuple[Label, int]]]) -> Iterator[tuple[Label, int]]:
        found: dict[Label, set[int]] = {}
        for label, target in chain.from_iterable(lists):
            found.setdefault(label, set()).add(target)
        has_general = any(label.namespace is None for label in found)
        for label in sorted(found, key=label_order):
            targets = found[label]
            if has_general:
                targets = targets.union(*_of_more_general(found, label))
            members = tuple(targets) if len(targets) == 1 else tuple(sorted(targets))
            yield label, self._number(members)

    def _number(self, targets: tuple[int, ...]) -> int:
        if targets not in self._numbers:
            self._numbers[targets] = len(self._numbers)
            self.waiting.append(targets)
        return self._numbers[targets]


def _of_more_general(found: Mapping[Label, set[int]], label: Label) -> Iterator[set[int]]:
    """What more general labels of the same state lead to."""
    for general in _more_general(label):
        if general in found:
            yield found[general]


def _more_general(label: Label) -> Iterator[Label]:
    """The labels other than this one that include it, the most special first."""
    for general in (Label(label.kind, None, label.local), Label(label.kind)):
        if general != label:
            yield general


def _joined(parts: list[dict[Label, Values]]) -> tuple[tuple[Label, Values], ...]:
    """The attributes of several states as those of one: whatever one of them allows."""
    if len(parts) == 1 and all(label.namespace is not None for label in parts[0]):
        return tuple(sorted(parts[0].items(), key=lambda item: label_order(item[0])))
    labels = sorted({label for part in parts for label in part}, key=label_order)
    return tuple((label, _all_values(parts, label)) for label in labels)


def _all_values(parts: list[dict[Label, Values]], label: Label) -> Values:
    found: set[str] = set()
    for part in parts:
        for other in (label, *_more_general(label)):
            if other in part:
                values = part[other]
                if values is None:
                    return None
                found.update(values)
    return tuple(sorted(found))


def _completed(states: list[State]) -> list[State]:
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


def _merged(states: list[State]) -> list[State]:
    """The same paths without two states that lead to the same."""
    classes = _classes(_leading_apart(states))
    kept: dict[int, State] = {}
    for own, state in zip(classes, states, strict=True):
        edges = tuple((label, classes[target]) for label, target in state.edges)
        kept.setdefault(own, State(state.text, state.attributes, edges))
    return list(kept.values())


def _leading_apart(states: list[State]) -> list[int]:
    """A class for each state: those in different classes do not lead to the same.

    States that look alike begin in one class. A class is split where its states lead to different
    classes, which only those can that lead to what was split just before. The largest piece of a
    class keeps its number, so that a state is moved, and those before it are looked at, no more
    often than the logarithm of the number of states (Hopcroft's argument). A chain of states, which
    splits one state at a time, is done in one pass instead of one for each state.
    """
    classes = _classes(
        (state.text, state.attributes, tuple(label for label, _ in state.edges)) for state in states
    )
    members: dict[int, set[int]] = {}
    before: list[list[int]] = [[] for _ in states]
    for number, state in enumerate(states):
        members.setdefault(classes[number], set()).add(number)
        for _, target in state.edges:
            before[target].append(number)
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
        touched = {number for piece in moved for one in piece for number in before[one]}
    return classes


def _pieces(
    members: set[int], touched: set[int], classes: list[int], states: list[State]
) -> list[set[int]]:
    """What a class falls into by what its states lead to, without the largest piece.

    Those not touched led to the same before and still do, so one of them speaks for all.
    """
    pieces: dict[tuple[int, ...], set[int]] = {}
    own = touched & members
    speaker = next((number for number in members if number not in own), None)
    for number in own if speaker is None else (*own, speaker):
        leads = tuple(classes[target] for _, target in states[number].edges)
        pieces.setdefault(leads, set()).add(number)
    if len(pieces) == 1:
        return []
    untouched = len(members) - len(own)
    sizes = {
        leads: len(piece) + (untouched - 1 if speaker in piece else 0)
        for leads, piece in pieces.items()
    }
    largest = max(sizes, key=lambda leads: sizes[leads])
    return [
        piece | (members - own) if speaker in piece else piece
        for leads, piece in pieces.items()
        if leads != largest
    ]


def _classes(signatures: Iterable[object]) -> list[int]:
    """Equal signatures get equal numbers, from 0, in the order in which they come."""
    numbers: dict[object, int] = {}
    return [numbers.setdefault(signature, len(numbers)) for signature in signatures]


def _numbered(states: list[State]) -> list[State]:
    """The states that are reached, in the order in which they are, breadth first."""
    numbers = {DOCUMENT_NODE: DOCUMENT_NODE}
    waiting = [DOCUMENT_NODE]
    for number in waiting:
        for _, target in states[number].edges:
            if target not in numbers:
                numbers[target] = len(numbers)
                waiting.append(target)
    return [
        State(
            states[number].text,
            states[number].attributes,
            tuple((label, numbers[target]) for label, target in states[number].edges),
        )
        for number in waiting
    ]


def _without_idle(state: State, *, edges: bool = True) -> State:
    """The state without special labels that say the same as a more general one."""
    leads = _not_idle(state.edges) if edges else state.edges
    return State(state.text, _not_idle(state.attributes), leads)


def _not_idle(items: tuple[tuple[Label, _Told], ...]) -> tuple[tuple[Label, _Told], ...]:
    if all(label.namespace is not None for label, _ in items):
        return items  # None of them is more general than another: most states of most schemas.
    table = dict(items)
    return tuple(item for item in items if not _is_idle(table, *item))


def _is_idle(table: Mapping[Label, object], label: Label, told: object) -> bool:
    if label.namespace is None:
        general = [Label(label.kind)] if label.local is not None else []
    else:
        general = [Label(label.kind, None, label.local), Label(label.kind)]
    for other in general:
        if other in table:
            return table[other] == told
    return False
