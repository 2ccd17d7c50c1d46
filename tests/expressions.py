"""Expressions of the whole of XPath 1.0, drawn by their grammar with a seeded generator.

:func:`expression` knows all thirteen axes, every function with and without arguments, filters and
unions in parentheses, names that are operators elsewhere, and namespaces with odd characters. It
needs nothing but a ``Random``, so a loop over seeds can draw hundreds of thousands.
"""

from __future__ import annotations

from random import Random
from typing import Final

from twigcast.language.xpath.syntax import Axis

__all__ = ["PREFIXES", "expression"]

PREFIXES: Final = {"p": "urn:p", "q": "http://x/?a='b\"&c=] [(", "r": "u v", "div": "urn:div"}
"""What the prefixes of the expressions stand for."""

_NAMES: Final = (
    "a", "b", "c", "a", "b", "div", "and", "or", "mod", "text", "node", "self", "child", "é",
    "x-y", "x.y", "*", "*:a", "*:div", "p:a", "p:*", "q:b", "r:a", "{urn:p}a", "{urn:p}*", "{}b",
    "{}*", "xml:lang", "div:mod", "id", "not", "true", "{u'x}a", "{a/b//c[}d", "ancestor", "_",
)  # fmt: skip
_KINDS: Final = (
    "node()", "text()", "comment()", "processing-instruction()", "processing-instruction('t')",
    'processing-instruction("a\'b")',
)  # fmt: skip
_LITERALS: Final = (
    "''", "'1'", "'x'", '"it\'s"', "'\"'", "'en'", "'a'", "'p:a'", "'urn:p'", "'{'", "' 5 '", "']'",
)  # fmt: skip
_NUMBERS: Final = (
    "0", "1", "2", "1.5", ".5", "05.50", "1e3", "1E-3", "10000000000000000000", "0.1e400", "3.",
)  # fmt: skip
_LEADS: Final = (
    "", "", "/", "//", ".//", "./", "/.//", "/self::node()/", "//self::node()/", "self::node()/",
    "/descendant-or-self::node()/",
)  # fmt: skip


def expression(rng: Random, depth: int) -> str:
    """An expression of any type, ``depth`` levels deep at most; a few are refused as ill-typed."""
    return _Drawing(rng).any(depth)


class _Drawing:
    """One method for each type of XPath, and for paths and steps."""

    def __init__(self, rng: Random) -> None:
        self._choice = rng.choice
        self._chance = rng.random

    def any(self, depth: int) -> str:
        kinds = (self._nodes, self._nodes, self._nodes, self._string, self._number, self._boolean)
        return self._choice(kinds)(depth)

    def _step(self, depth: int) -> str:
        name, kind = self._choice(_NAMES), self._choice(_KINDS)
        axis = self._choice(list(Axis))
        forms = (".", "..", name, name, name, f"@{name}", kind, f"self::{name}", f"self::{kind}")
        step = self._choice((*forms, f"{axis}::{name}", f"{axis}::{kind}"))
        if depth > 0 and step.strip("."):
            while self._chance() < 0.35:
                step += f"[{self.any(depth - 1)}]"
        return step

    def _path(self, depth: int) -> str:
        if self._chance() < 0.06:
            return "/"
        lead = self._choice(_LEADS)
        if depth > 0 and self._chance() < 0.1:
            lead = f"/self::node()[{self.any(depth - 1)}]/"
        path = lead + self._step(depth)
        while self._chance() < 0.4:
            path += self._choice(("/", "/", "//")) + self._step(depth)
        return path

    def _nodes(self, depth: int) -> str:
        if depth <= 0 or self._chance() < 0.6:
            return self._path(depth)
        inner = f"({self._nodes(depth - 1)})"
        if self._chance() < 0.1:
            inner = f"id({self.any(depth - 1)})"
        return self._choice(
            (
                inner,
                f"{inner}[{self.any(depth - 1)}]",
                f"{inner}{self._choice(('/', '//'))}{self._step(depth - 1)}",
                f"{self._nodes(depth - 1)} | {self._nodes(depth - 1)}",
            )
        )

    def _string(self, depth: int) -> str:
        if depth <= 0:
            return self._choice(_LITERALS)
        one, other = self.any(depth - 1), self.any(depth - 1)
        about = self._choice(("name", "local-name", "namespace-uri"))
        cut = self._choice(("concat", "substring-before", "substring-after", "substring"))
        text = self._choice(("string", "normalize-space"))
        return self._choice(
            (
                self._choice(_LITERALS), f"{about}()", f"{about}({self._nodes(depth - 1)})",
                f"{text}()", f"{text}({one})", f"{cut}({one}, {other})",
                f"substring({one}, 1, {other})", f"translate({one}, {other}, 'x')",
            )
        )  # fmt: skip

    def _number(self, depth: int) -> str:
        if depth <= 0:
            return self._choice(_NUMBERS)
        one, other = self.any(depth - 1), self.any(depth - 1)
        rounded = self._choice(("number", "floor", "ceiling", "round", "string-length"))
        operator = self._choice(("+", "-", "*", "div", "mod"))
        return self._choice(
            (
                self._choice(_NUMBERS), "last()", "position()", "number()", "string-length()",
                f"{self._choice(('count', 'sum'))}({self._nodes(depth - 1)})", f"{rounded}({one})",
                f"-{self._number(depth - 1)}", f"-({one})", f"{one} {operator} {other}",
            )
        )  # fmt: skip

    def _boolean(self, depth: int) -> str:
        if depth <= 0:
            return self._choice(("true()", "false()", "lang('en')"))
        one, other = self.any(depth - 1), self.any(depth - 1)
        compared = self._choice(("=", "!=", "<", "<=", ">", ">="))
        search = self._choice(("contains", "starts-with"))
        return self._choice(
            (
                f"{one} {compared} {other}", f"{one}{compared}{self._choice(_LITERALS)}",
                f"{one} or {other}", f"{one} and {other}", f"not({one})", f"boolean({one})",
                f"{search}({one}, {self._choice(_LITERALS)})", f"{search}({one}, {other})",
                f"lang({one})", f"({one})",
            )
        )  # fmt: skip
