"""Syntax trees of XPath 1.0 expressions.

The tree follows the grammar of the recommendation (section numbers below are its own), with
names already resolved to namespace URIs, so that no prefix map is needed afterwards. Nothing is
interpreted here; :mod:`twigcast.language.translate.translate` does that.

    //a[@x='1']/b   →   Path(absolute, (descendant-or-self::node(),
                                        child::a [ =(Path(attribute::x), '1') ],
                                        child::b))

Two spellings are normalised, since they select the same nodes: a step ``.`` without predicates is
dropped, and ``//`` following ``//`` is one ``//``.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from enum import StrEnum
from typing import Final, NamedTuple, TypeAlias, assert_never
from typing import Literal as Either


class Axis(StrEnum):
    """The thirteen axes (2.2)."""

    ANCESTOR = "ancestor"
    ANCESTOR_OR_SELF = "ancestor-or-self"
    ATTRIBUTE = "attribute"
    CHILD = "child"
    DESCENDANT = "descendant"
    DESCENDANT_OR_SELF = "descendant-or-self"
    FOLLOWING = "following"
    FOLLOWING_SIBLING = "following-sibling"
    NAMESPACE = "namespace"
    PARENT = "parent"
    PRECEDING = "preceding"
    PRECEDING_SIBLING = "preceding-sibling"
    SELF = "self"


class NameTest(NamedTuple):
    """``name``, ``p:name``, ``*``, ``p:*``, ``*:name``: ``None`` means any, ``""`` no namespace."""

    namespace: str | None
    local: str | None


class KindTest(NamedTuple):
    """``node()``, ``text()``, ``comment()`` or ``processing-instruction('target')``."""

    kind: Either["node", "text", "comment", "processing-instruction"]
    target: str | None = None


@dataclass(frozen=True, slots=True)
class Literal:
    """A string in quotes (3.7)."""

    value: str


@dataclass(frozen=True, slots=True)
class Number:
    """A number, kept as written, since libxml2 reads and rounds it in its own way."""

    text: str


@dataclass(frozen=True, slots=True)
class Step:
    """One step of a location path (2.1)."""

    axis: Axis
    test: NameTest | KindTest
    predicates: tuple[Expression, ...] = ()


@dataclass(frozen=True, slots=True)
class Path:
    """A location path (2): from the document node if absolute, otherwise from the context node."""

    absolute: bool
    steps: tuple[Step, ...]

    @classmethod
    def rooted(cls, steps: tuple[Step, ...]) -> Path:
        """The path from the document node."""
        return cls(absolute=True, steps=steps)

    @classmethod
    def relative(cls, steps: tuple[Step, ...]) -> Path:
        """The path from the context node."""
        return cls(absolute=False, steps=steps)


@dataclass(frozen=True, slots=True)
class Filter:
    """A parenthesised expression or call with predicates (3.3): ``(//a)[1]``."""

    base: Expression
    predicates: tuple[Expression, ...]


@dataclass(frozen=True, slots=True)
class Chain:
    """A node-set followed by steps (3.3): ``id('x')/name``."""

    base: Expression
    steps: tuple[Step, ...]


@dataclass(frozen=True, slots=True)
class Call:
    """A call of one of the core functions (4)."""

    name: str
    arguments: tuple[Expression, ...]


@dataclass(frozen=True, slots=True)
class Binary:
    """An operator between two operands (3.4, 3.5), except union."""

    operator: str
    left: Expression
    right: Expression


@dataclass(frozen=True, slots=True)
class Negative:
    """Unary minus (3.5)."""

    operand: Expression


@dataclass(frozen=True, slots=True)
class Union:
    """Node-sets joined by ``|`` (3.3)."""

    parts: tuple[Expression, ...]


Expression: TypeAlias = Path | Filter | Chain | Union | Binary | Negative | Call | Literal | Number

XML_NAMESPACE: Final = "http://www.w3.org/XML/1998/namespace"
"""The namespace of the prefix ``xml``."""

ANYWHERE_BELOW: Final = Step(Axis.DESCENDANT_OR_SELF, KindTest("node"))
"""The step that ``//`` stands for."""


CONTEXT_NODE: Final = Step(Axis.SELF, KindTest("node"))
"""The step that ``.`` stands for."""


def filtered(base: Expression, predicates: tuple[Expression, ...]) -> Filter:
    """The base with more predicates: ``((p)[x])[y]`` and ``(p)[x][y]`` select the same nodes."""
    if isinstance(base, Filter):
        return Filter(base.base, base.predicates + predicates)
    return Filter(base, predicates)


def in_document_order(base: Expression) -> Expression:
    """What stands in parentheses, as the nodes that a position in a predicate counts.

    Those of ``id`` are counted in the order of their identifiers, but in document order within
    parentheses: ``id('b a')[1]`` is the element ``b``, ``(id('b a'))[1]`` whichever comes first.
    """
    return Union((base,)) if _is_in_order_of_identifiers(base) else base


def _is_in_order_of_identifiers(expression: Expression) -> bool:
    match expression:
        case Call("id"):
            return True
        case Filter(base):
            return _is_in_order_of_identifiers(base)
        case _:
            return False


def tidy(steps: Iterable[Step]) -> tuple[Step, ...]:
    """The steps without redundant ones: ``self::node()``, and ``//`` right after ``//``.

    The first is not redundant in ``//self::node()/comment()``: an internal subset is no node, so
    libxml2 does not find its comments, unlike with ``//comment()`` (:func:`may_be_declared`).
    """
    kept: list[Step] = []
    only_nodes = False  # whether self::node() was left out right behind //
    for step in steps:
        if step.axis is Axis.DESCENDANT_OR_SELF:
            idle = step == ANYWHERE_BELOW and kept[-1:] == [ANYWHERE_BELOW]
        else:
            idle = step.axis is Axis.SELF and step == CONTEXT_NODE
        if idle:
            only_nodes = step == CONTEXT_NODE and kept[-1:] == [ANYWHERE_BELOW]
            continue
        if only_nodes and step.axis is Axis.CHILD and may_be_declared(step):
            kept.append(CONTEXT_NODE)
        only_nodes = False
        kept.append(step)
    return tuple(kept)


def direct(steps: Iterable[Step]) -> tuple[Step, ...]:
    """The steps with ``//a`` as one step ``descendant::a``, where positions do not matter.

    The nodes are the same, found in one pass and in document order. The exception are nodes that an
    internal subset can contain (:func:`may_be_declared`): libxml2 finds them there by
    ``descendant``, and by ``//`` only where no predicate follows.
    """
    kept: list[Step] = []
    for step in steps:
        below = kept[-1:] == [ANYWHERE_BELOW] and step.axis is Axis.CHILD
        if step.predicates and may_be_declared(step):
            below = False
        if below and not any(map(is_positional, step.predicates)):
            kept[-1] = Step(Axis.DESCENDANT, step.test, step.predicates)
        else:
            kept.append(step)
    return tuple(kept)


def may_be_declared(step: Step) -> bool:
    """Whether a step can select nodes of an internal subset: comments or instructions."""
    return isinstance(step.test, KindTest) and step.test.kind != "text"


class Type(StrEnum):
    """The four types of XPath 1.0 (1). Without variables the type of each expression is static."""

    NODES = "node-set"
    STRING = "string"
    NUMBER = "number"
    BOOLEAN = "boolean"


class Function(NamedTuple):
    """A core function: its arity, its result, and whether the first argument is a node-set.

    The signature has names of the arguments for messages.
    """

    least: int
    most: int | None
    result: Type
    takes_nodes: bool = False
    signature: str = ""


_ANY_NUMBER = None

FUNCTIONS: Final[dict[str, Function]] = {
    "last": Function(0, 0, Type.NUMBER),
    "position": Function(0, 0, Type.NUMBER),
    "count": Function(1, 1, Type.NUMBER, takes_nodes=True, signature="path"),
    "id": Function(1, 1, Type.NODES, signature="names"),
    "local-name": Function(0, 1, Type.STRING, takes_nodes=True, signature="path"),
    "namespace-uri": Function(0, 1, Type.STRING, takes_nodes=True, signature="path"),
    "name": Function(0, 1, Type.STRING, takes_nodes=True, signature="path"),
    "string": Function(0, 1, Type.STRING, signature="value"),
    "concat": Function(2, _ANY_NUMBER, Type.STRING, signature="text, text, …"),
    "starts-with": Function(2, 2, Type.BOOLEAN, signature="text, start"),
    "contains": Function(2, 2, Type.BOOLEAN, signature="text, part"),
    "substring-before": Function(2, 2, Type.STRING, signature="text, mark"),
    "substring-after": Function(2, 2, Type.STRING, signature="text, mark"),
    "substring": Function(2, 3, Type.STRING, signature="text, from, length"),
    "string-length": Function(0, 1, Type.NUMBER, signature="text"),
    "normalize-space": Function(0, 1, Type.STRING, signature="text"),
    "translate": Function(3, 3, Type.STRING, signature="text, letters, replacements"),
    "boolean": Function(1, 1, Type.BOOLEAN, signature="value"),
    "not": Function(1, 1, Type.BOOLEAN, signature="value"),
    "true": Function(0, 0, Type.BOOLEAN),
    "false": Function(0, 0, Type.BOOLEAN),
    "lang": Function(1, 1, Type.BOOLEAN, signature="language"),
    "number": Function(0, 1, Type.NUMBER, signature="value"),
    "sum": Function(1, 1, Type.NUMBER, takes_nodes=True, signature="path"),
    "floor": Function(1, 1, Type.NUMBER, signature="number"),
    "ceiling": Function(1, 1, Type.NUMBER, signature="number"),
    "round": Function(1, 1, Type.NUMBER, signature="number"),
}

_ARITHMETIC = frozenset({"+", "-", "*", "div", "mod"})


def type_of(expression: Expression) -> Type:
    """The type that the expression has on every document."""
    match expression:
        case Path() | Filter() | Chain() | Union():
            return Type.NODES
        case Literal():
            return Type.STRING
        case Number() | Negative():
            return Type.NUMBER
        case Call(name):
            return FUNCTIONS[name].result
        case Binary(operator):
            return Type.NUMBER if operator in _ARITHMETIC else Type.BOOLEAN
        case _:
            assert_never(expression)


def operands(chain: Binary) -> list[Expression]:
    """The operands of a chain of operators, from left to right: ``a or b = c or d``.

    A chain leans to the left and may be long; with this list callers need not recurse.
    """
    found: list[Expression] = []
    left: Expression = chain
    while isinstance(left, Binary):
        found.append(left.right)
        left = left.left
    return [left, *reversed(found)]


def all_within(expression: Expression) -> Iterator[Expression]:
    """The expression and all that it is made of, from left to right, predicates included."""
    waiting = [expression]
    while waiting:
        one = waiting.pop()
        yield one
        waiting += reversed(_parts(one))


def _parts(expression: Expression) -> list[Expression]:
    match expression:
        case Path(_, steps):
            return _in_predicates(steps)
        case Chain(base, steps):
            return [base, *_in_predicates(steps)]
        case Filter(base, predicates):
            return [base, *predicates]
        case Call(_, parts) | Union(parts):
            return list(parts)
        case Binary(_, left, right):
            return [left, right]
        case Negative(operand):
            return [operand]
        case Literal() | Number():
            return []
        case _:
            assert_never(expression)


def _in_predicates(steps: tuple[Step, ...]) -> list[Expression]:
    return [predicate for step in steps for predicate in step.predicates]


def like_operands(chain: Binary) -> list[Expression]:
    """The operands of a chain of one operator, like ``a or b or c``, in one list.

    Joining them in pairs would compare the result so far again for each.
    """
    found: list[Expression] = []
    left: Expression = chain
    while isinstance(left, Binary) and left.operator == chain.operator:
        found.append(left.right)
        left = left.left
    return [left, *reversed(found)]


def is_positional(predicate: Expression) -> bool:
    """Whether the predicate depends on the position of the node it is applied to (2.4).

    A number stands for ``position() = number``; ``position()`` and ``last()`` count wherever they
    stand, except inside a predicate of their own.
    """
    return type_of(predicate) is Type.NUMBER or _counts(predicate)


def _counts(expression: Expression) -> bool:
    match expression:
        case Call("position" | "last"):
            return True
        case Call(_, arguments):
            return any(map(_counts, arguments))
        case Binary():
            return any(map(_counts, operands(expression)))
        case Negative(operand):
            return _counts(operand)
        case Union(parts):
            return any(map(_counts, parts))
        case Filter(base) | Chain(base):
            return _counts(base)
        case Path() | Literal() | Number():
            return False
        case _:
            assert_never(expression)
