"""Expressions and documents aimed at what the translation makes exact.

Most expressions of :mod:`tests.expressions` never meet a document on which it matters how
``ancestor::`` was turned around. Here nearly every one has such a part, names are few, and
documents come again at every level. A seeded generator draws them, so a loop can draw thousands.
"""

from __future__ import annotations

from random import Random
from typing import Final

from lxml import etree

from tests.oracle import by_oracle, oracle_tree
from twigcast.errors import PatternError
from twigcast.language import Document, Pattern
from twigcast.language.pattern import CANONICAL_LIMITS
from twigcast.matching import Matcher
from twigcast.matching.residual.tree_walk import holds

__all__ = ["NAMESPACES", "Aimed", "agree", "document"]

NAMESPACES: Final = {"p": "urn:p"}
_NAMES: Final = ("a", "b", "c", "d", "*", "a", "b", "p:a", "e")
_VALUES: Final = ("", "1", "2", "x", "xy", "x y", " x ", "en")
_TEMPLATES: Final = {
    "functions": (
        "string(PATH) OP TEXT",
        "string(PATH) OP NUMBER",
        "TEXT OP string(PATH)",
        "string(PATH)",
        "number(PATH) OP NUMBER",
        "number(PATH) OP TEXT",
        "string-length(PATH) OP NUMBER",
        "not(string-length(PATH))",
        "boolean(string-length(PATH))",
        "string(string(PATH)) OP TEXT",
        "contains(string(PATH), WORD)",
        "contains(normalize-space(PATH), WORD)",
        "string() OP TEXT",
        "starts-with(normalize-space(PATH), WORD)",
        "contains(normalize-space(), WORD)",
        "starts-with(string(PATH), WORD)",
        "substring(PATH, 1, 1) = WORD",
        "string-length() OP NUMBER",
        "substring(PATH, 1, 2) = WORD",
        "WORD = substring(PATH, 1, 3)",
        "PATH = true()",
        "false() = PATH",
        "PATH != true()",
        "count(PATH) != false()",
        "concat(PATH, OTHER)",
        "concat(PATH, TEXT)",
        "concat(string(PATH), '')",
        "name(PATH) OP NAME",
        "name() OP NAME",
        "local-name(PATH) OP NAME",
        "namespace-uri(PATH) OP NAME",
        "NAME OP local-name(PATH)",
        "@*[name() = NAME]",
        "@*[name() != NAME]",
        "number() OP NUMBER",
        "string(WORD)",
    ),
    "relaxed": (
        "PATH/following-sibling::OTHER",
        "preceding-sibling::*[PATH]",
        "following-sibling::a = TEXT",
        "following-sibling::*[1][self::b]",
        "preceding-sibling::text()",
        "not(preceding-sibling::a)",
        "contains(concat(' ', normalize-space(PATH), ' '), WORD)",
        "contains(concat(' ', PATH, ' '), WORD)",
        "contains(concat(PATH, 'x'), WORD)",
        "normalize-space(PATH) = WORD",
        "normalize-space(PATH) != WORD",
        "starts-with(normalize-space(PATH), WORD)",
        "substring-before(PATH, WORD)",
        "lang('en')",
        "substring-after(PATH, WORD)",
        "substring-before(substring-after(PATH, WORD), WORD) = WORD",
        "substring(PATH, 2) = WORD",
        "translate(PATH, 'xy', 'yx') = WORD",
        "string-length(PATH) OP NUMBER",
        "string(PATH) OP WORD",
        "number(PATH) + number(OTHER) OP NUMBER",
        "sum(PATH) OP sum(OTHER)",
        "sum(PATH) OP number(OTHER)",
        "PATH OP OTHER",
        "PATH OP count(OTHER)",
        "floor(PATH) OP NUMBER",
        "-PATH OP NUMBER",
        "PATH * 2 OP OTHER - 1",
        "boolean(PATH * OTHER)",
        "boolean(count(PATH) - 1)",
        "contains(PATH, OTHER)",
        "starts-with(translate(PATH, 'x', ''), WORD)",
        "normalize-space(PATH)",
        "concat(substring-before(PATH, WORD), OTHER) = WORD",
        "local-name(PATH) = NAME",
        "name(PATH) != NAME",
        "following-sibling::*/PATH",
        "../following-sibling::a",
        "string(PATH) = string(OTHER)",
        "round(PATH div 2) OP NUMBER",
        "PATH = string(OTHER)",
        "substring-before(PATH, OTHER)",
        "ancestor::*[1]/PATH",
        "ancestor::a[1][PATH]",
        "normalize-space(concat(PATH, OTHER)) = WORD",
    ),
}
_DOCUMENTS: Final = 12
_EXPRESSIONS: Final = 40


