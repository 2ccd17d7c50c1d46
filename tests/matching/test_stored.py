"""A stored matcher is read as it was written, or refused; never another answer or a raw error."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.engines import EVERY_ENGINE
from twigcast.errors import UsageError
from twigcast.matching import Matcher

DOCUMENTS = (b"<a/>", b"<b/>", b"<a c='1'><b>7</b></a>", b"<c/>")
RULES: dict[str, dict[int | str, str]] = {
    "exact": {1: "//a", 2: "/b", 7: "/a[@c = '1']/b"},
    "residual": {1: "//a", 2: "//b[position() = last()]"},
    "texts": {"ann": "//a", "bob": "/b"},
    "texts and residual": {"ann": "//a[last()]", 5: "/b"},
    "empty": {},
}
KINDS = pytest.mark.parametrize("kind", RULES)
ALL = pytest.mark.parametrize("engine", EVERY_ENGINE)


def _written(engine: str, kind: str) -> bytes:
    return Matcher(RULES[kind], engine=engine).to_bytes()


def _answers(matcher: Matcher) -> list[list[object]]:
    return [matcher.match(document) for document in DOCUMENTS]


def _harmless(content: bytes, engine: str, kind: str) -> bool:
    """Whether a stored form is refused, or answers as what was stored."""
    try:
        read = Matcher.from_buffer(content, engine=engine)
    except UsageError:
        return True
    return _answers(read) == _answers(Matcher(RULES[kind], engine=engine))


def _flips(content: bytes) -> Iterator[tuple[int, bytes]]:
    for place in range(len(content)):
        for bit in (0x01, 0x04, 0x20, 0x80):
            changed = bytearray(content)
            changed[place] ^= bit
            yield place, bytes(changed)


@ALL
@KINDS
def test_a_stored_form_reads_back(engine: str, kind: str) -> None:
    assert _harmless(_written(engine, kind), engine, kind)
    assert _answers(Matcher.from_buffer(_written(engine, kind), engine=engine))


@ALL
@KINDS
def test_every_byte_of_a_stored_form_counts(engine: str, kind: str) -> None:
    wrong = [
        place
        for place, content in _flips(_written(engine, kind))
        if not _harmless(content, engine, kind)
    ]
    assert wrong == []


@ALL
@KINDS
def test_a_stored_form_that_is_cut_anywhere_is_refused(engine: str, kind: str) -> None:
    content = _written(engine, kind)
    for end in range(len(content)):
        with pytest.raises(UsageError):
            Matcher.from_buffer(content[:end], engine=engine)


@ALL
@KINDS
@pytest.mark.parametrize("more", [b"\0", b" ", b"\n", b"[]", bytes(64)])
def test_a_stored_form_with_more_behind_it_is_refused(engine: str, kind: str, more: bytes) -> None:
    with pytest.raises(UsageError):
        Matcher.from_buffer(_written(engine, kind) + more, engine=engine)


@ALL
@KINDS
def test_a_stored_form_of_another_version_is_refused_by_name(engine: str, kind: str) -> None:
    content = _written(engine, kind)
    first, _, rest = content.partition(b"\n")
    name, _, version = first.rpartition(b" ")
    other = name + b" " + str(int(version) + 1).encode() + b"\n" + rest
    with pytest.raises(UsageError, match="this version"):
        Matcher.from_buffer(other, engine=engine)


@ALL
@pytest.mark.parametrize(
    "other",
    [b"", b"PAR1", b"ARROW1\0\0", b"PK\3\4", b"{}", b"\xff\xfe\0", b"//a\n//b\n", bytes(4096)],
)
def test_another_kind_of_file_is_refused(engine: str, other: bytes) -> None:
    with pytest.raises(UsageError, match="not written by"):
        Matcher.from_buffer(other, engine=engine)


@pytest.mark.parametrize("engine", ["streaming", "lxml"])
def test_the_form_without_a_checksum_is_refused(engine: str) -> None:
    with pytest.raises(UsageError, match="this version"):
        Matcher.from_buffer(b'twigcast subscriptions 1\n[[1,"//a"]]', engine=engine)
