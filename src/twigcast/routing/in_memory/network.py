"""A network of brokers in memory, for tests, notebooks and teaching.

Routers are joined by a queue. After each call the network settles: every message has arrived and
nobody has anything more to send.

    >>> network = Network({"links": [["north", "hub"], ["hub", "south"], ["hub", "west"]]})
    >>> trade = network.subscribe("south", "ann", "//trade[price > 100]")
    >>> outcome = network.publish("north", b"<feed><trade><price>120</price></trade></feed>")
    >>> [delivery.subscriber for delivery in outcome.deliveries]
    ['ann']
    >>> outcome.crossings
    (('north', 'hub'), ('hub', 'south'))

The tree that documents travel along is the minimum spanning tree of the links there are. A link
that goes is replaced by one that was left out, if there is any; else the network goes on in two
parts.

A call that does not come to its end (Ctrl-C), or in which something fails at a broker that nobody
foresaw (memory runs out), may leave routers and messages in any state. So the network keeps books
of its own, of who subscribes to what, who advertised what, and which links there are; each changes
in one step. Whatever is called next has all routers made anew from them first. The call that was
interrupted then has either happened or not.
"""

from __future__ import annotations

import logging
from collections import Counter, deque
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from itertools import chain
from typing import Any, Final, assert_never

from twigcast.copies import Copied, attributes, blank
from twigcast.covering import Advertisement
from twigcast.display import counted, one_line, shown
from twigcast.door import door
from twigcast.errors import InternalError, UsageError
from twigcast.language import Document, Pattern, Schema
from twigcast.routing.broker.remedies import Remedies, Remedy, dead_letter
from twigcast.routing.broker.router import ROUTER_LIMITS, Router, RouterLimits
from twigcast.routing.broker.views import RouterStatistics, TablesView
from twigcast.routing.events import (
    Accuse,
    Advertise,
    AdvertisementId,
    Arrive,
    BrokerId,
    DeadLetter,
    Decide,
    Deliver,
    Effect,
    Event,
    LinkDown,
    LinkUp,
    Publication,
    Publish,
    Received,
    Refuse,
    Send,
    Subscribe,
    SubscriptionId,
    Unadvertise,
    Unsubscribe,
    Woken,
)
from twigcast.routing.in_memory.outcome import Delivery, Outcome
from twigcast.routing.in_memory.traffic import Traffic
from twigcast.routing.strategy import Strategy, flooding_notice, warn_of_flooding
from twigcast.routing.strategy import strategy as strategy_of
from twigcast.routing.topology.model import Link, Topology
from twigcast.slips import is_number

_LOGGER: Final = logging.getLogger(__name__)


