"""Batches are read as they were written, or refused with the name of their file."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from twigcast.errors import UsageError
from twigcast.spark.worker.record_files import RecordFile, RecordFileWriter

_FIELDS: list[pa.Field[Any]] = [
    pa.field("name", pa.string()),
    pa.field("content", pa.large_binary()),
    pa.field("links", pa.list_(pa.string())),
]
SCHEMA = pa.schema(_FIELDS)


def _batch(*names: str) -> pa.RecordBatch:
    rows = [{"name": name, "content": b"<a/>", "links": [name, "x"]} for name in names]
    return pa.RecordBatch.from_pylist(rows, schema=SCHEMA)


BATCHES = [_batch("a", "b", "c"), _batch(), _batch("d").slice(0, 1), _batch("e", "f").slice(1)]


def _written(path: Path) -> Path:
    writer = RecordFileWriter(str(path), "things")
    for batch in BATCHES:
        writer.write_batch(batch)
    writer.close()
    writer.close()
    return path


def _read(path: Path, kind: str = "things") -> list[list[dict[str, Any]]]:
    file = RecordFile(str(path), kind, SCHEMA)
    return [file.get_batch(number).to_pylist() for number in range(len(file))]


EXPECTED = [batch.to_pylist() for batch in BATCHES]


def test_batches_come_back(tmp_path: Path) -> None:
    assert _read(_written(tmp_path / "x")) == EXPECTED


def test_a_file_without_batches_comes_back(tmp_path: Path) -> None:
    RecordFileWriter(str(tmp_path / "x"), "things").close()
    assert _read(tmp_path / "x") == []


def test_every_byte_counts(tmp_path: Path) -> None:
    path = _written(tmp_path / "x")
    content = path.read_bytes()
    for place in range(len(content)):
        for bit in (1, 0x10, 0x80):
            changed = bytearray(content)
            changed[place] ^= bit
            path.write_bytes(changed)
            try:
                assert _read(path) == EXPECTED, (place, bit)
            except UsageError as error:
                assert str(path) in str(error)  # noqa: PT017


def test_what_is_cut_off_is_refused(tmp_path: Path) -> None:
    path = _written(tmp_path / "x")
    content = path.read_bytes()
    for end in range(len(content)):
        path.write_bytes(content[:end])
        with pytest.raises(UsageError, match=f"cannot use {path}"):
            _read(path)


@pytest.mark.parametrize("content", [b"", b"ARROW1\0\0", b"PAR1", bytes(4096)])
def test_another_kind_of_file_is_refused(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "x").write_bytes(content)
    with pytest.raises(UsageError, match=r"cannot use .*delete it and run again"):
        _read(tmp_path / "x")


def test_records_of_another_kind_are_refused(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="no file of the kind 'others'"):
        _read(_written(tmp_path / "x"), "others")


def test_a_batch_that_is_not_there_is_refused(tmp_path: Path) -> None:
    file = RecordFile(str(_written(tmp_path / "x")), "things", SCHEMA)
    for number in (-1, 4):
        with pytest.raises(UsageError, match="it has 4 batches"):
            file.get_batch(number)


def test_a_file_that_is_not_there_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="No such file"):
        _read(tmp_path / "x")
