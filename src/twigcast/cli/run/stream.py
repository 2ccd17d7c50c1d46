"""A stream as ``twigcast run --stream`` shows it: a line after each batch, and sums at the end.

A stream with a pause between its batches ends when somebody presses Ctrl-C, and that is as good an
end as any: what has not been finished is done when it is started again. The sums are of the batches
that were finished meanwhile, and are read from the table ``metrics``, so they hold wherever the
batches were done.
"""

from __future__ import annotations

import signal
from contextlib import contextmanager
from dataclasses import dataclass, field, fields, replace
from datetime import UTC, datetime
from threading import Event
from typing import TYPE_CHECKING, Any

from twigcast.cli.output import write_note
from twigcast.display import counted, size

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping, Sequence

    from twigcast.cli.progress import Bar
    from twigcast.cli.run.options import StreamOptions
    from twigcast.spark import Pipeline, Publications
    from twigcast.spark.stream.reports import BatchReport
    from twigcast.spark.stream.stream import Stream

INTERRUPTED = 130
"""The exit code when somebody has pressed Ctrl-C."""

_LOOK_SECONDS = 1

_SECONDS = "seconds_"


@dataclass(frozen=True)
class Streamed:
    """The batches that a stream has finished, summed up; named like the columns of ``metrics``."""

    out: str
    batches: int = 0
    started: datetime | None = None
    strategy: str = ""
    plan: str = ""
    shards: int = 1
    brokers: int = 1
    subscriptions: int = 0
    rejected: int = 0
    documents: int = 0
    bytes: int = 0
    deliveries: int = 0
    dead_letters: int = 0
    routes: int = 0
    crossings: int = 0
    needless: int = 0
    shard_visits: int = 0
    annotation_bytes: int = 0
    engine: str = "not needed"
    matcher_version: str = ""
    matcher_loads: int = 0
    workers: int = 0
    partitions: int = 0
    seconds: Mapping[str, float] = field(default_factory=dict)
    documents_per_second: float | None = None
    bytes_per_second: float | None = None
    files_waiting: int | None = None
    bytes_waiting: int | None = None
    seconds_waiting: float | None = None
    messages_waiting: int | None = None
    interrupted: bool = False


_SUMMED = {
    "rejected",
    "documents",
    "bytes",
    "deliveries",
    "dead_letters",
    "crossings",
    "needless",
    "shard_visits",
    "annotation_bytes",
    "matcher_loads",
    "partitions",
}
"""Of all else, the last batch counts."""


def carry_stream(
    pipeline: Pipeline,
    source: Publications,
    out: str,
    given: StreamOptions,
    bar: Bar,
    *,
    partitions: int | None,
) -> Streamed:
    """Run a stream to its end, or until somebody ends it; what it has done meanwhile."""
    from twigcast.spark.storage.kafka import KafkaTopic

    assert given.checkpoint is not None
    topic_in = topic_out = None
    if given.topic_in:
        topic_in = KafkaTopic(
            given.kafka or "",
            given.topic_in,
            source.options,
            limits=source.limits,
            document_limits=source.document_limits,
        )
    if given.topic_out:
        for_kafka = {
            key: value for key, value in source.options.items() if key.startswith("kafka.")
        }
        topic_out = KafkaTopic(given.kafka or "", given.topic_out, for_kafka)
    before = _whole(pipeline, out)
    stream = pipeline.stream(
        topic_in or source,
        out,
        checkpoint=given.checkpoint,
        trigger=given.every,
        changes=given.changes,
        deliveries_to=topic_out,
        schema=given.schema,
        partitions=partitions,
    )
    interrupted = _follow(stream, bar)
    sums = _sums(_metrics(pipeline, out, before), out, interrupted=interrupted)
    return replace(sums, **_rates(stream.reports))


def _follow(stream: Stream, bar: Bar) -> bool:
    """Write a line for each batch until the stream ends; whether somebody has ended it."""
    last = -1
    with _listening() as pressed:
        while True:
            has_ended = stream.wait(_LOOK_SECONDS)
            for report in stream.reports:
                if report.batch > last:
                    last = report.batch
                    write_note(_batch_line(report))
                    bar.show("waiting for documents", 0, None)
            if has_ended:
                return False
            if pressed.is_set():
                stream.stop()
                return True


@contextmanager
def _listening() -> Iterator[Event]:
    """Whether Ctrl-C was pressed; it raises nothing, for that would interrupt a call of Java."""
    pressed = Event()
    usual = signal.signal(signal.SIGINT, lambda *_: pressed.set())
    try:
        yield pressed
    finally:
        signal.signal(signal.SIGINT, usual)


def _rates(reports: Sequence[BatchReport]) -> dict[str, Any]:
    """The rates of all batches together, and what waited behind the last one."""
    seconds = sum(report.seconds for report in reports)
    if not seconds:
        return {}
    rates: dict[str, Any] = {
        f"{what}_per_second": sum(getattr(report, what) for report in reports) / seconds
        for what in ("documents", "bytes")
    }
    waiting = ("files", "bytes", "seconds", "messages")
    return rates | {f"{what}_waiting": getattr(reports[-1], f"{what}_waiting") for what in waiting}


def _batch_line(report: BatchReport) -> str:
    documents = counted(report.documents, "document")
    deliveries = counted(report.deliveries, "delivery", "deliveries")
    rates = (
        f"{report.documents_per_second:,.1f} documents/s, {size(round(report.bytes_per_second))}/s"
    )
    return (
        f"batch {report.batch:,}: {documents} and {deliveries} in {report.seconds:.1f} s "
        f"({rates}){_waiting(report)}"
    )


def _waiting(report: BatchReport) -> str:
    """What waits, as far as it is known."""
    if report.files_waiting:
        files, oldest = counted(report.files_waiting, "file"), report.seconds_waiting or 0.0
        return (
            f", waiting: {files}, {size(report.bytes_waiting or 0)}, the oldest for {oldest:,.0f} s"
        )
    if report.messages_waiting:
        return f", waiting: {counted(report.messages_waiting, 'message')}"
    is_known = report.files_waiting is not None or report.messages_waiting is not None
    return ", nothing waits" if is_known else ""


def _whole(pipeline: Pipeline, out: str) -> set[int]:
    """The numbers of all batches that are finished."""
    from twigcast.spark.batch import store_of
    from twigcast.spark.storage.manifests import whole_batches

    return set(whole_batches(store_of(out, pipeline.spark)))


def _metrics(pipeline: Pipeline, out: str, before: Collection[int]) -> list[dict[str, Any]]:
    """Rows of the table for the batches that are new, in their order."""
    from twigcast.spark import read_table

    if _whole(pipeline, out) <= set(before):
        return []
    rows = [row.asDict() for row in read_table(pipeline.spark, out, "metrics").collect()]
    return sorted((row for row in rows if row["batch"] not in before), key=lambda row: row["batch"])


def _sums(rows: list[dict[str, Any]], out: str, *, interrupted: bool) -> Streamed:
    if not rows:
        return Streamed(out, interrupted=interrupted)
    last = rows[-1]
    seconds = {
        name.removeprefix(_SECONDS): sum(row[name] for row in rows)
        for name in last
        if name.startswith(_SECONDS)
    }
    known = {each.name for each in fields(Streamed)} & last.keys()
    values = {
        name: sum(row[name] for row in rows) if name in _SUMMED else last[name] for name in known
    }
    # Spark hands out times as those of this machine.
    started = rows[0]["started"].astimezone(UTC)
    values.update(started=started, seconds=seconds, batches=len(rows))
    return Streamed(out, interrupted=interrupted, **values)
