"""The pipeline as a stream: documents as they arrive, batch by batch, each row exactly once.

    stream = pipeline.stream("feed/", "out/", checkpoint="checkpoint/", trigger=10)
    stream.wait()

Spark cuts what arrives into batches and numbers them. It keeps in its *checkpoint* which documents
belong to which number, and hands over a batch again, under the same number, if it cannot be sure
that we have finished it. What a batch is matched with is on record as well
(:mod:`~twigcast.spark.stream.versions`), and its tables have a place of their own
(:mod:`~twigcast.spark.storage.batches`). So a batch can be done as often as it takes, and counts
once::

    in the manifests already?  ── yes ──▶ nothing to do
       │ no
    which files?  on record, or those that Spark names, and then on record
       │
    which subscriptions?  on record, or those that stand by now, and then on record
       │
    compile, if they are not those of the batch before
       │
    match, into staging ──▶ tables in place ──▶ deliveries sent to Kafka ──▶ manifest

Killed at any point, a stream that is started again ends with the same tables. What is sent to
Kafka is sent at least once (:mod:`~twigcast.spark.storage.kafka`).

Checkpoint and output folder belong together: with another checkpoint, numbers would mean other
documents. Both keep the name of the stream, and a pair that does not fit is refused, as is one of
which either was put back from an older copy.

Whatever is wrong with a document or a change of subscriptions is a row in a table, and never stops
the stream. What does stop it (a full disk, Spark gives up, a feed that cannot be read) is an error
of :meth:`Stream.wait`.

The step that does a batch knows no session, for where Spark is only connected to (Spark Connect) it
is pickled and done by the server.
"""

from __future__ import annotations

import os
import re
from collections import deque
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from time import perf_counter
from uuid import uuid4

from pyspark.errors import PySparkException
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.streaming.query import StreamingQuery

from twigcast.copies import Uncopied
from twigcast.display import one_line, shown
from twigcast.door import door
from twigcast.errors import TwigcastError, UsageError
from twigcast.files import PublicationLimits, Subscription, SubscriptionFile
from twigcast.files.documents.publications import DEFAULT_LIMITS, AnyPath
from twigcast.files.subscriptions.change_feed import NO_VERSION
from twigcast.language import LIBRARY_LIMITS, DocumentLimits
from twigcast.spark.batch import Batch, store_of
from twigcast.spark.plans.design import Design
from twigcast.spark.plans.distribution import discard
from twigcast.spark.plans.prepare import Prepared, prepare
from twigcast.spark.result import Run
from twigcast.spark.session.failures import SPARK_FAILURES, cause, is_java_gone
from twigcast.spark.session.listing import LISTING_TASKS_MAX, list_by_few_tasks
from twigcast.spark.session.progress import Listener
from twigcast.spark.session.session import is_connected_to
from twigcast.spark.storage.batches import (
    STAGING,
    STREAM,
    Output,
    Store,
    absolute,
    literally,
    local_path,
)
from twigcast.spark.storage.folder_lock import alone
from twigcast.spark.storage.kafka import KafkaTopic, send_deliveries
from twigcast.spark.storage.manifests import MANIFEST, Span, has_batches, last_batch
from twigcast.spark.storage.sealed import sealed, unsealed
from twigcast.spark.storage.sources import Publications
from twigcast.spark.storage.tables import TABLES
from twigcast.spark.stream.checkpoint import damaged_file, gone_files
from twigcast.spark.stream.reports import (
    REPORTS_MAX,
    BatchReport,
    WatchedFiles,
    messages_waiting,
    report_of,
)
from twigcast.spark.stream.sources import arriving
from twigcast.spark.stream.versions import (
    BatchSubscriptions,
    Changes,
    Versions,
    feed_of,
    forget_paths,
    kept_paths,
)

_TRIGGER_SECONDS_MAX = 7 * 24 * 3600
_HEARD_SECONDS = 1

_FEW_FILES_PER_TASK = 50
_FEW_FILES = 8 * _FEW_FILES_PER_TASK
"""A task costs as much as some 50 small documents, and each leaves a file of its own."""


