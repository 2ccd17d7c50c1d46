"""What a worker does in the plan ``hops`` where it cannot write: documents travel with the rows.

Each step answers with a row for each document that it was given: the outcome, the document itself,
and ``onward``, the brokers that it goes on to with what is told there. From that Spark makes the
visits of the next step, a row for each, and in the end the tables::

    documents --carry_documents--> onward: their origins
    visits    --make_row_visits--> onward: the neighbours that they are sent to

What is decided, and how, is as in :mod:`~twigcast.spark.worker.hops.hop`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from twigcast.language import LIBRARY_LIMITS, DocumentLimits
from twigcast.matching import Matcher
from twigcast.spark.worker.crossings import lists_of
from twigcast.spark.worker.hops.decisions import Visited, answers_to
from twigcast.spark.worker.hops.files import HOP_VISITS, NOWHERE, SPOOLED
from twigcast.spark.worker.hops.hop import aside_of, outcomes_of, without_ways
from twigcast.spark.worker.matching import OUTCOMES, match_batches, readable
from twigcast.spark.worker.set_aside import each_alone, joined_rows

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from twigcast.spark.worker.broker_tree import BrokerTree
    from twigcast.spark.worker.crossings import CrossingModel
    from twigcast.spark.worker.hops.decisions import BatchDecision
    from twigcast.spark.worker.hops.tables import HopTables
    from twigcast.spark.worker.matching import Column

_ONWARD = pa.list_(pa.struct([("broker", pa.int32()), ("annotations", pa.binary())]))

_CARRIED: Mapping[str, pa.DataType] = {
    "spool": pa.binary(),
    "batch": pa.int32(),
    "row": pa.int32(),
    "content": pa.binary(),
    "flooded": pa.bool_(),
    "broker": pa.int32(),
    "came_by": pa.int32(),
    "hops": pa.int32(),
    "onward": _ONWARD,
}
ANSWERED = pa.schema([*OUTCOMES, *pa.schema(_CARRIED)])
"""A document after a step; ``hops`` is -1 while it has not been anywhere."""

GOING = tuple(dict.fromkeys([*HOP_VISITS.names, *SPOOLED.names]))
"""The columns of a visit to come, with its document."""


def carry_documents(
    batches: Iterable[pa.RecordBatch],
    *,
    spool: bytes,
    ways: CrossingModel,
    engine: str = "auto",
    limits: DocumentLimits = LIBRARY_LIMITS,
) -> Iterator[pa.RecordBatch]:
    """Documents on their way to their origins; those that are refused go nowhere."""
    nobody = Matcher(engine=engine, limits=limits)
    for number, batch in enumerate(batches):
        (outcomes,) = match_batches([batch], nobody, ways=ways)
        rows = len(outcomes)
        crossed = pc.fill_null(pc.list_value_length(outcomes.column("crossed")), 0)
        is_read = outcomes.column("stage").is_null()
        read = np.asarray(is_read)
        origins = outcomes.column("origin").filter(pa.array(read))
        yield pa.RecordBatch.from_arrays(
            [
                *without_ways(outcomes).columns,
                pa.repeat(pa.scalar(spool, pa.binary()), rows),
                pa.repeat(pa.scalar(number, pa.int32()), rows),
                pa.array(np.arange(rows, dtype=np.int32)),
                readable(pc.if_else(is_read, batch.column("content"), None)),
                pc.greater(crossed, pa.scalar(0)),
                *(pa.repeat(pa.scalar(NOWHERE, pa.int32()), rows) for _ in range(3)),
                _onward(np.flatnonzero(read), origins, [None] * len(origins), rows),
            ],
            schema=ANSWERED,
        )


def make_row_visits(
    batches: Iterable[pa.RecordBatch], *, tree: BrokerTree, tables: HopTables, hops: int
) -> Iterator[pa.RecordBatch]:
    """Decide documents where they are, ``hops`` links from their origins."""
    for batch in batches:
        brokers = np.asarray(batch.column("broker"))
        for number in np.unique(brokers).tolist():
            going = batch.take(np.flatnonzero(brokers == number))
            visited = Visited(
                going.select(HOP_VISITS.names), going.select(SPOOLED.names), tree, number
            )
            broker, loads = tables.broker(number), tables.loads
            yield each_alone(
                "matching a document at a broker",
                visited,
                lambda rows: _answered(rows, answers_to(rows, broker), loads, hops),  # noqa: B023
                aside=lambda row, error: _answered(row, aside_of(row, error), loads, hops),  # noqa: B023
                joined=joined_rows,
            )


def _answered(visited: Visited, answers: BatchDecision, loads: int, hops: int) -> pa.RecordBatch:
    visits, rows = visited.visits, len(visited.visits)
    neighbours = pa.array(answers.neighbours, pa.int32())
    return pa.RecordBatch.from_arrays(
        [
            *outcomes_of(visited, answers, loads).columns,
            *(visits.column(name) for name in ("spool", "batch", "row")),
            visited.documents.column("content"),
            *(visits.column(name) for name in ("flooded", "broker", "came_by")),
            pa.repeat(pa.scalar(hops, pa.int32()), rows),
            _onward(answers.rows, neighbours, answers.annotations, rows),
        ],
        schema=ANSWERED,
    )


def _onward(
    rows: np.ndarray[tuple[int], np.dtype[np.int64]],
    brokers: Column,
    annotations: list[bytes | None],
    count: int,
) -> Column:
    """For each of so many documents where it goes; ``rows`` are those that go, ascending."""
    where = pa.StructArray.from_arrays(
        [brokers, pa.array(annotations, pa.binary())], fields=list(_ONWARD.value_type)
    )
    offsets = np.searchsorted(rows, np.arange(count + 1))
    return lists_of(offsets, where, np.zeros(count, np.bool_))
