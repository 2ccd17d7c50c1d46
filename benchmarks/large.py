"""The kind ``large``: one large document against many nested, valued subscriptions.

The "engines" are sizes of the document, each in a process of its own; a parse by lxml is taken in
turns with it. Asking libxml2 for all subscriptions would take hours, so it decides a sample, every
500th, and its answers must be the matcher's. It is asked through our engine ``lxml``, which writes
``//a//b`` as ``//a[.//b]``: as they stand, some of the expressions take libxml2 20 seconds on 2.5
MB, and with the square of the size.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from statistics import median

from lxml import etree

from benchmarks.definition import Definition
from benchmarks.engines import matcher_of
from benchmarks.measure import Measurement, digest, timed
from benchmarks.workloads import large_document, load
from twigcast import Matcher
from twigcast.language import Document

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
    wrong, naive_s = _differences(document, expressions, found)
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
            "naive_ms": 1e3 * naive_s,
        },
    )


def _differences(
    content: bytes, expressions: Sequence[str], found: Sequence[int]
) -> tuple[int, float]:
    """On how many subscriptions of the sample libxml2 differs, and its seconds for each."""
    sample = range(0, len(expressions), SAMPLED)
    naive = Matcher(engine="lxml")
    for number in sample:
        naive.add(number, expressions[number])
    document = Document.parse(content)
    decision, naive_s = timed(lambda: naive.decide(document), time.process_time)
    assert not decision.undecided
    wrong = set(decision.matches) ^ {number for number in found if number in sample}
    return len(wrong), naive_s / len(sample)