class Stream(Uncopied, instead="it runs, and its tables are in its output folder"):
    """A stream in the background, until it is stopped, fails, or has nothing left to do."""

    def __init__(
        self, query: StreamingQuery, step: BatchStep, checkpoint: Store | None = None
    ) -> None:
        self._query = query
        self._step = step
        self._checkpoint = checkpoint
        self._is_stopped = False

    def __repr__(self) -> str:
        state = "running" if self.is_active else "ended"
        return f"<Stream: {state}, tables in {one_line(self._step.out)}>"

    @property
    def is_active(self) -> bool:
        """Whether it still runs; where Spark's Java machine has gone, nothing does."""
        try:
            return bool(self._query.isActive)
        except SPARK_FAILURES as error:
            if is_java_gone(error):
                return False
            raise TwigcastError(f"the stream cannot be asked: {cause(error)}") from error

    @property
    def last_run(self) -> Run | None:
        """How the last batch went that this stream has finished; None before the first.

        Where Spark is only connected to, this is not known here: read the table ``metrics``.
        """
        return self._step.last_run

    @property
    def reports(self) -> tuple[BatchReport, ...]:
        """How the last batches went that this stream has finished, the oldest first.

        A batch of a topic is reported when Spark has told what is left there. Where Spark is only
        connected to, there are none.
        """
        found = tuple(self._step.reports)
        if not (found and self._step.has_messages):
            return found
        told: dict[int, int | None] = {}
        is_over = not self.is_active
        with suppress(*SPARK_FAILURES):
            told = messages_waiting(self._query.recentProgress)
        latest = max(told, default=-1)
        return tuple(
            replace(report, messages_waiting=told.get(report.batch))
            for report in found
            if is_over or report.batch <= latest
        )

    def wait(self, seconds: float | None = None) -> bool:
        """Wait until it ends, or for some seconds; whether it has ended. 0 seconds are a look.

        A :class:`TwigcastError` tells what made it end, if it did not mean to.
        """
        with door("waiting for a stream"):
            if seconds is not None and not self._ends_within(seconds):
                return False
            with suppress(*SPARK_FAILURES):
                # Now and then we look up, to hear whether somebody has pressed Ctrl-C.
                while not self._query.awaitTermination(_HEARD_SECONDS):
                    pass
            self._raise_failure()
            return True

    def catch_up(self) -> None:
        """Wait until all that has arrived so far is done."""
        with door("waiting for a stream"):
            with suppress(*SPARK_FAILURES):
                self._query.processAllAvailable()
            self._raise_failure()

    def stop(self) -> None:
        """Stop at once; a batch on its way is done again when the stream is started again."""
        with door("stopping a stream"):
            self._is_stopped = True
            with suppress(*SPARK_FAILURES):
                self._query.stop()

    def _ends_within(self, seconds: float) -> bool:
        if seconds <= 0:
            return not self.is_active
        with suppress(*SPARK_FAILURES):
            milliseconds = max(1, round(1000 * seconds))
            return bool(self._query.awaitTermination(milliseconds / 1000))  # type: ignore[arg-type]
        return True

    def _raise_failure(self) -> None:
        try:
            told: Exception | None = self._query.exception()
        except SPARK_FAILURES as error:
            told = error
        if told is None or self._is_stopped:
            return
        failure = self._step.failure
        if isinstance(failure, TwigcastError):
            raise failure
        if failure is None and self._checkpoint is not None:
            _check_notes(self._checkpoint, told)
        reason = _reason(told if failure is None else failure)
        raise TwigcastError(f"the stream has stopped: {reason}") from failure or told


