"""Numbered patterns, and the sources that each came from.

Sources are a broker's links and, as None, its own clients. Sets of sources and of links are bits of
an integer.
"""

from __future__ import annotations

from typing import Final, Generic, TypeVar

from twigcast.language import Pattern

_Link = TypeVar("_Link", bound=str)

OWN: Final = 1
"""The bit of own clients among sources, and of the link that nothing comes from among links."""


class PatternSources(Generic[_Link]):
    """Patterns by number, each with the sources it came from."""

    def __init__(self) -> None:
        self.patterns: dict[int, Pattern] = {}
        self.texts: dict[int, str] = {}
        self.links: dict[_Link, int] = {}
        """The bit of each source that is or was a link."""
        self.all_links = OWN
        self._numbers: dict[Pattern, int] = {}
        self._next_number = 0
        self._sources: dict[int, int] = {}

    def __len__(self) -> int:
        return len(self.patterns)

    def bit(self, source: _Link | None) -> int:
        """The bit of a source, a new one if necessary."""
        if source is None:
            return OWN
        bit = self.links.get(source)
        if bit is None:
            taken = sum(self.links.values(), OWN)
            bit = self.links[source] = ~taken & (taken + 1)
        return bit

    def number(self, pattern: Pattern) -> int | None:
        """The number of a pattern, if it came from anywhere."""
        return self._numbers.get(pattern)

    def insert(self, pattern: Pattern) -> int:
        """A number for a new pattern, which came from nowhere yet."""
        number, self._next_number = self._next_number, self._next_number + 1
        self._numbers[pattern] = number
        self.patterns[number] = pattern
        self.texts[number] = pattern.text
        self._sources[number] = 0
        return number

    def delete(self, number: int) -> None:
        """Forget a pattern."""
        del self._sources[number], self.texts[number]
        del self._numbers[self.patterns.pop(number)]

    def add(self, number: int, bit: int) -> None:
        """A pattern came from a source."""
        self._sources[number] |= bit

    def remove(self, number: int, bit: int) -> bool:
        """A source takes a pattern back; whether it came from others, too."""
        self._sources[number] &= ~bit
        return self._sources[number] != 0

    def came_from(self, number: int, bit: int) -> bool:
        """Whether a pattern came from a source, perhaps among others."""
        return self._sources[number] & bit != 0

    def from_alone(self, bit: int) -> list[int]:
        """The patterns that came from one source and no other."""
        return [each for each, sources in self._sources.items() if sources == bit]

    def all_from(self, bit: int) -> list[int]:
        """The patterns that came from a source, perhaps among others."""
        return [each for each, sources in self._sources.items() if sources & bit]

    def links_of(self, number: int) -> int:
        """The links that a pattern concerns: all, or all but the only one it came from."""
        sources = self._sources[number]
        if sources & (sources - 1) or sources == OWN:
            return self.all_links
        return self.all_links & ~sources if sources else 0
