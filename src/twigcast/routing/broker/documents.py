"""Documents at a broker: from where they come in to where they leave it.

A document comes in, is decided (:mod:`~twigcast.routing.broker.decider`, by the driver, whenever it
likes), and leaves: over links, to the broker's own clients, or as a dead letter. Nothing that
happens meanwhile changes where it goes, but for what is gone by then: a link that is down, a
subscription that has left.

The doors in here keep documents apart, and links of one document: what fails for one must not cost
the others that the same event brings forward.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import Final

from twigcast.covering import Advertisement
from twigcast.display import one_line
from twigcast.door import door
from twigcast.errors import InternalError, TwigcastError, UsageError
from twigcast.routing.annotations.annotations import Annotations
from twigcast.routing.broker.checks import Refused, check_name
from twigcast.routing.broker.clients import Clients
from twigcast.routing.broker.decider import DocumentDecider
from twigcast.routing.broker.failures import Failures
from twigcast.routing.events import (
    Accuse,
    Arrive,
    BrokerId,
    DeadLetter,
    Decide,
    Decided,
    Deliver,
    Effect,
    LinkId,
    Publication,
    Publish,
    Refuse,
    Send,
)
from twigcast.routing.plug_in import PlugIn
from twigcast.routing.strategy import Strategy
from twigcast.routing.tables.in_flight import OpenDocument, OpenDocuments

# A document passes these once for each of its links, so they are made once.
_DECIDING: Final = door("deciding a document")
_FORWARDING: Final = door("forwarding a document")
_CLOSING: Final = door("closing a document")
_CUTTING: Final = door("cutting a document to the paths of a link")


class DocumentTally:
    """What has happened to documents so far."""

    def __init__(self) -> None:
        self.documents = self.deliveries = self.dead_letters = self.refused = 0
        self.annotations = self.annotation_bytes = self.sent_unread = 0
        self.ignored = self.skipped = self.lies = 0

    def sent(self, annotations: Annotations | None, *, is_unread: bool) -> None:
        """A document goes over a link."""
        self.sent_unread += is_unread
        if annotations is not None:
            self.annotations += 1
            self.annotation_bytes += annotations.size

    def decided(self, answer: Decided) -> None:
        """An answer was applied."""
        self.ignored += answer.ignored is not None and answer.final
        self.skipped += answer.skipped
        self.lies += answer.lie is not None


class BrokerDocuments:
    """The documents of one broker."""

    def __init__(  # noqa: PLR0917 - the parts of a broker that documents meet
        self,
        name: BrokerId,
        strategy: Strategy,
        clients: Clients,
        decider: DocumentDecider,
        plug_in: PlugIn,
        failures: Failures,
    ) -> None:
        self.tally = DocumentTally()
        self._failures = failures
        self._name = name
        self._strategy = strategy
        self._routes = plug_in.routes
        self._clients = clients
        self._decider = decider
        self._plug_in = plug_in
        self._open = OpenDocuments()

    def switch_to(self, strategy: Strategy, decider: DocumentDecider) -> None:
        """From now on forward documents in another way."""
        self._strategy, self._decider = strategy, decider

    @property
    def waiting(self) -> int:
        """How many wait for their answer."""
        return len(self._open)

    def publish(self, publication: Publication) -> tuple[Effect, ...]:
        """A publisher at this broker hands in a document."""
        if publication.origin != self._name:
            raise Refused(
                f"a document of {publication.origin!r} is published there, not at {self._name!r}"
            )
        check_name(publication.id, what="an id of a document")
        check_name(publication.publisher, what="a name of a publisher")
        flooded = self._strategy.floods
        held_to: tuple[Advertisement, ...] = ()
        if self._strategy.towards != "all":
            held_to = self._clients.advertised_by(publication.publisher)
            flooded = not held_to
        if self._strategy.towards != "advertisers":
            held_to = ()
        return self._to_be_decided(publication, None, flooded=flooded, held_to=held_to)

    def arrive(self, link: LinkId, arrival: Arrive) -> tuple[Effect, ...]:
        """A document comes over a link."""
        if arrival.publication.origin == self._name:
            raise Refused(f"document {arrival.publication.id!r} has come back to its origin")
        flooded = arrival.flooded or self._strategy.floods
        return self._to_be_decided(
            arrival.publication,
            link,
            flooded=flooded,
            paths=arrival.paths,
            annotations=arrival.annotations,
        )

    def _to_be_decided(
        self,
        publication: Publication,
        came_by: LinkId | None,
        *,
        flooded: bool,
        held_to: tuple[Advertisement, ...] = (),
        paths: tuple[int, ...] | None = None,
        annotations: Annotations | None = None,
    ) -> tuple[Effect, ...]:
        self._decider.check_size(publication)
        agreements = self._plug_in.agreements(came_by, annotations)
        # A snapshot must be closed again, so nothing that could fail stands between this and the
        # document that is open from here on.
        snapshot = self._routes.snapshot()
        number = self._open.next_number
        effect = Decide(number, publication, came_by, snapshot.version, flooded, paths, annotations)
        self._open.add(OpenDocument(effect, snapshot, held_to, agreements))
        self.tally.documents += 1
        return (effect,)

    def decide(self, effect: Decide) -> Decided:
        """Where a document has to go; see :meth:`Router.decide`."""
        document = self._open.get(effect.number)
        if document is None:
            raise UsageError(f"no document {effect.number} waits to be decided here")
        try:
            with _DECIDING:
                return self._decider.decide(effect, document)
        except InternalError as error:
            self._failures.add(error)
            return Decided(effect.number, error=str(error))
        except TwigcastError as error:
            return Decided(effect.number, error=str(error))

    def decided(self, answer: Decided, links: Collection[LinkId]) -> tuple[Effect, ...]:
        """An answer came; ``links`` are those that are up."""
        try:
            with door("taking in an answer"):
                fault = self._open.fault(answer)
                answers = () if fault is not None else tuple(self._open.answer(answer))
        except InternalError as error:
            self._failures.add(error)
            fault, answers = None, tuple(self._open.give_up(answer, str(error)))
        if fault is not None:
            raise Refused(fault)
        effects: list[Effect] = []
        for document, due in answers:
            try:
                with _FORWARDING:
                    effects += self._apply(document, due, links)
            except InternalError as error:
                self._failures.add(error)
                effects.append(self._unread(document, str(error)))
            if due.final:
                self._close(document)
        return tuple(effects)

    def _close(self, document: OpenDocument) -> None:
        """Nothing is owed to a document any more; what fails now has no part in where it went."""
        try:
            with _CLOSING:
                self._routes.close(document.snapshot)
        except InternalError as error:
            self._failures.add(error)

    def _apply(
        self, document: OpenDocument, answer: Decided, links: Collection[LinkId]
    ) -> list[Effect]:
        publication, came_by = document.effect.publication, document.effect.came_by
        if answer.error is not None:
            return [self._unread(document, answer.error)]
        effects: list[Effect] = []
        nothing = (None,) * len(answer.links)
        along = zip(
            answer.links, answer.paths or nothing, answer.annotations or nothing, strict=True
        )
        for link, kept, annotated in along:
            if link in links and link != came_by:
                try:
                    with _CUTTING:
                        sent = self._decider.part_to_send(document.effect, kept)
                except TwigcastError as error:
                    if isinstance(error, InternalError):
                        self._failures.add(error)
                    self.tally.dead_letters += 1
                    effects.append(DeadLetter(publication, None, str(error)))
                    continue
                effects.append(Send(link, Arrive(sent, answer.flooded, kept, annotated)))
                self.tally.sent(annotated, is_unread=answer.is_unread)
        self.tally.decided(answer)
        if answer.lie is not None and came_by is not None:
            effects.append(Accuse(came_by, publication.id, answer.lie))
        version = document.snapshot.version
        for found in answer.subscriptions:
            subscriber = self._clients.subscriber(found, version)
            if subscriber is not None:
                self.tally.deliveries += 1
                effects.append(Deliver(subscriber, found, publication))
        for unknown in answer.undecided:
            if self._clients.subscriber(unknown, version) is not None:
                self.tally.dead_letters += 1
                effects.append(DeadLetter(publication, unknown, "too costly to decide here"))
        return effects

    def _unread(self, document: OpenDocument, error: str) -> Effect:
        """A document that cannot be read goes back to its publisher; from afar, nobody is there."""
        publication, error = document.effect.publication, one_line(error)
        if document.effect.came_by is None:
            self.tally.refused += 1
            return Refuse(Publish(publication), error)
        self.tally.dead_letters += 1
        return DeadLetter(publication, None, error)
