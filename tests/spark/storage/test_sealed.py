"""Small files of Twigcast's own are read as they were written, or refused by name."""

from __future__ import annotations

import json
from typing import Any

import pytest

from twigcast.errors import UsageError
from twigcast.spark.storage.sealed import sealed, unsealed

FIELDS = {"batch": 3, "files": {"a.jsonl": "5e", "caf\udce9": "é"}, "before": None, "at": 1.5}


def _read(content: bytes, kind: str = "record") -> dict[str, Any]:
    return unsealed(kind, content, dict[str, Any], place="out/x.json", remedy="put it back")


def test_fields_come_back() -> None:
    assert _read(sealed("record", FIELDS)) == FIELDS


def test_white_space_does_not_count() -> None:
    assert _read(json.dumps(json.loads(sealed("record", FIELDS))).encode()) == FIELDS


def test_every_bit_counts() -> None:
    content = sealed("record", FIELDS)
    for place in range(len(content)):
        for bit in range(8):
            changed = bytearray(content)
            changed[place] ^= 1 << bit
            try:
                assert _read(bytes(changed)) == FIELDS, (place, bit)
            except UsageError as error:
                assert "out/x.json" in str(error)  # noqa: PT017
                assert "put it back" in str(error)  # noqa: PT017


def test_what_is_cut_off_is_refused() -> None:
    content = sealed("record", FIELDS).rstrip()
    for end in range(len(content)):
        with pytest.raises(UsageError, match=r"cannot use out/x\.json: .*; put it back"):
            _read(content[:end])


@pytest.mark.parametrize(
    "content",
    [b"", b"[]", b"null", b"7", b"\xff\xfe", b"{}", b"[" * 100_000, b"9" * 5_000, b'{"a":1}'],
)
def test_what_is_something_else_is_refused(content: bytes) -> None:
    with pytest.raises(UsageError, match=r"cannot use out/x\.json"):
        _read(content)


def test_another_kind_is_refused() -> None:
    with pytest.raises(UsageError, match="it is no manifest"):
        _read(sealed("record", FIELDS), "manifest")


def test_another_version_is_refused() -> None:
    whole = json.loads(sealed("record", FIELDS))
    with pytest.raises(UsageError, match="another version"):
        _read(json.dumps({**whole, "format": 2}).encode())


def test_fields_of_another_type_are_refused() -> None:
    with pytest.raises(UsageError, match=r"cannot use out/x\.json"):
        unsealed("r", sealed("r", {"a": 1}), dict[str, str], place="out/x.json", remedy="")
