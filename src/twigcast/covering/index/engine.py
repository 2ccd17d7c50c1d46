"""Protocols: searches for coverings, and the engines that find candidates for the cover index.

:class:`CoverSearch` is what the cover index, XNET's factorization tree and Dissemination's
subscription tree have in common; wherever many patterns are compared, one may take the place of
another.

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
from twigcast.language import Pattern


class CoverSearch(Protocol):
    """A changing set of patterns, each under an id, searched for coverings."""

    def add(self, id: int, pattern: Pattern | str, /) -> None:
        """Add a pattern under an id that is not in use."""

    def remove(self, id: int, /) -> None:
        """Remove the pattern with an id."""

    def covering(self, pattern: Pattern | str, /) -> list[int]:
        """The ids of the patterns that cover this one, sorted, its own among them."""

    def covered(self, pattern: Pattern | str, /) -> list[int]:
        """The ids of the patterns that this one covers, sorted, its own among them."""


class Candidates(Protocol):
    """A changing set of numbered patterns, searched for possible coverings."""

    def add(self, number: int, compiled: CompiledPattern) -> None:
        """Add a pattern under a number that is not in use."""

    def remove(self, number: int) -> None:
        """Remove the pattern with a number that is in use, and all that was kept for it."""

    def covering(self, compiled: CompiledPattern) -> tuple[list[int], list[int]]:
        """The numbers (sure, maybe) of patterns that may cover this one, in any order, each once.

        The pattern itself, where it is in the set, may be in either list or in none. It need be
        compiled as the narrower side only: ``groups`` may be empty, and of ``targets`` only the
        twigs are read.
        """

    def covered(self, compiled: CompiledPattern) -> tuple[list[int], list[int]]:
        """The numbers (sure, maybe) of patterns that this one may cover; otherwise the same.

        It need be compiled as the wider side only: ``targets`` may be empty.
        """
