"""Would the oracle notice? Bugs planted on purpose, each caught by name.

Chance plays with a network whose brokers have one bug. Documents alone must give each of them away
(the tables are not looked at), and so must the tables alone, where the bug spoils them. Each test
prints after how many plays the bug was caught, and as what.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from itertools import count
from random import Random
from typing import Any

import pytest

from tests.routing.networks import Fault, random_play, read
from tests.routing.vocabulary import annotating
from twigcast.covering import Advertisement, Bound, covers
from twigcast.language import Pattern
from twigcast.routing.annotations.annotations import Annotations
from twigcast.routing.annotations.bit_sets import members
from twigcast.routing.broker.router import Router
from twigcast.routing.events import (
    Arrive,
    BrokerId,
    Change,
    Decide,
    Decided,
    Deliver,
    Effect,
    Event,
    LinkDown,
    Received,
    Send,
)

pytestmark = pytest.mark.filterwarnings("ignore::twigcast.errors.FloodingWarning")
"""Networks are drawn with publishers who have advertised nothing, and flooding is right there."""

PLAYS_MAX = 120
"""In twelve rows of plays with other seeds, no bug needed more than 34: some strategy, some row of
events and some document have to meet."""

Effects = tuple[Effect, ...]


class Bug:
    """A router that does not do what it should: the honest one with another door.

    A bug falsifies events before the honest router sees them, or effects before the network does.
    """

    def __init__(self, patch: pytest.MonkeyPatch) -> None:
        honest = Router.handle
        self.unsent: dict[tuple[str, str], set[Pattern | Advertisement]] = {}

        def handle(router: Router, event: Event, *, now: float) -> Effects:
            effects = honest(router, self.event(router, event), now=now)
            return self.effects(router, event, effects)

        patch.setattr(Router, "handle", handle)

    def event(self, router: Router, event: Event) -> Event:
        """What the honest router hears."""
        if isinstance(event, Received) and isinstance(event.message, Change):
            return Received(event.link, self.received(router, event.link, event.message))
        return event

    def effects(self, router: Router, _event: Event, effects: Effects) -> Effects:
        """What the network sees."""
        return tuple(
            Send(effect.link, self.sent_on(router, effect.link, effect.message))
            if isinstance(effect, Send) and isinstance(effect.message, Change)
            else effect
            for effect in effects
        )

    def received(self, _router: Router, _link: BrokerId, change: Change) -> Change:
        """What the honest router hears of a change."""
        return change

    def sent_on(self, _router: Router, _link: BrokerId, change: Change) -> Change:
        """What its neighbour hears of a change."""
        return change

    def without(
        self, pair: tuple[str, str], change: Change, dropped: Callable[[Pattern], bool]
    ) -> Change:
        """A change without some of its routes, and later without their withdrawal."""
        if change.number == 1:
            self.unsent[pair] = set()
        unsent = self.unsent.setdefault(pair, set())
        unsent |= {each for each in change.routes if dropped(each)}
        routes = tuple(each for each in change.routes if each not in unsent)
        withdrawn = tuple(each for each in change.withdrawn if each not in unsent)
        unsent -= set(change.withdrawn)
        return replace(change, routes=routes, withdrawn=withdrawn)


class DropsWhatWasCoveredForGood(Bug):
    """What was held back is not forwarded when its cover leaves, as in YAK's deletion."""

    def sent_on(self, router: Router, link: BrokerId, change: Change) -> Change:
        def freed(pattern: Pattern) -> bool:
            return any(covers(wider=wider, narrower=pattern) for wider in change.withdrawn)

        return self.without((router.name, link), change, freed)


class ForgetsAWithdrawal(Bug):
    """A neighbour is not told that a pattern is no longer asked for, nor when it comes again."""

    def sent_on(self, router: Router, link: BrokerId, change: Change) -> Change:
        if change.number == 1:
            self.unsent[router.name, link] = set()
        stale = self.unsent.setdefault((router.name, link), set())
        routes = tuple(each for each in change.routes if each not in stale)
        stale |= set(change.withdrawn)
        return replace(change, routes=routes, withdrawn=())


class ForwardsBackToTheSender(Bug):
    """A document goes back over the link it came by.

    Once, or it would never end; and not to its origin, which would refuse it.
    """

    def __init__(self, patch: pytest.MonkeyPatch) -> None:
        super().__init__(patch)
        self.asked: dict[tuple[str, int], Decide] = {}
        self.sent: set[tuple[str, str]] = set()

    def effects(self, router: Router, event: Event, effects: Effects) -> Effects:
        for effect in effects:
            if isinstance(effect, Decide):
                self.asked[router.name, effect.number] = effect
        if isinstance(event, Decided):
            asked = self.asked[router.name, event.number]
            document = (router.name, asked.publication.id)
            origin = asked.publication.origin
            if asked.came_by not in {None, origin} and document not in self.sent:
                self.sent.add(document)
                return (*effects, Send(BrokerId(str(asked.came_by)), Arrive(asked.publication)))
        return effects


