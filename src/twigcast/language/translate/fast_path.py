"""The fast path from text to condition, for the most common expressions.

Most expressions are plain paths: names, ``*``, ``@name`` and ``text()`` behind ``/`` and ``//``,
with predicates that test for another such path or compare it with a constant:

    /nitf/*[@id=17]//body.content[body//dt/a]/bq[text() = 'x']

For these one regular expression splits the text into steps, and the condition is built from the
right, by the same functions that the full parser and translation use
(:mod:`~twigcast.language.xpath.parser`, :mod:`~twigcast.language.xpath.absolute`,
:mod:`~twigcast.language.translate.translate`). Both therefore give the same value; this one takes a
fifth of the time. Subscribers use the same predicates with different paths, so recent ones are
cached.

    split     /nitf   /*[@id=17]   //body.content[body//dt/a]   /bq[text() = 'x']
    build     bq[…], then body.content[…]//bq, then * …, then nitf

Everything else is declined, so the full parser reads or refuses it: prefixes, other axes,
functions, ``and``, predicates inside predicates, spaces between steps, non-ASCII characters, and
whatever might be over a limit.
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
_CACHED_MAX = 4096
"""Predicates, constants and labels cached, each for the next pattern that has them: a few MB."""
_PARTS_PER_STEP = 4
"""The parts of each step after the split: the gap before it, slashes, test and predicates."""


def fast_meaning(text: str, limits: PatternLimits) -> Condition | None:
    """The condition of the expression on the document node; None if it is not a plain path."""
    if not _certainly_within(limits, text):
        return None
    # At top level a path without a leading slash may begin anywhere.
    split = _STEP.split(text if text[:1] == "/" else "//" + text)
    condition = _path_condition(split, TRUE)
    return None if condition is None else on_document(condition)


def _certainly_within(limits: PatternLimits, text: str) -> bool:
    """Whether no limit can be exceeded; the counts here are upper bounds."""
    predicates = text.count("[")
    return (
        len(text) <= limits.characters_max
        and text.count("/") + predicates < min(limits.steps_max, limits.steps_in_row_max)
        and predicates <= limits.predicates_max
        and predicates <= limits.operators_max
        and limits.predicate_depth_max >= 1
        and limits.nesting_max > 1
    )


def _path_condition(split: list[str], where: Condition) -> Condition | None:
    """The condition that some node of the path satisfies ``where``; None if it is no plain path."""
    if len(split) == 1 or any(split[::_PARTS_PER_STEP]):
        return None
    # From the last step to the first.
    for slashes, test, predicates in zip(
        split[-4::-_PARTS_PER_STEP],
        split[-3::-_PARTS_PER_STEP],
        split[-2::-_PARTS_PER_STEP],
        strict=True,
    ):
        if predicates:
            parts: list[Condition] = []
            for predicate in predicates[1:-1].split("]["):
                part = _predicate_condition(predicate)
                if part is None:
                    return None
                parts.append(part)
            where = all_of([*parts, where])
        where = exists(_REACH[slashes], _label(test), where)
    return where


@lru_cache(maxsize=_CACHED_MAX)
def _predicate_condition(text: str) -> Condition | None:
    """The condition of a predicate on its node; None if it is not a plain one."""
    match = _PREDICATE.fullmatch(text)
    if match is None:
        return None
    path, operator, constant = match.groups()
    tail: Condition = TRUE
    if operator is not None:
        tail = ValueTest(_OPERATOR[operator], _constant(constant))
    if path == ".":
        return None if tail is TRUE else tail
    if path[:3] == ".//":
        return _path_condition(_STEP.split(path[1:]), tail)
    # A path from the document node would begin with a slash; two before a step are a gap.
    return None if path[0] == "/" else _path_condition(_STEP.split("/" + path), tail)


@lru_cache(maxsize=_CACHED_MAX)
def _constant(text: str) -> Constant:
    return Literal(text[1:-1]) if text[0] in "\"'" else Number(plain_number(text))


@lru_cache(maxsize=_CACHED_MAX)
def _label(test: str) -> Label:
    """The label of a step, one value for all patterns that have it."""
    if test == "text()":
        return TEXT
    kind = Kind.ATTRIBUTE if test[0] == "@" else Kind.ELEMENT
    name = test.removeprefix("@")
    return Label(kind) if name == "*" else Label(kind, "", name)
