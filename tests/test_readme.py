"""What the README shows is what happens."""

from __future__ import annotations

import contextlib
import io
import json
import re
from itertools import pairwise
from pathlib import Path
from statistics import median

import pytest

from tools.readme import examples

ROOT = Path(__file__).resolve().parents[1]
README = ROOT / "README.md"

LINES_MAX = 220
"""What people read."""


def text() -> str:
    return README.read_text(encoding="utf-8")


def strategies() -> dict[str, list[str]]:
    """The rows of the demo's table in the README, by strategy."""
    rows = iter(text().splitlines())
    for line in rows:
        if line.split() == ["strategy", "crossings", "needless", "MB", "routes"]:
            break
    table = [line.split() for line in iter(lambda: next(rows), "")]
    return {name: figures for name, *figures in table}


@pytest.mark.parametrize("place", [0, 1], ids=["the eight lines", "a network"])
def test_lines_print_what_stands_below_them(place: int) -> None:
    example = examples()[place]
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        exec(compile(example.code, "README.md", "exec"), {})  # noqa: S102
    assert printed.getvalue() == example.output


def test_the_eight_lines_are_eight_and_need_no_spark() -> None:
    first = examples()[0].code
    assert len(first.splitlines()) <= 8
    assert "spark" not in first


def test_the_first_paragraph_is_one_sentence_and_a_picture_follows() -> None:
    _, sentence, picture, *_ = text().split("\n\n")
    assert len(re.findall(r"[.!?](?:\s|$)", sentence)) == 1
    assert re.fullmatch(r"!\[[^\]]{20,}\]\(docs/overview\.svg\)", picture)


def test_the_readme_is_short_enough_to_be_read() -> None:
    assert len(text().splitlines()) <= LINES_MAX


@pytest.mark.parametrize("command", ["pip install .", "make demo", "make test", "make wheels"])
def test_the_first_commands_are_named(command: str) -> None:
    assert re.search(rf"(?:^    |`){re.escape(command)}(?:`|\s|$)", text(), re.MULTILINE)


def test_installing_comes_before_the_lines_and_these_before_the_demo() -> None:
    places = [text().index(part) for part in ("pip install .", "```python", "make demo")]
    assert places == sorted(places)


def test_every_relative_link_and_picture_is_there() -> None:
    links = re.findall(r"\]\(([^)#]+)(?:#[^)]*)?\)", text())
    assert "docs/overview.svg" in links
    assert [link for link in links if ":" not in link and not (ROOT / link).exists()] == []


ADVISING = [
    README,
    *sorted((ROOT / "docs").glob("*.md")),
    *sorted((ROOT / "examples").glob("*.*")),
    *sorted((ROOT / "src" / "twigcast" / "spark").glob("*.py")),
]


@pytest.mark.parametrize("page", ADVISING, ids=lambda page: str(page.relative_to(ROOT)))
def test_nobody_is_advised_to_install_from_an_index_that_has_nothing(page: Path) -> None:
    assert not re.search(r"pip install\s+['\"]?twigcast\b", page.read_text(encoding="utf-8"))


@pytest.mark.parametrize(
    "paper",
    [
        "Chand, Felber: *Efficient Subscription Management in Content-based Networks*",
        "Tian, Patel, Jahanian: *Efficient Filtering and Routing in a Scalable XML-Based Publish",
        "Chan, Ni: *Efficient XML Data Dissemination with Piggybacking*",
        "Li, Hou, Jacobsen: *Content-based XML Data Dissemination*",
    ],
)
def test_the_papers_are_named(paper: str) -> None:
    assert paper in text()


def test_the_table_of_strategies_has_the_default_and_adds_up() -> None:
    rows = strategies()
    assert {"flooding", "identity", "covering", "advertised", "best"} <= rows.keys()
    (documents,) = re.findall(r"The demo carries ([\d,]+) documents", text())
    (links,) = re.findall(r"joined by ([\d,]+) links", text())
    flooded = int(documents.replace(",", "")) * int(links)
    assert rows["flooding"][0] == f"{flooded:,}"
    perfect = {rows[name][0] for name in ("identity", "covering", "advertised", "best")}
    assert len(perfect) == 1


def test_spark_pays_from_where_it_was_measured_to() -> None:
    records = sorted((ROOT / "benchmarks" / "records").glob("*-news-programs-3k.json"))
    assert records, "python -m benchmarks news-programs-3k"
    record = json.loads(records[-1].read_text(encoding="utf-8"))
    measurements = record["measurements"]
    spent: dict[tuple[str, int], list[float]] = {}
    for one in measurements:
        verb = one["engine"].split(",")[0]
        key = verb, int(one["figures"]["documents"])
        spent.setdefault(key, []).append(one["figures"]["cpu_s"])
    sizes = sorted({size for _, size in spent})
    ahead = {size: median(spent["run", size]) - median(spent["match", size]) for size in sizes}
    (crossing,) = (
        low + (high - low) * ahead[low] / (ahead[low] - ahead[high])
        for low, high in pairwise(sizes)
        if ahead[low] > 0 >= ahead[high]
    )
    (told,) = re.findall(r"cross at about \*\*([\d,]+) documents\*\*", text())
    assert int(told.replace(",", "")) == pytest.approx(crossing, rel=0.15)
    maker = re.sub(r"\(R\)| Processor", "", record["machine"]["processor"])
    assert f"{record['machine']['cores']} cores of an {maker}" in text()
    assert f"(benchmarks/records/{records[-1].stem}.md)" in text()
