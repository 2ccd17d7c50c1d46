"""The whole schedule of a scenario: the stage, the documents, the changes and the churn.

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
    LinkLost,
    LinkReturns,
    Phase,
    Schedule,
    TimedEvent,
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


@door("generating the schedule of a scenario")
def generate_schedule(scenario: Scenario) -> GeneratedSchedule:
    """The schedule of a scenario; UsageError if it names what is not there."""
    generator = ScheduleGenerator(scenario)
    advertisements, subscriptions = generator.advertisements(), generator.subscriptions()
    then: list[TimedEvent] = list(generator.publications())
    then += _changes(generator)
    _check_names(then)
    then += _churn(generator, subscriptions)
    schedule = Schedule(
        generator.network,
        stage=(advertisements, subscriptions),
        then=tuple(sorted(then, key=lambda timed: timed.at)),
        start=scenario.start,
    )
    return GeneratedSchedule(schedule, _drawn(generator, schedule))


def _check_names(timed_events: Iterable[TimedEvent]) -> None:
    """Whether each document has a name of its own, since by it its way is followed."""
    seen: set[str] = set()
    for timed in timed_events:
        if isinstance(timed, ClientEvent) and isinstance(timed.event, Publish):
            name = timed.event.publication.id
            if name in seen:
                raise UsageError(f"two documents are called {name!r}; give each its own name")
            seen.add(name)


def _drawn(generator: ScheduleGenerator, schedule: Schedule) -> dict[str, object]:
    network, workload = schedule.network, generator.scenario.workload
    drawn: dict[str, object] = {
        "brokers": len(network.brokers),
        "links": len(network.links),
        "links_left_out": len(network.left_out),
        "subscriptions": len(schedule.stage[1]),
        "publishers": {each.name: each.broker for each in generator.publishers},
        "happenings": len(schedule.then),
    }
    if workload.interests is not None and workload.subscriptions_file is None:
        drawn["interests"] = {where: list(kinds) for where, kinds in generator.interests.items()}
    if workload.publishes is not None:
        drawn["publishes"] = {each.name: list(each.kinds) for each in generator.publishers}
    return drawn


# Changes that are written down.


def _changes(generator: ScheduleGenerator) -> list[TimedEvent]:
    """Each change of the scenario, in the order of their times, so that names are known."""
    tables = []
    for number, given in enumerate(generator.scenario.changes, start=1):
        keys = Keys(given, f"{generator.scenario.name}, [[change]] {number}")
        if "at" not in keys:
            raise UsageError(f"{keys.where}: 'at' is missing; it is a number of seconds")
        tables.append((keys.number("at", 0.0), keys))
    return [_change(generator, at, keys) for at, keys in sorted(tables, key=lambda timed: timed[0])]


def _change(generator: ScheduleGenerator, at: float, keys: Keys) -> TimedEvent:
    do = keys.one_of("do", _DOINGS, "")
    timed: TimedEvent
    match do:
        case "subscribe":
            timed = _subscribe(generator, at, keys)
        case "advertise":
            timed = _advertise(generator, at, keys)
        case "publish":
            timed = _publish(generator, at, keys)
        case "unsubscribe":
            broker, subscription = _named(generator.ids.subscriptions, keys, "subscription")
            timed = ClientEvent(at, broker, Unsubscribe(subscription))
        case "unadvertise":
            broker, advertisement = _named(generator.ids.advertisements, keys, "advertisement")
            timed = ClientEvent(at, broker, Unadvertise(advertisement))
        case "link_down":
            timed = LinkLost(at, _between(generator, keys))
        case _:
            timed = LinkReturns(at, _between(generator, keys))
    keys.end()
    return timed


def _subscribe(generator: ScheduleGenerator, at: float, keys: Keys) -> ClientEvent:
    broker = generator.broker(keys.needed("broker"), keys.where)
    namespaces = keys.table("namespaces")
    prefixes = {prefix: namespaces.needed(prefix) for prefix in namespaces}
    try:
        pattern = Pattern.parse(keys.needed("xpath"), prefixes)
    except PatternError as error:
        raise UsageError(f"{keys.where}: {error}") from None
    subscription = generator.ids.subscription(broker)
    name = keys.text("name")
    subscriber = keys.text("subscriber") or name or f"readers at {broker}"
    if name is not None:
        generator.ids.subscriptions[name] = broker, subscription
    return ClientEvent(at, broker, Subscribe(subscription, subscriber, pattern))


def _advertise(generator: ScheduleGenerator, at: float, keys: Keys) -> ClientEvent:
    broker = generator.broker(keys.needed("broker"), keys.where)
    publisher = keys.needed("publisher")
    advertisement = generator.advertisement(keys.needed("dtd"))
    id_, name = generator.ids.advertisement(broker), keys.text("name")
    if name is not None:
        generator.ids.advertisements[name] = broker, id_
    return ClientEvent(at, broker, Advertise(id_, publisher, advertisement))


def _publish(generator: ScheduleGenerator, at: float, keys: Keys) -> ClientEvent:
    broker = generator.broker(keys.needed("broker"), keys.where)
    publisher = keys.text("publisher", "publisher 1") or ""
    content = _content(generator, keys)
    name = keys.text("name") or f"document of {keys.where.rpartition(', ')[2]}"
    return ClientEvent(at, broker, Publish(Publication(name, broker, publisher, content)))


def _content(generator: ScheduleGenerator, keys: Keys) -> bytes:
    """The document of a change; of one that is too large, enough that its broker refuses it."""
    if "file" not in keys:
        try:
            return encoded(keys.needed("document"))
        except DocumentError as error:
            raise UsageError(f"{keys.where}: {error.reason}") from None
    path = generator.scenario.folder / checked_path(keys.needed("file"), "a document")
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


def _between(generator: ScheduleGenerator, keys: Keys) -> tuple[BrokerId, BrokerId]:
    match keys.texts("between"):
        case (one, other):
            ends = generator.broker(one, keys.where), generator.broker(other, keys.where)
        case _:
            raise UsageError(f"{keys.where}: between names the two brokers of a link")
    if generator.network.link(*ends) is None:
        raise UsageError(f"{keys.where}: no link of the tree is between {one!r} and {other!r}")
    return ends


# Changes at random.


def _churn(generator: ScheduleGenerator, there: Phase) -> list[TimedEvent]:
    churn = generator.scenario.churn
    timed_events: list[TimedEvent] = []
    in_force = [
        (timed.broker, timed.event.subscription)
        for timed in there
        if isinstance(timed, ClientEvent) and isinstance(timed.event, Subscribe)
    ]
    coming = _coming(generator)
    times = [
        (at, True) for at in _moments(generator.rng_for("coming"), churn.subscribe, churn.seconds)
    ]
    times += [
        (at, False) for at in _moments(generator.rng_for("going"), churn.unsubscribe, churn.seconds)
    ]
    rng = generator.rng_for("who goes")
    for at, comes in sorted(times):
        if comes:
            handed = ClientEvent(at, *next(coming))
            in_force.append((handed.broker, _id_of(handed)))
            timed_events.append(handed)
        elif in_force:
            place = rng.randrange(len(in_force))
            in_force[place], in_force[-1] = in_force[-1], in_force[place]
            broker, subscription = in_force.pop()
            timed_events.append(ClientEvent(at, broker, Unsubscribe(subscription)))
    return timed_events + list(_losses(generator))


def _coming(generator: ScheduleGenerator) -> Iterator[tuple[BrokerId, Subscribe]]:
    """Subscriptions of random readers, without end."""
    rng, number = generator.rng_for("who comes"), 0
    while True:
        number += 1
        reader, broker = rng.choice(generator.readers)
        (pattern,) = generator.drawn_patterns(f"{reader}, later {number}", broker, 1)
        yield broker, Subscribe(generator.ids.subscription(broker), reader, pattern)


def _id_of(handed: ClientEvent) -> SubscriptionId:
    assert isinstance(handed.event, Subscribe)
    return handed.event.subscription


def _losses(generator: ScheduleGenerator) -> Iterator[TimedEvent]:
    """Links that are lost and return; one that is down already is not lost again."""
    churn, links = generator.scenario.churn, generator.network.links
    rng, back_at = generator.rng_for("links"), dict.fromkeys(range(len(links)), 0.0)
    for at in _moments(generator.rng_for("losses"), churn.link_loss, churn.seconds):
        up = [place for place, back in back_at.items() if back < at]
        if up:
            place = rng.choice(up)
            one, other = map(BrokerId, links[place].between)
            back_at[place] = at + churn.down_seconds
            yield LinkLost(at, (one, other))
            yield LinkReturns(back_at[place], (one, other))


def _moments(rng: Random, rate: float, seconds: float) -> Iterator[float]:
    """Random moments, so many a second on average, as long as it lasts."""
    at = rng.expovariate(rate) if rate else seconds
    while at < seconds:
        yield at
        at += rng.expovariate(rate)
