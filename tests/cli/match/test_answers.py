"""Answers of ``twigcast match``: a line or an object for each document."""

from __future__ import annotations

import json
import os
import re
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from twigcast.cli.output import COMPLAINTS_MAX

if TYPE_CHECKING:
    from typer.testing import Result

    from tests.cli.conftest import Twigcast


pytestmark = pytest.mark.usefixtures("shop")


def objects(result: Result) -> list[dict[str, object]]:
    return [json.loads(line) for line in result.stdout.splitlines()]


def test_a_line_per_document_has_its_name_and_the_ids_that_match(twigcast: Twigcast) -> None:
    result = twigcast("match", "subs.csv", "good.xml", "cheap.xml", "--engine", "streaming")
    assert result.stdout == "good.xml\tb a\ncheap.xml\tb\n"
    assert re.fullmatch(r"2 documents, 3 matches in \d+\.\d s\n", result.stderr)
    assert result.exit_code == 0


def test_ids_of_a_text_file_are_line_numbers(twigcast: Twigcast) -> None:
    result = twigcast("match", "subs.txt", "good.xml", "cheap.xml", "--json")
    assert objects(result) == [
        {"document": "good.xml", "matches": [1, 3, 5]},
        {"document": "cheap.xml", "matches": [3]},
    ]


def test_ids_keep_their_type_and_the_order_of_the_file(twigcast: Twigcast) -> None:
    assert objects(twigcast("match", "subs.jsonl", "good.xml", "--json")) == [
        {"document": "good.xml", "matches": [7, "7"]}
    ]


def test_with_json_a_refused_document_is_an_object_in_its_place(twigcast: Twigcast) -> None:
    words = ("--json", "--engine", "streaming")
    result = twigcast("match", "subs.csv", "broken.xml", "nowhere.xml", "good.xml", *words)
    broken, nowhere, good = objects(result)
    assert set(broken) == set(nowhere) == {"document", "error"}
    assert "line 2" in str(broken["error"])
    assert nowhere["document"] == "nowhere.xml"
    assert good == {"document": "good.xml", "matches": ["b", "a"]}
    assert result.stderr.startswith("3 documents, 2 matches, 2 refused in ")
    assert result.exit_code == 1


def test_a_flood_of_complaints_is_cut_short(twigcast: Twigcast, tmp_path: Path) -> None:
    (tmp_path / "bad.txt").write_text("//a[\n" * (COMPLAINTS_MAX + 5))
    result = twigcast("match", "bad.txt", "good.xml", "--engine", "streaming")
    assert len(result.stderr.splitlines()) == COMPLAINTS_MAX + 1 + 1
    assert "and 5 more; twigcast check" in result.stderr


def test_a_name_that_is_no_utf_8_is_spelled_out(twigcast: Twigcast, tmp_path: Path) -> None:
    (tmp_path / "odd").mkdir()
    (tmp_path / "odd" / os.fsdecode(b"caf\xe9.xml")).write_text("<item/>")
    assert twigcast("match", "subs.csv", "odd").stdout == "odd/caf\\xe9.xml\tb\n"
