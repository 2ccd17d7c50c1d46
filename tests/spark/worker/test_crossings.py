"""The ways read off one answer are those that routers would have sent the documents."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.routing.networks import line, random_topology, star
from tests.routing.vocabulary import (
    STRATEGIES,
    THEMES,
    Expression,
    Theme,
    advertisement_of,
    annotating,
)
from twigcast import Network
from twigcast.covering import Advertisement
from twigcast.errors import UsageError
from twigcast.files import Subscription, SubscriptionFile
from twigcast.files.writing.versioned_files import write_versioned
from twigcast.language import Pattern
from twigcast.matching import Matcher
from twigcast.routing.static.crossing_rules import needed_links
from twigcast.routing.strategy import Strategy, covering, identity, prefix
from twigcast.spark.plans import prepare as prepared
from twigcast.spark.plans.design import design_of
from twigcast.spark.storage.tables import TABLES, arrow_of
from twigcast.spark.worker.broker_tree import BrokerTree
from twigcast.spark.worker.crossings import CrossingModel, crossing_model_bytes, load_crossing_model
from twigcast.spark.worker.labels import labels_of
from twigcast.spark.worker.matching import match_batches
from twigcast.spark.worker.parquet_parts import TrafficSums

pytestmark = pytest.mark.filterwarnings("ignore::twigcast.errors.FloodingWarning")
"""Networks are drawn with publishers who have advertised nothing, and flooding is right there."""

Promises = Mapping[str, Sequence[Advertisement]]

MORE: tuple[Strategy, ...] = (
    covering(unit="path"),
    identity(unit="path"),
    *annotating("lazy", "+s-sd"),
    *annotating("eager", "+s"),
)


def _asked(theme: Theme, rng: Random, brokers: Sequence[str]) -> list[tuple[str, Expression]]:
    return [(rng.choice(brokers), rng.choice(theme.spoken)) for _ in range(rng.randint(0, 14))]


def _routes(network: Network) -> pa.Table:
    rows = [
        (broker, link, text)
        for broker in network.brokers
        for link, texts in network.tables(broker).routes.items()
        for text in texts
    ]
    return arrow_of(rows, TABLES["routes"])


def _ways(
    topology: dict[str, Any],
    strategy: Strategy,
    asked: Sequence[tuple[str, Expression]],
    advertisements: Promises,
    routes: pa.Table,
) -> tuple[Matcher, CrossingModel]:
    """The matcher and the ways of the plan ``fused``, without Spark."""
    design = design_of(topology, strategy, advertisements=advertisements)
    file = SubscriptionFile(
        tuple(
            Subscription(number, each.text, None, broker, each.namespaces or {}, number)
            for number, (broker, each) in enumerate(asked)
        )
    )
    matcher = Matcher()
    for number, each in enumerate(file.subscriptions):
        matcher.add(number, Pattern.parse(each.xpath, each.namespaces))
    crossing_model, behind = prepared._crossings(design, labels_of(file, design.tree), routes)
    assert crossing_model is not None
    for number, pattern in enumerate(behind, start=len(asked)):
        matcher.add(number, pattern)
    return matcher, crossing_model


def _crossings(row: Mapping[str, Any], tree: BrokerTree, column: str) -> set[tuple[str, str]]:
    return {
        (tree.names[one], tree.names[other])
        for one, other in (tree.links[link] for link in row[column])
    }


def check(topology: dict[str, Any], strategy: Strategy, theme: Theme, rng: Random) -> None:
    network = Network(topology, strategy)
    asked = _asked(theme, rng, network.brokers)
    ids = [network.subscribe(at, "x", each.text, each.namespaces) for at, each in asked]
    advertisements: dict[str, list[Advertisement]] = {}
    for _ in range(rng.randint(0, 3)):
        advertisements.setdefault(rng.choice(network.brokers), []).append(
            advertisement_of(rng.choice(theme.schemas))
        )
    for broker, all_ in advertisements.items():
        for each in all_:
            network.advertise(broker, each)
    network.merge()
    matcher, crossing_model = _ways(topology, strategy, asked, advertisements, _routes(network))
    published = [(rng.choice(network.brokers), rng.choice(theme.documents)) for _ in range(8)]
    batch = pa.RecordBatch.from_pylist(
        [
            {"document": str(number), "content": content, "origin": origin}
            for number, (origin, content) in enumerate(published)
        ]
    )
    (outcomes,) = match_batches([batch], matcher, crossing_model=crossing_model)
    sums = TrafficSums()
    sums.add(outcomes)
    crossings = 0
    for row, (origin, content) in zip(outcomes.to_pylist(), published, strict=True):
        outcome = network.publish(origin, content)
        if outcome.refused is not None:
            assert row["stage"] == "route"
            assert row["matches"] is row["crossed"] is None
            continue
        assert row["stage"] is None
        received = {each.subscription for each in outcome.deliveries}
        assert {ids[position] for position in row["matches"]} == received
        crossed = _crossings(row, crossing_model.tree, "crossed")
        assert crossed == set(outcome.crossings), (str(strategy), asked, origin, content)
        receivers = {each.broker for each in outcome.deliveries}
        needed = needed_links(origin, receivers, network.topology.neighbours)
        assert _crossings(row, crossing_model.tree, "needless") == crossed - needed
        crossings += len(crossed)
        start = crossing_model.tree.number(origin)
        hops = crossing_model.hops(
            np.full(len(row["matches"]), start, np.int32), crossing_model.brokers[row["matches"]]
        )
        spanning = network.topology.tree()
        assert hops.tolist() == [
            spanning.hops(origin, asked[position][0]) for position in row["matches"]
        ]
    assert sum(link["documents"] for link in sums.rows()) == crossings


@pytest.mark.parametrize("strategy", [*STRATEGIES, *MORE], ids=str)
@settings(max_examples=settings().max_examples // 5)
@given(seed=st.integers(0, 2**32), theme=st.sampled_from(sorted(THEMES)))
def test_a_document_crosses_what_routers_send_it_over(
    strategy: Strategy, seed: int, theme: str
) -> None:
    rng = Random(seed)
    check(random_topology(rng, 9), strategy, THEMES[theme], rng)


@pytest.mark.parametrize("strategy", [covering(), prefix(depth=1)], ids=str)
@pytest.mark.parametrize("shape", [line(1), line(2), line(12), star(12)], ids=str)
def test_trees_may_be_long_or_wide(strategy: Strategy, shape: dict[str, Any]) -> None:
    for seed in range(5):
        check(shape, strategy, THEMES["plain"], Random(seed))


def test_what_no_origin_is_known_for_is_refused_and_the_rest_goes_on() -> None:
    matcher, crossing_model = _ways(line(2), covering(), [("B2", _plain("//a"))], {}, _no_routes())
    assert crossing_model.origins([None, "", "B2", "B9"]).tolist() == [0, 0, 1, -1]
    rows = [("one", b"<a/>", None), ("two", b"<a/>", "B9"), ("three", b"<a", "B9")]
    batch = pa.RecordBatch.from_pylist(
        [dict(zip(("document", "content", "origin"), row, strict=True)) for row in rows]
    )
    (outcomes,) = match_batches([batch], matcher, crossing_model=crossing_model)
    one, two, three = outcomes.to_pylist()
    assert (one["matches"], one["crossed"], one["needless"]) == ([0], [0], [])
    assert (two["stage"], two["matches"], two["crossed"]) == ("route", None, None)
    assert two["reason"] == "there is no broker 'B9' in the topology to publish it at"
    assert three["stage"] == "parse"


def test_undecided_subscriptions_are_brought_the_document() -> None:
    """Somebody has to be told there that it could not be decided."""
    asked = [("B3", _plain("//a[count(preceding::node()) = count(following::node()) - 1]"))]
    matcher, crossing_model = _ways(line(3), covering(), asked, {}, _no_routes())
    content = b"<r>" + b"<a/>" * 30_000 + b"</r>"
    batch = pa.RecordBatch.from_pylist([{"document": "d", "content": content}])
    (outcomes,) = match_batches([batch], matcher, crossing_model=crossing_model)
    (row,) = outcomes.to_pylist()
    assert (row["matches"], row["undecided"]) == ([], [0])
    assert _crossings(row, crossing_model.tree, "crossed") == {("B1", "B2"), ("B2", "B3")}
    assert row["needless"] == []


def test_ways_are_the_same_after_a_file(tmp_path: Path) -> None:
    topology = {"brokers": ["Ä", "b", "c"], "links": [["Ä", "b"], ["c", "b"]]}
    advertisements = {"b": [advertisement_of(0), advertisement_of(1)]}
    routes = arrow_of([("Ä", "b", "/a"), ("b", "c", "/a"), ("b", "c", "/b")], TABLES["routes"])
    _, crossing_model = _ways(
        topology, prefix(depth=1), [("c", _plain("/a/b"))], advertisements, routes
    )
    content = crossing_model_bytes(crossing_model)
    file = write_versioned(tmp_path, stem="ways", ending=".npz", content=content)
    again = load_crossing_model(str(file.path))
    assert again.tree == crossing_model.tree
    assert (again.origin, again.floods, again.perfect) == (0, False, False)
    assert again.brokers.tolist() == [2]
    assert (again.starts.tolist(), again.route_links.tolist()) == (
        [0, 2, 3],
        crossing_model.route_links.tolist(),
    )
    assert dict(again.advertisements) == {1: (advertisement_of(0), advertisement_of(1))}
    assert load_crossing_model(str(file.path)) is again
    file.path.write_bytes(content[:-1] + b"~")
    load_crossing_model.cache_clear()
    with pytest.raises(UsageError, match=rf"cannot use .*{file.path.name}"):
        load_crossing_model(str(file.path))


def _plain(text: str) -> Expression:
    return Expression(text, text)


def _no_routes() -> pa.Table:
    return arrow_of([], TABLES["routes"])
