"""Cautions: parts of an expression that are XPath 1.0, and hardly ever meant.

Rules that were written for XPath 2.0 may mean something else here, and no error shows it: compared
with ``true()`` or ``false()``, nodes are true where there are any, whatever their values are.

    >>> print(*cautions_of("//a[@ok = false()]"))
    @ok = false() holds in XPath 1.0 where there is no @ok; XPath 2.0 would compare the value: \
for that write @ok = 'false'
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from twigcast.language.condition.writer import PrefixWriter
from twigcast.language.pattern import PATTERN_LIMITS, PatternLimits
from twigcast.language.xpath.parser import parse_expression
from twigcast.language.xpath.syntax import (
    CONTEXT_NODE,
    Binary,
    Call,
    Expression,
    Literal,
    Path,
    Type,
    all_within,
    type_of,
)

CAUTIONS_MAX = 8
"""So many of one expression are enough to see what is wrong with it."""

_CONTEXT_NODE = Path.relative((CONTEXT_NODE,))


def cautions_of(
    text: str,
    namespaces: Mapping[str, str] | None = None,
    limits: PatternLimits = PATTERN_LIMITS,
) -> tuple[str, ...]:
    """What may be meant otherwise in an expression, as sentences; each has what to write instead.

    Raises :class:`PatternError` as :meth:`Pattern.parse` does.
    """
    bound = namespaces or {}
    found = _cautions(parse_expression(text, bound, limits), PrefixWriter(bound))
    return tuple(dict.fromkeys(found))[:CAUTIONS_MAX]


def _cautions(expression: Expression, writer: PrefixWriter) -> Iterator[str]:
    for part in all_within(expression):
        caution = existence_caution(part, writer) if isinstance(part, Binary) else None
        if caution is not None:
            yield caution


def existence_caution(comparison: Binary, writer: PrefixWriter) -> str | None:
    """What to know of a comparison of nodes with ``true()`` or ``false()``; None of any other."""
    match comparison:
        case Binary("=" | "!=", nodes, Call("true" | "false" as name, ())) if _is_nodes(nodes):
            return _existence(comparison, nodes, name, writer)
        case Binary("=" | "!=", Call("true" | "false" as name, ()), nodes) if _is_nodes(nodes):
            return _existence(comparison, nodes, name, writer)
        case _:
            return None


def _is_nodes(expression: Expression) -> bool:
    return type_of(expression) is Type.NODES


def _existence(whole: Binary, nodes: Expression, name: str, writer: PrefixWriter) -> str:
    """The caution about nodes that are compared with a truth value."""
    asks_for_some = (whole.operator == "=") == (name == "true")
    instead = Binary("=", nodes, Literal("true" if asks_for_some else "false"))
    if nodes == _CONTEXT_NODE:
        holds = "of every node" if asks_for_some else "of no node"
    else:
        shown, _ = writer.expression(nodes)
        holds = f"where there is {shown if asks_for_some else 'no ' + shown}"
    return (
        f"{writer.expression(whole)[0]} holds in XPath 1.0 {holds}; "
        f"XPath 2.0 would compare the value: for that write {writer.expression(instead)[0]}"
    )
