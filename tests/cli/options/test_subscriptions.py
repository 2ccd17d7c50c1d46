"""A file of subscriptions on the command line: prefixes, and files of other kinds."""

from __future__ import annotations

import bz2
import gzip
import lzma
import os
import shutil
import socket
import subprocess
import tarfile
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.cli.executable import EXECUTABLE
from twigcast.files import read_subscriptions

if TYPE_CHECKING:
    from tests.cli.conftest import Twigcast


@pytest.fixture
def place(tmp_path: Path) -> Path:
    (tmp_path / "rules.csv").write_text(
        "id,xpath,namespaces\nall,//p:item,\nown,//p:item,p=urn:own\n"
    )
    (tmp_path / "a.xml").write_text('<item xmlns="urn:all"/>')
    (tmp_path / "b.xml").write_text('<item xmlns="urn:own"/>')
    return tmp_path


def test_namespace_lines_of_a_text_file_hold_for_every_verb(
    twigcast: Twigcast, place: Path
) -> None:
    (place / "rules.txt").write_text("# namespace p = urn:all\n//p:item\n//p:item/p:x\n")
    assert twigcast("match", "rules.txt", "a.xml").stdout == "a.xml\t2\n"
    assert twigcast("explain", "--rule", "2", "rules.txt", "a.xml").stdout.startswith("match: ")
    assert twigcast("check", "rules.txt").exit_code == 0
    fewer = twigcast("aggregate", "rules.txt")
    assert fewer.stdout == "//{urn:all}item\n"
    (place / "fewer.txt").write_text(fewer.stdout)
    assert read_subscriptions(place / "fewer.txt").rejected == ()
    assert twigcast("match", "fewer.txt", "a.xml").stdout == "a.xml\t1\n"


def test_a_namespace_line_that_binds_nothing_is_named_by_check_and_match(
    twigcast: Twigcast, place: Path
) -> None:
    (place / "rules.txt").write_text("# namespace p urn:all\n//item\n")
    for words in (("check", "rules.txt"), ("match", "rules.txt", "a.xml")):
        result = twigcast(*words)
        assert result.exit_code == 1
        assert "line 1" in result.output
        assert "write # namespace PREFIX = URI" in result.output


@pytest.mark.parametrize("words", [("check",), ("match",), ("aggregate",)], ids=" ".join)
def test_a_document_in_place_of_subscriptions_is_one_sentence(
    twigcast: Twigcast, place: Path, words: tuple[str, ...]
) -> None:
    (place / "news.xml").write_text('\ufeff<?xml version="1.0"?>\n<a>\n<b/>\n</a>\n')
    (place / "feed.zip").write_bytes(b"PK\x03\x04\x14\0\n\0\xff")
    (place / "feed.tgz").write_bytes(gzip.compress(b"<a/>"))
    (place / "feed.bz2").write_bytes(bz2.compress(b"<a/>"))
    (place / "feed.xz").write_bytes(lzma.compress(b"<a/>"))
    more = ("a.xml",) if words == ("match",) else ()
    (place / "feed.7z").write_bytes(b"7z\xbc\xaf\x27\x1c\0\4")
    with tarfile.open(place / "feed.tar", "w") as archive:
        archive.add(place / "a.xml", "a.xml")
    archives = ("feed.zip", "feed.tgz", "feed.bz2", "feed.xz", "feed.7z", "feed.tar")
    kinds = {"news.xml": "an XML document"} | dict.fromkeys(archives, "an archive")
    for name, kind in kinds.items():
        result = twigcast(*words, name, *more)
        assert (result.exit_code, result.stdout) == (2, "")
        assert result.stderr.startswith(f"twigcast: {name} is {kind}, not a file of subscriptions")
        assert result.stderr.count("\n") == 1


@pytest.mark.parametrize(
    "lines",
    ["a.xml\nb.xml\n", "feed/news.xml\nfeed/old.tar.gz\n//x\n", "x.xml\n", "rules.csv\na.xml\n"],
)
def test_a_list_of_files_is_pointed_out_and_still_checked(
    twigcast: Twigcast, place: Path, lines: str
) -> None:
    (place / "list.txt").write_text(lines)
    result = twigcast("check", "list.txt")
    assert result.exit_code == 0
    assert len(result.stdout.splitlines()) == len(lines.splitlines())
    assert result.stderr.count("list.txt looks like a list of files") == 1
    assert "looks like a list of files" in twigcast("match", "list.txt", "a.xml").stderr


@pytest.mark.skipif(shutil.which("xargs") is None, reason="needs xargs")
def test_the_command_for_a_list_of_files_works_with_any_name(
    twigcast: Twigcast, place: Path
) -> None:
    names = ["two words.xml", "it's.xml", "a.xml"]
    (place / "my list.txt").write_text("\n".join(names) + "\n")
    said = twigcast("check", "my list.txt").stderr
    advised = said.partition("to match the files: ")[2].splitlines()[0].removesuffix(")")
    shown = advised.replace("twigcast match RULES", "printf '%s|'")
    done = subprocess.run(
        ["/bin/sh", "-c", shown], cwd=place, capture_output=True, text=True, check=True
    )
    assert done.stdout == "".join(f"{name}|" for name in names)


@pytest.mark.parametrize("lines", ["//a\n", "body.content\n", "a.xml\n//b\n", "/a/b.c\n//x.xml\n"])
def test_expressions_are_not_taken_for_files(twigcast: Twigcast, place: Path, lines: str) -> None:
    (place / "rules.txt").write_text(lines)
    assert "list of files" not in twigcast("check", "rules.txt").stderr


def _matched(folder: Path, stdin: int) -> subprocess.CompletedProcess[str]:
    """What the program makes of rules on standard input."""
    (folder / "a.xml").write_text("<a/>")
    command = [str(EXECUTABLE), "match", "-", "a.xml"]
    return subprocess.run(
        command, cwd=folder, stdin=stdin, capture_output=True, text=True, check=False
    )


def test_rules_on_standard_input_are_read_from_where_it_stands(tmp_path: Path) -> None:
    (tmp_path / "rules.txt").write_text("/a\n//a\n")
    opened = os.open(tmp_path / "rules.txt", os.O_RDONLY)
    assert os.read(opened, 3) == b"/a\n"
    assert _matched(tmp_path, opened).stdout == "a.xml\t1\n"
    os.close(opened)


def test_rules_may_come_from_a_socket(tmp_path: Path) -> None:
    ours, theirs = socket.socketpair()
    with ours, theirs:
        ours.sendall(b"/b\n//a\n")
        ours.shutdown(socket.SHUT_WR)
        assert _matched(tmp_path, theirs.fileno()).stdout == "a.xml\t2\n"
