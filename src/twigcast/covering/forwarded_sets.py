"""The minimal covering set for each of several links."""

from __future__ import annotations

from twigcast.covering.cover_index import CoverIndex
from twigcast.covering.merged_set import Difference
from twigcast.language import Pattern

__all__ = ["ForwardedSets"]


class ForwardedSets:
    """Naive, until the real one is here."""

    def __init__(self) -> None:
        self._sources: dict[Pattern, set[str | None]] = {}
        self._told: dict[str, set[Pattern]] = {}

    def add_link(self, link: str) -> None:
        self._told[link] = set()

    def remove_link(self, link: str) -> None:
        for pattern in [each for each, sources in self._sources.items() if link in sources]:
            self.take(pattern, link)
        del self._told[link]

    def put(self, pattern: Pattern, source: str | None) -> None:
        self._sources.setdefault(pattern, set()).add(source)

    def take(self, pattern: Pattern, source: str | None) -> None:
        sources = self._sources.get(pattern)
        if sources is None:
            return
        sources.discard(source)
        if not sources:
            del self._sources[pattern]

    def changes(self) -> dict[str, Difference]:
        told = {}
        for link in sorted(self._told):
            now = set(self.forwarded(link))
            before = self._told[link]
            self._told[link] = now
            if now != before:
                told[link] = Difference(
                    tuple(sorted(now - before, key=lambda each: each.text)),
                    tuple(sorted(before - now, key=lambda each: each.text)),
                )
        return told

    def forwarded(self, link: str) -> tuple[Pattern, ...]:
        there = [each for each, sources in self._sources.items() if sources - {link}]
        index = CoverIndex()
        for number, pattern in enumerate(sorted(there, key=lambda each: each.text)):
            index.add(number, pattern)
        return tuple(sorted((index.pattern(each) for each in index.roots()), key=lambda e: e.text))
