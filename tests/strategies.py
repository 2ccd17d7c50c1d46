"""Hypothesis strategies shared by the tests: expressions of the whole of XPath 1.0, documents.

The vocabularies are tiny on purpose: with three names and a dozen values, expressions and documents
meet often, and shrunken examples can be read.
"""

from __future__ import annotations

from dataclasses import dataclass
from xml.sax.saxutils import escape, quoteattr

from hypothesis import settings
from hypothesis import strategies as st

from twigcast.language import PATTERN_LIMITS

THOROUGH = settings(max_examples=4 * settings().max_examples)
"""For the properties everything else rests on: several times what the profile says."""

NAMESPACES = {"p": "urn:p", "q": "urn:q"}


@dataclass(frozen=True)
class ExpressionPair:
    """An expression twice: as a subscriber writes it, and as plain XPath 1.0 for the oracle."""

    text: str
    oracle: str


def _same(text: str) -> ExpressionPair:
    return ExpressionPair(text, text)


def _join(template: str, *parts: ExpressionPair) -> ExpressionPair:
    return ExpressionPair(
        template.format(*(part.text for part in parts)),
        template.format(*(part.oracle for part in parts)),
    )


_names = st.sampled_from(
    [
        *map(_same, ("a", "b", "c", "é", "*", "p:a", "p:*", "q:b", "div", "and")),
        ExpressionPair("*:a", "*[local-name()='a']"),
        ExpressionPair("{{urn:p}}a", "p:a"),
        ExpressionPair("{{urn:p}}*", "p:*"),
        ExpressionPair("{{}}b", "b"),
    ]
)
_attributes = st.sampled_from(
    [
        *map(_same, ("x", "y", "*", "p:x", "p:*")),
        ExpressionPair("*:x", "*[local-name()='x']"),
        ExpressionPair("{{urn:p}}x", "p:x"),
    ]
)
VALUES = ("", "1", "2", "5", "10", "x", "xy", "y", " 5 ", "1e3", "1000", "-1", "1.5", "é", "it's")
_literals = st.sampled_from(VALUES).map(lambda v: _same(f'"{v}"' if "'" in v else f"'{v}'"))
_numbers = st.sampled_from(["0", "1", "2", "5", "10", "1.5", "-1", "1e3", ".5", "05.50"]).map(_same)
_constants = st.one_of(_literals, _numbers)
_comparisons = st.sampled_from(["=", "!=", "<", "<=", ">", ">="])
_other_axes = st.sampled_from(
    [
        "ancestor", "ancestor-or-self", "following", "following-sibling", "parent", "preceding",
        "preceding-sibling", "descendant-or-self",
    ]
)  # fmt: skip
_kinds = st.sampled_from(["node()", "text()", "comment()", "processing-instruction()"]).map(_same)


@st.composite
def _steps(draw: st.DrawFn, depth: int, *, exact: bool) -> ExpressionPair:
    kinds = ["child"] * 6 + ["attribute", "text", "self", "descendant"]
    if not exact:
        kinds += ["other", "kind", "dot", "dots"]
    match draw(st.sampled_from(kinds)):
        case "child":
            step = draw(_names)
        case "attribute":
            step = _join("@{}", draw(_attributes))
        case "text":
            step = _same("text()")
        case "self":
            step = _join("self::{}", draw(_names))
        case "descendant":
            step = _join("descendant::{}", draw(_names))
        case "other":
            test = draw(st.one_of(_names, _kinds))
            step = _join(f"{draw(_other_axes)}::{{}}", test)
        case "kind":
            step = draw(_kinds)
        case "dot":
            return _same(".")
        case _:
            return _same("..")
    for _ in range(draw(st.integers(0, 2)) if depth else 0):
        step = _join("{}[{}]", step, draw(_predicates(depth - 1, exact=exact)))
    return step


@st.composite
def _relative_paths(draw: st.DrawFn, depth: int, *, exact: bool) -> ExpressionPair:
    path = draw(_steps(depth, exact=exact))
    for _ in range(draw(st.integers(0, 2))):
        slash = draw(st.sampled_from(["/", "/", "//"]))
        path = _join(f"{{}}{slash}{{}}", path, draw(_steps(depth, exact=exact)))
    return path


@st.composite
def _paths(draw: st.DrawFn, depth: int, *, exact: bool) -> ExpressionPair:
    lead = draw(st.sampled_from(["", "", ".//", "/", "//"]))
    return _join(f"{lead}{{}}", draw(_relative_paths(depth, exact=exact)))


@st.composite
def _predicates(draw: st.DrawFn, depth: int, *, exact: bool) -> ExpressionPair:
    return draw(
        _conditions(depth, exact=exact)
        if exact
        else st.one_of(
            _conditions(depth, exact=False), _conditions(depth, exact=False), _positions(depth)
        )
    )


