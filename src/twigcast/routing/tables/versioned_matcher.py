"""A matcher of which documents see the version that they came with.

Copying matchers for each document would cost too much, so numbers take the place of copies:

- they are never used twice, so whatever was added later has a higher one;
- what is removed stays in its matcher, marked with the version it left in, until no document is
  open that began before.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator

from twigcast.language import DocumentLimits, Pattern
from twigcast.matching import Matcher


class VersionedMatcher:
    """A matcher whose patterns leave only when no snapshot needs them any more."""

    def __init__(self, engine: str, limits: DocumentLimits) -> None:
        self.matcher = Matcher(engine=engine, limits=limits)
        self.next_number = 0
        self.left: dict[int, int] = {}
        """Of each number that has left but is still there, the version it left in."""
        self._waiting: deque[int] = deque()

    def add(self, pattern: Pattern) -> int:
        """Add a pattern; its number, which no other ever has."""
        number = self.take_number()
        self.matcher.add(number, pattern)
        return number

    def take_number(self) -> int:
        """A number that nothing ever had."""
        number, self.next_number = self.next_number, self.next_number + 1
        return number

    def remove(self, number: int, version: int) -> None:
        """Let a pattern leave in a version; it stays until :meth:`collect`."""
        self.left[number] = version
        self._waiting.append(number)

    def of(self, numbers: Iterable[int], end: int, version: int) -> Iterator[int]:
        """Those of some numbers that were there in a version, in which ``end`` was the next.

        Of what left before, another thread may remove some meanwhile; whoever looks a number up
        finds nothing then, since that is forgotten first.
        """
        left, later = self.left, version + 1
        return (each for each in numbers if each < end and left.get(each, later) > version)

    def collect(self, oldest: int, forget: Callable[[int], None]) -> None:
        """Remove what no snapshot of version ``oldest`` or later needs."""
        while self._waiting and self.left[self._waiting[0]] <= oldest:
            number = self._waiting.popleft()
            forget(number)
            del self.left[number]
            self.matcher.remove(number)
