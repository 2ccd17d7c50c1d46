"""What brokers have agreed on over each link, so that documents can travel with annotations.

Over a link, two things are remembered (Piggyback, sections 4 and 5):

- *what we said*, with the table that makes sense of what is told to us
  (:class:`~twigcast.routing.annotations.hints.HintTable`), and the number of the change that said
  it last;
- *what we were asked*: the hints of the far broker, with its routes in the order of their places,
  and the number of the change that they came with.

Annotations name the change they were made for. Only those for the newest change count: places and
bits mean something else in any other. A table that has grown old otherwise (patterns have come that
it does not know) is still right, since whatever it says of a pattern holds whatever else there is.
So tables are made anew only when something is said, and cost nothing in between.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable

from twigcast.covering import CoverIndex
from twigcast.language import Pattern
from twigcast.routing.annotations.agreement import AnnotationRequest, SentTable
from twigcast.routing.annotations.annotations import AnnotationLimits, Annotations
from twigcast.routing.annotations.hints import Hints, check_hints, hint_table
from twigcast.routing.annotations.kinds import Kinds
from twigcast.routing.events import Change, LinkId
from twigcast.routing.strategy import Strategy


class Piggyback:
    """The agreements of a broker with its neighbours."""

    def __init__(self, strategy: Strategy) -> None:
        self.kinds = Kinds.parse(strategy.annotations)
        self.limits = AnnotationLimits(bytes_max=strategy.annotation_bytes_max)
        self._index = CoverIndex()
        self._numbers: dict[Pattern, int] = {}
        self._patterns: dict[int, Pattern] = {}
        self._uses: Counter[Pattern] = Counter()
        self._next = 0
        self._said: dict[LinkId, SentTable] = {}
        self._asked: dict[LinkId, AnnotationRequest] = {}
        self._watched: Counter[Pattern] = Counter()

    def turned_to(self, strategy: Strategy) -> Piggyback:
        """The same agreements, under which less is told from now on."""
        self.kinds = Kinds.parse(strategy.annotations)
        self.limits = AnnotationLimits(bytes_max=strategy.annotation_bytes_max)
        return self

    # The broker's own patterns.

    def add(self, pattern: Pattern) -> None:
        """A subscription or a route comes."""
        self._uses[pattern] += 1
        if self._uses[pattern] == 1:
            number, self._next = self._next, self._next + 1
            self._numbers[pattern] = number
            self._patterns[number] = pattern
            self._index.add(number, pattern)

    def remove(self, pattern: Pattern) -> None:
        """One goes."""
        self._uses[pattern] -= 1
        if not self._uses[pattern]:
            del self._uses[pattern]
            number = self._numbers.pop(pattern)
            del self._patterns[number]
            self._index.remove(number)

    def rebuild(self, patterns: Iterable[Pattern]) -> Collection[Pattern]:
        """Begin anew with the broker's own patterns; the rows of names that are to be watched.

        What neighbours would like to be told stays. What was said to them does not count any more.
        """
        self._index = CoverIndex()
        self._numbers, self._patterns, self._uses = {}, {}, Counter()
        self._said = {}
        for pattern in patterns:
            self.add(pattern)
        self._watched = Counter(
            row for link in self._asked for row in dict.fromkeys(self._rows(link))
        )
        return self._watched.keys()

    def asked_by(self, link: LinkId) -> AnnotationRequest | None:
        """What a neighbour would like to be told, if it has said so."""
        return self._asked.get(link)

    def ask_again(self, link: LinkId, asked: AnnotationRequest | None) -> None:
        """A neighbour would like to be told what it was told before; :meth:`rebuild` follows."""
        self._asked.pop(link, None)
        if asked is not None:
            self._asked[link] = asked

    def _covered(self, pattern: Pattern) -> Iterable[Pattern]:
        return map(self._patterns.__getitem__, self._index.covered(pattern))

    # Agreements.

    def say(self, link: LinkId, said: Iterable[Pattern], session: int, number: int) -> Hints:
        """Something is said over a link: the hints that go with it."""
        table = hint_table(said, self._numbers.keys(), self._covered, self.kinds)
        self.said_so(link, SentTable(session, number, table))
        return table.hints

    def said_so(self, link: LinkId, said: SentTable) -> None:
        """Something has been said over a link, whose table is there already."""
        self._said[link] = said

    def hear(
        self, link: LinkId, change: Change, routes: Iterable[Pattern]
    ) -> tuple[list[Pattern], list[Pattern]]:
        """A change came, after which these are the link's routes; rows to watch, and no longer to.

        Raises ProtocolError for hints that cannot be meant; check them before.
        """
        places = tuple(sorted(routes, key=lambda each: each.text))
        before = self._rows(link)
        hints = change.hints
        if hints is None or len(hints.covered) != len(places):
            self._asked.pop(link, None)
        else:
            self._asked[link] = AnnotationRequest(change.session, change.number, places, hints)
        return self._rewatch(before, self._rows(link))

    def check(self, change: Change, routes: int) -> None:
        """Raise ProtocolError for a change with hints that cannot be meant by so many routes."""
        if change.hints is not None:
            check_hints(change.hints, said=routes)

    def remove_link(self, link: LinkId) -> list[Pattern]:
        """A link goes; the rows that need not be watched any more."""
        before = self._rows(link)
        self._said.pop(link, None)
        self._asked.pop(link, None)
        return self._rewatch(before, ())[1]

    def _rows(self, link: LinkId) -> tuple[Pattern, ...]:
        asked = self._asked.get(link)
        return tuple(row for row, _ in asked.hints.rows) if asked else ()

    def _rewatch(
        self, before: Iterable[Pattern], after: Iterable[Pattern]
    ) -> tuple[list[Pattern], list[Pattern]]:
        old, new = dict.fromkeys(before), dict.fromkeys(after)
        watch, unwatch = [], []
        for row in new:
            if row not in old:
                self._watched[row] += 1
                if self._watched[row] == 1:
                    watch.append(row)
        for row in old:
            if row not in new:
                self._watched[row] -= 1
                if not self._watched[row]:
                    del self._watched[row]
                    unwatch.append(row)
        return watch, unwatch

    # Documents.

    def asked(self) -> dict[LinkId, AnnotationRequest]:
        """What every neighbour would like to be told, as it is now."""
        return dict(self._asked)

    def table_for(self, link: LinkId, annotations: Annotations) -> SentTable | None:
        """What makes sense of annotations; None if they were made for something else."""
        said = self._said.get(link)
        if said is None or (said.session, said.number) != (annotations.session, annotations.number):
            return None
        return said
