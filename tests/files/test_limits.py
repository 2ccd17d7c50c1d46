"""Limits of documents in files: how much is read, and what is said of more."""

from __future__ import annotations

import pytest

from twigcast.errors import DocumentLimitError, UsageError
from twigcast.files.limits import (
    RATIO_EXEMPT_BYTES,
    READ_BYTES_MAX,
    PublicationLimits,
    bounded_read,
    reason_of,
)


class Endless:
    """A file without an end, which counts what is taken from it."""

    def __init__(self) -> None:
        self.sizes: list[int] = []

    def read(self, size: int, /) -> bytes:
        self.sizes.append(size)
        return b"x" * size


class Parts:
    """A file that comes in small parts."""

    def __init__(self, *parts: bytes) -> None:
        self.parts = list(parts)

    def read(self, size: int, /) -> bytes:
        assert size > 0
        return self.parts.pop(0) if self.parts else b""


def test_an_endless_file_is_read_one_byte_beyond_the_limit() -> None:
    file = Endless()
    limits = PublicationLimits(document_bytes_max=2 * READ_BYTES_MAX)
    error = bounded_read(file, "a.xml", limits)
    assert isinstance(error, DocumentLimitError)
    assert file.sizes == [READ_BYTES_MAX, READ_BYTES_MAX, 1]
    assert (error.limit, error.given, error.allowed) == (
        "bytes_max",
        limits.document_bytes_max + 1,
        limits.document_bytes_max,
    )
    assert error.document == "a.xml"


def test_a_document_may_have_just_the_bytes_allowed() -> None:
    limits = PublicationLimits(document_bytes_max=4)
    assert bounded_read(Parts(b"<a", b"/>"), "a.xml", limits) == b"<a/>"
    assert isinstance(bounded_read(Parts(b"<a ", b"/>"), "a.xml", limits), DocumentLimitError)


def test_little_may_swell_as_it_likes_and_much_by_the_ratio() -> None:
    limits = PublicationLimits(ratio_max=100)
    assert limits.unpacked_bytes_max(1) == RATIO_EXEMPT_BYTES
    assert limits.unpacked_bytes_max(RATIO_EXEMPT_BYTES) == 100 * RATIO_EXEMPT_BYTES


def test_a_limit_is_a_number_above_zero() -> None:
    with pytest.raises(UsageError, match="members_max"):
        PublicationLimits(members_max=-1)


def test_an_error_without_words_is_told_by_its_name() -> None:
    assert reason_of(OSError(2, "no such file", "a.xml")) == "no such file"
    assert reason_of(ValueError("bad")) == "bad"
    assert reason_of(EOFError()) == "EOFError"
