"""What is known of a document, in names: as many documents at a time as suit."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pyarrow as pa

from twigcast.files import Subscription, SubscriptionFile
from twigcast.language import DocumentLimits
from twigcast.matching import Matcher
from twigcast.spark.worker import outcome_rows
from twigcast.spark.worker.labels import labels_of
from twigcast.spark.worker.matching import sizes_of
from twigcast.spark.worker.outcome_rows import OUTCOME_FIELDS, outcome_column, pieces

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from typing import Any

    import pytest

FILE = SubscriptionFile(
    (
        Subscription("x", "//b", subscriber="ann"),
        Subscription(2, "/a"),
        Subscription("z", "//c", subscriber="bob"),
    ),
    (),
)
LIMITS = DocumentLimits(bytes_max=30)


def _matcher() -> Matcher:
    matcher = Matcher(limits=LIMITS)
    for position, item in enumerate(FILE.subscriptions):
        matcher.add(position, item.xpath)
    return matcher


def _answers(*batches: Sequence[bytes | None]) -> Iterator[Any]:
    columns = (
        (
            pa.array([f"d{row}" for row in range(len(contents))], pa.string()),
            pa.array(contents, pa.binary()),
            pa.nulls(len(contents), pa.string()),
        )
        for contents in batches
    )
    return outcome_column(columns, _matcher(), labels_of(FILE), crossing_model=None)


def test_positions_become_names_and_refusals_dead_letters() -> None:
    (answer,) = _answers([b"<a><b/></a>", b"<a>", b"<z/>", None, b"<a>" + b" " * 30 + b"</a>"])
    assert answer.type == pa.struct(list(OUTCOME_FIELDS))
    first, *others = answer.to_pylist()
    told = {"subscriber": "ann", "broker": "broker", "hops": 0}
    assert first["deliveries"] == [
        {"subscription": "x", **told},
        {"subscription": "2", **told, "subscriber": None},
    ]
    assert (first["document"], first["bytes"], first["crossed"]) == ("d0", 11, None)
    assert [row["deliveries"] for row in others] == [None, [], None, None]
    letters = [[each["stage"] for each in row["dead_letters"]] for row in (first, *others)]
    assert letters == [[], ["parse"], [], ["read"], ["parse"]]
    assert others[3]["dead_letters"][0]["reason"] == (
        "too many bytes: 37 where at most 30 are allowed (bytes_max)"
    )


def test_answers_are_bounded_whatever_batches_spark_has(monkeypatch: pytest.MonkeyPatch) -> None:
    contents = [b"<a><b/></a>"] * 9
    (whole,) = _answers(contents)
    monkeypatch.setattr(outcome_rows, "DELIVERIES_MAX", 4)
    several = list(_answers(contents[:5], [], contents[5:]))
    assert [len(each) for each in several] == [2, 1, 2, 2, 2]
    rows = [row["deliveries"] for each in several for row in each.to_pylist()]
    assert rows == [row["deliveries"] for row in whole.to_pylist()]
    monkeypatch.setattr(outcome_rows, "DELIVERIES_MAX", 1)
    assert [len(each) for each in _answers(contents[:2])] == [1, 1]


def test_documents_come_in_pieces_of_bounded_size(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(outcome_rows, "BATCH_BYTES_MAX", 10)
    monkeypatch.setattr(outcome_rows, "BATCH_DOCUMENTS_MAX", 3)
    sizes = [4, 4, 4, 20, 0, 0, 0, 0]
    batch = pa.record_batch({"content": pa.array([b"x" * size for size in sizes], pa.binary())})
    found = [sizes_of(piece.column("content")) for piece in pieces(batch)]
    assert found == [[4, 4], [4], [20], [0, 0, 0], [0]]
    assert list(pieces(batch.slice(0, 0))) == []
