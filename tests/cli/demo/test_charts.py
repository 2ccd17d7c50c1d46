"""Charts of the demo: bars for ranges and for numbers."""

from __future__ import annotations

import pytest
from lxml import etree

from twigcast.cli.demo.charts import ChartBar, bars, histogram

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
