"""The plain engine of the cover index: patterns found by their features, in Python.

Each pattern lies in two places (:mod:`~twigcast.covering.index.features` says what features are):

- under the rarest key it *asks for*, which is where the search for what covers a pattern looks:
  under each of the keys that the pattern *has*;
- under every key it *has*: what a pattern can cover is what lies under all the keys it asks for.

    //a/b, /c//b       asked for:  //a/b under a/b      /c//b under /c
    what covers /c/a/b?            has a, b, c, a/b, c/a, /c …: both are found

Signatures, sets of features as the bits of an integer, then sort out most of what lacks something
else. All that is left is *maybe*: :func:`~twigcast.covering.containment.covers.decide_compiled`
begins with the homomorphism itself.

What is looked at is little more than the answer. Memory: some twenty places in sets for a pattern.
"""

from __future__ import annotations

from twigcast.covering.containment.covers import CompiledPattern
from twigcast.covering.index.features import Features, asked_by, had_by

__all__ = ["FeatureIndex"]


class FeatureIndex:
    """Numbered patterns by what they ask for and by what they have: see :class:`Candidates`."""

    def __init__(self) -> None:
        self._asking: dict[int, dict[int, int]] = {}
        """By key, the patterns for which it is the rarest, each with the signature it asks for."""
        self._having: dict[int, set[int]] = {}
        """By key, the patterns that have it."""
        self._places: dict[int, tuple[int, Features | None]] = {}
        """Of each pattern, the key it lies under and what it has."""
        self._impossible: set[int] = set()
        """The patterns that no document matches: everything covers them."""

    def add(self, number: int, ready: CompiledPattern) -> None:
        """Put in a pattern."""
        asked, had = asked_by(ready.groups), had_by(ready.grounds)
        having = self._having
        rarest = min(asked.keys, key=lambda key: len(having.get(key, ())))
        self._asking.setdefault(rarest, {})[number] = asked.signature
        self._places[number] = rarest, had
        if had is None:
            self._impossible.add(number)
            return
        for key in had.keys:
            having.setdefault(key, set()).add(number)

    def remove(self, number: int) -> None:
        """Take out a pattern; keys that nothing lies under any more go with it."""
        rarest, had = self._places.pop(number)
        del self._asking[rarest][number]
        if not self._asking[rarest]:
            del self._asking[rarest]
        self._impossible.discard(number)
        for key in had.keys if had else ():
            self._having[key].discard(number)
            if not self._having[key]:
                del self._having[key]

    def covering(self, ready: CompiledPattern) -> tuple[list[int], list[int]]:
        """What may cover the pattern."""
        had = had_by(ready.grounds)
        if had is None:
            return [], list(self._places)
        lacking = ~had.signature
        return [], [
            number
            for key in had.keys & self._asking.keys()
            for number, signature in self._asking[key].items()
            if not signature & lacking
        ]

    def covered(self, ready: CompiledPattern) -> tuple[list[int], list[int]]:
        """What the pattern may cover."""
        asked = asked_by(ready.groups)
        found = list(self._impossible)
        having = [self._having.get(key) for key in asked.keys]
        if all(having):
            smallest_first = sorted(filter(None, having), key=len)
            for number in set.intersection(*smallest_first):
                _, had = self._places[number]
                if had and asked.signature & had.signature == asked.signature:
                    found.append(number)
        return [], found
