"""Writers of conditions as text, in two dialects.

*Canonical* text is self-contained (``{uri}name``, ``*:name``) and reads as people write; parsing it
gives the same pattern again. *libxml2* text is plain XPath 1.0: namespaces become generated
prefixes, ``*:name`` becomes ``*[local-name()='name']``, and the steps after a ``//`` are moved into
a predicate:

    canonical   //a//{urn:x}b[@c = '1']/d
    libxml2     /descendant::a[descendant::n0:b[@c = '1']/d]

The brackets matter: libxml2 merges the node-sets of ``//a//b`` by comparing every node with every
other (50 seconds for 20,000 nested elements), but tests ``//a[.//b]`` in milliseconds. So does the
axis: ``//*[@x]`` returns the children of one element after the other, and sorting them into
document order took a second for 40,000 elements on lines of their own; ``descendant::`` returns
them in order.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from typing import Final, assert_never

from lxml import etree

from twigcast.language.condition.model import (
    AllOf,
    AnyOf,
    AtDocument,
    Condition,
    Exists,
    FirstValue,
    Kind,
    Label,
    Not,
    Operator,
    Reach,
    Residual,
    SelfIs,
    ValueTest,
    parts_of,
)
from twigcast.language.xpath.syntax import (
    ANYWHERE_BELOW,
    CONTEXT_NODE,
    XML_NAMESPACE,
    Axis,
    Binary,
    Call,
    Chain,
    Expression,
    Filter,
    KindTest,
    Literal,
    NameTest,
    Negative,
    Number,
    Path,
    Step,
    Union,
    direct,
)

_NAMES_CACHED_MAX: Final = 4096
"""Cached results of trying names with libxml2: more than any vocabulary has beyond ASCII."""

_OR, _AND, _EQUAL, _UNARY, _UNION, _PATH = 1, 2, 3, 7, 8, 9
_LEVEL: Final = {
    "or": _OR, "and": _AND, "=": _EQUAL, "!=": _EQUAL,
    "<": 4, "<=": 4, ">": 4, ">=": 4, "+": 5, "-": 5, "*": 6, "div": 6, "mod": 6,
}  # fmt: skip
_AXES: Final = {axis: f"{axis}::" for axis in Axis} | {Axis.CHILD: "", Axis.ATTRIBUTE: "@"}
_SHORT_STEPS: Final = {Axis.SELF: ".", Axis.PARENT: ".."}
_CALLS: Final = frozenset({Operator.CONTAINS, Operator.STARTS_WITH})

_TEXTS_CACHED_MAX: Final = 16_384
"""Cached texts of patterns, some 5 MB: a broker needs the text of a pattern several times."""


@lru_cache(maxsize=_TEXTS_CACHED_MAX)
def canonical_text(condition: Condition) -> str:
    """The canonical text of a condition on the document node: that of a whole pattern."""
    return _WRITER.condition(condition, "/")[0]


def part_text(condition: Condition) -> str:
    """The canonical text of a condition on a node inside a document."""
    return _WRITER.condition(condition, "")[0]


def ends_in_value(exists: Exists) -> bool:
    """Whether the path, followed along its last parts, ends in a value test alone."""
    where = exists.where
    while not isinstance(where, ValueTest):
        if isinstance(where, AllOf):
            where = where.parts[-1] if where.parts else where
        if not isinstance(where, Exists):
            return False
        where = where.where
    return True


@lru_cache(maxsize=4096)
def step_text(reach: Reach, label: Label) -> str:
    """The canonical text of a step at the front of a path: ``a``, ``.//a``, ``@x``."""
    return _WRITER.step(reach, label, "")


