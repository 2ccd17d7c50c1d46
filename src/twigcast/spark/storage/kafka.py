"""Kafka at both ends of a stream: documents from a topic, deliveries to a topic.

Coming in, a message is a document: its value are the bytes, its key (if it has one) is the name,
else topic, partition and offset are; a header may say at which broker it is published. A message
without a value is a dead letter, like everything else that is no document.

Going out, a delivery is a message: a JSON object with the columns of the table ``deliveries`` and
the number of the batch, under the id of the subscription as key, so that what one subscription is
sent stays in order. Deliveries are sent when the tables of the batch are in place, and before its
manifest is written. So none is lost, and some are sent twice if the stream dies in between: Kafka
gets them *at least once*. Document hash and subscription tell a repeated one, and a repeated batch
has the same number and the same deliveries.

Spark speaks to Kafka through a connector, which is not part of it. Where the one of Spark's own
version has been published, :data:`CONNECTOR` is what to ask for when a session is started; else the
files of an older one are given (``tools/kafka_jars.py``)::

    start_session(settings={"spark.jars.packages": CONNECTOR})
    start_session(settings={"spark.jars": "connector.jar,clients.jar,…"})
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import pyspark
from pyspark.sql import Column, DataFrame, SparkSession, functions

from twigcast.errors import UsageError
from twigcast.files import PublicationLimits
from twigcast.files.documents.publications import DEFAULT_LIMITS
from twigcast.language import LIBRARY_LIMITS, DocumentLimits
from twigcast.slips import check_fields
from twigcast.spark.session.failures import SPARK_FAILURES, cause

CONNECTOR = f"org.apache.spark:spark-sql-kafka-0-10_2.13:{pyspark.__version__}"
"""The connector that fits this Spark, as Maven calls it; not every version was published."""


@dataclass(frozen=True)
class KafkaTopic:
    """A topic to read documents from, or to send deliveries to.

    ``servers`` is a list such as ``host:9092,other:9092``. ``options`` are handed to Spark's
    connector: those of Kafka begin with ``kafka.``. ``origin_header`` is the header that names the
    broker where a document is published. ``limits`` and ``document_limits`` are those of documents
    that are read from it, as in :class:`~twigcast.spark.storage.sources.Publications`.
    """

    servers: str
    topic: str
    options: Mapping[str, str | bool | float] = field(default_factory=dict)
    origin_header: str = "origin"
    limits: PublicationLimits = DEFAULT_LIMITS
    document_limits: DocumentLimits = LIBRARY_LIMITS

    def __post_init__(self) -> None:
        check_fields(self)


def documents_from(spark: SparkSession, topic: KafkaTopic) -> DataFrame:
    """The documents of a topic, as they come: ``document``, ``content``, ``origin``.

    A new stream begins with the oldest message that is there, unless ``startingOffsets`` says
    otherwise.
    """
    options = {
        "startingOffsets": "earliest",
        **topic.options,
        "kafka.bootstrap.servers": topic.servers,
        "subscribe": topic.topic,
        "includeHeaders": "true",
    }
    try:
        messages = spark.readStream.format("kafka").options(**options).load()
    except SPARK_FAILURES as error:
        raise UsageError(_complaint(error)) from error
    return documents_of(messages, topic)


def documents_of(messages: DataFrame, topic: KafkaTopic) -> DataFrame:
    """Messages, in the columns that Spark has for them, as documents."""
    place = functions.concat_ws("/", "topic", "partition", "offset")
    return messages.select(
        functions.coalesce(functions.col("key").cast("string"), place).alias("document"),
        functions.col("value").alias("content"),
        _header(topic.origin_header).alias("origin"),
    )


def send_deliveries(deliveries: DataFrame, topic: KafkaTopic, *, batch: int) -> None:
    """Send a message for each row."""
    options = {**topic.options, "kafka.bootstrap.servers": topic.servers, "topic": topic.topic}
    messages_of(deliveries, batch=batch).write.format("kafka").options(**options).save()


def messages_of(deliveries: DataFrame, *, batch: int) -> DataFrame:
    """Deliveries as messages: ``key`` and ``value``."""
    told = functions.struct(*deliveries.columns, functions.lit(batch).alias("batch"))
    return deliveries.select(
        functions.col("subscription").alias("key"), functions.to_json(told).alias("value")
    )


def _header(name: str) -> Column:
    """What the last header of this name says, as text; null if there is none."""
    named = functions.filter("headers", lambda header: header["key"] == functions.lit(name))
    return functions.try_element_at(named, functions.lit(-1))["value"].cast("string")


def _complaint(error: BaseException) -> str:
    told = cause(error)
    if "data source: kafka" in told.lower() or "DATA_SOURCE_NOT_FOUND" in str(error):
        return (
            "this Spark has no connector for Kafka: start it with "
            f"spark.jars.packages={CONNECTOR}, "
            "or with the connector's files as spark.jars (docs/streaming.md)"
        )
    return f"cannot read from Kafka: {told}"