@dataclass
class BatchStep:
    """What is done with each batch; where Spark is only connected to, in a process of its own."""

    design: Design
    subscriptions: SubscriptionFile
    out: str
    files: Callable[[Iterable[str]], Publications] | None = None
    """The documents among files that Spark names; None if the rows of a batch are documents."""
    limits: PublicationLimits = DEFAULT_LIMITS
    document_limits: DocumentLimits = LIBRARY_LIMITS
    """Of documents that are rows; files bring their own."""
    checkpoint: str | None = None
    changes: Changes | None = None
    deliveries_to: KafkaTopic | None = None
    partitions: int | None = None
    progress: Listener | None = None
    watched: WatchedFiles | None = None
    """What waits in watched folders."""
    has_messages: bool = False
    """Whether documents are messages of a topic."""
    last_run: Run | None = None
    reports: deque[BatchReport] = field(default_factory=lambda: deque(maxlen=REPORTS_MAX))
    failure: Exception | None = None
    name: str | None = None
    """What the stream is called in its output folder, once it is started."""
    _versions: Versions | None = None
    _prepared: tuple[Sequence[Subscription], Prepared] | None = None

    def __call__(self, frame: DataFrame, number: int) -> None:
        """Do a batch, unless it was done before."""
        try:
            self._do(frame, number)
        except Exception as error:
            self.failure = error
            raise

    def _do(self, frame: DataFrame, number: int) -> None:
        begun = perf_counter()
        spark = frame.sparkSession
        store = store_of(self.out, spark)
        if self.name is not None and _named(store) != self.name:
            raise TwigcastError(
                f"the output folder {self.out} is no longer that of this stream: it was removed or "
                "replaced; start a new stream, in two new folders"
            )
        output = Output(store, TABLES, existing="keep").batch(
            number, placed=lambda: self._send(spark, store, number)
        )
        if output.is_whole:
            forget_paths(store, number)
            return
        publications = self._arrived(frame, store, number)
        if self._versions is None:
            self._versions = self._made_versions(store, spark)
        choice = self._versions.choose(number)
        prepared = self._compiled(spark, choice)
        choice = self._versions.settle(choice, prepared.version)
        record = choice.record
        batch = Batch(spark, output, self.out, progress=self.progress)
        with alone(store):
            self.last_run = batch.run(
                prepared,
                publications,
                partitions=self.partitions or _partitions(publications),
                is_first=choice.is_first,
                noted={"version": _shown(record.version), "changes": list(record.files)},
            )
        forget_paths(store, number)
        report = report_of(self.last_run, perf_counter() - begun)
        self.reports.append(self.watched.with_waiting(report) if self.watched else report)

    def _arrived(self, frame: DataFrame, store: Store, number: int) -> Publications:
        """The documents of a batch; the same ones if it is repeated, though some may be gone."""
        if self.files is None:
            limits, others = self.limits, self.document_limits
            return Publications(frame, limits=limits, document_limits=others)
        # Spark would take a task for every 32 files or so, to tell nothing but their names.
        named = {row["path"] for row in frame.coalesce(LISTING_TASKS_MAX).collect()}
        if self._versions is None and self.checkpoint is not None:
            # The first batch may be repeated, from before its files were on record.
            spark = frame.sparkSession
            named |= gone_files(store_of(self.checkpoint, spark), number, spark)
        if self.watched is not None:
            self.watched.take(local_path(path) or path for path in named)
        found = self.files(named)
        return replace(found, source=kept_paths(store, number, found.paths))

    def _made_versions(self, store: Store, spark: SparkSession) -> Versions:
        tree = self.design.tree
        brokers = None if tree is None else tree.names
        feed = feed_of(self.changes, store, spark)
        return Versions(store, self.subscriptions, feed, brokers=brokers)

    def _compiled(self, spark: SparkSession, choice: BatchSubscriptions) -> Prepared:
        """The subscriptions of a batch, compiled anew only if they have changed."""
        given = choice.subscriptions
        if self._prepared is None or self._prepared[0] is not given.subscriptions:
            before = self._prepared[1] if self._prepared else None
            prepared = prepare(spark, given, self.design, before=before)
            self._prepared = given.subscriptions, prepared
            if before is not None:
                discard(*before.files)
        _, prepared = self._prepared
        # What of the first subscriptions is set aside, the first batch tells that has them; what
        # comes by the feed was checked.
        rejected = prepared.rejected if choice.has_other_first else given.rejected
        return replace(prepared, rejected=rejected)

    def _send(self, spark: SparkSession, store: Store, number: int) -> None:
        place = Span(number, number).place("deliveries")
        if self.deliveries_to is not None and store.exists(place):
            deliveries = spark.read.parquet(literally(store.location(place)))
            send_deliveries(deliveries, self.deliveries_to, batch=number)


def start_stream(
    spark: SparkSession,
    publications: Publications | KafkaTopic,
    step: BatchStep,
    *,
    checkpoint: AnyPath,
    trigger: float | None = None,
    schema: str | None = None,
) -> Stream:
    """Start a stream whose batches are done by a step.

    ``trigger`` are the seconds from batch to batch; without, what is there is done, and that is
    the end. ``schema`` is that of a table.
    """
    if trigger is not None and not 0 <= trigger <= _TRIGGER_SECONDS_MAX:
        raise UsageError(
            f"a trigger of {shown(trigger)} s cannot be meant; give the seconds, 0 or more"
        )
    list_by_few_tasks(spark)
    source = arriving(spark, publications, schema=schema)
    limits, others = publications.limits, publications.document_limits
    step = replace(step, limits=limits, document_limits=others)
    # Batches are done by somebody who may be in another folder by then.
    changes = step.changes
    if isinstance(changes, str | os.PathLike):
        changes = _absolute(changes)
    done = replace(
        step,
        files=source.files,
        # Where Spark is only connected to, nobody here hears of what its server has done.
        watched=None if is_connected_to(spark) else source.watched,
        has_messages=isinstance(publications, KafkaTopic),
        checkpoint=_absolute(checkpoint),
        out=_absolute(step.out),
        changes=changes,
    )
    out = store_of(done.out, spark)
    feed_of(done.changes, out, spark)
    notes = store_of(checkpoint, spark)
    done.name = bind(out, notes)
    writer = source.frame.writeStream.foreachBatch(done)
    writer = writer.option("checkpointLocation", done.checkpoint)
    if trigger is None:
        writer = writer.trigger(availableNow=True)
    else:
        writer = writer.trigger(processingTime=f"{round(1000 * trigger)} milliseconds")
    try:
        return Stream(writer.start(), done, notes)
    except SPARK_FAILURES as error:
        _check_notes(notes, error)
        raise UsageError(f"the stream did not start: {_reason(error)}") from error


