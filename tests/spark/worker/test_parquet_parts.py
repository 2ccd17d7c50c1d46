"""A worker writes the rows of its documents itself: all of them, once, in bounded row groups."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from twigcast.files import Subscription, SubscriptionFile
from twigcast.matching import Matcher
from twigcast.spark.storage.tables import TABLES, parquet_schema
from twigcast.spark.worker import parquet_parts as parts
from twigcast.spark.worker.labels import labels_of
from twigcast.spark.worker.matching import DOCUMENTS, OUTCOMES, UNDECIDED, match_batches
from twigcast.spark.worker.parquet_parts import (
    DEAD_LETTERS,
    DELIVERIES,
    RECEIPTS,
    WRITTEN,
    write_outcomes,
)

SCHEMAS = {table: parquet_schema(TABLES[table]) for table in WRITTEN}
PART = "part-00000-x.snappy.parquet"

Row = dict[str, object]


@pytest.fixture(autouse=True)
def _folders(tmp_path: Path) -> None:
    for table in WRITTEN:
        (tmp_path / table).mkdir()


def _file(*people: tuple[str | None, str | None]) -> SubscriptionFile:
    """Subscriptions s0, s1 and so on, with subscriber and broker."""
    return SubscriptionFile(
        tuple(
            Subscription(f"s{number}", "//a", line=number + 1, subscriber=who, broker=broker)
            for number, (who, broker) in enumerate(people)
        )
    )


def _outcomes(matches: Mapping[str, list[int] | None]) -> pa.RecordBatch:
    """Outcomes of documents that match so; None is for a document that was refused."""
    rows = [
        {
            "document": name,
            "document_hash": f"hash of {name}",
            "bytes": 10,
            "matches": found,
            "undecided": None if found is None else [],
            "stage": "parse" if found is None else None,
            "reason": "it is broken" if found is None else None,
            "line": 3 if found is None else None,
            "worker": "here:1",
            "loads": 1,
        }
        for name, found in matches.items()
    ]
    return pa.RecordBatch.from_pylist(rows, schema=OUTCOMES)


def _written(
    folder: Path, outcomes: Iterable[pa.RecordBatch], file: SubscriptionFile
) -> tuple[Row, dict[str, list[Row]]]:
    """The one receipt, and the rows of the tables."""
    (batch,) = write_outcomes(
        outcomes, folder=str(folder), part=PART, schemas=SCHEMAS, labels=labels_of(file)
    )
    assert batch.schema == RECEIPTS
    (receipt,) = batch.to_pylist()
    paths = {table: folder / table / PART for table in WRITTEN}
    rows = {
        table: pq.read_table(path).to_pylist() if path.exists() else []
        for table, path in paths.items()
    }
    for table in WRITTEN:
        assert receipt[table] == len(rows[table])
        assert paths[table].exists() == bool(rows[table]), "a table without rows gets no file"
    return receipt, rows


def test_parts_that_are_held_are_rows_in_front_of_the_receipt(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(parts, "ROW_GROUP_ROWS_MAX", 2)
    monkeypatch.setattr(parts, "HELD_BYTES_MAX", 1)
    file = _file(("ann", "north"), (None, None), ("bob", "south"))
    batches = [_outcomes({"a": [0, 2], "bad": None}), _outcomes({}), _outcomes({"b": [1]})]
    _, written = _written(tmp_path, batches, file)
    answers = write_outcomes(
        batches, folder=None, part=PART, schemas=SCHEMAS, labels=labels_of(file)
    )
    *held, receipt = (row for batch in answers for row in batch.to_pylist())
    told = [(row["part"], row["table"], row["deliveries"], row["dead_letters"]) for row in held]
    assert told == [
        ("part-00000-x-0.snappy.parquet", DELIVERIES, 2, 0),
        ("part-00000-x-1.snappy.parquet", DELIVERIES, 1, 0),
        ("part-00000-x-0.snappy.parquet", DEAD_LETTERS, 0, 1),
    ]
    assert [receipt[name] for name in ("part", "table", "content")] == [PART, None, None]
    assert [receipt[name] for name in ("documents", "deliveries", "dead_letters")] == [3, 0, 0]
    for table in WRITTEN:
        contents = [row["content"] for row in held if row["table"] == table]
        tables = [pq.read_table(pa.BufferReader(content)) for content in contents]
        assert pa.concat_tables(tables).to_pylist() == written[table]


def _groups(path: Path) -> list[int]:
    found = pq.read_metadata(path)
    return [found.row_group(number).num_rows for number in range(found.num_row_groups)]


def test_deliveries_name_document_subscription_subscriber_and_broker(tmp_path: Path) -> None:
    file = _file(("ann", "north"), (None, None), ("bob", "south"))
    batches = [_outcomes({"a": [0, 2], "none": []}), _outcomes({}), _outcomes({"b": [1]})]
    receipt, rows = _written(tmp_path, batches, file)
    names = list(TABLES[DELIVERIES].names)
    assert [tuple(row.values()) for row in rows[DELIVERIES]] == [
        ("a", "hash of a", "s0", "ann", "north", 0),
        ("a", "hash of a", "s2", "bob", "south", 0),
        ("b", "hash of b", "s1", None, "north", 0),
    ]
    assert list(rows[DELIVERIES][0]) == names
    assert receipt == {
        "part": PART, "worker": "here:1", "loads": 1, "documents": 3, "bytes": 30,
        "deliveries": 3, "dead_letters": 0, "internal_errors": 0, "traffic": [],
        "table": None, "content": None,
    }  # fmt: skip


def test_a_part_has_plain_texts_and_the_comments_of_its_columns(tmp_path: Path) -> None:
    _written(tmp_path, [_outcomes({"a": [0], "bad": None})], _file((None, None)))
    for table in WRITTEN:
        found = pq.read_schema(tmp_path / table / PART)
        assert found.names == SCHEMAS[table].names
        assert found.types == SCHEMAS[table].types
        assert found.metadata == SCHEMAS[table].metadata


def test_without_matches_there_is_a_receipt_and_no_file(tmp_path: Path) -> None:
    receipt, _ = _written(tmp_path, [_outcomes({"a": [], "b": []})], _file(("ann", None)))
    assert (receipt["documents"], receipt["deliveries"]) == (2, 0)


def test_without_documents_there_is_a_receipt_and_no_file(tmp_path: Path) -> None:
    receipt, _ = _written(tmp_path, [], _file())
    assert (receipt["documents"], receipt["bytes"], receipt["loads"]) == (0, 0, 0)
    _written(tmp_path, [_outcomes({})], _file())


def test_refused_documents_and_undecided_pairs_are_dead_letters(tmp_path: Path) -> None:
    matcher = Matcher(residual_cost_max=10)
    matcher.add(0, "//b")
    matcher.add(1, "count(//*[count(//*) > 1]) > 1")
    contents = {"x": b"<a>" + b"<b/>" * 100 + b"</a>", "bad": b"<a>\n</b>", "gone": None}
    given = pa.RecordBatch.from_pylist(
        [{"document": name, "content": content} for name, content in contents.items()],
        schema=DOCUMENTS,
    )
    file = _file((None, None), (None, None))
    receipt, rows = _written(tmp_path, match_batches([given], matcher), file)
    assert [row["subscription"] for row in rows[DELIVERIES]] == ["s0"]
    letters = {row["document"]: row for row in rows[DEAD_LETTERS]}
    assert letters["x"] == {
        "document": "x", "subscription": "s1", "stage": "match", "reason": UNDECIDED,
        "line": None, "column": None,
    }  # fmt: skip
    assert (letters["bad"]["subscription"], letters["bad"]["line"]) == (None, 2)
    assert letters["gone"]["stage"] == "read"
    assert receipt["bytes"] == sum(len(content or b"") for content in contents.values())


def test_row_groups_are_bounded_whatever_a_document_matches(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(parts, "ROW_GROUP_ROWS_MAX", 5)
    file = _file(*[(f"client {number % 3}", None) for number in range(13)])
    matches: dict[str, list[int] | None] = {
        "a": [4], "b": [0, 12], "many": list(range(13)), "c": [7], "d": [1, 2, 3], "e": [1],
    }  # fmt: skip
    _, rows = _written(tmp_path, [_outcomes({name: matches[name]}) for name in matches], file)
    assert [(row["document"], row["subscription"]) for row in rows[DELIVERIES]] == [
        (name, f"s{position}") for name, found in matches.items() for position in found or ()
    ]
    groups = _groups(tmp_path / DELIVERIES / PART)
    assert groups == [3, 5, 5, 3, 5]


def test_what_waits_is_bounded_in_bytes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(parts, "WAITING_BYTES_MAX", 1000)
    batches = [_outcomes({f"{'long' * 100}{number}": [0]}) for number in range(6)]
    refused = [_outcomes({f"{'long' * 100}{number}": None}) for number in range(6)]
    _written(tmp_path, [*batches, *refused], _file((None, None)))
    for table in WRITTEN:
        assert max(_groups(tmp_path / table / PART)) < 4


def test_a_document_that_is_published_twice_is_named_once_in_a_row_group(tmp_path: Path) -> None:
    same = _outcomes({"a": [0, 1]})
    _, rows = _written(tmp_path, [same] * 50, _file(("ann", None), ("ann", None)))
    assert len(rows[DELIVERIES]) == 100
    columns = pq.read_metadata(tmp_path / DELIVERIES / PART).row_group(0)
    for number in range(columns.num_columns):
        column = columns.column(number)
        assert "RLE_DICTIONARY" in column.encodings
        # Texts, once; and a few bytes of numbers.
        assert column.total_uncompressed_size < 100


def test_few_rows_do_not_carry_the_texts_of_all_subscriptions(tmp_path: Path) -> None:
    file = _file(*[(f"client {number}", None) for number in range(10_000)])
    _, rows = _written(tmp_path, [_outcomes({"a": [9_999, 17]})], file)
    assert [row["subscriber"] for row in rows[DELIVERIES]] == ["client 9999", "client 17"]
    assert (tmp_path / DELIVERIES / PART).stat().st_size < 5_000


@pytest.mark.parametrize("error", [ZeroDivisionError, KeyboardInterrupt])
def test_an_attempt_that_fails_leaves_neither_receipt_nor_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, error: type[BaseException]
) -> None:
    monkeypatch.setattr(parts, "ROW_GROUP_ROWS_MAX", 1)
    seen: list[int] = []

    def outcomes() -> Iterator[pa.RecordBatch]:
        yield _outcomes({"a": [0, 1], "bad": None})
        yield _outcomes({"b": [1]})
        seen.extend(len(list((tmp_path / table).iterdir())) for table in WRITTEN)
        raise error

    with pytest.raises(error):
        _written(tmp_path, outcomes(), _file((None, None), (None, None)))
    assert seen == [1, 1], "files had been begun"
    assert [path for table in WRITTEN for path in (tmp_path / table).iterdir()] == []


def test_a_place_that_cannot_be_written_to_is_an_error(tmp_path: Path) -> None:
    (tmp_path / DELIVERIES).rmdir()
    with pytest.raises(OSError, match="No such file"):
        _written(tmp_path, [_outcomes({"a": [0]})], _file((None, None)))
