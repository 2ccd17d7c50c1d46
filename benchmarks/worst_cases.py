"""The kind ``worst_cases``: the hardest expressions known, on the documents that suit them least.

The "engines" are cases, each in a process of its own. A case is one expression, or a thousand at
once, on documents of one kind in four sizes; each size is four times the one before. What is told
of a size is the CPU time of one decision, reading included, and its steps, which reproduce
anywhere. The figure ``growth`` is the power of the size that the steps grow with, at most, between
two sizes that were decided. On a document of :data:`CHECKED` items libxml2 answers, too, and the
answers must be the same.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from itertools import pairwise
from math import log
from typing import Final

from lxml import etree

from benchmarks.definition import Definition
from benchmarks.hard_cases import CASES, GROWTH, Case
from benchmarks.measure import Measurement, timed
from twigcast.matching import Matcher
from twigcast.matching.engines.native import NativeStatistics

CHECKED: Final = 6
"""Items of the documents that libxml2 is asked about: some cases take it their power of twenty."""


def measured(definition: Definition, case: str) -> Measurement:
    """Measure one case."""
    del definition
    return measured_case(case, CASES[case])


def measured_case(name: str, case: Case) -> Measurement:
    """The same on a case that is no part of the list."""
    matcher = Matcher(engine="native", keep_texts=False)
    for number, expression in enumerate(case.expressions):
        matcher.add(number, expression)
    wrong = _differences(matcher, case)
    figures: dict[str, float] = {}
    slowest, undecided, found = 0.0, 0, 0
    steps: list[float] = []
    for place, size in enumerate(case.sizes, 1):
        document = case.make(size)
        before = _steps(matcher)
        decision, spent_s = timed(lambda d=document: matcher.decide(d), time.process_time)  # type: ignore[misc]
        taken = _steps(matcher) - before
        found += len(decision.matches)
        undecided += len(decision.undecided)
        slowest = max(slowest, spent_s)
        if not decision.undecided:
            steps.append(max(1, taken))
        figures |= {f"size_{place}_ms": 1e3 * spent_s, f"size_{place}_steps": taken}
    figures |= {"case_ms": 1e3 * slowest, "growth": _growth(steps), "undecided": undecided}
    return Measurement(engine=name, counts={"differences": wrong, name: found}, figures=figures)


def _differences(matcher: Matcher, case: Case) -> int:
    """On how many expressions libxml2 says something else of a small document."""
    document = case.make(CHECKED)
    tree = etree.fromstring(document)
    right = {
        number
        for number, expression in enumerate(case.expressions)
        if tree.xpath(f"boolean(/self::node()[boolean({expression})])")
    }
    return len(right ^ set(matcher.match(document)))


def _steps(matcher: Matcher) -> int:
    details = matcher.statistics().details
    assert isinstance(details, NativeStatistics)
    return details.steps


def _growth(steps: Sequence[float]) -> float:
    """The power of the size that steps grow with."""
    powers = (log(after / before, GROWTH) for before, after in pairwise(steps))
    return max(powers, default=0.0)
