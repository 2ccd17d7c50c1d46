"""The report of ``twigcast demo``: plots, the network as a drawing, the page, the screen."""

from __future__ import annotations

import re
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from lxml import etree

from twigcast.cli.demo.baseline_timing import Comparison
from twigcast.cli.demo.charts import ChartBar, bars, histogram
from twigcast.cli.demo.delivery_counts import DeliveryCounts
from twigcast.cli.demo.feed import DemoFeed
from twigcast.cli.demo.html_report import report
from twigcast.cli.demo.near_miss import NearMiss
from twigcast.cli.demo.network_drawing import network_drawing
from twigcast.cli.demo.regions import country
from twigcast.cli.demo.strategy_traffic import LinkLoad, StrategyTraffic
from twigcast.cli.demo.summary import DemoSummary
from twigcast.cli.demo.text_report import sums, text_lines
from twigcast.files import Subscription
from twigcast.language import Document
from twigcast.matching import explain
from twigcast.routing import Topology

if TYPE_CHECKING:
    from lxml.etree import _Element

    from twigcast.spark import Run

pytest.importorskip("pyspark")


def test_a_plot_has_a_bar_for_each_range_and_loses_no_document() -> None:
    counts = {number: number * 3 for number in range(120)}
    plot = etree.fromstring(histogram(counts, across="readers", upwards="documents"))
    titles = [title.text or "" for title in plot.iter("title")]
    assert titles[:2] == ["0: 0", "1–10: 165"]
    assert sum(int(title.split(": ")[1].replace(",", "")) for title in titles) == sum(
        counts.values()
    )
    assert "readers (in steps of 10)" in [text.text for text in plot.iter("text")]


@pytest.mark.parametrize("counts", [{}, {0: 5}, {0: 0, 1: 1}, {7: 1_000_000}])
def test_a_plot_of_little_is_still_a_plot(counts: dict[int, int]) -> None:
    plot = etree.fromstring(histogram(counts, across="readers", upwards="documents"))
    heights = [float(bar.get("height", "-1")) for bar in plot.iter("rect")]
    assert all(0 <= height <= 300 for height in heights)


def test_bars_are_as_long_as_their_numbers_and_show_what_was_wasted() -> None:
    rows = [ChartBar("<all>", 200, 150), ChartBar("half", 100), ChartBar("nothing", 0)]
    plot = etree.fromstring(bars(rows, across="documents"))
    widths: dict[str, list[float]] = {kind: [] for kind in ("track", "bar", "bar none")}
    for bar in plot.iter("rect"):
        widths[bar.get("class", "")].append(float(bar.get("width", "-1")))
    assert widths == {"track": [440.0] * 3, "bar": [110.0, 220.0, 0.0], "bar none": [330.0]}
    titles = [title.text for title in plot.iter("title")]
    assert titles == ["<all>: 200, 150 of them needless", "half: 100", "nothing: 0"]


def test_a_network_is_drawn_with_lines_as_wide_as_their_traffic() -> None:
    topology = Topology.of({"links": [["hub", "a<b"], ["a<b", "c"], ["hub", "d"]]})
    links = {("hub", "a<b"): LinkLoad(20, 2_000_000, 0), ("a<b", "c"): LinkLoad(5, 500_000, 0)}
    drawing = etree.fromstring(network_drawing(topology, links, {"c": 7}, documents=20))
    paths = [path for path in drawing.iter("path") if "C" in path.get("d", "")]
    widths = {
        kind: [path.get("stroke-width") for path in paths if path.get("class") == kind]
        for kind in ("band", "line")
    }
    assert widths == {"band": ["15.0"] * 3, "line": ["15.00", "3.75"]}
    titles = [title.text for title in drawing.iter("title")]
    assert "hub → a<b: 20 crossings, 2.0 MB" in titles
    assert "hub → d: 0 crossings, 0.0 MB" in titles
    assert "c: 7 copies handed over" in titles


def test_no_two_names_of_the_drawn_country_overlap() -> None:
    topology = country()
    drawing = etree.fromstring(network_drawing(topology, {}, {}, documents=1))
    names = [text for text in drawing.iter("text") if text.text in topology.brokers]
    assert len(names) == len(topology.brokers)
    size = [float(part) for part in drawing.get("viewBox", "").split()[2:]]
    boxes = []
    for name in names:
        width = 9.0 * len(name.text or "")
        shift = width / 2 if name.get("text-anchor") == "middle" else 0.0
        left, bottom = float(name.get("x", "")) - shift, float(name.get("y", ""))
        boxes.append((left, bottom - 14, left + width, bottom + 4))
    assert all(
        left >= 0 and top >= 0 and right <= size[0] and bottom <= size[1]
        for left, top, right, bottom in boxes
    )
    for place, one in enumerate(boxes):
        for other in boxes[:place]:
            across = one[0] < other[2] and other[0] < one[2]
            upwards = one[1] < other[3] and other[1] < one[3]
            assert not (across and upwards)


