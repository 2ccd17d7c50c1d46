"""Path expressions of advertisements: label paths in which ``( )+`` may repeat.

    /a/b/c                    non-recursive
    /a/b(c/d)+/e              simple-recursive: one part repeats
    /a(b)+/c(d/e)+/@x         series-recursive: several, one after the other
    /a(b(c)+/d)+/e            embedded-recursive: one inside another

These are the four forms of Dissemination, section 1.4.1, with attributes and ``text()`` as last
steps. Names are written as in canonical patterns: ``{uri}name``, ``*:name`` for any namespace,
``*`` for any element. An expression stands for the paths it spells out and all that lead to them:
a document with ``/a/b`` has ``/a``, too.

Expressions without a choice inside ``( )+`` cannot express every advertisement. Three elements that
nest in each other freely form square-free sequences of any length (Thue 1906), and an expression
spells at most one such sequence: finitely many expressions do not suffice. That is why an
advertisement is kept as an automaton, and expressions serve for display and for small cases.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum
from typing import Final, NamedTuple, TypeAlias

from twigcast.covering.paths.automaton import DOCUMENT_NODE, Sketch, TextKind
from twigcast.errors import PatternError, PatternLimitError
from twigcast.language.condition.model import TEXT, Kind, Label
from twigcast.language.xpath.lexer import is_name

EXPRESSION_CHARACTERS_MAX: Final = 4096
"""Characters of one path expression, as of a pattern."""

EXPRESSION_NESTING_MAX: Final = 32
"""Levels of repeated parts inside each other."""


class Recursion(StrEnum):
    """The forms of Dissemination, section 1.4.1."""

    NONE = "non-recursive"
    SIMPLE = "simple-recursive"
    SERIES = "series-recursive"
    EMBEDDED = "embedded-recursive"


@dataclass(frozen=True, slots=True)
class Repeated:
    """A part that occurs one or more times in its place."""

    parts: PathExpression


PathExpression: TypeAlias = tuple[Label | Repeated, ...]


def recursion_of(expression: PathExpression) -> Recursion:
    """Which of the four forms an expression has."""
    repeated = [part for part in expression if isinstance(part, Repeated)]
    if not repeated:
        return Recursion.NONE
    if any(isinstance(inner, Repeated) for part in repeated for inner in part.parts):
        return Recursion.EMBEDDED
    return Recursion.SIMPLE if len(repeated) == 1 else Recursion.SERIES


def expression_text(expression: PathExpression) -> str:
    """The text of an expression; :func:`read_expression` reads it back."""
    text = _parts_text(expression)
    return text if text.startswith("/") else f"/{text}"


def _parts_text(parts: PathExpression) -> str:
    text = ""
    for part in parts:
        if isinstance(part, Repeated):
            text += f"({_parts_text(part.parts).removeprefix('/')})+"
        else:
            text += f"/{label_text(part)}"
    return text


def label_text(label: Label) -> str:
    """A label as it is written in expressions."""
    if label.kind is Kind.TEXT:
        return "text()"
    sign = "@" if label.kind is Kind.ATTRIBUTE else ""
    if label.local is None:
        return f"{sign}*"
    if label.namespace is None:
        return f"{sign}*:{label.local}"
    return f"{sign}{{{label.namespace}}}{label.local}" if label.namespace else sign + label.local


_TOKEN: Final = re.compile(
    r"(?P<open>/?\()|(?P<close>\)\+)"
    r"|(?P<slash>/?)(?:(?P<text>text\(\))|(?P<sign>@?)(?P<space>\{[^{}]*\}|\*:)?(?P<name>[^/()@{}:+\s*]+|\*))"
)


def read_expression(text: str) -> PathExpression:
    """The expression of a text; PatternError, with the column, if it is malformed.

    >>> recursion_of(read_expression("/a/*/c(e/d)+/*/c/e")).value
    'simple-recursive'
    """
    if len(text) > EXPRESSION_CHARACTERS_MAX:
        raise PatternLimitError(
            text,
            column=1,
            limit="EXPRESSION_CHARACTERS_MAX",
            given=len(text),
            allowed=EXPRESSION_CHARACTERS_MAX,
        )
    if not text.startswith("/"):
        raise PatternError(text, column=1, expected="'/', as an advertised path begins at the root")
    return _ExpressionReader(text).read()


class _ExpressionReader:
    """Reads an expression from left to right."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._open: list[list[Label | Repeated]] = [[]]

    def read(self) -> PathExpression:
        position = 0
        while position < len(self._text):
            token = _TOKEN.match(self._text, position)
            self._check(token is not None, position, "a name, '*', '@', 'text()', '(' or ')+'")
            assert token is not None
            after_leaf = bool(self._open[-1]) and _is_leaf(self._open[-1][-1])
            self._check(not after_leaf, position, "the end behind an attribute or a text")
            self._add(token, position)
            position = token.end()
        self._check(len(self._open) == 1, position, "')+' for each '('")
        return tuple(self._open[0])

    def _add(self, token: re.Match[str], position: int) -> None:
        here = self._open[-1]
        if token["open"]:
            self._check(len(self._open) <= EXPRESSION_NESTING_MAX, position, "fewer '(' inside '('")
            self._open.append([])
        elif token["close"]:
            self._check(bool(here) and len(self._open) > 1, position, "a name in the parentheses")
            self._open.pop()
            self._open[-1].append(Repeated(tuple(here)))
        else:
            inside = len(self._open) > 1
            self._check(bool(token["slash"]) or (inside and not here), position, "'/'")
            label = self._label(token, position)
            self._check(not (inside and _is_leaf(label)), position, "an element in parentheses")
            here.append(label)

    def _label(self, token: re.Match[str], position: int) -> Label:
        if token["text"]:
            return TEXT
        kind = Kind.ATTRIBUTE if token["sign"] else Kind.ELEMENT
        name, space = token["name"], token["space"]
        if name == "*":
            self._check(space is None and kind is Kind.ELEMENT, position, "a name here, not '*'")
            return Label(kind)
        self._check(is_name(name), position, "a name")
        if space is None:
            return Label(kind, "", name)
        return Label(kind, None if space == "*:" else space[1:-1], name)

    def _check(self, holds: bool, position: int, expected: str) -> None:  # noqa: FBT001
        if not holds:
            raise PatternError(self._text, column=position + 1, expected=expected)


