"""``python -m benchmarks``: every definition, every engine, several fresh processes each.

Engines take turns (first all engines once, then all of them again), so that a machine that slows
down for a minute slows all of them. Tables go to stdout, progress to stderr, records to
``benchmarks/records``. Exit 0 when every count was right (whether or not bars were met), 1 when one
was wrong, 2 for wrong usage.
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from pathlib import Path
from subprocess import CalledProcessError
from tempfile import TemporaryDirectory

from benchmarks import workloads
from benchmarks.definition import Definition
from benchmarks.definitions import DEFINITIONS, by_name
from benchmarks.machine import commit, machine, versions
from benchmarks.measure import Measurement, digest, measure_apart
from benchmarks.overview import write_overview, write_readme
from benchmarks.race import parts
from benchmarks.report import Setting, table, title, verdicts, write_record, wrong_answers
from benchmarks.workloads import CACHE_VARIABLE, ROOT, MissingWorkloadError

RECORDS = ROOT / "benchmarks" / "records"


def main(arguments: Sequence[str] | None = None) -> int:
    """Run what the command line asks for; the exit code."""
    options = _options().parse_args(arguments)
    if options.list:
        print("\n".join(title(definition) for definition in DEFINITIONS))
        return 0
    if options.readme:
        write_readme(options.records)
        return 0
    try:
        chosen = [by_name(name) for name in options.name] or usual(quick=options.quick)
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
    with TemporaryDirectory(prefix="twigcast-benchmarks-") as folder:
        os.environ.setdefault(CACHE_VARIABLE, folder)
        turns = 1 if options.quick else options.turns
        records = None if options.quick else options.records
        return race(chosen, turns=turns, records=records, setting=setting)


def usual(*, quick: bool) -> list[Definition]:
    """What runs when nothing is named; without the shared corpus, also what stands in for it."""
    return [
        definition
        for definition in DEFINITIONS
        if not (definition.stands_in and workloads.NITF.exists())
        and not (definition.heavy and quick)
    ]


def race(
    definitions: Sequence[Definition],
    *,
    turns: int | None,
    records: Path | None,
    setting: Setting,
    measure: Callable[[Definition, str], Measurement] = measure_apart,
) -> int:
    """Measure each definition, print its table, write its record; 1 if an answer was wrong."""
    wrong = False
    for definition in definitions:
        try:
            workloads.require(definition)
        except MissingWorkloadError as missing:
            print(f"{definition.name} is left out: {missing}", file=sys.stderr)
            continue
        try:
            measurements = _measurements(definition, turns or definition.turns, measure)
        except CalledProcessError as failed:
            print(f"{definition.name}: {failed}", file=sys.stderr)
            wrong = True
            continue
        lines = [title(definition), table(definition, measurements)]
        print("\n\n".join(["", *lines, *verdicts(definition, measurements)]), flush=True)
        complaints = list(wrong_answers(definition, measurements, _known(definition)))
        for complaint in complaints:
            print(f"{definition.name}: {complaint}", file=sys.stderr)
        wrong = wrong or bool(complaints)
        if records is not None and not complaints:
            write_record(records, definition, measurements, setting)
            write_overview(records)
    return int(wrong)


def _known(definition: Definition) -> dict[str, str]:
    answers = workloads.known_answers(definition) if definition.kind == "race" else None
    if answers is None:
        return {}
    return {part: digest(rows) for part, rows in parts(answers, definition)}


def _measurements(
    definition: Definition, turns: int, measure: Callable[[Definition, str], Measurement]
) -> list[Measurement]:
    measurements = []
    for turn in range(1, turns + 1):
        for engine in definition.engines:
            print(f"{definition.name}, turn {turn} of {turns}: {engine}", file=sys.stderr)
            measurements.append(measure(definition, engine))
    return measurements


def _options() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("name", nargs="*", help="definitions to run (default: all)")
    parser.add_argument("--turns", type=int, help="fresh processes per engine")
    parser.add_argument("--quick", action="store_true", help="one turn, no heavy ones, no record")
    parser.add_argument("--records", type=Path, default=RECORDS, help="where records go")
    parser.add_argument("--list", action="store_true", help="list the definitions")
    parser.add_argument(
        "--readme", action="store_true", help="put the newest records' table into the README"
    )
    return parser


if __name__ == "__main__":
    sys.exit(main())
