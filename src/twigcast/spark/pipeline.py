"""The main job: documents against standing subscriptions on Spark, into tables.

    run = run_batch("subscriptions.csv", "feed/", "out/")
    run.deliveries, run.documents

What happens::

    subscriptions --compile--> matcher file ---+                  out/deliveries
              +-------------> rejected         v                  out/dead_letters
    publications --list--> chunks ---------> outcomes --------->  out/rejected
              +----------> table -------------^                   out/metrics
                                                                  out/_manifest   (last)

The subscriptions are compiled once, here. Workers open, parse and match documents, which gives one
outcome per document (:mod:`~twigcast.spark.worker`), and write what follows from it, where they can
reach the output; elsewhere Spark does (:mod:`~twigcast.spark.writing`).
:mod:`~twigcast.spark.tables` describes every column.

There is one broker. A subscription may name the broker it is at, and the name is carried
through; one that names none is at the first broker that the file names, or at ``broker`` if the
file names none at all.

The rows depend neither on the number of partitions nor on how documents are packed. A run that
dies leaves no half table (:mod:`~twigcast.spark.storage`), and the next one clears up after it;
one run at a time may write to a folder.
"""

from __future__ import annotations

from contextlib import contextmanager
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING
from uuid import uuid4

from pyspark.sql import SparkSession

from twigcast import __version__
from twigcast.errors import TwigcastError, UsageError
from twigcast.files import Rejected, SubscriptionFile, compile_subscriptions, list_documents
from twigcast.matching import Matcher
from twigcast.spark.chunks import chunk_count, cut
from twigcast.spark.failures import SPARK_FAILURES, cause
from twigcast.spark.job import documents_in_chunks, documents_in_table, share_compiled
from twigcast.spark.labels import labels_of
from twigcast.spark.progress import Progress, watched
from twigcast.spark.session import start_session
from twigcast.spark.sources import Publications, gathered, table_of
from twigcast.spark.storage import Output, hadoop_store, local_path, local_store
from twigcast.spark.tables import TABLES
from twigcast.spark.writing import writing

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from pyspark.sql import DataFrame

    from twigcast.files import Entry
    from twigcast.files.publications import AnyPath
    from twigcast.files.subscriptions import Add
    from twigcast.spark.job import Documents
    from twigcast.spark.progress import Listener
    from twigcast.spark.sources import Subscriptions

_TOLD_EVERY = 1000
"""Progress is told once for so many subscriptions or documents."""


@dataclass(frozen=True)
class Run:
    """How a run went; the fields are explained in the table ``metrics``."""

    run: str
    out: str
    started: datetime
    subscriptions: int
    rejected: int
    documents: int
    bytes: int
    deliveries: int
    dead_letters: int
    engine: str
    matcher_version: str
    matcher_loads: int
    workers: int
    partitions: int
    seconds: Mapping[str, float]

    @property
    def all_accepted(self) -> bool:
        """Whether no subscription was rejected and nothing became a dead letter."""
        return not self.rejected and not self.dead_letters


def run_batch(
    subscriptions: Subscriptions,
    publications: Publications | AnyPath | Sequence[AnyPath] | DataFrame,
    out: AnyPath,
    *,
    spark: SparkSession | None = None,
    engine: str = "auto",
    partitions: int | None = None,
    overwrite: bool = False,
    progress: Listener | None = None,
) -> Run:
    """Match all publications against all subscriptions and write the tables into a folder.

    Without ``spark`` a session is started, and stopped at the end. ``partitions`` is the number
    of tasks; if not given, it follows the work and the cores. A folder that holds a finished run
    is refused unless ``overwrite``. ``progress`` is called with a
    :class:`~twigcast.spark.progress.Progress` now and then.

    Bad subscriptions and documents end in tables. A :class:`UsageError` is for what makes the
    whole run impossible, and is raised before anything is written.
    """
    if not isinstance(publications, Publications):
        publications = Publications(publications)
    _check(publications, partitions)
    file = unambiguous(gathered(subscriptions))
    place = local_path(out)
    # What can be refused without Spark is refused before it is started.
    local = place and Output(local_store(place), TABLES, overwrite=overwrite)
    own = spark is None and SparkSession.getActiveSession() is None
    spark = spark or start_session()
    try:
        output = local or Output(hadoop_store(str(out), spark), TABLES, overwrite=overwrite)
        batch = _Batch(spark, output, progress)
        return batch.run(file, publications, engine=engine, partitions=partitions, out=str(out))
    except SPARK_FAILURES as error:
        raise TwigcastError(f"the run did not finish: {cause(error)}") from error
    finally:
        if own:
            spark.stop()


