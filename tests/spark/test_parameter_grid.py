"""A grid calls a function at every point, in order, and a point that fails fails alone."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from math import isnan, nan
from random import Random
from typing import TYPE_CHECKING

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from twigcast.errors import TwigcastError, UsageError
from twigcast.files.schemas import shipped_schema
from twigcast.routing import Network
from twigcast.spark import parameter_grid as parameters
from twigcast.spark.parameter_grid import attempt, grid, point_at, seed_of
from twigcast.workload import binary_tree, generate_documents, generate_patterns

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession


def _rows(table: DataFrame) -> list[dict[str, object]]:
    return [row.asDict() for row in table.drop("seconds").collect()]


def _crossings(strategy: str, levels: int, subscriptions: int, seed: int) -> dict[str, int]:
    """Deliveries and crossings of ten documents in a tree of brokers."""
    rng, transit = Random(seed), shipped_schema("transit")
    network = Network(binary_tree(levels, rng=rng), strategy)
    rng = Random(subscriptions)
    with network.batch():
        for pattern in generate_patterns(transit, rng=rng, count=subscriptions):
            network.subscribe(rng.choice(network.brokers), "ann", pattern)
    documents = generate_documents(transit, rng=rng, count=10, elements=30)
    outcomes = [network.publish(network.brokers[0], document) for document in documents]
    return {
        "deliveries": sum(len(outcome.deliveries) for outcome in outcomes),
        "crossings": sum(len(outcome.crossings) for outcome in outcomes),
    }


@pytest.mark.spark
@pytest.mark.xdist_group("spark")
def test_strategies_side_by_side_deliver_the_same(spark: SparkSession) -> None:
    axes: dict[str, list[object]]
    axes = {"strategy": ["flooding", "covering"], "levels": [2, 3], "subscriptions": [5, 20]}
    table = grid(spark, _crossings, axes)
    assert table.columns == [*axes, "repeat", "deliveries", "crossings", "seconds", "error"]
    assert [kind for _, kind in table.dtypes] == (
        ["string", "bigint", "bigint", "int", "bigint", "bigint", "double", "string"]
    )
    rows = _rows(table)
    for row, number in zip(rows, range(8), strict=True):
        point, repeat = point_at(axes, 1, number)
        here = _crossings(**point, seed=seed_of(point, repeat))  # type: ignore[arg-type]
        assert row == {**point, "repeat": 1, **here, "error": None}
    flooded, covered = rows[:4], rows[4:]
    assert [row["deliveries"] for row in flooded] == [row["deliveries"] for row in covered]
    assert [row["crossings"] for row in flooded] == [20, 20, 60, 60]
    assert sum(int(str(row["crossings"])) for row in covered) < 160


@pytest.mark.spark
@pytest.mark.xdist_group("spark")
def test_a_failing_point_is_a_row_and_what_is_missing_is_null(spark: SparkSession) -> None:
    def work(x: int) -> dict[str, object]:
        if x == 1:
            raise ValueError("one is too few")
        return {"half": x / 2} if x < 3 else {"half": 1, "name": f"x{x}", "odd": x % 2 == 1}

    rows = _rows(grid(spark, work, {"x": [0, 1, 2, 3]}, partitions=2))  # type: ignore[arg-type]
    assert rows == [
        {"x": 0, "repeat": 1, "half": 0.0, "name": None, "odd": None, "error": None},
        {"x": 1, "repeat": 1, "half": None, "name": None, "odd": None, "error": _TOO_FEW},
        {"x": 2, "repeat": 1, "half": 1.0, "name": None, "odd": None, "error": None},
        {"x": 3, "repeat": 1, "half": 1.0, "name": "x3", "odd": True, "error": None},
    ]


_TOO_FEW = "ValueError: one is too few"


@pytest.mark.spark
@pytest.mark.xdist_group("spark")
def test_repeats_have_seeds_of_their_own_however_the_work_is_shared_out(
    spark: SparkSession,
) -> None:
    def work(x: str, seed: int) -> dict[str, int]:
        return {"drawn": seed}

    axes = {"x": ["a", "b"]}
    rows = _rows(grid(spark, work, axes, repeats=3))
    assert [(row["x"], row["repeat"]) for row in rows] == [
        (x, repeat) for x in "ab" for repeat in (1, 2, 3)
    ]
    assert len({row["drawn"] for row in rows}) == 6
    assert _rows(grid(spark, work, axes, repeats=3, partitions=1)) == rows
    own = _rows(grid(spark, work, {**axes, "seed": [7]}))
    assert [(row["seed"], row["drawn"]) for row in own] == [(7, 7), (7, 7)]


@pytest.mark.spark
@pytest.mark.xdist_group("spark")
def test_a_grid_without_axes_is_a_single_point(spark: SparkSession) -> None:
    assert _rows(grid(spark, dict, {})) == [{"repeat": 1, "error": None}]


@pytest.mark.spark
@pytest.mark.xdist_group("spark")
def test_a_point_that_takes_its_worker_down_stops_the_grid_in_one_sentence(
    spark: SparkSession,
) -> None:
    def work() -> dict[str, int]:
        import os

        os._exit(1)

    with pytest.raises(TwigcastError, match="the grid did not finish: "):
        grid(spark, work, {})


@pytest.mark.spark
@pytest.mark.xdist_group("spark")
def test_a_function_that_drags_along_what_cannot_travel_is_refused(spark: SparkSession) -> None:
    drawn = (number for number in range(3))
    with pytest.raises(UsageError, match=r"cannot be sent to workers: .*generator"):
        grid(spark, lambda: {"next": next(drawn)}, {})


@pytest.mark.parametrize(
    ("axes", "options", "complaint"),
    [
        ({"x": []}, {}, "'x' has no values"),
        ({"x": [1], "error": [2]}, {}, "cannot be called 'error'"),
        ({"x": [1], "Seconds": [2]}, {}, "cannot be called 'Seconds'"),
        ({"x": [1], "X": [1]}, {}, "capitals"),
        ({"x": [1]}, {"repeats": 0}, "count from 1"),
        ({"x": [1]}, {"partitions": 0}, "count from 1"),
        ({"x": range(1000), "y": range(101)}, {}, "101,000 points, and POINTS_MAX is 100,000"),
    ],
)
def test_a_wrong_grid_is_refused_before_anything_is_started(
    axes: Mapping[str, Sequence[object]], options: dict[str, int], complaint: str
) -> None:
    with pytest.raises(UsageError, match=complaint):
        grid(None, lambda **_: {}, axes, **options)  # type: ignore[arg-type]


def test_a_function_that_does_not_take_the_axes_is_refused() -> None:
    with pytest.raises(UsageError, match=r"does not take these axes: .*'y'"):
        grid(None, lambda x, y: {x: y}, {"x": [1]})  # type: ignore[arg-type]
    with pytest.raises(UsageError, match="not a str"):
        grid(None, "work", {"x": [1]})  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("answer", "complaint"),
    [
        (7, "UsageError: a point returns a mapping from names to values, not 7"),
        ({"a": [1]}, "UsageError: 'a' is a list: give numbers, texts or truth values"),
        ({"a": 2**63}, f"UsageError: 'a' is {2**63}: whole numbers have 64 bits at most"),
        ({"Error": 1}, "UsageError: a point cannot return 'Error': the table has such a column"),
    ],
)
def test_an_answer_that_is_no_row_is_an_error_of_its_point(answer: object, complaint: str) -> None:
    _, found, error = attempt(lambda: answer, {})  # type: ignore[arg-type, return-value]
    assert (found, error) == (None, complaint)


def test_numbers_of_numpy_and_infinite_ones_are_plain() -> None:
    answer = {"a": np.int32(7), "b": np.bool_(1), "c": nan, "d": np.float32(0.5)}
    _, found, error = attempt(lambda: answer, {})  # type: ignore[arg-type, return-value]
    assert error is None
    plain = json.loads(found or "")
    assert isnan(plain.pop("c"))
    assert plain == {"a": 7, "b": True, "d": 0.5}
    assert plain["b"] is True


@given(st.lists(st.one_of(st.none(), st.booleans(), st.integers(), st.floats(), st.text())))
def test_every_column_takes_the_values_it_was_made_of(values: list[parameters.Plain]) -> None:
    column = parameters._column(values).to_pylist()
    assert [value is None for value in column] == [value is None for value in values]
    for value, found in zip(values, column, strict=True):
        assert found == value or str(value) == found or str(found) in {"nan", str(float(value))}  # type: ignore[arg-type]
