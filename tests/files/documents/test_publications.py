"""Documents are read from folders, files and standard input; what cannot be read is an error."""

from __future__ import annotations

import io
import os
import sys
import tarfile
import zipfile
from collections.abc import Iterable, Iterator
from pathlib import Path

import pytest

from twigcast.errors import DocumentError, InternalError, LimitError
from twigcast.files import PublicationLimits, list_documents, read_documents
from twigcast.files.archives.members import Selection
from twigcast.files.documents import publications
from twigcast.files.documents.publications import Entry, EntryKind, list_files, open_entries


def _texts(found: Iterable[tuple[str, bytes | DocumentError]]) -> dict[str, str]:
    """Contents as text; an error as the word ``error`` and its reason."""
    texts = {}
    for name, content in found:
        if isinstance(content, DocumentError):
            assert content.document == name
            texts[name] = f"error: {content.reason}"
        else:
            texts[name] = content.decode("utf-8", "backslashreplace")
    return texts


@pytest.fixture
def feed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder ``feed`` in the current directory."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "feed" / "deep" / "er").mkdir(parents=True)
    for name in ("b.xml", "a.XML", "deep/er/c.xml", "deep/notes.txt", ".hidden.xml"):
        (tmp_path / "feed" / name).write_text(f"<{Path(name).stem}/>")
    return tmp_path / "feed"


@pytest.mark.usefixtures("feed")
def test_a_folder_is_read_with_all_below_it_in_the_order_of_names() -> None:
    assert list(read_documents("feed")) == [
        ("feed/a.XML", b"<a/>"),
        ("feed/b.xml", b"<b/>"),
        ("feed/deep/er/c.xml", b"<c/>"),
    ]


@pytest.mark.parametrize("given", ["feed/", "feed"])
def test_names_are_paths_as_a_user_types_them(feed: Path, given: str) -> None:
    assert next(iter(list_documents(given))).name == "feed/a.XML"
    absolute = next(iter(list_documents(feed))).name
    assert absolute == str(feed / "a.XML")


@pytest.mark.parametrize(
    ("patterns", "names"),
    [
        (["*.txt"], ["deep/notes.txt"]),
        (["*.TXT", "b*"], ["b.xml", "deep/notes.txt"]),
        (["deep/*"], ["deep/er/c.xml", "deep/notes.txt"]),
        (["*"], ["a.XML", "b.xml", "deep/er/c.xml", "deep/notes.txt"]),
        (["*.json"], []),
    ],
)
@pytest.mark.usefixtures("feed")
def test_patterns_choose_what_is_a_document(patterns: list[str], names: list[str]) -> None:
    found = [entry.name for entry in list_documents("feed", patterns=patterns)]
    assert found == [f"feed/{name}" for name in names]


@pytest.mark.usefixtures("feed")
def test_what_is_named_itself_is_read_whatever_its_name() -> None:
    names = ["feed/deep/notes.txt", "feed/.hidden.xml"]
    assert [name for name, _ in read_documents(names)] == names


@pytest.mark.usefixtures("feed")
def test_several_paths_are_read_in_their_order_and_each_document_once() -> None:
    names = [name for name, _ in read_documents(["feed/b.xml", "feed", "feed/a.XML"])]
    assert names == ["feed/b.xml", "feed/a.XML", "feed/deep/er/c.xml"]


def test_bytes_are_kept_as_they_are(feed: Path) -> None:
    content = b"\xff\xfe<\0a\0/\0>\0\r\n"
    (feed / "b.xml").write_bytes(content)
    assert dict(read_documents("feed"))["feed/b.xml"] == content


def test_a_folder_that_goes_while_we_stand_in_it_is_empty(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "gone").mkdir()
    monkeypatch.chdir(tmp_path / "gone")
    (tmp_path / "gone").rmdir()
    assert list(list_files(".")) == []


def test_what_cannot_be_read_is_an_error_of_its_own(feed: Path) -> None:
    (feed / "dangling.xml").symlink_to("nowhere")
    texts = _texts(read_documents(["feed", "absent.xml"]))
    assert texts["feed/dangling.xml"] == "error: it cannot be read: No such file or directory"
    assert texts["absent.xml"] == "error: it cannot be read: No such file or directory"
    assert texts["feed/b.xml"] == "<b/>"


