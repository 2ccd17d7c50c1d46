"""The main job: documents through a network of brokers on Spark, into tables.

    pipeline = Pipeline(spark, "topology.toml", "subscriptions.csv", "covering")
    run = pipeline.disseminate("feed/", "out/")
    run.deliveries, run.crossings

What happens::

    subscriptions, topology, strategy --prepare--> routes, matcher file --+      out/deliveries
              +-------------> rejected                                    v      out/traffic
    publications --list--> chunks ------------------------------------> outcomes out/dead_letters
              +----------> table -----------------------------------------^      out/rejected
                                                                                 out/routes
                                                                                 out/metrics
                                                                           last: out/_manifest

The subscriptions are compiled once, here (:mod:`~twigcast.spark.plans.prepare`). Workers open,
parse and match documents, which gives one outcome per document
(:mod:`~twigcast.spark.worker.matching`), and write what follows from it, where they can reach the
output; elsewhere the driver does (:mod:`~twigcast.spark.plans.writers`).
:mod:`~twigcast.spark.storage.tables` describes every column.

Two *plans* lead to the same tables. ``fused``: a worker holds the subscriptions of all brokers, and
the way that a document takes through the network is read off one answer
(:mod:`~twigcast.spark.worker.crossings`). ``hops``: documents are brought to the brokers, one hop
after the other, for networks that no worker can hold (:mod:`~twigcast.spark.plans.hops`). With
*shards*, the subscriptions of the plan ``fused`` are split among workers
(:mod:`~twigcast.spark.plans.sharded`).

Without a topology there is one broker. A subscription may name the broker it is at all the same,
and the name is carried through.

The rows depend neither on the plan, nor on the number of partitions, nor on how documents are
packed. A run that dies leaves no half table (:mod:`~twigcast.spark.storage.batches`), and the next
one clears up after it; one run at a time may write to a folder
(:mod:`~twigcast.spark.storage.folder_lock`).
"""

from __future__ import annotations

import atexit
import shutil
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from pyspark.sql import DataFrame, SparkSession

from twigcast.copies import Uncopied
from twigcast.display import html_table, shown
from twigcast.door import door
from twigcast.errors import UsageError
from twigcast.files import Rejected, SubscriptionFile
from twigcast.files.opening import checked_path
from twigcast.routing.strategy import warn_of_flooding
from twigcast.spark.batch import Batch
from twigcast.spark.plans.design import design_of
from twigcast.spark.plans.frames import has_outcomes, outcomes_of, rows_of
from twigcast.spark.plans.fused import FusedPlan
from twigcast.spark.plans.hops import HOPS_ELSEWHERE
from twigcast.spark.plans.prepare import Prepared, prepare
from twigcast.spark.result import Run
from twigcast.spark.session.failures import plain_spark_errors
from twigcast.spark.session.progress import reporter
from twigcast.spark.session.session import (
    check_session,
    is_connected_to,
    start_session,
)
from twigcast.spark.storage.batches import (
    Output,
    checked_place,
    hadoop_store,
    local_path,
    local_store,
)
from twigcast.spark.storage.folder_lock import alone
from twigcast.spark.storage.kafka import KafkaTopic
from twigcast.spark.storage.sources import (
    Publications,
    frame_of,
    load_subscriptions,
    needed_columns,
)
from twigcast.spark.storage.tables import TABLES

if TYPE_CHECKING:
    from twigcast.files.documents.publications import AnyPath
    from twigcast.routing import Strategy, Topology
    from twigcast.spark.plans.design import AdvertisementSource
    from twigcast.spark.session.progress import Listener
    from twigcast.spark.storage.batches import Existing
    from twigcast.spark.storage.sources import Subscriptions
    from twigcast.spark.stream.stream import Stream
    from twigcast.spark.stream.versions import Changes


PARTITIONS_MAX = 100_000
"""A task costs Spark some ten milliseconds, and each leaves files of its own."""

_OUT = "an output folder"


