"""The short way from text to condition, for what most subscribers write.

Most expressions are plain paths: names, ``*``, ``@name`` and ``text()`` behind ``/`` and ``//``,
with predicates that ask for another such path or compare it with a constant:

    /nitf/*[@id=17]//body.content[body//dt/a]/bq[text() = 'x']

For these one regular expression cuts the text into steps, and the condition is built from the
right, by the very functions that the long way uses (:mod:`~twigcast.language.xpath.parser`,
``rooted``, ``meaning``). Both ways therefore end at the same value; this one takes a fifth of the
time. Subscribers ask the same things of different paths, so the predicates met last are remembered.

    cut       /nitf   /*[@id=17]   //body.content[body//dt/a]   /bq[text() = 'x']
    build     bq[…], then body.content[…]//bq, then * …, then nitf

Everything else is declined, so the long way reads it or says what is wrong with it: prefixes,
other axes, functions, ``and``, predicates inside predicates, spaces between steps, anything but
ASCII, and whatever might be over a limit.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Final

from twigcast.language.condition.model import (
    TEXT,
    TRUE,
    Condition,
    Constant,
    Kind,
    Label,
    Operator,
    Reach,
    ValueTest,
)
from twigcast.language.condition.normal_form import all_of, exists, on_document
from twigcast.language.xpath.parser import PatternLimits, plain_number
from twigcast.language.xpath.syntax import Literal, Number

__all__ = ["short_way"]

_NAME: Final = r"[A-Za-z_][A-Za-z0-9_.\-]*"
_STEP: Final = re.compile(rf"(//?)(text\(\)|@?(?:{_NAME}|\*))((?:\[[^\[\]]*\])*)")
_PREDICATE: Final = re.compile(
    r"""
    ( [^\s=!<>'"]+ )
    (?: [ ]? ( = | != | <=? | >=? )
        [ ]? ( [0-9]+ (?: \.[0-9]* )? | \.[0-9]+ | "[ !\#-~]*" | '[ -&(-~]*' ) )?
    """,
    re.VERBOSE,
)
_REACH: Final = {"/": Reach.CHILD, "//": Reach.DESCENDANT}
_OPERATOR: Final = {operator.value: operator for operator in Operator}
_REMEMBERED_MAX = 4096
"""Predicates, constants and labels kept of each, for the next pattern that has them: a few MB."""
_PIECES = 4
"""What cutting leaves for each step: the gap before it, its slashes, its test, its predicates."""


def short_way(text: str, limits: PatternLimits) -> Condition | None:
    """What the expression says of the document node; None where it must go the long way."""
    if not _surely_within(limits, text):
        return None
    # At top level a path that begins without a slash may begin anywhere.
    pieces = _STEP.split(text if text[:1] == "/" else "//" + text)
    found = _located(pieces, TRUE)
    return None if found is None else on_document(found)


def _surely_within(limits: PatternLimits, text: str) -> bool:
    """Whether no limit can be in the way. What is counted here is never less than what is there."""
    predicates = text.count("[")
    return (
        len(text) <= limits.characters_max
        and text.count("/") + predicates < limits.steps_max
        and predicates <= limits.predicates_max
        and predicates <= limits.operators_max
        and limits.predicate_depth_max >= 1
        and limits.nesting_max > 1
    )


def _located(pieces: list[str], where: Condition) -> Condition | None:
    """Some node that the steps lead to satisfies ``where``; None if there is more than steps."""
    if len(pieces) == 1 or any(pieces[::_PIECES]):
        return None
    # From the last step to the first.
    for slashes, test, predicates in zip(
        pieces[-4::-_PIECES], pieces[-3::-_PIECES], pieces[-2::-_PIECES], strict=True
    ):
        if predicates:
            parts: list[Condition] = []
            for predicate in predicates[1:-1].split("]["):
                part = _predicate(predicate)
                if part is None:
                    return None
                parts.append(part)
            where = all_of([*parts, where])
        where = exists(_REACH[slashes], _label(test), where)
    return where


@lru_cache(maxsize=_REMEMBERED_MAX)
def _predicate(text: str) -> Condition | None:
    """What a predicate says of its node; None where it must go the long way."""
    cut = _PREDICATE.fullmatch(text)
    if cut is None:
        return None
    path, operator, constant = cut.groups()
    tail: Condition = TRUE
    if operator is not None:
        tail = ValueTest(_OPERATOR[operator], _constant(constant))
    if path == ".":
        return None if tail is TRUE else tail
    if path[:3] == ".//":
        return _located(_STEP.split(path[1:]), tail)
    # A path from the document node would begin with a slash; two before a step are a gap.
    return None if path[0] == "/" else _located(_STEP.split("/" + path), tail)


@lru_cache(maxsize=_REMEMBERED_MAX)
def _constant(text: str) -> Constant:
    return Literal(text[1:-1]) if text[0] in "\"'" else Number(plain_number(text))


@lru_cache(maxsize=_REMEMBERED_MAX)
def _label(test: str) -> Label:
    """The label that a step asks for, one value for all patterns that ask for it."""
    if test == "text()":
        return TEXT
    kind = Kind.ATTRIBUTE if test[0] == "@" else Kind.ELEMENT
    name = test.removeprefix("@")
    return Label(kind) if name == "*" else Label(kind, "", name)
