"""With a Spark that runs elsewhere (Spark Connect), everything is as with one in this process.

There can be only one kind of session in a process, and this one may have an embedded Spark, so
what is connected runs in a process of its own, once, and prints what came of each step.
"""

from __future__ import annotations

import json
import socket
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow.parquet
import pytest

from tests.spark.clusters import run_driver
from tests.spark.sessions import hide_session
from twigcast.errors import UsageError
from twigcast.spark import Pipeline, run_batch, start_session
from twigcast.spark.session.session import cores_of, is_connected_to, partitions_of

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = [pytest.mark.spark, pytest.mark.xdist_group("spark"), pytest.mark.timeout(1_800)]

CONNECTED = """
import json, os, sys
from pathlib import Path
from twigcast import UsageError
from twigcast.spark import (
    Pipeline, grid, matches, matches_or_reason, read_table, register, run_batch, start_session
)
from twigcast.spark.session.session import cores_of

address, folder = sys.argv[1], Path(sys.argv[2])
spark = start_session(address)
found = {"same": start_session() is spark, "cores": cores_of(spark)}
found["batch"] = spark.conf.get("spark.sql.execution.arrow.maxRecordsPerBatch")

feed = spark.createDataFrame([(1, "<a><b>3</b></a>"), (2, "<a>")], "id int, content string")
rules = spark.createDataFrame([("x", "//b"), ("y", "/c")], "id string, xpath string")
found["column"] = [row.matches for row in feed.select(matches("content", rules)).collect()]
told = feed.select(matches_or_reason("content", rules)).select("outcome.*")
found["reasons"] = [row.stage for row in told.collect()]
register(spark, {"z": "/a[b]"})
feed.createOrReplaceTempView("feed")
found["sql"] = [row[0] for row in spark.sql("SELECT twigcast_match(content) FROM feed").collect()]
found["grid"] = [row.y for row in grid(spark, lambda x: {"y": 2 * x}, {"x": [1, 2]}).collect()]

told = []
arguments = (folder / "subscriptions.csv", folder / "feed")
run = run_batch(*arguments, folder / "files", topology=TOPOLOGY, strategy="covering",
                partitions=4,
                progress=lambda step: told.append([step.stage, step.done, step.total]))
found["told"] = told
found["partitions"] = run.partitions
found["traffic"] = run.table("traffic").count()
table = spark.read.parquet((folder / "feed.parquet").as_uri())
pipeline = Pipeline(spark, TOPOLOGY, folder / "subscriptions.csv", "flooding")
found["tables"] = [
    pipeline.disseminate(table, folder / "table").partitions,
    pipeline.disseminate(table, folder / "table4", partitions=4).partitions,
]
for name, chosen in {"hops": {"plan": "hops"}, "shards": {"shards": 2}}.items():
    run_batch(*arguments, folder / name, topology=TOPOLOGY, strategy="covering", **chosen)
pipeline = Pipeline(spark, TOPOLOGY, folder / "subscriptions.csv", "covering")
os.chdir(folder)  # The server is in another one.
same = [("add", 1, "never", "//c", "north")]
changes = spark.createDataFrame(same, ["op", "version", "id", "xpath", "broker"])
stream = pipeline.stream("feed", "stream", checkpoint="checkpoint", changes=changes)
found["stream"] = stream.wait()
try:
    run_batch(*arguments, "hdfs://nowhere/out")
except UsageError as error:
    found["elsewhere"] = str(error)
spark.stop()
print(json.dumps(found))
"""

FRAMES = """
import json, sys
from pathlib import Path
from twigcast.spark import Pipeline, start_session
from twigcast.spark.plans import distribution

address, folder = sys.argv[1], Path(sys.argv[2])
spark = start_session(address)
table = spark.read.parquet((folder / "feed.parquet").as_uri())
pipeline = Pipeline(spark, TOPOLOGY, folder / "subscriptions.csv", "flooding")
for name in ("deliveries", "dead_letters"):
    rows = getattr(pipeline, name)(table)
    rows.drop("content").write.parquet((folder / "frames" / name).as_uri())
traffic = pipeline.traffic(table).groupBy("broker", "neighbour").count()
found = {"traffic": sorted(map(list, traffic.collect()))}
source = spark.readStream.schema(table.schema).parquet((folder / "streaming").as_uri())
query = (
    pipeline.deliveries(source).drop("content").writeStream.format("parquet")
    .option("checkpointLocation", str(folder / "frames" / "checkpoint"))
    .trigger(availableNow=True).start(str(folder / "frames" / "streamed"))
)
query.awaitTermination()
distribution.CARRIED_BYTES_MAX = 0
other = Pipeline(spark, TOPOLOGY, folder / "subscriptions.csv", "flooding")
found["carried"] = [
    each.prepared.plan.matcher.shared.carried is not None for each in (pipeline, other)
]
found["deliveries"] = other.deliveries(table).count()
spark.stop()
print(json.dumps(found))
"""

TOPOLOGY = {"brokers": ["hub", "north", "south"], "links": [["hub", "north"], ["hub", "south"]]}

SUBSCRIPTIONS = """id,xpath,broker
small,//b[. < 5],north
any,/a/b,south
mine,//b[. = 7],
never,//c,north
"""

Found = dict[str, Any]


