"""A hop on a worker: the plan ``hops``, in plain Python over Arrow batches.

First documents are read, checked and written down once::

    documents --spool_documents--> outcomes (refusals alone)
                       |---------> spool-….arrow, and a visit to the origin of each

Then, hop by hop, a task gets the visits to some brokers::

    visits --make_visits--> outcomes (whom the documents satisfy at these brokers)
                 |--------> visits to the neighbours that they go on to, with annotations
                 |--------> a row for each visit made, where needless crossings are counted

Outcomes are those of :mod:`~twigcast.spark.worker.matching`, with what was found at one broker, so
that :mod:`~twigcast.spark.worker.parquet_parts` writes them into tables. :func:`write_hop` writes
everything, and gives one receipt when all of it is whole. Which crossings were needless nobody
knows before a document has reached the ends of its way; :mod:`~twigcast.spark.worker.hops.needless`
finds out in the end.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from twigcast.language import LIBRARY_LIMITS, DocumentLimits
from twigcast.matching import Matcher
from twigcast.spark.worker.crossings import lists_of
from twigcast.spark.worker.hops.decisions import BatchDecision, Visited, answers_to
from twigcast.spark.worker.hops.files import (
    HOP_VISITS,
    NOWHERE,
    SPOOLED,
    NextVisits,
    RecordPart,
    ahead_path,
    forget_files,
    read_documents,
    spool_path,
    spooled,
)
from twigcast.spark.worker.matching import (
    OUTCOMES,
    REFUSAL,
    arrays_of,
    match_batches,
    readable,
    worker_name,
)
from twigcast.spark.worker.parquet_parts import RECEIPTS, ROW_GROUP_ROWS_MAX, Part, write_outcomes
from twigcast.spark.worker.set_aside import each_alone, joined_rows, refusal_by

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from twigcast.errors import TwigcastError
    from twigcast.spark.worker.broker_tree import BrokerTree
    from twigcast.spark.worker.crossings import CrossingModel
    from twigcast.spark.worker.hops.tables import HopTables
    from twigcast.spark.worker.matching import Column
    from twigcast.spark.worker.set_aside import Refusal

_MADE: Mapping[str, pa.DataType] = {
    "spool": pa.binary(),
    "batch": pa.int32(),
    "row": pa.int32(),
    "bytes": pa.int64(),
    "broker": pa.int32(),
    "came_by": pa.int32(),
    "hops": pa.int32(),
    "wanted": pa.bool_(),
}
MADE = pa.schema(_MADE)
"""Visits made: ``wanted`` if a subscription there matched the document, or is in doubt."""

_FIELDS: Mapping[str, pa.DataType] = {
    "visits": pa.int64(),
    "annotation_bytes": pa.int64(),
    "pieces": pa.list_(
        pa.struct(
            [
                ("broker", pa.int32()),
                ("batch", pa.int32()),
                ("rows", pa.int64()),
                ("bytes", pa.int64()),
            ]
        )
    ),
}
HOP_RECEIPTS = pa.schema([*RECEIPTS, *pa.schema(_FIELDS)])
"""Receipts of one hop: with the visits that were made, and the pieces of those to come."""


_VISITING = "matching a document at a broker"


class HopTaskOutput:
    """What one task leaves in the staging folder beside its part of the tables."""

    def __init__(self, folder: str, part: str, *, is_counted: bool = False) -> None:
        self.ahead = NextVisits(RecordPart(ahead_path(folder, part), "visits"), part)
        self.made = VisitLog(Part(made_path(folder, part), MADE)) if is_counted else None
        self.annotation_bytes = 0

    def finish(self) -> None:
        """Make all files whole."""
        self.ahead.finish()
        if self.made is not None:
            self.made.finish()

    def abandon(self) -> None:
        """Remove all files."""
        self.ahead.abandon()
        if self.made is not None:
            self.made.part.abandon()

    def receipt(self) -> list[Column]:
        """Their part of a receipt."""
        pieces = [piece._asdict() for piece in self.ahead.pieces]
        return [
            pa.array([self.made.part.rows if self.made else 0], pa.int64()),
            pa.array([self.annotation_bytes], pa.int64()),
            pa.array([pieces], HOP_RECEIPTS.field("pieces").type),
        ]


class VisitLog:
    """Visits made, gathered over batches until they fill a row group."""

    def __init__(self, part: Part) -> None:
        self.part = part
        self._waiting: list[pa.RecordBatch] = []
        self._rows = 0

    def add(self, visits: pa.RecordBatch) -> None:
        """Take some visits."""
        self._waiting.append(visits)
        self._rows += len(visits)
        if self._rows >= ROW_GROUP_ROWS_MAX:
            self._write()

    def finish(self) -> None:
        """Write the rest, and close the part."""
        self._write()
        self.part.close()

    def _write(self) -> None:
        if self._waiting:
            whole = pa.Table.from_batches(self._waiting)
            self._waiting, self._rows = [], 0
            self.part.write([column.combine_chunks() for column in whole.columns])


def made_path(folder: str, part: str) -> str:
    """Where the visits lie that a part's task has made."""
    return f"{folder}/{part}.made.parquet"


