"""The kind ``shards``: subscriptions split into 16 shards, and which of them documents reach.

In this process, without Spark, which does the same on its workers: the hub, one matcher over the
summaries of all shards, says which shards a document goes to, and the matchers of these are asked.
Together they must find what one matcher over all subscriptions finds. The engines:

``similar``
    split by what patterns require of a document, with summaries.
``by hash``
    split by a checksum of the pattern, with summaries.
``by hash, no summaries``
    the naive way: every shard sees every document.
``one matcher``
    no shards at all, for whoever can hold all subscriptions.

The workloads ``news/regional`` and ``news/topics`` are interests as a person would write them: a
topic in a place, and a topic anywhere. The values are those that our documents have.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain
from random import Random
from typing import NamedTuple
from zlib import crc32

from benchmarks.definition import Definition
from benchmarks.measure import Measurement, digest, peak_bytes, timed
from benchmarks.workloads import documents_of, drawn, require
from twigcast.covering.merging.spine import steps_of
from twigcast.language import Pattern
from twigcast.matching import Matcher
from twigcast.spark.sharding.partition import split, summary
from twigcast.workload import Vocabulary

SHARDS = 16

SIMILAR, HASHED, NAIVE, WHOLE = "similar", "by hash", "by hash, no summaries", "one matcher"

_PLACES = (
    ".//place = '{place}'",
    "subject-matter/dispatch/place = '{place}'",
    "body/opening/dateline/place = '{place}'",
    "envelope/sender/bureau/place = '{place}'",
)

_TOPICS = (
    "//keyword[. = '{word}']",
    "//main-line[contains(., '{word}')]",
    "//lead//paragraph[contains(., '{word}')]",
    "//highlight[contains(., '{word}')]",
    "//caption[contains(., '{word}')]",
    "//product[contains(., '{word}')]",
    "//genre[. = '{word}']",
    "//series[. = '{word}']",
    "//speaker[contains(., '{word}')]",
    "//topic[topic-name = {number}]",
    "//urgency[@level <= {number}]",
    "//fixture[score]/venue[@spectators > {number}]",
    "//table[@kind = 'prices']//amount[. > {number}]",
)


class Split(NamedTuple):
    """Patterns by shard, each with its position, and the summary of each shard."""

    shards: Sequence[Sequence[tuple[int, Pattern]]]
    summaries: Sequence[Sequence[Pattern]]
    split_s: float
    summary_s: float


def measured(definition: Definition, engine: str) -> Measurement:
    """Measure one engine."""
    require(definition)
    source, _, name = definition.workload.partition("/")
    count, seed = definition.subscriptions, definition.seed
    if name in {"regional", "topics"}:
        texts: Iterable[str] = interests(count, Random(seed), regional=name == "regional")
    else:
        texts = drawn(source, name, seed=seed, count=count)
    return sharded([Pattern.parse(text) for text in texts], documents_of(definition), engine)


def sharded(
    patterns: Sequence[Pattern], documents: Sequence[bytes], engine: str, *, shards: int = SHARDS
) -> Measurement:
    """The same on patterns and documents that are there already."""
    naive = matcher_of(enumerate(patterns))
    whole = [tuple(naive.match(document)) for document in documents]
    if engine == WHOLE:
        _, took = timed(lambda: [naive.match(one) for one in documents], time.process_time)
        figures = {"match_us": 1e6 * took / len(documents), "peak_mib": peak_bytes() / 2**20}
        return Measurement(
            engine=engine, counts={"deliveries": sum(map(len, whole))}, figures=figures
        )
    made = split_by(patterns, engine, shards)
    visited, found, match_s = _matched(made, documents)
    needed = _needed(made, whole)
    visits = sum(map(len, visited))
    sizes = [len({one for _, one in pairs}) for pairs in made.shards]
    return Measurement(
        engine=engine,
        counts={
            f"visits, {engine}": visits,
            "deliveries": sum(map(len, found)),
            "differences": sum(a != b for a, b in zip(found, whole, strict=True)),
        },
        digests={"deliveries": digest(found)},
        figures={
            "distinct": sum(sizes),
            "reached": visits / len(documents),
            "reached_share": visits / len(documents) / shards,
            "needed_shards": needed / len(documents),
            "largest_shard": max(sizes) * shards / sum(sizes),
            "summary_patterns": sum(map(len, made.summaries)) / shards,
            "summary_steps": sum(map(steps_of, chain(*made.summaries))) / shards,
            "split_s": made.split_s,
            "summary_s": made.summary_s,
            "match_us": 1e6 * match_s / len(documents),
            "peak_mib": peak_bytes() / 2**20,
        },
    )


def interests(count: int, rng: Random, *, regional: bool) -> list[str]:
    """So many interests; those of several people may be the same."""
    vocabulary = Vocabulary()
    numbers = range(1, vocabulary.numbers + 1)
    found = []
    for _ in range(count):
        topic = rng.choice(_TOPICS).format(
            word=rng.choice(vocabulary.words), number=rng.choice(numbers)
        )
        place = rng.choice(_PLACES).format(place=rng.choice(vocabulary.words))
        found.append(f"/news[{place}]{topic}" if regional else topic)
    return found


def split_by(patterns: Sequence[Pattern], engine: str, shards: int) -> Split:
    """The patterns split as an engine does."""
    if engine == SIMILAR:
        numbers, split_s = timed(lambda: split(patterns, shards), time.process_time)
    else:
        numbers, split_s = timed(
            lambda: [crc32(one.text.encode()) % shards for one in patterns], time.process_time
        )
    pairs: list[list[tuple[int, Pattern]]] = [[] for _ in range(shards)]
    for place, (pattern, number) in enumerate(zip(patterns, numbers, strict=True)):
        pairs[number].append((place, pattern))
    if engine == NAIVE:
        return Split(pairs, [[] for _ in pairs], split_s, 0.0)
    summaries, summary_s = timed(
        lambda: [summary(one for _, one in each) for each in pairs], time.process_time
    )
    return Split(pairs, summaries, split_s, summary_s)


def matcher_of(pairs: Iterable[tuple[int, Pattern]]) -> Matcher:
    """A matcher with these patterns."""
    matcher = Matcher()
    for place, pattern in pairs:
        matcher.add(place, pattern)
    return matcher


def _matched(
    made: Split, documents: Sequence[bytes]
) -> tuple[list[list[int]], list[tuple[int, ...]], float]:
    """The shards that documents visit, what is found there, and the CPU seconds of both."""
    owners = [number for number, told in enumerate(made.summaries) for _ in told]
    hub = matcher_of(enumerate(one for told in made.summaries for one in told))
    matchers = list(map(matcher_of, made.shards))

    def visited() -> list[list[int]]:
        if not owners:
            return [list(range(len(matchers)))] * len(documents)
        return [sorted({owners[one] for one in hub.match(each)}) for each in documents]

    def found(visits: Sequence[Sequence[int]]) -> Iterator[tuple[int, ...]]:
        for document, numbers in zip(documents, visits, strict=True):
            yield tuple(sorted(i for number in numbers for i in matchers[number].match(document)))

    visits = visited()
    list(found(visits))  # What matchers learn of documents, they have learnt before they are timed.
    visits, hub_s = timed(visited, time.process_time)
    answers, match_s = timed(lambda: list(found(visits)), time.process_time)
    return visits, answers, hub_s + match_s


def _needed(made: Split, answers: Sequence[Sequence[int]]) -> int:
    """How many visits there would be if summaries let in nothing but matches."""
    shard_of = {place: number for number, pairs in enumerate(made.shards) for place, _ in pairs}
    return sum(len({shard_of[one] for one in answer}) for answer in answers)
