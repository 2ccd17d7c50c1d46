"""Step three of a strategy: the patterns that are worth sending over one link.

Where patterns do not go over every link, they go over those by which at least one advertisement
came (``producers``; XNET), or an advertisement that they overlap (``advertisers``; Dissemination,
section 1.4). Which these are changes when patterns come and go, and when advertisements do:

    >>> from twigcast import Pattern
    >>> north = Direction("advertisers")
    >>> north.add(Difference(added=(Pattern.parse("/stocks"), Pattern.parse("/news"))))
    Difference(added=(), removed=())
    >>> north.advertised([Advertisement.of_expressions(["/stocks/stock"])])
    Difference(added=(Pattern('/stocks'),), removed=())
    >>> north.advertised([])
    Difference(added=(), removed=(Pattern('/stocks'),))

*No pair is compared twice.* Advertisements are numbered as they come, and a pattern is held under
the *first* that it overlaps: all before that are known not to overlap it.

    numbers        1    4    5
    /stocks        no   yes  ?         held under 4
    /news          no   no   no        held under none

A new advertisement gets the highest number, so only patterns held under none are compared with it.
When one goes, only patterns held under it are compared, and only with later ones. So each pattern
is compared at most once with each advertisement while both are there, and nothing needs to be
remembered but one number for each pattern.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Literal

from twigcast.covering import Advertisement, overlaps
from twigcast.covering.delta import Difference
from twigcast.language import Pattern


class Direction:
    """The patterns that could be forwarded over a link, and which of them are worth it."""

    def __init__(self, towards: Literal["producers", "advertisers"]) -> None:
        self._towards = towards
        self._next = 1
        self._numbers: dict[Advertisement, int] = {}
        """Of each advertisement its number, ascending."""
        self._held: dict[Pattern, int | None] = {}
        self._under: dict[int | None, set[Pattern]] = {None: set()}
        self.comparisons = 0
        """Comparisons of a pattern with an advertisement."""

    def __len__(self) -> int:
        """How many patterns could be forwarded."""
        return len(self._held)

    @property
    def advertisements(self) -> tuple[Advertisement, ...]:
        """The different ones that have come by the link, as they came."""
        return tuple(self._numbers)

    def add(self, difference: Difference) -> Difference:
        """What could be forwarded changes; how what is worth it changes."""
        added = [pattern for pattern in difference.added if pattern not in self._held]
        removed = [pattern for pattern in difference.removed if pattern in self._held]
        shown = [pattern for pattern in added if self._hold(pattern, after=0)]
        return _difference(shown, [pattern for pattern in removed if self._forget(pattern)])

    def advertised(self, advertisements: Iterable[Advertisement]) -> Difference:
        """These and no others have come by the link; how what is worth sending changes."""
        given = dict.fromkeys(advertisements)
        newest = self._next - 1
        for new in given:
            if new not in self._numbers:
                self._numbers[new] = self._next
                self._under[self._next] = set()
                self._next += 1
        gone = [number for old, number in self._numbers.items() if old not in given]
        self._numbers = {old: number for old, number in self._numbers.items() if old in given}
        # Whatever was held under none is compared with the new ones only.
        waiting = list(self._under[None]) if self._next - 1 > newest else []
        shown = [pattern for pattern in waiting if self._hold(pattern, after=newest)]
        lost = [(pattern, number) for number in gone for pattern in self._under.pop(number)]
        hidden = [pattern for pattern, number in lost if not self._hold(pattern, after=number)]
        return _difference(shown, hidden)

    def _hold(self, pattern: Pattern, *, after: int) -> bool:
        """Hold a pattern under the first later advertisement that it overlaps, if there is any."""
        if self._held.get(pattern) is None:
            self._under[None].discard(pattern)
        found = next(
            (
                number
                for advertisement, number in self._numbers.items()
                if number > after and self._leads(advertisement, pattern)
            ),
            None,
        )
        self._held[pattern] = found
        self._under[found].add(pattern)
        return found is not None

    def _forget(self, pattern: Pattern) -> bool:
        """Forget a pattern; whether it was held under an advertisement."""
        held = self._held.pop(pattern)
        self._under[held].discard(pattern)
        return held is not None

    def _leads(self, advertisement: Advertisement, pattern: Pattern) -> bool:
        """Whether a link by which the advertisement came is worth the pattern."""
        if self._towards == "producers":
            return True
        self.comparisons += 1
        return overlaps(advertisement, pattern)


def _difference(added: Iterable[Pattern], removed: Iterable[Pattern]) -> Difference:
    def by_text(pattern: Pattern) -> str:
        return pattern.text

    return Difference(tuple(sorted(added, key=by_text)), tuple(sorted(removed, key=by_text)))
