"""The protocol of engines of the cover index: candidates for coverings, found quickly.

A cover index (:mod:`~twigcast.covering.index.cover_index`) numbers its distinct patterns and leaves
it to an engine to find the few that matter. For a pattern, an engine sorts the numbers into three
groups:

    sure     a homomorphism shows the covering: yes
    maybe    to be decided by :func:`~twigcast.covering.containment.covers.decide_compiled`
    the rest something that every covering needs is missing: no

An engine need not know whether the budget of a decision suffices, nor what connectives and
residuals imply about each other: whatever it does not understand is a *maybe*. So engines may
differ in how many pairs they leave open, and never in what the index answers.
"""

from __future__ import annotations

from typing import Protocol

from twigcast.covering.containment.covers import CompiledPattern


class Candidates(Protocol):
    """A changing set of numbered patterns, searched for possible coverings."""

    def add(self, number: int, ready: CompiledPattern) -> None:
        """Add a pattern under a number that is not in use."""

    def remove(self, number: int) -> None:
        """Remove the pattern with a number that is in use, and all that was kept for it."""

    def covering(self, ready: CompiledPattern) -> tuple[list[int], list[int]]:
        """The numbers (sure, maybe) of patterns that may cover this one, in any order, each once.

        The pattern itself, where it is in the set, may be in either list or in none. It need be
        compiled as the narrower side only: ``groups`` may be empty, and of ``targets`` only the
        twigs are read.
        """

    def covered(self, ready: CompiledPattern) -> tuple[list[int], list[int]]:
        """The numbers (sure, maybe) of patterns that this one may cover; otherwise the same.

        It need be compiled as the wider side only: ``targets`` may be empty.
        """
