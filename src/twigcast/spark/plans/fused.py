"""The plan ``fused``: one matcher over the subscriptions of all brokers.

A worker holds all subscriptions, and which links a document crosses is read off the answer
(:mod:`~twigcast.spark.worker.crossings`). If the strategy is not perfect, what crosses a link
depends on routes that nobody has subscribed to, so they stand in the matcher as well, with
positions behind the subscriptions.
"""

from __future__ import annotations

from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING

from twigcast.matching import Matcher
from twigcast.spark.plans.distribution import (
    SharedLabels,
    SharedMatcher,
    part_name,
    share_labels,
    share_matcher,
)
from twigcast.spark.plans.writers import BySpark, ByWorkers, attempts_folder
from twigcast.spark.session.compatibility import from_arrow_schema
from twigcast.spark.storage import tables
from twigcast.spark.worker import matching as worker
from twigcast.spark.worker import parquet_parts as parts

if TYPE_CHECKING:
    from collections.abc import Iterator

    import pyarrow as pa
    from pyspark.sql import DataFrame, SparkSession

    from twigcast.files import VersionedFile
    from twigcast.spark.plans.compilation import Compilation
    from twigcast.spark.plans.distribution import Batches, Documents
    from twigcast.spark.plans.writers import TableWriter
    from twigcast.spark.storage.batches import BatchOutput
    from twigcast.spark.worker.broker_tree import BrokerTree


@dataclass(frozen=True)
class FusedPlan:
    """One matcher, which every worker has."""

    tree: BrokerTree | None
    labels: pa.RecordBatch
    shared: SharedLabels
    matcher: SharedMatcher

    @classmethod
    def prepare(cls, spark: SparkSession, compilation: Compilation) -> FusedPlan:
        """Compile the subscriptions, and share what workers need."""
        matcher = Matcher(engine=compilation.design.engine)
        for position, pattern in compilation.positioned():
            matcher.add(position, pattern)
        for position, pattern in enumerate(compilation.behind, start=len(compilation.patterns)):
            matcher.add(position, pattern)
        return cls(
            compilation.design.tree,
            compilation.labels,
            share_labels(spark, compilation.labels, compilation.crossings),
            share_matcher(spark, matcher, engine=compilation.design.engine),
        )

    @property
    def files(self) -> list[VersionedFile]:
        """All that workers are given."""
        return [self.matcher.file, *self.shared.files]

    @contextmanager
    def run(
        self, spark: SparkSession, output: BatchOutput, documents: Documents
    ) -> Iterator[TableWriter]:
        """Match documents; what is kept meanwhile is dropped at the end."""
        attempts = attempts_folder(output)
        if attempts is not None:
            yield ByWorkers(output, self.receipts(documents, str(attempts)), attempts, self.tree)
            return
        outcomes = self.outcomes(documents).persist()
        try:
            yield BySpark(spark, output, outcomes, labels=self.labels, tree=self.tree)
        finally:
            outcomes.unpersist()

    def receipts(self, documents: Documents, folder: str) -> DataFrame:
        """A row for each task, whose rows the workers write into ``folder``.

        To be asked for once: every time Spark computes it, workers write anew.
        """
        schemas = {table: tables.parquet_schema(tables.TABLES[table]) for table in parts.WRITTEN}
        matcher, shared, open_documents = self.matcher, self.shared, documents.open
        limits = documents.limits

        def work(rows: Batches) -> Batches:
            opened = open_documents(rows)
            crossings = shared.load_crossings()
            outcomes = worker.match_batches(
                opened, matcher.load(limits), version=matcher.file.version, crossing_model=crossings
            )
            yield from parts.write_outcomes(
                outcomes,
                folder=folder,
                part=part_name(),
                schemas=schemas,
                labels=shared.load(),
                crossing_model=crossings,
            )

        return documents.rows.mapInArrow(work, from_arrow_schema(parts.RECEIPTS))

    def outcomes(self, documents: Documents) -> DataFrame:
        """A row for each document, in Spark's hands."""
        matcher, shared, open_documents = self.matcher, self.shared, documents.open
        limits = documents.limits

        def work(rows: Batches) -> Batches:
            yield from worker.match_batches(
                open_documents(rows),
                matcher.load(limits),
                version=matcher.file.version,
                crossing_model=shared.load_crossings(),
            )

        return documents.rows.mapInArrow(work, from_arrow_schema(worker.OUTCOMES))
