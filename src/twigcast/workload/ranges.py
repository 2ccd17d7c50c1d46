"""Parameters of generators that are whole numbers, and how far they go."""

from __future__ import annotations

from twigcast.errors import UsageError

__all__ = ["check_whole"]


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
