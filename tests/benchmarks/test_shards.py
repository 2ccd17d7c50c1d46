"""The kind about shards, on workloads as small as can be."""

from __future__ import annotations

from random import Random

import pytest

from benchmarks import shards
from benchmarks.definitions import DEFINITIONS
from benchmarks.report import table
from twigcast.files.schemas import shipped_schema
from twigcast.language import Pattern
from twigcast.workload import generate_documents

ENGINES = (shards.SIMILAR, shards.HASHED, shards.NAIVE, shards.WHOLE)


@pytest.mark.parametrize("regional", [True, False])
def test_every_way_to_split_finds_the_same(regional: bool) -> None:  # noqa: FBT001
    texts = shards.interests(600, Random(1), regional=regional)
    patterns = [Pattern.parse(text) for text in texts]
    documents = list(generate_documents(shipped_schema("news"), rng=Random(2), count=12))
    runs = {engine: shards.sharded(patterns, documents, engine, shards=4) for engine in ENGINES}
    found = {run.counts["deliveries"] for run in runs.values()}
    assert len(found) == 1
    assert found.pop() > 0
    for engine, run in runs.items():
        assert run.counts.get("differences", 0) == 0
        if engine != shards.WHOLE:
            assert run.figures["needed_shards"] <= run.figures["reached"] <= 4
    assert runs[shards.NAIVE].figures["reached_share"] == 1
    assert runs[shards.SIMILAR].figures["reached"] <= runs[shards.HASHED].figures["reached"]
    (definition,) = (one for one in DEFINITIONS if one.name == "news-shards-topics-5k")
    assert "shards that a document reaches" in table(definition, list(runs.values()))