@pytest.fixture(scope="module")
def work(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with subscriptions, and documents in files and in a table."""
    folder = tmp_path_factory.mktemp("connected")
    (folder / "subscriptions.csv").write_text(SUBSCRIPTIONS, encoding="utf-8")
    (folder / "feed").mkdir()
    contents = [f"<a><b>{number}</b></a>" for number in range(30)]
    for number, content in enumerate(contents):
        (folder / "feed" / f"{number:02}.xml").write_text(content, encoding="utf-8")
    names = [f"{number:02}.xml" for number in range(30)]
    table = pyarrow.table({"document": names, "content": contents})
    (folder / "streaming").mkdir()
    for place in ("feed.parquet", "streaming/0.parquet"):
        pyarrow.parquet.write_table(table, folder / place)
    return folder


@pytest.fixture(scope="module")
def connected(connect_server: str, work: Path) -> Found:
    """What a process has found that connected to a server."""
    program = f"TOPOLOGY = {TOPOLOGY!r}\n{CONNECTED}"
    found: Found = json.loads(run_driver(program, [connect_server, work]).splitlines()[-1])
    return found


def _rows(out: Path, table: str) -> list[tuple[object, ...]]:
    rows = pyarrow.parquet.read_table(out / table).to_pylist()
    for row in rows:
        if "document" in row:
            row["document"] = row["document"].rsplit("/", 1)[-1]
    return sorted((tuple(row.values()) for row in rows), key=str)


def test_a_session_is_handed_out_again_and_has_the_measured_settings(connected: Found) -> None:
    assert (connected["same"], connected["cores"], connected["batch"]) == (True, 2, "1000")


def test_columns_functions_and_grids_work(connected: Found) -> None:
    assert connected["column"] == [["x"], None]
    assert connected["reasons"] == [None, "parse"]
    assert connected["sql"] == [["z"], None]
    assert connected["grid"] == [2, 4]


@pytest.fixture(scope="module", params=["covering", "flooding"])
def embedded(request: pytest.FixtureRequest, work: Path, spark: SparkSession) -> Path:
    """The output of an embedded Spark with a strategy."""
    run = run_batch(
        work / "subscriptions.csv",
        work / "feed",
        work / "embedded" / request.param,
        spark=spark,
        topology=TOPOLOGY,
        strategy=request.param,
    )
    assert run.deliveries == 5 + 30 + 1
    return work / "embedded" / str(request.param)


def test_tables_are_those_of_an_embedded_spark(
    connected: Found, work: Path, embedded: Path
) -> None:
    ways = {"covering": ["files", "hops", "shards", "stream"], "flooding": ["table", "table4"]}
    for way in ways[embedded.name]:
        for table in ("deliveries", "traffic", "dead_letters", "rejected", "routes"):
            assert _rows(work / way, table) == _rows(embedded, table)


def test_frames_have_the_rows_of_the_tables(
    connect_server: str, work: Path, spark: SparkSession
) -> None:
    """Whether subscriptions are carried with the function or are a file of the session."""
    program = f"TOPOLOGY = {TOPOLOGY!r}\n{FRAMES}"
    found: Found = json.loads(run_driver(program, [connect_server, work]).splitlines()[-1])
    out = work / "for frames"
    pipeline = Pipeline(spark, TOPOLOGY, work / "subscriptions.csv", "flooding")
    run = pipeline.disseminate(work / "feed.parquet", out)
    # A run's tables have one more column, the number of the batch.
    deliveries, letters = (
        [row[:-1] for row in _rows(out, table)] for table in ("deliveries", "dead_letters")
    )
    assert len(deliveries) == run.deliveries
    assert _rows(work / "frames", "deliveries") == deliveries
    assert _rows(work / "frames", "streamed") == deliveries
    assert _rows(work / "frames", "dead_letters") == letters
    crossed = [[broker, neighbour, count] for broker, neighbour, count, *_ in _rows(out, "traffic")]
    assert found == {
        "traffic": crossed, "carried": [True, False], "deliveries": run.deliveries,
    }  # fmt: skip


def test_progress_counts_tasks_and_ends_with_all_of_them(connected: Found) -> None:
    steps = [step for step in connected["told"] if step[0] == "matching"]
    assert steps[0] == ["matching", 0, connected["partitions"]]
    assert steps[-1] == ["matching", connected["partitions"], connected["partitions"]]
    assert connected["partitions"] == 4
    assert connected["traffic"] == 2


def test_the_tasks_of_a_table_are_counted_when_all_is_done(connected: Found) -> None:
    assert connected["tables"] == [1, 4]


def test_what_only_java_can_reach_is_out_of_reach(connected: Found) -> None:
    assert connected["elsewhere"] == (
        "hdfs://nowhere/out can be reached through Spark's Java machine only, which runs elsewhere "
        "(Spark Connect); choose a folder that this machine and the workers share"
    )


def test_where_nobody_listens_one_sentence_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    hide_session(monkeypatch)
    with socket.create_server(("127.0.0.1", 0)) as place:
        port = place.getsockname()[1]
    with pytest.raises(UsageError, match=f"cannot connect to sc://127.0.0.1:{port}: .*refused"):
        start_session(f"sc://127.0.0.1:{port}")
    with pytest.raises(UsageError, match=r"cannot connect to .*:nonsense: "):
        start_session("sc://127.0.0.1:nonsense")
    masters = f"spark://127.0.0.1:{port},127.0.0.1:{port}"
    with pytest.raises(UsageError, match=f"cannot reach the master {masters}: .*refused"):
        start_session(masters)


def test_an_embedded_spark_is_asked_for_what_java_knows(spark: SparkSession) -> None:
    assert not is_connected_to(spark)
    assert cores_of(spark) == 2
    assert partitions_of(spark.range(0, 9, 1, 3)) == 3
