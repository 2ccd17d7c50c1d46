"""What a zip archive says about itself is bounded before it is believed."""

from __future__ import annotations

import io
import os
import struct
import warnings
import zipfile
from pathlib import Path

import pytest

from twigcast.errors import DocumentError, DocumentLimitError
from twigcast.files import list_documents, open_entries, read_documents
from twigcast.files.archives import zip as zips
from twigcast.files.archives.members import MEMBER_NAME_CHARACTERS_MAX, MemberNames


@pytest.fixture(autouse=True)
def _here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def _zip(*members: tuple[str, bytes], comment: bytes = b"") -> bytes:
    packed = io.BytesIO()
    with warnings.catch_warnings(), zipfile.ZipFile(packed, "w") as archive:
        warnings.simplefilter("ignore")
        for name, content in members:
            archive.writestr(name, content)
        archive.comment = comment
    return packed.getvalue()


def _read(content: bytes) -> dict[str, bytes | DocumentError]:
    Path("a.zip").write_bytes(content)
    return dict(read_documents("a.zip"))


class _Counting(set[str]):
    """A set that counts how often it is asked."""

    asked = 0

    def __contains__(self, key: object) -> bool:
        self.asked += 1
        return super().__contains__(key)


@pytest.mark.parametrize(
    "members",
    [
        ["a.xml"] * 2_000,
        [f"a.xml#{number}" for number in range(2, 1_000)] + ["a.xml"] * 1_000,
        ["a.xml", *["a.xml#2"] * 500, *["a.xml"] * 500, *["a.xml#2#2"] * 500],
    ],
    ids=["one name", "names as we would give them", "both"],
)
def test_names_are_told_apart_in_a_few_questions_each(members: list[str]) -> None:
    names = MemberNames("a.zip")
    names._seen = seen = _Counting()
    given = [names.unique(member) for member in members]
    assert len(set(given)) == len(members)
    assert seen.asked < 3 * len(members)


@pytest.mark.parametrize("length", [MEMBER_NAME_CHARACTERS_MAX, MEMBER_NAME_CHARACTERS_MAX + 1])
def test_a_name_that_is_too_long_costs_only_its_member(length: int) -> None:
    long = "n" * (length - 4) + ".xml"
    found = _read(_zip((long, b"<a/>"), ("b.xml", b"<b/>"), (long, b"<a/>")))
    assert found.pop("a.zip!b.xml") == b"<b/>"
    for name, content in found.items():
        assert len(name) < MEMBER_NAME_CHARACTERS_MAX + 20
        if length <= MEMBER_NAME_CHARACTERS_MAX:
            assert content == b"<a/>"
        else:
            assert isinstance(content, DocumentLimitError)
            assert content.limit == "MEMBER_NAME_CHARACTERS_MAX"


def test_a_directory_that_is_too_large_is_not_read(monkeypatch: pytest.MonkeyPatch) -> None:
    content = _zip(*((f"{number}.xml", b"<a/>") for number in range(100)))
    monkeypatch.setattr(zips, "DIRECTORY_BYTES_MAX", 1_000)
    error = _read(content)["a.zip"]
    assert isinstance(error, DocumentLimitError)
    assert error.limit == "DIRECTORY_BYTES_MAX"


def test_the_longest_comment_is_stepped_over() -> None:
    assert _read(_zip(("a.xml", b"<a/>"), comment=b"c" * 65_535)) == {"a.zip!a.xml": b"<a/>"}


def _patched(content: bytes, signature: bytes, at: int, form: str, value: int) -> bytes:
    place = content.index(signature) + at
    packed = struct.pack(form, value)
    return content[:place] + packed + content[place + len(packed) :]


CENTRAL, END = b"PK\1\2", b"PK\5\6"


