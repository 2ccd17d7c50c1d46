"""Documents and shards of subscriptions on workers, in plain Python over Arrow batches.

Two steps, with a shuffle by shard between them::

    documents --visit_batches--> visits ==shuffle==> visits --answer_visits--> answers
                hub matcher                 the matcher of the shard

The *hub* is one matcher over the summaries of all shards
(:mod:`~twigcast.spark.sharding.partition`), and over the routes of the network if the strategy is
not perfect. A document *visits* each shard of which a summary matches: one row with its content for
each of them. One that visits none, or was refused, is a row without content, so that the second
step learns of every document. The first step writes nothing: Spark may repeat it for single tasks,
and a document may go through it twice.

An *answer* is an outcome (:mod:`~twigcast.spark.worker.matching`) as far as one shard knows it.
Which links a document crosses follows from the answers of all shards that it visits. Of one that
visits a single shard, as most should, they are known at once. Of the others each shard tells its
own links, in the columns ``links`` and ``needed``, and what they come to is counted at the end: a
document is known by its ``key``, a hash of its name, content and origin, and the same document
published twice is there twice in each of its shards.

What belongs to the document and not to one of its visits is counted where ``is_first``.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, replace
from hashlib import sha256
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from twigcast.matching import Matcher
from twigcast.spark.worker import parquet_parts as parts
from twigcast.spark.worker.crossings import crossings, lists_of
from twigcast.spark.worker.matching import (
    OUTCOMES,
    REFUSAL,
    arrays_of,
    is_text,
    loads,
    outcome_aside,
    outcomes_of,
    readable,
    worker_name,
)
from twigcast.spark.worker.parquet_parts import Part
from twigcast.spark.worker.set_aside import (
    Refusal,
    each_alone,
    joined_rows,
    refusal_by,
    refusal_in,
    row_of,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping
    from typing import Any

    from numpy.typing import NDArray

    from twigcast.errors import TwigcastError
    from twigcast.spark.worker.crossings import CrossingModel, Flags
    from twigcast.spark.worker.matching import Column

NO_SHARD = -1
"""In the place of a shard, for a document that visits none."""

CROSSINGS = "crossings"
"""The links of documents that visit several shards, as each shard has them; to be summed up."""

_KEY_BYTES = 16

_REFUSAL: list[pa.Field[Any]] = [OUTCOMES.field(name) for name in Refusal._fields]

_VISIT: list[pa.Field[Any]] = [
    pa.field("key", pa.binary()),
    pa.field("shard", pa.int32()),
    pa.field("visits", pa.int32()),
    pa.field("is_first", pa.bool_()),
]

SHARD_PROBES = pa.schema(
    [
        pa.field("task", pa.int32()),
        *_VISIT,
        *(OUTCOMES.field(name) for name in ("document", "document_hash", "bytes", "origin")),
        OUTCOMES.field("crossed"),
        *_REFUSAL,
        pa.field("content", pa.binary()),
        pa.field("decoded", pa.bool_()),
    ]
)
"""A document at a shard; ``crossed`` are links that it crosses whatever matches there.

``task`` is the part of the shuffle that it goes to; ``decoded`` says that the content was text.
"""

_LINKS: list[pa.Field[Any]] = [
    pa.field("links", pa.list_(pa.int32())),
    pa.field("needed", pa.list_(pa.bool_())),
]

ANSWERS = pa.schema([*OUTCOMES, *_VISIT, *_LINKS])
"""A shard's answer on a document; ``crossed`` and ``needless`` are null if there are others."""

_CROSSING = pa.schema([_VISIT[0], _VISIT[1], OUTCOMES.field("bytes"), *_LINKS])

RECEIPTS = pa.schema([*parts.RECEIPTS, pa.field(CROSSINGS, pa.int64()), _VISIT[1], _VISIT[2]])


