"""All records at a glance: which bars were met, and how cost grows with the subscriptions.

The overview (``records/README.md``) and the table of figures in the project's README are made from
the newest record of each definition. Nobody types them; a test holds the README to them. What was
measured elsewhere, by others, stands in ``elsewhere.json`` and is marked in the table.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from statistics import median
from typing import Any

from benchmarks.bars import Bar, bar_verdicts, shown
from benchmarks.workloads import ROOT

README = ROOT / "README.md"
ELSEWHERE = Path(__file__).with_name("elsewhere.json")
BEGIN, END = "<!-- figures: python -m benchmarks --readme -->\n", "<!-- end of figures -->\n"

KINDS = ("paths", "values", "branches")
SIZES = {"100": 100, "1k": 1_000, "10k": 10_000, "100k": 100_000, "1m": 1_000_000}
README_SIZES = ("1k", "10k", "100k")
PARSE = "lxml, parse alone"
ENGINES = {
    "native": "`native`",
    "streaming": "`streaming`",
    "one by one": "lxml, one by one",
}

Record = Mapping[str, Any]


def newest_records(folder: Path) -> dict[str, Record]:
    """The newest record of each definition, by name."""
    records: dict[str, Record] = {}
    for path in sorted(folder.glob("*.json")):  # Names begin with the date.
        record = json.loads(path.read_text(encoding="utf-8"))
        records[record["definition"]["name"]] = record
    return records


def write_overview(folder: Path) -> Path:
    """Write the overview into the folder of the records; gives its path."""
    records = newest_records(folder)
    path = folder / "README.md"
    page = ["# The newest record of each benchmark", _growth(records), _bars(records)]
    path.write_text("\n\n".join(filter(None, page)) + "\n", encoding="utf-8")
    return path


def write_readme(folder: Path) -> None:
    """Put the table of figures between its two marks in the README."""
    text = README.read_text(encoding="utf-8")
    before, _, rest = text.partition(BEGIN)
    after = rest.partition(END)[2]
    README.write_text(f"{before}{BEGIN}{figures(folder)}{END}{after}", encoding="utf-8")


def figures(folder: Path) -> str:
    """The README's table: CPU microseconds per document, warm, parsing included."""
    records = newest_records(folder)
    elsewhere = json.loads(ELSEWHERE.read_text(encoding="utf-8"))
    head = ["", *ENGINES.values(), PARSE, *(f"{name}, measured elsewhere" for name in elsewhere)]
    rows = [
        [
            f"{SIZES[size]:,} {kind}",
            *(_warm(records, kind, size, engine) for engine in ENGINES),
            _parse(records, kind, size),
            *(
                shown(1_000 * measured["milliseconds"][kind][size])
                for measured in elsewhere.values()
            ),
        ]
        for kind in KINDS
        for size in README_SIZES
    ]
    return f"{_table(head, rows)}\n{_provenance(records)}\n"


def _provenance(records: Mapping[str, Record]) -> str:
    """How the table's records were made: turns, commits (also changed ones), machine, samples."""
    shown_here = [
        record
        for name, record in records.items()
        if name in {f"nitf-{kind}-{size}" for kind in KINDS for size in README_SIZES}
    ]
    turns = min(map(_turns, shown_here), default=0)
    origins = {
        f"{record['date']}, commit {_short(record['commit'])}, "
        f"{record['machine']['processor']}, {record['machine']['cores']} cores"
        for record in shown_here
    }
    few = {
        f"{record['definition']['sampled'].get('one by one', 0)} at "
        f"{record['definition']['subscriptions']:,}": record["definition"]["subscriptions"]
        for record in shown_here
    }
    samples = ", ".join(sorted(few, key=few.__getitem__))
    return (
        f"Medians of {turns} turns or more: {'; '.join(sorted(origins))}. `streaming` and lxml one "
        f"by one got a sample of the documents: {samples}."
    )


def _turns(record: Record) -> int:
    return min(map(len, _runs(record).values()), default=0)


def _short(commit: str) -> str:
    """A commit in seven digits; that files had changed since stays in it."""
    number, space, rest = commit.partition(" ")
    return f"{number[:7]}{space}{rest}"


def _warm(records: Mapping[str, Record], kind: str, size: str, engine: str) -> str:
    return _median(records.get(f"nitf-{kind}-{size}"), engine, "warm_us")


def _parse(records: Mapping[str, Record], kind: str, size: str) -> str:
    return _median(records.get(f"nitf-{kind}-{size}"), "native", "parse_us")


def _median(record: Record | None, engine: str, figure: str) -> str:
    values = [run[figure] for run in _runs(record).get(engine, ()) if figure in run]
    return shown(median(values)) if values else "–"


def _runs(record: Record | None) -> dict[str, list[Mapping[str, float]]]:
    runs: dict[str, list[Mapping[str, float]]] = {}
    for measurement in record["measurements"] if record else ():
        if "figures" in measurement:
            runs.setdefault(measurement["engine"], []).append(measurement["figures"])
    return runs


def _growth(records: Mapping[str, Record]) -> str:
    """What a document costs against the number of path subscriptions."""
    present = [size for size in SIZES if f"nitf-paths-{size}" in records]
    rows = [
        [
            f"{SIZES[size]:,}",
            *(_warm(records, "paths", size, engine) for engine in ENGINES),
            _parse(records, "paths", size),
        ]
        for size in present
    ]
    head = ["paths", *ENGINES.values(), PARSE]
    caption = (
        "CPU microseconds per document of 6 KB, seen before, against the number of subscriptions:"
    )
    return f"{caption}\n\n{_table(head, rows)}" if rows else ""


def _bars(records: Mapping[str, Record]) -> str:
    lines = []
    for name, record in records.items():
        bars = [Bar(**_bar(stored)) for stored in record["definition"].get("bars", ())]
        lines += [
            f"- `{name}`, {record['date']}, turns: {_turns(record)}: {verdict.text}"
            for verdict in bar_verdicts(bars, _runs(record))
        ]
    return "\n".join(lines)


def _bar(stored: Mapping[str, Any]) -> dict[str, Any]:
    over = stored["over"]
    return {**stored, "over": over and (over[0], over[1])}


def _table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    lines = [" | ".join(head), "---" + " | ---:" * (len(head) - 1), *(" | ".join(r) for r in rows)]
    return "".join(f"| {line} |\n" for line in lines)
