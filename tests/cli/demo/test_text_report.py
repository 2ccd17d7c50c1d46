"""The demo on the screen, and as one object."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.cli.demo.pages import table, words
from twigcast.cli.demo.html_report import report
from twigcast.cli.demo.summary import DemoSummary
from twigcast.cli.demo.text_report import sums, text_lines

pytest.importorskip("pyspark")


def test_the_screen_tells_the_traffic_of_each_strategy(
    summary: DemoSummary, tmp_path: Path
) -> None:
    lines = list(text_lines(summary, tmp_path / "report.html"))
    start = lines.index("What each strategy sent over links")
    assert [line.split() for line in lines[start + 3 : start + 6]] == [
        ["strategy", "crossings", "needless", "MB", "routes"],
        ["flooding", "40", "80.0%", "2.0", "0"],
        ["best", "8", "none", "0.4", "4"],
    ]
    assert lines[start + 6] == "  The same 9 deliveries under every strategy."


def test_each_word_stands_for_one_number(summary: DemoSummary, tmp_path: Path) -> None:
    numbers: dict[str, set[str]] = {}
    counted = re.compile(
        r"(?<![\d.,])([\d,]+) (documents(?! a second)|deliveries|subscriptions|subscribers|brokers)"
    )
    lines = list(text_lines(summary, tmp_path / "report.html"))
    for text in ("\n".join(lines), words(report(summary))):
        for number, word in counted.findall(text):
            numbers.setdefault(word, set()).add(number)
    assert numbers == {
        "documents": {"20", str(summary.comparison.documents)},
        "deliveries": {"9"},
        "subscriptions": {"3"},
        "subscribers": {"2"},
        "brokers": {"3"},
    }


def test_the_rows_of_who_received_what_add_up(summary: DemoSummary, tmp_path: Path) -> None:
    lines = list(text_lines(summary, tmp_path / "report.html"))
    start = lines.index("Who received what") + 3
    assert lines[start].split() == ["subscriber", "subscriptions", "deliveries", "copies"]
    rows = [list(map(int, line.split()[-3:])) for line in lines[start + 1 : start + 3]]
    total = lines[start + 3].split()
    assert total == ["all", "2", *(str(sum(column)) for column in zip(*rows, strict=True))]
    assert total[2:] == ["3", str(summary.run.deliveries), str(summary.tally.copies)]
    shown = table(report(summary), "subscriber")
    assert shown[-1] == ["all 2", "3", "9", "8"]


def test_start_up_is_told_apart_from_work(summary: DemoSummary, tmp_path: Path) -> None:
    lines = list(text_lines(summary, tmp_path / "report.html"))
    start = lines.index("How long it took") + 1
    told_times = [line.split("  ", maxsplit=1)[1].split() for line in lines[start : start + 3]]
    assert [row[:3] for row in told_times] == [
        ["start-up", "9.0", "s"],
        ["compiling", "0.8", "s"],
        ["matching", "2.5", "s"],
    ]
    assert lines[start + 2].endswith(": 125.00 ms a document"), "2.5 s, 20 documents, no start-up"
    rows = table(report(summary), "step")
    assert [row[:2] for row in rows] == [
        ["start-up", "9.0"],
        ["compiling", "0.8"],
        ["matching", "2.5"],
    ]
    found = sums(summary, tmp_path / "report.html")
    assert found["seconds"] == {"start_up": 9.0, "compiling": 0.75, "matching": 2.5}


def test_as_one_object_it_tells_the_same(summary: DemoSummary, tmp_path: Path) -> None:
    found = sums(summary, tmp_path / "report.html")
    assert (found["deliveries"], found["copies"], found["brokers"]) == (9, 8, 3)
    assert found["traffic"] == [
        {
            "strategy": "flooding",
            "idea": "nothing & more",
            "crossings": 40,
            "needless": 32,
            "bytes": 2_000_000,
            "routes": 0,
        },
        {
            "strategy": "best",
            "idea": "something",
            "crossings": 8,
            "needless": 0,
            "bytes": 400_000,
            "routes": 4,
        },
    ]
