"""Documents from a topic of a real Kafka, deliveries to another; a restart goes on where it was.

Spark's driver is a process of its own, since the connector must be there when Spark starts. Where
Kafka or the connector cannot be had, what is told apart from both is tested all the same.
"""

from __future__ import annotations

import json
import re
import signal
import sys
from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from tests.spark.clusters import DRIVER_SECONDS_MAX, KafkaBroker, run_driver, started, until
from twigcast.spark.storage.batches import local_store
from twigcast.spark.storage.kafka import KafkaTopic, documents_of, messages_of
from twigcast.spark.storage.manifests import whole_batches

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = [pytest.mark.spark, pytest.mark.xdist_group("spark")]

PROGRAM = """
import json, sys
from pathlib import Path
from twigcast.spark import Pipeline, read_table, start_session
from twigcast.spark.storage.kafka import KafkaTopic

servers, folder, settings = sys.argv[1], Path(sys.argv[2]), json.loads(sys.argv[3])
spark = start_session("local[2]", quick=True, settings=settings)
topology = {"brokers": ["hub", "north"], "links": [["hub", "north"]]}
subscriptions = [
    {"id": "small", "xpath": "//b[. < 5]", "broker": "north", "subscriber": "ann"},
    {"id": "any", "xpath": "/a/b"},
]
pipeline = Pipeline(spark, topology, subscriptions)
schema = "key string, value string, headers array<struct<key: string, value: binary>>"


def publish(*messages):
    rows = [
        (key, value, [("origin", bytearray(origin.encode()))] if origin else None)
        for key, value, origin in messages
    ]
    frame = spark.createDataFrame(rows, schema).coalesce(1)
    options = {"kafka.bootstrap.servers": servers, "topic": "in", "includeHeaders": "true"}
    frame.write.format("kafka").options(**options).save()


def carry():
    stream = pipeline.stream(
        KafkaTopic(servers, "in"),
        folder / "out",
        checkpoint=folder / "checkpoint",
        deliveries_to=KafkaTopic(servers, "out"),
    )
    stream.wait()
    return stream.last_run and stream.last_run.documents


def sent():
    options = {"kafka.bootstrap.servers": servers, "subscribe": "out"}
    rows = spark.read.format("kafka").options(**options).load()
    texts = rows.selectExpr("string(key) AS key", "string(value) AS value").collect()
    return [[row.key, json.loads(row.value)] for row in texts]


def rows_of(table):
    return [row.asDict() for row in read_table(spark, folder / "out", table).collect()]


found = {}
publish(("one", "<a><b>1</b></a>", "north"), (None, "<a><b>9</b></a>", None), ("bad", "<a>", None),
        ("gone", None, None), ("astray", "<a/>", "atlantis"))
found["first"] = carry()
found["sent first"] = sent()
found["nothing new"] = carry()
publish(("two", "<a><b>2</b></a>", None))
found["second"] = carry()
found["sent"] = sent()
found["deliveries"] = rows_of("deliveries")
found["letters"] = rows_of("dead_letters")
spark.stop()
print(json.dumps(found))
"""

Found = dict[str, Any]


@pytest.fixture(scope="module")
def found(
    kafka_connector: Mapping[str, str],
    kafka_broker: KafkaBroker,
    tmp_path_factory: pytest.TempPathFactory,
) -> Found:
    """What a driver has found that published, carried and read back."""
    folder: Path = tmp_path_factory.mktemp("carried")
    arguments: list[str | Path] = [kafka_broker.servers, folder, json.dumps(dict(kafka_connector))]
    told: Found = json.loads(run_driver(PROGRAM, arguments).splitlines()[-1])
    return told


@pytest.mark.deep
@pytest.mark.timeout(900)
def test_messages_are_documents_named_by_key_or_place(found: Found) -> None:
    # Which partition a message without a key goes to is up to Kafka.
    names = [re.sub(r"^in/[01]/\d$", "in/*/*", row["document"]) for row in found["deliveries"]]
    pairs = [(row["subscription"], row["hops"]) for row in found["deliveries"]]
    assert sorted((name, *pair) for name, pair in zip(names, pairs, strict=True)) == [
        ("in/*/*", "any", 0),
        ("one", "any", 1),
        ("one", "small", 0),
        ("two", "any", 0),
        ("two", "small", 1),
    ]


@pytest.mark.deep
@pytest.mark.timeout(900)
def test_what_is_no_document_is_a_dead_letter(found: Found) -> None:
    letters = {row["document"]: row["stage"] for row in found["letters"]}
    assert letters == {"bad": "parse", "gone": "read", "astray": "route"}


@pytest.mark.deep
@pytest.mark.timeout(900)
def test_a_restart_goes_on_where_the_stream_was(found: Found) -> None:
    assert (found["first"], found["nothing new"], found["second"]) == (5, None, 1)
    assert {row["batch"] for row in found["deliveries"]} == {0, 1}


