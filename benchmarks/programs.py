"""The kind ``programs``: ``match`` and ``run`` from call to exit, start-up included.

The "engines" are a verb and a number of documents, such as ``run, 20,000 documents``. Both verbs
read the same zip files and the same subscriptions. ``match`` prints its answers into a file,
``run`` starts Spark on all cores and writes tables. Who waits for the answer wants to know which of
the two is done first, so the wall clock counts; CPU seconds of all processes stand beside it,
since other work on the machine disturbs them less.
"""

from __future__ import annotations

import json
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from itertools import islice
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory

import pyarrow.parquet

from benchmarks.definition import Definition
from benchmarks.measure import Measurement
from benchmarks.processes import used
from benchmarks.workloads import cache_folder, drawn
from twigcast.cli.output_files import write_zip
from twigcast.files.schemas import shipped_schema
from twigcast.workload import generate_documents

ZIP_DOCUMENTS = 20_000
"""Documents of one zip file."""

LOOK_EVERY_S = 0.1
"""What a program has used is looked up so often, since nobody can ask once it has ended."""


def measured(definition: Definition, engine: str) -> Measurement:
    """Run one program over as many documents as the engine's name says."""
    verb, size = engine.removesuffix(" documents").split(", ", maxsplit=1)
    documents = int(size.replace(",", ""))
    rules, archives = _subscriptions(definition), _archives(definition, documents)
    with TemporaryDirectory() as folder:
        program = {"match": _match, "run": _run}[verb]
        real_s, cpu_s, deliveries = program(rules, archives, Path(folder))
    return Measurement(
        engine=engine,
        counts={f"{size} documents": deliveries},
        figures={
            "documents": documents,
            "real_s": real_s,
            "cpu_s": cpu_s,
            "documents_per_s": documents / real_s,
        },
    )


def _match(rules: Path, archives: Sequence[Path], folder: Path) -> tuple[float, float, int]:
    answers = folder / "answers.jsonl"
    real_s, cpu_s = _called(["match", "--json", str(rules), *map(str, archives)], answers)
    with answers.open(encoding="utf-8") as lines:
        return real_s, cpu_s, sum(len(json.loads(line)["matches"]) for line in lines)


def _run(rules: Path, archives: Sequence[Path], folder: Path) -> tuple[float, float, int]:
    tables = folder / "tables"
    command = ["run", "--subscriptions", str(rules), "--out", str(tables)]
    for archive in archives:
        command += ["--publications", str(archive)]
    real_s, cpu_s = _called(command, folder / "printed.txt")
    metrics = pyarrow.parquet.read_table(tables / "metrics", columns=["deliveries"])
    return real_s, cpu_s, int(metrics.to_pylist()[0]["deliveries"])


def _called(arguments: Sequence[str], printed: Path) -> tuple[float, float]:
    """The wall-clock and CPU seconds of one call of the program and of all that it starts."""
    command = [sys.executable, "-c", "from twigcast.cli import main; main()", *arguments]
    before, begun = used(), time.perf_counter()
    with printed.open("wb") as file, subprocess.Popen(command, stdout=file) as program:
        after = used()
        while program.poll() is None:
            after = used()
            try:
                program.wait(LOOK_EVERY_S)
            except subprocess.TimeoutExpired:
                continue
        real_s = time.perf_counter() - begun
    if program.returncode:
        raise subprocess.CalledProcessError(program.returncode, command)
    return real_s, (after - before).all_s


def _subscriptions(definition: Definition) -> Path:
    path = cache_folder() / f"{definition.name}.txt"
    if not path.exists():
        source, _, shape = definition.workload.partition("/")
        expressions = drawn(source, shape, seed=definition.seed, count=definition.subscriptions)
        path.write_text("\n".join(expressions), encoding="utf-8")
    return path


def _archives(definition: Definition, documents: int) -> list[Path]:
    """Zip files with the first documents, drawn once for all processes of a run."""
    folder = cache_folder() / f"{definition.name}-{documents}"
    if not folder.exists():
        unfinished = folder.with_suffix(".tmp")
        named = iter(_named(definition, documents))
        for number in range(0, documents, ZIP_DOCUMENTS):
            write_zip(unfinished / f"{number:07}.zip", islice(named, ZIP_DOCUMENTS))
        unfinished.replace(folder)
    return sorted(folder.glob("*.zip"))


def _named(definition: Definition, documents: int) -> Iterator[tuple[str, bytes]]:
    rng = Random(definition.seed + 1)
    drawn_ones = generate_documents(shipped_schema("news"), rng=rng, count=documents)
    return ((f"{number:07}.xml", content) for number, content in enumerate(drawn_ones))
