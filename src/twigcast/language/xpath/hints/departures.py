"""Departures from XPath 1.0: constructs with their columns and advice."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Departure:
    """A construct that is not XPath 1.0."""

    column: int
    expected: str
    """The text after "expected" in the error."""
    advice: str | None = None
    """Advice where the expression as a whole cannot be rewritten."""
    is_slip: bool = False
    """Whether it belongs to no version of XPath, so that its meaning is a guess."""


def later(column: int, what: str, version: str = "2.0", advice: str | None = None) -> Departure:
    """A construct of a later version of XPath.

    >>> later(3, "'eq' is an operator").expected
    "XPath 1.0, but 'eq' is an operator of XPath 2.0"
    """
    return Departure(column, f"XPath 1.0, but {what} of XPath {version}", advice)


def slip(column: int, right: str, wrong: str, advice: str | None = None) -> Departure:
    """A spelling of no version of XPath.

    >>> slip(3, "'and'", "'AND'").expected
    "'and' instead of 'AND'"
    """
    return Departure(column, f"{right} instead of {wrong}", advice, is_slip=True)