class Writer:
    """Writes canonical text. A text comes with its level: how tightly its operator binds.

    ``base`` is ``"/"`` if the context node is the document node, and ``""`` otherwise.
    """

    def condition(self, condition: Condition, base: str) -> tuple[str, int]:  # noqa: PLR0911
        """The text of a condition on the context node, and its level."""
        match condition:
            # The most frequent ones first: each case takes time.
            case Exists():
                return self._exists(condition, base)
            case Residual(expression):
                return self.expression(expression)
            case AllOf(()):
                return "true()", _PATH
            case AnyOf(()):
                return "false()", _PATH
            case AllOf(parts):
                return self._joined(parts, base, " and ", _AND), _AND
            case AnyOf(parts):
                return self._joined(parts, base, " or ", _OR), _OR
            case Not(part):
                return f"not({self.condition(part, base)[0]})", _PATH
            case SelfIs(label):
                return self._self_is(label)
            case ValueTest():
                return self._value(base or ".", condition)
            case FirstValue():
                return self._first_value(condition, base)
            case AtDocument(inner):
                return self.condition(inner, "/")
            case _:
                assert_never(condition)

    def expression(self, expression: Expression) -> tuple[str, int]:
        """The text of a residual expression, and its level."""
        match expression:
            # As above.
            case Path():
                return self._path("/" if expression.absolute else "", expression.steps), _PATH
            case Call():
                inner = ", ".join([self.expression(each)[0] for each in expression.arguments])
                return f"{expression.name}({inner})", _PATH
            case Literal():
                return _quoted(expression.value), _PATH
            case Binary():
                level = _LEVEL[expression.operator]
                left = self._operand(expression.left, level)
                right = self._operand(expression.right, level + 1)
                return f"{left} {expression.operator} {right}", level
            case Number(text):
                return text, _PATH
            case Negative(operand):
                return "-" + self._operand(operand, _UNARY), _UNARY
            case Union(parts):
                return " | ".join(self._operand(part, _PATH) for part in parts), _UNION
            case Filter(base, predicates):
                return self._primary(base) + self._expression_predicates(predicates), _PATH
            case Chain(base, steps):
                return self._path(self._primary(base) + "/", steps), _PATH
            case _:
                assert_never(expression)

    # Conditions.

    def step(self, reach: Reach, label: Label, base: str) -> str:
        """A step without its predicates: ``/a``, ``//a``, ``.//a``, ``@x``."""
        return self._lead(reach, label, base) + self._label(label)

    def _joined(self, parts: tuple[Condition, ...], base: str, operator: str, level: int) -> str:
        return operator.join(
            _parenthesised(self.condition(part, base), level + 1) for part in parts
        )

    def _exists(self, exists: Exists, base: str) -> tuple[str, int]:
        text = self.step(exists.reach, exists.label, base)
        alone = exists.reach is Reach.CHILD
        while (following := self._continuation(exists.where)) is not None:
            text += self._predicates(parts_of(exists.where)[:-1])
            text += self.step(following.reach, following.label, "/")
            exists, alone = following, False
        test = exists.where
        # A call takes the first node only, so it may stand for "some node" only where there can
        # be only one.
        if not base and isinstance(test, ValueTest):
            single = alone and exists.label.kind is Kind.ATTRIBUTE and None not in exists.label
            if single or test.operator not in _CALLS:
                return self._value(text, test)
        return text + self._predicates(parts_of(test)), _PATH

    def _continuation(self, where: Condition) -> Exists | None:
        """The last part, if the path continues with it.

        A part that ends in a value test stays in a predicate, written as a comparison.
        """
        last = parts_of(where)[-1:]
        if not last or not isinstance(last[0], Exists) or ends_in_value(last[0]):
            return None
        return last[0]

    def _first_value(self, first: FirstValue, base: str) -> tuple[str, int]:
        path = ""
        for step in first.steps:
            path += self.step(step.reach, step.label, "/" if path else base)
            path += self._predicates(parts_of(step.where))
        return self._value(path, first.test)

    def _lead(self, reach: Reach, label: Label, base: str) -> str:  # noqa: ARG002
        """The beginning of a step: behind a slash (``base`` is ``"/"``), or first in a path."""
        if base:
            return "//" if reach is Reach.DESCENDANT else "/"
        return ".//" if reach is Reach.DESCENDANT else ""

    def _predicates(self, parts: tuple[Condition, ...]) -> str:
        return "".join(f"[{self.condition(part, '')[0]}]" for part in parts)

    def _value(self, subject: str, test: ValueTest) -> tuple[str, int]:
        constant = self.expression(test.constant)[0]
        if test.operator in _CALLS:
            return f"{test.operator}({subject}, {constant})", _PATH
        return f"{subject} {test.operator} {constant}", _LEVEL[test.operator]

    def _self_is(self, label: Label) -> tuple[str, int]:
        if label.kind is Kind.ELEMENT:
            return f"self::{self._name(label.namespace, label.local)}", _PATH
        # The axis self only selects elements, so for attributes the names are compared.
        tests = [
            f"{function}() = {_quoted(name)}"
            for function, name in (("local-name", label.local), ("namespace-uri", label.namespace))
            if name is not None
        ]
        return " and ".join(tests), _AND if len(tests) > 1 else _EQUAL

    def _label(self, label: Label) -> str:
        if label.kind is Kind.TEXT:
            return "text()"
        mark = "@" if label.kind is Kind.ATTRIBUTE else ""
        return mark + self._name(label.namespace, label.local)

    def _name(self, namespace: str | None, local: str | None) -> str:
        if namespace is None:
            return "*" if local is None else f"*:{local}"
        if namespace == "" and local is not None:
            return local
        return f"{{{namespace}}}{local or '*'}"

    # Expressions.

    def _operand(self, expression: Expression, level: int) -> str:
        text, own_level = self.expression(expression)
        # A lone '/' would swallow the operator behind it as the name of a step.
        return text if own_level >= level and text != "/" else f"({text})"

    def _primary(self, base: Expression) -> str:
        text = self.expression(base)[0]
        return text if isinstance(base, Call | Filter) else f"({text})"

    def _path(self, start: str, steps: tuple[Step, ...]) -> str:
        """The steps behind ``start``, empty or ending in a slash, with ``//`` abbreviated."""
        if len(steps) == 1 and steps[0].axis is not Axis.DESCENDANT_OR_SELF:
            return start + self._step(steps[0])
        text = start
        for place, step in enumerate(steps):
            if step == ANYWHERE_BELOW:
                # It needs a step before it and one behind it.
                text = (text or "./") + "/" + "." * (place == len(steps) - 1)
            else:
                # In a path ``.`` would be redundant.
                is_written_out = step == CONTEXT_NODE and len(steps) > 1
                text += "self::node()" if is_written_out else self._step(step)
                text += "/" * (place < len(steps) - 1)
        return text

    def _step(self, step: Step) -> str:
        predicates = self._expression_predicates(step.predicates) if step.predicates else ""
        if not predicates and step.axis in _SHORT_STEPS and step.test == CONTEXT_NODE.test:
            return _SHORT_STEPS[step.axis]
        return _AXES[step.axis] + self._test(step.test) + predicates

    def _test(self, test: NameTest | KindTest) -> str:
        if isinstance(test, NameTest):
            return self._name(test.namespace, test.local)
        target = "" if test.target is None else _quoted(test.target)
        return f"{test.kind}({target})"

    def _expression_predicates(self, predicates: tuple[Expression, ...]) -> str:
        return "".join(f"[{self.expression(predicate)[0]}]" for predicate in predicates)