def _check_notes(checkpoint: Store, failure: Exception) -> None:
    """Say so if a stream has failed since the checkpoint is damaged."""
    if is_java_gone(failure):
        return
    try:
        place = damaged_file(checkpoint)
    except (OSError, *SPARK_FAILURES):
        return  # There may be more that is wrong, and what Spark has to say is told.
    if place is not None:
        raise TwigcastError(
            f"the stream cannot go on: {place} is damaged, in which Spark has noted how far the "
            "stream is; put it back from a copy, or start a new stream in two new folders"
        ) from failure


def bind(out: Store, checkpoint: Store) -> str:
    """Give an output folder and a checkpoint the name of one stream; the name.

    A pair that does not fit is a :class:`UsageError`.
    """
    names = {_named(store) for store in (out, checkpoint)}
    if len(names) == 1 and None not in names:
        _check_as_far(out, checkpoint)
        # What a batch has left that was finished, but not cleared up.
        out.delete(STAGING)
        return str(names.pop())
    if None not in names or has_batches(out) or checkpoint.names("commits"):
        raise UsageError(
            f"the output folder {out.location('')} and the checkpoint {checkpoint.location('')} "
            "are not of one stream: give those that belong together, or two new folders"
        )
    if names == {None}:
        Output(out, TABLES, existing="refuse")
    name = next(filter(None, names), None) or uuid4().hex
    for store in (checkpoint, out):
        store.write(STREAM, sealed(_KIND, {"stream": name}))
    return name


def _check_as_far(out: Store, checkpoint: Store) -> None:
    """A :class:`UsageError` if one of the two was put back from an older copy.

    Spark notes a batch before it is done, and commits it when its manifest is there. An older
    checkpoint would give the numbers of finished batches to new documents, and an older output
    folder has lost batches that Spark never does again.
    """
    finished = last_batch(out)
    begun = _last_noted(checkpoint, "offsets")
    if finished > begun:
        raise UsageError(
            f"{out.location('')} has batch {finished} finished, of which the checkpoint "
            f"{checkpoint.location('')} knows nothing: it is older, or damaged; put back the one "
            "that belongs to the output folder, or begin a new stream in two new folders"
        )
    committed = _last_noted(checkpoint, "commits")
    if finished < committed:
        again = checkpoint.location(f"commits/{committed}")
        raise UsageError(
            f"the checkpoint {checkpoint.location('')} has batch {committed} done, and its "
            f"manifest is not in {out.location(MANIFEST)}: put back the output folder that belongs "
            "to the checkpoint, or begin a new stream in two new folders; if it is the one "
            f"manifest that is missing, delete {again} as well, and .{committed}.crc beside it, "
            "and the batch is done again"
        )


def _last_noted(checkpoint: Store, log: str) -> int:
    """The last batch in one of Spark's logs; -1 if there is none."""
    return max((int(name) for name in checkpoint.names(log) if _NOTED.fullmatch(name)), default=-1)


_NOTED = re.compile(r"[0-9]{1,18}")


def _absolute(place: AnyPath) -> str:
    local = local_path(place)
    return os.fspath(place) if local is None else absolute(local)


def _partitions(publications: Publications) -> int | None:
    """How many tasks open the few files of a batch; None for what is shared out as in any run."""
    files = len(publications.paths)
    return None if not files or files > _FEW_FILES else -(-files // _FEW_FILES_PER_TASK)


def _shown(version: int) -> int | None:
    return None if version == NO_VERSION else version


@dataclass(frozen=True, slots=True)
class _Name:
    """What a stream is called."""

    stream: str


_KIND = "name of a stream"
_REMEDY = (
    "put it back from the other of the two folders (the output folder and the checkpoint have the "
    "same), or begin a new stream in two new folders"
)


def _named(store: Store) -> str | None:
    if not store.exists(STREAM):
        return None
    place = store.location(STREAM)
    return unsealed(_KIND, store.read(STREAM), _Name, place=place, remedy=_REMEDY).stream


def _reason(error: BaseException) -> str:
    """What has made a stream fail, as one line.

    >>> _reason(PySparkException("[X] Query [id = 1] terminated with exception: Gone. SQLSTATE: 4"))
    'Gone.'
    """
    text = str(error)
    if not isinstance(error, SPARK_FAILURES) or "terminated with exception: " not in text:
        return (
            cause(error) if isinstance(error, SPARK_FAILURES) else f"{type(error).__name__}: {text}"
        )
    told = text.partition("=== Streaming Query ===")[0].partition("terminated with exception: ")[2]
    return cause(PySparkException(told))