@pytest.mark.parametrize(
    ("signature", "at", "form", "value"),
    [
        (CENTRAL, 6, "<H", 99),  # needs a version that nobody has
        (CENTRAL, 8, "<H", 0x1),  # encrypted
        (CENTRAL, 8, "<H", 0x20),  # patched data
        (CENTRAL, 8, "<H", 0x40),  # strongly encrypted
        (CENTRAL, 8, "<H", 0x800),  # a name in UTF-8
        (CENTRAL, 10, "<H", 97),  # compressed by an unknown method
        (CENTRAL, 12, "<I", 0xFFFFFFFF),  # a date that is none
        (CENTRAL, 16, "<I", 1),  # another checksum
        (CENTRAL, 20, "<I", 0xFFFFFFFE),  # packed size
        (CENTRAL, 20, "<I", 0),
        (CENTRAL, 24, "<I", 0xFFFFFFFE),  # unpacked size
        (CENTRAL, 24, "<I", 0xFFFFFFFF),  # the size is said to stand elsewhere
        (CENTRAL, 28, "<H", 0xFFFF),  # length of the name
        (CENTRAL, 28, "<H", 0),
        (CENTRAL, 30, "<H", 0xFFFF),  # length of what is extra
        (CENTRAL, 42, "<I", 0xFFFFFFF0),  # where the member is
        (CENTRAL, 42, "<I", 3),
        (b"PK\3\4", 26, "<H", 0xFFFF),  # length of the name at the member itself
        (b"PK\3\4", 0, "<I", 0),
        (END, 10, "<H", 0xFFFF),  # how many members
        (END, 12, "<I", 0xFFFFFFF0),  # size of the directory
        (END, 12, "<I", 0),
        (END, 16, "<I", 0xFFFFFFF0),  # where it is
        (END, 20, "<H", 0xFFFF),  # length of the comment
    ],
)
def test_lies_of_a_directory_are_documents_or_errors(
    signature: bytes, at: int, form: str, value: int
) -> None:
    content = _zip(("caf\xe9.xml", b"<a/>"), ("b.xml", b"<b/>"))
    found = _read(_patched(content, signature, at, form, value))
    for name, document in found.items():
        assert isinstance(document, bytes | DocumentError)
        if isinstance(document, DocumentError):
            assert document.document == name
    if signature != END and "a.zip" not in found:
        assert found["a.zip!b.xml"] == b"<b/>", "a lie about one member costs one member"


def test_folders_in_an_archive_are_no_documents() -> None:
    assert _read(_zip(("d.xml/", b""), ("d.xml/a.xml", b"<a/>"))) == {"a.zip!d.xml/a.xml": b"<a/>"}


def test_a_member_without_a_name_is_no_document() -> None:
    content = _patched(_zip(("x", b"<a/>"), ("b.xml", b"<b/>")), CENTRAL, 28, "<H", 0)
    listed = content.index(CENTRAL) + 46
    found = _read(content[:listed] + content[listed + 1 :])
    assert found.get("a.zip!b.xml", b"<b/>") == b"<b/>"
    assert all(isinstance(each, bytes | DocumentError) for each in found.values())


def test_a_pipe_that_takes_the_place_of_an_archive_is_not_waited_for() -> None:
    Path("a.zip").write_bytes(_zip(("a.xml", b"<a/>")))
    entries = list(list_documents("a.zip"))
    Path("a.zip").unlink()
    os.mkfifo("a.zip")
    (content,) = dict(open_entries(entries)).values()
    assert isinstance(content, DocumentError)
    assert "no regular file" in content.reason


@pytest.mark.parametrize(
    "members",
    [[("b.xml", b"<b/>"), ("a.xml", b"<a/>")], [("a.xml!b.xml", b"<x/>")], []],
    ids=["another order", "others", "none"],
)
def test_an_archive_that_was_exchanged_gives_no_document_under_the_name_of_another(
    members: list[tuple[str, bytes]],
) -> None:
    Path("a.zip").write_bytes(_zip(("a.xml", b"<a/>"), ("b.xml", b"<b/>")))
    entries = list(list_documents("a.zip"))
    Path("a.zip").write_bytes(_zip(*members))
    read = dict(open_entries(entries))
    assert list(read) == ["a.zip!a.xml", "a.zip!b.xml"]
    for content in read.values():
        assert isinstance(content, DocumentError)
        assert content.reason == "the archive was changed since its members were listed"


def test_an_archive_that_was_exchanged_for_one_with_the_same_names_is_read() -> None:
    names = ["a.xml", "a.xml", "a#2.xml", "a\nb!c.xml", "caf\xe9.xml"]
    Path("a.zip").write_bytes(_zip(*((name, b"<old/>") for name in names)))
    entries = list(list_documents("a.zip"))
    Path("a.zip").write_bytes(_zip(*((name, b"<new/>") for name in names)))
    assert [content for _, content in open_entries(entries)] == [b"<new/>"] * len(names)


def test_a_member_that_was_exchanged_is_held_to_the_rules_of_the_list() -> None:
    Path("a.zip").write_bytes(_zip(("a.xml", b"<a/>")))
    entries = list(list_documents("a.zip"))
    with zipfile.ZipFile("a.zip", "w", zipfile.ZIP_LZMA) as archive:
        archive.writestr("a.xml", b"<a/>")
    ((_, content),) = open_entries(entries)
    assert isinstance(content, DocumentError)
    assert "compressed by method" in content.reason
