"""``match --copy-to`` and ``--move-to``: documents in the folders of those who asked for them."""

from __future__ import annotations

import bz2
import fcntl
import gzip
import io
import json
import lzma
import os
import subprocess
import tarfile
import warnings
import zipfile
from collections.abc import Callable, Iterable
from fnmatch import fnmatchcase
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.cli.executable import EXECUTABLE
from twigcast.files.documents.originals import remove_original
from twigcast.matching import Decision, Matcher

if TYPE_CHECKING:
    from tests.cli.conftest import Twigcast

STORM, QUIET = "<news><storm/></news>", "<news/>"


@pytest.fixture
def office(tmp_path: Path) -> Path:
    rows = ["id,subscriber,xpath", "1,Anna,//storm", "2,Ben,/news", "3,Anna,//news", "x,,//storm"]
    (tmp_path / "rules.csv").write_text("\n".join(rows) + "\n")
    (tmp_path / "feed" / "deep").mkdir(parents=True)
    (tmp_path / "feed" / "a.xml").write_text(STORM)
    (tmp_path / "feed" / "deep" / "a.xml").write_text(QUIET)
    (tmp_path / "feed" / "nobody.xml").write_text("<other/>")
    (tmp_path / "feed" / "broken.xml").write_text("<news>")
    return tmp_path


def _files(folder: Path) -> dict[str, str]:
    return {
        str(path.relative_to(folder)): path.read_text()
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }


def test_copies_are_put_into_a_folder_for_each_subscriber(twigcast: Twigcast, office: Path) -> None:
    before = _files(office / "feed")
    result = twigcast("match", "rules.csv", "feed", "--copy-to", "sorted")
    assert result.exit_code == 1  # one document is broken
    copies = _files(office / "sorted")
    assert sorted(name.split("/")[0] for name in copies) == ["Anna", "Anna", "Ben", "Ben", "x"]
    assert sorted(copies.values()) == [QUIET] * 2 + [STORM] * 3
    assert {"Anna/a.xml", "Ben/a.xml", "x/a.xml"} < copies.keys()
    assert _files(office / "feed") == before
    assert "4 documents, 6 matches, 5 copied, 1 refused in " in result.stderr


def test_a_document_that_was_moved_is_gone_and_the_others_stay(
    twigcast: Twigcast, office: Path
) -> None:
    result = twigcast("match", "rules.csv", "feed", "--move-to", "sorted")
    assert set(_files(office / "feed")) == {"nobody.xml", "broken.xml"}
    assert len(_files(office / "sorted")) == 5
    assert ", 2 moved, 1 refused in " in result.stderr


def test_json_tells_where_copies_are(twigcast: Twigcast, office: Path) -> None:
    result = twigcast("match", "rules.csv", "feed/a.xml", "--move-to", "sorted", "--json")
    assert json.loads(result.stdout) == {
        "document": "feed/a.xml",
        "matches": ["1", "2", "3", "x"],
        "copies": ["sorted/Anna/a.xml", "sorted/Ben/a.xml", "sorted/x/a.xml"],
        "moved": True,
    }
    assert not (office / "feed" / "a.xml").exists()


def test_members_of_archives_are_copied_and_that_is_said_once(
    twigcast: Twigcast, office: Path
) -> None:
    with zipfile.ZipFile(office / "feed.zip", "w") as archive:
        archive.writestr("monday/a.xml", STORM)
        archive.writestr("tuesday/a.xml", QUIET)
    result = twigcast("match", "rules.csv", "feed.zip", "-", "--move-to", "s", stdin=STORM.encode())
    assert (office / "feed.zip").exists()
    assert sorted(_files(office / "s").values()) == [QUIET] * 2 + [STORM] * 6
    assert result.stderr.count("copied, not moved") == 1


@pytest.mark.parametrize("archive", ["feed.zip", "feed.tar"])
def test_a_copy_of_a_member_has_the_permissions_of_the_archive(
    twigcast: Twigcast, office: Path, archive: str
) -> None:
    with zipfile.ZipFile(office / "feed.zip", "w") as packed:
        packed.writestr("a.xml", STORM)
    with tarfile.open(office / "feed.tar", "w") as tar:
        tar.add(office / "feed" / "a.xml", "a.xml")
    (office / archive).chmod(0o600)
    assert twigcast("match", "rules.csv", archive, "--copy-to", "sorted").exit_code == 0
    assert (office / "sorted" / "Ben" / "a.xml").stat().st_mode & 0o777 == 0o600


