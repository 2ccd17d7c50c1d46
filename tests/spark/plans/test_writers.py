"""Tables hold every row once, whatever becomes of tasks, and whoever writes them."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING, cast

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from pyspark import TaskContext

from twigcast.errors import TwigcastError
from twigcast.spark import Publications
from twigcast.spark.plans.design import design_of
from twigcast.spark.plans.distribution import Documents, documents_in_table
from twigcast.spark.plans.prepare import prepare
from twigcast.spark.plans.writers import TableWriter
from twigcast.spark.storage.batches import BatchOutput, Output, Store, local_store
from twigcast.spark.storage.sources import load_subscriptions
from twigcast.spark.storage.tables import TABLES, arrow_of
from twigcast.spark.worker import parquet_parts as parts

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession
    from pyspark.sql.types import StructType

    from twigcast.spark.plans.distribution import WorkerFunction
    from twigcast.spark.plans.prepare import Prepared

    Batches = Iterator[pa.RecordBatch]

pytestmark = [pytest.mark.spark, pytest.mark.xdist_group("spark")]

SUBSCRIPTIONS = load_subscriptions({"any": "/a", "b": "//b", "none": "//none"})
ATTEMPTS = "_staging/batch=0/attempts"
CONTENTS = {f"{number}": b"<a><b/></a>" if number % 3 else b"<a/>" for number in range(40)}
CONTENTS["broken"] = b"<a>"
EXPECTED = sorted(
    [(name, "any") for name in CONTENTS if name != "broken"]
    + [(name, "b") for name, content in CONTENTS.items() if b"<b/>" in content]
)


@pytest.fixture(scope="module")
def prepared(spark: SparkSession) -> Prepared:
    found = prepare(spark, SUBSCRIPTIONS, design_of(None))
    assert found.rejected == ()
    return found


@pytest.fixture(scope="module")
def table(spark: SparkSession) -> DataFrame:
    """The documents, in two partitions."""
    arrow = pa.table({"document": list(CONTENTS), "content": list(CONTENTS.values())})
    return spark.createDataFrame(arrow).repartition(2).cache()


def _output(store: Store) -> BatchOutput:
    return Output(store, TABLES).batch(0)


def _finish(tables: TableWriter, output: BatchOutput) -> None:
    tables.write()
    for name in ("traffic", "rejected", "routes", "metrics"):
        tables.put(name, arrow_of([], TABLES[name]))
    output.finish({})


def _pairs(out: Path) -> list[tuple[str, str]]:
    rows = pq.read_table(out / "deliveries").to_pylist()
    return sorted((row["document"], row["subscription"]) for row in rows)


def _letters(out: Path) -> list[str]:
    return [row["document"] for row in pq.read_table(out / "dead_letters").to_pylist()]


def _attempts(out: Path) -> list[str]:
    return sorted(path.name for path in (out / ATTEMPTS / "deliveries").iterdir())


def _disturbed(table: DataFrame, ending: str) -> Documents:
    """The documents, in tasks whose first attempts end badly when they have begun to write."""

    def disturbed(answer: WorkerFunction, schema: StructType) -> DataFrame:
        def attempt(batches: Batches) -> Batches:
            context = TaskContext.get()
            assert context is not None
            first = context.attemptNumber() == 0

            def fed() -> Batches:
                for batch in batches:
                    for row in range(len(batch)):
                        yield batch.slice(row, 1)
                if first and ending == "killed":
                    os.kill(os.getpid(), signal.SIGKILL)
                if first and ending == "failed":
                    raise ZeroDivisionError("the first attempt")

            usual = parts.ROW_GROUP_ROWS_MAX
            parts.ROW_GROUP_ROWS_MAX = 1
            try:
                # An answer that is lost on its way: all was written, and has to be written again.
                for receipt in answer(fed()):
                    if first and ending == "lost":
                        raise ZeroDivisionError("its answer was lost")
                    yield receipt
            finally:
                parts.ROW_GROUP_ROWS_MAX = usual

        return table.mapInArrow(attempt, schema)

    rows = cast("DataFrame", SimpleNamespace(mapInArrow=disturbed))
    return Documents(rows, lambda batches: batches)


@pytest.mark.parametrize(("ending", "left"), [("killed", 2), ("failed", 0), ("lost", 2)])
def test_an_attempt_that_ends_badly_adds_nothing_and_loses_nothing(
    tmp_path: Path,
    spark: SparkSession,
    prepared: Prepared,
    table: DataFrame,
    ending: str,
    left: int,
) -> None:
    output = _output(local_store(str(tmp_path)))
    documents = _disturbed(table, ending)
    with prepared.plan.run(spark, output, documents) as tables:
        sums = tables.match()
        assert len(_attempts(tmp_path)) == 2 + left, "two tasks, and what first attempts left"
        _finish(tables, output)
    assert (sums.documents, sums.deliveries) == (41, len(EXPECTED))
    assert _pairs(tmp_path) == EXPECTED
    assert _letters(tmp_path) == ["broken"]
    assert {path.name for path in tmp_path.iterdir()} == {"_manifest", *TABLES}


def test_what_is_computed_again_is_written_once(
    tmp_path: Path, spark: SparkSession, prepared: Prepared, table: DataFrame
) -> None:
    output = _output(local_store(str(tmp_path)))
    documents = documents_in_table(table, Publications(table))
    with prepared.plan.run(spark, output, documents) as tables:
        assert tables.match() == tables.match()
        assert len(_attempts(tmp_path)) == 4
        _finish(tables, output)
    assert len(list((tmp_path / "deliveries/batch=0").iterdir())) == 2
    assert _pairs(tmp_path) == EXPECTED


class _OnlyDriver:
    """A store that workers cannot write to."""

    def __init__(self, path: Path) -> None:
        self._store = local_store(str(path))

    def __getattr__(self, name: str) -> object:
        return getattr(self._store, name)

    def folder(self, _name: str) -> None:
        return None


@pytest.mark.parametrize("ending", ["killed", "failed", "lost"])
def test_an_attempt_that_ends_badly_changes_nothing_where_the_driver_writes(
    tmp_path: Path, spark: SparkSession, prepared: Prepared, table: DataFrame, ending: str
) -> None:
    output = _output(_OnlyDriver(tmp_path))  # type: ignore[arg-type]
    with prepared.plan.run(spark, output, _disturbed(table, ending)) as tables:
        sums = tables.match()
        _finish(tables, output)
    assert (sums.documents, sums.deliveries, sums.tasks) == (41, len(EXPECTED), 2)
    assert _pairs(tmp_path) == EXPECTED
    assert _letters(tmp_path) == ["broken"]
    assert {path.name for path in tmp_path.iterdir()} == {"_manifest", *TABLES}


def test_the_driver_writes_where_workers_cannot_also_when_spark_lost_what_it_kept(
    tmp_path: Path, spark: SparkSession, prepared: Prepared, table: DataFrame
) -> None:
    output = _output(_OnlyDriver(tmp_path))  # type: ignore[arg-type]
    documents = documents_in_table(table, Publications(table))
    with prepared.plan.run(spark, output, documents) as tables:
        sums = tables.match()
        spark.catalog.clearCache()
        _finish(tables, output)
    assert (sums.documents, sums.deliveries, sums.dead_letters) == (41, len(EXPECTED), 1)
    assert _pairs(tmp_path) == EXPECTED
    assert _letters(tmp_path) == ["broken"]


@pytest.mark.parametrize(
    ("damage", "complaint"),
    [
        (lambda part: part.unlink(), "it is not there; the output folder must be the same one"),
        (lambda part: part.write_bytes(part.read_bytes()[:-9]), "is damaged"),
        (
            lambda part: pq.write_table(pq.read_table(part).slice(1), part),
            r"has \d+ rows, and its worker wrote \d+",
        ),
    ],
    ids=["absent", "cut off", "too few rows"],
)
def test_a_part_that_is_not_what_its_receipt_says_stops_the_run(
    tmp_path: Path,
    spark: SparkSession,
    prepared: Prepared,
    table: DataFrame,
    damage: object,
    complaint: str,
) -> None:
    assert callable(damage)
    output = _output(local_store(str(tmp_path)))
    documents = documents_in_table(table, Publications(table))
    with prepared.plan.run(spark, output, documents) as tables:
        tables.match()
        damage(tmp_path / ATTEMPTS / "deliveries" / _attempts(tmp_path)[0])
        with pytest.raises(TwigcastError, match=complaint):
            tables.write()
    assert [path.name for path in tmp_path.iterdir()] == ["_staging"]
