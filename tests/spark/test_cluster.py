"""On a standalone cluster of two workers: the same as embedded, and nothing lost with a machine.

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
from typing import TYPE_CHECKING

import pyarrow.parquet
import pytest

from tests.spark.clusters import StandaloneCluster, Started, started, until
from twigcast.files import VersionedFile
from twigcast.spark import run_batch
from twigcast.spark.plans import distribution as job

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = [pytest.mark.spark, pytest.mark.xdist_group("spark"), pytest.mark.timeout(600)]

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

DOCUMENTS = 40

DRIVER = """
import json, os, sys, threading
from pathlib import Path
import pyarrow as pa
from twigcast.spark import Publications, run_batch, start_session

folder, master, settings = Path(sys.argv[1]), sys.argv[2], json.loads(sys.argv[3])
topology, steps = json.loads(sys.argv[4]), sys.argv[5:]
spark = start_session(master, settings=settings, quick=True)


def half_by_half(gate):
    def documents(batches):
        numbers = [number for batch in batches for number in batch.column("id").to_pylist()]
        for half in (numbers[: len(numbers) // 2], numbers[len(numbers) // 2 :]):
            names = [f"{number:03}.xml" for number in half]
            contents = [f"<a><b>{number}</b></a>" for number in half]
            yield pa.RecordBatch.from_pydict({"document": names, "content": contents})
            (gate / str(os.getpid())).touch()
            while not (gate / "go").exists():
                threading.Event().wait(0.05)
    return documents


for step in steps:
    kind, _, plan = step.partition(":")
    feed = folder / "feed"
    if not plan:
        rows = spark.range(0, DOCUMENTS, 1, 4).mapInArrow(
            half_by_half(folder / f"gate-{step}"), "document string, content string"
        )
        feed = Publications(rows)
    run = run_batch(
        folder / "subscriptions.csv", feed, folder / step, spark=spark, topology=topology,
        strategy="covering", plan=plan or "fused",
    )
    print(json.dumps([step, run.deliveries, run.workers]), flush=True)
spark.stop()
"""

Rows = list[tuple[object, ...]]


@pytest.fixture(scope="module")
def work(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with subscriptions, documents, and a gate for each victim."""
    folder = tmp_path_factory.mktemp("work")
    (folder / "subscriptions.csv").write_text(SUBSCRIPTIONS, encoding="utf-8")
    (folder / "feed").mkdir()
    for number in range(DOCUMENTS):
        path = folder / "feed" / f"{number:03}.xml"
        path.write_text(f"<a><b>{number}</b></a>", encoding="utf-8")
    for victim in ("driver", "executor", "worker"):
        (folder / f"gate-{victim}").mkdir()
    return folder


@pytest.fixture(scope="module")
def done(standalone_cluster: StandaloneCluster, work: Path) -> dict[str, list[int]]:
    """All that was run on the cluster: deliveries and workers of each step."""
    gates = {victim: work / f"gate-{victim}" for victim in ("driver", "executor", "worker")}
    with _driver(standalone_cluster, work, "first", "driver") as driver:
        _arrived(gates["driver"], driver)
        driver.process.kill()
        driver.process.wait()
    (gates["driver"] / "go").touch()
    assert not (work / "driver" / "_manifest").exists()
    steps = ["driver", "executor", "worker", "files:fused", "files:hops"]
    with _driver(standalone_cluster, work, "second", *steps) as driver:
        _arrived(gates["executor"], driver)
        os.kill(standalone_cluster.executors()[0], signal.SIGKILL)
        (gates["executor"] / "go").touch()
        os.kill(_arrived(gates["worker"], driver)[0], signal.SIGKILL)
        (gates["worker"] / "go").touch()
        until(lambda: driver.process.poll() is not None, what="the driver", seconds=120)
        said = driver.log.read_text(encoding="utf-8")
        assert driver.process.returncode == 0, said
        return {step: counts for step, *counts in map(json.loads, said.splitlines())}


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
    told = [str(work), cluster.master, json.dumps(dict(cluster.settings)), json.dumps(TOPOLOGY)]
    program = DRIVER.replace("DOCUMENTS", str(DOCUMENTS))
    command = [sys.executable, "-c", program, *told, *steps]
    with started(command, work / f"{name}.log", {"TMPDIR": str(work)}) as driver:
        yield driver


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
        assert done[step][0] == len(expected(table)) == 5 + DOCUMENTS + 1 + 1


def test_both_workers_of_the_cluster_take_part(done: dict[str, list[int]]) -> None:
    assert done["files:fused"][1] >= 2


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
