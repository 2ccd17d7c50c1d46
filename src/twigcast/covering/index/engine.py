"""What a cover index asks of its engine: which patterns can cover, or be covered by, another.

A cover index (:mod:`~twigcast.covering.index.cover_index`) numbers its different patterns and
leaves it to an engine to find the few that matter. For a pattern, an engine sorts the numbers into
three:

    sure     a homomorphism shows the covering: yes
    maybe    to be decided by :func:`~twigcast.covering.containment.covers.decide_compiled`
    the rest something that every covering needs is missing: no

An engine need not know whether the budget of a decision suffices, nor what connectives and
residuals say of each other: whatever it does not understand is a *maybe*. So engines may differ in
how many they leave in doubt, and never in what the index answers.
"""

from __future__ import annotations

from typing import Protocol

from twigcast.covering.containment.covers import CompiledPattern

__all__ = ["Candidates"]


class Candidates(Protocol):
    """A changing set of numbered patterns that are looked up by what they can cover."""

    def add(self, number: int, ready: CompiledPattern) -> None:
        """Put in a pattern under a number that is not in use."""

    def remove(self, number: int) -> None:
        """Take out the pattern with a number that is in use, and all that was kept for it."""

    def covering(self, ready: CompiledPattern) -> tuple[list[int], list[int]]:
        """The numbers (sure, maybe) of patterns that may cover this one, in any order, each once.

        The pattern itself, where it is in the set, may be among either or be left out. It need be
        ready as the narrower side only: ``groups`` may be missing, and of ``grounds`` all but the
        twigs.
        """

    def covered(self, ready: CompiledPattern) -> tuple[list[int], list[int]]:
        """The numbers (sure, maybe) of patterns that this one may cover; else the same.

        It need be ready as the wider side only: ``grounds`` may be missing.
        """
