"""Every distinct pattern is forwarded everywhere: the strategy ``identity``.

It is what Gryphon does, and what every saving is measured against. A pattern is forwarded over a
link as long as it comes from somewhere else.
"""

from __future__ import annotations

from twigcast.covering.delta import DeltaSet, Difference
from twigcast.language import Pattern
from twigcast.routing.events import LinkId


class EveryRoute:
    """What is forwarded over each link if nothing is held back; keeps to the protocol Forwarded."""

    def __init__(self) -> None:
        self._sources: dict[Pattern, set[LinkId | None]] = {}
        self._links: dict[LinkId, DeltaSet] = {}

    def add_link(self, link: LinkId) -> None:
        """From now on report what is forwarded over a link, too."""
        self._links[link] = DeltaSet()
        for pattern in self._sources:
            self._links[link].add(pattern)

    def remove_link(self, link: LinkId) -> None:
        """Forget a link, and all that came from it."""
        for pattern in [each for each, sources in self._sources.items() if link in sources]:
            self.remove(pattern, link)
        del self._links[link]

    def add(self, pattern: Pattern, source: LinkId | None) -> None:
        """A pattern came from a source."""
        sources = self._sources.setdefault(pattern, set())
        if source in sources:
            return
        for link, patterns in self._links.items():
            if link != source and sources <= {link}:
                patterns.add(pattern)
        sources.add(source)

    def remove(self, pattern: Pattern, source: LinkId | None) -> None:
        """A source takes a pattern back."""
        sources = self._sources.get(pattern)
        if sources is None or source not in sources:
            return
        sources.discard(source)
        for link, patterns in self._links.items():
            if link != source and sources <= {link}:
                patterns.remove(pattern)
        if not sources:
            del self._sources[pattern]

    def changes(self) -> dict[LinkId, Difference]:
        """What is forwarded anew and what no more over each link, since the last call."""
        changes = {link: self._links[link].difference() for link in sorted(self._links)}
        return {link: difference for link, difference in changes.items() if any(difference)}

    def forwarded(self, link: LinkId) -> tuple[Pattern, ...]:
        """All that is forwarded over a link, in the order of texts."""
        return self._links[link].patterns()
