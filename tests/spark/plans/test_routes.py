"""Spark comes to the routes that one process comes to."""

from __future__ import annotations

from random import Random
from typing import TYPE_CHECKING

import pyarrow as pa
import pytest

from tests.routing.networks import line
from tests.routing.networks import tree as branching
from tests.routing.vocabulary import THEMES, advertisement_of
from twigcast.errors import UsageError
from twigcast.language import Pattern
from twigcast.routing import Topology
from twigcast.routing.static.route_computation import spread
from twigcast.routing.strategy import (
    Strategy,
    advertised,
    covering,
    flooding,
    identity,
    piggyback,
    prefix,
)
from twigcast.spark.plans.routes import ROUTES, compute_routes
from twigcast.spark.session.progress import Progress

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from twigcast.covering import Advertisement

pytestmark = [pytest.mark.spark, pytest.mark.xdist_group("spark")]

STRATEGIES = (
    covering(),
    advertised(merging="imperfect", degree=0.6),
    identity(unit="path"),
    piggyback("lazy", on=prefix()),
)
Rows = list[tuple[str, str, str]]


def asked(brokers: tuple[str, ...], count: int) -> list[tuple[str, Pattern]]:
    rng = Random(7)
    spoken = THEMES["everything"].spoken
    return [(rng.choice(brokers), rng.choice(spoken).pattern) for _ in range(count)]


def promised(brokers: tuple[str, ...]) -> dict[str, list[Advertisement]]:
    return {
        brokers[0]: [advertisement_of(0), advertisement_of(7)],
        brokers[-1]: [advertisement_of(8)],
    }


def table(own: list[tuple[str, Pattern]]) -> pa.Table:
    return pa.table(
        {
            "broker": pa.array([broker for broker, _ in own], pa.string()).dictionary_encode(),
            "pattern": pa.array([each.text for _, each in own], pa.string()).dictionary_encode(),
        }
    )


def rows(found: pa.Table) -> Rows:
    return list(zip(*(found.column(name).to_pylist() for name in ROUTES.names), strict=True))


def expected(tree: Topology, strategy: Strategy, own: list[tuple[str, Pattern]]) -> Rows:
    """By two sweeps in one process, in order."""
    by_broker: dict[str, list[Pattern]] = {}
    for broker, pattern in own:
        by_broker.setdefault(broker, []).append(pattern)
    said = spread(tree.tree(), strategy, by_broker, promised(tree.brokers)).forwarded
    place = tree.brokers.index
    return [
        (broker, neighbour, pattern.text)
        for broker, neighbour in sorted(said, key=lambda link: (place(link[0]), place(link[1])))
        for pattern in said[broker, neighbour]
    ]


@pytest.mark.parametrize("strategy", STRATEGIES, ids=str)
def test_on_spark_the_routes_are_those_of_one_process(
    spark: SparkSession, strategy: Strategy
) -> None:
    tree = Topology.of(branching([0, 0, 1, 1])).tree()
    own = asked(tree.brokers, 60)
    advertisements = promised(tree.brokers)
    told: list[Progress] = []
    found = compute_routes(
        spark, tree, strategy, table(own), advertisements, spark_min=0, listener=told.append
    )
    assert found.schema == ROUTES
    assert rows(found) == expected(tree, strategy, own) != []
    assert told[-1].done == told[-1].total


@pytest.mark.parametrize("strategy", STRATEGIES, ids=str)
def test_few_subscriptions_are_routed_without_spark(
    strategy: Strategy,
) -> None:
    tree = Topology.of(line(4)).tree()
    own = asked(tree.brokers, 20)
    found = compute_routes(None, tree, strategy, table(own), promised(tree.brokers))  # type: ignore[arg-type]
    assert found.schema == ROUTES
    assert rows(found) == expected(tree, strategy, own) != []


def test_there_are_no_routes_where_everything_is_flooded() -> None:
    tree = Topology.of(line(3)).tree()
    found = compute_routes(None, tree, flooding(), table(asked(tree.brokers, 5)))  # type: ignore[arg-type]
    assert found.schema == ROUTES
    assert found.num_rows == 0


def test_there_are_no_routes_without_subscriptions(spark: SparkSession) -> None:
    tree = Topology.of(line(2)).tree()
    assert compute_routes(spark, tree, covering(), table([]), spark_min=0).num_rows == 0


def test_a_subscription_at_no_broker_is_an_error() -> None:
    own = table([("nowhere", Pattern.parse("/a"))])
    with pytest.raises(UsageError, match="no broker 'nowhere'"):
        compute_routes(None, Topology.of(line(2)).tree(), covering(), own)  # type: ignore[arg-type]
