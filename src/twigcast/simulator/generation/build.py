"""The whole schedule of a scenario: the stage, the documents, the changes, and what comes and goes.

Changes are tables of the scenario, each with its time and what it does::

    [[change]]                    do = "subscribe"      broker, xpath, and optionally name,
    at = 2.5                                            subscriber, namespaces
    do = "link_down"              do = "unsubscribe"    name
    between = ["north", "south"]  do = "advertise"      broker, publisher, dtd, optionally name
                                  do = "unadvertise"    name
                                  do = "publish"        broker, document or file, publisher, name
                                  do = "link_down"      between
                                  do = "link_up"        between

What was given a ``name`` (in a subscriptions file: its id) can be taken back by that name. Churn is
the same at random: subscriptions, departures and lost links so many times a second, with gaps as
chance alone makes them (a Poisson process).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from random import Random
from typing import Final, TypeVar

from twigcast.door import door
from twigcast.errors import DocumentError, PatternError, UsageError
from twigcast.files.opening import checked_path, read_regular
from twigcast.language import LIBRARY_LIMITS, Pattern
from twigcast.language.document.content import encoded
from twigcast.routing.events import (
    Advertise,
    BrokerId,
    Publication,
    Publish,
    Subscribe,
    SubscriptionId,
    Unadvertise,
    Unsubscribe,
)
from twigcast.simulator.generation.generator import ScheduleGenerator
from twigcast.simulator.scenario.model import Scenario
from twigcast.simulator.scenario.table_reader import Keys
from twigcast.simulator.schedule import (
    ClientEvent,
    Happening,
    LinkLost,
    LinkReturns,
    Phase,
    Schedule,
)

_Id = TypeVar("_Id")

_DOINGS: Final = (
    "subscribe",
    "unsubscribe",
    "advertise",
    "unadvertise",
    "publish",
    "link_down",
    "link_up",
)


@dataclass(frozen=True, slots=True)
class GeneratedSchedule:
    """A schedule, and what of it was drawn from the seed, for people to read."""

    schedule: Schedule
    drawn: Mapping[str, object]


@door("telling a scenario")
def generate_schedule(scenario: Scenario) -> GeneratedSchedule:
    """The schedule of a scenario; UsageError if it names what is not there."""
    workshop = ScheduleGenerator(scenario)
    advertisements, subscriptions = workshop.advertisements(), workshop.subscriptions()
    then: list[Happening] = list(workshop.publications())
    then += _changes(workshop)
    _check_names(then)
    then += _churn(workshop, subscriptions)
    schedule = Schedule(
        workshop.network,
        stage=(advertisements, subscriptions),
        then=tuple(sorted(then, key=lambda happening: happening.at)),
        start=scenario.start,
    )
    return GeneratedSchedule(schedule, _drawn(workshop, schedule))


def _check_names(happenings: Iterable[Happening]) -> None:
    """Whether each document has a name of its own, since by it its way is followed."""
    seen: set[str] = set()
    for happening in happenings:
        if isinstance(happening, ClientEvent) and isinstance(happening.event, Publish):
            name = happening.event.publication.id
            if name in seen:
                raise UsageError(f"two documents are called {name!r}; give each its own name")
            seen.add(name)


def _drawn(workshop: ScheduleGenerator, schedule: Schedule) -> dict[str, object]:
    network, workload = schedule.network, workshop.scenario.workload
    drawn: dict[str, object] = {
        "brokers": len(network.brokers),
        "links": len(network.links),
        "links_left_out": len(network.left_out),
        "subscriptions": len(schedule.stage[1]),
        "publishers": {each.name: each.broker for each in workshop.publishers},
        "happenings": len(schedule.then),
    }
    if workload.interests is not None and workload.subscriptions_file is None:
        drawn["interests"] = {where: list(kinds) for where, kinds in workshop.interests.items()}
    if workload.publishes is not None:
        drawn["publishes"] = {each.name: list(each.kinds) for each in workshop.publishers}
    return drawn


# Changes that are written down.


def _changes(workshop: ScheduleGenerator) -> list[Happening]:
    """Each change of the scenario, in the order of their times, so that names are known."""
    tables = []
    for number, given in enumerate(workshop.scenario.changes, start=1):
        keys = Keys(given, f"{workshop.scenario.name}, [[change]] {number}")
        if "at" not in keys:
            raise UsageError(f"{keys.where}: 'at' is missing; it is a number of seconds")
        tables.append((keys.number("at", 0.0), keys))
    return [_change(workshop, at, keys) for at, keys in sorted(tables, key=lambda timed: timed[0])]


def _change(workshop: ScheduleGenerator, at: float, keys: Keys) -> Happening:
    do = keys.one_of("do", _DOINGS, "")
    happening: Happening
    match do:
        case "subscribe":
            happening = _subscribe(workshop, at, keys)
        case "advertise":
            happening = _advertise(workshop, at, keys)
        case "publish":
            happening = _publish(workshop, at, keys)
        case "unsubscribe":
            broker, subscription = _named(workshop.names.subscriptions, keys, "subscription")
            happening = ClientEvent(at, broker, Unsubscribe(subscription))
        case "unadvertise":
            broker, promise = _named(workshop.names.advertisements, keys, "advertisement")
            happening = ClientEvent(at, broker, Unadvertise(promise))
        case "link_down":
            happening = LinkLost(at, _between(workshop, keys))
        case _:
            happening = LinkReturns(at, _between(workshop, keys))
    keys.end()
    return happening


def _subscribe(workshop: ScheduleGenerator, at: float, keys: Keys) -> ClientEvent:
    broker = workshop.broker(keys.needed("broker"), keys.where)
    namespaces = keys.table("namespaces")
    prefixes = {prefix: namespaces.needed(prefix) for prefix in namespaces}
    try:
        pattern = Pattern.parse(keys.needed("xpath"), prefixes)
    except PatternError as error:
        raise UsageError(f"{keys.where}: {error}") from None
    subscription = workshop.names.subscription(broker)
    name = keys.text("name")
    subscriber = keys.text("subscriber") or name or f"readers at {broker}"
    if name is not None:
        workshop.names.subscriptions[name] = broker, subscription
    return ClientEvent(at, broker, Subscribe(subscription, subscriber, pattern))


def _advertise(workshop: ScheduleGenerator, at: float, keys: Keys) -> ClientEvent:
    broker = workshop.broker(keys.needed("broker"), keys.where)
    publisher = keys.needed("publisher")
    advertisement = workshop.advertisement(keys.needed("dtd"))
    promise, name = workshop.names.advertisement(broker), keys.text("name")
    if name is not None:
        workshop.names.advertisements[name] = broker, promise
    return ClientEvent(at, broker, Advertise(promise, publisher, advertisement))


def _publish(workshop: ScheduleGenerator, at: float, keys: Keys) -> ClientEvent:
    broker = workshop.broker(keys.needed("broker"), keys.where)
    publisher = keys.text("publisher", "publisher 1") or ""
    content = _content(workshop, keys)
    name = keys.text("name") or f"document of {keys.where.rpartition(', ')[2]}"
    return ClientEvent(at, broker, Publish(Publication(name, broker, publisher, content)))


def _content(workshop: ScheduleGenerator, keys: Keys) -> bytes:
    """The document of a change; of one that is too large, enough that its broker refuses it."""
    if "file" not in keys:
        try:
            return encoded(keys.needed("document"))
        except DocumentError as error:
            raise UsageError(f"{keys.where}: {error.reason}") from None
    path = workshop.scenario.folder / checked_path(keys.needed("file"), "a document")
    try:
        return read_regular(path, LIBRARY_LIMITS.bytes_max)
    except OSError as error:
        raise UsageError(f"{keys.where}: cannot read {path}: {error.strerror or error}") from error


def _named(
    names: Mapping[str, tuple[BrokerId, _Id]], keys: Keys, what: str
) -> tuple[BrokerId, _Id]:
    name = keys.needed("name")
    if name not in names:
        raise UsageError(f"{keys.where}: no {what} was given the name {name!r} before")
    return names[name]


def _between(workshop: ScheduleGenerator, keys: Keys) -> tuple[BrokerId, BrokerId]:
    match keys.texts("between"):
        case (one, other):
            ends = workshop.broker(one, keys.where), workshop.broker(other, keys.where)
        case _:
            raise UsageError(f"{keys.where}: between names the two brokers of a link")
    if workshop.network.link(*ends) is None:
        raise UsageError(f"{keys.where}: no link of the tree is between {one!r} and {other!r}")
    return ends


# Changes at random.


def _churn(workshop: ScheduleGenerator, there: Phase) -> list[Happening]:
    churn = workshop.scenario.churn
    happenings: list[Happening] = []
    in_force = [
        (happening.broker, happening.event.subscription)
        for happening in there
        if isinstance(happening, ClientEvent) and isinstance(happening.event, Subscribe)
    ]
    coming = _coming(workshop)
    times = [(at, True) for at in _moments(workshop.die("coming"), churn.subscribe, churn.seconds)]
    times += [
        (at, False) for at in _moments(workshop.die("going"), churn.unsubscribe, churn.seconds)
    ]
    die = workshop.die("who goes")
    for at, comes in sorted(times):
        if comes:
            handed = ClientEvent(at, *next(coming))
            in_force.append((handed.broker, _id_of(handed)))
            happenings.append(handed)
        elif in_force:
            place = die.randrange(len(in_force))
            in_force[place], in_force[-1] = in_force[-1], in_force[place]
            broker, subscription = in_force.pop()
            happenings.append(ClientEvent(at, broker, Unsubscribe(subscription)))
    return happenings + list(_losses(workshop))


def _coming(workshop: ScheduleGenerator) -> Iterator[tuple[BrokerId, Subscribe]]:
    """Subscriptions of random readers, without end."""
    die, number = workshop.die("who comes"), 0
    while True:
        number += 1
        reader, broker = die.choice(workshop.readers)
        (pattern,) = workshop.drawn_patterns(f"{reader}, later {number}", broker, 1)
        yield broker, Subscribe(workshop.names.subscription(broker), reader, pattern)


def _id_of(handed: ClientEvent) -> SubscriptionId:
    assert isinstance(handed.event, Subscribe)
    return handed.event.subscription


def _losses(workshop: ScheduleGenerator) -> Iterator[Happening]:
    """Links that are lost and return; one that is down already is not lost again."""
    churn, links = workshop.scenario.churn, workshop.network.links
    die, back_at = workshop.die("links"), dict.fromkeys(range(len(links)), 0.0)
    for at in _moments(workshop.die("losses"), churn.link_loss, churn.seconds):
        up = [place for place, back in back_at.items() if back < at]
        if up:
            place = die.choice(up)
            one, other = map(BrokerId, links[place].between)
            back_at[place] = at + churn.down_seconds
            yield LinkLost(at, (one, other))
            yield LinkReturns(back_at[place], (one, other))


def _moments(die: Random, rate: float, seconds: float) -> Iterator[float]:
    """Random moments, so many a second on average, as long as it lasts."""
    at = die.expovariate(rate) if rate else seconds
    while at < seconds:
        yield at
        at += die.expovariate(rate)