class KeepsTheRoutesOfALostLink(Bug):
    """What came over a link goes on being asked for elsewhere when the link is gone."""

    def event(self, router: Router, event: Event) -> Event:
        if isinstance(event, LinkDown):
            for text in router.tables().routes[event.link]:
                router._forwarding.add(read(text), None)
        return event


class HoldsBackTowardsTheWrongLink(Bug):
    """A neighbour is not told a pattern because one of its own covers it."""

    def sent_on(self, router: Router, link: BrokerId, change: Change) -> Change:
        theirs = [read(text) for text in router.tables().routes[link]]

        def theirs_covers(pattern: Pattern) -> bool:
            return any(covers(wider=wider, narrower=pattern) for wider in theirs)

        return self.without((router.name, link), change, theirs_covers)


class PaysNoHeedToLateAdvertisements(Bug):
    """An advertisement that is not in the first change of a session is not noticed."""

    def received(self, router: Router, link: BrokerId, change: Change) -> Change:
        if change.number == 1:
            self.unsent[router.name, link] = set()
            return change
        late = self.unsent.setdefault((router.name, link), set())
        late |= set(change.advertisements)
        known = tuple(each for each in change.unadvertised if each not in late)
        late -= set(change.unadvertised)
        return replace(change, advertisements=(), unadvertised=known)


class ForgetsToTakeAnAdvertisementBack(Bug):
    """Neighbours go on asking a publisher who has withdrawn, and are not told when it returns."""

    def sent_on(self, router: Router, link: BrokerId, change: Change) -> Change:
        if change.number == 1:
            self.unsent[router.name, link] = set()
        stale = self.unsent.setdefault((router.name, link), set())
        new = tuple(each for each in change.advertisements if each not in stale)
        stale |= set(change.unadvertised)
        return replace(change, advertisements=new, unadvertised=())


class DeliversOnceToASubscriber(Bug):
    """Two subscriptions of one subscriber count as one."""

    def effects(self, _router: Router, _event: Event, effects: Effects) -> Effects:
        first: dict[object, Effect] = {}
        for place, effect in enumerate(effects):
            first.setdefault(effect.subscriber if isinstance(effect, Deliver) else place, effect)
        return tuple(first.values())


class FloodsOneLinkOnly(Bug):
    """A flooded document is routed as any other after its first link."""

    def event(self, _router: Router, event: Event) -> Event:
        if isinstance(event, Received) and isinstance(event.message, Arrive):
            return Received(event.link, replace(event.message, flooded=False))
        return event


# Brokers that lie about documents. What they say looks well, and is not so.


class Liar(Bug):
    """Each document goes out with something untrue about it."""

    def effects(self, router: Router, event: Event, effects: Effects) -> Effects:
        return tuple(
            Send(effect.link, replace(effect.message, annotations=self.lie(told)))
            if isinstance(effect, Send)
            and isinstance(effect.message, Arrive)
            and (told := effect.message.annotations) is not None
            and self.lies(router)
            else effect
            for effect in super().effects(router, event, effects)
        )

    def lies(self, _router: Router) -> bool:
        """Whether this broker is one of the liars."""
        return True

    def lie(self, told: Annotations) -> Annotations:
        """What is said instead of the truth."""
        return told


def flipped(bits: bytes, bit: int) -> bytes:
    """The bits with one of them turned over."""
    number = int.from_bytes(bits, "little") ^ 1 << bit
    return number.to_bytes(len(bits), "little")


class DeniesAMatch(Liar):
    """The first pattern that matches does not."""

    def lie(self, told: Annotations) -> Annotations:
        bits = told.unmatched or b"\0"
        clear = next((bit for bit in range(8) if not bits[0] >> bit & 1), None)
        return told if clear is None else replace(told, unmatched=flipped(bits, clear), matched=())


class ClaimsAMatch(Liar):
    """The first pattern that does not match does."""

    def lie(self, told: Annotations) -> Annotations:
        denied = members(told.unmatched or b"")
        if not denied or told.unmatched is None:
            return told
        return replace(told, unmatched=flipped(told.unmatched, denied[0]))


