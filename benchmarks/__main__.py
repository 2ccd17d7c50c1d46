"""``python -m benchmarks``: every definition, every engine, several fresh processes each.

Engines take turns (first all engines once, then all of them again), so that a machine that slows
down for a minute slows all of them. Tables go to stdout, progress to stderr, records to
``benchmarks/records``. Exit 0 when every count was right, 1 when one was wrong, 2 for wrong usage.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from pathlib import Path

from benchmarks.definitions import DEFINITIONS, Definition, by_name
from benchmarks.machine import commit, machine, versions
from benchmarks.measure import Measurement, measure_apart
from benchmarks.report import Setting, table, title, write_record, wrong_answers
from benchmarks.workloads import ROOT, MissingWorkloadError, load

RECORDS = ROOT / "benchmarks" / "records"
REPEATS = 5
"""Enough for a median that one disturbed run does not move."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run what the command line asks for; the exit code."""
    options = _options().parse_args(arguments)
    if options.list:
        print("\n".join(title(definition) for definition in DEFINITIONS))
        return 0
    try:
        chosen = [by_name(name) for name in options.name] or DEFINITIONS
    except KeyError as error:
        print(error.args[0], file=sys.stderr)
        return 2
    setting = Setting(
        date=datetime.now(tz=UTC).date().isoformat(),
        command=" ".join(["python -m benchmarks", *(arguments or sys.argv[1:])]),
        commit=commit(),
        machine=machine(),
        versions=versions(),
    )
    return race(chosen, repeats=options.repeats, records=options.records, setting=setting)


def race(
    definitions: Sequence[Definition],
    *,
    repeats: int,
    records: Path,
    setting: Setting,
    measure: Callable[[Definition, str], Measurement] = measure_apart,
) -> int:
    """Measure each definition, print its table, write its record; 1 if an answer was wrong."""
    wrong = False
    for definition in definitions:
        try:
            load(definition)
        except MissingWorkloadError as missing:
            print(f"{definition.name} is left out: {missing}", file=sys.stderr)
            continue
        measurements = _measurements(definition, repeats, measure)
        print(f"\n{title(definition)}\n\n{table(definition, measurements)}", flush=True)
        complaints = list(wrong_answers(definition, measurements))
        for complaint in complaints:
            print(f"{definition.name}: {complaint}", file=sys.stderr)
        if complaints:
            wrong = True
        else:
            write_record(records, definition, measurements, setting)
    return int(wrong)


def _measurements(
    definition: Definition, repeats: int, measure: Callable[[Definition, str], Measurement]
) -> list[Measurement]:
    measurements = []
    for turn in range(1, repeats + 1):
        for engine in definition.engines:
            print(f"{definition.name}, run {turn} of {repeats}: {engine}", file=sys.stderr)
            measurements.append(measure(definition, engine))
    return measurements


def _options() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument("name", nargs="*", help="definitions to run (default: all)")
    parser.add_argument("--repeats", type=int, default=REPEATS, help="fresh processes per engine")
    parser.add_argument("--records", type=Path, default=RECORDS, help="where records go")
    parser.add_argument("--list", action="store_true", help="list the definitions")
    return parser


if __name__ == "__main__":
    sys.exit(main())
