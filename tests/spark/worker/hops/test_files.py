"""Files between two hops: visits by broker, documents found again, every byte counts."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from random import Random
from typing import Any

import pyarrow as pa
import pytest

from tests.routing.networks import line
from tests.spark.worker.hops.stage import (
    Stage,
)
from twigcast.errors import UsageError
from twigcast.language import Pattern
from twigcast.routing.strategy import covering
from twigcast.spark.worker.hops import tables as hop_tables
from twigcast.spark.worker.hops.files import (
    HOP_VISITS,
    SPOOLED,
    NextVisits,
    RecordPart,
    ahead_path,
    forget_files,
    read_documents,
    read_visits,
    shared_out,
    spool_path,
    spooled,
    write_plan,
)
from twigcast.spark.worker.matching import BATCH_BYTES_MAX, BATCH_DOCUMENTS_MAX


def _visits(brokers: Sequence[int], size: int = 1) -> pa.RecordBatch:
    rows = [
        {"spool": b"s", "batch": 0, "row": row, "bytes": size, "broker": broker, "came_by": -1}
        for row, broker in enumerate(brokers)
    ]
    return pa.RecordBatch.from_pylist(
        [{**row, "flooded": False} for row in rows], schema=HOP_VISITS
    )


def test_visits_to_one_broker_come_together_in_batches_of_a_good_size(tmp_path: Path) -> None:
    folder, parts = str(tmp_path), ["one", "two"]
    pieces = []
    for part in parts:
        ahead = NextVisits(RecordPart(ahead_path(folder, part), "visits"), part)
        ahead.add(_visits([3, 1, 3] * 500))
        ahead.add(_visits([1] * 5, size=BATCH_BYTES_MAX // 2))
        ahead.add(_visits([7, 7]))
        ahead.finish()
        pieces += ahead.pieces
    assert sum(piece.rows for piece in pieces) == 2 * 1507
    assert all(piece.rows <= BATCH_DOCUMENTS_MAX for piece in pieces)
    assert all(piece.bytes <= BATCH_BYTES_MAX for piece in pieces)
    runs = shared_out(pieces, 4)
    assert 1 < len(runs) <= 4
    assert [piece.broker for run in runs for piece in run] == sorted(each.broker for each in pieces)
    write_plan(f"{folder}/plan", runs)
    read = [list(read_visits(folder, f"{folder}/plan", task)) for task in range(len(runs))]
    found = [batch for task in read for batch in task]
    assert all(len(set(batch.column("broker").to_pylist())) == 1 for batch in found)
    assert sum(map(len, found)) == 2 * 1507
    assert len(found) < len(pieces), "small pieces are put together"


def test_documents_are_found_again_whatever_the_order_of_visits(tmp_path: Path) -> None:
    folder = str(tmp_path)
    for spool in (b"a", b"b"):
        file = RecordPart(spool_path(folder, spool), "spool")
        for batch in range(3):
            rows = [{"document": f"{spool!r} {batch} {row}"} for row in range(4)]
            file.write(spooled(pa.RecordBatch.from_pylist(rows, schema=SPOOLED)))
        file.close()
    places = [(spool, batch, row) for spool in (b"a", b"b") for batch in range(3) for row in (3, 0)]
    Random(7).shuffle(places)
    told = [dict(zip(("spool", "batch", "row"), place, strict=True)) for place in places]
    found = read_documents(folder, pa.RecordBatch.from_pylist(told, schema=HOP_VISITS))
    expected = [f"{spool!r} {batch} {row}" for spool, batch, row in places]
    assert found.column("document").to_pylist() == expected


@pytest.mark.parametrize("kind", ["spool", "visits", "pieces", "brokers"])
def test_every_byte_between_hops_counts(tmp_path: Path, kind: str) -> None:
    """What is damaged or cut off is refused by name, or makes no difference."""
    stage = Stage(tmp_path, line(2), [("B1", Pattern.parse("//a"))], covering())
    folder, spool = str(tmp_path), b"s"
    contents = {"document": "d", "document_hash": "5e", "bytes": 4, "origin": 0, "content": b"<a/>"}
    file = RecordPart(spool_path(folder, spool), "spool")
    file.write(spooled(pa.RecordBatch.from_pylist([contents] * 3, schema=SPOOLED)))
    file.close()
    visit = {"spool": spool, "batch": 0, "row": 1, "bytes": 4, "broker": 0, "came_by": -1}
    ahead = NextVisits(RecordPart(ahead_path(folder, "p"), "visits"), "p")
    ahead.add(pa.RecordBatch.from_pylist([{**visit, "flooded": False}], schema=HOP_VISITS))
    ahead.finish()
    plan = f"{folder}/hop-0.arrow"
    write_plan(plan, [ahead.pieces])
    tables = stage.tables()

    def found() -> Any:  # noqa: ANN401
        forget_files()
        hop_tables._mapped.cache_clear()
        hop_tables._loaded_broker.cache_clear()
        (visits,) = read_visits(folder, plan, 0)
        broker: Any = tables.broker(0)
        documents = read_documents(folder, visits).to_pylist()
        return visits.to_pylist(), documents, broker.matcher.match("<a/>"), broker.links

    paths = {"spool": spool_path(folder, spool), "visits": ahead_path(folder, "p")}
    path = Path({**paths, "pieces": plan, "brokers": tables.path}[kind])
    content, expected = path.read_bytes(), found()
    for place in range(0, len(content), 1 if len(content) < 2_000 else 3):
        changed = content[:place] + bytes([content[place] ^ 0x11]) + content[place + 1 :]
        for written in (changed, content[:place]):
            path.write_bytes(written)
            try:
                assert found() == expected, place
            except UsageError as error:
                assert str(path) in str(error)  # noqa: PT017