def test_a_document_that_vanishes_after_the_listing_is_an_error(feed: Path) -> None:
    entries = list(list_documents("feed"))
    (feed / "b.xml").unlink()
    texts = _texts(open_entries(entries))
    assert texts["feed/b.xml"] == "error: it cannot be read: No such file or directory"
    assert texts["feed/a.XML"] == "<a/>"


@pytest.mark.skipif(os.geteuid() == 0, reason="nothing is forbidden to root")
def test_a_forbidden_document_is_an_error(feed: Path) -> None:
    (feed / "b.xml").chmod(0)
    assert _texts(read_documents("feed"))["feed/b.xml"].endswith("Permission denied")


def test_a_document_over_the_limit_is_an_error_that_names_it(feed: Path) -> None:
    (feed / "b.xml").write_bytes(b"<b>" + b" " * 100 + b"</b>")
    content = dict(read_documents("feed", limits=PublicationLimits(document_bytes_max=100)))
    error = content["feed/b.xml"]
    assert isinstance(error, LimitError)
    assert (error.limit, error.given, error.allowed) == ("bytes_max", 107, 100)
    assert content["feed/a.XML"] == b"<a/>"


def test_a_document_that_grows_after_the_listing_is_held_to_the_limit(feed: Path) -> None:
    (entry,) = list_documents("feed/b.xml")
    (feed / "b.xml").write_bytes(b" " * 101)
    ((_, content),) = open_entries([entry], limits=PublicationLimits(document_bytes_max=100))
    assert isinstance(content, LimitError)


def test_links_are_followed_only_inside_the_folder(feed: Path, tmp_path: Path) -> None:
    (tmp_path / "secret.xml").write_text("<secret/>")
    (tmp_path / "elsewhere").mkdir()
    (feed / "inside.xml").symlink_to("deep/er/c.xml")
    (feed / "outside.xml").symlink_to("../secret.xml")
    (feed / "way-out").symlink_to("../elsewhere")
    (feed / "way-in").symlink_to("deep")
    texts = _texts(read_documents("feed"))
    assert texts["feed/inside.xml"] == "<c/>"
    assert texts["feed/outside.xml"] == "error: it is a link that leads out of the folder"
    assert texts["feed/way-out"] == "error: it is a link that leads out of the folder"
    assert not any(name.startswith("feed/way-in") for name in texts)


def test_a_ring_of_links_is_an_error(feed: Path) -> None:
    (feed / "x.xml").symlink_to("y.xml")
    (feed / "y.xml").symlink_to("x.xml")
    texts = _texts(read_documents("feed"))
    assert texts["feed/x.xml"].startswith("error: it cannot be read")
    assert texts["feed/b.xml"] == "<b/>"


def test_a_pipe_is_not_waited_for(feed: Path) -> None:
    os.mkfifo(feed / "pipe.xml")
    assert _texts(read_documents("feed"))["feed/pipe.xml"] == "error: it is no regular file"
    assert "use - for a pipe" in _texts(read_documents("feed/pipe.xml"))["feed/pipe.xml"]


def test_a_name_that_is_not_utf8_is_spelled_out_and_read(feed: Path) -> None:
    Path(os.fsdecode(os.fsencode(feed) + b"/caf\xe9.xml")).write_text("<d/>")
    assert _texts(read_documents("feed"))["feed/caf\\xe9.xml"] == "<d/>"


def test_standard_input_is_one_document(monkeypatch: pytest.MonkeyPatch) -> None:
    (entry,) = list_documents("-")
    assert entry.kind is EntryKind.STDIN
    assert list(open_entries([entry], stdin=io.BytesIO(b"<a/>"))) == [("-", b"<a/>")]
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b"<b/>")))
    assert list(read_documents("-")) == [("-", b"<b/>")]


