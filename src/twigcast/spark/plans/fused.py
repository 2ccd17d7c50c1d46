"""The plan ``fused``: one matcher over the subscriptions of all brokers.

A worker holds all subscriptions, and which links a document crosses is read off the answer
(:mod:`~twigcast.spark.worker.crossings`). If the strategy is not perfect, what crosses a link
depends on routes that nobody has subscribed to, so they stand in the matcher as well, with
positions behind the subscriptions.
"""

from __future__ import annotations

from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING
from uuid import uuid4

from twigcast.matching import Matcher
from twigcast.spark.plans.distribution import (
    SharedLabels,
    SharedMatcher,
    part_name,
    share_labels,
    share_matcher,
)
from twigcast.spark.plans.writers import sums_of_receipts, table_writer
from twigcast.spark.session.compatibility import from_arrow_schema
from twigcast.spark.storage import tables
from twigcast.spark.worker import matching as worker
from twigcast.spark.worker import parquet_parts as parts

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from pyspark.sql import DataFrame, SparkSession

    from twigcast.files import VersionedFile
    from twigcast.spark.plans.compilation import Compilation
    from twigcast.spark.plans.distribution import Batches, Documents
    from twigcast.spark.plans.writers import Receipt, Sums, TableWriter
    from twigcast.spark.storage.batches import BatchOutput
    from twigcast.spark.worker.broker_tree import BrokerTree


@dataclass(frozen=True)
class FusedPlan:
    """One matcher, which every worker has."""

    tree: BrokerTree | None
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
            share_labels(spark, compilation.labels, compilation.crossings),
            share_matcher(spark, matcher, engine=compilation.design.engine),
        )

    @property
    def files(self) -> list[VersionedFile]:
        """All that workers are given."""
        return [self.matcher.file, *self.shared.files]

    @contextmanager
    def run(
        self,
        spark: SparkSession,  # noqa: ARG002 (documents have it)
        output: BatchOutput,
        documents: Documents,
    ) -> Iterator[TableWriter]:
        """Match documents; what is kept meanwhile is dropped at the end."""

        def summed(receipts: Sequence[Receipt], _: str) -> Sums:
            return sums_of_receipts(receipts, self.tree)

        with table_writer(output, partial(self.receipts, documents), summed) as tables:
            yield tables

    def receipts(self, documents: Documents, folder: str | None) -> DataFrame:
        """A row for each task, whose rows the workers write into ``folder``.

        To be asked for once: every time Spark computes it, workers write anew. Without a folder,
        parts come back as rows beside the receipts.
        """
        run = None if folder else uuid4().hex
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
                part=part_name(run),
                schemas=schemas,
                labels=shared.load(),
                crossing_model=crossings,
            )

        return documents.rows.mapInArrow(work, from_arrow_schema(parts.RECEIPTS))