@dataclass(frozen=True)
class Hub:
    """The matcher that finds the shards a document visits."""

    matcher: Matcher
    owners: NDArray[np.int32]
    """Of each summary, by position, its shard."""
    crossing_model: CrossingModel | None = None
    version: str = ""
    slices: int = 1
    """How many tasks share the visits of one shard."""
    shards: int = 1

    @property
    def tasks(self) -> int:
        """How many tasks there are for the second step."""
        return self.shards * self.slices


class Shard(NamedTuple):
    """The matcher of one shard, whose ids are positions in the whole file."""

    matcher: Matcher
    version: str


def hub_crossing_model(crossing_model: CrossingModel, summaries: int) -> CrossingModel:
    """The crossings that do not depend on subscriptions: of routes and of floods."""
    return replace(crossing_model, perfect=False, brokers=np.zeros(summaries, np.int32))


def visit_batches(batches: Iterable[pa.RecordBatch], hub: Hub) -> Iterator[pa.RecordBatch]:
    """The visits of documents, which are those of ``worker.match_batches``, batch by batch."""

    def visits(rows: pa.RecordBatch) -> pa.RecordBatch:
        outcomes = outcomes_of(
            rows, hub.matcher, version=hub.version, crossing_model=hub.crossing_model
        )
        return _visits(rows.column("content"), outcomes, hub)

    for batch in batches:
        yield each_alone(
            "finding the shards of a document",
            batch,
            visits,
            aside=lambda row, error: _visit_aside(row, error, hub),
            joined=joined_rows,
        )


def answer_visits(
    batches: Iterable[pa.RecordBatch],
    shard_of: Callable[[int], Shard],
    crossing_model: CrossingModel | None = None,
) -> Iterator[pa.RecordBatch]:
    """The answers of shards to visits."""
    needs = None if crossing_model is None else replace(crossing_model, perfect=True, floods=False)
    for batch in batches:
        for shard in np.unique(np.asarray(batch.column("shard"))).tolist():
            chosen = batch.filter(pc.equal(batch.column("shard"), pa.scalar(shard, pa.int32())))
            if shard == NO_SHARD:
                yield _unvisited(chosen)
            else:
                yield _answered(chosen, shard_of(shard), needs)


def write_answers(
    answers: Iterable[pa.RecordBatch],
    *,
    folder: str | None,
    part: str,
    schemas: Mapping[str, pa.Schema],
    labels: pa.RecordBatch,
    crossing_model: CrossingModel | None = None,
) -> Iterator[pa.RecordBatch]:
    """Write all answers into parts, as ``parts.write_outcomes`` does, and give one receipt."""
    file = parts.part_of(folder, CROSSINGS, part, _CROSSING)
    visits: Counter[int] = Counter()
    receipt: pa.RecordBatch | None = None

    def counted() -> Iterator[pa.RecordBatch]:
        for batch in answers:
            _write_crossings(file, batch)
            visits[batch.column("shard")[0].as_py()] += len(batch)
            yield batch

    try:
        for row in parts.write_outcomes(
            counted(),
            folder=folder,
            part=part,
            schemas=schemas,
            labels=labels,
            crossing_model=crossing_model,
        ):
            if row.column("table")[0].is_valid:
                yield _with_visits(row)
            else:
                receipt = row
            yield from parts.held_parts({CROSSINGS: file}, RECEIPTS)
        file.close()
    except BaseException:
        file.abandon()
        raise
    yield from parts.held_parts({CROSSINGS: file}, RECEIPTS)
    assert receipt is not None, "the last row"
    visits.pop(NO_SHARD, None)
    shard = max(visits, default=NO_SHARD)
    yield _with_visits(receipt, crossings=file.rows, shard=shard, visits=visits.total())


def _with_visits(
    receipt: pa.RecordBatch, *, crossings: int = 0, shard: int = NO_SHARD, visits: int = 0
) -> pa.RecordBatch:
    counts = zip((crossings, shard, visits), RECEIPTS.types[len(receipt.columns) :], strict=True)
    columns = [*receipt.columns, *(pa.array([number], kind) for number, kind in counts)]
    return pa.RecordBatch.from_arrays(columns, schema=RECEIPTS)


