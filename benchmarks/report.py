"""Reports: measurements as a verdict, a table and a dated record.

Counts come before seconds, since only counts reproduce elsewhere; seconds are given as the median
of the runs with their spread (smallest to largest). Below the table stands, for each bar, whether
it was met.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from statistics import median

from benchmarks.bars import bar_verdicts, shown
from benchmarks.definition import Definition
from benchmarks.measure import Measurement

HEADINGS = {
    "documents": "documents",
    "size_1_ms": "smallest document, CPU ms",
    "size_1_steps": "… steps",
    "size_2_ms": "4 times as large, CPU ms",
    "size_2_steps": "… steps",
    "size_3_ms": "16 times, CPU ms",
    "size_3_steps": "… steps",
    "size_4_ms": "64 times, CPU ms",
    "size_4_steps": "… steps",
    "case_ms": "slowest document, CPU ms",
    "growth": "steps grow with the size to the power of",
    "compile_s": "compile, CPU s",
    "ready_s": "first document after, s",
    "first_sight_us": "first sight, CPU µs per document",
    "warm_us": "warm, CPU µs per document",
    "parse_us": "parse alone, CPU µs",
    "times_parse": "× parse",
    "undecided": "undecided pairs",
    "residual": "beyond the index",
    "residual_add_us": "adding one of these, CPU µs",
    "bytes_per_subscription": "bytes per subscription",
    "learned_mib": "learned, MiB",
    "cache_of_budget": "of its budget",
    "peak_mib": "peak, MiB",
    "write_s": "to bytes, CPU s",
    "file_mib": "file, MiB",
    "megabytes": "MB",
    "elements": "elements",
    "first_ms": "first time, CPU ms",
    "warm_ms": "again, CPU ms",
    "parse_ms": "parse alone, CPU ms",
    "ns_per_byte": "CPU ns per byte",
    "naive_ms": "lxml, CPU ms per subscription",
    "adds_per_s": "adds per CPU second",
    "removes_per_s": "removes per CPU second",
    "slowest_add_ms": "slowest add, CPU ms",
    "slowest_remove_ms": "slowest remove, CPU ms",
    "slowest_wall_ms": "slowest of both, wall ms",
    "reached": "shards that a document reaches",
    "reached_share": "… of all",
    "needed_shards": "… that hold a match",
    "largest_shard": "largest shard, of the mean",
    "summary_patterns": "patterns of a summary",
    "summary_steps": "… steps",
    "split_s": "splitting, CPU s",
    "summary_s": "summaries, CPU s",
    "match_us": "match, CPU µs per document",
    "links_us": "match_links, CPU µs per document",
    "cpu_us": "CPU µs per document, all processes",
    "documents_per_cpu_s": "documents per CPU second",
    "whole_per_cpu_s": "… with the tables written",
    "documents_per_s": "documents per second",
    "listing_s": "listing and cutting, s",
    "worker_mb": "most that a worker held, MB",
    "java_share": "of it Java",
    "compile_cpu_s": "compile, CPU s of all processes",
    "covering_us": "what covers it, CPU µs",
    "covering_p99_us": "… 99th percentile",
    "covering_sample_us": "… mean of the sample",
    "covered_us": "what it covers, CPU µs",
    "covered_p99_us": "… 99th percentile",
    "covered_sample_us": "… mean of the sample",
    "pattern_nodes": "nodes of all patterns",
    "tree_nodes": "nodes of the tree",
    "nodes_shared": "pattern nodes for each of the tree",
    "decide_us": "router, CPU µs per document",
    "of_match": "router, of match",
    "of_links": "router, of match_links",
    "load_s": "filling its tables, CPU s",
    "subscriptions": "subscriptions",
    "distinct": "different patterns",
    "covered": "of these, others cover",
    "subscriptions_per_s": "subscriptions per CPU second",
    "batch_ms": "a batch, ms",
    "slowest_ms": "slowest batch, ms",
    "subscribe_messages": "subscribe",
    "unsubscribe_messages": "unsubscribe",
    "advertise_messages": "advertise",
    "unadvertise_messages": "unadvertise",
    "publish_messages": "publish",
    "messages": "messages in all, with those from clients",
    "of_plain": "of the first row",
    "of_plain_in_paper": "… in the paper",
    "forwarded": "forwarded in the end, over all links",
    "crossings": "links crossed by documents",
    "needless": "needlessly",
    "hop_ms": "ms per hop",
    "loads_per_worker": "loads of the matcher per worker",
    "routes": "routes of all brokers",
    "routes_most": "routes of the largest table",
    "usage_subscription_ms": "network usage, ms per subscription",
    "usage_publication_ms": "network usage, ms per document",
    "response_ms": "response, simulated ms",
    "real_s": "real seconds",
    "cpu_s": "CPU seconds",
}
"""How a table calls each figure, in the order of its columns."""

COUNTED = {
    "rules": "differences, matches",
    "deciding": "links, differences, deliveries",
    "subscribing": "patterns forwarded, messages, deliveries, differences",
    "simulation": "deliveries, failures, messages",
    "shards": "visits to shards, deliveries, differences",
    "disseminating": "deliveries",
    "routes": "routes, different patterns, covered ones; routes of the sample",
    "streaming": "differences",
    "programs": "deliveries",
}
"""What stands in the column of counts, where it is not matches."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Setting:
    """What a record says about how it came to be."""

    date: str
    command: str
    commit: str
    machine: dict[str, object]
    versions: dict[str, str]