def document(rng: Random, depth: int) -> bytes:
    """A document of few names, some of whose nodes no index knows of."""
    body = _element(rng, depth)
    end = min(body.index(mark) for mark in " >" if mark in body)
    before = rng.choice(["", "", "<!--x-->", '<!DOCTYPE a [<!--q--><!ENTITY e "x">]>'])
    return (before + body[:end] + ' xmlns:p="urn:p"' + body[end:]).encode()


def _element(rng: Random, depth: int) -> str:
    name = rng.choice(["a", "a", "b", "b", "c", "c", "d", "p:a"])
    names = [name for name in ("x", "y", "p:x", "xml:lang") if rng.random() < 0.25]
    attributes = "".join(f' {each}="{rng.choice(_VALUES)}"' for each in names)
    inside = ""
    for _ in range(rng.choice([0, 1, 1, 2, 2, 3]) if depth else 1):
        kinds = ["element"] * 9 * bool(depth) + ["text", "text", "comment", "instruction"]
        match rng.choice(kinds):
            case "element":
                inside += _element(rng, depth - 1)
            case "text":
                inside += rng.choice([*_VALUES, " "])
            case "comment":
                inside += "<!--c-->"
            case _:
                inside += "<?t x?>"
    return f"<{name}{attributes}>{inside}</{name}>"


class Aimed:
    """Draws expressions with the aim in many steps and predicates."""

    def __init__(self, rng: Random, aim: str) -> None:
        self._rng = rng
        self._choice = rng.choice
        self._aim = aim

    def expression(self) -> str:
        step = self._step(2)
        if self._rng.random() < 0.6:
            step += self._choice(["/", "/", "//"]) + self.path(2)
        else:
            step += f"[{self.predicate(2)}]"
        return self._choice(["/", "//", "//"]) + step

    def path(self, depth: int) -> str:
        path = self._aimed_step(depth) if self._rng.random() < 0.45 else self._step(depth)
        while self._rng.random() < 0.4:
            path += self._choice(["/", "/", "//"]) + self._step(depth)
        return path

    def predicate(self, depth: int) -> str:
        if self._rng.random() < 0.4:
            return self._aimed_predicate(depth)
        kinds = ["exists", "exists", "compared", "contains"]
        if depth > 0:
            kinds += ["not", "and", "or", "filter", "join"]
        match self._choice(kinds):
            case "exists":
                return self._choice(["", "", "", ".//", "//", "/"]) + self.path(depth - 1)
            case "compared":
                return f"{self.path(depth - 1)} {self._operator()} {self._constant()}"
            case "contains":
                return f"contains({self.path(depth - 1)}, {self._constant()})"
            case "not":
                return f"not({self.predicate(depth - 1)})"
            case "filter":
                return f"({self.path(depth - 1)})[{self.predicate(depth - 1)}]"
            case "join":
                return f"{self.path(depth - 1)} = {self.path(depth - 1)}"
            case operator:
                return f"({self.predicate(depth - 1)} {operator} {self.predicate(depth - 1)})"

    def _step(self, depth: int) -> str:
        name = self._choice(_NAMES)
        kinds = ["child"] * 9 + ["attribute", "attribute", "text", "self", "other", "aimed"]
        match self._choice(kinds):
            case "child":
                step = name
            case "attribute":
                return self._choice(["@x", "@y", "@*", "@p:x"])
            case "text":
                step = "text()"
            case "self":
                step = self._choice([f"self::{name}", f"descendant-or-self::{name}", "."])
            case "other":
                axis = self._choice(["following", "preceding"]) + self._choice(["", "-sibling"])
                step = f"{axis}::{self._choice([name, name, 'node()', 'text()'])}"
            case _:
                return self._aimed_step(depth)
        if depth > 0 and step != "." and self._rng.random() < 0.35:
            step += f"[{self.predicate(depth - 1)}]"
        return step

    def _aimed_step(self, depth: int) -> str:
        name = self._choice(_NAMES)
        if self._aim == "positions":
            return f"{name}[{self._position()}]"
        if self._aim in _TEMPLATES:
            return f"{name}[{self._of_template(0)}]"
        axis = self._choice(["", "parent", "parent", "ancestor", "ancestor", "ancestor-or-self"])
        if not axis:
            return ".."
        test = "node()" if self._rng.random() < 0.2 else name
        predicate = f"[{self.predicate(depth - 1)}]" if self._rng.random() < 0.3 * depth else ""
        return f"{axis}::{test}{predicate}"

    def _aimed_predicate(self, depth: int) -> str:
        if self._aim == "upward":
            return self._aimed_step(depth)
        if self._aim in _TEMPLATES:
            return self._of_template(depth)
        if self._rng.random() < 0.5:
            return self._position()
        sides = [f"count({self.path(depth - 1)})", self._number()]
        self._rng.shuffle(sides)
        return self._choice([f"{sides[0]} {self._operator()} {sides[1]}", f"count({self.path(0)})"])

    def _of_template(self, depth: int) -> str:
        text = self._choice(_TEMPLATES[self._aim])
        one = self._choice([".", "@x", "@p:x", "..", "../@y", "self::node()", "parent::a", "@*"])
        if self._rng.random() < 0.4:
            one = self.path(depth - 1)
        for mark, value in (
            ("PATH", one), ("OTHER", self.path(depth - 1)), ("OP", self._operator()),
            ("NUMBER", self._number()), ("TEXT", self._constant()), ("NAME", self._name()),
            ("WORD", self._choice(["'x'", "'xy'", "' x '", "'x y'", "''", "'y '", "'1'"])),
        ):  # fmt: skip
            text = text.replace(mark, value)
        return text

    def _name(self) -> str:
        return self._choice(["'a'", "'b'", "'p:a'", "'x'", "'p:x'", "'xml:lang'", "'urn:p'", "''"])

    def _position(self) -> str:
        sides = [
            self._choice(["position()", "position()", "last()"]),
            self._choice(["last()", "position()", self._number(), self._number()]),
        ]
        self._rng.shuffle(sides)
        return self._choice(["1", "last()", f"{sides[0]} {self._operator()} {sides[1]}"])

    def _operator(self) -> str:
        return self._choice(["=", "!=", "<", "<=", ">", ">="])

    def _number(self) -> str:
        return self._choice(["0", "1", "2", "-1", "0.5", "1.0", "1.5"])

    def _constant(self) -> str:
        return self._choice(["''", "'1'", "'x'", "'xy'", "1", "0"])


