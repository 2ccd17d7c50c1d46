"""From measurements to a verdict, a table and a dated record.

Counts come before seconds, since only counts reproduce elsewhere; seconds are given as the median
of the runs with their spread (smallest to largest), and as a ratio to the parse-only floor of the
same run.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from statistics import median

from benchmarks.definitions import Definition
from benchmarks.measure import Measurement

MIB = 1024 * 1024


@dataclass(frozen=True, slots=True, kw_only=True)
class Setting:
    """What a record says about how it came to be."""

    date: str
    command: str
    commit: str
    machine: dict[str, object]
    versions: dict[str, str]


def wrong_answers(definition: Definition, measurements: Sequence[Measurement]) -> Iterator[str]:
    """Each way in which the run contradicts its definition or itself."""
    answering = [m for m in measurements if not is_floor(m.engine)]
    for engine, found in sorted({(m.engine, m.matches) for m in answering}):
        if found != definition.expected:
            yield f"{engine} found {found:,} matches; there are {definition.expected:,}"
    if len({m.digest for m in answering}) > 1:
        yield "the engines disagree about which subscriptions match which document"


def is_floor(engine: str) -> bool:
    """Whether the engine only parses, and so answers nothing."""
    return engine.endswith("parse")


def table(definition: Definition, measurements: Sequence[Measurement]) -> str:
    """The run as a Markdown table, one engine a line."""
    clock = measurements[0].clock
    floor = median(m.match_s for m in measurements if m.engine == definition.floor)
    head = (
        f"| engine | matches | compile ms ({clock}) | first pass, ms per document "
        "| ms per document, spread | × floor | held MiB | peak MiB |"
    )
    rows = [
        _row(definition, [m for m in measurements if m.engine == engine], floor)
        for engine in definition.engines
    ]
    return "\n".join([head, "| --- |" + " ---: |" * 7, *rows])


def _row(definition: Definition, runs: Sequence[Measurement], floor: float) -> str:
    engine = runs[0].engine
    per_document_ms = sorted(1_000 * run.match_s / definition.documents for run in runs)
    cells = (
        engine,
        "–" if is_floor(engine) else f"{runs[0].matches:,}",
        f"{1_000 * median(run.compile_s for run in runs):,.0f}",
        _median([run.first_pass_s for run in runs], 1_000 / definition.documents, digits=3),
        f"{median(per_document_ms):.3f}, {per_document_ms[0]:.3f} to {per_document_ms[-1]:.3f}",
        f"{median(run.match_s for run in runs) / floor:,.1f}",
        _median([run.held_bytes for run in runs], 1 / MIB, digits=1),
        _median([run.peak_bytes for run in runs], 1 / MIB, digits=1),
    )
    return f"| {' | '.join(cells)} |"


def _median(values: Sequence[float | None], unit: float, *, digits: int) -> str:
    """The median in the given unit, or a dash where nothing was measured."""
    known = [value for value in values if value is not None]
    return f"{median(known) * unit:,.{digits}f}" if known else "–"


def title(definition: Definition) -> str:
    """The definition in one line."""
    drawn = f", seed {definition.seed}" if definition.workload == "news" else ""
    return (
        f"{definition.name}: {definition.subscriptions:,} subscriptions of {definition.workload}"
        f"{drawn}, {definition.documents:,} documents, {definition.expected:,} matches"
    )


def write_record(
    folder: Path, definition: Definition, measurements: Sequence[Measurement], setting: Setting
) -> Path:
    """Write ``DATE-NAME.json`` with every single run, and the table beside it; gives the first."""
    folder.mkdir(parents=True, exist_ok=True)
    record = {
        "definition": asdict(definition),
        **asdict(setting),
        "measurements": [asdict(measurement) for measurement in measurements],
    }
    path = folder / f"{setting.date}-{definition.name}.json"
    path.write_text(json.dumps(record, indent=1) + "\n", encoding="utf-8")
    page = "\n\n".join(
        [f"# {title(definition)}", _setting_text(setting), table(definition, measurements)]
    )
    path.with_suffix(".md").write_text(page + "\n", encoding="utf-8")
    return path


def _setting_text(setting: Setting) -> str:
    libraries = ", ".join(f"{name} {number}" for name, number in setting.versions.items())
    machine = setting.machine
    return (
        f"{setting.date}, `{setting.command}`, commit {setting.commit}; "
        f"{machine['processor']}, {machine['cores']} cores, {machine['system']}; {libraries}."
    )