class _Batch:
    """One run, step by step, with the time that each step took."""

    def __init__(self, spark: SparkSession, output: Output, progress: Listener | None) -> None:
        self._spark = spark
        self._output = output
        self._progress = progress
        self._seconds: dict[str, float] = {}

    def run(
        self,
        file: SubscriptionFile,
        publications: Publications,
        *,
        engine: str,
        partitions: int | None,
        out: str,
    ) -> Run:
        started = datetime.now(tz=UTC)
        labels = labels_of(file)
        with self._timed("subscriptions"):
            matcher = Matcher(engine)
            refused = compile_subscriptions(file, self._telling(matcher, file))
            rejected = sorted((*file.rejected, *refused), key=lambda item: item.line)
            compiled = share_compiled(self._spark, labels, matcher, engine=engine)
        with self._timed("listing"):
            documents, tasks = self._documents(publications, partitions)
        way = writing(self._spark, self._output, documents, compiled=compiled, labels=labels)
        with way as tables:
            with self._timed("matching"), watched(self._spark, "matching", tasks, self._progress):
                sums = tables.match()
            with self._timed("writing"), watched(self._spark, "writing", tasks, self._progress):
                tables.write()
                tables.put("rejected", [_row(item) for item in rejected])
            run = Run(
                run=f"{started:%Y%m%dT%H%M%SZ}-{uuid4().hex[:8]}",
                out=out,
                started=started,
                subscriptions=len(matcher),
                rejected=len(rejected),
                engine=matcher.statistics().engine,
                matcher_version=compiled.matcher.version,
                partitions=tasks,
                seconds=self._seconds,
                **sums,
            )
            tables.put("metrics", [self._metrics(run)])
        self._finish(run)
        return run

    def _documents(
        self, publications: Publications, partitions: int | None
    ) -> tuple[Documents, int]:
        """The documents, not opened yet, and the number of tasks that will open them."""
        table = table_of(self._spark, publications)
        if table is not None:
            if partitions is not None:
                table = table.repartition(partitions)
            return documents_in_table(table), table.rdd.getNumPartitions()
        entries = list(self._listed(publications))
        cores = self._spark.sparkContext.defaultParallelism
        chunks = cut(entries, partitions or chunk_count(entries, cores=cores))
        return documents_in_chunks(self._spark, chunks, publications), len(chunks)

    def _listed(self, publications: Publications) -> Iterator[Entry]:
        paths = [local_path(path) or path for path in publications.paths]
        found = list_documents(paths, patterns=publications.patterns, limits=publications.limits)
        number = 0
        for number, entry in enumerate(found, start=1):
            if number % _TOLD_EVERY == 0:
                self._tell("documents", number, None)
            yield entry
        self._tell("documents", number, number)

    def _metrics(self, run: Run) -> tuple[object, ...]:
        told = asdict(run)
        told.update({f"seconds_{step}": took for step, took in run.seconds.items()})
        told.update(twigcast=__version__, spark=self._spark.version)
        return tuple(told[name] for name in TABLES["metrics"].names)

    def _finish(self, run: Run) -> None:
        rows = {table: getattr(run, table, 1) for table in TABLES}
        self._output.finish(
            {
                "run": run.run,
                "twigcast": __version__,
                "matcher_version": run.matcher_version,
                "rows": rows,
            }
        )

    def _telling(self, matcher: Matcher, file: SubscriptionFile) -> Add:
        """The matcher's ``add``, which also tells how far it has come."""
        total = len(file.subscriptions)

        def add(id: int, xpath: str, namespaces: Mapping[str, str]) -> None:
            if (id + 1) % _TOLD_EVERY == 0 or id + 1 == total:
                self._tell("subscriptions", id + 1, total)
            matcher.add(id, xpath, namespaces)

        return add

    def _tell(self, stage: str, done: int, total: int | None) -> None:
        if self._progress is not None:
            self._progress(Progress(stage, done, total))

    @contextmanager
    def _timed(self, step: str) -> Iterator[None]:
        begun = perf_counter()
        yield
        self._seconds[step] = perf_counter() - begun


def _check(publications: Publications, partitions: int | None) -> None:
    if partitions is not None and partitions < 1:
        raise UsageError(
            f"the work cannot be shared out to {partitions} partitions; give 1 or more"
        )
    for path in publications.paths:
        local = local_path(path)
        if path == "-":
            raise UsageError("workers cannot read standard input; put the documents into files")
        if publications.format is None and local is None:
            raise UsageError(
                f"{path} is in another file system, which Spark has to read: say the format, "
                "for documents in single files binaryFile"
            )
        if publications.format is None and local is not None and not Path(local).exists():
            raise UsageError(f"there are no publications at {path}")


def unambiguous(file: SubscriptionFile) -> SubscriptionFile:
    """The same, without subscriptions whose id differs from another only by its type.

    Tables hold ids as text, in which 7 and "7" are the same.
    """
    lines: dict[str, int] = {}
    kept, rejected = [], list(file.rejected)
    for item in file.subscriptions:
        first = lines.setdefault(str(item.id), item.line)
        if first == item.line:
            kept.append(item)
        else:
            reason = f"as text the id is that of line {first}, and tables hold ids as text"
            rejected.append(Rejected(item.id, item.line, item.xpath, reason))
    return SubscriptionFile(tuple(kept), tuple(rejected))


def _row(item: Rejected) -> tuple[object, ...]:
    name = None if item.id is None else str(item.id)
    return name, item.line, item.xpath, item.reason, item.column