def wrong_answers(
    definition: Definition, measurements: Sequence[Measurement], known: Mapping[str, str]
) -> Iterator[str]:
    """Each way in which the run contradicts its definition, what is known, or itself."""
    found = {(m.engine, part, n) for m in measurements for part, n in m.counts.items()}
    for engine, part, number in sorted(found):
        if number != definition.expected.get(part):
            right = definition.expected.get(part)
            there = "no number is expected" if right is None else f"there are {right:,}"
            yield f"{engine} found {number:,} matches ({part}); {there}"
    for part in sorted({part for m in measurements for part in m.digests}):
        digests = {m.digests[part] for m in measurements if part in m.digests}
        if len(digests) > 1:
            yield f"the engines disagree about which subscriptions match which document ({part})"
        elif part in known and digests != {known[part]}:
            yield f"the answers are not those that libxml2 gave ({part})"


def table(definition: Definition, measurements: Sequence[Measurement]) -> str:
    """The run as a Markdown table, one engine a line; figures that no engine has are left out."""
    present = {name for m in measurements for name in m.figures}
    assert present <= HEADINGS.keys(), present - HEADINGS.keys()
    names = [name for name in HEADINGS if name in present]
    counted = COUNTED.get(definition.kind, "matches")
    head = f"| engine | {counted} | {' | '.join(HEADINGS[name] for name in names)} |"
    rows = [
        _row([m for m in measurements if m.engine == engine], names)
        for engine in definition.engines
    ]
    return "\n".join([head, "| --- |" + " ---: |" * (len(names) + 1), *rows])


def _row(runs: Sequence[Measurement], names: Sequence[str]) -> str:
    counts = ", ".join(f"{number:,}" for number in dict.fromkeys(runs[0].counts.values()))
    cells = [_cell([m.figures[name] for m in runs if name in m.figures]) for name in names]
    return f"| {' | '.join([runs[0].engine, counts or '–', *cells])} |"


def _cell(values: Sequence[float]) -> str:
    """The median and the spread, or a dash where nothing was measured."""
    if not values:
        return "–"
    low, middle, high = (shown(value) for value in (min(values), median(values), max(values)))
    return middle if low == high else f"{middle} ({low} to {high})"


def verdicts(definition: Definition, measurements: Sequence[Measurement]) -> list[str]:
    """A line for each bar of the definition."""
    runs: dict[str, list[Mapping[str, float]]] = {}
    for measurement in measurements:
        runs.setdefault(measurement.engine, []).append(measurement.figures)
    return [verdict.text for verdict in bar_verdicts(definition.bars, runs)]


def title(definition: Definition) -> str:
    """The definition in one line."""
    shared = definition.workload.startswith(("nitf/", "rules/", "hard/"))
    drawn = "" if shared else f", seed {definition.seed}"
    counted = "documents" if definition.is_matched else "probes"
    documents = f", {definition.documents:,} {counted}" if definition.documents else ""
    return (
        f"{definition.name}: {definition.subscriptions:,} subscriptions of {definition.workload}"
        f"{drawn}{documents}"
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
    bars = "\n".join(f"- {line}" for line in verdicts(definition, measurements))
    page = [f"# {title(definition)}", _setting_text(setting), table(definition, measurements), bars]
    path.with_suffix(".md").write_text("\n\n".join(filter(None, page)) + "\n", encoding="utf-8")
    return path


def _setting_text(setting: Setting) -> str:
    libraries = ", ".join(f"{name} {number}" for name, number in setting.versions.items())
    machine = setting.machine
    return (
        f"{setting.date}, `{setting.command}`, commit {setting.commit}; "
        f"{machine['processor']}, {machine['cores']} cores, {machine['system']}; {libraries}."
    )
