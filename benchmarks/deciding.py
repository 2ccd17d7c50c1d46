"""The kind ``deciding``: what a router adds to the matcher inside it.

Expression number n is a route to link n modulo 10, put into a router as a neighbour would put it: a
whole table for each link. Three questions are asked about the same documents, in the same process
and in turns: the bare matcher's (which expressions match?), the narrower one that a router is after
(``match_links``: which links have a match?), and the router's own::

    Publish ──▶ router.handle ──▶ Decide ──▶ router.decide ──▶ Decided ──▶ router.handle ──▶ Send, …

The links it sends to must be those that the bare matcher's answers belong to, document by document.
``, with subscriptions`` adds 10,000 of the broker's own clients, other patterns of the same shape,
to both router and bare matcher; what it delivers must be what they match. ``one by one`` asks every
expression in turn, by lxml, for a sample.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from statistics import median

from benchmarks.definition import SETS, Definition
from benchmarks.engines import ENGINES, Documents, listed, matcher_of
from benchmarks.measure import Measurement, digest, peak_bytes, timed
from benchmarks.workloads import Workload, drawn, load
from twigcast.language import Pattern
from twigcast.routing import Router
from twigcast.routing.events import (
    BrokerId,
    Change,
    Deliver,
    Effect,
    LinkUp,
    Publication,
    Publish,
    Received,
    Send,
    Subscribe,
    SubscriptionId,
    Woken,
)

LINKS = 10
PASSES = 5
SUBSCRIPTIONS = 10_000
SEED = 2
"""Of the clients' own patterns, so that they are not those of the routes."""

WITH_SUBSCRIPTIONS = ", with subscriptions"
NAIVE = "one by one"
HERE = BrokerId("here")


def measured(definition: Definition, engine: str) -> Measurement:
    """Measure one engine."""
    workload = load(definition)
    if engine == NAIVE:
        return decided_one_by_one(workload, definition.documents_for(engine))
    asked = _clients_patterns(definition) if engine.endswith(WITH_SUBSCRIPTIONS) else ()
    return decided(workload, asked, engine, sample=definition.sample)


def _clients_patterns(definition: Definition) -> tuple[str, ...]:
    """Patterns of the same shape, drawn by our own generator."""
    source, _, name = definition.workload.partition("/")
    if source == "nitf":
        source, name = "drawn", next(shape for shape, named in SETS.items() if named == name)
    return drawn(source, name, seed=SEED, count=SUBSCRIPTIONS)


def decided(workload: Workload, clients: Sequence[str], engine: str, *, sample: int) -> Measurement:
    """The same on a workload that is there already."""
    matching = engine.removesuffix(WITH_SUBSCRIPTIONS)
    routes, documents = len(workload.expressions), workload.documents
    matcher = matcher_of(matching, [*workload.expressions, *clients])
    groups = matcher.groups({link: range(link, routes, LINKS) for link in range(LINKS)})
    router, load_s = timed(
        lambda: loaded_router(workload.expressions, clients, matching), time.process_time
    )
    answers = [_links_and_clients(_decide(router, document)) for document in documents]
    wanted = [_wanted(matcher.match(document), routes) for document in documents]
    calls: dict[str, Callable[[bytes], object]] = {
        "match_us": matcher.match,
        "links_us": lambda document: matcher.match_links(document, groups),
        "decide_us": lambda document: _decide(router, document),
    }
    passes = [{name: _timed(ask, documents) for name, ask in calls.items()} for _ in range(PASSES)]
    links = [found for found, _ in answers]
    return Measurement(
        engine=engine,
        counts={
            "links": sum(map(len, links)),
            "differences": sum(one != other for one, other in zip(answers, wanted, strict=True)),
            "links, sample": sum(map(len, links[:sample])),
            **({"deliveries": sum(len(ids) for _, ids in answers)} if clients else {}),
        },
        digests={"links": digest(links), "links, sample": digest(links[:sample])},
        figures={
            **{name: median(one[name] for one in passes) for name in calls},
            "of_match": median(one["match_us"] / one["decide_us"] for one in passes),
            "of_links": median(one["links_us"] / one["decide_us"] for one in passes),
            "load_s": load_s,
            "peak_mib": peak_bytes() / 2**20,
        },
    )


def decided_one_by_one(workload: Workload, sample: int) -> Measurement:
    """The naive way: every route is evaluated."""
    documents = workload.documents[:sample]
    match = ENGINES[NAIVE](workload.expressions)
    found, took = timed(lambda: listed(match(Documents(documents))), time.process_time)
    links = [sorted({one % LINKS for one in ids}) for ids in found]
    return Measurement(
        engine=NAIVE,
        counts={"links, sample": sum(map(len, links))},
        digests={"links, sample": digest(links)},
        figures={"decide_us": 1e6 * took / len(documents)},
    )


def loaded_router(routes: Sequence[str], clients: Sequence[str], engine: str) -> Router:
    """A router with all that as routes and subscriptions."""
    router = Router(HERE, "best", engine=engine)
    patterns = [Pattern.parse(text) for text in routes]
    for number in range(LINKS):
        link = BrokerId(str(number))
        table = tuple(dict.fromkeys(patterns[number::LINKS]))
        router.handle(LinkUp(link), now=0.0)
        router.handle(Received(link, Change(1, 1, table)), now=0.0)
    for number, text in enumerate(clients):
        subscribe = Subscribe(SubscriptionId(number), "somebody", Pattern.parse(text))
        router.handle(subscribe, now=0.0)
    router.handle(Woken(), now=0.0)
    return router


def _decide(router: Router, document: bytes) -> tuple[Effect, ...]:
    publication = Publication("one", HERE, "", document)
    (decide,) = router.handle(Publish(publication), now=1.0)
    return router.handle(router.decide(decide), now=1.0)  # type: ignore[arg-type]


def _links_and_clients(effects: tuple[Effect, ...]) -> tuple[list[int], list[int]]:
    links = sorted(int(effect.link) for effect in effects if isinstance(effect, Send))
    return links, sorted(e.subscription for e in effects if isinstance(e, Deliver))


def _wanted(ids: Sequence[int], routes: int) -> tuple[list[int], list[int]]:
    """The links and clients that the numbers of a bare matcher stand for."""
    links = sorted({one % LINKS for one in ids if one < routes})
    return links, [one - routes for one in ids if one >= routes]


def _timed(ask: Callable[[bytes], object], documents: Sequence[bytes]) -> float:
    """Microseconds per document."""
    _, took = timed(lambda: [ask(document) for document in documents], time.process_time)
    return 1e6 * took / len(documents)
