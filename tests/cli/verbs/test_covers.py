"""``twigcast covers``: one question, and files of them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from tests.cli.conftest import Twigcast

STOCKS = "<!ELEMENT stocks (stock*)> <!ELEMENT stock (price)> <!ELEMENT price (#PCDATA)>"


def test_a_question_is_answered_in_a_word(twigcast: Twigcast) -> None:
    for wider, narrower, answer in (("//a", "/a/b", "yes\n"), ("/a/b", "//a", "no\n")):
        result = twigcast("covers", wider, narrower)
        assert (result.exit_code, result.stdout, result.stderr) == (0, answer, "")


def test_json_repeats_the_question(twigcast: Twigcast) -> None:
    result = twigcast("covers", "//a", "/a/b", "--json")
    assert json.loads(result.stdout) == {"wider": "//a", "narrower": "/a/b", "covers": True}


def test_a_dtd_makes_more_coverings(twigcast: Twigcast, tmp_path: Path) -> None:
    (tmp_path / "stocks.dtd").write_text(STOCKS)
    question = ("covers", "/stocks/stock/price", "//price")
    assert twigcast(*question).stdout == "no\n"
    assert twigcast(*question, "--dtd", "stocks.dtd").stdout == "yes\n"


def test_prefixes_are_bound_for_both(twigcast: Twigcast) -> None:
    result = twigcast("covers", "//p:a", "//{urn:p}a/b", "--namespace", "p=urn:p")
    assert result.stdout == "yes\n"


def test_a_search_that_was_given_up_is_told(
    twigcast: Twigcast, monkeypatch: pytest.MonkeyPatch
) -> None:
    from twigcast.covering import Verdict

    monkeypatch.setattr(
        "twigcast.covering.decide", lambda **_: Verdict(covers=False, within_budget=False)
    )
    result = twigcast("covers", "/a", "/b")
    assert result.stdout == "no\n"
    assert "nobody knows" in result.stderr
    told = json.loads(twigcast("covers", "/a", "/b", "--json").stdout)
    assert told["within_budget"] is False


def test_a_bad_expression_is_pointed_at(twigcast: Twigcast) -> None:
    result = twigcast("covers", "//a[", "//a")
    assert (result.exit_code, result.stdout) == (1, "")
    assert result.stderr.startswith("twigcast: pattern '//a[', column 5: expected")
    assert result.stderr.splitlines()[1:] == ["  //a[", "      ^"]


@pytest.mark.parametrize(
    "words",
    [
        (),
        ("//a",),
        ("//a", "//b", "--pairs", "x"),
        ("//a", "--pairs", "x"),
        ("--pairs", "missing.tsv"),
        ("//a", "//b", "--dtd", "missing.dtd"),
        ("//a", "//b", "--namespace", "p"),
    ],
)
def test_what_cannot_begin_is_a_matter_of_usage(twigcast: Twigcast, words: tuple[str, ...]) -> None:
    result = twigcast("covers", *words)
    assert (result.exit_code, result.stdout) == (2, "")
    assert result.stderr.startswith("twigcast: ")


def test_a_dtd_that_is_none_is_refused(twigcast: Twigcast, tmp_path: Path) -> None:
    (tmp_path / "bad.dtd").write_text("<!ELEMENT a (b")
    result = twigcast("covers", "/a", "/b", "--dtd", "bad.dtd")
    assert (result.exit_code, result.stdout) == (1, "")
    assert "bad.dtd" in result.stderr


PAIRS = b"//a\t/a/b\n/a/b\t//a\n//a\n//a[\t//a\n\n\xff\t//a\n/a\t/b\t/c\n//b\t//b/c"


def test_each_line_of_pairs_gets_an_answer(twigcast: Twigcast, tmp_path: Path) -> None:
    (tmp_path / "pairs.tsv").write_bytes(PAIRS)
    result = twigcast("covers", "--pairs", "pairs.tsv")
    assert result.exit_code == 1
    assert result.stdout.split() == ["1", "0", "?", "?", "?", "?", "?", "1"]
    *bad, summary = result.stderr.splitlines()
    assert [line.split(":")[1] for line in bad] == [
        f" pairs.tsv, line {number}" for number in (3, 4, 5, 6, 7)
    ]
    assert "expected two expressions with a tab between, not 3" in bad[-1]
    assert summary == "2 coverings, 1 not, 5 bad lines"


def test_pairs_that_cannot_be_read_are_told_with_the_name_of_the_file(
    twigcast: Twigcast, tmp_path: Path
) -> None:
    (tmp_path / "pairs.tsv").write_text("//a\t//b\n", encoding="utf-16")
    result = twigcast("covers", "--pairs", "pairs.tsv")
    assert result.exit_code == 2
    assert "cannot read the pairs in pairs.tsv: it is UTF-16; save it as UTF-8" in result.stderr


def test_pairs_without_bad_lines_are_done(twigcast: Twigcast) -> None:
    result = twigcast("covers", "--pairs", "-", stdin=b"\xef\xbb\xbf//a\t//a\r\n//a\t/b\r\n")
    assert (result.exit_code, result.stdout) == (0, "1\n0\n")
    assert result.stderr == "1 covering, 1 not\n"


def test_pairs_can_be_told_in_json(twigcast: Twigcast) -> None:
    result = twigcast("covers", "--pairs", "-", "--json", stdin=b"//a\t//a/b\n//a\n")
    first, second = map(json.loads, result.stdout.splitlines())
    assert first == {"line": 1, "wider": "//a", "narrower": "//a/b", "covers": True}
    assert second["line"] == 2
    assert "tab" in second["error"]


def test_pairs_are_asked_under_a_dtd_too(twigcast: Twigcast, tmp_path: Path) -> None:
    (tmp_path / "stocks.dtd").write_text(STOCKS)
    words = ("covers", "--pairs", "-", "--dtd", "stocks.dtd")
    assert twigcast(*words, stdin=b"/stocks/stock/price\t//price\n").stdout == "1\n"


def test_no_is_an_exit_code_where_it_is_asked_for(twigcast: Twigcast, tmp_path: Path) -> None:
    assert twigcast("covers", "//a", "//b").exit_code == 0
    assert twigcast("covers", "//a", "//b", "--exit-code").exit_code == 1
    assert twigcast("covers", "//a", "//a/b", "--exit-code").exit_code == 0
    (tmp_path / "pairs.tsv").write_text("//a\t//a/b\n//a\t//b\n")
    assert twigcast("covers", "--pairs", "pairs.tsv").exit_code == 0
    assert twigcast("covers", "--pairs", "pairs.tsv", "--exit-code").exit_code == 1