class Network(Copied):
    """Brokers joined in memory; see the module's example.

    ``topology`` is the dictionary of a topology file, ``strategy`` a name or a value.
    """

    @door("making a network")
    def __init__(
        self,
        topology: Mapping[str, object] | Topology,
        strategy: Strategy | str = "best",
        *,
        engine: str = "auto",
        limits: RouterLimits = ROUTER_LIMITS,
    ) -> None:
        whole = Topology.of(topology)
        whole.tree()  # a network that begins in two parts is a mistake, and is reported here
        self._begin(whole, strategy_of(strategy), engine, limits)

    def _begin(
        self, topology: Topology, strategy: Strategy, engine: str, limits: RouterLimits
    ) -> None:
        self.strategy = strategy
        self.topology = topology
        self._made_with = engine, limits
        self.traffic = Traffic()
        self._routers = {
            # Here no time passes while changes wait for company; batch() is for that.
            name: Router(
                name,
                self.strategy,
                engine=engine,
                limits=replace(limits, batch_delay=0),
                report=partial(self._failed, name),
            )
            for name in self.topology.brokers
        }
        self._failures = 0
        """How many failures nobody foresaw were reported so far."""
        self._remedies = Remedies()
        self._now = 0.0
        self._mail: deque[tuple[str, Event]] = deque()
        self._joined: set[tuple[str, str]] = set()
        self._subscriptions: dict[SubscriptionId, tuple[str, Subscribe]] = {}
        """Every subscription, with its broker."""
        self._advertisements: dict[AdvertisementId, tuple[str, Advertise]] = {}
        """Every advertisement, with its broker."""
        self._warned_of: set[tuple[str, str]] = set()
        """Publishers whose documents are flooded, which was reported."""
        self._next_id = 1
        self._published = 0
        self._batches = 0
        """Blocks of batch() that are open, one inside the other."""
        self._happened: list[tuple[str, Effect]] = []
        self._wishes: dict[str, float] = {}
        """When each broker that has something to do wants to be woken."""
        self._broken: str | None = None
        self._is_torn = False
        """Whether routers may be in any state: a call did not come to its end, or one failed."""
        self._join_by(self.topology)

    @property
    def brokers(self) -> tuple[str, ...]:
        """The names of all brokers."""
        return self.topology.brokers

    @door("copying a network")
    def __reduce__(self) -> tuple[object, ...]:
        """Copies, deep copies and pickles: a network of its own, its routers made from the books.

        It counts traffic from zero. Inside :meth:`batch` there is no copy.
        """
        self._check_usable()
        if self._batches:
            raise UsageError("a network is not copied inside batch(); copy it behind the block")
        state = attributes(self, but=_ITS_OWN)
        for name in _BOOKS:
            state[name] = getattr(self, name).copy()
        return _restored, (type(self), self.topology, self.strategy, *self._made_with), state

    def __setstate__(self, state: dict[str, object]) -> None:
        super().__setstate__(state)
        self._is_torn = True
        self._mend()
        self.traffic = Traffic()

    def __repr__(self) -> str:
        parts = (
            counted(len(self.brokers), "broker"),
            counted(len(self.topology.links), "link"),
            counted(len(self._subscriptions), "subscription"),
            counted(len(self._advertisements), "advertisement"),
            f"strategy {self.strategy.name}",
        )
        return f"<Network: {', '.join(parts)}>"

    # Clients.

    @door("subscribing")
    def subscribe(
        self,
        broker: str,
        subscriber: str,
        xpath: str | Pattern,
        namespaces: Mapping[str, str] | None = None,
    ) -> SubscriptionId:
        """A client of a broker asks for documents; the id of the subscription.

        Raises PatternError for what is no expression, UsageError for an unknown broker.
        """
        if not isinstance(xpath, str | Pattern):
            raise UsageError(f"an expression is a text or a Pattern, not {shown(xpath)}")
        _check_text(subscriber, "a subscriber")
        pattern = xpath if isinstance(xpath, Pattern) else Pattern.parse(xpath, namespaces)
        self._check(broker)
        subscription = SubscriptionId(self._new_id())
        self._wholly(partial(self._enter, broker, Subscribe(subscription, subscriber, pattern)))
        return subscription

    @door("unsubscribing")
    def unsubscribe(self, id: SubscriptionId) -> None:
        """Take a subscription back. Raises UsageError if there is none with that id."""
        if id not in self._subscriptions:
            raise UsageError(f"no subscription with id {shown(id)}, so nothing to unsubscribe")
        broker, _ = self._subscriptions[id]
        self._wholly(partial(self._enter, broker, Unsubscribe(id)))

    @door("advertising")
    def advertise(
        self,
        broker: str,
        schema: Schema | Advertisement | bytes,
        *,
        publisher: str | None = None,
    ) -> AdvertisementId:
        """A publisher at a broker advertises a schema, and is held to it; the advertisement's id.

        The schema may be the text of a DTD; SchemaError if it is none.
        """
        self._check(broker)
        _check_text(publisher or "", "a publisher")
        if isinstance(schema, bytes):
            schema = Schema.parse(schema)
        if not isinstance(schema, Schema | Advertisement):
            raise UsageError(
                "a publisher advertises a Schema, an Advertisement or the bytes of a DTD, not "
                f"{type(schema).__name__}"
            )
        shapes = schema if isinstance(schema, Advertisement) else Advertisement.of_schema(schema)
        made = AdvertisementId(self._new_id())
        self._wholly(partial(self._enter, broker, Advertise(made, publisher or "", shapes)))
        return made

    @door("taking an advertisement back")
    def unadvertise(self, id: AdvertisementId) -> None:
        """Take an advertisement back. Raises UsageError if there is none with that id."""
        if id not in self._advertisements:
            raise UsageError(f"no advertisement with id {shown(id)}, so nothing to take back")
        broker, _ = self._advertisements[id]
        self._wholly(partial(self._enter, broker, Unadvertise(id)))

    @door("publishing a document")
    def publish(
        self, broker: str, document: bytes | Document, *, publisher: str | None = None
    ) -> Outcome:
        """A publisher at a broker hands in a document; what happened to it.

        Raises DocumentError if it cannot be read. Under a strategy that needs advertisements, there
        is one FloodingWarning for each publisher who has made none.
        """
        publisher = publisher or ""
        self._check(broker)
        content = document.content if isinstance(document, Document) else document
        if not isinstance(content, bytes):
            raise UsageError(f"a document is bytes, not {type(content).__name__}; encode it first")
        _check_text(publisher, "a publisher")
        self._warn_of_flooding(broker, publisher)
        self.settle()
        self._published += 1
        name = f"p{self._published}"
        publication = Publication(name, BrokerId(broker), publisher, content)
        self._wholly(partial(self._send_out, broker, publication))
        outcome = self._outcome(name)
        if outcome.refused is not None:
            Document.parse(content)  # raises, if that is why
        return outcome

    def _send_out(self, broker: str, publication: Publication) -> None:
        self._happened = []
        self._mail.append((broker, Publish(publication)))
        self._run()

    def _warn_of_flooding(self, broker: str, publisher: str) -> None:
        """Tell, once for each publisher, that its documents go everywhere."""
        if not self.strategy.needs_advertisements or not self._joined:
            return
        advertisers = ((place, each.publisher) for place, each in self._advertisements.values())
        if (broker, publisher) in self._warned_of or (broker, publisher) in advertisers:
            return
        self._warned_of.add((broker, publisher))
        named = f", publisher={publisher!r}" if publisher else ""
        notice = flooding_notice(
            self.strategy,
            who=f"{f'publisher {publisher!r}' if publisher else 'whoever publishes'} at {broker!r}",
            remedy=f"say what it sends by network.advertise({broker!r}, schema{named})",
        )
        warn_of_flooding(notice)

    def _outcome(self, name: str) -> Outcome:
        deliveries: list[Delivery] = []
        crossings: list[tuple[str, str]] = []
        refused: str | None = None
        letters: list[tuple[SubscriptionId | None, str]] = []
        for broker, effect in self._happened:
            match effect:
                case Deliver():
                    deliveries.append(
                        Delivery(effect.subscriber, effect.subscription, broker, name)
                    )
                case Send(message=Arrive()):
                    crossings.append((broker, effect.link))
                case Refuse():
                    refused = effect.reason
                case DeadLetter():
                    letters.append((effect.subscription, effect.reason))
                case _:
                    pass
        return Outcome(name, tuple(deliveries), tuple(crossings), refused, tuple(letters))

    # Links.

    @door("removing a link")
    def remove_link(self, one: str, other: str) -> None:
        """A link is lost. Raises UsageError if there is none."""
        link = self.topology.link(one, other)
        if link is None:
            raise UsageError(f"no link between {one!r} and {other!r}, so nothing to remove")
        self._switch_links(tuple(each for each in self.topology.links if each != link))

    @door("adding a link")
    def add_link(self, one: str, other: str, *, latency_ms: float = 1.0) -> None:
        """A link comes, or comes back. Raises UsageError if there is one already."""
        if one == other:
            raise UsageError(f"broker {one!r} has no link to itself")
        if self.topology.link(one, other) is not None:
            raise UsageError(f"{one!r} and {other!r} have a link already")
        if not is_number(latency_ms) or latency_ms < 0:
            raise UsageError(f"latency_ms is a number, 0 or more, not {shown(latency_ms)}")
        self._switch_links((*self.topology.links, Link((one, other), latency_ms)))

    def _switch_links(self, links: tuple[Link, ...]) -> None:
        topology = Topology(self.topology.brokers, links, self.topology.clients)
        self._wholly(partial(self._join_by, topology))

    def _join_by(self, topology: Topology) -> None:
        """Take down links that are no longer of the tree, then put up those that are now."""
        wanted = {link.pair for link in topology.forest().links}
        self._check_links(wanted)
        self.topology = topology
        for kind, pairs in ((LinkDown, self._joined - wanted), (LinkUp, wanted - self._joined)):
            for one, other in sorted(pairs):
                self._mail.append((one, kind(BrokerId(other))))
                self._mail.append((other, kind(BrokerId(one))))
        self._joined = wanted
        self._settle_unless_batch()

    def _check_links(self, wanted: set[tuple[str, str]]) -> None:
        """UsageError if a broker would refuse its links: then nothing has changed."""
        for broker, links in Counter(chain.from_iterable(sorted(wanted))).items():
            allowed = self._routers[broker].limits.links_max
            if links > allowed:
                raise UsageError(
                    f"broker {broker!r} would have {links:,} links where at most {allowed:,} are "
                    "allowed (links_max); join some of its neighbours elsewhere"
                )

    # Time.

    @door("opening a batch")
    @contextmanager
    def batch(self) -> Iterator[None]:
        """Do several things, and let the network settle once, at the end.

        What the block itself raises passes as it is: it is the caller's, not ours.
        """
        self._batches += 1
        try:
            yield
        finally:
            self._batches -= 1
            if not self._batches:
                self.settle()

    @door("letting the network settle")
    def settle(self) -> None:
        """Let every message arrive, and every neighbour receive what it has to know."""
        self._wholly(self._run)

    @door("merging")
    def merge(self) -> None:
        """Let time pass until every merge tick is over and nobody has anything more to send."""
        self._wholly(self._let_time_pass)

    def _let_time_pass(self) -> None:
        self._run()
        while (at := min(self._wishes.values(), default=None)) is not None:
            self._now = max(self._now, at)
            self._run()

    def _failed(self, broker: str, error: InternalError) -> None:
        """Something failed at a broker that nobody foresaw; it goes on without it."""
        self._failures += 1
        _LOGGER.error("broker %s: %s", one_line(broker), error, exc_info=error)

    def _renew(self, broker: str, link: str) -> None:
        """Begin anew on a link over which a message was lost: both ends send their whole tables."""
        for kind in (LinkDown, LinkUp):
            self._mail.append((broker, kind(BrokerId(link))))
            self._mail.append((link, kind(BrokerId(broker))))

    def _run(self) -> None:
        while True:
            while self._mail:
                broker, event = self._mail.popleft()
                failures = self._failures
                effects = self._handled(broker, event)
                if failures == self._failures:
                    self._remedies.after_success(broker, event)
                elif self._is_set_aside(broker, event):
                    continue
                self._perform(broker, effects)
            due = [name for name, at in self._wishes.items() if at <= self._now]
            if not due:
                return
            self._mail.extend((name, Woken()) for name in due)

    def _is_set_aside(self, broker: str, event: Event) -> bool:
        """Whether something else is done about a message that failed than what its broker did."""
        match self._remedies.after_failure(broker, event):
            case Remedy.DEAD_LETTER:
                self._happened.append((broker, dead_letter(event)))
            case Remedy.RENEW:
                assert isinstance(event, Received)
                self._renew(broker, event.link)
            case Remedy.REPEAT:
                self._mail.appendleft((broker, event))
            case Remedy.NONE:
                return False
        return True

    def _handled(self, broker: str, event: Event) -> tuple[Effect, ...]:
        """The effects of an event at a broker."""
        failures = self._failures
        effects = self._routers[broker].handle(event, now=self._now)
        if failures != self._failures:
            self._is_torn = True
        at = self._routers[broker].wake_at()
        if at is None:
            self._wishes.pop(broker, None)
        else:
            self._wishes[broker] = at
        return effects

    def _perform(self, broker: str, effects: tuple[Effect, ...]) -> None:
        for effect in effects:
            self._happened.append((broker, effect))
            match effect:
                case Send():
                    self.traffic.count((broker, effect.link), effect.message)
                    self._mail.append((effect.link, Received(BrokerId(broker), effect.message)))
                case Decide():
                    self._answer(broker, effect)
                case Refuse() if isinstance(effect.event, Publish) or effect.link is None:
                    pass
                case Refuse():
                    self._broken = (
                        f"broker {broker!r} cannot take what its neighbour {effect.link!r} says: "
                        f"{effect.reason}; from here on the network is not whole: make another "
                        "with higher limits"
                    )
                    raise UsageError(self._broken)
                case Deliver() | DeadLetter() | Accuse():
                    pass
                case _:
                    assert_never(effect)

    def _answer(self, broker: str, question: Decide) -> None:
        router, is_final = self._routers[broker], False
        while not is_final:
            answer = router.decide(question)
            is_final = answer.final
            self._perform(broker, self._handled(broker, answer))

    # What there is.

    @door("reading tables")
    def tables(self, broker: str) -> TablesView:
        """The tables of a broker."""
        self._check(broker)
        self._mend()
        return self._routers[broker].tables()

    @door("counting")
    def statistics(self, broker: str) -> RouterStatistics:
        """How large the tables of a broker are, and what has happened there."""
        self._check(broker)
        self._mend()
        return self._routers[broker].statistics()

    def _wholly(self, change: Callable[[], None]) -> None:
        """Change something, to the end; else all routers are made anew before anything else."""
        self._mend()
        try:
            change()
        except UsageError:
            raise  # It was refused, and nothing has changed.
        except BaseException:
            self._is_torn = True
            raise

    def _mend(self) -> None:
        """Make all routers anew from the books, if they may be in any state.

        What fails each time fails here, too: then they are as good as they will get.
        """
        if not self._is_torn:
            return
        self._routers = {name: router.anew() for name, router in self._routers.items()}
        self._mail, self._wishes, self._remedies = deque(), {}, Remedies()
        for broker, event in self._subscriptions.values():
            self._hand_in(broker, event)
        for broker, advertised in self._advertisements.values():
            self._hand_in(broker, advertised)
        self._joined = set()
        self._join_by(self.topology)
        self._is_torn = False

    def _enter(self, broker: str, event: Subscribe | Unsubscribe | Advertise | Unadvertise) -> None:
        """Hand a client's event to a broker, and note it; UsageError if it is refused."""
        self._happened = []
        self._hand_in(broker, event)
        self._settle_unless_batch()
        match event:
            case Subscribe():
                self._subscriptions[event.subscription] = broker, event
            case Unsubscribe():
                del self._subscriptions[event.subscription]
            case Advertise():
                self._advertisements[event.id] = broker, event
            case Unadvertise():
                del self._advertisements[event.id]
            case _:
                assert_never(event)

    def _hand_in(self, broker: str, event: Event) -> None:
        effects = self._handled(broker, event)
        for effect in effects:
            if isinstance(effect, Refuse):
                raise UsageError(effect.reason)
        self._perform(broker, effects)

    def _settle_unless_batch(self) -> None:
        if not self._batches:
            self._run()

    def _new_id(self) -> int:
        self._next_id += 1
        return self._next_id - 1

    def _check_usable(self) -> None:
        if self._broken is not None:
            raise UsageError(self._broken)

    def _check(self, broker: str) -> None:
        self._check_usable()
        if broker not in self._routers:
            raise UsageError(
                f"no broker {shown(broker)} in this network; "
                f"there are {', '.join(self.brokers[:9])}"
            )


_BOOKS: Final = ("_subscriptions", "_advertisements", "_warned_of")

_ITS_OWN: Final = frozenset(
    {
        "traffic", "_batches", "_broken", "_failures", "_happened", "_is_torn", "_joined", "_mail",
        "_made_with", "_remedies", "_routers", "_wishes",
    }
)  # fmt: skip
"""What a copy of a network makes for itself."""


def _restored(kind: type[Network], *made_of: Any) -> Network:  # noqa: ANN401  # As _begin has it.
    """A copy of a network, but for its books."""
    made = blank(kind)
    made._begin(*made_of)  # noqa: SLF001  # It is this room's own.
    return made


def _check_text(given: object, what: str) -> None:
    if not isinstance(given, str):
        raise UsageError(f"{what} goes by a text, not {shown(given)}")
