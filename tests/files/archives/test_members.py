"""Archives are read member by member; a hostile member costs itself, never its neighbours."""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import struct
import tarfile
import tracemalloc
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from twigcast.errors import DocumentError, DocumentLimitError
from twigcast.files import PublicationLimits, list_documents, open_entries, read_documents

MIB = 1 << 20
Pack = Callable[..., Path]


@pytest.fixture(autouse=True)
def _here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def _zip(members: dict[str, bytes], name: str = "a.zip") -> Path:
    with zipfile.ZipFile(name, "w", zipfile.ZIP_DEFLATED) as archive:
        for member, content in members.items():
            archive.writestr(member, content)
    return Path(name)


def _tar(members: dict[str, bytes], name: str = "a.tar") -> Path:
    plain = io.BytesIO()
    with tarfile.open(fileobj=plain, mode="w") as archive:
        for member, content in members.items():
            header = tarfile.TarInfo(member)
            header.size = len(content)
            archive.addfile(header, io.BytesIO(content))
    return _compressed(plain.getvalue(), name)


def _compressed(content: bytes, name: str) -> Path:
    path = Path(name)
    match path.suffix:
        case ".gz":
            content = gzip.compress(content)
        case ".bz2":
            content = bz2.compress(content)
        case ".xz":
            content = lzma.compress(content)
    path.write_bytes(content)
    return path


def _reasons(path: Path, limits: PublicationLimits | None = None) -> dict[str, str | None]:
    """The reason for each document, or None where there are bytes."""
    found = read_documents(path, limits=limits or PublicationLimits())
    return {
        name: content.reason if isinstance(content, DocumentError) else None
        for name, content in found
    }


both = pytest.mark.parametrize(
    ("pack", "archive"),
    [(_zip, "a.zip"), (_tar, "a.tar"), (_tar, "a.tar.gz"), (_tar, "a.tar.bz2"), (_tar, "a.tar.xz")],
)


@both
def test_documents_come_in_the_archives_order_with_its_name_in_front(
    pack: Pack, archive: str
) -> None:
    members = {"b.xml": b"<b/>", "x/a.XML": b"\xff\xfe", "x/read.me": b"", "x/.hidden.xml": b""}
    path = pack({**members, "__MACOSX/._b.xml": b""}, archive)
    assert list(read_documents(path)) == [
        (f"{archive}!b.xml", b"<b/>"),
        (f"{archive}!x/a.XML", b"\xff\xfe"),
    ]


@both
def test_an_archive_is_known_by_its_content(pack: Pack, archive: str) -> None:
    path = pack({"b.xml": b"<b/>" * 200}, archive).rename("feed.dat")
    assert list(read_documents(path)) == [("feed.dat!b.xml", b"<b/>" * 200)]


@both
def test_a_member_over_the_limit_costs_only_itself(pack: Pack, archive: str) -> None:
    path = pack({"a.xml": b"<a/>", "big.xml": b" " * 101, "b.xml": b"<b/>"}, archive)
    reasons = _reasons(path, PublicationLimits(document_bytes_max=100))
    assert reasons[f"{archive}!a.xml"] is None
    assert reasons[f"{archive}!b.xml"] is None
    assert "101 where at most 100 are allowed (bytes_max)" in str(reasons[f"{archive}!big.xml"])


@both
@pytest.mark.parametrize(
    "member", ["/etc/a.xml", "../a.xml", "x/../../a.xml", "..\\a.xml", "C:\\a.xml", "\\a.xml"]
)
def test_a_name_that_points_outside_costs_only_its_member(
    pack: Pack, archive: str, member: str
) -> None:
    reasons = _reasons(pack({member: b"<a/>", "b.xml": b"<b/>"}, archive))
    assert list(reasons.values()) == ["the member's name points outside the archive", None]


@both
@pytest.mark.parametrize("member", ["inner.zip", "x/inner.tar.gz", "inner.GZ"])
def test_an_archive_inside_an_archive_is_refused_not_passed_over(
    pack: Pack, archive: str, member: str
) -> None:
    reasons = _reasons(pack({member: b"PK", "b.xml": b"<b/>"}, archive))
    assert list(reasons.values()) == ["an archive inside an archive is not opened", None]


@both
def test_nothing_is_written_to_disk(pack: Pack, archive: str) -> None:
    path = pack({"a.xml": b"<a/>", "../b.xml": b"<b/>"}, archive)
    list(read_documents(path))
    assert [item.name for item in Path().iterdir()] == [archive]


@both
def test_too_many_members_are_one_error_for_the_rest(pack: Pack, archive: str) -> None:
    path = pack({f"{number}.xml": b"<a/>" for number in range(5)}, archive)
    reasons = _reasons(path, PublicationLimits(members_max=3))
    assert list(reasons) == [f"{archive}!{number}.xml" for number in range(3)] + [archive]
    assert "members_max" in str(reasons[archive])


