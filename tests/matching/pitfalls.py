"""Questions aimed at the places where evaluators of XPath 1.0 go wrong.

Random expressions are true of random documents too rarely to show much. So each question here asks
for the value that libxml2 gives: an expression is drawn, libxml2 is asked for its value, and the
question is whether it has that value, or one beside it. Elements carry a number of their own, so
the sum of these numbers tells one set of nodes from another.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from random import Random
from typing import TYPE_CHECKING, Final

from lxml import etree

if TYPE_CHECKING:
    from lxml.etree import _ElementTree

__all__ = ["AIMS", "NAMESPACES", "aimed_document", "question"]

NAMESPACES: Final = {"p": "urn:p", "q": "urn:q"}

_NAMES: Final = ("a", "b", "c", "p:a", "q:b")
_TESTS: Final = (*_NAMES, "*", "p:*", "node()", "text()", "comment()", "processing-instruction()")
_AXES: Final = (
    "child", "descendant", "descendant-or-self", "self", "parent", "ancestor", "ancestor-or-self",
    "following", "following-sibling", "preceding", "preceding-sibling", "attribute",
)  # fmt: skip
_WORDS: Final = (
    "", " ", "x", "y", "xy", " x  y ", "\u00a0x", "\t\n", "é", "\U0001f600x", "-", "5", "05", " 7 ",
    "1.5", "-0.5", ".5", "5.", "1e3", "+1", "0x1", "NaN", "Infinity", "-2", "100000000000", "true",
    "0.00001", "id1", "id2 id1", " id3", "x-y", "en", "3",
)  # fmt: skip
_FROM: Final = ("'xy'", "'xx5'", "' '", "''", "'é-'")
_TO: Final = ("'Y'", "''", "'123'", "'\U0001f600x'")
_LANGUAGES: Final = ("en", "EN-us", "de", "", "en-GB-x", "e")


def aimed_document(rng: Random) -> bytes:
    """A small document that has some of everything: kinds of nodes, namespaces, odd values."""
    numbers = iter(range(1, 1_000))
    before = rng.choice(
        ("", "", "<!--x-->", "<?t 5?>", "<!DOCTYPE a [<!--c--><?i i?>]>", _declared(rng))
    )
    inside = "".join(_content(rng, numbers, 3) for _ in range(3))
    if "ENTITY" in before:
        inside = rng.choice((f"&e;{inside}", f"{inside}&e;", f"&e;{inside}<b>&e;</b>", inside))
    after = rng.choice(("", "", "<!--y-->", "<?a?>"))
    names = "xmlns:p='urn:p' xmlns:q='urn:q'"
    return f"{before}<a {names} {_attributes(rng, numbers)}>{inside}</a>{after}".encode()


def _declared(rng: Random) -> str:
    """An internal subset with an entity for content."""
    value = rng.choice(("x", "", "5", "<b>x</b>", "x<a n='7'/>y", "<!--x-->"))
    return f'<!DOCTYPE a [<!ENTITY e "{value}">]>'


def _attributes(rng: Random, numbers: Iterator[int]) -> str:
    found = [f"n='{next(numbers)}'"]
    found += [
        f"{name}='{rng.choice(_WORDS)}'"
        for name in ("a", "b", "p:a", "class")
        if rng.random() < 0.2
    ]
    if rng.random() < 0.15:
        found.append(f"xml:lang='{rng.choice(_LANGUAGES)}'")
    if rng.random() < 0.2:
        found.append(f"xml:id='id{next(numbers)}'")
    if rng.random() < 0.1:
        found.append(f"xmlns='{rng.choice(('', 'urn:p', 'urn:q'))}'")
    return " ".join(found)


def _content(rng: Random, numbers: Iterator[int], depth: int) -> str:
    parts = []
    for _ in range(rng.randrange(4 if depth else 1)):
        kind = rng.random()
        if kind < 0.55:
            name = rng.choice(_NAMES)
            inside = _content(rng, numbers, depth - 1)
            parts.append(f"<{name} {_attributes(rng, numbers)}>{inside}</{name}>")
        elif kind < 0.85:
            parts.append(_text(rng))
        elif kind < 0.93:
            parts.append(f"<!--{rng.choice(('x', '5', '', ' y '))}-->")
        else:
            parts.append(f"<?{rng.choice(('t', 'a'))} {rng.choice(('x', '5', 'y=1'))}?>")
    return "".join(parts) if parts else _text(rng)


def _text(rng: Random) -> str:
    word = rng.choice(_WORDS)
    return f"<![CDATA[{word}]]>" if rng.random() < 0.15 else word


class _Drawing:
    """Expressions by type; each family of pitfalls leans on one of them."""

    def __init__(self, rng: Random) -> None:
        self.rng = rng
        self.choice = rng.choice

    def start(self) -> str:
        return self.choice(
            ("//*", "//a", "//b", "//@*", "//text()", "/*", "//node()", "//p:a", "/")
        )

    def step(self, axis: str | None = None) -> str:
        axis = axis or self.choice(_AXES)
        test = self.choice(_TESTS)
        if axis == "attribute":
            test = self.choice(("*", "a", "n", "p:a", "xml:lang", "node()", "class", "text()"))
        return f"{axis}::{test}"

    def position(self) -> str:
        return self.choice(
            (
                "1", "2", "last()", "last() - 1", "position() > 1", "position() = last()",
                "position() mod 2 = 1", "position() != last()", "3", "last() > 2", "1.5", "0",
                "position() < 3", "last() = 1", "position() = 2 or last() = 1",
                "not(position() = 1)",
                "count(.) = position()", "'x'", "number('2')", "string(position())",
            )
        )  # fmt: skip

    def predicate(self, depth: int = 1) -> str:
        if self.rng.random() < 0.45:
            return self.position()
        if depth <= 0 or self.rng.random() < 0.4:
            return self.step()
        return self.boolean(depth - 1)

    def path(self, depth: int = 1, axis: str | None = None) -> str:
        start = self.start()
        path = f"{start}{'' if start == '/' else '/'}{self.step(axis)}"
        for _ in range(self.choice((0, 0, 1, 2))):
            path += f"[{self.predicate(depth)}]"
        while self.rng.random() < 0.3:
            path += self.choice(("/", "//")) + self.step().removeprefix("child::")
            if self.rng.random() < 0.4:
                path += f"[{self.predicate(depth)}]"
        return path

    def relative(self) -> str:
        return self.choice(
            (".", "..", self.step(), f"{self.step()}/{self.step()}", "@*", "@n", "text()")
        )

    def nodes(self, depth: int = 1) -> str:
        kind = self.rng.random()
        if kind < 0.6:
            return self.path(depth)
        if kind < 0.7:
            return f"({self.path(depth)})[{self.predicate(depth)}]"
        if kind < 0.78:
            return f"({self.path(depth)} | {self.path(depth)})[{self.position()}]"
        if kind < 0.86:
            return f"({self.path(depth)} | {self.path(depth)})/{self.step()}"
        if kind < 0.93:
            return f"({self.path(depth)})[{self.predicate(depth)}][{self.position()}]/{self.step()}"
        return f"{self.path(depth)} | {self.path(depth)}"

    def string(self, depth: int = 1) -> str:
        one = self.value(depth - 1)
        other = self.value(depth - 1)
        number = self.choice(
            (
                "0",
                "1",
                "2",
                "1.5",
                "-1",
                "2.5",
                "0.5",
                "1 div 0",
                "-1 div 0",
                "0 div 0",
                "-0.5",
                "3",
            )
        )
        again = self.choice(("1", "2", "2.6", "1 div 0", "0 div 0", "0.4", "-1", "1.5", "100"))
        return self.choice(
            (
                f"string({one})", f"concat({one}, '|', {other})", f"normalize-space({one})",
                f"substring({one}, {number}, {again})", f"substring({one}, {number})",
                f"substring-before({one}, {self.literal()})",
                f"substring-after({one}, {self.literal()})",
                f"translate({one}, {self.choice(_FROM)}, {self.choice(_TO)})",
                f"name({self.path(0)})", f"local-name({self.path(0)})",
                f"namespace-uri({self.path(0)})", f"string({self.number(depth - 1)})",
                f"string({self.boolean(depth - 1)})",
            )
        )  # fmt: skip

    def literal(self) -> str:
        return "'" + self.choice(_WORDS) + "'"

    def number(self, depth: int = 1) -> str:
        if depth < 0:
            return self.choice(
                ("0", "1", "-1", "2.5", "-2.5", "0.5", "1 div 0", "-1 div 0", "0 div 0", "-0",
                 "1000000000", "2147483647", "2147483648", "1000000000000000000", "0.00001",
                 "0.000001", "1 div 3", "123456789.123456789", "100 div 7", "1e2", ".5", "5.")
            )  # fmt: skip
        one, other = self.number(depth - 1), self.number(depth - 1)
        operator = self.choice(("+", "-", "*", "div", "mod"))
        return self.choice(
            (
                f"count({self.nodes(depth)})", f"sum({self.path(depth)})",
                f"sum({self.path(0)}/@n)",
                f"number({self.literal()})", f"string-length({self.value(depth - 1)})",
                f"floor({one})", f"ceiling({one})", f"round({one})", f"round({self.literal()})",
                f"{one} {operator} {other}", f"-{one}", f"- -{one}",
                f"number({self.value(depth - 1)})",
                f"{self.literal()} {operator} {one}", f"({one} {operator} {other}) * 2",
                f"{one} - {other} {operator} {one}",
            )
        )  # fmt: skip

    def value(self, depth: int = 0) -> str:
        """An argument of any type."""
        kind = self.rng.random()
        if depth < 0 or kind < 0.35:
            return self.choice((self.literal(), self.path(0), self.path(0), self.number(-1)))
        if kind < 0.6:
            return self.nodes(depth)
        return self.choice((self.string, self.number, self.boolean))(depth)

    def boolean(self, depth: int = 1) -> str:
        compared = self.choice(("=", "!=", "<", "<=", ">", ">="))
        one = self.relative() if self.rng.random() < 0.5 else self.value(depth - 1)
        other = self.relative() if self.rng.random() < 0.3 else self.value(depth - 1)
        return self.choice(
            (
                f"{one} {compared} {other}", f"{one} {compared} {other}",
                f"{one} {compared} {self.literal()}", f"not({one})", f"boolean({one})",
                f"contains({one}, {self.literal()})", f"starts-with({one}, {self.literal()})",
                f"{one} {compared} true()", f"false() {compared} {other}",
                f"{one} and {other}", f"{one} or {other}",
                f"lang('{self.choice(('en', 'de', 'EN', 'en-gb', ''))}')",
                f"count({self.relative()}) {compared} {self.choice('012')}",
                f"name() = '{self.choice(('a', 'p:a', 'b', 't', ''))}'", "local-name() = 'a'",
                f"normalize-space() = {self.literal()}", f"string-length() {compared} 1",
                f"number() {compared} {other}", f"sum({self.relative()}) {compared} {one}",
                f"starts-with({one}, {other})", f"contains({one}, {other})",
                f"{self.relative()} {compared} {self.relative()}",
                f"{self.relative()} {compared} {self.nodes(0)}",
                f"string() {compared} {one}",
            )
        )  # fmt: skip


def _axes(draw: _Drawing) -> str:
    """Steps from nodes of every kind; reverse axes; what an attribute sees."""
    start = draw.choice(
        ("//@*", "//text()", "//comment()", "//processing-instruction()", "//*", "/")
    )
    path = f"{start}{'' if start == '/' else '/'}{draw.step()}"
    return path + (f"/{draw.step()}" if draw.rng.random() < 0.3 else "")


def _positions(draw: _Drawing) -> str:
    """Positions count along the axis; of a filter, in the order of the document."""
    path = f"{draw.start().rstrip('/')}/{draw.step()}[{draw.position()}]"
    if draw.rng.random() < 0.4:
        path += f"[{draw.predicate(0)}]"
    if draw.rng.random() < 0.4:
        path = f"({path})[{draw.position()}]"
    if draw.rng.random() < 0.3:
        path += f"/{draw.step()}[{draw.position()}]"
    return path


def _identifiers(draw: _Drawing) -> str:
    """``id`` by strings and by nodes; with blanks; in the order of its argument."""
    ids = [f"id{draw.rng.randrange(1, 30)}" for _ in range(4)]
    argument = draw.choice(
        (
            f"'{' '.join(ids)}'",
            f"'{ids[0]}'",
            f"' {ids[1]} '",
            "//text()",
            "//@*",
            f"//@*[{draw.position()}]",
        )
    )
    return draw.choice(
        (
            f"id({argument})", f"id({argument})[1]", f"(id({argument}))[1]",
            f"id({argument})/{draw.step()}", f"id({argument})[{draw.predicate(0)}]",
            f"id({argument})[last()]", f"id({argument}) | {draw.path(0)}",
            f"//*[. = id({argument})]",
        )
    )  # fmt: skip


def _contexts(draw: _Drawing) -> str:
    """Predicates that look away from their node, and inside each other."""
    inner = draw.boolean(1)
    return f"{draw.start().rstrip('/')}/{draw.step()}[{inner}]"


def _nested(draw: _Drawing) -> str:
    """Counts and positions within predicates within predicates."""
    axis, other = draw.choice(_AXES), draw.choice(_AXES)
    return (
        f"//*[count({draw.step(axis)}[count({draw.step(other)}) > {draw.choice('012')}])"
        f" {draw.choice(('=', '>', '<'))} {draw.choice('0123')}]"
    )


def _rewritten(draw: _Drawing) -> str:
    """What is kept in another form than it was written in."""
    path, other, inner = draw.path(0), draw.path(0), draw.boolean(1)
    step, number = draw.step(), draw.choice(("0", "1", "0.5", "-1", "2", "1.5", "-0"))
    compared = draw.choice(("=", "!=", "<", "<=", ">", ">="))
    counted = draw.choice((f"count({path})", f"count({step})", f"string-length({path})"))
    one = draw.choice(("[1]", "[last()]", "[1][last()]", "[position() = 1]", "[last()][1]"))
    again = draw.choice(("[1]", "[last()]", "", f"[{step}]"))
    return draw.choice(
        (
            f"({path} | {other})[{inner}]", f"({path} | {other})[{inner}]/{step}",
            f"({path} | {other})//{step.removeprefix('child::')}",
            f"{path}[{step}]{one}{again}", f"({path})[{inner}]{one}", f"({path}){one}/{step}",
            f"//*[{step}{one}]", f"//*[{step}[{inner}]{one}]",
            f"{counted} {compared} {number}", f"{number} {compared} {counted}",
            f"//*[{counted} {compared} {number}]", f"//*[{number} {compared} {counted}]",
            f"//*[not({counted})]", f"//*[boolean({counted})][{counted} {compared} {number}]",
            f"{draw.start().rstrip('/')}//{draw.choice(_TESTS)}[{draw.predicate(1)}]",
            f"//self::node()/{step}", f"/descendant-or-self::node()[{inner}]/{step}",
            f"//./{step}", f"//*[./{step}]/.", f"//*/.[{inner}]/{step}",
            f"{path} {compared} {draw.literal()}", f"{path} {compared} {number}",
            f"{path} {compared} {other}", f"//*[{step} {compared} {draw.step()}]",
            f"//*[not(not({inner}))]", f"//*[not({inner} or {step})]", f"//*[{step} and {inner}]",
            f"//*[({step} | {draw.step()})[{inner}]]",
            f"//*[contains(concat(' ', normalize-space(@class), ' '), ' {draw.choice('xy5')} ')]",
            f"//*[contains(concat(' ', @class, ' '), ' {draw.choice('xy5')} ')]",
            f"//*[normalize-space({step}) = {draw.literal()}]",
            f"//*[contains(normalize-space({step}), {draw.literal()})]",
            f"//*[name({draw.choice(('', '.', '@*', '..', step))}) = 'p:a']",
            f"//*[local-name({draw.choice(('', '.', '@*', '..', step))}) = 'a']",
        )
    )  # fmt: skip


def _upward(draw: _Drawing) -> str:
    """Conditions that look up, and to the side."""
    up = draw.choice(("parent", "ancestor", "ancestor-or-self", "preceding-sibling", "preceding"))
    step = f"{up}::{draw.choice(_TESTS)}"
    test = draw.choice((*_NAMES, "*", "text()", "node()", "@*"))
    inner = draw.choice((f"[{draw.boolean(0)}]", f"[{draw.step()}]", "", "[1]", "[last()]"))
    return draw.choice(
        (
            f"//{test}[{step}{inner}]", f"//{test}[not({step}{inner})]", f"//{test}/{step}{inner}",
            f"//{test}[../{draw.step()}]", f"//{test}[not(../{draw.step()})]",
            f"//{test}[{step}{inner}/{draw.step()}]", f"//{test}/../{draw.step()}{inner}",
            f"//{test}[{step} and not({draw.step(draw.choice(_AXES))})]",
            f"//{test}[../.. or {step}{inner}]", f"//{test}[../../{draw.step()}]",
            f"//{test}/{step}{inner}/{draw.step()}", f"//{test}[{step} = {draw.literal()}]",
            f"//{test}[contains(.., {draw.literal()})]", f"//{test}[{step}][{draw.step()}]",
        )
    )  # fmt: skip


def _missing(draw: _Drawing) -> str:
    """What asks for nodes that the document lacks, or has few of."""
    none = draw.choice(("zz", "@zz", "zz/a", "a[zz]", "q:zz", ".//zz", "ancestor::zz", "//zz"))
    value = draw.choice((f"{draw.relative()}", draw.literal(), draw.number(0), draw.boolean(0)))
    compared = draw.choice(("=", "!=", "<", "<=", ">", ">="))
    inner = draw.choice(
        (
            none, f"not({none})", f"{none} {compared} {value}", f"{value} {compared} {none}",
            f"contains({none}, {draw.literal()})", f"starts-with({draw.literal()}, {none})",
            f"string({none}) {compared} {value}", f"number({none}) {compared} {value}",
            f"count({none}) {compared} {draw.choice('012')}", f"sum({none}) {compared} {value}",
            f"string-length({none}) {compared} {value}", f"-{none} {compared} {value}",
            f"{none} + 1 {compared} {value}", f"concat({none}, {draw.literal()}) = {value}",
            f"normalize-space({none}) {compared} {value}", f"name({none}) {compared} {value}",
            f"translate({none}, 'x', 'y') {compared} {value}", f"({none} | {draw.step()})[1]",
            f"boolean({none}) {compared} {value}", f"string(boolean({none})) {compared} {value}",
            f"{none} or {draw.step()}", f"{none} and {draw.step()}", f"id({none})",
            f"substring({none}, 1) {compared} {value}", f"floor({none}) {compared} {value}",
            f"substring-before({none}, 'x') {compared} {value}",
            f"substring-after({draw.literal()}, {none}) {compared} {value}",
        )
    )  # fmt: skip
    return draw.choice(
        (f"{draw.start().rstrip('/')}/{draw.step()}[{inner}]", f"//*[{inner}]", f"//*[{inner}][1]",
         f"//a[{inner}] | //b[not({inner})]", f"not(//*[{inner}])")
    )  # fmt: skip


def _namespaces(draw: _Drawing) -> str:
    """Whether there are namespaces: every element has one."""
    axis = draw.choice(("namespace::*", "namespace::node()"))
    start = draw.start().rstrip("/")
    return draw.choice(
        (f"boolean({start}/{axis})", f"{start}/{draw.step()}[{axis}]", f"//node()[not({axis})]",
         f"boolean({start}/{draw.step()}/{axis})", f"//*[{axis} and {draw.step()}]")
    )  # fmt: skip


AIMS: Final[Mapping[str, Callable[[_Drawing], str]]] = {
    "axes": _axes,
    "positions": _positions,
    "identifiers": _identifiers,
    "contexts": _contexts,
    "nested": _nested,
    "rewritten": _rewritten,
    "upward": _upward,
    "missing": _missing,
    "namespaces": _namespaces,
    "nodes": lambda draw: draw.nodes(1),
    "strings": lambda draw: draw.string(1),
    "numbers": lambda draw: draw.number(1),
    "booleans": lambda draw: draw.boolean(1),
    "mixed": lambda draw: draw.value(2),
}
"""What questions are aimed at. Each draws an expression of any type."""


def question(rng: Random, aim: str, tree: _ElementTree) -> str | None:
    """What an expression yields on this document, as a question; None where libxml2 refuses it."""
    asked = AIMS[aim](_Drawing(rng))
    try:
        value = _value(asked, tree)
        if isinstance(value, list):
            return _of_nodes(rng, asked, tree)
        if isinstance(value, bool):
            return rng.choice((asked, f"not({asked})", f"boolean({asked})"))
        if isinstance(value, float):
            printed = _value(f"string({asked})", tree)
            compared = rng.choice(("=", "!="))
            return f"string({asked}) {compared} '{printed}'"
        return _of_string(rng, asked, str(value))
    except etree.XPathError:
        return None


def _value(asked: str, tree: _ElementTree) -> object:
    """The value at the document node, where lxml would start from the root element."""
    return tree.xpath(asked, namespaces=NAMESPACES)


def _of_nodes(rng: Random, asked: str, tree: _ElementTree) -> str:
    kind = rng.randrange(6)
    if kind == 0:
        return f"boolean({asked})"
    if kind == 1:
        beside = rng.choice((0, 0, 1))
        return f"count({asked}) = {_value(f'count({asked})', tree):.0f} + {beside}"
    if kind == 2:
        return f"not({asked})"
    if kind == 3:
        return _of_string(rng, f"string({asked})", str(_value(f"string({asked})", tree)))
    if kind == 4:
        return _of_string(rng, f"name({asked})", str(_value(f"name({asked})", tree)))
    numbers = f"sum(({asked})/ancestor-or-self::*[1]/@n)"
    return f"{numbers} = {_value(numbers, tree):.0f}"


def _of_string(rng: Random, asked: str, value: str) -> str:
    if "'" in value:
        return f"string-length({asked}) = {len(value)}"
    return f"{asked} {rng.choice(('=', '!='))} '{value}'"