# The first step.


def _visits(contents: Column, outcomes: pa.RecordBatch, hub: Hub) -> pa.RecordBatch:
    documents, shards, visits = _pairs(outcomes.column("matches"), hub)
    is_first = np.diff(documents, prepend=-1) > 0
    keys = _keys(outcomes)
    spread = np.array([int.from_bytes(key[:4], "big") for key in keys], np.int64)
    tasks = np.where(
        shards == NO_SHARD,
        spread[documents] % hub.tasks,
        shards * hub.slices + spread[documents] % hub.slices,
    )
    sent = contents.cast(pa.binary()).take(documents)
    new = {
        "task": pa.array(tasks, pa.int32()),
        "key": pa.array([keys[document] for document in documents], pa.binary()),
        "shard": pa.array(shards, pa.int32()),
        "visits": pa.array(visits[documents], pa.int32()),
        "is_first": pa.array(is_first),
        "content": pc.if_else(pa.array(shards != NO_SHARD), sent, None),
        "decoded": pa.array(np.full(len(documents), is_text(contents.type))),
    }
    columns = [
        new[name] if name in new else outcomes.column(name).take(documents)
        for name in SHARD_PROBES.names
    ]
    return pa.RecordBatch.from_arrays(columns, schema=SHARD_PROBES)


def _visit_aside(row: pa.RecordBatch, error: TwigcastError, hub: Hub) -> pa.RecordBatch:
    """The visit of a document that made the others fail: it goes to no shard."""
    (outcome,) = outcome_aside(row, error, version=hub.version).to_pylist()
    none = {"task": 0, "key": bytes(_KEY_BYTES), "shard": NO_SHARD, "visits": 0, "is_first": True}
    outcome_fields = {name: outcome[name] for name in SHARD_PROBES.names if name in outcome}
    return row_of(SHARD_PROBES, **outcome_fields, **none, decoded=False)


