"""The kind ``covering``: which patterns of a set cover another, and which are covered by it.

XNET, section 5: sets of distinct patterns drawn from NITF's DTD (h = 10, p* = 0.1, p// = 0.05,
pλ = 0.1, θ = 1), and 1,000 more of the same kind as *probes*; they are what ``documents`` counts
here. One process does this::

    all patterns put in
    every tenth taken out, then put in again from its text      changes per second
    what covers each probe, what each probe covers               each search timed, three passes

The engines: the cover index with its two engines, the factorization tree of XNET, the subscription
tree of Dissemination, and the naive way, a linear scan that compares with every pattern of the set
(compiled beforehand). Slow ones get a
*sample* of the probes; ratios to them are of searches for the same probes.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from random import Random
from statistics import mean, median

from benchmarks.definition import Definition
from benchmarks.measure import Measurement, digest, peak_bytes, timed
from benchmarks.workloads import drawn
from twigcast.covering import CoverIndex, FactorizationTree, SubscriptionTree
from twigcast.covering.containment.covers import CompiledPattern, compiled_form, decide_compiled
from twigcast.covering.index.engine import CoverSearch
from twigcast.language import Pattern

PASSES = 3
CHANGED = 10
"""Every so many patterns are taken out and put in again."""

DRAWN_SHARE = 1.3
"""Texts drawn for each pattern: some are the same pattern, written in two ways."""


class LinearScan:
    """The naive way: every pattern is asked about."""

    def __init__(self) -> None:
        self._compiled: dict[int, CompiledPattern] = {}

    def add(self, id: int, pattern: Pattern | str) -> None:
        """Compile a pattern and keep it."""
        parsed = Pattern.parse(pattern) if isinstance(pattern, str) else pattern
        self._compiled[id] = compiled_form(parsed.condition)

    def remove(self, id: int) -> None:
        """Forget a pattern."""
        del self._compiled[id]

    def covering(self, pattern: Pattern | str) -> list[int]:
        """What covers it."""
        probe, kept = compiled_form(Pattern(pattern).condition), self._compiled
        return [
            one for one in sorted(kept) if decide_compiled(wider=kept[one], narrower=probe).covers
        ]

    def covered(self, pattern: Pattern | str) -> list[int]:
        """What it covers."""
        probe, kept = compiled_form(Pattern(pattern).condition), self._compiled
        return [
            one for one in sorted(kept) if decide_compiled(wider=probe, narrower=kept[one]).covers
        ]


TREE = "factorization tree"
BY_HOMOMORPHISM = " by homomorphism"
"""Told of what the tree finds: there are a few coverings that it cannot see."""

ENGINES: dict[str, Callable[[], CoverSearch]] = {
    "native": lambda: CoverIndex("native"),
    "python": lambda: CoverIndex("python"),
    TREE: FactorizationTree,
    "subscription tree": SubscriptionTree,
    "linear scan": LinearScan,
}


def measured(definition: Definition, engine: str) -> Measurement:
    """Measure one engine."""
    patterns = distinct_patterns(definition, definition.subscriptions + definition.documents)
    probes = patterns[definition.subscriptions :]
    return searched(definition, engine, patterns[: definition.subscriptions], probes)


def distinct_patterns(definition: Definition, count: int) -> list[Pattern]:
    """Patterns of the definition's workload, in an order that does not depend on their length."""
    source, _, shape = definition.workload.partition("/")
    texts = drawn(source, shape, seed=definition.seed, count=int(count * DRAWN_SHARE))
    found = list(dict.fromkeys(map(Pattern.parse, texts)))[:count]
    assert len(found) == count, "draw more"
    Random(definition.seed).shuffle(found)
    return found


def searched(
    definition: Definition, engine: str, patterns: Sequence[Pattern], probes: Sequence[Pattern]
) -> Measurement:
    """The same on patterns that are there already."""
    index = ENGINES[engine]()
    for number, pattern in enumerate(patterns):
        index.add(number, pattern)
    figures = _changes(index, patterns)
    counts: dict[str, int] = {}
    digests: dict[str, str] = {}
    mine = probes[: definition.documents_for(engine)]
    for name, search in (("covering", index.covering), ("covered", index.covered)):
        answers, passes = _passes(search, mine)
        figures |= _figures(name, passes, definition.sample)
        label = name + BY_HOMOMORPHISM if engine == TREE else name
        parts = {f"{label}, sample": answers[: definition.sample]}
        if len(mine) == definition.documents:
            parts[label] = answers
        counts |= {part: sum(map(len, rows)) for part, rows in parts.items()}
        digests |= {part: digest(rows) for part, rows in parts.items()}
    figures["peak_mib"] = peak_bytes() / 2**20
    return Measurement(engine=engine, counts=counts, digests=digests, figures=figures)


def _changes(index: CoverSearch, patterns: Sequence[Pattern]) -> dict[str, float]:
    """Take out every tenth pattern, put it in again from its text; how many of each in a second."""
    numbers = range(0, len(patterns), CHANGED)
    texts = [patterns[number].text for number in numbers]

    def remove() -> None:
        for number in numbers:
            index.remove(number)

    def add() -> None:
        for number, text in zip(numbers, texts, strict=True):
            index.add(number, text)

    _, remove_s = timed(remove, time.process_time)
    _, add_s = timed(add, time.process_time)
    return {"adds_per_s": len(numbers) / add_s, "removes_per_s": len(numbers) / remove_s}


def _passes(
    search: Callable[[Pattern], list[int]], probes: Sequence[Pattern]
) -> tuple[list[list[int]], list[list[float]]]:
    """The answers for all probes, and the CPU seconds of each search in each pass."""
    answers: list[list[int]] = []
    passes = []
    for _ in range(PASSES):
        answers, seconds = [], []
        for probe in probes:
            begun = time.process_time()
            answer = search(probe)
            seconds.append(time.process_time() - begun)
            answers.append(answer)
        passes.append(seconds)
    return answers, passes


def _figures(name: str, passes: Sequence[Sequence[float]], sample: int) -> dict[str, float]:
    """Mean and 99th percentile of a search, and its mean on the sample: medians over passes."""
    return {
        f"{name}_us": 1e6 * median(map(mean, passes)),
        f"{name}_p99_us": 1e6 * median(map(_p99, passes)),
        f"{name}_sample_us": 1e6 * median(mean(each[:sample]) for each in passes),
    }


def _p99(values: Sequence[float]) -> float:
    """The smallest value that 99 of 100 do not exceed."""
    return sorted(values)[-(-99 * len(values) // 100) - 1]
