"""Which files a batch has is read from Spark's checkpoint, or nobody can tell."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from twigcast.errors import TwigcastError
from twigcast.spark.storage.batches import local_store
from twigcast.spark.stream.checkpoint import damaged_file, gone_files


def _write(checkpoint: Path, name: str, *lines: object) -> None:
    path = checkpoint / name
    path.parent.mkdir(parents=True, exist_ok=True)
    text = [line if isinstance(line, str) else json.dumps(line) for line in lines]
    path.write_text("\n".join(text), encoding="utf-8")


def _file(batch: int, path: str) -> dict[str, object]:
    return {"path": path, "timestamp": 1, "batchId": batch}


@pytest.fixture
def checkpoint(tmp_path: Path) -> Path:
    """Two sources, the second of which had nothing before batch 8."""
    _write(tmp_path, "offsets/0", "v1", {"conf": {}}, {"logOffset": 0}, "-")
    _write(tmp_path, "sources/0/0", "v1", _file(0, "file:///no/0.xml"))
    _write(tmp_path, "offsets/7", "v1", {"conf": {}}, {"logOffset": 8}, "-")
    _write(tmp_path, "offsets/8", "v1", {"conf": {}}, {"logOffset": 9}, {"logOffset": 1})
    old = [_file(number, f"file:///no/{number}.xml") for number in range(9)]
    there = _file(9, (tmp_path / "offsets").as_uri())
    _write(tmp_path, "sources/0/9.compact", "v1", *old, _file(9, "file:///no/a%20b%25.xml"), there)
    _write(tmp_path, "sources/1/0", "v1", _file(0, "file:///no/first.xml"))
    _write(tmp_path, "sources/1/1", "v1", _file(1, "file:///no/ü.xml"))
    return tmp_path


def test_files_that_are_gone_are_those_noted_since_the_batch_before(checkpoint: Path) -> None:
    store = local_store(str(checkpoint))
    assert gone_files(store, 0) == {"file:///no/0.xml"}
    assert gone_files(store, 8) == {
        "file:///no/a b%.xml",
        "file:///no/first.xml",
        "file:///no/ü.xml",
    }


@pytest.mark.parametrize("name", ["offsets/7", "offsets/8", "sources/0/9.compact", "sources/1/1"])
@pytest.mark.parametrize("content", [None, b"", b"v2\n{}\n{}", b"v1\n7\n7", b"v1\n{}\n{}", b"\xff"])
def test_notes_that_are_not_as_we_know_them_are_one_sentence(
    checkpoint: Path, name: str, content: bytes | None
) -> None:
    if content is None:
        (checkpoint / name).unlink()
    else:
        (checkpoint / name).write_bytes(content)
    with pytest.raises(TwigcastError, match="cannot tell which files the batch has") as told:
        gone_files(local_store(str(checkpoint)), 8)
    assert name in str(told.value)


@pytest.mark.parametrize(
    "name", ["metadata", "offsets/7", "offsets/8", "commits/7", "sources/0/9.compact"]
)
@pytest.mark.parametrize("content", [b"", b"\xff", b"v1\n{", b"v1\n7", b"[" * 100_000])
def test_a_note_that_spark_cannot_read_is_found(
    checkpoint: Path, name: str, content: bytes
) -> None:
    store = local_store(str(checkpoint))
    _write(checkpoint, "metadata", {"id": "x"})
    _write(checkpoint, "commits/7", "v1", {"nextBatchWatermarkMs": 0})
    (checkpoint / "offsets" / ".7.crc").write_bytes(b"crc\0")
    assert damaged_file(store) is None
    (checkpoint / name).write_bytes(content)
    assert damaged_file(store) == store.location(name)


def test_an_empty_checkpoint_is_not_damaged(tmp_path: Path) -> None:
    assert damaged_file(local_store(str(tmp_path / "new"))) is None


@pytest.mark.parametrize(
    ("offset", "content"),
    [
        ({"news": {"0": 5}}, b'\0v1\n{"news":{"0":0}}'),
        (12, b"v1\n1700000000000"),
        ("-", b"anything"),
    ],
    ids=["Kafka", "rate", "nothing yet"],
)
def test_notes_of_sources_that_are_no_files_are_not_judged(
    tmp_path: Path, offset: object, content: bytes
) -> None:
    """A connector that fails must not be told as damage to the checkpoint."""
    _write(tmp_path, "metadata", {"id": "7"})
    _write(tmp_path, "offsets/3", "v1", {"conf": {}}, {"logOffset": 0}, offset)
    _write(tmp_path, "commits/2", "v1", {"nextBatchWatermarkMs": 0})
    _write(tmp_path, "sources/0/0", "v1", _file(0, "file:///no/0.xml"))
    (tmp_path / "sources/1").mkdir()
    (tmp_path / "sources/1/0").write_bytes(content)
    store = local_store(str(tmp_path))
    assert damaged_file(store) is None
    (tmp_path / "sources/0/0").write_bytes(b'v1\n{"path')
    assert damaged_file(store) == store.location("sources/0/0")