def _pairs(
    matches: Column, hub: Hub
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
    """Documents and the shards they visit, pair by pair, and how many each visits."""
    documents = np.asarray(pc.list_parent_indices(matches)).astype(np.int64)
    shards = hub.owners[np.asarray(pc.list_flatten(matches)).astype(np.int64)].astype(np.int64)
    each = np.unique(documents * hub.shards + shards)
    visits = np.bincount(each // hub.shards, minlength=len(matches)).astype(np.int64)
    (alone,) = np.nonzero(visits == 0)
    documents = np.concatenate([each // hub.shards, alone])
    shards = np.concatenate([each % hub.shards, np.full(len(alone), NO_SHARD, np.int64)])
    order = np.argsort(documents, kind="stable")
    return documents[order], shards[order], visits


def _keys(outcomes: pa.RecordBatch) -> list[bytes]:
    columns = (
        outcomes.column(name).to_pylist() for name in ("document", "document_hash", "origin")
    )
    return [
        sha256(f"{name}\0{digest}\0{origin}".encode()).digest()[:_KEY_BYTES]
        for name, digest, origin in zip(*columns, strict=True)
    ]


# The second step.


def _unvisited(visits: pa.RecordBatch) -> pa.RecordBatch:
    """The answers for documents that visit no shard."""
    nobody = pa.nulls(len(visits), pa.list_(pa.int64()))
    return _answers_of(
        visits,
        matches=nobody,
        undecided=nobody,
        needless=visits.column("crossed"),
        loads=pa.array([0] * len(visits), pa.int32()),
    )


def _answered(visits: pa.RecordBatch, shard: Shard, needs: CrossingModel | None) -> pa.RecordBatch:
    """The answers of a shard; a visit that makes it fail is a dead letter of this shard."""

    def aside(visit: pa.RecordBatch, error: TwigcastError) -> pa.RecordBatch:
        nobody = pa.nulls(1, pa.list_(pa.int64()))
        alone = visit.column("visits")[0].as_py() == 1
        crossed = visit.column("crossed") if alone else pa.nulls(1, visit.column("crossed").type)
        return _answers_of(
            visit,
            matches=nobody,
            undecided=nobody,
            crossed=crossed,
            needless=crossed,
            loads=pa.array([loads(shard.version)], pa.int32()),
            **dict(zip(REFUSAL.names, arrays_of([refusal_by(error)], REFUSAL), strict=True)),
        )

    return each_alone(
        "matching a document",
        visits,
        lambda rows: _answers(rows, shard, needs),
        aside=aside,
        joined=joined_rows,
    )


def _answers(visits: pa.RecordBatch, shard: Shard, needs: CrossingModel | None) -> pa.RecordBatch:
    contents = visits.column("content")
    if len(visits) and visits.column("decoded")[0].as_py():
        contents = readable(contents.cast(pa.string()))
    decided = shard.matcher.match_batch(contents)
    matches, undecided = decided.column("matches"), decided.column("undecided")
    errors = decided.column("error").to_pylist()
    refusals = [None if error is None else refusal_in(error) for error in errors]
    columns: dict[str, Column] = {
        "matches": matches,
        "undecided": undecided,
        "loads": pa.array([loads(shard.version)] * len(visits), pa.int32()),
        **dict(zip(REFUSAL.names, arrays_of(refusals, REFUSAL), strict=True)),
    }
    if needs is not None:
        columns |= _traffic(visits, matches, undecided, needs)
    return _answers_of(visits, **columns)


def _traffic(
    visits: pa.RecordBatch, matches: Column, undecided: Column, needs: CrossingModel
) -> dict[str, Column]:
    """The columns about links, by what is needed here and what is crossed anyway."""
    crossed_links = crossings(
        needs,
        np.asarray(visits.column("origin")),
        matches=matches,
        undecided=undecided,
        flooded=np.zeros(len(visits), np.bool_),
    )
    needed = _flags(crossed_links.crossed, len(needs.tree.links))
    crossed = _flags(visits.column("crossed"), len(needs.tree.links)) | needed
    alone = np.asarray(visits.column("visits")) == 1
    documents, links = np.nonzero(crossed & ~alone[:, np.newaxis])
    offsets = np.searchsorted(documents, np.arange(len(visits) + 1))
    return {
        "crossed": _lists(crossed, alone),
        "needless": _lists(crossed & ~needed, alone),
        "links": lists_of(offsets, pa.array(links, pa.int32()), alone),
        "needed": lists_of(offsets, pa.array(needed[documents, links]), alone),
    }


def _answers_of(visits: pa.RecordBatch, **new: Column) -> pa.RecordBatch:
    """Answers with the columns that are given; others are those of visits, or null."""
    new = {"worker": pa.array([worker_name()] * len(visits), pa.string()), **new}
    columns_by_name = {name: visits.column(name) for name in visits.schema.names} | new
    columns = [
        columns_by_name[field.name].cast(field.type)
        if field.name in columns_by_name
        else pa.nulls(len(visits), field.type)
        for field in ANSWERS
    ]
    return pa.RecordBatch.from_arrays(columns, schema=ANSWERS)


def _write_crossings(part: Part, answers: pa.RecordBatch) -> None:
    rows = answers.filter(pc.greater(pc.list_value_length(answers.column("links")), pa.scalar(0)))
    if len(rows):
        part.write([rows.column(name) for name in _CROSSING.names])


def _flags(lists: Column, width: int) -> Flags:
    """A row for each list, in which the places are marked that it names."""
    flags = np.zeros((len(lists), width), np.bool_)
    flags[np.asarray(pc.list_parent_indices(lists)), np.asarray(pc.list_flatten(lists))] = True
    return flags


def _lists(flags: Flags, answered: Flags) -> Column:
    """Of each row the places that are marked; null if it is not answered."""
    rows, places = np.nonzero(flags & answered[:, np.newaxis])
    offsets = np.searchsorted(rows, np.arange(len(flags) + 1))
    return lists_of(offsets, pa.array(places, pa.int32()), ~answered)
