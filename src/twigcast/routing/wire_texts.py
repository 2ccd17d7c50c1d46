"""Patterns and advertisements in the texts in which they cross a link.

Each is its canonical text and nothing else, so that equal values are equal bytes: a text that means
the same and is written otherwise is refused. Strangers write them, so they have limits of their
own, and all that is wrong is a :class:`~twigcast.errors.ProtocolError` with its place.
"""

from __future__ import annotations

from typing import Final

from twigcast.covering import Advertisement
from twigcast.covering.path_automaton import AutomatonLimits
from twigcast.errors import LimitError, ProtocolError, ProtocolLimitError, TwigcastError
from twigcast.language import Pattern, PatternLimits

__all__ = [
    "WIRE_AUTOMATON_LIMITS",
    "WIRE_PATTERN_LIMITS",
    "read_advertisement",
    "read_pattern",
]

WIRE_PATTERN_LIMITS: Final = PatternLimits(
    characters_max=524_288,
    steps_max=256,
    predicates_max=256,
    predicate_depth_max=32,
    nesting_max=64,
    operators_max=256,
)
"""For canonical texts of strangers. Whatever keeps to the usual limits has one that keeps to these:
64 steps with a namespace of 4,096 characters each are the longest. Twice as deep would be too deep
for those who read it."""

WIRE_AUTOMATON_LIMITS: Final = AutomatonLimits(states_max=5_000, edges_max=200_000)
"""For advertisements of strangers: ten times what DocBook needs."""


def read_pattern(place: str, text: str) -> Pattern:
    """The pattern of a text; ProtocolError, with the place given, if it is none."""
    try:
        pattern = Pattern.parse(text, limits=WIRE_PATTERN_LIMITS)
        canonical = pattern.text == text
    except (TwigcastError, RecursionError) as error:
        raise _unreadable(place, error) from error
    if not canonical:
        raise ProtocolError("the text of this pattern is not its canonical text", place=place)
    return pattern


def read_advertisement(place: str, text: str) -> Advertisement:
    """The advertisement of a text; ProtocolError, with the place given, if it is none."""
    try:
        advertisement = Advertisement.parse(text, limits=WIRE_AUTOMATON_LIMITS)
        canonical = advertisement.text == text
    except (TwigcastError, RecursionError) as error:
        raise _unreadable(place, error) from error
    if not canonical:
        raise ProtocolError("the text of this advertisement is not its canonical one", place=place)
    return advertisement


def _unreadable(place: str, error: TwigcastError | RecursionError) -> ProtocolError:
    match error:
        case LimitError(limit=limit, given=given, allowed=allowed):
            what = "this is too large to be read"
            return ProtocolLimitError(what, limit=limit, given=given, allowed=allowed, place=place)
        case RecursionError():
            return ProtocolError("this is nested too deeply to be read", place=place)
        case _:
            return ProtocolError(str(error), place=place)
