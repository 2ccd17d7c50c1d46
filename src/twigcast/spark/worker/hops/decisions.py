"""A broker's decisions on a batch of visits: who is satisfied there, and where documents go on.

A broker that sends no annotations is one matcher (:mod:`~twigcast.routing.static.static_broker`)
and decides all visits at once; the links are then read off the routes that match, column by column.
One that reads and sends annotations decides document by document. Unforeseen errors are left to the
caller (:mod:`~twigcast.spark.worker.set_aside`).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from twigcast.errors import DocumentError
from twigcast.routing.events import BrokerId, Publication
from twigcast.routing.static.static_broker import PlainBroker, route_id
from twigcast.routing.wire.annotations import annotation_bytes, read_annotations
from twigcast.spark.worker.crossings import lists_of
from twigcast.spark.worker.hops.files import NOWHERE
from twigcast.spark.worker.matching import OUTCOMES
from twigcast.spark.worker.set_aside import refusal_by, refusal_in

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

    from twigcast.routing.static.static_broker import AnnotatingBroker, RoutingDecision
    from twigcast.spark.worker.broker_tree import BrokerTree
    from twigcast.spark.worker.matching import Column
    from twigcast.spark.worker.set_aside import Refusal


@dataclass(frozen=True, slots=True)
class BatchDecision:
    """A broker's decisions on a batch of visits."""

    matches: Column
    undecided: Column
    refusals: list[Refusal | None]
    rows: NDArray[np.int64]
    """The visits from which documents go on, ascending; one that goes on twice is there twice."""
    neighbours: NDArray[np.int32]
    """The broker that each goes on to."""
    annotations: list[bytes | None]
    """The annotations that go along."""


@dataclass(frozen=True, slots=True)
class Visited:
    """Visits to one broker, with their documents."""

    visits: pa.RecordBatch
    documents: pa.RecordBatch
    tree: BrokerTree
    broker: int

    def __len__(self) -> int:
        return len(self.visits)

    def slice(self, offset: int, length: int) -> Visited:
        """Some of the visits."""
        visits, documents = (each.slice(offset, length) for each in (self.visits, self.documents))
        return Visited(visits, documents, self.tree, self.broker)


def answers_to(visited: Visited, broker: PlainBroker | AnnotatingBroker) -> BatchDecision:
    """The decisions of the broker that is visited."""
    if isinstance(broker, PlainBroker):
        return _decided(visited, broker)
    return _decided_by_one(visited, broker)


def _decided(visited: Visited, broker: PlainBroker) -> BatchDecision:
    """The decisions of a broker that sends no annotations, all at once."""
    contents = visited.documents.column("content")
    decided = broker.matcher.match_batch(contents)
    errors = decided.column("error").to_pylist()
    refusals = [None if error is None else refusal_in(error) for error in errors]
    answered = np.array([refusal is None for refusal in refusals])
    sent = np.zeros((len(answered), len(broker.links)), np.bool_)
    ends, first = np.array(broker.ends, np.int64), route_id(0)
    for lists in (decided.column("matches"), decided.column("undecided")):
        rows, ids = np.asarray(pc.list_parent_indices(lists)), np.asarray(pc.list_flatten(lists))
        # A route in doubt counts: a document too many is dropped further on, one too few is lost.
        routes = ids < 0
        sent[rows[routes], np.searchsorted(ends, first - ids[routes], side="right")] = True
    numbers = np.array([visited.tree.number(link) for link in broker.links], np.int32)
    sent |= np.asarray(visited.visits.column("flooded"))[:, None]
    sent &= np.asarray(visited.visits.column("came_by"))[:, None] != numbers[None, :]
    sent &= answered[:, None]
    rows, places = np.nonzero(sent)
    return BatchDecision(
        _own(decided.column("matches")),
        _own(decided.column("undecided")),
        refusals,
        rows,
        numbers[places],
        [None] * len(rows),
    )


def _decided_by_one(visited: Visited, broker: AnnotatingBroker) -> BatchDecision:
    """The decisions of a broker that annotates, one by one."""
    answers: list[RoutingDecision | None] = []
    refusals: list[Refusal | None] = []
    for row, visit in enumerate(visited.visits.to_pylist()):
        try:
            answers.append(_decide_one(visited, broker, row, visit))
            refusals.append(None)
        except DocumentError as refused:
            answers.append(None)
            refusals.append(refusal_by(refused))
    onward = [
        (row, visited.tree.number(link), None if along is None else annotation_bytes(along))
        for row, answer in enumerate(answers)
        if answer is not None
        for link, along in zip(answer.links, answer.annotations, strict=True)
    ]
    return BatchDecision(
        pa.array([answer and answer.own for answer in answers], OUTCOMES.field("matches").type),
        pa.array(
            [answer and answer.undecided for answer in answers], OUTCOMES.field("undecided").type
        ),
        refusals,
        np.array([row for row, _, _ in onward], np.int64),
        np.array([number for _, number, _ in onward], np.int32),
        [along for _, _, along in onward],
    )


def _decide_one(
    visited: Visited, broker: AnnotatingBroker, row: int, visit: Mapping[str, Any]
) -> RoutingDecision:
    names, documents = visited.tree.names, visited.documents
    came_by, annotations = visit["came_by"], visit["annotations"]
    publication = Publication(
        documents.column("document")[row].as_py(),
        BrokerId(names[documents.column("origin")[row].as_py()]),
        "",
        documents.column("content")[row].as_py(),
    )
    return broker.decide(
        publication,
        None if came_by == NOWHERE else BrokerId(names[came_by]),
        annotations=None if annotations is None else read_annotations("annotations", annotations),
        flooded=visit["flooded"],
    )


def _own(lists: Column) -> Column:
    """Lists of ids without those of routes."""
    ids = pc.list_flatten(lists)
    kept = pc.greater_equal(ids, pa.scalar(0, pa.int64()))
    rows = pc.list_parent_indices(lists).filter(kept)
    counts = np.bincount(np.asarray(rows), minlength=len(lists))
    offsets = np.concatenate([[0], np.cumsum(counts)])
    return lists_of(offsets, ids.filter(kept), np.asarray(lists.is_null()))
