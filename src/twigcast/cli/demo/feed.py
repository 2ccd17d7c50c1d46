"""A news feed and the people who read it, both invented, both drawn from one seed.

The documents are valid by the DTD ``news``, with a vocabulary that news could have. Many
subscriptions are *interests* as a person would write them (``//keyword[. = 'storm']``), the others
are drawn from the DTD like those of the papers. Expressions that many documents satisfy are
left out. Some subscribers have asked for much and many for little, as everywhere.
"""

from __future__ import annotations

import csv
import io
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate
from pathlib import Path
from random import Random
from typing import Final

from twigcast.cli.writing import new_file, write_zip
from twigcast.files.schemas import shipped_schema
from twigcast.matching import Matcher
from twigcast.workload import Vocabulary, generate_documents, generate_patterns

__all__ = ["Feed", "write_feed"]

_TOPICS: Final = """
airport archive ballot bakery bridge budget climate comet concert council court debate drought
election embassy energy exhibition factory ferry festival flood forecast forest glacier grain
harbour harvest heatwave hospital inflation island league library marathon market merger mine
museum orchestra parade parliament patent pension pilot premiere protest railway reactor
referendum reform regatta satellite school stadium storm strike summit tariff theatre tournament
treaty tunnel vaccine verdict volcano wildfire
"""

_PLACES: Final = """
Alder Birch Brook Cliff Cove Dale Dune Elm Fen Ferry Glen Granite Harbour Heath Isle Juniper Lake
Mill Moor Oak Quay Ridge River Willow
"""

_OUTLETS: Final = "Chronicle Courier Gazette Herald Observer Post Radio Review Times Tribune"

_INTERESTS: Final = (
    "//keyword[. = '{word}']",
    "//main-line[contains(., '{word}')]",
    "//lead//paragraph[contains(., '{word}')]",
    "//highlight[contains(., '{word}')]",
    "//place[contains(., '{word}')]",
    "//product[contains(., '{word}')]",
    "//caption[contains(., '{word}')]",
    "//urgency[@level <= {small}]",
    "//amount[. > {number}]",
    "//topic[topic-name = {number}]",
    "//fixture[score]/venue[@spectators]",
    "//table[@kind = 'prices']//amount",
    "//box[@kind = 'portrait']//person[@code = {number}]",
    "//poll[@closed = 'no'][count(answer) > 2]",
    "//interview//turn[quotation]/speaker[contains(., '{word}')]",
    "/news[@status = 'embargoed'][envelope/urgency]//keyword[contains(., '{word}')]",
    "/news[envelope/rights/@use = 'online']//picture[credit]",
    "//subject-matter[keyword = '{word}' or series = '{word}']",
    "//dispatch[place = '{word}'][moment > {number}]",
    "/news[not(envelope/embargo)]//headline[under-line][contains(., '{word}')]",
)


_SAMPLE: Final = 40
_HITS_MAX: Final = 2
"""A subscription may be satisfied by so many documents of a sample: one in twenty."""


@dataclass(frozen=True, slots=True)
class Feed:
    """Where the documents and the subscriptions lie, and how many there are."""

    documents: Path
    subscriptions: Path
    document_count: int
    subscription_count: int
    subscribers: tuple[str, ...]


def write_feed(folder: Path, *, documents: int, subscriptions: int, seed: int) -> Feed:
    """Write ``feed.zip`` and ``subscriptions.csv`` into a folder."""
    archive, table = folder / "feed.zip", folder / "subscriptions.csv"
    write_zip(archive, _documents(documents, Random(f"documents {seed}")))
    rows = list(_subscriptions(subscriptions, Random(f"subscriptions {seed}")))
    with new_file(table) as binary, io.TextIOWrapper(binary, "utf-8", newline="\n") as file:
        lines = csv.writer(file, lineterminator="\n")
        lines.writerow(("id", "subscriber", "xpath"))
        lines.writerows(rows)
    subscribers = tuple(sorted({subscriber for _, subscriber, _ in rows}))
    return Feed(archive, table, documents, len(rows), subscribers)


def _documents(count: int, rng: Random) -> Iterator[tuple[str, bytes]]:
    drawn = generate_documents(
        shipped_schema("news"), rng=rng, count=count, elements=80, vocabulary=_vocabulary()
    )
    digits = len(str(count))
    for number, content in enumerate(drawn, start=1):
        yield f"news-{number:0{digits}}.xml", content


def _subscriptions(count: int, rng: Random) -> Iterator[tuple[str, str, str]]:
    """Rows of id, subscriber and expression."""
    drawn = generate_patterns(
        shipped_schema("news"),
        rng=rng,
        count=count,
        depth_max=8,
        wildcard=0.1,
        descendant=0.15,
        nested=0.15,
        predicates=1.0,
        predicate_kinds=("equal", "contains", "order"),
        vocabulary=_vocabulary(),
    )
    xpaths = [*drawn, *(_interest(rng) for _ in range(count))]
    rng.shuffle(xpaths)
    chosen = _choosy(xpaths, count)
    names = [f"{place} {outlet}" for place in _PLACES.split() for outlet in _OUTLETS.split()]
    rng.shuffle(names)
    weights = list(accumulate(rank**-0.5 for rank in range(1, len(names) + 1)))
    owners = rng.choices(names, cum_weights=weights, k=len(chosen))
    digits = len(str(count))
    for number, (subscriber, xpath) in enumerate(zip(owners, chosen, strict=True), start=1):
        yield f"s{number:0{digits}}", subscriber, xpath


def _choosy(xpaths: Sequence[str], count: int) -> list[str]:
    """The first expressions that few documents satisfy; who wants everything needs no filter."""
    matcher = Matcher()
    for place, xpath in enumerate(xpaths):
        matcher.add(place, xpath)
    sample = _documents(_SAMPLE, Random("a sample of documents"))
    hits = Counter(place for _, content in sample for place in matcher.match(content))
    few = [xpath for place, xpath in enumerate(xpaths) if hits[place] <= _HITS_MAX]
    return few[:count]


def _interest(rng: Random) -> str:
    template = _one_of(_INTERESTS, rng)
    return template.format(
        word=_one_of(_vocabulary().words, rng), small=rng.randint(1, 3), number=rng.randint(10, 18)
    )


def _one_of(choices: Sequence[str], rng: Random) -> str:
    return choices[int(rng.random() * len(choices))]


def _vocabulary() -> Vocabulary:
    return Vocabulary(words=tuple(_TOPICS.split()))
