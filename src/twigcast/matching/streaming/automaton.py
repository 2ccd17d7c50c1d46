"""YFilter's shared automaton: the paths of all patterns in one tree of states.

A *state* stands for a path from the document node; an edge is a reach (child or descendant) and a
label. Patterns that begin alike share states (YAK 4.1, after YFilter). Where a path comes to
something that is not simply one more step, hangs a *leaf*: what must hold of the node reached.

    /a/b            document ──child a──▶ ● ──child b──▶ ●  true
    //a[.//c]/@d    document ──desc. a──▶ ●  branches 1 and 2
                                          ┆ fork
                                          ● ──desc. c──▶ ●  true     (branch 1)
                                          └───child @d─▶ ●  true     (branch 2)

A leaf that requires several things is a *join*. Its branches begin at the *fork* of its state, a
second tree of states, so that whoever follows them knows at which element they began: branches
count only if they hold at the *same* node. (YAK 4.1 checks the paths of a pattern independently,
which answers yes too often.) A branch may end in a join again.

The automaton also knows the *vocabulary*: names that no pattern mentions are all alike to it.

Everything is counted: when the last pattern that needs a leaf goes, the leaf goes, and with it
its branches and the states that led only there. No dead states remain.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from functools import lru_cache
from typing import Final

from twigcast.language.condition.model import (
    TRUE,
    AllOf,
    AnyOf,
    Condition,
    Exists,
    Kind,
    Label,
    Not,
    Operator,
    Reach,
    SelfIs,
    ValueTest,
)
from twigcast.language.document.parse import split_tag
from twigcast.language.pattern import Pattern
from twigcast.matching.prefilter import required_labels

_LOOKING: Final = 2
"""Steps that looking at a leaf takes before any part of its condition is."""


class Leaf:
    """What must hold at the nodes of a state, who needs that, and what it needs itself."""

    __slots__ = (
        "_required", "branches", "candidates", "count", "ids", "join_weight", "joins", "late",
        "needs", "reads", "searches", "state", "watchers", "weight", "where",
    )  # fmt: skip

    def __init__(self, state: State, where: Condition) -> None:
        self.state = state
        self.where = where
        self.count = 0
        """How many patterns and joins hold on to it."""
        self.branches: dict[Exists, Leaf] = {}
        self.needs: frozenset[Leaf] | None = None
        """The branches, where it is enough that all of them hold."""
        self.late = False
        """Whether it may come true by the end tag alone: negations and string-values do."""
        self.joins: dict[Leaf, None] = {}
        """The joins that this is a branch of, and that it may complete before the end tag."""
        self.join_weight = 0
        """What they weigh together."""
        tests = [part for part in _parts(where) if isinstance(part, ValueTest)]
        self.weight = _LOOKING + sum(1 for _ in _parts(where))
        """The steps that looking at it takes."""
        self.reads = bool(tests)
        """Whether it reads the value of its node, which is done once for all leaves."""
        self.searches = sum(test.operator is Operator.CONTAINS for test in tests)
        """How often it searches the value."""
        self._required: frozenset[str] | None = None
        self.ids: dict[int, None] = {}
        """Subscriptions that match once it holds below the document node."""
        self.candidates: dict[int, Pattern] = {}
        """Those that may match then, which is decided at the end."""
        self.watchers: dict[int | str, None] = {}
        """Who wants to know where it held last."""

    @property
    def required(self) -> frozenset[str]:
        """The keys of the labels without which it holds nowhere, found when needed."""
        if self._required is None:
            self._required = frozenset(map(key_of, required_labels(self.where)))
        return self._required


class State:
    """A path from the document node, or from a fork."""

    __slots__ = ("far", "far_leaves", "fork", "leaves", "near", "near_leaves", "parent", "step")

    def __init__(self, parent: State | None, step: tuple[Reach, Label] | None) -> None:
        self.parent = parent
        self.step = step
        """The edge that leads here; none to the document node and to a fork."""
        self.near: dict[str, State] = {}
        self.far: dict[str, State] = {}
        """Edges to elements: children, and descendants."""
        self.near_leaves: dict[str, State] = {}
        self.far_leaves: dict[str, State] = {}
        """Edges to attributes and texts: of the node itself, and of its descendants too."""
        self.leaves: dict[Condition, Leaf] = {}
        self.fork: State | None = None

    def edges(self, reach: Reach, kind: Kind) -> dict[str, State]:
        """The edges of one sort, by the keys of their labels."""
        if kind is Kind.ELEMENT:
            return self.near if reach is Reach.CHILD else self.far
        return self.near_leaves if reach is Reach.CHILD else self.far_leaves

    @property
    def is_idle(self) -> bool:
        """Whether nothing hangs on it any more."""
        return not (
            self.leaves or self.near or self.far or self.near_leaves or self.far_leaves or self.fork
        )


class Automaton:
    """The tree of states, which grows and shrinks by leaves."""

    def __init__(self) -> None:
        self.root = State(None, None)
        self.states = 1
        self.conditional: dict[Leaf, None] = {}
        """The leaves that require more than that a node is there."""
        self._vocabulary: Counter[str | None] = Counter()

    def hold(self, condition: Condition) -> Leaf:
        """The leaf of a condition on the document node; :meth:`release` it when it is done with.

        The condition consists of existences, value tests, labels and connectives only.
        """
        if isinstance(condition, Exists):
            return self.hold_path(self.root, condition)
        return self._hold_leaf(self.root, condition)

    def hold_from_first(self, path: Exists) -> Leaf:
        """The leaf of a path whose first element is to be known: the rest forks off there."""
        first = self._step(self.root, path.reach, path.label)
        if isinstance(path.where, Exists):
            return self.hold_path(self.fork_of(first), path.where)
        return self._hold_leaf(first, path.where)

    def hold_path(self, state: State, path: Exists) -> Leaf:
        """The leaf that a path comes to, followed from a state."""
        where: Condition = path
        while isinstance(where, Exists):
            state = self._step(state, where.reach, where.label)
            where = where.where
        return self._hold_leaf(state, where)

    def fork_of(self, state: State) -> State:
        """The state where the branches of a state begin.

        There is but one document node, so its branches need no tree of their own.
        """
        if state is self.root:
            return state
        if state.fork is None:
            state.fork = State(state, None)
            self.states += 1
        return state.fork

    def release(self, leaf: Leaf) -> None:
        """Take back one :meth:`hold`; the last one takes away whatever only it needed."""
        leaf.count -= 1
        if leaf.count:
            return
        for branch in leaf.branches.values():
            if leaf in branch.joins:
                del branch.joins[leaf]
                branch.join_weight -= leaf.weight
            self.release(branch)
        self.conditional.pop(leaf, None)
        for label in _own_labels(leaf.where):
            self._mention(label, -1)
        del leaf.state.leaves[leaf.where]
        self._prune(leaf.state)

    def canonical_tag(self, tag: str) -> str:
        """A tag that stands for this one: the same for all tags that no pattern distinguishes.

        No element is called ``?`` or has such a namespace.
        """
        namespace, local = split_tag(tag)
        known = self._vocabulary
        space = namespace if not namespace or _in_braces(namespace) in known else "?"
        name = local if local in known else "?"
        return f"{{{space}}}{name}" if space else name

    def _mention(self, label: Label, times: int) -> None:
        """Count a label into the vocabulary, or out of it."""
        for name in (label.local, _in_braces(label.namespace or "")):
            self._vocabulary[name] += times
            if not self._vocabulary[name]:
                del self._vocabulary[name]

    def _step(self, state: State, reach: Reach, label: Label) -> State:
        edges = state.edges(reach, label.kind)
        key = key_of(label)
        found = edges.get(key)
        if found is None:
            found = edges[key] = State(state, (reach, label))
            self.states += 1
            self._mention(label, 1)
        return found

    def _hold_leaf(self, state: State, where: Condition) -> Leaf:
        leaf = state.leaves.get(where)
        if leaf is None:
            leaf = state.leaves[where] = Leaf(state, where)
            for path in _branches(where):
                leaf.branches[path] = self.hold_path(self.fork_of(state), path)
            if _is_plain_join(where):
                leaf.needs = frozenset(leaf.branches.values())
                leaf.weight = 1  # Two sets are compared.
            leaf.late = _is_late(where)
            if _may_be_known(where, known_as=True):
                for branch in leaf.branches.values():
                    branch.joins[leaf] = None
                    branch.join_weight += leaf.weight
            if where is not TRUE:
                self.conditional[leaf] = None
            for label in _own_labels(where):
                self._mention(label, 1)
        leaf.count += 1
        return leaf

    def _prune(self, state: State) -> None:
        while state.is_idle and state.parent is not None:
            parent = state.parent
            if state.step is None:
                parent.fork = None
            else:
                reach, label = state.step
                del parent.edges(reach, label.kind)[key_of(label)]
                self._mention(label, -1)
            self.states -= 1
            state = parent


def _branches(where: Condition) -> Iterator[Exists]:
    """The existences that a condition is made of, each once."""
    match where:
        case Exists():
            yield where
        case AllOf(parts) | AnyOf(parts):
            yield from dict.fromkeys(path for part in parts for path in _branches(part))
        case Not(part):
            yield from _branches(part)
        case _:
            return


def _is_plain_join(where: Condition) -> bool:
    return (
        isinstance(where, AllOf)
        and where is not TRUE
        and all(isinstance(part, Exists) for part in where.parts)
    )


def _parts(where: Condition) -> Iterator[Condition]:
    """The condition, and its parts as far as they are about the same node."""
    yield where
    match where:
        case AllOf(parts) | AnyOf(parts):
            for part in parts:
                yield from _parts(part)
        case Not(part):
            yield from _parts(part)
        case _:
            return


def _own_labels(where: Condition) -> Iterator[Label]:
    """The labels that the condition requires of the node itself."""
    return (part.label for part in _parts(where) if isinstance(part, SelfIs))


def _in_braces(namespace: str) -> str:
    """A namespace as an entry of the vocabulary, where it cannot be taken for a local name."""
    return f"{{{namespace}}}"


def _may_be_known(where: Condition, *, known_as: bool) -> bool:
    """Whether a condition may be known to be true (or false) before the end tag."""
    match where:
        case Exists():
            return known_as
        case SelfIs():
            return True
        case AllOf(parts) | AnyOf(parts):
            every = isinstance(where, AllOf) is known_as
            return (all if every else any)(_may_be_known(part, known_as=known_as) for part in parts)
        case Not(part):
            return _may_be_known(part, known_as=not known_as)
        case _:
            return False


def _is_late(where: Condition) -> bool:
    match where:
        case Exists() | SelfIs():
            return False
        case AllOf(parts) | AnyOf(parts):
            return any(map(_is_late, parts))
        case _:
            return True


@lru_cache(maxsize=4096)  # More names than any vocabulary has, so feeds never miss.
def key_of(label: Label) -> str:
    """A label as a string, which dictionaries find much faster.

    >>> key_of(Label(Kind.ELEMENT, "urn:x", "a")), key_of(Label(Kind.ATTRIBUTE))
    ('{urn:x}a', '@{*}*')
    """
    mark = {Kind.ELEMENT: "", Kind.ATTRIBUTE: "@", Kind.TEXT: "#"}[label.kind]
    space = "*" if label.namespace is None else label.namespace
    return f"{mark}{{{space}}}{label.local or '*'}"


@lru_cache(maxsize=4096)  # Likewise.
def keys_of(kind: Kind, tag: str) -> tuple[str, ...]:
    """The keys of the labels that a node with this tag has, from its full name to the wildcard."""
    if kind is Kind.TEXT:
        return (key_of(Label(kind)),)
    namespace, local = split_tag(tag)
    spaces, names = (namespace, None), (local, None)
    return tuple(key_of(Label(kind, space, name)) for space in spaces for name in names)
