"""Everything a broker can suffer, and everything it can want.

A router is one function: an event goes in, effects come out
(:class:`~twigcast.routing.broker.router.Router`). Both are frozen values, so a broker's whole life
can be written down, replayed and compared. What crosses a link is a *message*; sending it is an
effect at one end, receiving it an event at the other, and the message is the same value at both::

    broker north                                       broker south
    Subscribe(7, "ann", //trade)                  ...
    → Send("south", Change(routes=(//trade,)))   =>    Received("north", Change(routes=(//trade,)))

Links go by the name of the broker at their far end. ``None`` in the place of a link is this broker
itself: its own clients.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NewType, TypeAlias

from twigcast.covering import Advertisement
from twigcast.language import Pattern
from twigcast.routing.annotations.annotations import Annotations
from twigcast.routing.annotations.hints import Hints

__all__ = [
    "Accuse",
    "Advertise",
    "AdvertisementId",
    "Arrive",
    "BrokerId",
    "Change",
    "DeadLetter",
    "Decide",
    "Decided",
    "Deliver",
    "Effect",
    "Event",
    "Garbled",
    "LinkDown",
    "LinkId",
    "LinkUp",
    "Message",
    "Publication",
    "Publish",
    "Received",
    "Refuse",
    "Send",
    "Subscribe",
    "SubscriptionId",
    "Unadvertise",
    "Unsubscribe",
    "Woken",
]

BrokerId = NewType("BrokerId", str)
"""The name of a broker."""
LinkId: TypeAlias = BrokerId
"""One side of a connection, as its broker names it: by the broker at the far end."""
SubscriptionId = NewType("SubscriptionId", int)
"""Of a subscription, within its broker."""
AdvertisementId = NewType("AdvertisementId", int)
"""Of an advertisement, within its broker."""


@dataclass(frozen=True, slots=True)
class Publication:
    """A document on its way: what it is called, where and by whom it was handed in."""

    id: str
    origin: BrokerId
    publisher: str
    content: bytes


# What crosses a link.


@dataclass(frozen=True, slots=True)
class Change:
    """A change of what a broker sends to the far broker: all of it at once, or nothing.

    Whatever is added is added before anything is withdrawn, so that no document is missed in
    between. Numbers rise by one within a session; the first change of a session is the whole
    table, and replaces whatever the session before had left.
    """

    session: int
    number: int
    routes: tuple[Pattern, ...] = ()
    withdrawn: tuple[Pattern, ...] = ()
    advertisements: tuple[Advertisement, ...] = ()
    unadvertised: tuple[Advertisement, ...] = ()
    hints: Hints | None = None
    """What the sender would like to know with documents, as of this change on."""


@dataclass(frozen=True, slots=True)
class Arrive:
    """A publication comes over a link.

    One that is ``flooded`` goes everywhere, whatever the routes. Where traffic is counted in
    paths, ``paths`` are the numbers of the paths that travel, and the content holds only these.
    """

    publication: Publication
    flooded: bool = False
    paths: tuple[int, ...] | None = None
    annotations: Annotations | None = None
    """What the sender has found out about the document (Piggyback, section 3)."""


Message: TypeAlias = Change | Arrive


# Events.


@dataclass(frozen=True, slots=True)
class LinkUp:
    """A link can be used; a session begins."""

    link: LinkId


@dataclass(frozen=True, slots=True)
class LinkDown:
    """A link is lost, and with it all patterns and advertisements received over it."""

    link: LinkId


@dataclass(frozen=True, slots=True)
class Subscribe:
    """A client of this broker subscribes."""

    subscription: SubscriptionId
    subscriber: str
    pattern: Pattern


@dataclass(frozen=True, slots=True)
class Unsubscribe:
    """A client of this broker unsubscribes."""

    subscription: SubscriptionId


@dataclass(frozen=True, slots=True)
class Advertise:
    """A publisher at this broker advertises, and is held to it."""

    id: AdvertisementId
    publisher: str
    advertisement: Advertisement


@dataclass(frozen=True, slots=True)
class Unadvertise:
    """A publisher withdraws an advertisement, and sends nothing of it any more."""

    id: AdvertisementId


@dataclass(frozen=True, slots=True)
class Publish:
    """A publisher at this broker hands in a document."""

    publication: Publication


@dataclass(frozen=True, slots=True)
class Received:
    """A message came over a link."""

    link: LinkId
    message: Message


@dataclass(frozen=True, slots=True)
class Garbled:
    """What came over a link is no message here: damaged, too large, or of a later version."""

    link: LinkId
    reason: str


@dataclass(frozen=True, slots=True)
class Decided:
    """The answer to a :class:`Decide`, or a part of it: where the document has to go.

    There may be several answers to one: each has what those before had not, and the last is
    ``final``. ``position`` is how many elements had begun when it was certain, 0 where nobody
    counted. ``paths`` has, for each of the links, the paths to be sent over it where traffic is
    counted in paths.
    """

    number: int
    links: tuple[LinkId, ...] = ()
    subscriptions: tuple[SubscriptionId, ...] = ()
    undecided: tuple[SubscriptionId, ...] = ()
    """Local subscriptions that were too costly to decide."""
    error: str | None = None
    """Why the document cannot be read."""
    position: int = 0
    final: bool = True
    flooded: bool = False
    """Whether it departs from what its publisher has advertised, and so goes everywhere."""
    paths: tuple[tuple[int, ...], ...] = ()
    annotations: tuple[Annotations | None, ...] = ()
    """What to send along over each of the links."""
    checks: int = 0
    """Elements looked at for patterns since the answer before, where somebody counts: the sum, over
    all patterns, of the elements that each was compared with."""
    skipped: int = 0
    """Patterns that needed no comparing, thanks to annotations that came with the document."""
    is_unread: bool = False
    """Whether the document was not touched for this answer: annotations were enough."""
    ignored: str | None = None
    """Why annotations that came with the document could not be used."""
    lie: str | None = None
    """What was untrue in them, if somebody looked."""


@dataclass(frozen=True, slots=True)
class Woken:
    """The time has come that :meth:`Router.wake_at` named."""


Event: TypeAlias = (
    LinkUp
    | LinkDown
    | Subscribe
    | Unsubscribe
    | Advertise
    | Unadvertise
    | Publish
    | Received
    | Garbled
    | Decided
    | Woken
)


# Effects.


@dataclass(frozen=True, slots=True)
class Send:
    """Pass a message over a link."""

    link: LinkId
    message: Message


@dataclass(frozen=True, slots=True)
class Deliver:
    """Hand a publication to a subscriber at this broker."""

    subscriber: str
    subscription: SubscriptionId
    publication: Publication


@dataclass(frozen=True, slots=True)
class Decide:
    """Find out where a document has to go, by the tables as they are now, and answer.

    ``came_by`` is the link it came over, which it does not go back over. ``version`` says which
    tables are meant; they are kept until the final answer. Whether the links are asked for at all
    (a flooded document goes to each of them) ``flooded`` tells.
    """

    number: int
    publication: Publication
    came_by: LinkId | None
    version: int
    flooded: bool = False
    paths: tuple[int, ...] | None = None
    annotations: Annotations | None = None


@dataclass(frozen=True, slots=True)
class Refuse:
    """An event was refused and has changed nothing; whoever caused it should learn why.

    ``link`` is where it came from, None for a client of this broker.
    """

    event: Event
    reason: str
    link: LinkId | None = None


@dataclass(frozen=True, slots=True)
class DeadLetter:
    """A document could not be decided for one subscription, or not be read at all."""

    publication: Publication
    subscription: SubscriptionId | None
    reason: str


@dataclass(frozen=True, slots=True)
class Accuse:
    """The broker behind a link has sent something untrue about a document."""

    link: LinkId
    publication: str
    """The id of the publication."""
    reason: str


Effect: TypeAlias = Send | Deliver | Decide | Refuse | DeadLetter | Accuse
