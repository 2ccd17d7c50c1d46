"""The kind ``large``: one large document against many nested, valued subscriptions.

The "engines" are sizes of the document, each in a process of its own; a parse by lxml is taken in
turns with it. Asking lxml for all subscriptions would take the better part of an hour, so it
decides a sample, every 500th, and its answers must be the matcher's.
"""

from __future__ import annotations

import time
from statistics import median

from lxml import etree

from benchmarks.definitions import Definition
from benchmarks.engines import compiled_by_lxml, matcher_of
from benchmarks.measure import Measurement, digest, timed
from benchmarks.workloads import large_document, load

PASSES = 3
SAMPLED = 500
MEGABYTE = 1_000_000


def measured(definition: Definition, size: str) -> Measurement:
    """Measure a document of that size, ``native, 2.5 MB``."""
    engine, _, megabytes = size.removesuffix(" MB").partition(", ")
    document = large_document(int(float(megabytes) * MEGABYTE))
    expressions = load(definition).expressions
    matcher = matcher_of(engine, expressions)
    found, first_s = timed(lambda: matcher.match(document), time.process_time)
    elements = sum(1 for _ in etree.fromstring(document).iter("*"))
    parsing, matching = [], []
    for _ in range(PASSES):
        parsing.append(timed(lambda: etree.fromstring(document), time.process_time)[1])
        matching.append(timed(lambda: matcher.match(document), time.process_time)[1])
    wrong, naive_s = _differences(document, expressions[::SAMPLED], found)
    return Measurement(
        engine=size,
        counts={size: len(found), "differences": wrong},
        digests={size: digest([found])},
        figures={
            "megabytes": len(document) / MEGABYTE,
            "elements": elements,
            "first_ms": 1e3 * first_s,
            "warm_ms": 1e3 * median(matching),
            "parse_ms": 1e3 * median(parsing),
            "times_parse": median(matching) / median(parsing),
            "ns_per_byte": 1e9 * median(matching) / len(document),
            "naive_ms": 1e3 * naive_s / len(expressions[::SAMPLED]),
        },
    )


def _differences(document: bytes, sample: tuple[str, ...], found: list[int]) -> tuple[int, float]:
    """On how many subscriptions of the sample lxml differs, and the seconds it took."""
    tree = etree.fromstring(document)
    compiled = compiled_by_lxml(sample)
    answers, naive_s = timed(lambda: [holds(tree) for holds in compiled], time.process_time)
    matching = frozenset(found)
    wrong = sum(holds != (number * SAMPLED in matching) for number, holds in enumerate(answers))
    return wrong, naive_s
