"""One batch of documents: matched, written and put in place, step by step."""

from __future__ import annotations

import logging
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict, replace
from datetime import UTC, datetime
from time import perf_counter
from uuid import uuid4

from pyspark.sql import SparkSession

from twigcast import __version__
from twigcast.display import counted, one_line, printable
from twigcast.files import Entry, Rejected, list_documents
from twigcast.files.documents.publications import AnyPath, selector_of
from twigcast.spark.plans.distribution import (
    Documents,
    documents_elsewhere,
    documents_in_chunks,
    documents_in_table,
)
from twigcast.spark.plans.prepare import Prepared
from twigcast.spark.plans.record_ranges import with_ranges
from twigcast.spark.plans.writers import Sums
from twigcast.spark.result import Run
from twigcast.spark.session.progress import REPORT_EVERY, Listener, reporter, watched
from twigcast.spark.session.session import (
    cores_of,
    partitions_of,
)
from twigcast.spark.storage.batches import (
    BatchOutput,
    Store,
    hadoop_store,
    local_path,
    local_store,
)
from twigcast.spark.storage.elsewhere import files_elsewhere
from twigcast.spark.storage.sources import Publications, table_of
from twigcast.spark.storage.tables import TABLES, arrow_of
from twigcast.spark.worker.chunks import chunk_count, cut

_LOG = logging.getLogger("twigcast.spark")


class Batch:
    """One batch, step by step, with the time that each step took."""

    def __init__(
        self,
        spark: SparkSession,
        output: BatchOutput,
        out: str,
        *,
        progress: Listener | None = None,
    ) -> None:
        self._spark = spark
        self._output = output
        self._out = out
        self._progress = progress
        self._seconds: dict[str, float] = {}

    def run(
        self,
        prepared: Prepared,
        publications: Publications,
        *,
        partitions: int | None = None,
        is_first: bool = True,
        noted: Mapping[str, object] | None = None,
    ) -> Run:
        """Match, write, and put everything in place.

        What is rejected, and the routes, are written if the batch is the first of its version.
        ``noted`` goes into the manifest as well.
        """
        started = datetime.now(tz=UTC)
        self._seconds.update(prepared.seconds if is_first else dict.fromkeys(prepared.seconds, 0.0))
        with self._timed("listing"):
            documents, tasks = self._documents(publications, partitions)
        self._output.begin()
        with prepared.plan.run(self._spark, self._output, documents) as tables:
            with self._timed("matching"), watched(self._spark, "matching", tasks, self._progress):
                sums = tables.match()
            rejected = [_row(item) for item in prepared.rejected] if is_first else []
            routes = prepared.routes if is_first else prepared.routes.slice(0, 0)
            with self._timed("writing"), watched(self._spark, "writing", tasks, self._progress):
                tables.write()
                tables.put("traffic", arrow_of(sums.traffic, TABLES["traffic"]))
                tables.put("rejected", arrow_of(rejected, TABLES["rejected"]))
                tables.put("routes", routes)
            run = self._run_of(started, prepared, sums, tasks)
            tables.put("metrics", arrow_of([self._metrics(run)], TABLES["metrics"]))
        rows = {
            "deliveries": run.deliveries,
            "traffic": len(sums.traffic),
            "dead_letters": run.dead_letters,
            "rejected": len(rejected),
            "routes": routes.num_rows,
            "metrics": 1,
        }
        self._finish(run, rows, noted or {})
        if run.internal_errors:
            _LOG.error(
                "%s made Twigcast itself fail; what happened is in the table dead_letters of %s, "
                "batch %d, stage internal: please report it",
                counted(run.internal_errors, "document"),
                one_line(self._out),
                run.batch,
            )
        return run

    def _run_of(self, started: datetime, prepared: Prepared, sums: Sums, tasks: int | None) -> Run:
        design = prepared.design
        counts = asdict(sums)
        traffic, tasks_seen = counts.pop("traffic"), counts.pop("tasks")
        return Run(
            run=f"{started:%Y%m%dT%H%M%SZ}-{uuid4().hex[:8]}",
            out=self._out,
            batch=self._output.number,
            started=started,
            strategy=str(design.strategy),
            plan=design.plan,
            shards=design.shards,
            brokers=len(design.tree.names) if design.tree else 1,
            subscriptions=prepared.subscriptions,
            rejected=len(prepared.rejected),
            routes=prepared.routes.num_rows,
            crossings=sum(row[2] for row in traffic),
            needless=sum(row[4] for row in traffic),
            engine=prepared.engine,
            matcher_version=prepared.version,
            partitions=tasks_seen if tasks is None else tasks,
            seconds=self._seconds,
            **counts,
        )

    def _documents(
        self, publications: Publications, partitions: int | None
    ) -> tuple[Documents, int | None]:
        """The documents, not opened yet, and the number of tasks that will, as far as known."""
        table = table_of(self._spark, publications)
        if table is not None:
            if partitions is not None:
                table = table.repartition(partitions)
            documents = documents_in_table(table, publications)
            return documents, partitions or partitions_of(table)
        if any(local_path(path) is None for path in publications.paths):
            files = files_elsewhere(self._spark, publications, partitions)
            return documents_elsewhere(files, publications), None
        entries = list(self._listed(publications))
        if (selector := selector_of(publications.record)) is not None:
            cores = cores_of(self._spark)
            entries = with_ranges(self._spark, entries, selector, cores=cores)
        count = partitions or chunk_count(entries, cores=cores_of(self._spark))
        chunks = cut(entries, count)
        return documents_in_chunks(self._spark, chunks, publications), len(chunks)

    def _listed(self, publications: Publications) -> Iterator[Entry]:
        paths = [local_path(path) or path for path in publications.paths]
        documents = list_documents(
            paths,
            patterns=publications.patterns,
            limits=publications.limits,
            found_in=publications.folder_names,
            record=publications.record,
        )
        number, report = 0, reporter(self._progress)
        for number, entry in enumerate(documents, start=1):
            if number % REPORT_EVERY == 0:
                report("documents", number, None)
            yield _renamed(entry, publications.folder_names)
        report("documents", number, number)

    def _metrics(self, run: Run) -> tuple[object, ...]:
        values = asdict(run)
        values.update({f"seconds_{step}": took for step, took in run.seconds.items()})
        values.update(twigcast=__version__, spark=self._spark.version)
        return tuple(values[name] for name in TABLES["metrics"].names)

    def _finish(self, run: Run, rows: Mapping[str, int], noted: Mapping[str, object]) -> None:
        self._output.finish(
            {
                "run": run.run,
                "finished": datetime.now(tz=UTC).isoformat(),
                "twigcast": __version__,
                "matcher_version": run.matcher_version,
                "rows": rows,
                **noted,
            }
        )

    @contextmanager
    def _timed(self, step: str) -> Iterator[None]:
        begun = perf_counter()
        yield
        self._seconds[step] = perf_counter() - begun


def store_of(out: AnyPath, spark: SparkSession) -> Store:
    """The folder of tables at a place, wherever that is."""
    local = local_path(out)
    return local_store(local) if local is not None else hadoop_store(str(out), spark)


def _renamed(entry: Entry, folder_names: Mapping[str, str]) -> Entry:
    for folder, name in folder_names.items():
        way = entry.name.removeprefix(f"{printable(folder)}/")
        if way != entry.name:
            return replace(entry, name=f"{printable(name)}/{way}")
    return entry


def _row(item: Rejected) -> tuple[object, ...]:
    name = None if item.id is None else str(item.id)
    return name, item.line, item.xpath, item.reason, item.column
