"""Two runs into one folder: the second is refused, and the first is whole."""

from __future__ import annotations

from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from tests.spark.finished_runs import TABLES, finish_run
from twigcast.errors import UsageError
from twigcast.spark import run_batch
from twigcast.spark.plans.writers import ByWorkers, Sums
from twigcast.spark.storage.batches import Output, local_store
from twigcast.spark.storage.folder_lock import alone


def test_a_folder_is_locked_until_the_end_and_nothing_is_left(tmp_path: Path) -> None:
    store = local_store(str(tmp_path))
    refused = pytest.raises(UsageError, match="another run is writing into")
    with alone(store), refused, alone(local_store(f"{tmp_path}/.")):
        pass
    with alone(store):
        pass
    assert not list(tmp_path.iterdir())


def test_a_run_that_finds_another_finished_meanwhile_is_refused(tmp_path: Path) -> None:
    output = Output(local_store(str(tmp_path)), TABLES).batch(0)
    finish_run(tmp_path, "other")
    with pytest.raises(UsageError, match="holds a finished run"):
        output.begin()
    assert (tmp_path / "deliveries/batch=0/part").read_text() == "other deliveries"


@pytest.mark.spark
@pytest.mark.xdist_group("spark")
@pytest.mark.parametrize("overwrite", [False, True])
def test_a_run_beside_another_is_refused_and_the_other_is_whole(
    tmp_path: Path,
    spark: SparkSession,
    monkeypatch: pytest.MonkeyPatch,
    overwrite: bool,  # noqa: FBT001
) -> None:
    feed = spark.createDataFrame([(f"<a>{number}</a>",) for number in range(9)], "content string")
    out, match, refused = tmp_path / "out", ByWorkers.match, []

    def second_run() -> None:
        run_batch(["//b"], feed, out, overwrite=overwrite, spark=spark)

    def match_beside_another(writer: ByWorkers) -> Sums:
        monkeypatch.undo()
        sums = match(writer)
        with pytest.raises(UsageError, match="another run is writing into") as error:
            second_run()
        refused.append(error)
        return sums

    monkeypatch.setattr(ByWorkers, "match", match_beside_another)
    run = run_batch(["//a"], feed, out, overwrite=overwrite, spark=spark)
    assert len(refused) == 1
    assert run.deliveries == run.table("deliveries").count() == 9
    assert run.table("metrics").count() == 1