def write_hop(
    outcomes: Iterable[pa.RecordBatch],
    hop: HopTaskOutput,
    *,
    folder: str,
    part: str,
    schemas: Mapping[str, pa.Schema],
    labels: pa.RecordBatch,
    crossing_model: CrossingModel,
) -> Iterator[pa.RecordBatch]:
    """Write all that a task has to write, and give one receipt when it is whole."""
    try:
        (receipt,) = write_outcomes(
            outcomes,
            folder=folder,
            part=part,
            schemas=schemas,
            labels=labels,
            crossing_model=crossing_model,
        )
        hop.finish()
    except BaseException:
        hop.abandon()
        raise
    yield pa.RecordBatch.from_arrays([*receipt.columns, *hop.receipt()], schema=HOP_RECEIPTS)


# The first step.


def spool_documents(
    batches: Iterable[pa.RecordBatch],
    hop: HopTaskOutput,
    *,
    folder: str,
    spool: bytes,
    crossing_model: CrossingModel,
    engine: str = "auto",
    limits: DocumentLimits = LIBRARY_LIMITS,
) -> Iterator[pa.RecordBatch]:
    """Write documents to a spool, and have each visit its origin; refusals are in the outcomes."""
    nobody = Matcher(engine=engine, limits=limits)
    file = RecordPart(spool_path(folder, spool), "spool")
    try:
        for batch in batches:
            # There is no subscription here: an outcome shows whether the document can be read,
            # where it begins, and whether it goes everywhere all the same.
            (outcomes,) = match_batches([batch], nobody, crossing_model=crossing_model)
            read = outcomes.column("stage").is_null()
            kept = outcomes.filter(read)
            if len(kept):
                content = readable(batch.column("content").filter(read))
                named = [kept.column(name) for name in SPOOLED.names if name != "content"]
                documents = pa.RecordBatch.from_arrays([*named, content], schema=SPOOLED)
                number = file.write(spooled(documents))
                hop.ahead.add(_first_visits(kept, spool, number))
            yield without_crossings(outcomes)
        file.close()
    except BaseException:
        file.abandon()
        raise


def _first_visits(kept: pa.RecordBatch, spool: bytes, number: int) -> pa.RecordBatch:
    rows = len(kept)
    crossed = pc.fill_null(pc.list_value_length(kept.column("crossed")), 0)
    return pa.RecordBatch.from_arrays(
        [
            pa.repeat(pa.scalar(spool, pa.binary()), rows),
            pa.repeat(pa.scalar(number, pa.int32()), rows),
            pa.array(np.arange(rows, dtype=np.int32)),
            kept.column("bytes"),
            kept.column("origin"),
            pa.repeat(pa.scalar(NOWHERE, pa.int32()), rows),
            pc.greater(crossed, pa.scalar(0)),
            pa.nulls(rows, pa.binary()),
        ],
        schema=HOP_VISITS,
    )


def without_crossings(outcomes: pa.RecordBatch) -> pa.RecordBatch:
    """Outcomes of documents that have not gone anywhere yet."""
    columns = dict(zip(outcomes.schema.names, outcomes.columns, strict=True))
    nowhere = pa.nulls(len(outcomes), OUTCOMES.field("crossed").type)
    columns.update(crossed=nowhere, needless=nowhere)
    return pa.RecordBatch.from_arrays(list(columns.values()), schema=OUTCOMES)


# A hop.


