"""A news feed and the people who read it, both invented, both drawn from one seed.

The documents are valid by the DTD ``news``; each comes from a desk and has its words and its kinds
of blocks. Readers take a newspaper or a station of their town, and ask for what the people of their
region read (:mod:`~twigcast.cli.demo.regions`). Most subscriptions are *interests* as a person
would write them (``//fixture[score]/venue[contains(., 'derby')]``), some are drawn from the DTD
like those of the papers. Expressions that many documents satisfy are left out, and so are those of
which nothing but values tells one document from another. Some subscribers have asked for much and
many for little, as everywhere.
"""

from __future__ import annotations

import csv
import io
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from itertools import accumulate, islice
from pathlib import Path
from random import Random
from typing import Final, NamedTuple

from twigcast.cli.demo.regions import DESKS, REGIONS, country
from twigcast.cli.output_files import write_zip
from twigcast.files.topologies import write_topology
from twigcast.files.writing.new_files import new_file
from twigcast.language import Pattern, Schema
from twigcast.matching import Matcher
from twigcast.routing.forwarding.structure_prefix import structure_prefixes
from twigcast.workload import PatternShape, Vocabulary, generate_documents, generate_patterns

_OUTLETS: Final = "Chronicle Courier Gazette Herald Observer Post Radio Review Times Tribune"

_INTERESTS: Final = tuple(
    f"//{{block}}//{name}[contains(., '{{word}}')]"
    for name in ("person", "place", "organisation", "product", "term", "link", "paragraph")
)
"""Expressions for any desk, beside those of its own readers."""

_INTEREST_SHAPE: Final = PatternShape(
    depth_max=8,
    wildcard=0.1,
    descendant=0.15,
    nested=0.15,
    predicates=1.0,
    predicate_kinds=("equal", "contains", "order"),
)

_NARROWINGS: Final = (
    "",
    "",
    "[@status = 'usable']",
    "[not(envelope/embargo)]",
    "[ending]",
)
"""Many interests are a part of others, which is what covering lives on."""

_BLOCKS: Final = "paragraph | subhead | picture"
"""What all desks fill pages with."""

_DESK_SHARES: Final = (0.75, 0.95)
"""Three of four subscriptions are for the first desk of a region, one of twenty is for any."""
_DRAWN: Final = 0.2
"""The share of subscriptions that are drawn from the DTD."""
_TOWN_WORDS: Final = 6
"""Words of a desk that are topics in a town."""

_CANDIDATES: Final = 2
"""Subscriptions that are drawn for each that is wanted."""
_SAMPLE: Final = 120
_HITS_MAX: Final = 8
"""A subscription may be satisfied by so many documents of a sample: one in fifteen."""
_STRUCTURE_HITS_MAX: Final = 30
"""And by so many if its values are not looked at: one in four."""


@dataclass(frozen=True, slots=True)
class DemoFeed:
    """Where documents, subscriptions and topology lie, and how many there are."""

    documents: Path
    subscriptions: Path
    topology: Path
    document_count: int
    subscription_count: int
    subscribers: tuple[str, ...]


class _DrawnSubscription(NamedTuple):
    """A subscription on its way into the file."""

    subscriber: str
    broker: str
    xpath: str


def write_feed(folder: Path, *, documents: int, subscriptions: int, seed: int) -> DemoFeed:
    """Write ``feed.zip``, ``subscriptions.csv`` and ``topology.toml`` into a folder."""
    archive, table = folder / "feed.zip", folder / "subscriptions.csv"
    topology = folder / "topology.toml"
    digits = len(str(documents))
    drawn = enumerate(_documents(documents, Random(f"documents {seed}")), start=1)
    write_zip(archive, ((f"news-{number:0{digits}}.xml", content) for number, content in drawn))
    drawn_subscriptions = _subscriptions(subscriptions, Random(f"subscriptions {seed}"))
    digits = len(str(subscriptions))
    with new_file(table) as binary, io.TextIOWrapper(binary, "utf-8", newline="\n") as file:
        lines = csv.writer(file, lineterminator="\n")
        lines.writerow(("id", *_DrawnSubscription._fields))
        lines.writerows(
            (f"s{n:0{digits}}", *one) for n, one in enumerate(drawn_subscriptions, start=1)
        )
    write_topology(country(), topology)
    subscribers = tuple(sorted({one.subscriber for one in drawn_subscriptions}))
    return DemoFeed(archive, table, topology, documents, len(drawn_subscriptions), subscribers)