def a_run() -> Run:
    from twigcast.spark import Run

    return Run(
        run="r1",
        out="out",
        batch=0,
        started=datetime(2026, 1, 2, tzinfo=UTC),
        strategy="best",
        plan="fused",
        shards=1,
        brokers=3,
        subscriptions=3,
        rejected=0,
        documents=20,
        bytes=1_000_000,
        deliveries=9,
        internal_errors=0,
        dead_letters=2,
        routes=4,
        crossings=8,
        needless=0,
        shard_visits=0,
        annotation_bytes=0,
        engine="lxml",
        matcher_version="v",
        matcher_loads=1,
        workers=1,
        partitions=1,
        seconds={
            "subscriptions": 0.25,
            "routes": 0.5,
            "listing": 0.125,
            "matching": 2.0,
            "writing": 0.375,
        },
    )


@pytest.fixture
def summary(tmp_path: Path) -> DemoSummary:
    one = Subscription("s1", "//a[. < 3][b]", subscriber="Fen & Co", broker="Fen")
    document = Document.parse(b"<a>1</a>", name="<d>.xml")
    tally = DeliveryCounts(
        documents=20,
        subscribers=2,
        deliveries=9,
        received={"Fen & Co": 7, "Lake Post": 1},
        delivered={"Fen & Co": 8, "Lake Post": 1},
        held={"Fen & Co": 2, "Lake Post": 1},
        receivers={0: 13, 1: 6, 2: 1},
        by_subscription={"s1": frozenset({"x"})},
        by_broker={"Fen": 7, "Lake": 1},
    )
    return DemoSummary(
        feed=DemoFeed(
            tmp_path / "feed.zip",
            tmp_path / "subs.csv",
            tmp_path / "topology.toml",
            document_count=20,
            subscription_count=3,
            subscribers=("Fen & Co", "Lake Post"),
        ),
        topology=Topology.of({"links": [["Hub", "Fen"], ["Hub", "Lake"]]}),
        start_up_s=9.0,
        run=a_run(),
        tally=tally,
        links={("Hub", "Fen"): LinkLoad(7, 350_000, 0), ("Hub", "Lake"): LinkLoad(1, 50_000, 0)},
        traffic=(
            StrategyTraffic("flooding", "nothing & more", 40, 32, 2_000_000, 0),
            StrategyTraffic("best", "something", 8, 0, 400_000, 4),
        ),
        near_miss=NearMiss(one, "<d>.xml", explain(one.xpath, document), by_one_predicate=True),
        comparison=Comparison(5, one_by_one=10.0, matcher=40.0),
        commands=("twigcast explain '//a[. < 3]' x.xml",),
        spark_version="4",
        seed=1,
    )


def elements(page: str) -> list[_Element]:
    """Every element of a page, which is written so that a strict parser can read it too."""
    return list(etree.fromstring(page.encode()).iter("*"))


def words(page: str) -> str:
    body = etree.fromstring(page.encode()).find("body")
    assert body is not None
    return " ".join("".join(map(str, body.itertext())).split())


def table(page: str, first_heading: str) -> list[list[str]]:
    """The rows below the headings of the table whose first heading is this one."""
    for found in elements(page):
        rows = [
            [" ".join("".join(map(str, cell.itertext())).split()) for cell in row]
            for row in found.iter("tr")
        ]
        if found.tag == "table" and rows[0][0] == first_heading:
            return rows[1:]
    raise AssertionError(f"no table begins with {first_heading}")


def test_the_page_needs_nothing_from_elsewhere(summary: DemoSummary) -> None:
    page = report(summary)
    found = elements(page)
    assert not {"script", "link", "iframe", "img"} & {str(element.tag) for element in found}
    assert not any({"src", "href", "srcset"} & set(element.attrib) for element in found)
    assert not re.search(r"url[(]|@import|https?:", page)