class BindsWildcardsToOthers(Liar):
    """What a wildcard stood for was another name."""

    def lie(self, told: Annotations) -> Annotations:
        return replace(
            told,
            matched=tuple(
                (place, tuple(Bound(each.wildcard, self.other(each.path)) for each in bounds))
                for place, bounds in told.matched
            ),
        )

    @staticmethod
    def other(path: tuple[str, ...]) -> tuple[str, ...]:
        return tuple({"b": "c", "c": "b"}.get(name, "b") for name in path)


class DeniesARow(Liar):
    """The first row of names does not occur."""

    def lie(self, told: Annotations) -> Annotations:
        bits = told.absent or b"\0"
        last = tuple(one for one in told.last if one[0])
        return told if bits[0] & 1 else replace(told, absent=flipped(bits, 0), last=last)


class EndsRowsTooEarly(Liar):
    """Every row occurred for the last time before the first end tag."""

    def lie(self, told: Annotations) -> Annotations:
        return replace(told, last=tuple((row, 1) for row, _ in told.last))


LIARS: tuple[tuple[type[Liar], str], ...] = (
    (DeniesAMatch, "-s"),
    (ClaimsAMatch, "-s"),
    (BindsWildcardsToOthers, "+s"),
    (DeniesARow, "-d"),
    (EndsRowsTooEarly, "+d"),
)
"""With the kind of annotations that each of them falsifies."""


SEEN_IN_DOCUMENTS: tuple[type[Bug], ...] = (
    DropsWhatWasCoveredForGood,
    ForgetsAWithdrawal,
    ForwardsBackToTheSender,
    KeepsTheRoutesOfALostLink,
    HoldsBackTowardsTheWrongLink,
    PaysNoHeedToLateAdvertisements,
    DeliversOnceToASubscriber,
    FloodsOneLinkOnly,
)
SEEN_IN_TABLES: tuple[type[Bug], ...] = (
    DropsWhatWasCoveredForGood,
    ForgetsAWithdrawal,
    KeepsTheRoutesOfALostLink,
    HoldsBackTowardsTheWrongLink,
    PaysNoHeedToLateAdvertisements,
    ForgetsToTakeAnAdvertisementBack,
)


def caught(*, documents: bool, tables: bool, **chosen: Any) -> tuple[int, str]:  # noqa: ANN401
    """After how many plays the oracle finds a fault, and of which kind."""
    for plays in count(1):
        assert plays <= PLAYS_MAX, "not caught"
        try:
            random_play(Random(plays), documents=documents, tables=tables, **chosen)
        except Fault as fault:
            return plays, fault.kind
    raise AssertionError


Record = Callable[[str, object], None]


@pytest.mark.parametrize("bug", SEEN_IN_DOCUMENTS, ids=lambda bug: bug.__name__)
def test_documents_give_the_bug_away(
    bug: type[Bug], monkeypatch: pytest.MonkeyPatch, record_property: Record
) -> None:
    bug(monkeypatch)
    plays, kind = caught(documents=True, tables=False)
    print(f"{bug.__name__}: caught in play {plays} ({kind})")  # noqa: T201 - shown with -s
    record_property(bug.__name__, f"caught in play {plays} ({kind})")
    assert kind


@pytest.mark.parametrize("bug", SEEN_IN_TABLES, ids=lambda bug: bug.__name__)
def test_tables_give_the_bug_away(
    bug: type[Bug], monkeypatch: pytest.MonkeyPatch, record_property: Record
) -> None:
    bug(monkeypatch)
    plays, kind = caught(documents=False, tables=True)
    print(f"{bug.__name__}: caught in play {plays} ({kind})")  # noqa: T201 - shown with -s
    record_property(bug.__name__, f"caught in play {plays} ({kind})")
    assert kind


@pytest.mark.parametrize(("liar", "kinds"), LIARS, ids=lambda each: getattr(each, "__name__", each))
def test_documents_give_the_liar_away(
    liar: type[Liar], kinds: str, monkeypatch: pytest.MonkeyPatch, record_property: Record
) -> None:
    """Nobody audits here: what is lost, or comes unasked, is seen by the oracle."""
    strategies = annotating("lazy", kinds)
    liar(monkeypatch)
    plays, kind = caught(documents=True, tables=False, strategies=strategies, engine="streaming")
    print(f"{liar.__name__}: caught in play {plays} ({kind})")  # noqa: T201 - shown with -s
    record_property(liar.__name__, f"caught in play {plays} ({kind})")
    assert kind in {"lost", "extra", "needless"}


def test_without_a_bug_the_same_plays_find_nothing() -> None:
    for plays in range(1, 20):
        assert random_play(Random(plays)).calls