@both
def test_members_of_one_name_are_told_apart(pack: Pack, archive: str) -> None:
    path = pack({"a.xml": b"1", "b.xml": b"2", "c.xml": b"3"}, archive)
    if archive == "a.zip":
        content = path.read_bytes().replace(b"b.xml", b"a.xml").replace(b"c.xml", b"a.xml")
        path.write_bytes(content)
    else:
        plain = io.BytesIO()
        with tarfile.open(fileobj=plain, mode="w") as file:
            for content in (b"1", b"2", b"3"):
                header = tarfile.TarInfo("a.xml")
                header.size = 1
                file.addfile(header, io.BytesIO(content))
        _compressed(plain.getvalue(), archive)
    assert list(read_documents(path)) == [
        (f"{archive}!a.xml", b"1"),
        (f"{archive}!a.xml#2", b"2"),
        (f"{archive}!a.xml#3", b"3"),
    ]


def test_a_zip_member_that_swells_is_refused_before_it_is_unpacked() -> None:
    path = _zip({"a.xml": b"<a/>", "bomb.xml": b" " * (8 * MIB), "b.xml": b"<b/>"})
    entries = {entry.name: entry for entry in list_documents(path)}
    refusal = entries["a.zip!bomb.xml"].refusal
    assert isinstance(refusal, DocumentLimitError)
    assert refusal.limit == "ratio_max"
    assert [entry.refusal for name, entry in entries.items() if "bomb" not in name] == [None, None]