@st.composite
def _conditions(draw: st.DrawFn, depth: int, *, exact: bool) -> ExpressionPair:  # noqa: C901, PLR0911, PLR0912
    kinds = ["exists", "exists", "compare", "compare", "contains", "named"]
    if depth:
        kinds += ["and", "or", "not"]
        if not exact:
            kinds += ["join", "call", "filter", "union", "count"]
    path = _paths(max(0, depth - 1), exact=exact)
    subject = st.one_of(path, st.just(_same(".")))
    inner = _conditions(max(0, depth - 1), exact=exact)
    match draw(st.sampled_from(kinds)):
        case "exists":
            return draw(path)
        case "compare":
            sides = [draw(subject), draw(_constants)]
            if draw(st.booleans()):
                sides.reverse()
            return _join(f"{{}} {draw(_comparisons)} {{}}", *sides)
        case "contains":
            function = draw(st.sampled_from(["contains", "starts-with"]))
            return _join(f"{function}({{}}, {{}})", draw(subject), draw(_literals))
        case "named":
            function = draw(st.sampled_from(["local-name", "namespace-uri", "name"]))
            value = draw(st.sampled_from(["a", "b", "x", "p:a", "urn:p", ""]))
            return _same(f"{function}() {draw(st.sampled_from(['=', '!=']))} '{value}'")
        case "and":
            return _join("({} and {})", draw(inner), draw(inner))
        case "or":
            return _join("({} or {})", draw(inner), draw(inner))
        case "not":
            return _join("not({})", draw(inner))
        case "join":
            return _join(f"{{}} {draw(_comparisons)} {{}}", draw(path), draw(path))
        case "filter":
            return _join("({})[{}]", draw(path), draw(_predicates(depth - 1, exact=False)))
        case "union":
            return _join("({} | {})", draw(path), draw(path))
        case "count":
            number = draw(_numbers)
            return _join(f"count({{}}) {draw(_comparisons)} {{}}", draw(path), number)
        case _:
            return draw(_calls(depth))


@st.composite
def _calls(draw: st.DrawFn, depth: int) -> ExpressionPair:
    path = draw(_paths(depth - 1, exact=False))
    template = draw(
        st.sampled_from(
            [
                "normalize-space({}) != ''", "string-length({}) > 1", "string({}) = '1'",
                "number({}) >= 1", "sum({}) = 3", "boolean({})", "local-name({}) = 'a'",
                "contains({}, @x)", "substring({}, 1, 1) = 'x'", "translate({}, 'x', 'y') = 'y'",
                "concat({}, 'x') = 'xx'", "name() = 'a'", "position() = last()", "lang('en')",
                "normalize-space()", "count({}) * 2 > 2 div 1 - 1", "-{} < 0", "true()", "false()",
                "{} = true()", "floor({}) = 1", "'x'", "({})/b = 'x'", "id('x')/a", "string({})",
            ]
        )
    )  # fmt: skip
    return _join(template, path) if "{}" in template else _same(template)


_SLASHES = st.sampled_from(["/", "//"])
_TANGLED = st.sampled_from(["a", "b", "c", "*"])
_BRANCH = st.builds(
    "[{}{}{}]".format,
    st.sampled_from(["", "", ".//"]),
    _TANGLED,
    st.sampled_from(["", "", "", "/b", "[@x]", "[a][b]", "[. = '1']", "//c"]),
)
_BRANCHES = st.lists(_BRANCH, max_size=2).map("".join)


@st.composite
def _positions(draw: st.DrawFn, depth: int) -> ExpressionPair:
    position = draw(
        st.sampled_from(
            ["1", "2", "last()", "position() = 1", "position() < 3", "last() > 1", "last() - 1"]
        )
    )
    if depth and draw(st.booleans()):
        condition = draw(_conditions(depth - 1, exact=False))
        return _join(f"position() > 1 {draw(st.sampled_from(['and', 'or']))} {{}}", condition)
    return _same(position)


@st.composite
def tangles(draw: st.DrawFn) -> ExpressionPair:
    """Twigs that begin alike, side by side: ``//a[b][c] and //a/d[e][f]``. Always exact.

    Each follows a common trunk for some steps and branches at the last of them, at times before
    too, so the elements where one twig branches are above, below and among those of the others.
    """
    trunk = draw(st.lists(st.tuples(_SLASHES, _TANGLED), min_size=1, max_size=3))

    def twig() -> str:
        text = ""
        for slash, name in trunk[: draw(st.integers(1, len(trunk)))]:
            text += slash + name + draw(_BRANCHES)
        return text + draw(_BRANCH)

    def part() -> str:
        match draw(st.sampled_from(["twig"] * 6 + ["not", "or"])):
            case "twig":
                return twig()
            case "not":
                return f"not({twig()})"
            case _:
                return f"({twig()} or {twig()})"

    parts = [part() for _ in range(draw(st.integers(2, 3)))]
    while len(parts) > 1 and "".join(parts).count("[") > PATTERN_LIMITS.predicates_max:
        parts.pop()
    return _same(draw(st.sampled_from([" and "] * 5 + [" or "])).join(parts))