def agree(aim: str, seed: int, engine: str) -> int:
    """Compare expressions with libxml2 on documents, and return how many were exact.

    Compared are the engine, the canonical text, the walk over exact conditions, the necessary
    condition, and the pattern that the canonical text reads back as.
    """
    rng = Random(seed)
    drawn = Aimed(rng, aim)
    matcher = Matcher(engine=engine)
    patterns: dict[str, Pattern] = {}
    while len(patterns) < _EXPRESSIONS:
        text = drawn.expression()
        if text in patterns:
            continue
        try:
            patterns[text] = Pattern(text, NAMESPACES)
        except PatternError:
            continue  # One that is over a limit.
        assert Pattern.parse(patterns[text].text, None, CANONICAL_LIMITS) is patterns[text], text
        matcher.add(text, text, NAMESPACES)
    for _ in range(_DOCUMENTS):
        content = document(rng, rng.choice([2, 3, 4]))
        tree, parsed = oracle_tree(content), Document.parse(content)
        decision = matcher.decide(content)
        found, undecided = set(decision.matches), set(decision.undecided)
        # Where declarations have nodes libxml2 decides, within an estimate of its work.
        assert not undecided or b"<!DOCTYPE" in content, (undecided, content)
        for text, pattern in patterns.items():
            expected = by_oracle(text, tree, NAMESPACES)
            plain, namespaces = pattern.for_libxml2()
            canonical = etree.XPath(f"boolean({plain})", namespaces=namespaces, regexp=False)(tree)
            assert canonical == expected, (text, pattern.text, content)
            assert text in undecided or (text in found) == expected, (text, content)
            necessary = holds(pattern.necessary.condition, parsed)
            assert necessary or not expected, (text, pattern.necessary.text, content)
            if pattern.exact:
                assert necessary == expected, (text, pattern.text, content)
    return sum(pattern.exact for pattern in patterns.values())