class Pipeline(
    Uncopied, instead="make another of the same topology and subscriptions: it holds a session"
):
    """Documents through a network of brokers: subscriptions at brokers, and how these route.

    ``spark`` is a session; without one the running session is used, or a new one is started when
    it is needed, and stays for the results to be read. ``topology`` is the path of a topology file,
    its dictionary, or None for one broker. ``subscriptions`` are a file or anything that
    :data:`~twigcast.spark.storage.sources.Subscriptions` names. ``strategy`` is a name or a value
    of :mod:`twigcast.routing.strategy`, ``plan`` is ``fused`` or ``hops``. Documents are published
    at ``origin``, by default the first broker, unless their table says otherwise.
    ``advertisements`` are schemas by broker, for strategies that ask for them. ``progress`` is
    called with a :class:`~twigcast.spark.session.progress.Progress` now and then.

    A :class:`UsageError` is for what makes everything impossible, such as a topology in two parts.
    Bad subscriptions and documents end in tables.
    """

    @door("making a pipeline")
    def __init__(  # noqa: PLR0913 (all that can be chosen, by name)
        self,
        spark: SparkSession | None = None,
        topology: Topology | Mapping[str, object] | AnyPath | None = None,
        subscriptions: Subscriptions = (),
        strategy: Strategy | str = "best",
        *,
        plan: str = "fused",
        shards: int = 1,
        engine: str = "auto",
        origin: str | None = None,
        advertisements: Mapping[str, AdvertisementSource | Sequence[AdvertisementSource]]
        | None = None,
        progress: Listener | None = None,
    ) -> None:
        if spark is not None:
            check_session(spark)
        with plain_spark_errors("the run did not finish"):
            self.design = design_of(
                topology,
                strategy,
                plan=plan,
                shards=shards,
                engine=engine,
                origin=origin,
                advertisements=advertisements,
            )
            self._given = spark
            self._file = reject_duplicate_ids(load_subscriptions(subscriptions, lambda: self.spark))
        self._progress = progress
        self._prepared: Prepared | None = None

    @door("running a pipeline")
    def disseminate(
        self,
        publications: Publications | AnyPath | Sequence[AnyPath] | DataFrame,
        out: AnyPath | None = None,
        *,
        partitions: int | None = None,
        overwrite: bool = False,
    ) -> Run:
        """Carry publications to all whom they satisfy, and write the tables into a folder.

        Without ``out`` it is a temporary folder, which goes with this process. ``partitions`` is
        the number of tasks; if not given, it follows the work and the cores. A folder that holds a
        finished run is refused unless ``overwrite``.
        """
        with plain_spark_errors("the run did not finish"):
            publications = validated_publications(publications, partitions)
            if isinstance(publications.source, DataFrame) and publications.source.isStreaming:
                raise UsageError(
                    "the table streams, and a run has an end: use Pipeline.stream, or read the "
                    "table with spark.read"
                )
            place = _temporary_folder() if out is None else checked_place(out, _OUT)
            self._check_reach(place)
            self._warn_of_flooding(publications)
            existing: Existing = "replace" if overwrite else "refuse"
            # What can be refused without Spark is refused before it is started.
            local = local_path(place)
            output = local and Output(local_store(local), TABLES, existing=existing)
            spark = self.spark
            output = output or Output(hadoop_store(place, spark), TABLES, existing=existing)
            batch = Batch(spark, output.batch(0), place, progress=self._progress)
            with alone(output.store):
                return batch.run(self.prepared, publications, partitions=partitions)

    @door("starting a stream")
    def stream(
        self,
        publications: Publications | KafkaTopic | AnyPath | Sequence[AnyPath] | DataFrame,
        out: AnyPath,
        *,
        checkpoint: AnyPath,
        changes: Changes | None = None,
        trigger: float | None = None,
        deliveries_to: KafkaTopic | None = None,
        schema: str | None = None,
        partitions: int | None = None,
    ) -> Stream:
        """The same for publications that keep arriving, batch by batch; it runs in the background.

        ``checkpoint`` is a folder in which Spark keeps account of what is done; a stream that is
        started again with the same one goes on where it was. ``changes`` are a feed of
        subscriptions that come and go. ``trigger`` are the seconds from batch to batch; without, it
        does what is there, and ends. Deliveries can go to Kafka as well. ``schema`` is that of a
        table, where there is no file yet to take it from.
        """
        with plain_spark_errors("the run did not finish"):
            from twigcast.spark.stream.stream import BatchStep, start_stream

            place = checked_place(out, _OUT)
            self._check_reach(place)
            checkpoint = checked_place(checkpoint, "a checkpoint")
            check_partitions(partitions)
            if not isinstance(publications, KafkaTopic):
                publications = validated_publications(publications)
                if not isinstance(publications.source, DataFrame) and not publications.paths:
                    raise UsageError("there is no place where documents could arrive; name one")
            if not (changes is None or callable(changes) or isinstance(changes, DataFrame)):
                changes = checked_path(changes, "a change feed")
            self._warn_of_flooding(publications)
            step = BatchStep(
                design=self.design,
                subscriptions=self._file,
                out=place,
                changes=changes,
                deliveries_to=deliveries_to,
                partitions=partitions,
                # Where a server does the batches, there is nobody to report to.
                progress=None if is_connected_to(self.spark) else self._progress,
            )
            return start_stream(
                self.spark,
                publications,
                step,
                checkpoint=checkpoint,
                trigger=trigger,
                schema=schema,
            )

    @door("matching a DataFrame")
    def outcomes(self, documents: DataFrame | Publications) -> DataFrame:
        """The documents of a DataFrame, with all that is known of each in a column ``outcome``.

        Nothing is matched before Spark asks for it. The DataFrame may stream, its columns stay,
        and no file of ours is written. The column is a structure with the fields ``document``,
        ``document_hash``, ``bytes``, ``deliveries``, ``crossed`` and ``dead_letters``. Documents
        are in the column ``content``, unless
        :class:`~twigcast.spark.storage.sources.Publications` say otherwise. What has outcomes is
        given back as it is.

        It is for the plan ``fused`` without shards. Subscriptions that are set aside are in
        :attr:`rejected`.
        """
        with plain_spark_errors("the DataFrame cannot be matched"):
            if isinstance(documents, DataFrame) and has_outcomes(documents):
                return documents
            publications = validated_publications(documents)
            frame = None if publications.are_files else frame_of(self.spark, publications)
            if frame is None:
                raise UsageError(
                    "files and folders are for Pipeline.disseminate; give a DataFrame, which Spark "
                    "reads from anywhere (binaryFile for whole files)"
                )
            if has_outcomes(frame):
                return frame
            plan = self.prepared.plan
            if not isinstance(plan, FusedPlan):
                raise UsageError(
                    "a DataFrame is matched by the plan fused, without shards; for others there is "
                    "Pipeline.disseminate"
                )
            self._warn_of_flooding(publications)
            return outcomes_of(frame, publications, plan)

    def deliveries(self, documents: DataFrame | Publications) -> DataFrame:
        """A row for each document and subscription that match, with all columns of the document.

        ``documents`` are a DataFrame, or what :meth:`outcomes` has made of one. The other columns
        are those of the table ``deliveries``.
        """
        return self._rows("deliveries", documents)

    def dead_letters(self, documents: DataFrame | Publications) -> DataFrame:
        """A row for each document that is refused, and for each pair that stays undecided.

        ``documents`` are a DataFrame, or what :meth:`outcomes` has made of one. The other columns
        are those of the table ``dead_letters``.
        """
        return self._rows("dead_letters", documents)

    def traffic(self, documents: DataFrame | Publications) -> DataFrame:
        """A row for each document and link that it crosses, with all columns of the document.

        ``documents`` are a DataFrame, or what :meth:`outcomes` has made of one. The other columns
        are ``document``, ``bytes``, ``broker``, ``neighbour`` and ``needless``, whether nobody
        behind the link had asked for it.
        """
        return self._rows("traffic", documents)

    @property
    def rejected(self) -> tuple[Rejected, ...]:
        """The subscriptions that are set aside, with the reasons; known once all are compiled."""
        return self.prepared.rejected

    def _rows(self, table: str, documents: DataFrame | Publications) -> DataFrame:
        with door("matching a DataFrame"), plain_spark_errors("the DataFrame cannot be matched"):
            return rows_of(table, self.outcomes(documents))

    def _check_reach(self, place: str) -> None:
        """A :class:`UsageError` if the plan asks for a folder, and the place is none."""
        if self.design.plan == "hops" and local_path(place) is None:
            raise UsageError(f"{place} is in another file system: {HOPS_ELSEWHERE}")

    def flooding_notice(
        self, publications: Publications | KafkaTopic, *, remedy: str
    ) -> str | None:
        """That documents will go over every link for want of advertisements, if they will."""
        at_origin = isinstance(publications, Publications) and publications.are_files
        return self.design.flooding_notice(at_origin=at_origin, remedy=remedy)

    def _warn_of_flooding(self, publications: Publications | KafkaTopic) -> None:
        remedy = "say what is published there by advertisements={broker: schema}"
        notice = self.flooding_notice(publications, remedy=remedy)
        if notice is not None:
            warn_of_flooding(notice)

    @property
    def spark(self) -> SparkSession:
        """The session: the one given, else the active one, else a new one."""
        self._given = self._given or start_session()
        return self._given

    @property
    def prepared(self) -> Prepared:
        """The subscriptions, compiled; made when they are first needed."""
        if self._prepared is None:
            self._prepared = self.prepare(self._file)
        return self._prepared

    def prepare(self, file: SubscriptionFile) -> Prepared:
        """Compile other subscriptions for the same network."""
        with door("compiling subscriptions"), plain_spark_errors("the run did not finish"):
            report = reporter(self._progress)
            return prepare(self.spark, file, self.design, report=report, listener=self._progress)

    def __repr__(self) -> str:
        described = self._described()
        brokers, subscriptions = described["brokers"], described["subscriptions"]
        return (
            f"<Pipeline: {subscriptions} subscription{'' if subscriptions == '1' else 's'}, "
            f"{'one broker' if brokers == '1' else f'{brokers} brokers'}, {described['strategy']}, "
            f"plan {described['plan']}, {described['state']}>"
        )

    def _repr_html_(self) -> str:
        return html_table(("field", "value"), self._described().items())

    def _described(self) -> dict[str, str]:
        """What is known without compiling anything and without starting Spark."""
        design = self.design
        given = len(self._file.subscriptions) + len(self._file.rejected)
        ready = self._prepared
        return {
            "subscriptions": f"{given:,}",
            "brokers": f"{len(design.tree.names) if design.tree else 1:,}",
            "strategy": str(design.strategy),
            "plan": design.plan,
            "shards": f"{design.shards:,}",
            "state": "not compiled" if ready is None else f"compiled, engine {ready.engine}",
        }


