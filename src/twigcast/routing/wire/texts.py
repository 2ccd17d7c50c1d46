"""Patterns and advertisements in the texts in which they cross a link.

Each is its canonical text and nothing else, so that equal values are equal bytes: a text that means
the same and is written otherwise is refused. Strangers write them, so they have limits of their
own, and all that is wrong is a :class:`~twigcast.errors.ProtocolError` with its place.
"""

from __future__ import annotations

from typing import Final

from twigcast.covering import Advertisement
from twigcast.covering.paths.automaton import AutomatonLimits
from twigcast.errors import (
    InternalError,
    LimitError,
    ProtocolError,
    ProtocolLimitError,
    TwigcastError,
)
from twigcast.language import Pattern, PatternLimits
from twigcast.language.condition.depth import depth_of

WIRE_PATTERN_LIMITS: Final = PatternLimits(
    characters_max=524_288,
    steps_max=1_024,
    predicates_max=512,
    predicate_depth_max=64,
    nesting_max=72,
    operators_max=512,
    steps_in_row_max=1_024,
)
"""For canonical texts of strangers. Of 6,612 rules that people wrote, the largest has 18,495
characters, 440 steps, 48 predicates and 417 operators once it is canonical, since unions are
written out; a path of 64 steps that is compared with a value is 64 predicates inside each other. To
read a nesting of 72 takes some 650 of the 1,000 frames that Python has. A subscription whose text
is over one of these is refused where it is made (:func:`pattern_refusal`)."""

WIRE_DEPTH_MAX: Final = 176
"""How deep a pattern of strangers may be (:func:`~twigcast.language.condition.depth.depth_of`).
The longest row of the usual limits, 64 steps to descendants with half of them filtered, is 161
deep. The deepest that is taken needs at most 850 of the 1,000 frames that Python has to be read,
written, compared, decided and explained by each engine."""

_SURELY_DEEP_MAX: Final = 8
"""Fewer characters that open something than this are within each limit whatever they open."""

_PATTERN_WEIGHT: Final = 100
"""What a pattern weighs however short it is: some 75 microseconds."""

_ADVERTISEMENT_WEIGHT: Final = 2
"""What a character of an advertisement weighs: the automaton is made anew from the text."""

WIRE_AUTOMATON_LIMITS: Final = AutomatonLimits(states_max=5_000, edges_max=75_000)
"""For advertisements of strangers: five times what DocBook needs, read in some two seconds."""


def pattern_weight(text: str) -> int:
    """How much work it can be to read a pattern, in characters of a plain path.

    Conditions that stand side by side are compared with each other, step by step, so that none is
    idle.
    """
    beside = text.count("[") + text.count(" or ") + text.count(" and ") + text.count("|")
    return _PATTERN_WEIGHT + len(text) + beside * (beside + text.count("/"))


def advertisement_weight(text: str) -> int:
    """How much work it can be to read an advertisement, in characters of a plain path."""
    return _ADVERTISEMENT_WEIGHT * len(text)


def read_pattern(place: str, text: str) -> Pattern:
    """The pattern of a text; ProtocolError, with the place given, if it is none."""
    try:
        pattern = Pattern.parse(text, limits=WIRE_PATTERN_LIMITS)
        canonical = pattern.text == text
    except TwigcastError as error:
        raise _unreadable(place, error) from error
    if not canonical:
        raise ProtocolError("the text of this pattern is not its canonical text", place=place)
    depth = depth_of(pattern.condition) if not _is_surely_readable(text) else 0
    if depth > WIRE_DEPTH_MAX:
        raise ProtocolLimitError(
            "this is too deep", limit="WIRE_DEPTH_MAX", given=depth, allowed=WIRE_DEPTH_MAX,
            place=place,
        )  # fmt: skip
    return pattern


def pattern_refusal(pattern: Pattern) -> str | None:
    """Why other brokers would not take a pattern, in a sentence; None if they would.

    For a router to ask before it takes in what clients say. A canonical text reads back as itself,
    so most need only be counted.
    """
    text = pattern.text
    if _is_surely_readable(text):
        return None
    try:
        read_pattern("pattern", text)
    except ProtocolError as error:
        return str(error)
    return None


def _is_surely_readable(text: str) -> bool:
    """Whether a canonical text can be over no limit: what is counted is never less than there is.

    Every step but the first of a path, every level of nesting and every sign has a character of
    its own.
    """
    limits = WIRE_PATTERN_LIMITS
    opened = text.count("[") + text.count("(") + text.count("-")
    return (
        len(text) <= limits.characters_max
        and opened <= _SURELY_DEEP_MAX
        and text.count("/") + text.count(" ") < WIRE_DEPTH_MAX // 4
    )


def read_advertisement(place: str, text: str) -> Advertisement:
    """The advertisement of a text; ProtocolError, with the place given, if it is none."""
    try:
        advertisement = Advertisement.parse(text, limits=WIRE_AUTOMATON_LIMITS)
        canonical = advertisement.text == text
    except TwigcastError as error:
        raise _unreadable(place, error) from error
    if not canonical:
        raise ProtocolError("the text of this advertisement is not its canonical one", place=place)
    return advertisement


def _unreadable(place: str, error: TwigcastError) -> TwigcastError:
    match error:
        case LimitError(limit=limit, given=given, allowed=allowed):
            what = "this is too large to be read"
            return ProtocolLimitError(what, limit=limit, given=given, allowed=allowed, place=place)
        case InternalError(__cause__=RecursionError()):
            return ProtocolError("this is nested too deeply to be read", place=place)
        case InternalError():
            return error
        case _:
            return ProtocolError(str(error), place=place)
