"""The data pipeline on PySpark: documents by the million against standing subscriptions.

    Pipeline(spark, "topology.toml", "subscriptions.csv", "covering").disseminate("feed/", "out/")
    run_batch("subscriptions.csv", "feed/", "out/")        the same in one call
    pipeline.stream("feed/", "out/", checkpoint="done/")   the same for what keeps arriving
    read_table(spark, "out/", "deliveries")                what it has written
    compact(spark, "out/", keep_days=90)                   many batches of a stream made few
    pipeline.deliveries(documents)                         the same rows, as a DataFrame of Spark's
    matches("content", {"cheap": "//item[price < 10]"})    a column of any DataFrame
    register(spark, "subscriptions.csv")                   twigcast_match(content) in SQL
    grid(spark, measure, {"brokers": [7, 15, 31]})         a function at all points of a grid
    start_session()                                        Spark inside this process, Java found

Spark is optional: this room alone imports pyspark, and each name below is fetched when it is
first asked for. Without the extra ``spark`` that is a :class:`~twigcast.errors.UsageError` that
says what to install. In reading order:

    pipeline         the main job: documents through a network of brokers, into tables
    batch            one batch of documents, step by step
    plans            how documents are routed: ``fused``, with shards, and ``hops``
    worker           what workers do, in plain Python over Arrow batches
    sharding         subscriptions split among workers
    storage          tables, and where documents and subscriptions come from
    stream           batch by batch, with subscriptions that come and go
    session          a Spark that starts on any machine; failures and progress
    result           what a run gives back
    column           ``matches``, a column of any DataFrame
    parameter_grid   a function at all points of a grid of parameters
"""

from __future__ import annotations

from importlib import import_module
from importlib.util import find_spec
from typing import TYPE_CHECKING

from twigcast.errors import UsageError

if TYPE_CHECKING:
    from twigcast.spark.column import matches, matches_or_reason, register
    from twigcast.spark.parameter_grid import grid
    from twigcast.spark.pipeline import Pipeline, run_batch
    from twigcast.spark.result import Run, read_table
    from twigcast.spark.session.progress import Progress
    from twigcast.spark.session.session import start_session
    from twigcast.spark.storage.kafka import KafkaTopic
    from twigcast.spark.storage.sources import Publications
    from twigcast.spark.stream.compaction import Compaction, compact
    from twigcast.spark.stream.stream import Stream

__all__ = [
    "Compaction",
    "KafkaTopic",
    "Pipeline",
    "Progress",
    "Publications",
    "Run",
    "Stream",
    "compact",
    "grid",
    "matches",
    "matches_or_reason",
    "read_table",
    "register",
    "run_batch",
    "start_session",
]

_HOME = {
    "Compaction": "stream.compaction",
    "compact": "stream.compaction",
    "KafkaTopic": "storage.kafka",
    "Pipeline": "pipeline",
    "Progress": "session.progress",
    "Publications": "storage.sources",
    "Run": "result",
    "Stream": "stream.stream",
    "grid": "parameter_grid",
    "matches": "column",
    "matches_or_reason": "column",
    "read_table": "result",
    "register": "column",
    "run_batch": "pipeline",
    "start_session": "session.session",
}

_NEEDED = ("pyspark", "pyarrow", "pandas")
"""Spark hands Arrow batches to Python only where pandas is installed, too."""

_PYSPARK_MIN = 4
_PYSPARK_END = 5
"""Main versions of pyspark, from the first to before the second; ``pyproject.toml`` says the same.
Spark 3 gives Arrow tables to nobody and has no artifacts."""


def __getattr__(name: str) -> object:
    if name not in _HOME:
        raise AttributeError(f"module 'twigcast.spark' has no attribute {name!r}")
    missing = [needed for needed in _NEEDED if find_spec(needed) is None]
    if missing:
        raise UsageError(
            f"twigcast.spark.{name} needs {', '.join(missing)}: "
            "install them from a checkout of Twigcast, pip install '.[spark]'"
        )
    found = import_module("pyspark").__version__
    if not _PYSPARK_MIN <= int(found.split(".")[0]) < _PYSPARK_END:
        raise UsageError(
            f"twigcast.spark.{name} needs pyspark {_PYSPARK_MIN}, and {found} is installed: "
            "install another, pip install 'pyspark>=4.0,<5'"
        )
    value: object = getattr(import_module(f"twigcast.spark.{_HOME[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(__all__)
