"""Functions that XPath 1.0 lacks: their origins, and their counterparts in XPath 1.0.

A table of functions of XPath 2.0 and later, of XSLT and of EXSLT, and of names in other languages.
Most have no counterpart; for those the advice has the closest expression.

References: XPath and XQuery Functions and Operators 3.1; XSLT 1.0, 12; exslt.org.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from difflib import get_close_matches
from typing import Final

from twigcast.language.xpath.hints.comparing import compare, has_token, time_number
from twigcast.language.xpath.hints.pieces import (
    CONTEXT_NODE,
    PATH,
    PRIMARY,
    PRODUCT,
    SUM,
    NoRewriteError,
    Piece,
    PieceKind,
    any_true,
    as_boolean,
    as_nodes,
    as_nodes_in_order,
    as_value,
    call,
    closed,
    literal,
    negated,
    number,
    piece,
)
from twigcast.language.xpath.hints.regular import ends_with, lowered, matched, plain_text, uppered
from twigcast.language.xpath.syntax import FUNCTIONS, Type

_KIND_OF: Final = {
    Type.NODES: PieceKind.NODES,
    Type.STRING: PieceKind.STRING,
    Type.NUMBER: PieceKind.NUMBER,
    Type.BOOLEAN: PieceKind.BOOLEAN,
}
_NONE: Final = "XPath 1.0 has nothing like it"
_NO_CLOCK: Final = "write the date into the expression, as in translate(date, '-', '') > 20240131"
_NO_PATTERNS: Final = (
    "XPath 1.0 has no regular expressions; contains(), starts-with() and translate() come closest"
)
_ONE_DOCUMENT: Final = "a subscription is evaluated on one document at a time"


@dataclass(frozen=True, slots=True)
class Later:
    """A function that XPath 1.0 lacks."""

    origin: str
    rewrite: Callable[..., Piece] | None = None
    least: int = 0
    most: int = 0
    advice: str = _NONE

    def rewritten(self, arguments: list[Piece]) -> Piece:
        """The call in XPath 1.0; raises :class:`NoRewriteError` where there is none."""
        if self.rewrite is None or not self.least <= len(arguments) <= self.most:
            raise NoRewriteError
        return self.rewrite(*arguments)


def known_call(name: str, arguments: list[Piece]) -> Piece:
    """The call of a function that XPath 1.0 has."""
    function = FUNCTIONS[name]
    if name in {"not", "boolean"}:
        arguments = [as_boolean(argument) for argument in arguments]
    elif function.takes_nodes:
        arguments = [as_nodes(argument) for argument in arguments]
    else:
        arguments = [as_value(argument) for argument in arguments]
    made = call(name, *arguments, kind=_KIND_OF[function.result])
    fixed = made.fixed and (bool(arguments) or name in {"true", "false"})
    parts = tuple(arguments) if name == "number" else ()
    return Piece(made.text, made.kind, PRIMARY, fixed, parts)


def later_function(name: str) -> Later | None:
    """The function of that name, with or without the prefix that its origin has."""
    prefix, _, local = name.rpartition(":")
    if prefix in {"", "fn"}:
        return _LATER.get(local)
    if prefix in _EXSLT_PREFIXES:
        return _EXSLT.get(local, Later("EXSLT"))
    if prefix in {"math", "map", "array"}:
        return Later("XPath 3.1")
    return None


def nearest_function(name: str) -> str | None:
    """The function that was probably meant by an unknown name."""
    lower = name.lower().replace("_", "-")
    if lower in FUNCTIONS or lower in _LATER:
        return lower
    if lower in _EXPECTED:
        return _EXPECTED[lower]
    if len(lower) > _NAME_COMPARED_MAX or ":" in lower:
        return None
    close = get_close_matches(lower, [*FUNCTIONS, *_LATER], n=1, cutoff=0.78)
    return close[0] if close else None


def converted(kind: str, source: Piece) -> Piece:
    """``xs:date(x)``, ``x cast as xs:integer``: the value as another type."""
    if kind in {"date", "dateTime", "time"}:
        return time_number(kind, source)
    source = as_value(source)
    if kind in _NUMBERS:
        if source.kind is PieceKind.NUMBER:
            return source
        made = call("number", source, kind=PieceKind.NUMBER)
        return Piece(made.text, made.kind, made.level, made.fixed, (source,))
    if kind in {"string", "anyURI", "token", "NCName", "untypedAtomic", "normalizedString"}:
        return source if source.kind is PieceKind.STRING else call("string", source)
    if kind == "boolean":
        if source.value in {"true", "1", "false", "0"}:
            return call(
                "true" if source.value in {"true", "1"} else "false", kind=PieceKind.BOOLEAN
            )
        tests = [compare("=", source, literal(spelling)) for spelling in ("true", "1")]
        text = " or ".join(test.text for test in tests)
        return piece(text, PieceKind.BOOLEAN, 1, fixed=source.fixed)
    raise NoRewriteError


def castable(kind: str, source: Piece) -> Piece:
    """``x castable as xs:integer``: whether the text is a value of the type."""
    source = as_value(source)
    if kind in {"integer", "int", "long", "short"}:
        value = call("number", source, kind=PieceKind.NUMBER)
        return compare("=", value, call("floor", source, kind=PieceKind.NUMBER))
    if kind in _NUMBERS:
        value = call("number", source, kind=PieceKind.NUMBER)
        return compare("=", value, value)
    if kind == "date":
        return matched(source, r"^\d{4}-\d{2}-\d{2}$")
    if kind == "boolean":
        spellings = ("true", "false", "1", "0")
        return any_true(*(compare("=", source, literal(spelling)) for spelling in spellings))
    raise NoRewriteError


_NUMBERS: Final = frozenset(
    {"integer", "decimal", "double", "float", "int", "long", "short", "nonNegativeInteger"}
    | {"positiveInteger", "unsignedInt", "unsignedLong", "numeric"}
)
_NAME_COMPARED_MAX = 40
_DIGITS_MAX = 6
"""Digits of a number that is added to another."""

# Rewrites.


def _text(rewrite: Callable[[Piece], Piece]) -> Callable[..., Piece]:
    return lambda text: rewrite(as_value(text))


def _matches(text: Piece, pattern: Piece, flags: Piece | None = None) -> Piece:
    wanted = "" if flags is None else flags.value
    if pattern.value is None or wanted is None:
        raise NoRewriteError
    return matched(as_value(text), pattern.value, wanted)


def _replace(text: Piece, pattern: Piece, replacement: Piece) -> Piece:
    if pattern.value is None or replacement.value is None:
        raise NoRewriteError
    letter = " " if pattern.value == "[ ]" else plain_text(pattern.value)
    if len(letter) != 1 or len(replacement.value) > 1 or replacement.value in {"$", "\\"}:
        raise NoRewriteError
    return call("translate", as_value(text), literal(letter), replacement)


def _tokenize(text: Piece, separator: Piece | None = None) -> Piece:
    value = r"\s+" if separator is None else separator.value
    text = as_value(text)
    return Piece(text.text, PieceKind.TOKENS, PRIMARY, text.fixed, (text,), value)


def _contains_token(text: Piece, token: Piece) -> Piece:
    return has_token(as_value(text), r"\s+", token)


def _exists(nodes: Piece) -> Piece:
    nodes = as_nodes(nodes)
    made = call("boolean", nodes, kind=PieceKind.BOOLEAN)
    return Piece(made.text, made.kind, made.level, made.fixed, (nodes,))


def _empty(nodes: Piece) -> Piece:
    return negated(as_nodes(nodes))


def _same(part: Piece) -> Piece:
    return as_value(part)


def _distinct(part: Piece) -> Piece:
    """Whether some value is there, for which duplicates do not matter."""
    base = as_nodes(part)
    return piece(base.text, PieceKind.MAPPED, PATH, fixed=base.fixed, parts=(base, CONTEXT_NODE))


def _absolute(value: Piece) -> Piece:
    value = as_value(value)
    operand = closed(value, PRODUCT + 1)
    text = f"{operand} * (1 - 2 * ({value.text} < 0))"
    return piece(text, PieceKind.NUMBER, PRODUCT, fixed=value.fixed)


def _average(nodes: Piece) -> Piece:
    nodes = as_nodes(nodes)
    text = f"sum({nodes.text}) div count({nodes.text})"
    return piece(text, PieceKind.NUMBER, PRODUCT, fixed=nodes.fixed)


def _extreme(kind: PieceKind) -> Callable[..., Piece]:
    def made(nodes: Piece) -> Piece:
        nodes = as_nodes(nodes)
        return piece(nodes.text, kind, PATH, fixed=nodes.fixed, parts=(nodes,))

    return made


def _part_of_time(start: int, length: int) -> Callable[..., Piece]:
    def made(time: Piece) -> Piece:
        cut = call("substring", as_value(time), number(str(start)), number(str(length)))
        return call("number", cut, kind=PieceKind.NUMBER)

    return made


def _some_of(predicate: str) -> Callable[..., Piece]:
    def made(nodes: Piece) -> Piece:
        nodes = as_nodes_in_order(nodes)
        text = f"{closed(nodes, PRIMARY)}[{predicate}]"
        return piece(text, PieceKind.NODES, PATH, fixed=nodes.fixed)

    return made


def _subsequence(nodes: Piece, start: Piece, length: Piece | None = None) -> Piece:
    bounds = (start, length or start)
    if not all(one.text.isdigit() and len(one.text) <= _DIGITS_MAX for one in bounds):
        raise NoRewriteError
    test = f"position() >= {start.text}"
    if length is not None:
        test += f" and position() < {int(start.text) + int(length.text)}"
    return _some_of(test)(nodes)


def _index_of(sequence: Piece, wanted: Piece) -> Piece:
    """Whether there is one; XPath 1.0 cannot compute its position."""
    found = compare("=", wanted, sequence)
    return Piece("", PieceKind.TRUTH, PRIMARY, found.fixed, (found,))


def _equal(one: Piece, other: Piece) -> Piece:
    return compare("=", one, other)


def _children(node: Piece | None = None) -> Piece:
    if node is None or node.text == ".":
        return piece("node()", PieceKind.NODES, PATH, fixed=False)
    node = as_nodes(node)
    return piece(f"{closed(node, PATH)}/node()", PieceKind.NODES, PATH, fixed=node.fixed)


def _root(node: Piece | None = None) -> Piece:  # noqa: ARG001  # There is one document only.
    return Piece("/", PieceKind.NODES, SUM, fixed=True)


def _of(origin: str, names: str, advice: str = _NONE) -> dict[str, Later]:
    return {name: Later(origin, advice=advice) for name in names.split()}


_LATER: Final[dict[str, Later]] = {
    "lower-case": Later(
        "XPath 2.0", _text(lowered), 1, 1, "XPath 1.0 has translate(x, 'ABC…', 'abc…')"
    ),
    "upper-case": Later(
        "XPath 2.0", _text(uppered), 1, 1, "XPath 1.0 has translate(x, 'abc…', 'ABC…')"
    ),
    "matches": Later("XPath 2.0", _matches, 2, 3, _NO_PATTERNS),
    "replace": Later(
        "XPath 2.0", _replace, 3, 3, "XPath 1.0 has translate(), which replaces single letters"
    ),
    "tokenize": Later(
        "XPath 2.0",
        _tokenize,
        1,
        2,
        "to test for a word, write contains(concat(' ', normalize-space(x), ' '), ' word ')",
    ),
    "contains-token": Later(
        "XPath 3.1",
        _contains_token,
        2,
        2,
        "write contains(concat(' ', normalize-space(x), ' '), ' word ')",
    ),
    "ends-with": Later(
        "XPath 2.0",
        lambda text, end: ends_with(as_value(text), as_value(end)),
        2,
        2,
        "write substring(x, string-length(x) - string-length(y) + 1) = y",
    ),
    "exists": Later("XPath 2.0", _exists, 1, 1, "a path alone tests whether there is such a node"),
    "empty": Later("XPath 2.0", _empty, 1, 1, "write not(…)"),
    "data": Later("XPath 2.0", _same, 1, 1, "XPath 1.0 has string()"),
    "distinct-values": Later(
        "XPath 2.0", _distinct, 1, 1, "write p[not(. = preceding::p)] for the first of each value"
    ),
    "abs": Later("XPath 2.0", _absolute, 1, 1, "write x * (1 - 2 * (x < 0))"),
    "avg": Later("XPath 2.0", _average, 1, 1, "write sum(p) div count(p)"),
    "min": Later(
        "XPath 2.0", _extreme(PieceKind.LEAST), 1, 1, "write p[not(. > p)] with p in full"
    ),
    "max": Later(
        "XPath 2.0", _extreme(PieceKind.GREATEST), 1, 1, "write p[not(. < p)] with p in full"
    ),
    "subsequence": Later("XPath 2.0", _subsequence, 2, 3, "write (p)[position() >= 2]"),
    "head": Later("XPath 3.0", _some_of("1"), 1, 1, "write (p)[1]"),
    "tail": Later("XPath 3.0", _some_of("position() > 1"), 1, 1, "write (p)[position() > 1]"),
    "zero-or-one": Later("XPath 2.0", _same, 1, 1, "leave it out"),
    "one-or-more": Later("XPath 2.0", _same, 1, 1, "leave it out"),
    "exactly-one": Later("XPath 2.0", _same, 1, 1, "leave it out"),
    "index-of": Later("XPath 2.0", _index_of, 2, 2, "to test whether it is there, write p = 'x'"),
    "codepoint-equal": Later("XPath 2.0", _equal, 2, 2, "write a = b"),
    "has-children": Later("XPath 3.0", _children, 0, 1, "write x/node()"),
    "root": Later("XPath 2.0", _root, 0, 1, "write /"),
    "year-from-date": Later("XPath 2.0", _part_of_time(1, 4), 1, 1, "write substring(d, 1, 4)"),
    "month-from-date": Later("XPath 2.0", _part_of_time(6, 2), 1, 1, "write substring(d, 6, 2)"),
    "day-from-date": Later("XPath 2.0", _part_of_time(9, 2), 1, 1, "write substring(d, 9, 2)"),
    "year-from-dateTime": Later("XPath 2.0", _part_of_time(1, 4), 1, 1, "write substring(d, 1, 4)"),
    "month-from-dateTime": Later(
        "XPath 2.0", _part_of_time(6, 2), 1, 1, "write substring(d, 6, 2)"
    ),
    "day-from-dateTime": Later("XPath 2.0", _part_of_time(9, 2), 1, 1, "write substring(d, 9, 2)"),
    "hours-from-dateTime": Later(
        "XPath 2.0", _part_of_time(12, 2), 1, 1, "write substring(d, 12, 2)"
    ),
    "minutes-from-dateTime": Later(
        "XPath 2.0", _part_of_time(15, 2), 1, 1, "write substring(d, 15, 2)"
    ),
    **_of("XPath 2.0", "current-date current-dateTime current-time", _NO_CLOCK),
    **_of("XPath 2.0", "implicit-timezone timezone-from-date adjust-date-to-timezone"),
    **_of("XPath 2.0", "string-join", "the text of an element with all below it is string(x)"),
    **_of("XPath 2.0", "deep-equal compare", "XPath 1.0 compares string values: a = b"),
    **_of("XPath 2.0", "doc doc-available collection", _ONE_DOCUMENT),
    **_of("XPath 3.0", "unparsed-text unparsed-text-lines environment-variable", _ONE_DOCUMENT),
    **_of(
        "XPath 2.0",
        "node-name resolve-QName QName local-name-from-QName namespace-uri-from-QName",
        "XPath 1.0 has local-name() and namespace-uri()",
    ),
    **_of("XPath 2.0", "in-scope-prefixes namespace-uri-for-prefix", "see the axis namespace::"),
    **_of("XPath 2.0", "reverse insert-before remove unordered trace error nilled base-uri"),
    **_of("XPath 2.0", "document-uri idref codepoints-to-string string-to-codepoints iri-to-uri"),
    **_of("XPath 2.0", "normalize-unicode encode-for-uri escape-html-uri resolve-uri dateTime"),
    **_of("XPath 2.0", "round-half-to-even", "XPath 1.0 has round()"),
    **_of(
        "XPath 2.0", "static-base-uri default-collation seconds-from-dateTime days-from-duration"
    ),
    **_of(
        "XPath 3.0", "analyze-string format-date format-dateTime format-integer format-time path"
    ),
    **_of("XPath 3.0", "innermost outermost filter fold-left fold-right for-each for-each-pair"),
    **_of("XPath 3.0", "parse-xml serialize function-lookup generate-id uri-collection"),
    **_of("XPath 3.1", "sort apply parse-json json-doc json-to-xml xml-to-json load-xquery-module"),
    **_of("XPath 3.1", "parse-ietf-date random-number-generator default-language transform"),
    **_of("XSLT", "current", "write the path from the root, or a predicate further out"),
    **_of("XSLT", "key", "write the path with a predicate: //a[@id = 'x']"),
    **_of("XSLT", "document", _ONE_DOCUMENT),
    **_of("XSLT", "format-number system-property element-available function-available"),
    **_of("XSLT", "unparsed-entity-uri current-group current-grouping-key regex-group"),
}

_EXSLT_PREFIXES: Final = frozenset(
    {"re", "regexp", "exsl", "exslt", "str", "set", "date", "dyn", "func", "random"}
)
_EXSLT: Final[dict[str, Later]] = {
    "test": Later("EXSLT", _matches, 2, 3, _NO_PATTERNS),
    "match": Later("EXSLT", advice=_NO_PATTERNS),
    "replace": Later("EXSLT", advice="XPath 1.0 has translate(), which replaces single letters"),
    "has-same-node": Later("EXSLT", advice="write count(a | b) < count(a) + count(b)"),
    "node-set": Later("EXSLT", _same, 1, 1, "leave it out"),
    **_of("EXSLT", "date date-time time", _NO_CLOCK),
}

_EXPECTED: Final = {
    "lowercase": "lower-case",
    "tolower": "lower-case",
    "to-lower": "lower-case",
    "lower": "lower-case",
    "lcase": "lower-case",
    "uppercase": "upper-case",
    "toupper": "upper-case",
    "to-upper": "upper-case",
    "upper": "upper-case",
    "ucase": "upper-case",
    "trim": "normalize-space",
    "strip": "normalize-space",
    "len": "string-length",
    "length": "string-length",
    "strlen": "string-length",
    "size": "count",
    "substr": "substring",
    "startswith": "starts-with",
    "begins-with": "starts-with",
    "endswith": "ends-with",
    "includes": "contains",
    "has": "contains",
    "regexp-like": "matches",
    "regex": "matches",
    "ceil": "ceiling",
    "int": "floor",
    "str": "string",
    "bool": "boolean",
    "isempty": "empty",
    "is-empty": "empty",
    "first": "head",
    "average": "avg",
    "maximum": "max",
    "minimum": "min",
}
"""Names of functions in other languages, with their names in XPath."""