def run_batch(  # noqa: PLR0913 (all that can be chosen, by name)
    subscriptions: Subscriptions,
    publications: Publications | AnyPath | Sequence[AnyPath] | DataFrame,
    out: AnyPath | None = None,
    *,
    partitions: int | None = None,
    overwrite: bool = False,
    spark: SparkSession | None = None,
    topology: Topology | Mapping[str, object] | AnyPath | None = None,
    strategy: Strategy | str = "best",
    plan: str = "fused",
    shards: int = 1,
    engine: str = "auto",
    origin: str | None = None,
    advertisements: Mapping[str, AdvertisementSource | Sequence[AdvertisementSource]] | None = None,
    progress: Listener | None = None,
) -> Run:
    """Make a :class:`Pipeline` and :meth:`~Pipeline.disseminate`, in one call.

    Behind the subscriptions stands what :meth:`~Pipeline.disseminate` takes; what describes the
    :class:`Pipeline` follows by name. All of it means the same there, and so does the result.
    """
    pipeline = Pipeline(
        spark,
        topology,
        subscriptions,
        strategy,
        plan=plan,
        shards=shards,
        engine=engine,
        origin=origin,
        advertisements=advertisements,
        progress=progress,
    )
    return pipeline.disseminate(publications, out, partitions=partitions, overwrite=overwrite)


