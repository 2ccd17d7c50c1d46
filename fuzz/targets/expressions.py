"""Expressions of all of XPath 1.0, real ones and damaged ones, against libxml2.

An expression is a pattern or a :class:`PatternError`. The canonical text of a pattern reads back as
that pattern. All engines answer as libxml2 answers to the expression as it was written. Where one
pattern covers another, no document is for the narrower alone.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from itertools import permutations
from random import Random
from typing import TYPE_CHECKING, Final

import msgspec
from lxml import etree

from fuzz.cases import as_bytes, as_text
from fuzz.drawing import drawer
from fuzz.matchers import answer, matchers
from fuzz.mutation import XPATH_PIECES, mutated, spliced
from fuzz.oracle import holds, question, tree_of
from fuzz.shared import real_expressions
from fuzz.target import ACCEPTED, REFUSED, UNDECIDED, Fault, Target
from fuzz.xml_text import random_document
from tests.strategies import NAMESPACES, ExpressionPair, subscriptions, tangles, thickets
from twigcast.covering import covers
from twigcast.errors import PatternError
from twigcast.language import Pattern
from twigcast.language.pattern import CANONICAL_LIMITS

if TYPE_CHECKING:
    from lxml.etree import _ElementTree

EXPRESSIONS_MAX: Final = 4
_EXTENSIONS: Final = ("{", "*:")
"""What our language has beyond XPath 1.0: names with their namespace, names in any namespace."""


class Expression(msgspec.Struct):
    """An expression as a subscriber writes it, and as libxml2 reads it."""

    text: str
    oracle: str
    namespaces: dict[str, str]


class Case(msgspec.Struct):
    """Some expressions, and documents to ask them of."""

    expressions: list[Expression]
    documents: list[str]


@cache
def _drawers() -> tuple[Callable[[Random], ExpressionPair], ...]:
    return drawer(subscriptions()), drawer(subscriptions(exact=True)), drawer(tangles())


@cache
def _draw_thicket() -> Callable[[Random], bytes]:
    return drawer(thickets())


def generate(rng: Random) -> Case:
    """Expressions of every origin, some of them damaged."""
    expressions = [_expression(rng) for _ in range(rng.randint(1, EXPRESSIONS_MAX))]
    documents = [random_document(rng, errors=0), random_document(rng, errors=0)]
    if rng.randrange(3) == 0:
        documents.append(_draw_thicket()(rng))
    return Case(expressions, [as_text(content) for content in documents])


def _expression(rng: Random) -> Expression:
    draw = rng.random()
    if draw < 0.2 and real_expressions():
        text, namespaces = rng.choice(real_expressions())
        pair = ExpressionPair(text, text)
    else:
        pair, namespaces = rng.choice(_drawers())(rng), NAMESPACES
    if rng.random() < 0.4:
        text = pair.oracle
        if rng.randrange(4) == 0:
            text = spliced(rng, text.encode(), rng.choice(_drawers())(rng).oracle.encode()).decode(
                errors="ignore"
            )
        damaged = mutated(rng, text.encode(), XPATH_PIECES).decode(errors="ignore")
        # Behind an operator no path gets '//' in front, so both read the same text.
        pair = ExpressionPair(f"true() and ({damaged})", f"true() and ({damaged})")
    return Expression(pair.text, pair.oracle, dict(namespaces))


def check(case: Case) -> str:
    """Parse, read back, answer, cover."""
    patterns: dict[int, Pattern] = {}
    for number, expression in enumerate(case.expressions):
        pattern = _parsed(expression)
        if pattern is not None:
            _check_canonical(pattern)
            patterns[number] = pattern
    if not patterns:
        return REFUSED
    engines = matchers(patterns)
    undecided = False
    for text in case.documents:
        content = as_bytes(text)
        tree = tree_of(content)
        if tree is None:
            continue
        truth = {
            number: held
            for number in patterns
            if (held := _truth(case.expressions[number], tree)) is not None
        }
        for name, matcher in engines.items():
            refusal, matches, doubtful = answer(matcher, content)
            undecided |= bool(doubtful)
            for number, held in truth.items():
                if not refusal and number not in doubtful and held != (number in matches):
                    expression = case.expressions[number]
                    raise Fault("wrong answer", f"{name}: {expression}, {content!r} is {held}")
        _check_covers(patterns, truth, content)
    return UNDECIDED if undecided else ACCEPTED


def _parsed(expression: Expression) -> Pattern | None:
    try:
        return Pattern.parse(expression.text, expression.namespaces)
    except PatternError:
        return None


def _check_canonical(pattern: Pattern) -> None:
    try:
        again = Pattern.parse(pattern.text, None, CANONICAL_LIMITS)
    except PatternError as error:
        raise Fault("canonical text refused", f"{pattern.text}: {error}") from error
    if again != pattern or again.text != pattern.text:
        raise Fault("canonical text is another", f"{pattern.text} is read as {again.text}")


def _truth(expression: Expression, tree: _ElementTree) -> bool | None:
    """What libxml2 says; None where it cannot be asked."""
    try:
        return holds(question(expression.oracle, expression.namespaces), tree)
    except etree.XPathSyntaxError as error:
        if not expression.oracle.isascii() or any(map(expression.oracle.__contains__, _EXTENSIONS)):
            return None
        raise Fault("taken", f"libxml2 cannot read {expression.oracle}") from error
    except (etree.XPathError, ValueError):
        return None


def _check_covers(patterns: dict[int, Pattern], truth: dict[int, bool], content: bytes) -> None:
    for wider, narrower in permutations(truth, 2):
        if (
            truth[narrower]
            and not truth[wider]
            and covers(wider=patterns[wider], narrower=patterns[narrower])
        ):
            texts = f"{patterns[wider].text} covers {patterns[narrower].text}"
            raise Fault("covers lies", f"{texts}, but not on {content!r}")


TARGET: Final = Target(
    name="expressions",
    summary="XPath, random, real and damaged: canonical texts, answers and covers",
    kind=Case,
    generate=generate,
    check=check,
)