def make_visits(
    batches: Iterable[pa.RecordBatch],
    hop: HopTaskOutput,
    *,
    folder: str,
    tree: BrokerTree,
    tables: HopTables,
    hops: int,
) -> Iterator[pa.RecordBatch]:
    """Decide documents where they are, ``hops`` links from their origins, and send them on.

    All visits of a batch are to one broker.
    """
    try:
        for visits in batches:
            number = visits.column("broker")[0].as_py()
            visited = Visited(visits, read_documents(folder, visits), tree, number)
            broker, loads = tables.broker(number), tables.loads
            decided = each_alone(
                _VISITING,
                visited,
                lambda rows: _results_of(rows, answers_to(rows, broker), loads, hops),  # noqa: B023
                aside=lambda row, error: _results_of(row, aside_of(row, error), loads, hops),  # noqa: B023
                joined=_together,
            )
            annotations = decided.onward.column("annotations").to_pylist()
            hop.annotation_bytes += sum(map(len, filter(None, annotations)))
            hop.ahead.add(decided.onward)
            if hop.made is not None:
                hop.made.add(decided.made)
            yield decided.outcomes
    finally:
        forget_files()


# From answers to what is written.


class _VisitResults(NamedTuple):
    """What is written of some visits."""

    outcomes: pa.RecordBatch
    onward: pa.RecordBatch
    made: pa.RecordBatch


def _results_of(visited: Visited, answers: BatchDecision, loads: int, hops: int) -> _VisitResults:
    outcomes = outcomes_of(visited, answers, loads)
    return _VisitResults(outcomes, _onward(visited, answers), _log_rows(visited, answers, hops))


def _together(several: Sequence[_VisitResults]) -> _VisitResults:
    outcomes, onward, made = zip(*several, strict=True)
    return _VisitResults(joined_rows(outcomes), _joined(onward), joined_rows(made))


def _joined(several: Sequence[pa.RecordBatch]) -> pa.RecordBatch:
    """The same for batches that may be empty."""
    filled = [each for each in several if len(each)]
    return joined_rows(filled) if filled else several[0]


def aside_of(visited: Visited, error: TwigcastError) -> BatchDecision:
    """The decision on a visit that made the others fail: a refusal, and it ends there."""
    nobody = pa.nulls(len(visited), OUTCOMES.field("matches").type)
    nowhere = np.array([], np.int64)
    refused: list[Refusal | None] = [refusal_by(error)] * len(visited)
    return BatchDecision(nobody, nobody, refused, nowhere, nowhere.astype(np.int32), [])


def _onward(visited: Visited, answers: BatchDecision) -> pa.RecordBatch:
    """The visits to come."""
    visits = visited.visits.take(answers.rows)
    reference = (visits.column(name) for name in ("spool", "batch", "row", "bytes"))
    return pa.RecordBatch.from_arrays(
        [
            *reference,
            pa.array(answers.neighbours, pa.int32()),
            pa.repeat(pa.scalar(visited.broker, pa.int32()), len(visits)),
            visits.column("flooded"),
            pa.array(answers.annotations, pa.binary()),
        ],
        schema=HOP_VISITS,
    )


def _log_rows(visited: Visited, answers: BatchDecision, hops: int) -> pa.RecordBatch:
    wanted = np.zeros(len(visited.visits), np.bool_)
    for lists in (answers.matches, answers.undecided):
        wanted[np.asarray(pc.list_parent_indices(lists))] = True
    return pa.RecordBatch.from_arrays(
        [
            *(visited.visits.column(name) for name in MADE.names[:-2]),
            pa.repeat(pa.scalar(hops, pa.int32()), len(wanted)),
            pa.array(wanted),
        ],
        schema=MADE,
    )


def outcomes_of(visited: Visited, answers: BatchDecision, loads: int) -> pa.RecordBatch:
    """The outcomes of documents at the broker that they visit."""
    count = len(visited.visits)
    neighbours = answers.neighbours.tolist()
    links = [visited.tree.link(visited.broker, neighbour) for neighbour in neighbours]
    offsets = np.searchsorted(answers.rows, np.arange(count + 1))
    refused = np.array([refusal is not None for refusal in answers.refusals])
    documents = visited.documents
    return pa.RecordBatch.from_arrays(
        [
            *(documents.column(name) for name in ("document", "document_hash", "bytes", "origin")),
            answers.matches,
            answers.undecided,
            lists_of(offsets, pa.array(links, pa.int32()), refused),
            pa.nulls(count, OUTCOMES.field("needless").type),
            *arrays_of(answers.refusals, REFUSAL),
            pa.array([worker_name()] * count, pa.string()),
            pa.array([loads] * count, pa.int32()),
        ],
        schema=OUTCOMES,
    )
