"""``twigcast run``: the pipeline on Spark, from files to tables, once or as a stream.

Without ``--master`` Spark runs where the program was submitted to, or where its own configuration
says, and else inside this process, on all cores. What the run leaves behind is
described in :mod:`twigcast.spark.storage.tables`; here is only what a user types and sees.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict
from typing import TYPE_CHECKING

import typer

from twigcast.cli.options.arguments import AsJson, Engine, FileNames, Record
from twigcast.cli.options.document_limits import LimitOptions
from twigcast.cli.options.grouped import grouped
from twigcast.cli.options.spark_session import bindings
from twigcast.cli.output import REFUSED, write, write_json, write_note
from twigcast.cli.progress import Bar
from twigcast.cli.run.options import (
    NetworkOptions,
    Out,
    Overwrite,
    PublicationPaths,
    SparkOptions,
    StreamOptions,
    Subscriptions,
    TableOptions,
)
from twigcast.cli.run.stream import INTERRUPTED, Streamed, carry_stream
from twigcast.display import counted
from twigcast.errors import FloodingWarning

if TYPE_CHECKING:
    from twigcast.spark import Pipeline, Publications, Run

EXAMPLES = (
    "twigcast run --subscriptions subs.csv --publications feed/ --out result/",
    "twigcast run --subscriptions s.csv --publications feed.parquet --content-column xml --out r/",
    "twigcast run --subscriptions s.csv --publications feed/ --out r/ --topology offices.toml",
    "twigcast run --subscriptions s.csv --publications feed/ --out r/ --stream --checkpoint c/",
    "twigcast run --subscriptions s.csv --publications dump.xml --record '*:page' --out r/",
)


@grouped
def run(
    subscriptions: Subscriptions,
    out: Out,
    publications: PublicationPaths = [],  # noqa: B006 (typer never changes it)
    overwrite: Overwrite = False,
    network: NetworkOptions = NetworkOptions(),
    files: FileNames = ["*.xml"],  # noqa: B006 (likewise)
    record: Record = None,
    limits: LimitOptions = LimitOptions(),
    tables: TableOptions = TableOptions(),
    streaming: StreamOptions = StreamOptions(),
    spark: SparkOptions = SparkOptions(),
    engine: Engine = "auto",
    as_json: AsJson = False,
) -> None:
    """Carry documents to all who asked for them, on Spark.

    Writes the tables deliveries, traffic, dead_letters, rejected, routes and metrics as Parquet,
    and prints what is in them. With a topology, documents travel through a network of brokers.
    """
    options = bindings(tables.option, "--option", "KEY=VALUE, such as header=true")
    network.check(origin_column=tables.origin_column)
    streaming.check(publications, overwrite=overwrite)
    from twigcast.spark import Publications, start_session
    from twigcast.spark.pipeline import validated_publications
    from twigcast.spark.session.session import no_session_left

    settings = streaming.settings(bindings(spark.setting, "--setting", "KEY=VALUE"))
    source = Publications(
        publications, format=tables.format, options=dict(options), patterns=files, record=record,
        content_column=tables.content_column, document_column=tables.document_column,
        origin_column=tables.origin_column,
        limits=limits.of_files(), document_limits=limits.of_documents(),
    )  # fmt: skip
    with Bar() as bar:
        bar.show("starting Spark", 0, None)
        pipeline = network.pipeline(subscriptions, engine, bar)
        validated_publications(source, spark.partitions)
        outcome: Run | Streamed
        with no_session_left(), _flooding_noted(pipeline, source):
            if spark.master is not None or settings:
                # An embedded Spark is better left to the run: it starts it once all is in order.
                start_session(spark.master, settings=settings)
            if streaming.stream:
                outcome = carry_stream(
                    pipeline, source, out, streaming, bar, partitions=spark.partitions
                )
            else:
                outcome = pipeline.disseminate(
                    source, out, partitions=spark.partitions, overwrite=overwrite
                )
    _write_outcome(outcome, has_network=network.topology is not None, as_json=as_json)


@contextmanager
def _flooding_noted(pipeline: Pipeline, source: Publications) -> Iterator[None]:
    """Write one line if documents go everywhere for want of advertisements, and only once."""
    notice = pipeline.flooding_notice(source, remedy="name a DTD by --advertise BROKER=DTD")
    if notice is not None:
        write_note(notice)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FloodingWarning)
        yield


def _write_outcome(outcome: Run | Streamed, *, has_network: bool, as_json: bool) -> None:
    if as_json:
        fields = asdict(outcome)
        started = fields.pop("started")
        write_json({**fields, "started": started and started.isoformat()})
    else:
        for line in _summary(outcome, has_network=has_network):
            write(line)
    if isinstance(outcome, Streamed) and outcome.interrupted:
        raise typer.Exit(INTERRUPTED)
    if outcome.rejected or outcome.dead_letters:
        raise typer.Exit(REFUSED)


def _summary(outcome: Run | Streamed, *, has_network: bool) -> Iterator[str]:
    """What went in, what came out and where it lies, and how long it took."""
    out = outcome.out.rstrip("/")
    if isinstance(outcome, Streamed):
        yield _line(
            "batches", outcome.batches, f"{out}/_manifest" if outcome.batches else "no news"
        )
        if not outcome.batches:
            return
    yield _line("documents", outcome.documents, f"{outcome.bytes / 1e6:,.1f} MB")
    yield _line("subscriptions", outcome.subscriptions, f"engine {outcome.engine}")
    if has_network:
        yield _line("brokers", outcome.brokers, f"{outcome.strategy}, plan {outcome.plan}")
        yield _line("routes", outcome.routes, f"{out}/routes")
    if outcome.shards > 1:
        visits = counted(outcome.shard_visits, "visit")
        yield _line(
            "shards", outcome.shards, f"{visits} of {counted(outcome.documents, 'document')}"
        )
    yield _line("deliveries", outcome.deliveries, f"{out}/deliveries")
    if has_network:
        yield _line("crossings", outcome.crossings, f"{out}/traffic, {outcome.needless:,} needless")
    for table in ("dead_letters", "rejected"):
        yield _line(table, getattr(outcome, table), f"{out}/{table}")
    steps = ", ".join(f"{step} {took:.1f}" for step, took in outcome.seconds.items())
    tasks = f"{counted(outcome.partitions, 'task')}, {counted(outcome.workers, 'worker')}"
    yield f"{'seconds':<14}{sum(outcome.seconds.values()):>12.1f}  {steps} ({tasks})"


def _line(name: str, number: int, more: str) -> str:
    return f"{name:<14}{number:>12,}  {more}"
