"""What shards say of documents, taken together, is what one matcher over everything says."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from random import Random
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.routing.networks import random_topology
from tests.routing.vocabulary import STRATEGIES, THEMES, Theme, advertisement_of
from twigcast import Network
from twigcast.covering import Advertisement
from twigcast.files import Subscription, SubscriptionFile
from twigcast.language import Pattern
from twigcast.matching import Matcher
from twigcast.routing.strategy import Strategy
from twigcast.spark.plans import prepare as prepared
from twigcast.spark.plans.design import design_of
from twigcast.spark.sharding.partition import split, summary
from twigcast.spark.storage.tables import TABLES, arrow_of, parquet_schema
from twigcast.spark.worker import parquet_parts as parts
from twigcast.spark.worker import shard_probes as visits
from twigcast.spark.worker.crossings import CrossingModel
from twigcast.spark.worker.labels import labels_of
from twigcast.spark.worker.matching import match_batches
from twigcast.spark.worker.shard_probes import NO_SHARD, Hub, Shard, answer_visits, visit_batches

Rows = list[dict[str, Any]]

BRIEF = settings(max_examples=max(1, settings().max_examples // 8))
"""For what is asked of every strategy, and takes a network each time."""


class Stage(NamedTuple):
    """The same subscriptions in one matcher, and in shards behind a hub."""

    whole: Matcher
    hub: Hub
    shards: list[Shard]
    crossing_model: CrossingModel | None = None

    def unsharded(self, batch: pa.RecordBatch) -> Rows:
        return _rows(match_batches([batch], self.whole, crossing_model=self.crossing_model))

    def visits(self, batch: pa.RecordBatch) -> pa.RecordBatch:
        (found,) = visit_batches([batch], self.hub)
        return found

    def answers(self, batch: pa.RecordBatch) -> list[pa.RecordBatch]:
        """The answers, visits having gone to the tasks that they name."""
        found = self.visits(batch)
        tasks = np.asarray(found.column("task"))
        assert not len(tasks) or (tasks.min() >= 0 and tasks.max() < self.hub.tasks)
        parts = (found.filter(pa.array(tasks == task)) for task in range(self.hub.tasks))
        return list(answer_visits(parts, self.shards.__getitem__, self.crossing_model))


def stage_of(
    patterns: Sequence[Pattern],
    shards: int,
    *,
    crossing_model: CrossingModel | None = None,
    routes: Sequence[Pattern] = (),
    slices: int = 1,
    budget: int = 20,
) -> Stage:
    whole = _matcher(enumerate([*patterns, *routes]))
    owners = split(patterns, shards)
    members = [
        [(place, one) for place, one in enumerate(patterns) if owners[place] == shard]
        for shard in range(shards)
    ]
    told = [
        (shard, one)
        for shard, pairs in enumerate(members)
        for one in summary([one for _, one in pairs], budget)
    ]
    hub = Hub(
        _matcher(enumerate([*(one for _, one in told), *routes])),
        np.array([shard for shard, _ in told], np.int32),
        None if crossing_model is None else visits.hub_crossing_model(crossing_model, len(told)),
        slices=slices,
        shards=shards,
    )
    return Stage(whole, hub, [Shard(_matcher(pairs), "") for pairs in members], crossing_model)


def _matcher(pairs: Iterable[tuple[int, Pattern]]) -> Matcher:
    matcher = Matcher()
    for place, pattern in pairs:
        matcher.add(place, pattern)
    return matcher


def _rows(batches: Iterator[pa.RecordBatch] | list[pa.RecordBatch]) -> Rows:
    return [row for batch in batches for row in batch.to_pylist()]


def _pairs(rows: Rows, column: str) -> Counter[tuple[str, str, int]]:
    return Counter(
        (row["document"], row["document_hash"], place)
        for row in rows
        for place in row[column] or ()
    )


def _refusals(rows: Rows) -> Counter[tuple[Any, ...]]:
    names = ("document", "stage", "reason", "line", "column")
    return Counter(tuple(row[name] for name in names) for row in rows if row["stage"])


def _traffic(rows: Rows) -> dict[str, Counter[int]]:
    """Crossings and bytes by link, of what is needless, too; what shards say is put together."""
    sums: dict[str, Counter[int]] = {
        "crossed": Counter(),
        "needless": Counter(),
        "bytes": Counter(),
    }
    told: dict[tuple[bytes, int], Counter[int]] = {}
    needed: dict[tuple[bytes, int], bool] = {}
    sizes: dict[bytes, int] = {}
    for row in rows:
        for column in ("crossed", "needless"):
            sums[column].update(row[column] or ())
        sums["bytes"].update(dict.fromkeys(row["crossed"] or (), row["bytes"]))
        for link, is_needed in zip(row.get("links") or (), row.get("needed") or (), strict=True):
            pair = row["key"], link
            told.setdefault(pair, Counter())[row["shard"]] += 1
            needed[pair] = needed.get(pair, False) or is_needed
            sizes[row["key"]] = row["bytes"]
    for (key, link), by_shard in told.items():
        times = max(by_shard.values())
        sums["crossed"][link] += times
        sums["bytes"][link] += times * sizes[key]
        sums["needless"][link] += 0 if needed[key, link] else times
    return {name: +counts for name, counts in sums.items()}


def check(stage: Stage, batch: pa.RecordBatch) -> None:
    whole, answers = stage.unsharded(batch), _rows(stage.answers(batch))
    for column in ("matches", "undecided"):
        assert _pairs(answers, column) == _pairs(whole, column)
    assert _refusals(answers) == _refusals(whole)
    assert sum(row["is_first"] for row in answers) == len(batch)
    if stage.crossing_model is not None:
        assert _traffic(answers) == _traffic(whole)


def _published(rows: Sequence[Mapping[str, Any]]) -> pa.RecordBatch:
    kinds: dict[str, pa.DataType] = {
        "document": pa.string(),
        "content": pa.binary(),
        "origin": pa.string(),
    }
    return pa.RecordBatch.from_pylist(list(rows), schema=pa.schema(kinds))


def _network_stage(
    topology: dict[str, Any], strategy: Strategy, theme: Theme, rng: Random
) -> tuple[Stage, Sequence[str]]:
    network = Network(topology, strategy)
    asked = [
        (rng.choice(network.brokers), rng.choice(theme.spoken)) for _ in range(rng.randint(0, 14))
    ]
    for at, one in asked:
        network.subscribe(at, "x", one.text, one.namespaces)
    advertisements: dict[str, list[Advertisement]] = {}
    for _ in range(rng.randint(0, 3)):
        advertisement = advertisement_of(rng.choice(theme.schemas))
        advertisements.setdefault(rng.choice(network.brokers), []).append(advertisement)
    for broker, all_ in advertisements.items():
        for each in all_:
            network.advertise(broker, each)
    network.merge()
    rows = [
        (broker, link, text)
        for broker in network.brokers
        for link, texts in network.tables(broker).routes.items()
        for text in texts
    ]
    routes = arrow_of(rows, TABLES["routes"])
    design = design_of(topology, strategy, advertisements=advertisements)
    file = SubscriptionFile(
        tuple(
            Subscription(number, each.text, None, broker, each.namespaces or {}, number)
            for number, (broker, each) in enumerate(asked)
        )
    )
    crossing_model, behind = prepared._crossings(design, labels_of(file, design.tree), routes)
    assert crossing_model is not None
    stage = stage_of(
        [Pattern.parse(each.text, each.namespaces) for _, each in asked],
        rng.randint(1, 5),
        crossing_model=crossing_model,
        routes=behind,
        slices=rng.randint(1, 3),
        budget=rng.choice([1, 5, 100]),
    )
    return stage, network.brokers


@pytest.mark.parametrize("strategy", STRATEGIES, ids=str)
@BRIEF
@given(seed=st.integers(0, 2**32), theme=st.sampled_from(sorted(THEMES)))
def test_shards_together_say_what_one_matcher_says(
    strategy: Strategy, seed: int, theme: str
) -> None:
    rng, chosen = Random(seed), THEMES[theme]
    stage, brokers = _network_stage(random_topology(rng, 9), strategy, chosen, rng)
    rows = [
        {
            "document": str(number % 7),
            "content": rng.choice([*chosen.documents, b"<broken", None]),
            "origin": rng.choice([*brokers, "nowhere"]),
        }
        for number in range(10)
    ]
    # The same publication may come again.
    check(stage, _published([*rows, *rows[:4]]))


PATTERNS = [Pattern.parse(f"//place[. = '{letter}']/{tail}") for letter in "abcd" for tail in "xyz"]


def _document(*letters: str) -> bytes:
    places = "".join(f"<place>{letter}<x/><y/></place>" for letter in letters)
    return f"<news>{places}</news>".encode()


def test_a_document_visits_only_the_shards_whose_summary_it_matches() -> None:
    stage = stage_of(PATTERNS, 4)
    batch = _published(
        [
            {"document": "one", "content": _document("a")},
            {"document": "two", "content": _document("b", "d")},
            {"document": "none", "content": _document("e")},
        ]
    )
    found = stage.visits(batch).to_pylist()
    assert Counter(row["document"] for row in found) == {"one": 1, "two": 2, "none": 1}
    (none,) = (row for row in found if row["document"] == "none")
    assert (none["shard"], none["content"], none["visits"]) == (NO_SHARD, None, 0)
    assert {row["visits"] for row in found if row["document"] == "two"} == {2}
    check(stage, batch)


def test_a_broken_document_is_a_dead_letter_once_wherever_it_would_have_gone() -> None:
    stage = stage_of(PATTERNS, 4)
    batch = _published([{"document": "broken", "content": _document("a", "b") + b"<"}])
    (row,) = _rows(stage.answers(batch))
    assert (row["stage"], row["line"]) == ("parse", 1)
    check(stage, batch)


def test_without_any_subscription_broken_documents_are_found_all_the_same() -> None:
    stage = stage_of([], 3)
    batch = _published(
        [{"document": "good", "content": b"<a/>"}, {"document": "broken", "content": b"<a>"}]
    )
    assert [row["stage"] for row in _rows(stage.answers(batch))].count("parse") == 1
    check(stage, batch)


@pytest.mark.parametrize("kind", [pa.string(), pa.large_string()], ids=str)
def test_text_that_was_decoded_stays_text(kind: pa.DataType) -> None:
    stage = stage_of(PATTERNS, 2)
    text = f'<?xml version="1.0" encoding="UTF-16"?>{_document("a").decode()}'
    batch = pa.RecordBatch.from_pydict({"document": ["a"], "content": pa.array([text], kind)})
    assert _pairs(_rows(stage.answers(batch)), "matches")
    check(stage, batch)


def test_slices_share_the_visits_of_a_shard() -> None:
    stage = stage_of(PATTERNS, 2, slices=3)
    rows = [{"document": str(number), "content": _document("a")} for number in range(50)]
    found = stage.visits(_published(rows)).to_pylist()
    assert {row["task"] // 3 for row in found} == {found[0]["shard"]}
    assert {row["task"] % 3 for row in found} == {0, 1, 2}
    check(stage, _published(rows))


def test_no_document_gives_no_visit() -> None:
    assert not len(stage_of(PATTERNS, 2).visits(_published([])))


def test_what_is_written_has_the_rows_of_its_receipt(tmp_path: Path) -> None:
    stage = stage_of(PATTERNS, 4)
    rows = [
        {"document": "a", "content": _document("a", "b")},
        {"document": "b", "content": b"<broken"},
        {"document": "c", "content": _document("e")},
    ]
    for table in (*parts.WRITTEN, visits.CROSSINGS):
        (tmp_path / table).mkdir()
    file = SubscriptionFile(
        tuple(
            Subscription(number, one.text, None, None, {}, number)
            for number, one in enumerate(PATTERNS)
        )
    )
    (receipt,) = _rows(
        visits.write_answers(
            stage.answers(_published(rows)),
            folder=str(tmp_path),
            part="part",
            schemas={
                table: parquet_schema(TABLES[table]) for table in ("deliveries", "dead_letters")
            },
            labels=labels_of(file),
        )
    )
    assert (receipt["documents"], receipt["visits"]) == (3, 2)
    assert receipt["bytes"] == sum(len(row["content"]) for row in rows)
    for table in ("deliveries", "dead_letters"):
        assert pq.read_metadata(tmp_path / table / "part").num_rows == receipt[table] > 0


def test_what_fails_leaves_no_part(tmp_path: Path) -> None:
    stage = stage_of(PATTERNS, 4)

    def failing() -> Iterator[pa.RecordBatch]:
        yield from stage.answers(_published([{"document": "a", "content": _document("a")}]))
        raise RuntimeError("in the middle")

    for table in (*parts.WRITTEN, visits.CROSSINGS):
        (tmp_path / table).mkdir()
    written = visits.write_answers(
        failing(),
        folder=str(tmp_path),
        part="part",
        schemas={table: parquet_schema(TABLES[table]) for table in ("deliveries", "dead_letters")},
        labels=labels_of(SubscriptionFile(())),
    )
    with pytest.raises(RuntimeError, match="in the middle"):
        list(written)
    assert not list(tmp_path.glob("*/part"))