def _is_leaf(part: Label | Repeated) -> bool:
    return isinstance(part, Label) and part.kind is not Kind.ELEMENT


def expressions_sketch(expressions: Iterable[PathExpression]) -> Sketch:
    """The paths of all the expressions: a state for each label of each (Glushkov 1961)."""
    sketch = Sketch()
    for expression in expressions:
        elements = tuple(part for part in expression if not _is_leaf(part))
        ends = {DOCUMENT_NODE}
        if elements:
            fragment = _add_fragment(elements, sketch)
            _join(sketch, ends, fragment.firsts)
            ends = fragment.lasts
        for part in expression[len(elements) :]:
            assert isinstance(part, Label)
            for end in ends - {DOCUMENT_NODE}:
                if part.kind is Kind.TEXT:
                    sketch.texts[end] = TextKind.ANY
                else:
                    sketch.attributes[end][part] = None
    return sketch


class _Fragment(NamedTuple):
    """The part of a sketch for a part of an expression: its first edges and its last states."""

    firsts: list[tuple[Label, int]]
    lasts: set[int]


def _add_fragment(parts: PathExpression, sketch: Sketch) -> _Fragment:
    fragments: list[_Fragment] = []
    for part in parts:
        if isinstance(part, Repeated):
            fragment = _add_fragment(part.parts, sketch)
            _join(sketch, fragment.lasts, fragment.firsts)
        else:
            state = sketch.add(TextKind.BLANK)
            sketch.edges[state] = ()
            fragment = _Fragment([(part, state)], {state})
        if fragments:
            _join(sketch, fragments[-1].lasts, fragment.firsts)
        fragments.append(fragment)
    return _Fragment(fragments[0].firsts, fragments[-1].lasts)


def _join(sketch: Sketch, ends: Iterable[int], firsts: Iterable[tuple[Label, int]]) -> None:
    for end in ends:
        sketch.edges[end] = (*sketch.edges[end], *firsts)
