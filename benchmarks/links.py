"""The kind ``links``: a broker's question, which of 64 links have a match, beside ``match``.

Subscription number n came by link n modulo 64. Both questions are asked in the same process, in
turns, document by document; the links must be those that the ids of ``match`` belong to.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from statistics import median

from lxml import etree

from benchmarks.definition import Definition
from benchmarks.engines import matcher_of
from benchmarks.measure import Measurement, digest, timed
from benchmarks.workloads import Workload, load

LINKS = 64
PASSES = 5


def measured(definition: Definition, engine: str) -> Measurement:
    """Measure one engine."""
    return linked(load(definition), engine)


def linked(workload: Workload, engine: str) -> Measurement:
    """The same on a workload that is there already."""
    matcher = matcher_of(engine, workload.expressions)
    groups = matcher.groups(
        {link: range(link, len(workload.expressions), LINKS) for link in range(LINKS)}
    )
    documents = workload.documents
    ids = [matcher.match(document) for document in documents]
    links = [matcher.match_links(document, groups) for document in documents]
    wrong = sum(
        sorted(found) != sorted({one % LINKS for one in matching})
        for found, matching in zip(links, ids, strict=True)
    )
    calls: dict[str, Callable[[bytes], object]] = {
        "parse_us": etree.fromstring,
        "match_us": matcher.match,
        "links_us": lambda document: matcher.match_links(document, groups),
    }
    passes = [{name: _timed(ask, documents) for name, ask in calls.items()} for _ in range(PASSES)]
    return Measurement(
        engine=engine,
        counts={"links": sum(map(len, links)), "differences": wrong},
        digests={"links": digest(links)},
        figures={name: median(one[name] for one in passes) for name in calls},
    )


def _timed(ask: Callable[[bytes], object], documents: Sequence[bytes]) -> float:
    """Microseconds per document."""
    _, took = timed(lambda: [ask(document) for document in documents], time.process_time)
    return 1e6 * took / len(documents)