def test_zip_members_that_swell_only_together_are_stopped() -> None:
    # Each stays below the size that is exempt; all share one small archive.
    path = _zip({f"{number:02}.xml": b" " * (MIB // 2) for number in range(20)})
    reasons = list(_reasons(path).values())
    assert reasons[0] is None
    assert "ratio_max" in str(reasons[-1])
    assert len(reasons) == 20


@pytest.mark.parametrize("ending", ["gz", "bz2", "xz"])
def test_a_tar_stream_that_swells_is_stopped_on_the_way(ending: str) -> None:
    archive = f"a.tar.{ending}"
    path = _tar({"a.xml": b"<a/>", "bomb.xml": bytes(64 * MIB), "b.xml": b"<b/>"}, archive)
    reasons = _reasons(path)
    assert reasons.pop(f"{archive}!a.xml") is None
    assert "too many bytes" in str(reasons.pop(f"{archive}!bomb.xml"))
    assert list(reasons) == [archive]
    assert "ratio_max" in str(reasons[archive])


def test_small_documents_may_be_as_repetitive_as_they_like() -> None:
    content = b"<a>" + b" " * 500_000 + b"</a>"
    assert _reasons(_zip({"a.xml": content})) == {"a.zip!a.xml": None}
    assert _reasons(_tar({"a.xml": content}, "a.tar.xz")) == {"a.tar.xz!a.xml": None}


def test_an_encrypted_member_is_refused() -> None:
    path = _zip({"a.xml": b"<a/>", "b.xml": b"<b/>"})
    content = bytearray(path.read_bytes())
    directory = content.index(b"PK\1\2")
    content[directory + 8] |= 1
    path.write_bytes(content)
    assert list(_reasons(path).values()) == ["the member is encrypted", None]


@pytest.mark.parametrize("method", [zipfile.ZIP_LZMA, zipfile.ZIP_BZIP2])
def test_unusual_compression_is_refused(method: int) -> None:
    with zipfile.ZipFile("a.zip", "w") as archive:
        archive.writestr("a.xml", "<a/>", method)
        archive.writestr("b.xml", "<b/>")
    reasons = _reasons(Path("a.zip"))
    assert f"method {method}" in str(reasons["a.zip!a.xml"])
    assert reasons["a.zip!b.xml"] is None


def test_a_zip_member_whose_bytes_are_damaged_costs_only_itself() -> None:
    with zipfile.ZipFile("a.zip", "w") as archive:
        archive.writestr("a.xml", "<aaaa/>")
        archive.writestr("b.xml", "<bbbb/>")
    Path("a.zip").write_bytes(Path("a.zip").read_bytes().replace(b"<aaaa/>", b"<axaa/>"))
    reasons = _reasons(Path("a.zip"))
    assert "cannot be unpacked: Bad CRC-32" in str(reasons["a.zip!a.xml"])
    assert reasons["a.zip!b.xml"] is None


def test_a_link_in_an_archive_is_not_followed() -> None:
    Path("secret.xml").write_text("<secret/>")
    with zipfile.ZipFile("a.zip", "w") as archive:
        member = zipfile.ZipInfo("a.xml")
        member.external_attr = 0o120777 << 16
        archive.writestr(member, "secret.xml")
    with tarfile.open("a.tar", "w") as tar:
        for kind in (tarfile.SYMTYPE, tarfile.LNKTYPE, tarfile.FIFOTYPE, tarfile.CHRTYPE):
            header = tarfile.TarInfo("a.xml")
            header.type, header.linkname = kind, "secret.xml"
            tar.addfile(header)
    assert list(_reasons(Path("a.zip")).values()) == ["the member is a link, which is not followed"]
    assert list(_reasons(Path("a.tar")).values()) == [
        "the member is a link, which is not followed",
        "the member is a link, which is not followed",
        "the member is no regular file",
        "the member is no regular file",
    ]


def test_a_forged_tar_header_cannot_claim_memory() -> None:
    header = tarfile.TarInfo("x")
    header.type, header.size = tarfile.XHDTYPE, 7 * 1024**3
    Path("a.tar").write_bytes(header.tobuf() + bytes(4 * MIB))
    tracemalloc.start()
    try:
        reasons = _reasons(Path("a.tar"))
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert "not a readable tar archive" in str(reasons["a.tar"])
    assert peak < 32 * MIB


def test_a_sparse_member_is_refused() -> None:
    header = tarfile.TarInfo("a.xml")
    header.type = tarfile.GNUTYPE_SPARSE
    block = bytearray(header.tobuf(tarfile.GNU_FORMAT))
    block[483:495] = b"%011o\0" % (1 << 33)  # the size it has once its holes are filled
    block[148:156] = b"%06o\0 " % (sum(block) - sum(block[148:156]) + 8 * 32)
    Path("a.tar").write_bytes(bytes(block) + bytes(1024))
    assert _reasons(Path("a.tar")) == {"a.tar!a.xml": "the member is no regular file"}


@pytest.mark.parametrize("archive", ["a.tar", "a.tar.gz", "a.tar.xz"])
def test_a_damaged_tar_gives_what_precedes_the_damage_and_one_error(archive: str) -> None:
    plain = _tar({f"{number}.xml": b"<a/>" for number in range(4)}, "plain.tar").read_bytes()
    damaged = bytearray(plain)
    damaged[2 * 1024 : 2 * 1024 + 100] = b"\xaa" * 100  # the third header
    reasons = _reasons(_compressed(bytes(damaged), archive))
    assert list(reasons) == [f"{archive}!0.xml", f"{archive}!1.xml", archive]
    assert "damaged" in str(reasons[archive])


def test_a_tar_cut_short_gives_what_is_there_and_one_error() -> None:
    path = _tar({f"{number}.xml": b"x" * 600 for number in range(3)})
    path.write_bytes(path.read_bytes()[: 2 * 1536 + 512 + 100])
    contents = dict(read_documents(path))
    assert contents["a.tar!1.xml"] == b"x" * 600
    assert isinstance(contents["a.tar"], DocumentError)
    packed = _tar({"a.xml": bytes(range(256)) * 40}, "b.tar.gz")
    packed.write_bytes(packed.read_bytes()[:-30])
    assert "not a readable tar archive" in str(_reasons(packed)["b.tar.gz"])


@pytest.mark.parametrize("name", ["a.zip", "a.tar", "a.tgz", "a.tar.xz"])
@pytest.mark.parametrize("content", [b"", b"no archive", b"<a/>" * 200])
def test_what_only_pretends_to_be_an_archive_is_one_error(name: str, content: bytes) -> None:
    Path(name).write_bytes(content)
    reasons = _reasons(Path(name))
    assert list(reasons) == [name]
    assert "not a readable" in str(reasons[name])


def test_an_archive_that_vanishes_after_the_listing_is_an_error_per_member() -> None:
    path = _zip({"a.xml": b"<a/>", "b.xml": b"<b/>"})
    entries = list(list_documents(path))
    path.unlink()
    contents = dict(open_entries(entries))
    assert all(isinstance(content, DocumentError) for content in contents.values())
    assert [
        content.document for content in contents.values() if not isinstance(content, bytes)
    ] == [
        "a.zip!a.xml",
        "a.zip!b.xml",
    ]


def test_zip_members_can_be_read_in_any_order_by_anyone() -> None:
    path = _zip({f"{number}.xml": f"<a{number}/>".encode() for number in range(9)})
    entries = list(list_documents(path))
    whole = dict(open_entries(entries))
    shares = [dict(open_entries(reversed(entries[start::4]))) for start in range(4)]
    assert {name: content for share in shares for name, content in share.items()} == whole


def test_members_that_share_their_bytes_are_refused() -> None:
    # Every entry of the directory points to the same packed bytes.
    path = _zip({"a.xml": b" " * (MIB - 1)})
    content = path.read_bytes()
    start, end = content.index(b"PK\1\2"), content.index(b"PK\5\6")
    directory = content[start:end] * 500
    trailer = bytearray(content[end:])
    trailer[8:20] = struct.pack("<HHII", 500, 500, len(directory), start)
    path.write_bytes(content[:start] + directory + bytes(trailer))
    reasons = list(_reasons(path).values())
    assert reasons == ["the member shares its bytes with another"] * 500


@given(
    st.binary(max_size=3000), st.integers(0, 2000), st.sampled_from(["a.zip", "a.tar", "a.tar.gz"])
)
def test_any_damage_ends_in_documents_or_errors(noise: bytes, place: int, archive: str) -> None:
    pack = _zip if archive == "a.zip" else _tar
    content = pack({"a.xml": b"<a/>" * 300, "b.xml": b"<b/>"}, archive).read_bytes()
    place %= len(content)
    Path(archive).write_bytes(content[:place] + noise + content[place + len(noise) :])
    for name, found in read_documents(archive):
        assert name.startswith(archive)
        assert isinstance(found, bytes | DocumentError)
