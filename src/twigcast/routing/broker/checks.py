"""Checks of a router: what it refuses, with the reasons.

Each check raises :class:`Refused` before anything has changed. It never leaves the router: the
event comes back as a :class:`~twigcast.routing.events.Refuse` with the sentence as its reason.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from typing import Final, TypeVar

from twigcast.language import Pattern
from twigcast.routing.broker.limits import RouterLimits
from twigcast.routing.events import Change, LinkId
from twigcast.routing.wire.messages import NAME_CHARACTERS_MAX

_GROWTH_MAX: Final = 2
"""A merger has no steps that its parts have not; each may have got ``.//`` in front, and has at
least three characters of its own by then: ``[a]`` and ``[.//a]``."""

_T = TypeVar("_T")


class Refused(Exception):  # noqa: N818  # not an error: it never leaves the router
    """An event cannot be taken; nothing has changed."""


def check_room(there: int, allowed: int, *, what: str, limit: str) -> None:
    """Whether there is room for one more."""
    if there >= allowed:
        raise Refused(f"there are {there:,} {what} already, and no more are allowed ({limit})")


def check_length(text: str, allowed: int, *, what: str, limit: str) -> None:
    """Whether a text is short enough."""
    if len(text) > allowed:
        raise Refused(
            f"{what} of {len(text):,} characters where at most {allowed:,} are allowed ({limit})"
        )


def check_name(name: str, *, what: str) -> None:
    """Whether a name can be sent to other brokers."""
    check_length(name, NAME_CHARACTERS_MAX, what=what, limit="NAME_CHARACTERS_MAX")
    try:
        name.encode()
    except UnicodeEncodeError:
        raise Refused(f"{what} with half a character: {name!r}") from None


def check_pattern(pattern: Pattern, allowed: int) -> None:
    """Whether a pattern is short enough."""
    check_length(pattern.text, allowed, what="a pattern", limit="pattern_characters_max")


def check_table(link: LinkId, change: Change, routes: int, limits: RouterLimits) -> None:
    """Whether a change is taken, after which a link has so many routes."""
    if routes > limits.routes_max:
        raise Refused(
            f"{routes:,} routes over link {link!r} where at most {limits.routes_max:,} "
            "are allowed (routes_max)"
        )
    for pattern in change.routes:
        check_pattern(pattern, _GROWTH_MAX * limits.pattern_characters_max)


def check_difference(
    what: str, added: list[_T], withdrawn: list[_T], there: Collection[_T]
) -> None:
    """Whether something can be added to, and something else withdrawn from what is there."""
    if any(each in there for each in added):
        raise Refused(f"a {what} is added that is there already; begin a new session")
    if withdrawn and not set(withdrawn).isdisjoint(added):
        raise Refused(f"a {what} is added and withdrawn at once; say only what stays")
    if not all(each in there for each in withdrawn):
        raise Refused(f"a {what} is withdrawn that is not there; begin a new session")


def once(values: Iterable[_T]) -> list[_T]:
    """Each value once, in the order in which they come first."""
    return list(dict.fromkeys(values))