def _documents(count: int, rng: Random) -> Iterator[bytes]:
    """Documents of all desks, in no order."""
    drawn = {
        name: generate_documents(
            _schema(name), rng=rng, count=count, elements=120, vocabulary=_vocabulary(name)
        )
        for name in DESKS
    }
    for _ in range(count):
        yield next(drawn[_one_of(tuple(DESKS), rng)])


def _subscriptions(count: int, rng: Random) -> list[_DrawnSubscription]:
    candidates = list(islice(_draw_subscriptions(rng), _CANDIDATES * count))
    patterns = [Pattern.parse(one.xpath) for one in candidates]
    return [candidates[place] for place in _choosy(patterns)][:count]


def _draw_subscriptions(rng: Random) -> Iterator[_DrawnSubscription]:
    """Subscriptions without an end."""
    homes = {
        f"{town} {outlet}": (town, region)
        for region in REGIONS.values()
        for town in region.towns
        for outlet in _OUTLETS.split()
    }
    names = list(homes)
    rng.shuffle(names)
    weights = list(accumulate(rank**-0.5 for rank in range(1, len(names) + 1)))
    topics = {
        (town, desk): rng.sample(DESKS[desk].words.split(), _TOWN_WORDS)
        for town in dict.fromkeys(town for town, _ in homes.values())
        for desk in DESKS
    }
    drawn = {desk: _drawn(desk, rng) for desk in DESKS}
    while True:
        name = rng.choices(names, cum_weights=weights)[0]
        town, region = homes[name]
        luck = rng.random()
        liked = (*region.desks, _one_of(tuple(DESKS), rng))
        desk = liked[sum(luck > share for share in _DESK_SHARES)]
        is_drawn = rng.random() < _DRAWN
        xpath = next(drawn[desk]) if is_drawn else _interest(desk, topics[town, desk], rng)
        yield _DrawnSubscription(name, town, xpath)


def _drawn(desk: str, rng: Random) -> Iterator[str]:
    """Expressions from the DTD, without an end."""
    while True:
        yield from generate_patterns(
            _schema(desk),
            rng=rng,
            count=64,
            shape=_INTEREST_SHAPE,
            vocabulary=_vocabulary(desk),
        )


def _interest(desk: str, words: Sequence[str], rng: Random) -> str:
    template = _one_of((*_INTERESTS, *DESKS[desk].interests * 2), rng)
    narrowing = _one_of(_NARROWINGS, rng)
    if narrowing:
        template = f"/news{narrowing}{template}"
    return template.format(
        word=_one_of(words, rng), block=_one_of(DESKS[desk].blocks, rng), number=rng.randint(10, 18)
    )


def _choosy(patterns: Sequence[Pattern]) -> list[int]:
    """The places of those that few documents satisfy; who wants everything needs no filter."""
    hits = _hits(patterns)
    structures = {place: structure_prefixes(pattern) for place, pattern in enumerate(patterns)}
    distinct = list(dict.fromkeys(one for several in structures.values() for one in several))
    wide = dict(zip(distinct, _hits(distinct), strict=True))
    return [
        place
        for place, several in structures.items()
        if hits[place] <= _HITS_MAX and all(wide[one] <= _STRUCTURE_HITS_MAX for one in several)
    ]


def _hits(patterns: Sequence[Pattern]) -> list[int]:
    """How many documents of a sample satisfy each."""
    matcher = Matcher()
    for place, pattern in enumerate(patterns):
        matcher.add(place, pattern)
    found = Counter(place for content in _sample() for place in matcher.match(content))
    return [found[place] for place in range(len(patterns))]


@cache
def _sample() -> tuple[bytes, ...]:
    return tuple(_documents(_SAMPLE, Random("a sample of documents")))


@cache
def _schema(desk: str) -> Schema:
    """The DTD ``news`` as far as a desk uses it: of two declarations the first one counts."""
    blocks = " | ".join((*DESKS[desk].blocks, _BLOCKS))
    whole = files("twigcast.workload").joinpath("dtds/news.dtd").read_bytes()
    narrowed = f'<!ENTITY % block "{blocks}">\n'.encode() + whole
    return Schema.parse(narrowed, name=f"news.dtd for {desk}", root="news")


@cache
def _vocabulary(desk: str) -> Vocabulary:
    return Vocabulary(words=tuple(DESKS[desk].words.split()))


def _one_of(choices: Sequence[str], rng: Random) -> str:
    return choices[int(rng.random() * len(choices))]