@lru_cache(maxsize=_NAMES_CACHED_MAX)
def _is_known_to_libxml2(name: str) -> bool:
    """Whether libxml2 accepts a name in an expression.

    In documents it accepts the names of the fifth edition of XML 1.0, in expressions only those of
    earlier editions, which allow fewer letters.
    """
    if name.isascii():
        return True
    try:
        etree.XPath(name)
    except etree.XPathError:
        return False
    return True


class Libxml2Writer(Writer):
    """Writes XPath 1.0 for libxml2; ``namespaces`` fills with the prefixes that the text uses."""

    def __init__(self) -> None:
        self.namespaces: dict[str, str] = {}
        self._prefixes: dict[str, str] = {XML_NAMESPACE: "xml"}

    def condition(self, condition: Condition, base: str) -> tuple[str, int]:
        """The text of a condition on the context node, and its level."""
        if isinstance(condition, Not) and isinstance(condition.part, Exists | Residual):
            # For an argument of a function libxml2 finds and sorts all nodes; for a predicate it
            # stops at the first.
            return f"not(self::node()[{self.condition(condition.part, base)[0]}])", _PATH
        return super().condition(condition, base)

    def _continuation(self, where: Condition) -> Exists | None:
        following = super()._continuation(where)
        return following if following and following.reach is Reach.CHILD else None

    def _lead(self, reach: Reach, label: Label, base: str) -> str:
        if reach is Reach.DESCENDANT and label.kind is not Kind.ATTRIBUTE:
            return f"{base}descendant::"
        return super()._lead(reach, label, base)

    def _path(self, start: str, steps: tuple[Step, ...]) -> str:
        return super()._path(start, direct(steps))

    def _name(self, namespace: str | None, local: str | None) -> str:
        if namespace is None:
            return "*" if local is None else f"*[local-name() = {_quoted(local)}]"
        known = local is None or _is_known_to_libxml2(local)
        if namespace == "":
            if local is not None and not known:
                return f"*[local-name() = {_quoted(local)} and namespace-uri() = '']"
            return "*[namespace-uri() = '']" if local is None else local
        prefix = self._prefix(namespace)
        if local is not None and not known:
            return f"{prefix}:*[local-name() = {_quoted(local)}]"
        return f"{prefix}:{local or '*'}"

    def _prefix(self, namespace: str) -> str:
        prefix = self._prefixes.get(namespace)
        if prefix is None:
            prefix = self._prefixes[namespace] = f"n{len(self.namespaces)}"
            self.namespaces[prefix] = namespace
        return prefix


class PrefixWriter(Writer):
    """Writes expressions with a subscriber's own prefixes."""

    def __init__(self, namespaces: Mapping[str, str]) -> None:
        self._prefixes = {uri: prefix for prefix, uri in namespaces.items()}

    def _name(self, namespace: str | None, local: str | None) -> str:
        prefix = self._prefixes.get(namespace) if namespace else None
        if prefix is None:
            return super()._name(namespace, local)
        return f"{prefix}:{local or '*'}"


_WRITER: Final = Writer()
"""The canonical writer has no state, so one is enough."""


def _parenthesised(text_and_level: tuple[str, int], needed: int) -> str:
    text, level = text_and_level
    return text if level >= needed else f"({text})"


def _quoted(value: str) -> str:
    # A literal was read from between quotes of one kind, so the other kind is free.
    return f'"{value}"' if "'" in value else f"'{value}'"
