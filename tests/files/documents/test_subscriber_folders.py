"""Documents in folders by subscriber: whatever names are, nothing is lost and nothing escapes."""

from __future__ import annotations

import errno
import fcntl
import os
import subprocess
import sys
import unicodedata
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from twigcast.errors import UsageError
from twigcast.files import Subscription, read_documents
from twigcast.files.documents.subscriber_folders import NAME_BYTES_MAX, SubscriberFolders, safe_name

NAMES = st.text(max_size=300) | st.sampled_from(
    ["", ".", "..", "../x", "/etc/passwd", "C:\\x", "con", "NUL.xml", "-rf", "a\0b", "a\nb", "~x"]
)


def _of(*subscribers: str | None) -> list[Subscription]:
    return [Subscription(number, "//a", who) for number, who in enumerate(subscribers)]


def _contents(folder: Path) -> list[bytes]:
    return sorted(path.read_bytes() for path in folder.rglob("*") if path.is_file())


@given(NAMES)
def test_a_name_stays_one_plain_name(name: str) -> None:
    safe = safe_name(name)
    assert 0 < len(safe.encode()) <= NAME_BYTES_MAX
    assert not set(safe) & set('/\\:*?"<>|\0\n')
    assert safe[0] not in ".- "
    assert safe[-1] not in ". "
    assert all(unicodedata.category(letter)[0] != "C" for letter in safe)


@given(st.lists(NAMES, unique=True, max_size=5))
def test_different_names_stay_different(names: list[str]) -> None:
    assert len({safe_name(name) for name in names}) == len(names)


def test_a_long_name_keeps_its_ending() -> None:
    first, second = (safe_name(f"{'ü' * 500}{last}.xml") for last in "ab")
    assert first != second
    assert first.endswith(".xml")


def test_a_copy_has_the_permissions_of_the_original(tmp_path: Path) -> None:
    secret = tmp_path / "secret.xml"
    secret.write_bytes(b"<a/>")
    secret.chmod(0o600)
    asked = _of("Anna")
    folders = SubscriberFolders(tmp_path / "sorted", asked)
    (place,) = folders.put("secret.xml", b"<a/>", folders.folders_of(asked), like=secret)
    assert place.stat().st_mode & 0o777 == 0o600


def test_a_document_is_put_into_each_folder_once(tmp_path: Path) -> None:
    asked = _of("Anna", "Ben", "Anna", None)
    folders = SubscriberFolders(tmp_path / "sorted", asked)
    places = folders.put("a.xml", b"<a/>", folders.folders_of(asked))
    assert [str(place.relative_to(tmp_path)) for place in places] == [
        "sorted/Anna/a.xml",
        "sorted/Ben/a.xml",
        "sorted/3/a.xml",
    ]
    assert _contents(tmp_path) == [b"<a/>"] * 3


def test_two_documents_of_one_name_are_both_kept(tmp_path: Path) -> None:
    asked = _of("Anna")
    folders = SubscriberFolders(tmp_path, asked)
    for content in (b"1", b"2", b"3", b"2"):
        folders.put("a.xml", content, folders.folders_of(asked))
    assert _contents(tmp_path) == [b"1", b"2", b"3"]
    assert all(path.suffix == ".xml" for path in (tmp_path / "Anna").iterdir())


def test_work_done_twice_leaves_the_same_files(tmp_path: Path) -> None:
    asked = _of("Anna")
    listed = []
    for _ in range(2):
        folders = SubscriberFolders(tmp_path, asked)
        folders.put("a.xml", b"1", folders.folders_of(asked))
        folders.put("a.xml", b"2", folders.folders_of(asked))
        listed.append(sorted(path.name for path in (tmp_path / "Anna").iterdir()))
    assert listed[0] == listed[1]


def test_a_link_in_the_way_is_neither_followed_nor_replaced(tmp_path: Path) -> None:
    (tmp_path / "sorted" / "Anna").mkdir(parents=True)
    precious = tmp_path / "precious"
    precious.write_bytes(b"mine")
    (tmp_path / "sorted" / "Anna" / "a.xml").symlink_to(precious)
    asked = _of("Anna")
    folders = SubscriberFolders(tmp_path / "sorted", asked)
    (place,) = folders.put("a.xml", b"<a/>", folders.folders_of(asked))
    assert precious.read_bytes() == b"mine"
    assert place.read_bytes() == b"<a/>"
    assert not place.is_symlink()


def test_subscribers_whose_names_differ_in_capitals_have_folders_that_differ_in_more(
    tmp_path: Path,
) -> None:
    folders = SubscriberFolders(tmp_path, asked := _of("Anna", "ANNA", "Ben"))
    names = [path.name for path in folders.folders_of(asked)]
    assert len({name.casefold() for name in names}) == 3
    assert names[2] == "Ben"


def test_a_subscriber_and_an_id_of_the_same_name_do_not_share_a_folder(tmp_path: Path) -> None:
    asked = [Subscription(7, "//a"), Subscription("7", "//a"), Subscription(8, "//a", "7")]
    assert len(set(SubscriberFolders(tmp_path, asked).folders_of(asked))) == 3


def test_names_that_point_outside_stay_inside(tmp_path: Path) -> None:
    asked = _of("../../outside", "/etc", "..")
    folders = SubscriberFolders(tmp_path / "sorted", asked)
    folders.put("../../../a.xml", b"<a/>", folders.folders_of(asked))
    assert [path.name for path in tmp_path.iterdir()] == ["sorted"]
    assert _contents(tmp_path / "sorted") == [b"<a/>"] * 3


