"""``twigcast check``: a verdict for each line, in the order of the file."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from tests.cli.conftest import Twigcast


@pytest.fixture
def mixed(tmp_path: Path) -> str:
    lines = ["//a[c][b]", "//a[b and c]", "//a[2]", "/stock//[1]", "//a[b]"]
    (tmp_path / "mixed.txt").write_text("\n".join(lines) + "\n", encoding="utf-8")
    return "mixed.txt"


def verdicts(twigcast: Twigcast, *words: str) -> list[dict[str, object]]:
    return [json.loads(line) for line in twigcast("check", *words, "--json").stdout.splitlines()]


def test_each_line_is_exact_or_residual_or_an_error(twigcast: Twigcast, mixed: str) -> None:
    result = twigcast("check", mixed)
    assert result.stdout.splitlines() == [
        "1  exact     //a[b]/c",
        "2  exact     //a[b]/c  (same as 1)",
        "3  residual  //a[2]",
        "4  error     /stock//[1]",
        "                     ^ column 9: expected a name or '*' after '//'",
        "5  exact     //a/b",
    ]
    assert result.stderr == "5 lines: 3 exact, 1 residual, 1 error; 1 duplicate\n"
    assert result.exit_code == 1


def test_json_has_the_same_in_parts(twigcast: Twigcast, mixed: str) -> None:
    _, second, third, fourth, _ = verdicts(twigcast, mixed)
    assert second["canonical"] == "//a[b]/c"
    assert second["duplicate_of"] == 1
    assert (third["kind"], third["necessary"]) == ("residual", "//a")
    assert (fourth["kind"], fourth["column"], fourth["line"]) == ("error", 9, 4)
    assert "canonical" not in fourth


def test_an_error_comes_with_what_to_write_instead(twigcast: Twigcast, tmp_path: Path) -> None:
    (tmp_path / "later.txt").write_text("//a[b eq 'x']\n//a[b == 'x']\n")
    result = twigcast("check", "later.txt")
    assert result.stdout.splitlines() == [
        "1  error     //a[b eq 'x']",
        "                   ^ column 7: expected XPath 1.0, but 'eq' is an operator of XPath 2.0",
        "             hint: write //a[b = 'x']",
        "2  error     //a[b == 'x']",
        "                   ^ column 7: expected '=' instead of '=='",
        "             hint: did you mean //a[b = 'x']?",
    ]
    first = verdicts(twigcast, "later.txt")[0]
    assert (first["column"], first["hint"]) == (7, "write //a[b = 'x']")


def test_expressions_that_say_nothing_of_a_document_are_pointed_out(
    twigcast: Twigcast, tmp_path: Path
) -> None:
    (tmp_path / "idle.txt").write_text("'storm'\n//a[self::b]\n")
    assert twigcast("check", "idle.txt").stdout.splitlines() == [
        "1  exact     true()  (every document matches)",
        "2  exact     false()  (no document can match)",
    ]


def test_errors_alone_can_be_asked_for(twigcast: Twigcast, mixed: str) -> None:
    assert [one["id"] for one in verdicts(twigcast, mixed, "--errors")] == [4]


def test_a_file_without_errors_is_done(twigcast: Twigcast, tmp_path: Path) -> None:
    (tmp_path / "fine.txt").write_text("//a\n")
    assert twigcast("check", "fine.txt").exit_code == 0


def test_lines_that_cannot_be_read_keep_their_place(twigcast: Twigcast, tmp_path: Path) -> None:
    lines = ['{"id": "x", "xpath": "//a"}', "nonsense", '{"id": "x", "xpath": "//b"}']
    (tmp_path / "some.jsonl").write_text("\n".join([*lines, '{"id": 2, "xpath": "//a"}']))
    first, second, third, fourth = verdicts(twigcast, "some.jsonl")
    assert (first["id"], first["kind"]) == ("x", "exact")
    assert (second["id"], second["line"], second["kind"]) == (None, 2, "error")
    assert "taken by line 1" in str(third["error"])
    assert fourth["duplicate_of"] == "x"
    assert "\n-  error     line 2, the line is not JSON" in twigcast("check", "some.jsonl").stdout


def test_equal_meaning_in_other_prefixes_is_a_duplicate(twigcast: Twigcast, tmp_path: Path) -> None:
    rows = ["id,xpath,namespaces", "one,//p:a,p=urn:x", "two,//q:a,q=urn:x", "three,//p:a,p=urn:y"]
    (tmp_path / "some.csv").write_text("\n".join(rows))
    assert [one.get("duplicate_of") for one in verdicts(twigcast, "some.csv")] == [
        None,
        "one",
        None,
    ]


def test_a_missing_file_is_a_matter_of_usage(twigcast: Twigcast) -> None:
    result = twigcast("check", "nowhere.txt")
    assert (result.exit_code, result.stdout) == (2, "")


def test_what_is_meant_otherwise_brings_a_warning_and_is_no_error(
    twigcast: Twigcast, tmp_path: Path
) -> None:
    (tmp_path / "flags.txt").write_text("//a[p:b = true()]\n//a\n//c[@d = false()]\n")
    bound = ("flags.txt", "--namespace", "p=urn:p")
    result = twigcast("check", *bound)
    warning = (
        "p:b = true() holds in XPath 1.0 where there is p:b; "
        "XPath 2.0 would compare the value: for that write p:b = 'true'"
    )
    assert result.stdout.splitlines()[:3] == [
        "1  exact     //a/{urn:p}b",
        f"             warning: {warning}",
        "2  exact     //a",
    ]
    assert result.stderr == "3 lines: 3 exact, 0 residual, 0 errors; 0 duplicates, 2 warnings\n"
    assert result.exit_code == 0
    first, second, _ = verdicts(twigcast, *bound)
    assert (first["warnings"], "warnings" in second) == ([warning], False)
    assert twigcast("check", *bound, "--errors").stdout == ""
