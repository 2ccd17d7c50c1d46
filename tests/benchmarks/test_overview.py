"""The overview and the README's table come from records, the newest of each benchmark."""

from __future__ import annotations

import json
from pathlib import Path

from benchmarks.__main__ import RECORDS
from benchmarks.overview import BEGIN, END, README, figures, newest_records, write_overview


def record(folder: Path, date: str, name: str, native_us: float) -> None:
    content = {
        "definition": {
            "name": name,
            "subscriptions": 10_000,
            "sampled": {"one by one": 50},
            "bars": [
                {
                    "says": "at most twice the parse",
                    "engine": "native",
                    "figure": "warm_us",
                    "over": ["native", "parse_us"],
                    "at_most": 2,
                    "at_least": None,
                }
            ],
        },
        "date": date,
        "commit": "0123abcdef with changes",
        "machine": {"processor": "a chip", "cores": 2},
        "measurements": [
            {"engine": "native", "figures": {"warm_us": native_us, "parse_us": 80.0}},
            {"engine": "one by one", "figures": {"warm_us": 4000.0}},
        ],
    }
    (folder / f"{date}-{name}.json").write_text(json.dumps(content))


def test_the_newest_record_of_a_name_counts(tmp_path: Path) -> None:
    record(tmp_path, "2001-01-02", "nitf-paths-1k", 20)
    record(tmp_path, "2001-01-01", "nitf-paths-1k", 30)
    assert newest_records(tmp_path)["nitf-paths-1k"]["date"] == "2001-01-02"


def test_the_overview_tells_each_bar_and_how_cost_grows(tmp_path: Path) -> None:
    record(tmp_path, "2001-01-02", "nitf-paths-1k", 20)
    record(tmp_path, "2001-01-02", "nitf-paths-10k", 200)
    lines = write_overview(tmp_path).read_text().splitlines()
    assert "| 1,000 | 20 | – | 4,000 | 80 |" in lines
    assert "| 10,000 | 200 | – | 4,000 | 80 |" in lines
    told = "at most twice the parse; it was"
    assert f"- `nitf-paths-1k`, 2001-01-02, turns: 1: met: {told} 0.250" in lines
    assert f"- `nitf-paths-10k`, 2001-01-02, turns: 1: missed: {told} 2.50" in lines


def test_the_table_of_figures_marks_what_was_measured_elsewhere(tmp_path: Path) -> None:
    record(tmp_path, "2001-01-02", "nitf-values-10k", 70)
    lines = figures(tmp_path).splitlines()
    assert lines[0].endswith("| lxml, parse alone | YFilter 1.0 (Java), measured elsewhere |")
    assert "| 10,000 values | 70 | – | 4,000 | 80 | 1,720 |" in lines
    assert "| 100,000 values | – | – | – | – | 17,500 |" in lines
    assert lines[-1] == (
        "Medians of 1 turns or more: 2001-01-02, commit 0123abc with changes, a chip, 2 cores. "
        "`streaming` and lxml one by one got a sample of the documents: 50 at 10,000."
    )


def test_the_readme_shows_the_newest_records() -> None:
    shown = README.read_text().partition(BEGIN)[2].partition(END)[0]
    assert shown == figures(RECORDS), "run python -m benchmarks --readme"