def test_a_disk_without_links_keeps_both_as_well(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: object) -> None:
        raise PermissionError("no links here")

    monkeypatch.setattr(os, "link", refuse)
    asked = _of("Anna")
    folders = SubscriberFolders(tmp_path, asked)
    for content in (b"1", b"2"):
        folders.put("a.xml", content, folders.folders_of(asked), durable=True)
    assert _contents(tmp_path) == [b"1", b"2"]


def test_a_document_that_cannot_be_written_leaves_nothing_unfinished(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(_file: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", fail)
    asked = _of("Anna")
    folders = SubscriberFolders(tmp_path, asked)
    with pytest.raises(OSError, match="No space"):
        folders.put("a.xml", b"1", folders.folders_of(asked), durable=True)
    assert list((tmp_path / "Anna").iterdir()) == []


WRITER = """
import os, sys
from pathlib import Path
from twigcast.files import Subscription
from twigcast.files.documents.subscriber_folders import SubscriberFolders

def wait(_file):
    print("writing", flush=True)
    sys.stdin.read()

os.fsync = wait
asked = [Subscription(0, "//a", "Anna")]
folders = SubscriberFolders(Path(sys.argv[1]), asked)
folders.put("b.xml", b"<b/>", folders.folders_of(asked), durable=True)
"""


@pytest.fixture
def writer(tmp_path: Path) -> Iterator[subprocess.Popen[bytes]]:
    """Another process in the middle of putting b.xml into Anna's folder."""
    with subprocess.Popen(
        [sys.executable, "-c", WRITER, tmp_path], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == b"writing\n"
        yield process
        process.kill()


def test_what_a_killed_process_left_unfinished_is_removed(
    tmp_path: Path, writer: subprocess.Popen[bytes]
) -> None:
    asked = _of("Anna")
    writer.kill()
    writer.wait()
    (left,) = (tmp_path / "Anna").iterdir()
    assert left.name.startswith(".")
    assert list(read_documents(str(tmp_path), patterns=["*"])) == []
    others = [tmp_path / "Anna" / name for name in (".twigcast-mine.tmp", ".hidden", "c.tmp")]
    for other in others:
        other.write_bytes(b"mine")
    folders = SubscriberFolders(tmp_path, asked)
    (place,) = folders.put("a.xml", b"<a/>", folders.folders_of(asked))
    assert sorted((tmp_path / "Anna").iterdir()) == sorted([place, *others])


def test_what_another_process_is_writing_is_left_alone(
    tmp_path: Path, writer: subprocess.Popen[bytes]
) -> None:
    asked = _of("Anna")
    folders = SubscriberFolders(tmp_path, asked)
    folders.put("a.xml", b"<a/>", folders.folders_of(asked))
    assert len(list((tmp_path / "Anna").iterdir())) == 2
    assert [name for name, _ in read_documents(str(tmp_path), patterns=["*"])] == [
        f"{tmp_path}/Anna/a.xml"
    ]
    writer.communicate()
    assert sorted(path.name for path in (tmp_path / "Anna").iterdir()) == ["a.xml", "b.xml"]


def test_a_file_that_is_removed_before_it_is_locked_is_made_anew(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked = _of("Anna")
    folders = SubscriberFolders(tmp_path, asked)
    flock = fcntl.flock
    removed: list[Path] = []

    def late(opened: int, how: int) -> None:
        if not removed:
            removed.extend((tmp_path / "Anna").iterdir())
            removed[0].unlink()
        flock(opened, how)

    monkeypatch.setattr(fcntl, "flock", late)
    (place,) = folders.put("a.xml", b"<a/>", folders.folders_of(asked))
    assert removed
    assert list((tmp_path / "Anna").iterdir()) == [place]


def test_a_disk_without_locks_takes_documents_and_keeps_what_is_left(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: object) -> None:
        raise OSError(errno.ENOLCK, "No locks available")

    monkeypatch.setattr(fcntl, "flock", refuse)
    (tmp_path / "Anna").mkdir()
    left = tmp_path / "Anna" / ".twigcast-0123456789abcdef.tmp"
    left.write_bytes(b"1")
    asked = _of("Anna")
    folders = SubscriberFolders(tmp_path, asked)
    (place,) = folders.put("a.xml", b"<a/>", folders.folders_of(asked))
    assert sorted((tmp_path / "Anna").iterdir()) == [left, place]


def test_a_copy_that_was_there_and_the_folder_itself_are_brought_to_the_disk(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked = _of("Anna")
    folders = SubscriberFolders(tmp_path / "sorted", asked)
    (place,) = folders.put("a.xml", b"1", folders.folders_of(asked))
    synced: list[int] = []
    monkeypatch.setattr(os, "fsync", lambda file: synced.append(os.fstat(file).st_ino))
    folders.put("a.xml", b"1", folders.folders_of(asked), durable=True)
    expected = {place, place.parent, tmp_path / "sorted", tmp_path}
    assert {path.stat().st_ino for path in expected} <= set(synced)


@pytest.mark.parametrize("root", ["a\0b", "half\ud800"])
def test_a_root_that_no_disk_can_name_is_a_matter_of_usage(tmp_path: Path, root: str) -> None:
    with pytest.raises(UsageError, match="cannot make the folder"):
        SubscriberFolders(tmp_path / root, [])


def test_a_root_that_cannot_be_made_is_a_matter_of_usage(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(UsageError, match="cannot make the folder"):
        SubscriberFolders(tmp_path / "file" / "sorted", [])
