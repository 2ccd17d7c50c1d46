"""Parameters of generators that are whole numbers, and how far they go; and names of markers."""

from __future__ import annotations

from twigcast.display import shown
from twigcast.errors import UsageError
from twigcast.language import LIBRARY_LIMITS
from twigcast.language.xpath.lexer import is_name


def check_whole(name: str, given: int, among: tuple[int, int], limit: str) -> None:
    """UsageError if a number is out of its range; ``limit`` is what the upper end is called.

    >>> check_whole("elements", 0, (1, 1_000_000), "ELEMENTS_MAX")
    Traceback (most recent call last):
    twigcast.errors.UsageError: elements must be at least 1, not 0
    """
    least, most = among
    if isinstance(given, bool) or not isinstance(given, int):
        raise UsageError(f"{name} is a whole number, not {given!r}")
    if given < least:
        raise UsageError(f"{name} must be at least {least:,}, not {given:,}")
    if given > most:
        raise UsageError(f"{name} is {most:,} at most ({limit}), not {given:,}")


def check_marker(name: object) -> None:
    """UsageError if no element can be called so, in documents and in patterns."""
    if not isinstance(name, str) or not is_name(name) or len(name) > LIBRARY_LIMITS.name_length_max:
        raise UsageError(
            f"the marker is the name of an element, without a prefix, not {shown(name)}"
        )
