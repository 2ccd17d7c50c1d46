"""``twigcast match``: where documents come from, refusals by name, exit codes."""

from __future__ import annotations

import gzip
import json
import zipfile
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from typer.testing import Result

    from tests.cli.conftest import Twigcast

pytestmark = pytest.mark.usefixtures("shop")

COSTLY = "//b[count(preceding::b[count(following::b) = 3]) = 2]"


def objects(result: Result) -> list[dict[str, object]]:
    return [json.loads(line) for line in result.stdout.splitlines()]


def test_a_bad_subscription_is_named_and_the_others_are_answered(twigcast: Twigcast) -> None:
    result = twigcast("match", "subs.txt", "good.xml")
    assert result.stdout == "good.xml\t1 3 5\n"
    assert "subs.txt, line 4, column 5: expected " in result.stderr
    assert result.exit_code == 1


def test_a_broken_document_is_named_and_the_others_are_answered(twigcast: Twigcast) -> None:
    result = twigcast("match", "subs.csv", "broken.xml", "good.xml", "--engine", "streaming")
    assert result.stdout == "good.xml\tb a\n"
    assert result.stderr.startswith("twigcast: broken.xml: line 2, column ")
    assert result.exit_code == 1


def test_a_missing_subscriptions_file_is_a_matter_of_usage(twigcast: Twigcast) -> None:
    result = twigcast("match", "nowhere.txt", "good.xml")
    assert result.exit_code == 2
    assert result.stdout == ""
    assert result.stderr.startswith("twigcast: cannot read the subscriptions in nowhere.txt")


def test_an_unknown_engine_is_a_matter_of_usage(twigcast: Twigcast) -> None:
    assert twigcast("match", "subs.csv", "good.xml", "--engine", "magic").exit_code == 2


def test_documents_come_from_folders_archives_and_standard_input(
    twigcast: Twigcast, tmp_path: Path
) -> None:
    (tmp_path / "feed" / "deep").mkdir(parents=True)
    (tmp_path / "feed" / "deep" / "a.xml").write_text("<item/>")
    (tmp_path / "feed" / "b.txt").write_text("<item/>")
    with zipfile.ZipFile(tmp_path / "feed.zip", "w") as archive:
        archive.writestr("c.xml", "<item/>")
    result = twigcast("match", "subs.csv", "feed", "feed.zip", "-", stdin=b"<other/>")
    assert result.stdout == "feed/deep/a.xml\tb\nfeed.zip!c.xml\tb\n-\t\n"
    assert result.exit_code == 0
    chosen = twigcast("match", "subs.csv", "feed", "--files", "*.txt")
    assert chosen.stdout == "feed/b.txt\tb\n"


def test_a_folder_without_documents_is_said(twigcast: Twigcast, tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    result = twigcast("match", "subs.csv", "empty")
    assert (result.exit_code, result.stdout) == (0, "")
    assert "--files" in result.stderr


def test_standard_input_cannot_be_both(twigcast: Twigcast) -> None:
    assert twigcast("match", "-", "-").exit_code == 2


def test_namespaces_of_a_subscription_are_used(twigcast: Twigcast, tmp_path: Path) -> None:
    (tmp_path / "n.xml").write_text('<item xmlns="urn:s"/>')
    assert twigcast("match", "subs.csv", "n.xml").stdout == "n.xml\tns\n"


def test_what_is_too_costly_is_undecided_and_said(twigcast: Twigcast, tmp_path: Path) -> None:
    (tmp_path / "costly.txt").write_text(f"{COSTLY}\n//a\n")
    (tmp_path / "large.xml").write_text(f"<a>{'<b/>' * 20_000}</a>")
    result = twigcast("match", "costly.txt", "large.xml", "--json")
    assert objects(result) == [{"document": "large.xml", "matches": [2], "undecided": [1]}]
    assert result.exit_code == 1
    spoken = twigcast("match", "costly.txt", "large.xml")
    assert spoken.stdout == "large.xml\t2\n"
    assert "too costly to decide on this document: 1" in spoken.stderr


def test_records_of_a_dump_are_documents(twigcast: Twigcast) -> None:
    dump = "<d xmlns:p='urn:p'><x><s>1</s></x><p:x/><!-- <x/> --><x/></d>"
    Path("dump.xml").write_text(dump)
    Path("dump.xml.gz").write_bytes(gzip.compress(dump.encode()))
    Path("s.txt").write_text("//s\n/x\n")
    for record in ("x", "/d/x"):
        result = twigcast("match", "s.txt", "dump.xml", "dump.xml.gz", "--record", record)
        assert result.stdout == (
            "dump.xml#1@19\t1 2\ndump.xml#2@53\t2\ndump.xml.gz#1@19\t1 2\ndump.xml.gz#2@53\t2\n"
        )
    result = twigcast("match", "s.txt", "dump.xml", "--record", "q:x", "--namespace", "q=urn:p")
    assert result.stdout == "dump.xml#1@34\t\n"
    result = twigcast("match", "s.txt", "dump.xml", "--record", "x", "--copy-to", "sorted")
    assert sorted(path.name for path in Path("sorted/2").iterdir()) == [
        "dump%231@19.xml",
        "dump%232@53.xml",
    ]


def test_what_is_wrong_with_records_is_told(twigcast: Twigcast) -> None:
    Path("dump.xml").write_text("<d><x/><x></d>")
    Path("s.txt").write_text("/x\n")
    result = twigcast("match", "s.txt", "dump.xml", "--record", "x")
    assert (result.stdout, result.exit_code) == ("dump.xml#1@3\t1\n", 1)
    assert "dump.xml#2@14: the dump is damaged at byte 14, and not read from there" in result.stderr
    Path("whole.xml").write_text("<d><x/></d>")
    result = twigcast("match", "s.txt", "whole.xml", "--record", "y")
    assert "Or no element is y: NAME is one in no namespace, *:NAME one in any." in result.stderr
    result = twigcast("match", "s.txt", "dump.xml", "--record", "x", "--document-bytes-max", "2")
    assert "--document-bytes-max raises it" in result.stderr
    assert twigcast("match", "s.txt", "dump.xml", "--record", "x[1]").exit_code == 2
    moved = twigcast("match", "s.txt", "dump.xml", "--record", "x", "--move-to", "sorted")
    assert "can only be copied" in moved.stderr
    assert moved.exit_code == 2