@st.composite
def subscriptions(draw: st.DrawFn, *, exact: bool = False) -> ExpressionPair:
    """An expression with the prefixes of NAMESPACES, at top level as subscribers write it."""

    def top() -> ExpressionPair:
        path = draw(_relative_paths(2, exact=exact))
        lead = draw(st.sampled_from(["", "/", "//"]))
        return ExpressionPair(lead + path.text, (lead or "//") + path.oracle)

    kinds = ["path"] * 4 + ["union", "condition", "tangle", "filter", "chain"]
    match draw(st.sampled_from(kinds)):
        case "path":
            said = top()
        case "filter":
            base = draw(st.sampled_from(["({})", "({} | {})", "(({}))"]))
            predicate = draw(_predicates(1, exact=exact))
            said = _join(f"{base}[{{}}]", *(top() for _ in range(base.count("{}"))), predicate)
            if draw(st.booleans()):
                said = _join("{} | {}", said, top())
        case "chain":
            slash = draw(st.sampled_from(["/", "//"]))
            step = draw(_relative_paths(1, exact=exact))
            said = _join(f"({{}} | {{}}){slash}{{}}", top(), top(), step)
        case "tangle":
            said = draw(tangles())
        case "union":
            said = _join("{} | {}", top(), top())
        case _:
            # At top level a lone path would get '//' in front; behind an operator it does not.
            said = _join("true() and {}", draw(_conditions(2, exact=exact)))
    return ExpressionPair(_unbraced(said.text), _unbraced(said.oracle))


def _unbraced(text: str) -> str:
    return text.replace("{{", "{").replace("}}", "}")


# Documents.

_texts = st.sampled_from(VALUES)


@st.composite
def _elements(draw: st.DrawFn, depth: int) -> str:
    name = draw(st.sampled_from(["a", "b", "c", "a", "b", "é", "p:a", "q:b", "r:a", "div"]))
    scope = draw(st.sampled_from(["", "", "", ' xmlns="urn:p"', ' xml:lang="en"']))
    attributes = draw(
        st.dictionaries(st.sampled_from(["x", "y", "p:x", "q:y"]), _texts, max_size=2)
    )
    written = "".join(f" {key}={quoteattr(value)}" for key, value in attributes.items())
    children = draw(st.lists(_contents(depth - 1), max_size=3)) if depth else []
    return f"<{name}{scope}{written}>{''.join(children)}</{name}>"


@st.composite
def _contents(draw: st.DrawFn, depth: int) -> str:
    match draw(st.sampled_from(["element"] * 4 + ["text", "text", "cdata", "comment", "pi"])):
        case "element":
            return draw(_elements(depth))
        case "text":
            return escape(draw(_texts))
        case "cdata":
            return f"<![CDATA[{draw(_texts)}]]>"
        case "comment":
            return f"<!--{draw(st.sampled_from(['1', 'x']))}-->"
        case _:
            return "<?t x?>"


@st.composite
def thickets(draw: st.DrawFn, depth: int = 4) -> bytes:
    """A document of few names that come again at every level, for :func:`tangles` to fail on."""

    def grown(depth: int) -> str:
        name = draw(st.sampled_from("abc"))
        value = draw(st.sampled_from(["", "", ' x="1"']))
        children = range(draw(st.integers(int(depth > 1), 3)) if depth else 0)
        inside = "".join(grown(depth - 1) for _ in children) or draw(st.sampled_from(["", "1"]))
        return f"<{name}{value}>{inside}</{name}>"

    return grown(depth).encode()


_DECLARED = 'xmlns:p="urn:p" xmlns:q="urn:q" xmlns:r="urn:p"'


@st.composite
def documents(draw: st.DrawFn, depth: int = 4) -> bytes:
    """A small document: namespaces, mixed content, comments, in one of four encodings."""
    body = draw(_elements(depth))
    # Declare the prefixes on the root element, behind its name.
    end = min(body.index(mark) for mark in " >" if mark in body)
    body = f"{body[:end]} {_DECLARED}{body[end:]}"
    encoding = draw(st.sampled_from(["UTF-8", "UTF-8", "UTF-16", "ISO-8859-1", ""]))
    head = f'<?xml version="1.0" encoding="{encoding}"?>' if encoding else ""
    before = draw(st.sampled_from(["", "", "<!--x-->", '<!DOCTYPE a [<!ENTITY e "x">]>']))
    return (head + before + body).encode(encoding or "UTF-8")
