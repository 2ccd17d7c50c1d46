"""``twigcast aggregate``: the minimal covering set, merged, and made to fit."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from twigcast.files import read_subscriptions

if TYPE_CHECKING:
    from tests.cli.conftest import Twigcast

ORDER = (
    "<!ELEMENT order (item|gift|note)*> <!ELEMENT item (price)> <!ELEMENT gift (price)>"
    "<!ELEMENT note (#PCDATA)> <!ELEMENT price (#PCDATA)>"
)
LINES = [
    "//item[price > 10]",
    "# what follows is in the first line, too",
    "/order/item[price > 15]",
    "/order/item/price",
    "/order/gift/price",
    "/order/gift[price]",
]


@pytest.fixture
def orders(tmp_path: Path) -> str:
    (tmp_path / "order.dtd").write_text(ORDER)
    (tmp_path / "subs.txt").write_text("\n".join(LINES) + "\n")
    return "subs.txt"


def test_what_others_cover_is_left_out(twigcast: Twigcast, orders: str) -> None:
    result = twigcast("aggregate", orders)
    assert result.exit_code == 0
    assert result.stdout.splitlines() == [
        "//item[price > 10]",
        "/order/item/price",
        "/order/gift/price",
    ]
    assert result.stderr == "5 subscriptions, 4 different; 3 cover the others\n"


def test_what_is_printed_is_a_subscriptions_file(
    twigcast: Twigcast, orders: str, tmp_path: Path
) -> None:
    plain, objects = twigcast("aggregate", orders), twigcast("aggregate", orders, "--json")
    (tmp_path / "fewer.txt").write_text(plain.stdout)
    (tmp_path / "fewer.jsonl").write_text(objects.stdout)
    texts = read_subscriptions(tmp_path / "fewer.txt")
    rows = read_subscriptions(tmp_path / "fewer.jsonl")
    assert not texts.rejected + rows.rejected
    assert [one.xpath for one in texts.subscriptions] == [one.xpath for one in rows.subscriptions]
    assert [one.id for one in rows.subscriptions] == [1, 4, 5]
    assert twigcast("aggregate", "fewer.txt").stdout == plain.stdout


def test_json_names_the_ids_that_ask_for_the_same(twigcast: Twigcast, orders: str) -> None:
    result = twigcast("aggregate", orders, "--json")
    last = json.loads(result.stdout.splitlines()[-1])
    assert last == {"id": 5, "xpath": "/order/gift/price", "ids": [5, 6]}


def test_merging_is_perfect_unless_a_degree_is_given(twigcast: Twigcast, orders: str) -> None:
    result = twigcast("aggregate", orders, "--merge", "--dtd", "order.dtd", "--json")
    assert result.exit_code == 0
    first, second = map(json.loads, result.stdout.splitlines())
    assert first == {"id": 1, "xpath": "//item[price > 10]", "ids": [1]}
    assert second == {"id": 4, "xpath": "/order/*/price", "ids": [4, 5, 6], "degree": 0}
    assert result.stderr.splitlines()[1] == "merged: 2 expressions with 5 of 11 steps"


def test_a_degree_allows_more(twigcast: Twigcast, tmp_path: Path) -> None:
    (tmp_path / "order.dtd").write_text(ORDER)
    (tmp_path / "two.txt").write_text("/order/item\n/order/gift\n")
    words = ("aggregate", "two.txt", "--merge", "--dtd", "order.dtd")
    assert len(twigcast(*words).stdout.splitlines()) == 2
    result = twigcast(*words, "--degree", "0.5", "--json")
    (merged,) = map(json.loads, result.stdout.splitlines())
    assert merged["xpath"] == "/order/*"
    assert 0 < merged["degree"] <= 0.5


def test_a_budget_is_kept(twigcast: Twigcast, orders: str) -> None:
    result = twigcast("aggregate", orders, "--budget", "40", "--json")
    kept = [json.loads(line) for line in result.stdout.splitlines()]
    assert sorted(number for one in kept for number in one["ids"]) == [1, 4, 5, 6]
    assert result.stderr.splitlines()[1].startswith("for a budget of 40 %: ")
    assert any(one.get("degree", 0) is None for one in kept)
    smallest = twigcast("aggregate", orders, "--budget", "0")
    assert smallest.stdout == "//price\n"
    assert smallest.stderr.splitlines()[1] == "for a budget of 0 %: 1 expression with 1 of 11 steps"


def test_a_budget_and_merging_go_together(twigcast: Twigcast, orders: str) -> None:
    words = ("--merge", "--dtd", "order.dtd", "--budget", "30")
    result = twigcast("aggregate", orders, *words)
    assert result.exit_code == 0
    assert len(result.stdout.splitlines()) == 1


def test_namespaces_are_kept(twigcast: Twigcast, tmp_path: Path) -> None:
    rows = ["id,xpath,namespaces", "x,//p:a/p:b,p=urn:p", "y,//q:a,q=urn:p", "z,//q:a,q=urn:q"]
    (tmp_path / "subs.csv").write_text("\n".join(rows) + "\n")
    result = twigcast("aggregate", "subs.csv")
    assert result.stdout.splitlines() == ["//{urn:p}a", "//{urn:q}a"]


def test_bad_lines_are_named_and_the_others_done(twigcast: Twigcast, tmp_path: Path) -> None:
    (tmp_path / "subs.txt").write_bytes(b"//a[\n//a\n\xff\n//a/b\n")
    result = twigcast("aggregate", "subs.txt")
    assert (result.exit_code, result.stdout) == (1, "//a\n")
    first, second, _ = result.stderr.splitlines()
    assert first.startswith("twigcast: subs.txt, line 1: pattern '//a['")
    assert second.startswith("twigcast: subs.txt, line 3: ")


def test_an_expression_with_a_line_break_needs_json(twigcast: Twigcast, tmp_path: Path) -> None:
    (tmp_path / "subs.jsonl").write_text(json.dumps({"id": 1, "xpath": "//a[. = 'x\ny']"}) + "\n")
    result = twigcast("aggregate", "subs.jsonl")
    assert (result.exit_code, result.stdout) == (1, "")
    assert "has a line break in it; --json prints it" in result.stderr
    assert twigcast("aggregate", "subs.jsonl", "--json").exit_code == 0


@pytest.mark.parametrize(
    "words",
    [
        ("missing.txt",),
        ("subs.txt", "--merge"),
        ("subs.txt", "--degree", "0.1"),
        ("subs.txt", "--dtd", "order.dtd"),
        ("subs.txt", "--merge", "--dtd", "missing.dtd"),
        ("subs.txt", "--budget", "101"),
        ("subs.txt", "--merge", "--degree", "2", "--dtd", "order.dtd"),
    ],
)
@pytest.mark.usefixtures("orders")
def test_what_cannot_begin_is_a_matter_of_usage(twigcast: Twigcast, words: tuple[str, ...]) -> None:
    result = twigcast("aggregate", *words)
    assert (result.exit_code, result.stdout) == (2, "")
    assert result.stderr


@pytest.mark.usefixtures("orders")
@pytest.mark.parametrize("dtd", ["<!ELEMENT a (b", "<!ELEMENT a (a)>"])
def test_a_dtd_that_is_none_is_refused(twigcast: Twigcast, tmp_path: Path, dtd: str) -> None:
    (tmp_path / "bad.dtd").write_text(dtd)
    result = twigcast("aggregate", "subs.txt", "--merge", "--dtd", "bad.dtd")
    assert (result.exit_code, result.stdout) == (1, "")
    assert result.stderr.startswith("twigcast: ")


def test_a_file_without_subscriptions_gives_none(twigcast: Twigcast, tmp_path: Path) -> None:
    (tmp_path / "none.txt").write_text("# nothing yet\n")
    result = twigcast("aggregate", "none.txt", "--budget", "50")
    assert (result.exit_code, result.stdout) == (0, "")
    assert result.stderr.startswith("0 subscriptions, 0 different; 0 cover the others\n")


CONTENTS = (
    "<!ELEMENT a (x)> <!ELEMENT x (c)> <!ELEMENT c (p|q|s|d|e)> <!ELEMENT p EMPTY>"
    "<!ELEMENT q EMPTY> <!ELEMENT s EMPTY> <!ELEMENT d EMPTY> <!ELEMENT e EMPTY>"
)
PARTS = (
    "<!ELEMENT a (b|e)> <!ELEMENT b (c)> <!ELEMENT c (d)> <!ELEMENT e (f)> <!ELEMENT f (g)>"
    "<!ELEMENT g (d)> <!ELEMENT d EMPTY>"
)


@pytest.mark.parametrize(
    ("dtd", "lines", "degree", "merged"),
    [
        (CONTENTS, ["/a/*/c/d", "/a/*/c/e"], "0.7", ["/a/*/c/*"]),
        (CONTENTS, ["/a/*/c/d", "/a/*/c/e"], "0.5", ["/a/*/c/d", "/a/*/c/e"]),
        (PARTS, ["/a/b/c/d", "/a/e/f/g/d"], "0", ["/a//d"]),
    ],
)
def test_whatever_is_within_the_degree_is_merged(
    twigcast: Twigcast, tmp_path: Path, dtd: str, lines: list[str], degree: str, merged: list[str]
) -> None:
    (tmp_path / "a.dtd").write_text(dtd)
    (tmp_path / "a.txt").write_text("\n".join(lines) + "\n")
    result = twigcast("aggregate", "a.txt", "--merge", "--degree", degree, "--dtd", "a.dtd")
    assert result.stdout.splitlines() == merged
