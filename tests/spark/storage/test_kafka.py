"""Documents from a topic of a real Kafka, deliveries to another; a restart goes on where it was.

Spark's driver is a process of its own, since the connector must be there when Spark starts. Where
Kafka or the connector cannot be had, what is told apart from both is tested all the same.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from tests.spark.clusters import KafkaBroker, run_driver
from twigcast.spark.storage.kafka import CONNECTOR, KafkaTopic, documents_of, messages_of

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


def test_the_connector_is_the_one_that_tests_fetch(kafka_connector: Mapping[str, str]) -> None:
    assert kafka_connector["spark.jars.packages"] == CONNECTOR


def test_messages_are_documents_named_by_key_or_place(found: Found) -> None:
    pairs = [(row["document"], row["subscription"], row["hops"]) for row in found["deliveries"]]
    assert sorted(pairs) == [
        ("in/0/1", "any", 0),
        ("one", "any", 1),
        ("one", "small", 0),
        ("two", "any", 0),
        ("two", "small", 1),
    ]


def test_what_is_no_document_is_a_dead_letter(found: Found) -> None:
    letters = {row["document"]: row["stage"] for row in found["letters"]}
    assert letters == {"bad": "parse", "gone": "read", "astray": "route"}


def test_a_restart_goes_on_where_the_stream_was(found: Found) -> None:
    assert (found["first"], found["nothing new"], found["second"]) == (5, None, 1)
    assert {row["batch"] for row in found["deliveries"]} == {0, 1}


def test_each_delivery_is_a_message(found: Found) -> None:
    assert len(found["sent first"]) == 3
    messages = sorted((message for _, message in found["sent"]), key=str)
    rows = [
        {name: value for name, value in row.items() if value is not None}
        for row in found["deliveries"]
    ]
    assert messages == sorted(rows, key=str)
    assert all(key == message["subscription"] for key, message in found["sent"])


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
