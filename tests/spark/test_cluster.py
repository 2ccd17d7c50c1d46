"""On a standalone cluster of two workers: the same as embedded, and nothing lost with a machine.

Two drivers are programs that connect to the cluster, a third one is submitted to it.

Whatever is killed is killed in the middle: each task hands over the first half of its documents,
says that it has come so far, and goes on when it may. One driver is killed itself; the next one
takes up its output, then loses an executor, and then a Python worker. The rows must be those of a
quiet run of an embedded Spark every time.
"""

from __future__ import annotations

import json
import os
import signal
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import pyarrow.parquet
import pytest

from tests.spark import cluster_driver
from tests.spark.clusters import StandaloneCluster, Started, started, submit_command, until
from twigcast.files import VersionedFile
from twigcast.spark import run_batch
from twigcast.spark.plans import distribution as job

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = [pytest.mark.spark, pytest.mark.xdist_group("spark"), pytest.mark.timeout(1_800)]

TOPOLOGY = {
    "brokers": ["hub", "north", "south", "pole"],
    "links": [["hub", "north"], ["hub", "south"], ["north", "pole"]],
}

SUBSCRIPTIONS = """id,xpath,broker
small,//b[. < 5],north
any,/a/b,south
mine,//b[. = 7],
twins,//b[. = 7],pole
never,//c,north
lost,//b,nowhere
"""

PROGRAM = Path(cluster_driver.__file__)

SUBMITTED = {
    "spark.dynamicAllocation.enabled": "true",
    "spark.dynamicAllocation.executorIdleTimeout": "1s",
    "spark.dynamicAllocation.maxExecutors": "2",
    "spark.speculation": "true",
    "spark.speculation.interval": "100ms",
    "spark.speculation.minTaskRuntime": "0ms",
    "spark.speculation.quantile": "0.5",
    "spark.sql.execution.arrow.maxRecordsPerBatch": "7",
    "spark.ui.port": "0",
}
"""Executors come and go, and what is slow is done twice."""

VICTIMS = ("driver", "executor", "worker", "lost", "slow")

Rows = list[tuple[object, ...]]


