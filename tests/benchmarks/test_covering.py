"""The kinds about covering, on sets as small as can be."""

from __future__ import annotations

import pytest

from benchmarks import covering, tree_sizes
from benchmarks.covering import ENGINES, TREE, distinct_patterns, searched
from benchmarks.definition import Definition
from benchmarks.report import title
from twigcast.covering.index import native
from twigcast.language import Pattern

PATTERNS = [Pattern.parse(text) for text in ("/a/b", "/a//b", "//b/c", "/a", "//d")]
PROBES = [Pattern.parse(text) for text in ("/a/b/c", "//b")]
DEFINITION = Definition(
    name="few",
    kind="covering",
    workload="drawn/xnet",
    subscriptions=5,
    documents=2,
    engines=tuple(ENGINES),
    sampled={"linear scan": 1},
)
HERE = [name for name in ENGINES if name != "native" or native.AVAILABLE]


@pytest.mark.parametrize("engine", HERE)
def test_every_engine_finds_the_same_coverings(engine: str) -> None:
    measurement = searched(DEFINITION, engine, PATTERNS, PROBES)
    by = " by homomorphism" if engine == TREE else ""
    whole = {f"covering{by}": 4, f"covered{by}": 3}
    sample = {f"covering{by}, sample": 4, f"covered{by}, sample": 0}
    assert measurement.counts == (sample if engine == "linear scan" else {**whole, **sample})
    assert measurement.figures["covering_us"] > 0
    assert measurement.figures["adds_per_s"] > 0


def test_all_engines_agree_on_the_sample() -> None:
    engines = [engine for engine in HERE if engine != TREE]
    found = [searched(DEFINITION, engine, PATTERNS, PROBES).digests for engine in engines]
    for part in ("covering, sample", "covered, sample"):
        assert len({digests[part] for digests in found}) == 1


def test_patterns_are_distinct_even_where_their_texts_are(monkeypatch: pytest.MonkeyPatch) -> None:
    texts = ("/a[b][c]", "/a[c][b]", "/a/b", "/a/c")
    monkeypatch.setattr(covering, "drawn", lambda *_, **__: texts)
    assert len(set(distinct_patterns(DEFINITION, 3))) == 3


def test_the_sizes_of_the_tree_are_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tree_sizes, "distinct_patterns", lambda _, count: PATTERNS[:count])
    measurement = tree_sizes.measured(DEFINITION, "2 patterns")
    assert measurement.counts == {"2 patterns": 4}
    assert measurement.figures["pattern_nodes"] == 5


def test_the_title_speaks_of_probes() -> None:
    assert title(DEFINITION).endswith("seed 0, 2 probes")