@pytest.mark.parametrize("pack", [gzip.compress, bz2.compress, lzma.compress])
def test_a_compressed_document_is_moved_and_its_copy_is_called_after_what_it_is(
    twigcast: Twigcast, office: Path, pack: Callable[[bytes], bytes]
) -> None:
    for path in (office / "feed").rglob("*.xml"):
        path.unlink()
    packed = office / "feed" / "a.xml.gz"
    packed.write_bytes(pack(STORM.encode()))
    result = twigcast("match", "rules.csv", "feed", "--move-to", "sorted")
    assert "1 moved in " in result.stderr
    assert _files(office / "sorted") == dict.fromkeys(["Anna/a.xml", "Ben/a.xml", "x/a.xml"], STORM)
    assert not packed.exists()


def test_a_compressed_original_that_has_changed_meanwhile_stays(tmp_path: Path) -> None:
    path = tmp_path / "a.xml"
    for content in (b"<b/>", gzip.compress(b"<b/>"), gzip.compress(b"<a/>")[:-3], b"BZh9"):
        path.write_bytes(content)
        assert not remove_original(path, b"<a/>")
        assert path.read_bytes() == content
    path.write_bytes(gzip.compress(b"<a/>"))
    assert remove_original(path, b"<a/>")
    assert not path.exists()


def test_copies_of_records_are_documents_again(twigcast: Twigcast, office: Path) -> None:
    dump = gzip.compress(b"<dump><news/><news><storm/></news></dump>")
    (office / "dump.xml.gz").write_bytes(dump)
    with tarfile.open(office / "a.tar", "w") as archive:
        archive.add(office / "dump.xml.gz", "dump.xml.gz")
    for source in ("dump.xml.gz", "a.tar"):
        twigcast("match", "rules.csv", source, "--record", "news", "--copy-to", "sorted")
    assert "Ben/dump%231@6.xml" in _files(office / "sorted")
    assert "Ben/dump%232@13.xml" in _files(office / "sorted")
    assert "5 documents, " in twigcast("match", "rules.csv", "sorted").stderr


def test_a_file_that_is_called_like_a_member_is_not_taken_for_it(
    twigcast: Twigcast, office: Path
) -> None:
    with zipfile.ZipFile(office / "feed.zip", "w") as archive:
        archive.writestr("a.xml", STORM)
    (office / "feed.zip!a.xml").write_text("<other/>")
    twigcast("match", "rules.csv", "feed.zip", "feed.zip!a.xml", "--move-to", "sorted")
    assert (office / "feed.zip!a.xml").exists()


def test_a_document_that_something_is_undecided_about_stays(
    twigcast: Twigcast, office: Path
) -> None:
    (office / "rules.csv").write_text(
        "id,xpath\n1,//b[count(preceding::b/namespace::*) = 7]\n2,//b\n"
    )
    (office / "large.xml").write_text(f"<a>{'<b/>' * 20_000}</a>")
    result = twigcast("match", "rules.csv", "large.xml", "--move-to", "sorted")
    assert (office / "large.xml").exists()
    assert list(_files(office / "sorted")) == ["2/large.xml"]
    assert "0 moved, 1 incomplete in " in result.stderr


def test_a_document_that_cannot_be_filed_stays_and_is_named(
    twigcast: Twigcast, office: Path
) -> None:
    (office / "sorted").mkdir()
    (office / "sorted" / "Ben").write_text("a file where a folder should be")
    result = twigcast("match", "rules.csv", "feed/a.xml", "--move-to", "sorted")
    assert result.exit_code == 1
    assert (office / "feed" / "a.xml").exists()
    assert (
        "twigcast: feed/a.xml: it stays, for it cannot be filed in 1 of 3 folders: "
        in result.stderr
    )


@pytest.mark.parametrize("way", ["--copy-to", "--move-to"])
def test_a_folder_that_cannot_be_written_takes_no_copies_from_other_subscribers(
    twigcast: Twigcast, office: Path, way: str
) -> None:
    (office / "sorted").mkdir()
    (office / "sorted" / "Ben").write_text("a file where a folder should be")
    result = twigcast("match", "rules.csv", "feed/a.xml", way, "sorted", "--json")
    assert result.exit_code == 1
    assert (office / "feed" / "a.xml").exists()
    told = json.loads(result.stdout)
    assert told["copies"] == ["sorted/Anna/a.xml", "sorted/x/a.xml"]
    assert told.get("moved", False) is False
    assert " it cannot be filed in 1 of 3 folders: " in result.stderr
    assert f", {'2 copied' if way == '--copy-to' else '0 moved'}, 1 incomplete" in result.stderr