@pytest.fixture(scope="module")
def work(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with subscriptions, documents, and a gate for each victim."""
    folder = tmp_path_factory.mktemp("work")
    (folder / "subscriptions.csv").write_text(SUBSCRIPTIONS, encoding="utf-8")
    (folder / "feed").mkdir()
    for number in range(cluster_driver.DOCUMENTS):
        path = folder / "feed" / f"{number:03}.xml"
        path.write_text(f"<a><b>{number}</b></a>", encoding="utf-8")
    for victim in VICTIMS:
        (folder / f"gate-{victim}").mkdir()
    return folder


@pytest.fixture(scope="module")
def done(standalone_cluster: StandaloneCluster, work: Path) -> dict[str, list[int]]:
    """All that was run on the cluster: deliveries and workers of each step."""
    gates = {victim: work / f"gate-{victim}" for victim in VICTIMS}
    with _driver(standalone_cluster, work, "first", "driver") as driver:
        _arrived(gates["driver"], driver)
        driver.process.kill()
        driver.process.wait()
    (gates["driver"] / "go").touch()
    assert not (work / "driver" / "_manifest").exists()
    steps = ["driver", "executor", "worker", "files:fused", "files:hops"]
    with _driver(standalone_cluster, work, "second", *steps) as driver:
        _arrived(gates["executor"], driver)
        _kill_executor(standalone_cluster, driver)
        (gates["executor"] / "go").touch()
        os.kill(_arrived(gates["worker"], driver)[0], signal.SIGKILL)
        (gates["worker"] / "go").touch()
        _, *lines = _said(driver)
        return {step: counts for step, *counts in lines}


@pytest.fixture(scope="module")
def submitted(
    standalone_cluster: StandaloneCluster,
    work: Path,
    done: dict[str, list[int]],
) -> dict[str, Any]:
    """Where a submitted program ran and with what, and what it has run there.

    It has the cluster when the others are ``done``.
    """
    cluster, gate = standalone_cluster, work / "gate-lost"
    settings = {**cluster.settings, **SUBMITTED, "spark.local.dir": f"{work}/local"}
    words = ("{}", json.dumps(TOPOLOGY), "slow", "lost", "again:hops")
    command = submit_command(cluster.master, settings, "--name", "mine", PROGRAM, work, *words)
    with started(command, work / "submitted.log", cluster.environment) as driver:
        _arrived(gate, driver)
        places = [path.read_text(encoding="utf-8") for path in gate.iterdir()]
        _kill_executor(cluster, driver)
        (gate / "go").touch()
        facts, *lines = _said(driver)
        return {**facts, "places": places, "steps": {step: counts for step, *counts in lines}}


@pytest.fixture(scope="module")
def expected(work: Path, spark: SparkSession) -> Callable[[str], Rows]:
    """The rows of a table by an embedded Spark."""
    run_batch(
        work / "subscriptions.csv",
        work / "feed",
        work / "embedded",
        spark=spark,
        topology=TOPOLOGY,
        strategy="covering",
    )
    return lambda table: _rows(work / "embedded", table)


@contextmanager
def _driver(cluster: StandaloneCluster, work: Path, name: str, *steps: str) -> Iterator[Started]:
    """A driver on the cluster, whose words are in its log."""
    settings = {**cluster.settings, "spark.master": cluster.master, "spark.ui.enabled": "false"}
    told = (work, json.dumps(settings), json.dumps(TOPOLOGY))
    command: list[str | Path] = [sys.executable, PROGRAM, *told, *steps]
    with started(command, work / f"{name}.log", {"TMPDIR": str(work)}) as driver:
        yield driver


def _said(driver: Started) -> list[Any]:
    """What a driver has printed when it has ended well, which are lines of JSON."""
    until(lambda: driver.process.poll() is not None, what="the driver", seconds=240)
    said = driver.log.read_text(encoding="utf-8")
    assert driver.process.returncode == 0, said
    return [json.loads(line) for line in said.splitlines() if line.startswith(("[", "{"))]


def _kill_executor(cluster: StandaloneCluster, driver: Started) -> None:
    """Kill one of the executors that a driver has at present."""
    (application,) = driver.said(r'"application": "(\S+)"')
    os.kill(cluster.executors(application)[0], signal.SIGKILL)


def _arrived(gate: Path, driver: Started) -> list[int]:
    """The Python workers that wait at a gate, as soon as there is one for each executor."""

    def waiting() -> list[int]:
        assert driver.process.poll() is None, driver.log.read_text(encoding="utf-8")
        found = [int(path.name) for path in gate.iterdir()]
        return found if len(found) == 2 else []

    return until(waiting, what=f"tasks at {gate}")


def _rows(out: Path, table: str) -> Rows:
    rows = pyarrow.parquet.read_table(out / table).to_pylist()
    for row in rows:
        if "document" in row:
            row["document"] = row["document"].rsplit("/", 1)[-1]
    return sorted((tuple(row.values()) for row in rows), key=str)


@pytest.mark.parametrize("table", ["deliveries", "traffic", "dead_letters", "rejected", "routes"])
@pytest.mark.parametrize("step", ["files:fused", "files:hops", "driver", "executor", "worker"])
def test_the_rows_are_those_of_an_embedded_spark(
    step: str,
    table: str,
    done: dict[str, list[int]],
    work: Path,
    expected: Callable[[str], Rows],
) -> None:
    assert _rows(work / step, table) == expected(table)
    if table == "deliveries":
        assert done[step][0] == len(expected(table)) == 5 + cluster_driver.DOCUMENTS + 1 + 1


def test_both_workers_of_the_cluster_take_part(done: dict[str, list[int]]) -> None:
    assert done["files:fused"][1] >= 2


def test_a_submitted_program_runs_on_the_cluster_that_it_was_submitted_to(
    submitted: dict[str, Any], standalone_cluster: StandaloneCluster
) -> None:
    assert submitted["master"] == standalone_cluster.master
    application = submitted["application"]
    (master, *workers) = standalone_cluster.processes
    assert master.said(r"Registered app (\S+ with ID \S+)")[-1] == f"mine with ID {application}"
    # A worker of the cluster gives each of its executors a folder to work in.
    folders = {str(worker.log.with_suffix("") / application) for worker in workers}
    assert {str(Path(place).parent) for place in submitted["places"]} == folders


def test_what_was_submitted_counts_more_than_what_is_set_here(
    submitted: dict[str, Any], work: Path
) -> None:
    assert submitted["spark.app.name"] == "mine"
    assert submitted["spark.local.dir"] == f"{work}/local"
    assert submitted["spark.sql.execution.arrow.maxRecordsPerBatch"] == "7"


def test_only_an_embedded_spark_is_without_its_web_page(submitted: dict[str, Any]) -> None:
    assert submitted["has web page"]


@pytest.mark.parametrize("table", ["deliveries", "traffic", "dead_letters", "rejected", "routes"])
@pytest.mark.parametrize("step", ["slow", "lost", "again:hops"])
def test_the_rows_are_the_same_where_executors_come_and_go_and_tasks_are_done_twice(
    step: str,
    table: str,
    submitted: dict[str, Any],
    work: Path,
    expected: Callable[[str], Rows],
) -> None:
    assert _rows(work / step, table) == expected(table)
    assert submitted["steps"][step][0] == len(expected("deliveries"))


class _Elsewhere:
    """As much of a session on a cluster as sharing needs."""

    def __init__(self) -> None:
        self.sparkContext = SimpleNamespace(master="spark://host:7077")
        self.added: list[str] = []

    def addArtifacts(self, *paths: str, file: bool) -> None:  # noqa: N802 (Spark's name)
        assert file
        self.added += paths


def test_what_executors_may_still_fetch_stays(tmp_path: Path) -> None:
    path = tmp_path / "ways-1.npz"
    path.write_bytes(b"ways")
    file, session = VersionedFile(path, "1"), _Elsewhere()
    job.share(session, file)  # type: ignore[arg-type]
    job.discard(file)
    assert session.added == [str(path)]
    assert path.exists()