@pytest.mark.deep
@pytest.mark.timeout(900)
def test_each_delivery_is_a_message(found: Found) -> None:
    assert len(found["sent first"]) == 3
    messages = sorted((message for _, message in found["sent"]), key=str)
    rows = [
        {name: value for name, value in row.items() if value is not None}
        for row in found["deliveries"]
    ]
    assert messages == sorted(rows, key=str)
    assert all(key == message["subscription"] for key, message in found["sent"])


KILLED = """
import json, os, signal, sys
from pathlib import Path
from twigcast.spark import Pipeline, read_table, start_session
from twigcast.spark.storage.kafka import KafkaTopic
from twigcast.spark.stream import stream

servers, folder, settings = sys.argv[1], Path(sys.argv[2]), json.loads(sys.argv[3])
spark = start_session("local[2]", quick=True, settings=settings)
usual = stream.send_deliveries


def send_and_die(deliveries, topic, *, batch):
    usual(deliveries, topic, batch=batch)
    if batch == 1:
        os.kill(os.getpid(), signal.SIGKILL)


if not (folder / "out").exists():
    rows = [(f"{number:02}", f"<a><b>{number}</b></a>") for number in range(30)]
    frame = spark.createDataFrame(rows, "key string, value string").repartition(2)
    options = {"kafka.bootstrap.servers": servers, "topic": "many"}
    frame.write.format("kafka").options(**options).save()
    stream.send_deliveries = send_and_die
subscriptions = [{"id": "any", "xpath": "/a"}, {"id": "small", "xpath": "//b[. < 5]"}]
Pipeline(spark, None, subscriptions).stream(
    KafkaTopic(servers, "many", {"maxOffsetsPerTrigger": 10}), folder / "out",
    checkpoint=folder / "checkpoint", deliveries_to=KafkaTopic(servers, "told"),
).wait()
options = {"kafka.bootstrap.servers": servers, "subscribe": "told"}
sent = spark.read.format("kafka").options(**options).load().selectExpr("string(value)").collect()
rows = [row.asDict() for row in read_table(spark, folder / "out", "deliveries").collect()]
spark.stop()
print(json.dumps([rows, [json.loads(row[0]) for row in sent]]))
"""


@pytest.mark.deep
@pytest.mark.timeout(900)
def test_a_driver_that_is_killed_loses_nothing_and_delivers_nothing_twice_in_tables(
    kafka_connector: Mapping[str, str], kafka_broker: KafkaBroker, tmp_path: Path
) -> None:
    settings = json.dumps(dict(kafka_connector))
    arguments: list[str | Path] = [kafka_broker.servers, tmp_path, settings]
    command: list[str | Path] = [sys.executable, "-c", KILLED, *arguments]
    with started(command, tmp_path / "killed.log") as driver:
        code = until(driver.process.poll, what="the end", seconds=DRIVER_SECONDS_MAX)
    assert code == -signal.SIGKILL, (tmp_path / "killed.log").read_text(encoding="utf-8")
    assert whole_batches(local_store(str(tmp_path / "out"))) == [0]
    rows, sent = json.loads(run_driver(KILLED, arguments).splitlines()[-1])
    found = Counter((row["document"], row["subscription"]) for row in rows)
    names = [f"{number:02}" for number in range(30)]
    wanted = [(name, "any") for name in names] + [(name, "small") for name in names[:5]]
    assert found == Counter(wanted)
    assert {row["batch"] for row in rows} >= {0, 1, 2}
    # What was sent when the driver died is sent again, under the number of the same batch.
    told = Counter((one["document"], one["subscription"], one["batch"]) for one in sent)
    times = {(row["document"], row["subscription"], row["batch"]): row["batch"] for row in rows}
    assert told == {one: 2 if batch == 1 else 1 for one, batch in times.items()}


MESSAGES = (
    "key binary, value binary, topic string, partition int, offset long, "
    "headers array<struct<key: string, value: binary>>"
)


def test_a_message_says_its_name_its_place_and_its_origin(spark: SparkSession) -> None:
    old, new = ("origin", bytearray(b"old")), ("origin", bytearray(b"new"))
    rows = [
        (bytearray(b"named"), bytearray(b"<a/>"), "in", 0, 7, None),
        (None, bytearray(b"<b/>"), "in", 1, 8, [("other", bytearray(b"x"))]),
        (bytearray(b"gone"), None, "in", 0, 9, [old, new]),
    ]
    found = documents_of(spark.createDataFrame(rows, MESSAGES), KafkaTopic("", "in")).collect()
    assert [tuple(row) for row in found] == [
        ("named", b"<a/>", None),
        ("in/1/8", b"<b/>", None),
        ("gone", None, "new"),
    ]


def test_a_delivery_is_told_as_json_under_its_subscription(spark: SparkSession) -> None:
    rows = [("d.xml", "5e", "cheap", None, "north", 2)]
    schema = "document string, document_hash string, subscription string, subscriber string"
    frame = spark.createDataFrame(rows, f"{schema}, broker string, hops int")
    (message,) = messages_of(frame, batch=4).collect()
    assert message["key"] == "cheap"
    assert json.loads(message["value"]) == {
        "document": "d.xml",
        "document_hash": "5e",
        "subscription": "cheap",
        "broker": "north",
        "hops": 2,
        "batch": 4,
    }
