"""The kind ``race``: the same expressions and documents for every engine.

One process does this::

    compile                        seconds, and the growth of memory per expression
    the first document             seconds since compiling began, by the wall clock
    half of the documents          not measured: the engine gets to know their kind
    the other half                 each for the first time: the first sight
    all, parsed by lxml            the floor     } in turns, as often as there is time,
    all, matched                   warm          } so that both meet the same machine

Engines that would take too long get a *sample*, the first few documents; their answers are held
against those of the others on the same documents.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from statistics import median

from benchmarks.definition import Definition
from benchmarks.engines import ENGINES, FLOOR, Documents, Match, Twigcast, index_path, listed
from benchmarks.measure import Measurement, digest, held_bytes, peak_bytes, timed
from benchmarks.workloads import Workload, load

PASSES = 5
BATCH = 100
"""Documents in a batch: of a million patterns a hundred thousand match each, which makes 100 MB."""
SECONDS_MAX = 4.0
"""No more passes after so many seconds."""


def measured(definition: Definition, engine: str) -> Measurement:
    """Measure one engine of a race."""
    return raced(definition, engine, load(definition))


def raced(definition: Definition, engine: str, workload: Workload) -> Measurement:
    """The same on a workload that is there already."""
    count = definition.documents_for(engine)
    contents = workload.documents[:count]
    first, seen = Documents(contents[:1]), Documents(contents[: count // 2])
    unseen, everything = Documents(contents[count // 2 :]), Documents(contents)
    before = held_bytes()
    begun = time.perf_counter()
    match, compile_s = timed(lambda: ENGINES[engine](workload.expressions), time.process_time)
    match(first)
    ready_s = time.perf_counter() - begun
    compiled = held_bytes()
    match(seen)
    _, first_sight_s = timed(lambda: _consume(match, unseen.batches(BATCH)), time.process_time)
    parse_s, match_s = _passes(match, everything.batches(BATCH))
    after = held_bytes()
    answers = listed(match(everything))
    figures = {
        "compile_s": compile_s,
        "ready_s": ready_s,
        "first_sight_us": 1e6 * first_sight_s / len(unseen.contents),
        "warm_us": 1e6 * match_s / count,
        "parse_us": 1e6 * parse_s / count,
        "times_parse": match_s / parse_s,
        "documents": count,
        "bytes_per_subscription": max(0, compiled - before) / len(workload.expressions),
        "learned_mib": max(0, after - compiled) / 2**20,
        "peak_mib": peak_bytes() / 2**20,
        **_cache_figures(match),
    }
    if definition.mapped and engine == "native":
        figures |= _written(match, workload.expressions)
    return Measurement(
        engine=engine,
        counts={part: sum(map(len, rows)) for part, rows in parts(answers, definition)},
        digests={part: digest(rows) for part, rows in parts(answers, definition)},
        figures=figures,
    )


def parts(
    answers: Sequence[Sequence[int]], definition: Definition
) -> Iterator[tuple[str, Sequence[Sequence[int]]]]:
    """The answers to all documents, if there are as many, and those to the sample."""
    if len(answers) == definition.documents:
        yield "all", answers
    yield "sample", answers[: definition.sample]


def _consume(match: Match, batches: Sequence[Documents]) -> None:
    """Take batch after batch, as a consumer does who is done with one before the next."""
    for batch in batches:
        match(batch)


def _passes(match: Match, batches: Sequence[Documents]) -> tuple[float, float]:
    """Seconds to parse and to match all documents, each the median of passes in turns."""
    parse = ENGINES[FLOOR](())
    parsing: list[float] = []
    matching: list[float] = []
    begun = time.perf_counter()
    while not matching or (len(matching) < PASSES and time.perf_counter() - begun < SECONDS_MAX):
        parsing.append(timed(lambda: _consume(parse, batches), time.process_time)[1])
        matching.append(timed(lambda: _consume(match, batches), time.process_time)[1])
    return median(parsing), median(matching)


def _cache_figures(match: Match) -> dict[str, float]:
    """The figures of the cache of our engine ``native``."""
    details = match.matcher.statistics().details if isinstance(match, Twigcast) else None
    budget = getattr(details, "remembered_bytes_max", None)
    if details is None or not budget:
        return {}
    return {"cache_of_budget": getattr(details, "remembered_bytes", 0) / budget}


def _written(match: Match, expressions: Sequence[str]) -> dict[str, float]:
    """Write the matcher into a file, for the engine that maps it."""
    assert isinstance(match, Twigcast)
    content, to_bytes_s = timed(match.matcher.to_bytes, time.process_time)
    index_path(expressions).write_bytes(content)
    return {"write_s": to_bytes_s, "file_mib": len(content) / 2**20}