@pytest.fixture
def _gone_when_read(office: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The original goes when it has been matched, before it is filed."""
    decide = Matcher.decide

    def gone(matcher: Matcher, document: bytes) -> Decision:
        (office / "feed" / "a.xml").unlink(missing_ok=True)
        return decide(matcher, document)

    monkeypatch.setattr(Matcher, "decide", gone)


@pytest.mark.usefixtures("_gone_when_read")
def test_an_original_that_goes_when_it_was_read_is_copied_for_nobody_else_to_read(
    twigcast: Twigcast, office: Path
) -> None:
    result = twigcast("match", "rules.csv", "feed/a.xml", "--copy-to", "sorted")
    assert result.exit_code == 0
    assert _files(office / "sorted") == dict.fromkeys(("Anna/a.xml", "Ben/a.xml", "x/a.xml"), STORM)
    assert (office / "sorted" / "Ben" / "a.xml").stat().st_mode & 0o077 == 0


@pytest.mark.usefixtures("_gone_when_read")
def test_an_original_that_somebody_else_has_moved_is_not_filed_again(
    twigcast: Twigcast, office: Path
) -> None:
    result = twigcast("match", "rules.csv", "feed/a.xml", "--move-to", "sorted", "--json")
    assert result.exit_code == 1
    assert json.loads(result.stdout)["copies"] == []
    assert _files(office / "sorted") == {}
    assert "somebody else has taken it away since it was read" in result.stderr
    assert "it stays" not in result.stderr


def test_an_original_that_has_changed_meanwhile_stays(
    twigcast: Twigcast, office: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    original = office / "feed" / "a.xml"
    link = os.link

    def changed(*given: str) -> None:
        link(*given)
        original.write_text("<newer/>")

    monkeypatch.setattr(os, "link", changed)
    result = twigcast("match", "rules.csv", "feed/a.xml", "--move-to", "sorted")
    assert original.read_text() == "<newer/>"
    assert "it has changed since it was read, and stays" in result.stderr


def _at_the_last_moment(monkeypatch: pytest.MonkeyPatch, do: Callable[[Path], object]) -> None:
    """Do something when an original has been looked at, and is about to go from its place."""

    def after_it(step: Callable[..., object]) -> Callable[..., object]:
        def taken(path: Path, *given: object, **named: object) -> object:
            if path.parent.name == "feed":
                do(path)
            return step(path, *given, **named)

        return taken

    for name in ("rename", "unlink"):
        monkeypatch.setattr(Path, name, after_it(getattr(Path, name)))


def _put_in_place(path: Path, content: str) -> None:
    """As writers do it who care for readers."""
    path.with_name("new").write_text(content)
    path.with_name("new").replace(path)


def test_an_original_that_is_replaced_at_the_last_moment_stays(
    twigcast: Twigcast, office: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    _at_the_last_moment(monkeypatch, lambda path: _put_in_place(path, "<newer/>"))
    result = twigcast("match", "rules.csv", "feed/a.xml", "--move-to", "sorted")
    assert _files(office / "feed")["a.xml"] == "<newer/>"
    assert "it has changed since it was read, and stays" in result.stderr
    assert not [path for path in (office / "feed").iterdir() if path.name.startswith(".")]


def test_an_original_that_cannot_go_back_is_told_with_its_place(
    twigcast: Twigcast, office: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    link = os.link

    def newest(source: Path, place: Path, *, follow_symlinks: bool = True) -> None:
        if source.parent.suffix == ".aside":
            place.write_text("<newest/>")
        link(source, place, follow_symlinks=follow_symlinks)

    monkeypatch.setattr(os, "link", newest)
    _at_the_last_moment(monkeypatch, lambda path: _put_in_place(path, "<newer/>"))
    result = twigcast("match", "rules.csv", "feed/a.xml", "--move-to", "sorted")
    assert result.exit_code == 1
    assert (office / "feed" / "a.xml").read_text() == "<newest/>"
    (aside,) = (office / "feed").glob(".twigcast-*.aside/a.xml")
    assert aside.read_text() == "<newer/>"
    assert f"{aside.relative_to(office)} cannot be put back as feed/a.xml" in result.stderr


@pytest.mark.parametrize("source", ["feed", "feed/deep", "feed/deep/a.xml"])
def test_what_a_killed_process_has_left_aside_is_put_back_and_read(
    twigcast: Twigcast, office: Path, source: str
) -> None:
    aside = office / "feed" / "deep" / ".twigcast-0123456789abcdef.aside"
    aside.mkdir()
    (office / "feed" / "deep" / "a.xml").rename(aside / "a.xml")
    assert "a.xml" not in twigcast("match", "rules.csv", "feed/deep").stdout
    result = twigcast("match", "rules.csv", source, "--move-to", "sorted")
    told = "feed/deep/a.xml: it was left aside by a killed process, and is back"
    assert told in result.stderr
    assert QUIET in _files(office / "sorted" / "Ben").values()
    assert not list((office / "feed" / "deep").iterdir())


def test_what_a_living_process_has_put_aside_is_left_alone(
    twigcast: Twigcast, office: Path
) -> None:
    aside = office / "feed" / ".twigcast-0123456789abcdef.aside"
    aside.mkdir()
    (aside / "b.xml").write_text(QUIET)
    held = os.open(aside, os.O_RDONLY)
    fcntl.flock(held, fcntl.LOCK_EX)
    result = twigcast("match", "rules.csv", "feed", "--move-to", "sorted")
    os.close(held)
    assert (aside / "b.xml").read_text() == QUIET
    assert ".aside" not in result.stderr


def test_what_was_left_aside_never_replaces_a_newer_document(
    twigcast: Twigcast, office: Path
) -> None:
    aside = office / "feed" / ".twigcast-0123456789abcdef.aside"
    aside.mkdir()
    (aside / "broken.xml").write_text(QUIET)
    result = twigcast("match", "rules.csv", "feed", "--move-to", "sorted")
    assert (office / "feed" / "broken.xml").read_text() == "<news>"
    assert (aside / "broken.xml").read_text() == QUIET
    assert "aside/broken.xml cannot be put back as feed/broken.xml: File exists" in result.stderr


def test_a_link_is_deleted_and_not_what_it_leads_to(twigcast: Twigcast, office: Path) -> None:
    (office / "feed" / "link.xml").symlink_to("deep/a.xml")
    twigcast("match", "rules.csv", "feed/link.xml", "--move-to", "sorted")
    assert not (office / "feed" / "link.xml").is_symlink()
    assert (office / "feed" / "deep" / "a.xml").read_text() == QUIET


@pytest.mark.parametrize("source", ["sorted/Ben", "sorted/Ben/a.xml"])
def test_a_document_in_the_folder_of_its_subscriber_is_its_own_copy_and_stays(
    twigcast: Twigcast, office: Path, source: str
) -> None:
    (office / "sorted" / "Ben").mkdir(parents=True)
    (office / "sorted" / "Ben" / "a.xml").write_text(QUIET)
    result = twigcast("match", "rules.csv", source, "--move-to", "sorted")
    assert _files(office / "sorted") == {"Anna/a.xml": QUIET, "Ben/a.xml": QUIET}
    assert "it is in the folder of a subscriber already, and stays" in result.stderr
    assert ", 0 moved in " in result.stderr


def test_a_folder_of_a_subscriber_that_leads_to_the_source_loses_nothing(
    twigcast: Twigcast, office: Path
) -> None:
    (office / "sorted").mkdir()
    (office / "sorted" / "Ben").symlink_to("../feed/deep")
    twigcast("match", "rules.csv", "feed", "--move-to", "sorted")
    assert _files(office / "feed")["deep/a.xml"] == QUIET


def test_a_hard_link_in_another_folder_is_a_copy_and_the_original_goes(
    twigcast: Twigcast, office: Path
) -> None:
    for subscriber in ("Anna", "Ben"):
        (office / "sorted" / subscriber).mkdir(parents=True)
    (office / "sorted" / "Ben" / "a.xml").hardlink_to(office / "feed" / "deep" / "a.xml")
    twigcast("match", "rules.csv", "feed/deep", "--move-to", "sorted")
    assert _files(office / "feed" / "deep") == {}
    assert _files(office / "sorted") == {"Anna/a.xml": QUIET, "Ben/a.xml": QUIET}


def test_a_folder_below_one_that_is_gone_is_told_by_its_name(
    twigcast: Twigcast, office: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (office / "gone").mkdir()
    monkeypatch.chdir(office / "gone")
    (office / "gone").rmdir()
    result = twigcast("match", f"{office}/rules.csv", f"{office}/feed", "--copy-to", "sorted")
    assert result.exit_code == 2
    assert "cannot use sorted: No such file or directory" in result.stderr


@pytest.mark.usefixtures("office")
def test_an_original_that_cannot_be_deleted_is_told_with_its_copies(
    twigcast: Twigcast, monkeypatch: pytest.MonkeyPatch
) -> None:
    rename = Path.rename

    def refuse(path: Path, to: Path) -> Path:
        if path.parent.name == "feed":
            raise PermissionError(13, "Permission denied")
        return rename(path, to)

    monkeypatch.setattr(Path, "rename", refuse)
    result = twigcast("match", "rules.csv", "feed/a.xml", "--move-to", "sorted", "--json")
    assert result.exit_code == 1
    told = json.loads(result.stdout)
    assert (len(told["copies"]), told["moved"]) == (3, False)
    assert "it was copied and stays, for it cannot be deleted: " in result.stderr


def test_an_original_that_somebody_else_deleted_is_not_said_to_stay(
    twigcast: Twigcast, office: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    link = os.link

    def deleted(*given: str) -> None:
        link(*given)
        (office / "feed" / "a.xml").unlink(missing_ok=True)

    monkeypatch.setattr(os, "link", deleted)
    result = twigcast("match", "rules.csv", "feed/a.xml", "--move-to", "sorted")
    assert result.exit_code == 0
    assert "it was copied, and somebody else has deleted it" in result.stderr


@pytest.mark.parametrize(
    ("name", "filed"), [("a\\b.xml", "a%5Cb.xml"), ("caf\udce9.xml", "caf%5Cxe9.xml")]
)
def test_a_file_keeps_its_name_whatever_letters_it_has(
    twigcast: Twigcast, office: Path, name: str, filed: str
) -> None:
    (office / "feed" / "deep" / name).write_text(QUIET)
    (office / "feed" / "deep" / "a.xml").unlink()
    twigcast("match", "rules.csv", "feed/deep", "--copy-to", "sorted")
    assert list(_files(office / "sorted" / "Ben")) == [filed]


LONG = "ü" * 150
NAMED_ALIKE = {
    "a.xml": "a.xml",
    "a.xml#2": "a%232.xml",
    "a.xml#3": "a%233.xml",
    "dir/a.xml": "a~*.xml",
    "dir\\b.xml": "b.xml",
    "other/B.xml": "B.xml",
    "cc:d.xml": "cc%3Ad.xml",
    "cc%3Ad.xml": "cc%253Ad.xml",
    f"{LONG}1.xml": f"{LONG[:60]}*~*.xml",
    f"{LONG}2.xml": f"{LONG[:60]}*~*.xml",
}
"""What match says of the members of an archive, and what their copies are called."""


@pytest.mark.parametrize("kind", ["zip", "tar"])
def test_members_that_are_called_alike_are_each_there_once_and_are_documents_again(
    twigcast: Twigcast, office: Path, kind: str
) -> None:
    members = [(name.partition("#")[0], f"<news>{name}</news>") for name in NAMED_ALIKE]
    _pack(office / f"feed.{kind}", members)
    told = twigcast("match", "rules.csv", f"feed.{kind}", "--copy-to", "sorted", "--json")
    answers = [json.loads(line) for line in told.stdout.splitlines()]
    assert [each["document"] for each in answers] == [f"feed.{kind}!{name}" for name in NAMED_ALIKE]
    for answer, copied_as, (_, content) in zip(answers, NAMED_ALIKE.values(), members, strict=True):
        (copy,) = (Path(each) for each in answer["copies"] if "/Ben/" in each)
        assert fnmatchcase(copy.name, copied_as)
        assert copy.read_text() == content
    assert sorted(_files(office / "sorted" / "Ben").values()) == sorted(
        content for _, content in members
    )
    again = twigcast("match", "rules.csv", "sorted/Ben")
    assert again.stdout.count("\n") == len(members)


def _pack(path: Path, members: Iterable[tuple[str, str]]) -> None:
    """An archive of members of which several may have one name."""
    if path.suffix == ".zip":
        with warnings.catch_warnings(), zipfile.ZipFile(path, "w") as archive:
            warnings.simplefilter("ignore")
            for name, content in members:
                archive.writestr(name, content)
        return
    with tarfile.open(path, "w") as tar:
        for name, content in members:
            member = tarfile.TarInfo(name)
            member.size = len(content.encode())
            tar.addfile(member, io.BytesIO(content.encode()))


def test_names_that_a_disk_takes_for_one_are_both_kept(
    twigcast: Twigcast, office: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    link = os.link

    def link_whatever_the_capitals(source: Path, target: Path) -> None:
        if target.name.casefold() in {each.name.casefold() for each in target.parent.iterdir()}:
            raise FileExistsError
        link(source, target)

    monkeypatch.setattr(os, "link", link_whatever_the_capitals)
    _pack(office / "feed.zip", [("a.xml", STORM), ("A.xml", QUIET)])
    twigcast("match", "rules.csv", "feed.zip", "--copy-to", "sorted")
    copies = _files(office / "sorted" / "Ben")
    assert sorted(copies.values()) == [QUIET, STORM]
    assert all(fnmatchcase(name, "[aA]*.xml") for name in copies)


def test_letters_that_the_locale_cannot_write_are_spelled_out(office: Path) -> None:
    (office / "rules.csv").write_text("id,subscriber,xpath\n1,Jürgen,//news\n", encoding="utf-8")
    with zipfile.ZipFile(office / "feed.zip", "w") as archive:
        archive.writestr("größe.xml", STORM)
        archive.writestr("plain.xml", QUIET)
    narrow = {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}
    ended = subprocess.run(
        [EXECUTABLE, "match", "rules.csv", "feed.zip", "--copy-to", "sorted"],
        cwd=office,
        env={**os.environ, **narrow},
        capture_output=True,
        check=False,
    )
    assert (ended.returncode, ended.stdout.count(b"\n")) == (0, 2)
    assert _files(office / "sorted") == {
        "J%C3%BCrgen/gr%C3%B6%C3%9Fe.xml": STORM,
        "J%C3%BCrgen/plain.xml": QUIET,
    }


@pytest.mark.parametrize(
    "words",
    [
        ("feed", "--copy-to", ""),
        ("feed", "--copy-to", "x", "--move-to", "y"),
        ("feed", "--copy-to", "feed"),
        ("feed", "--move-to", "feed/sorted"),
        ("feed/deep", "--watch", "--move-to", "feed"),
    ],
    ids=" ".join,
)
def test_what_cannot_be_meant_is_refused_before_anything_happens(
    twigcast: Twigcast, office: Path, words: tuple[str, ...]
) -> None:
    before = _files(office)
    assert twigcast("match", "rules.csv", *words).exit_code == 2
    assert _files(office) == before


def test_who_moves_one_file_leaves_what_others_have_left_aside_alone(
    twigcast: Twigcast, office: Path
) -> None:
    hidden = ".twigcast-0123456789abcdef.aside"
    others = [office / folder / hidden / "b.xml" for folder in ("feed", "feed/deep")]
    for other in others:
        other.parent.mkdir()
        other.write_text(QUIET)
    result = twigcast("match", "rules.csv", "feed/a.xml", "--move-to", "sorted")
    assert all(other.exists() for other in others)
    assert result.exit_code == 0
    assert "aside" not in result.stderr


@pytest.mark.parametrize("name", ["loop.xml", "n" * 300, "loop.xml/below.xml"])
def test_a_path_that_leads_nowhere_is_refused_and_all_others_are_moved(
    twigcast: Twigcast, office: Path, name: str
) -> None:
    (office / "loop.xml").symlink_to("loop.xml")
    result = twigcast("match", "rules.csv", name, "feed/a.xml", "--move-to", "sorted")
    assert result.exit_code == 1
    assert f"twigcast: {name}: it cannot be read: " in result.stderr
    assert ", 1 moved, 1 refused in " in result.stderr
    assert not (office / "feed" / "a.xml").exists()


@pytest.mark.parametrize("name", ["loop", "n" * 300, "loop/below"])
def test_a_folder_that_cannot_be_is_a_slip_and_everything_stays(
    twigcast: Twigcast, office: Path, name: str
) -> None:
    (office / "loop").symlink_to("loop")
    result = twigcast("match", "rules.csv", "feed/a.xml", "--move-to", name)
    assert result.exit_code == 2
    assert f"cannot make the folder {name}: " in result.stderr
    assert (office / "feed" / "a.xml").exists()
