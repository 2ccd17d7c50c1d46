"""The Python engine of the cover index: patterns found by their features.

Each pattern is stored twice, by its features (:mod:`~twigcast.covering.index.features`):

- under the rarest key it *requires*: a search for what covers a pattern looks there, under each of
  the keys that the pattern *has*;
- under every key it *has*: a pattern can cover what is stored under all the keys it requires.

    //a/b, /c//b       required:  //a/b stored under a/b      /c//b under /c
    what covers /c/a/b?           has a, b, c, a/b, c/a, /c …: both are found

Signatures, sets of features as the bits of an integer, then reject most of what lacks some other
feature. All that is left is *maybe*: :func:`~twigcast.covering.containment.covers.decide_compiled`
begins with the homomorphism itself.

A search visits little more than its result. Memory: some twenty set entries for a pattern.
"""

from __future__ import annotations

from twigcast.covering.containment.covers import CompiledPattern
from twigcast.covering.index.features import Features, present_features, required_features


class FeatureIndex:
    """Numbered patterns by the features they require and have: see :class:`Candidates`."""

    def __init__(self) -> None:
        self._requiring: dict[int, dict[int, int]] = {}
        """By key, the patterns for which it is the rarest, each with its required signature."""
        self._having: dict[int, set[int]] = {}
        """By key, the patterns that have it."""
        self._entries: dict[int, tuple[int, Features | None]] = {}
        """The key under which each pattern is stored, and the features it has."""
        self._impossible: set[int] = set()
        """The patterns that no document matches: everything covers them."""

    def add(self, number: int, compiled: CompiledPattern) -> None:
        """Put in a pattern."""
        required, present = required_features(compiled.groups), present_features(compiled.targets)
        having = self._having
        rarest = min(required.keys, key=lambda key: len(having.get(key, ())))
        self._requiring.setdefault(rarest, {})[number] = required.signature
        self._entries[number] = rarest, present
        if present is None:
            self._impossible.add(number)
            return
        for key in present.keys:
            having.setdefault(key, set()).add(number)

    def remove(self, number: int) -> None:
        """Remove a pattern, and the keys that it alone was stored under."""
        rarest, present = self._entries.pop(number)
        del self._requiring[rarest][number]
        if not self._requiring[rarest]:
            del self._requiring[rarest]
        self._impossible.discard(number)
        for key in present.keys if present else ():
            self._having[key].discard(number)
            if not self._having[key]:
                del self._having[key]

    def covering(self, compiled: CompiledPattern) -> tuple[list[int], list[int]]:
        """The patterns that may cover this one, all as *maybe*."""
        present = present_features(compiled.targets)
        if present is None:
            return [], list(self._entries)
        lacking = ~present.signature
        return [], [
            number
            for key in present.keys & self._requiring.keys()
            for number, signature in self._requiring[key].items()
            if not signature & lacking
        ]

    def covered(self, compiled: CompiledPattern) -> tuple[list[int], list[int]]:
        """The patterns that this one may cover, all as *maybe*."""
        required = required_features(compiled.groups)
        found = list(self._impossible)
        having = [self._having.get(key) for key in required.keys]
        if all(having):
            smallest_first = sorted(filter(None, having), key=len)
            for number in set.intersection(*smallest_first):
                _, present = self._entries[number]
                if present and required.signature & present.signature == required.signature:
                    found.append(number)
        return [], found