def test_standard_input_is_bounded() -> None:
    entry = Entry(EntryKind.STDIN, "-", "-")
    limits = PublicationLimits(document_bytes_max=3)
    ((_, content),) = open_entries([entry], stdin=io.BytesIO(b"<a/>"), limits=limits)
    assert isinstance(content, LimitError)


@pytest.mark.usefixtures("feed")
def test_entries_tell_sizes_so_that_work_can_be_shared_out() -> None:
    sizes = {entry.name: entry.size for entry in list_documents("feed")}
    assert sizes == {"feed/a.XML": 4, "feed/b.xml": 4, "feed/deep/er/c.xml": 4}


def test_an_archive_in_a_folder_is_opened_if_a_pattern_names_it(feed: Path) -> None:
    with zipfile.ZipFile(feed / "more.zip", "w") as archive:
        archive.writestr("d.xml", "<d/>")
    assert not [name for name, _ in read_documents("feed") if "more.zip" in name]
    texts = _texts(read_documents("feed", patterns=["*.xml", "*.zip"]))
    assert texts["feed/more.zip!d.xml"] == "<d/>"


@pytest.fixture
def deep(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """600 folders inside each other, and a document in the last; taken away step by step."""
    monkeypatch.chdir(tmp_path)
    Path("deep").mkdir()
    monkeypatch.chdir("deep")
    for _ in range(600):
        Path("d").mkdir()
        monkeypatch.chdir("d")
    Path("x.xml").write_text("<a/>")
    monkeypatch.chdir(tmp_path)
    Path("deep/y.xml").write_text("<y/>")
    yield "deep"
    monkeypatch.chdir("deep/" + "d/" * 600)
    Path("x.xml").unlink()
    for _ in range(600):
        monkeypatch.chdir("..")
        Path("d").rmdir()
    monkeypatch.chdir(tmp_path)


def test_folders_far_inside_each_other_are_read(deep: str) -> None:
    assert [content for _, content in read_documents(deep)] == [b"<a/>", b"<y/>"]


def test_folders_deeper_than_allowed_are_refused_by_name(
    deep: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(publications, "FOLDERS_DEEP_MAX", 5)
    (name, refused), beside = read_documents(deep)
    assert name == "deep/d/d/d/d/d"
    assert isinstance(refused, LimitError)
    assert (refused.limit, refused.given) == ("FOLDERS_DEEP_MAX", 6)
    assert beside == ("deep/y.xml", b"<y/>"), "what stands beside is read"


@pytest.mark.usefixtures("feed")
@pytest.mark.parametrize("error", [PermissionError(13, "Permission denied"), OSError(5, "I/O")])
def test_what_the_system_does_not_let_us_read_is_an_error_of_that_document(
    monkeypatch: pytest.MonkeyPatch, error: OSError
) -> None:
    usual = os.open

    def forbidden(path: str, *rest: int) -> int:
        if str(path).endswith("b.xml"):
            raise error
        return usual(path, *rest)

    monkeypatch.setattr(os, "open", forbidden)
    found = dict(read_documents("feed"))
    assert found["feed/a.XML"] == b"<a/>"
    refused = found["feed/b.xml"]
    assert isinstance(refused, DocumentError)
    assert str(error.strerror) in refused.reason


@pytest.mark.usefixtures("feed")
def test_what_nobody_foresaw_costs_its_document_alone(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    usual = publications._read_file

    def failing(entry: Entry, selection: Selection) -> Iterator[tuple[str, bytes | DocumentError]]:
        if entry.name == "feed/b.xml":
            raise KeyError("a")
        return usual(entry, selection)

    monkeypatch.setattr(publications, "_read_file", failing)
    found = dict(read_documents("feed"))
    assert found["feed/a.XML"] == b"<a/>"
    refused = found["feed/b.xml"]
    assert isinstance(refused, DocumentError)
    assert isinstance(refused.__cause__, InternalError)
    assert isinstance(refused.__cause__.__cause__, KeyError)


@pytest.mark.usefixtures("feed")
def test_a_path_whose_listing_fails_costs_that_path_alone(
    monkeypatch: pytest.MonkeyPatch,
) -> None:

    def failing(*_: object) -> object:
        raise RecursionError

    monkeypatch.setattr(publications, "zip_members", failing)
    Path("z.zip").write_bytes(b"PK\3\4")
    found = dict(read_documents(["z.zip", "feed/b.xml"]))
    assert isinstance(found["z.zip"], DocumentError)
    assert found["feed/b.xml"] == b"<b/>"


def test_standard_input_that_cannot_be_read_is_a_refused_document(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(sys, "stdin", None)
    (content,) = dict(read_documents("-")).values()
    assert isinstance(content, DocumentError)
    assert content.reason.startswith("standard input is closed; ")


@pytest.mark.skipif(os.name == "nt", reason="names of files are text there")
def test_two_files_whose_names_are_spelled_out_alike_are_both_read(tmp_path: Path) -> None:
    folder = os.fsencode(tmp_path)
    for name, content in ((b"caf\xe9.xml", b"<a/>"), (rb"caf\xe9.xml", b"<b/>")):
        Path(os.fsdecode(folder + b"/" + name)).write_bytes(content)
    found = dict(read_documents([tmp_path]))
    assert sorted(found.values(), key=str) == [b"<a/>", b"<b/>"]
    assert len({name.rpartition("#")[0] or name for name in found}) == 1


def test_a_document_that_is_named_twice_is_read_once(tmp_path: Path) -> None:
    (tmp_path / "a.xml").write_bytes(b"<a/>")
    assert len(list(read_documents([tmp_path, tmp_path / "a.xml"]))) == 1


def test_files_that_others_have_found_in_a_folder_are_listed_as_in_it(
    feed: Path, tmp_path: Path
) -> None:
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "elsewhere" / "x.xml").write_text("<secret/>", encoding="utf-8")
    (feed / "inside.xml").symlink_to("deep/er/c.xml")
    (feed / "outside.xml").symlink_to("../elsewhere/x.xml")
    (feed / "way-out").symlink_to("../elsewhere")
    (feed / "way-in").symlink_to("deep")
    ways = ["inside.xml", "outside.xml", "way-out/x.xml", "way-in/er/c.xml", "deep/er/c.xml"]
    paths = [f"{feed}/{way}" for way in ways]
    listed = {
        entry.name.removeprefix(f"{feed}/"): entry.refusal and entry.refusal.reason
        for entry in list_documents(paths, found_in=[str(feed)])
    }
    leads_out = "it is a link that leads out of the folder"
    assert listed == {
        "inside.xml": None,
        "outside.xml": leads_out,
        "way-out": leads_out,
        "deep/er/c.xml": None,
    }
    by_themselves = list_documents(paths, found_in=[f"{feed}-other", f"{feed}/dee"])
    assert all(entry.refusal is None for entry in by_themselves), "they were named"


@pytest.mark.parametrize("step", [1, -1])
def test_a_file_that_is_called_like_a_member_of_a_tar_archive_has_a_name_of_its_own(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, step: int
) -> None:
    monkeypatch.chdir(tmp_path)
    for archive in ("a.tar", "a.tar!b.tar"):
        with tarfile.open(archive, "w") as packed:
            for name in ("b.xml", "b.xml", "b.tar!b.xml", "c/d.xml"):
                packed.addfile(tarfile.TarInfo(name))
    files = [
        "a.tar",
        "a.tar!b.tar",
        "a.tar!b.xml",
        "a.tar!b.xml#2",
        "a.tar!b.tar!b.xml",
        "a.tar!c/d.xml",
    ]
    Path("a.tar!c").mkdir()
    for name in files[2:]:
        Path(name).write_bytes(b"<a/>")
    names = [name for name, _ in read_documents(files[::step])]
    assert len(names) == len(set(names)) == 12
    assert {"a.tar!b.xml", "./a.tar!b.xml", "././a.tar!b.tar!b.xml"} < set(names)
    (tmp_path / "a.tar!b.xml").write_bytes(b"<mine/>")
    assert dict(read_documents([tmp_path]))[f"{tmp_path}/./a.tar!b.xml"] == b"<mine/>"
