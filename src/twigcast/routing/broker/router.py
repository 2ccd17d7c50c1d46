"""The broker's brain: an event goes in, effects come out.

A :class:`Router` holds a broker's tables and decides everything a broker has to decide; it does no
I/O, reads no clock and draws no randomness. Whoever drives it (a simulator, a network in memory,
TCP) hands it events one at a time and performs the effects in order::

    effects = router.handle(Publish(publication), now=12.5)     → (Decide(...),)
    answer = router.decide(effects[0])                          the work; on any thread
    effects = router.handle(answer, now=12.6)                   → (Send(...), Deliver(...))

The tables (Dissemination, 1.2.1): advertisements by the link they came over (SRT), routes by the
link they lead to (PRT), and the subscriptions of the broker's own clients. A change of the tables
takes effect at once; what the neighbours have to know of it goes out in one
:class:`~twigcast.routing.events.Change` a link at the next :class:`Woken`, so that a burst of
subscriptions costs one message. What is forwarded is up to the strategy
(:mod:`~twigcast.routing.forwarding.forwarder`).

A fault of somebody else never raises: the event comes back as :class:`Refuse` with a reason, and
nothing has changed. So does an event on which something fails that nobody foresaw: what it had
changed so far is taken back, what is derived from the tables is made anew, and each neighbour is
sent the whole table in a new session. A document on which something fails is refused, or a dead
letter; it holds up no other. Both are counted, and reported to the driver. Should making anew
fail as well, it is tried again with each event that concerns the tables, which is refused until it
succeeds; documents go on by the tables as they are, and ``statistics().needs_restart`` tells.

An interrupt (``KeyboardInterrupt``, and whatever else is no ``Exception``) passes through as it is,
and leaves the tables in any state. The router then answers nothing any more but UsageError; its
driver goes on with another (:meth:`Router.anew`), and hands it what it knows of clients and links.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Final, assert_never

from twigcast.copies import Uncopied
from twigcast.covering import Advertisement
from twigcast.display import one_line
from twigcast.door import door
from twigcast.errors import InternalError, ProtocolError, UsageError
from twigcast.language import DocumentLimits
from twigcast.language.document.parse import LIBRARY_LIMITS
from twigcast.routing.broker.checks import (
    Refused,
    check_difference,
    check_name,
    check_pattern,
    check_room,
    check_table,
    once,
)
from twigcast.routing.broker.clients import Clients
from twigcast.routing.broker.decider import DocumentDecider
from twigcast.routing.broker.documents import BrokerDocuments
from twigcast.routing.broker.failures import Failures, door_of
from twigcast.routing.broker.limits import ROUTER_LIMITS, RouterLimits
from twigcast.routing.broker.link_session import Session
from twigcast.routing.broker.remedies import is_about_a_document
from twigcast.routing.broker.views import RouterStatistics, TablesView, statistics_of, tables_of
from twigcast.routing.events import (
    Advertise,
    Arrive,
    BrokerId,
    Change,
    Decide,
    Decided,
    Effect,
    Event,
    Garbled,
    LinkDown,
    LinkId,
    LinkUp,
    Message,
    Publish,
    Received,
    Refuse,
    Send,
    Subscribe,
    Unadvertise,
    Unsubscribe,
    Woken,
)
from twigcast.routing.forwarding.forwarder import Forwarder
from twigcast.routing.piggyback.plug_in import plug_in_for
from twigcast.routing.strategy import Strategy
from twigcast.routing.strategy import strategy as strategy_of
from twigcast.routing.wire.frames import refusal
from twigcast.routing.wire.texts import pattern_refusal

__all__ = ["ROUTER_LIMITS", "Router", "RouterLimits"]

_WOKEN_IN_VAIN_MAX: Final = 3
"""After so many failures in a row, neighbours wait for the next change of the tables: what fails
each time would keep the driver busy for ever."""


class Router(Uncopied, instead="make another, and hand it what this one was handed"):
    """One broker, without its wires."""

    @door("making a router")
    def __init__(
        self,
        name: BrokerId | str,
        strategy: Strategy | str = "best",
        *,
        engine: str = "auto",
        limits: RouterLimits = ROUTER_LIMITS,
        document_limits: DocumentLimits = LIBRARY_LIMITS,
        report: Callable[[InternalError], None] | None = None,
    ) -> None:
        self._failures = Failures(report)
        self.name = BrokerId(name)
        self.strategy = strategy_of(strategy)
        self.limits = limits
        self._engine = engine
        self._document_limits = document_limits
        self._plug_in = plug_in_for(self.strategy, engine=engine, limits=document_limits)
        self._routes = self._plug_in.routes
        self._forwarding = Forwarder(self.strategy)
        self._sessions: dict[LinkId, Session] = {}
        self._last_session = 0
        self._links: dict[LinkId, None] = {}
        """The links that are up, in the order of names."""
        self._clients = Clients()
        decider = DocumentDecider(self.strategy, document_limits, self._plug_in)
        self._documents = BrokerDocuments(
            self.name, self.strategy, self._clients, decider, self._plug_in, self._failures
        )
        self._advertised: dict[LinkId, dict[Advertisement, None]] = {}
        """Of each link the advertisements that came by it."""
        self._woken_in_vain = 0
        """How often in a row something failed when neighbours were to be sent changes."""
        self._needs_restart = False
        """Whether what is derived from the tables could not be made anew after a failure."""
        self._undo: list[Callable[[], object]] = []
        """How to take back what the event at hand has changed so far; none of these can fail."""
        self._send_at: float | None = None
        self._merge_at: float | None = None
        self._refused = 0
        self._is_torn = False
        """Whether an event was interrupted, so that the tables may be in any state."""

    @door("making a router anew")
    def anew(self) -> Router:
        """Another router of the same name, without links and clients, that counts on from here."""
        made = Router(
            self.name,
            self.strategy,
            engine=self._engine,
            limits=self.limits,
            document_limits=self._document_limits,
            report=self._failures.report,
        )
        made._failures.count = self._failures.count
        made._documents.tally = self._documents.tally
        made._refused = self._refused
        return made

    @door("handling an event")
    def handle(self, event: Event, *, now: float) -> tuple[Effect, ...]:
        """Take in an event; what is to be done now, in order."""
        # The doors in here turn a failure into an answer. The one around them is for whoever is
        # reported to, and may fail as well.
        self._check_whole()
        self._undo = []
        try:
            return self._answered(event, now)
        except BaseException:
            self._is_torn = True
            raise

    def _answered(self, event: Event, now: float) -> tuple[Effect, ...]:
        try:
            with door_of(type(event).__name__):
                return self._accepted(event, now)
        except InternalError as error:
            self._failures.add(error)
            try:
                with door("recovering from a failure"):
                    self._recover(event, now)
            except InternalError as again:
                self._failures.add(again)
            # A link that is lost is lost, whatever fails about it.
            return () if isinstance(event, LinkDown) else self._refuse(event, str(error))

    def _accepted(self, event: Event, now: float) -> tuple[Effect, ...]:
        if self._needs_restart and not is_about_a_document(event):
            self._rebuild(now)
            self._needs_restart = False
        try:
            return self._handle(event, now)
        except Refused as refused:
            return self._refuse(event, str(refused))

    def _refuse(self, event: Event, reason: str) -> tuple[Effect, ...]:
        self._refused += 1
        link = event.link if isinstance(event, Received | Garbled | LinkUp | LinkDown) else None
        return (Refuse(event, one_line(reason), link),)

    def _recover(self, event: Event, now: float) -> None:
        """Go on after something failed in the middle of an event: as if it had not come.

        A link that is lost stays lost. Documents change no table.
        """
        for undo in reversed(self._undo):
            undo()
        if is_about_a_document(event):
            return
        self._needs_restart = True
        match event:
            case LinkDown(link):
                self._forget_link(link)
                self._plug_in.forget_link(link)
            case Woken():
                self._woken_in_vain += 1
            case _:
                pass
        is_vain = self._woken_in_vain >= _WOKEN_IN_VAIN_MAX
        if is_vain:
            self._send_at = self._merge_at = None
        self._rebuild(now)
        self._needs_restart = False
        if is_vain:
            self._send_at = None

    def _rebuild(self, now: float) -> None:
        """Make anew what is derived from the tables; neighbours are sent all of it once more."""
        forwarding = Forwarder(self.strategy)
        for link in self._links:
            forwarding.add_link(link)
        patterns = [each.pattern for each in self._clients.subscriptions.values()]
        for pattern in patterns:
            forwarding.subscribe(pattern)
        for each in self._clients.advertisements.values():
            forwarding.advertise(each.advertisement, None)
        for link in self._links:
            routes = self._routes.routes(link)
            patterns += routes
            for pattern in routes:
                forwarding.add(pattern, link)
            for advertisement in self._advertised[link]:
                forwarding.advertise(advertisement, link)
            self._last_session += 1
            self._sessions[link].begin(self._last_session)
        self._forwarding = forwarding
        self._plug_in.rebuild(patterns)
        self._send_at, self._merge_at = now, None

    def _handle(self, event: Event, now: float) -> tuple[Effect, ...]:
        match event:
            case LinkUp():
                return self._link_up(event, now)
            case LinkDown():
                return self._link_down(event, now)
            case Subscribe():
                return self._subscribe(event, now)
            case Unsubscribe():
                return self._unsubscribe(event, now)
            case Advertise():
                return self._advertise(event, now)
            case Unadvertise():
                return self._unadvertise(event, now)
            case Publish():
                self._check_open(self.limits.open_documents_max, "open_documents_max")
                return self._documents.publish(event.publication)
            case Received():
                return self._received(event.link, event.message, now)
            case Garbled():
                raise Refused(event.reason)
            case Decided():
                return self._documents.decided(event, self._links)
            case Woken():
                return self._woken(now)
            case _:
                assert_never(event)

    @door("changing the strategy")
    def switch_to(self, strategy: Strategy) -> None:
        """Forward documents by another protocol from now on; what neighbours were sent stays.

        There may be fewer kinds of annotations than before, not more; UsageError if there are none.
        """
        self._plug_in.switch_to(strategy)
        self.strategy = strategy
        decider = DocumentDecider(strategy, self._document_limits, self._plug_in)
        self._documents.switch_to(strategy, decider)

    def wake_at(self) -> float | None:
        """When the router next wants to be :class:`Woken`; None if it has nothing to do."""
        times = [at for at in (self._send_at, self._merge_at) if at is not None]
        return min(times, default=None)

    # Links.

    def _link_up(self, event: LinkUp, now: float) -> tuple[Effect, ...]:
        link = event.link
        if link == self.name:
            raise Refused(f"broker {link!r} has no link to itself")
        if link in self._links:
            raise Refused(f"link {link!r} is up already; take it down first")
        check_room(len(self._links), self.limits.links_max, what="links", limit="links_max")
        self._undo.append(partial(self._forget_link, link))
        self._links = dict.fromkeys(sorted([*self._links, link]))
        self._last_session += 1
        self._sessions[link] = Session(self._last_session)
        self._advertised[link] = {}
        self._routes.add_link(link)
        self._forwarding.add_link(link)
        return self._send_later(now)

    def _forget_link(self, link: LinkId) -> None:
        """A link and all that came by it are gone from the tables; this cannot fail."""
        for table in (self._links, self._sessions, self._advertised):
            table.pop(link, None)
        self._routes.discard_link(link)

    def _link_down(self, event: LinkDown, now: float) -> tuple[Effect, ...]:
        self._check_link(event.link)
        routes = tuple(self._routes.routes(event.link))
        self._forget_link(event.link)
        self._plug_in.remove_link(event.link, routes)
        self._forwarding.remove_link(event.link)
        self._collect()
        return self._send_later(now)

    # Clients.

    def _subscribe(self, event: Subscribe, now: float) -> tuple[Effect, ...]:
        if event.subscription in self._clients.subscriptions:
            raise Refused(f"subscription {event.subscription} is there already; take another id")
        there, allowed = len(self._clients.subscriptions), self.limits.subscriptions_max
        check_room(there, allowed, what="subscriptions", limit="subscriptions_max")
        check_pattern(event.pattern, self.limits.pattern_characters_max)
        reason = pattern_refusal(event.pattern)
        if reason is not None:
            raise Refused(f"other brokers could not read the pattern: {reason}")
        check_name(event.subscriber, what="a name of a subscriber")
        self._routes.subscribe(event.subscription, event.pattern)
        self._undo.append(partial(self._routes.discard_subscription, event.subscription))
        self._clients.subscribe(event, self._routes.version)
        self._undo.append(partial(self._clients.unsubscribe, event.subscription))
        self._forwarding.subscribe(event.pattern)
        self._plug_in.add(event.pattern)
        return self._send_later(now)

    def _unsubscribe(self, event: Unsubscribe, now: float) -> tuple[Effect, ...]:
        if event.subscription not in self._clients.subscriptions:
            raise Refused(f"no subscription {event.subscription}, so nothing to unsubscribe")
        pattern = self._clients.subscriptions[event.subscription].pattern
        self._forwarding.unsubscribe(pattern)
        self._plug_in.remove(pattern)
        self._clients.unsubscribe(event.subscription)
        self._routes.discard_subscription(event.subscription)
        self._collect()
        return self._send_later(now)

    def _advertise(self, event: Advertise, now: float) -> tuple[Effect, ...]:
        if event.id in self._clients.advertisements:
            raise Refused(f"advertisement {event.id} is there already; take another id")
        self._check_advertisements(
            max(self._forwarding.advertisements, len(self._clients.advertisements))
        )
        reason = refusal(event)
        if reason is not None:
            raise Refused(f"other brokers could not read the advertisement: {reason}")
        self._clients.advertisements[event.id] = event
        self._undo.append(partial(self._clients.advertisements.pop, event.id))
        self._forwarding.advertise(event.advertisement, None)
        return self._send_later(now)

    def _unadvertise(self, event: Unadvertise, now: float) -> tuple[Effect, ...]:
        advertised = self._clients.advertisements.get(event.id)
        if advertised is None:
            raise Refused(f"no advertisement {event.id}, so nothing to take back")
        self._forwarding.unadvertise(advertised.advertisement, None)
        del self._clients.advertisements[event.id]
        return self._send_later(now)

    # Changes from a neighbour.

    def _received(self, link: LinkId, message: Message, now: float) -> tuple[Effect, ...]:
        self._check_link(link)
        match message:
            case Change():
                return self._change(link, message, now)
            case Arrive():
                self._check_open(self.limits.open_arrivals_max, "open_arrivals_max")
                return self._documents.arrive(link, message)
            case _:
                assert_never(message)

    def _change(self, link: LinkId, change: Change, now: float) -> tuple[Effect, ...]:
        session = self._sessions[link]
        fault = session.fault(change)
        if fault is not None:
            raise Refused(fault)
        routes = self._routes.routes(link)
        advertisements = dict.fromkeys(self._forwarding.advertised_by(link))
        if change.number == 1:
            # The whole table takes the place of whatever was there.
            added = once(each for each in change.routes if each not in routes)
            withdrawn = sorted(set(routes).difference(change.routes), key=lambda each: each.text)
            new = once(each for each in change.advertisements if each not in advertisements)
            old = [each for each in advertisements if each not in change.advertisements]
        else:
            added, withdrawn = once(change.routes), once(change.withdrawn)
            new, old = once(change.advertisements), once(change.unadvertised)
            check_difference("route", added, withdrawn, routes)
            check_difference("advertisement", new, old, advertisements)
        check_table(link, change, len(routes) + len(added) - len(withdrawn), self.limits)
        if new:
            self._check_advertisements(self._forwarding.advertisements + len(new) - len(old) - 1)
        try:
            self._plug_in.check(change, len(routes) + len(added) - len(withdrawn))
        except ProtocolError as error:
            raise Refused(str(error)) from None
        for pattern in added:
            self._routes.add(pattern, link)
            self._undo.append(partial(self._routes.discard, pattern, link))
            self._forwarding.add(pattern, link)
        for pattern in withdrawn:
            self._forwarding.remove(pattern, link)
        for advertisement in new:
            self._forwarding.advertise(advertisement, link)
        for advertisement in old:
            self._forwarding.unadvertise(advertisement, link)
        self._undo.append(self._plug_in.undo_of(link))
        self._plug_in.receive(link, change, added, withdrawn)
        # From here on nothing can fail.
        self._undo.clear()
        session.accept(change)
        for pattern in withdrawn:
            self._routes.discard(pattern, link)
        there = self._advertised[link]
        there.update(dict.fromkeys(new))
        for advertisement in old:
            del there[advertisement]
        self._collect()
        return self._send_later(now)

    def _collect(self) -> None:
        """Remove from the matchers what has left; should it fail, the tables are right already.

        So it has a door of its own: the event was taken in, and must not be taken back.
        """
        try:
            with door("removing a pattern"):
                self._routes.collect()
        except InternalError as error:
            self._failures.add(error)

    # Changes to the neighbours.

    def _send_later(self, now: float) -> tuple[Effect, ...]:
        if self._send_at is None:
            self._send_at = now + self.limits.batch_delay
        return ()

    def _woken(self, now: float) -> tuple[Effect, ...]:
        if self._merge_at is not None and now >= self._merge_at:
            self._forwarding.merge()
            self._merge_at, self._send_at = None, now
        if self._send_at is None or now < self._send_at:
            return ()
        self._send_at = None
        effects: list[Effect] = []
        for link, update in self._forwarding.changes().items():
            session = self._sessions[link]
            if any(update) or not session.sent:
                number = session.number()
                forwarded = partial(self._forwarding.forwarded, link)
                hints = self._plug_in.hints(link, forwarded, session.ours, number)
                effects.append(Send(link, Change(session.ours, number, *update, hints)))
        if self._merge_at is None and self._forwarding.wants_merge:
            self._merge_at = now + self.strategy.merge_every
        self._woken_in_vain = 0
        return tuple(effects)

    @door("deciding a document")
    def decide(self, effect: Decide) -> Decided:
        """Where the document has to go: the work that a :class:`Decide` asks for.

        It changes nothing, and may be done on another thread while events are handled. Until an
        answer is final, there is another to be asked for when it has been handled. Whatever fails
        is an answer with an ``error``, so that the document holds up no other; UsageError if no
        such document is open.
        """
        self._check_whole()
        return self._documents.decide(effect)

    # What there is.

    @door("reading tables")
    def tables(self) -> TablesView:
        """The tables as they are now, for people and tests."""
        self._check_whole()
        return tables_of(self._links, self._routes, self._forwarding, self._clients)

    @door("counting")
    def statistics(self) -> RouterStatistics:
        """How large the tables are, and what has happened so far."""
        return statistics_of(
            self._links,
            self._routes,
            self._forwarding,
            self._clients,
            self._documents,
            refused=self._refused,
            internal_errors=self._failures.count,
            needs_restart=self._needs_restart,
        )

    # Checks.

    def _check_whole(self) -> None:
        if self._is_torn:
            raise UsageError(
                f"router {self.name!r} was interrupted in the middle of an event, so its tables "
                "may be half changed; go on with another, made by anew()"
            )

    def _check_link(self, link: LinkId) -> None:
        if link not in self._links:
            raise Refused(f"broker {self.name!r} has no link {link!r} that is up")

    def _check_open(self, allowed: int, limit: str) -> None:
        what = "documents waiting for their answer"
        check_room(self._documents.waiting, allowed, what=what, limit=limit)

    def _check_advertisements(self, there: int) -> None:
        allowed = self.limits.advertisements_max
        check_room(there, allowed, what="advertisements", limit="advertisements_max")
