"""A broker's agreements over its links, by which documents can travel with annotations.

Over a link, two things are remembered (Piggyback, sections 4 and 5):

- *what we sent*, with the table that makes sense of the annotations we receive
  (:class:`~twigcast.routing.annotations.hints.HintTable`), and the number of the last change;
- *what was requested of us*: the hints of the far broker, with its routes in the order of their
  places, and the number of the change that they came with.

Annotations name the change they were made for. Only those for the newest change count: places and
bits mean something else in any other. A table that has grown old otherwise (patterns have come that
it does not know) is still right, since whatever it says of a pattern holds whatever else there is.
So tables are made anew only when something is sent, and cost nothing in between.
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


class Agreements:
    """The agreements of a broker with its neighbours."""

    def __init__(self, strategy: Strategy) -> None:
        self.kinds = Kinds.parse(strategy.annotations)
        self.limits = AnnotationLimits(bytes_max=strategy.annotation_bytes_max)
        self._index = CoverIndex()
        self._numbers: dict[Pattern, int] = {}
        self._patterns: dict[int, Pattern] = {}
        self._uses: Counter[Pattern] = Counter()
        self._next = 0
        self._sent: dict[LinkId, SentTable] = {}
        self._requests: dict[LinkId, AnnotationRequest] = {}
        self._watched: Counter[Pattern] = Counter()

    def switch_to(self, strategy: Strategy) -> None:
        """Keep what was agreed on, and annotate less from now on."""
        self.kinds = Kinds.parse(strategy.annotations)
        self.limits = AnnotationLimits(bytes_max=strategy.annotation_bytes_max)

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

        What neighbours would like to know stays. What was sent to them does not count any more.
        """
        self._index = CoverIndex()
        self._numbers, self._patterns, self._uses = {}, {}, Counter()
        self._sent = {}
        for pattern in patterns:
            self.add(pattern)
        self._watched = Counter(
            row for link in self._requests for row in dict.fromkeys(self._rows(link))
        )
        return self._watched.keys()

    def request_of(self, link: LinkId) -> AnnotationRequest | None:
        """What a neighbour would like to know, if it has requested anything."""
        return self._requests.get(link)

    def restore_request(self, link: LinkId, request: AnnotationRequest | None) -> None:
        """Go back to an earlier request of a neighbour; :meth:`rebuild` follows."""
        self._requests.pop(link, None)
        if request is not None:
            self._requests[link] = request

    def _covered(self, pattern: Pattern) -> Iterable[Pattern]:
        return map(self._patterns.__getitem__, self._index.covered(pattern))

    # Agreements.

    def send(self, link: LinkId, sent: Iterable[Pattern], session: int, number: int) -> Hints:
        """The hints that go with a change, after which these patterns are sent over a link."""
        table = hint_table(sent, self._numbers.keys(), self._covered, self.kinds)
        self.record_sent(link, SentTable(session, number, table))
        return table.hints

    def record_sent(self, link: LinkId, sent: SentTable) -> None:
        """A table was sent over a link."""
        self._sent[link] = sent

    def receive(
        self, link: LinkId, change: Change, routes: Iterable[Pattern]
    ) -> tuple[list[Pattern], list[Pattern]]:
        """A change came, after which these are the link's routes; rows to watch, and no longer to.

        Raises ProtocolError for hints that cannot be meant; check them before.
        """
        places = tuple(sorted(routes, key=lambda each: each.text))
        before = self._rows(link)
        hints = change.hints
        if hints is None or len(hints.covered) != len(places):
            self._requests.pop(link, None)
        else:
            self._requests[link] = AnnotationRequest(change.session, change.number, places, hints)
        return self._rewatch(before, self._rows(link))

    def check(self, change: Change, routes: int) -> None:
        """Raise ProtocolError for a change with hints that cannot be meant by so many routes."""
        if change.hints is not None:
            check_hints(change.hints, sent=routes)

    def remove_link(self, link: LinkId) -> list[Pattern]:
        """A link goes; the rows that need not be watched any more."""
        before = self._rows(link)
        self._sent.pop(link, None)
        self._requests.pop(link, None)
        return self._rewatch(before, ())[1]

    def _rows(self, link: LinkId) -> tuple[Pattern, ...]:
        request = self._requests.get(link)
        return tuple(row for row, _ in request.hints.rows) if request else ()

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

    def requests(self) -> dict[LinkId, AnnotationRequest]:
        """What every neighbour would like to know, as it is now."""
        return dict(self._requests)

    def table_for(self, link: LinkId, annotations: Annotations) -> SentTable | None:
        """What makes sense of annotations; None if they were made for something else."""
        sent = self._sent.get(link)
        if sent is None or (sent.session, sent.number) != (annotations.session, annotations.number):
            return None
        return sent