def test_every_picture_of_the_page_says_what_it_shows(summary: DemoSummary) -> None:
    pictures = [element for element in elements(report(summary)) if element.tag == "svg"]
    told_by = [picture.get("aria-label") or picture.get("aria-hidden") for picture in pictures]
    assert len(pictures) == 6
    assert all(told_by)


def test_the_page_tells_the_numbers_and_escapes_what_strangers_wrote(summary: DemoSummary) -> None:
    page = report(summary)
    text = words(page)
    assert "20.0%of the crossings of flooding" in text
    assert "2 dead letters, no rejected subscription" in text
    assert "there were 8 crossings, none needless" in text
    assert "13 of the 20 documents matched no subscription." in text
    assert "the same 9 deliveries came out" in text
    assert "//a[. < 3][b]" in text
    assert "<d>.xml" in text
    assert "<d>" not in page
    assert "Fen &amp; Co" in page
    assert "$" not in text


def test_the_page_has_a_row_for_each_strategy(summary: DemoSummary) -> None:
    rows = [element for element in elements(report(summary)) if element.tag == "tr"]
    told_rows = [
        [" ".join("".join(map(str, cell.itertext())).split()) for cell in row] for row in rows
    ]
    assert ["flooding", "nothing & more", "40", "80.0%", "2.0", "0"] in told_rows
    assert ["best", "something", "8", "none", "0.4", "4"] in told_rows


def test_the_page_does_without_a_near_miss(summary: DemoSummary) -> None:
    page = report(replace(summary, near_miss=None))
    assert "did not match" not in page


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


def style_of(page: str, *, narrow: bool) -> str:
    """The style sheet as it applies to a telephone (or to everything)."""
    (style,) = (element.text or "" for element in elements(page) if element.tag == "style")
    blocks = re.findall(r"@media \((\w+-width): [^)]*\) \{(?:[^{}]*\{[^{}]*\})*[^{}]*\}", style)
    assert {"min-width", "max-width"} <= set(blocks)
    if narrow:
        style = re.sub(r"@media \(min-width: [^)]*\) \{(?:[^{}]*\{[^{}]*\})*[^{}]*\}", "", style)
    return style


def test_nothing_on_the_page_is_wider_than_a_telephone(summary: DemoSummary) -> None:
    page = report(summary)
    metas = [e for e in elements(page) if e.tag == "meta" and e.get("name") == "viewport"]
    assert [meta.get("content") for meta in metas] == ["width=device-width, initial-scale=1"]
    style = style_of(page, narrow=True)
    pixels = {"px": 1, "rem": 16, "em": 16}
    widths = [
        float(number) * pixels[unit]
        for number, unit in re.findall(r"(?<!max-)width:\s*([\d.]+)(px|rem|em)", style)
    ]
    assert widths
    assert max(widths) <= 360
    sized = [e for e in elements(page) if e.tag in {"svg", "table", "div", "pre"}]
    assert not any({"width", "height"} & set(element.attrib) for element in sized)


def test_every_table_can_be_scrolled_and_every_picture_scales(summary: DemoSummary) -> None:
    found = elements(report(summary))
    tables = [element for element in found if element.tag == "table"]
    assert len(tables) == 3
    for element in tables:
        parent = element.getparent()
        assert parent is not None
        assert "wide" in (parent.get("class") or "").split()
        assert parent.get("aria-label")
    assert ".wide { overflow-x: auto; }" in style_of(report(summary), narrow=True)
    pictures = [element for element in found if element.tag == "svg"]
    assert all(picture.get("viewBox") for picture in pictures)


def test_a_telephone_has_the_network_as_a_list(summary: DemoSummary) -> None:
    page = report(summary)
    narrow = style_of(page, narrow=True)
    assert re.search(r"\.network \{[^}]*display: none", narrow)
    assert re.search(r"\.network-list \{[^}]*display: block", narrow)
    (shown,) = (element for element in elements(page) if element.get("class") == "network-list")
    assert float((shown.get("viewBox") or "").split()[2]) <= 360
    assert [text.text for text in shown.iter("text")] == [
        "Hub",
        "Fen",
        "7 copies",
        "Lake",
        "1 copy",
        "bars: crossings to the broker, of 20 documents",
    ]


def test_on_a_telephone_each_figure_of_a_strategy_has_its_label(summary: DemoSummary) -> None:
    labelled = [cell.get("data-label") for cell in elements(report(summary)) if cell.tag == "td"]
    labels = [label for label in labelled if label]
    assert labels == ["crossings", "needless", "MB", "routes"] * len(summary.traffic)


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
