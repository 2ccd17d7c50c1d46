"""What an expression has that XPath 1.0 has not: a construct, its place, what to do about it."""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["Departure", "later", "slip"]


@dataclass(frozen=True, slots=True)
class Departure:
    """A construct that is no XPath 1.0."""

    column: int
    expected: str
    """To be read behind the word "expected"."""
    advice: str | None = None
    """What to do where the expression as a whole cannot be rewritten."""
    is_slip: bool = False
    """Whether it belongs to no version of XPath, so that what was meant is a guess."""


def later(column: int, what: str, version: str = "2.0", advice: str | None = None) -> Departure:
    """A construct of a later version of XPath.

    >>> later(3, "'eq' is an operator").expected
    "XPath 1.0, but 'eq' is an operator of XPath 2.0"
    """
    return Departure(column, f"XPath 1.0, but {what} of XPath {version}", advice)


def slip(column: int, right: str, wrong: str, advice: str | None = None) -> Departure:
    """A spelling that no version of XPath has.

    >>> slip(3, "'and'", "'AND'").expected
    "'and' instead of 'AND'"
    """
    return Departure(column, f"{right} instead of {wrong}", advice, is_slip=True)
