"""Archives packed by xz."""

from __future__ import annotations

import lzma
from pathlib import Path

import pytest

from tests.files.archives.tar_bytes import END, error_of, member, read
from twigcast.files.archives.decompressors import XZ_MEMORY_MAX


@pytest.fixture(autouse=True)
def _here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def test_an_xz_archive_may_not_ask_for_much_memory() -> None:
    plain = member() + END
    filters = [{"id": lzma.FILTER_LZMA2, "preset": 6, "dict_size": XZ_MEMORY_MAX * 2}]
    error = error_of(read(lzma.compress(plain, filters=filters), "a.tar.xz"), "a.tar.xz")
    assert "not a readable tar archive" in error.reason
    assert "emory" in error.reason


@pytest.mark.parametrize("gap", [b"", bytes(8)])
def test_an_xz_archive_may_be_in_several_parts(gap: bytes) -> None:
    halves = member("a.xml"), member("b.xml", b"<b>" + b"x" * 300_000 + b"</b>") + END
    content = gap.join(map(lzma.compress, halves))
    assert list(read(content + gap, "a.tar.xz")) == ["a.tar.xz!a.xml", "a.tar.xz!b.xml"]