def _temporary_folder() -> str:
    folder = tempfile.mkdtemp(prefix="twigcast-run-")
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    return folder


def validated_publications(
    given: Publications | AnyPath | Sequence[AnyPath] | DataFrame, partitions: int | None = None
) -> Publications:
    """The publications, if they can be there at all; a :class:`UsageError` if not."""
    publications = given if isinstance(given, Publications) else Publications(given)
    check_partitions(partitions)
    if isinstance(publications.source, DataFrame):
        needed_columns(publications.source, publications)
    for path in publications.paths:
        local = local_path(path)
        if path == "-":
            raise UsageError("workers cannot read standard input; put the documents into files")
        if publications.format is None and local is not None and not Path(local).exists():
            raise UsageError(f"there are no publications at {path}")
    if (
        publications.are_files
        and len({local_path(path) is None for path in publications.paths}) > 1
    ):
        raise UsageError(
            "some publications are on this machine and some in another file system; give those of "
            "one kind in one run"
        )
    return publications


def check_partitions(partitions: object) -> None:
    """A :class:`UsageError` for what is no number of tasks."""
    if partitions is None:
        return
    if isinstance(partitions, bool) or not isinstance(partitions, int):
        raise UsageError(f"partitions are a whole number, not {shown(partitions)}")
    if not 1 <= partitions <= PARTITIONS_MAX:
        raise UsageError(
            f"the work cannot be shared out to {shown(partitions)} partitions; "
            f"give 1 to {PARTITIONS_MAX:,}"
        )


def reject_duplicate_ids(file: SubscriptionFile) -> SubscriptionFile:
    """The same, without subscriptions whose id differs from another only by its type.

    Tables hold ids as text, in which 7 and "7" are the same.
    """
    lines: dict[str, int] = {}
    kept, rejected = [], list(file.rejected)
    for item in file.subscriptions:
        first = lines.get(str(item.id))
        if first is None:
            lines[str(item.id)] = item.line
            kept.append(item)
        else:
            reason = f"as text the id is that of line {first}, and tables hold ids as text"
            rejected.append(Rejected(item.id, item.line, item.xpath, reason))
    return SubscriptionFile(tuple(kept), tuple(rejected))
