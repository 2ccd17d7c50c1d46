"""One engine on one definition, measured in a process of its own.

``python -m benchmarks.measure NAME ENGINE`` loads the workload, compiles, matches every document
twice, and prints a :class:`Measurement` as one line of JSON. Compile time, match time and memory
are kept apart; loading the workload counts for none of them. The first pass is told apart from the
second, since an engine may put off work until a document asks for it.
"""

from __future__ import annotations

import hashlib
import json
import resource
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TypeVar

from benchmarks.definitions import Definition, by_name
from benchmarks.workloads import ROOT, Workload, load

T = TypeVar("T")

STATUS = Path("/proc/self/status")


@dataclass(frozen=True, slots=True, kw_only=True)
class Measurement:
    """What one process found. ``clock`` says whether its times are CPU or wall seconds.

    ``match_s`` is the second pass over all documents. On Spark a few documents take the place of
    a first pass, and memory is not known, since it lies in many processes.
    """

    engine: str
    matches: int
    digest: str
    clock: str
    compile_s: float
    first_pass_s: float | None
    match_s: float
    held_bytes: int | None
    peak_bytes: int | None


def measure_apart(definition: Definition, engine: str) -> Measurement:
    """Measure in a fresh process, so that no run warms or burdens another."""
    command = [sys.executable, "-m", "benchmarks.measure", definition.name, engine]
    answer = subprocess.run(command, cwd=ROOT, stdout=subprocess.PIPE, text=True, check=True)
    return Measurement(**json.loads(answer.stdout.splitlines()[-1]))


def measure(definition: Definition, engine: str) -> Measurement:
    """Measure here and now."""
    workload = load(definition)
    if engine.startswith("spark "):
        from benchmarks.spark_engines import measure_on_spark

        return measure_on_spark(engine, workload)
    return measure_in_process(engine, workload)


def measure_in_process(engine: str, workload: Workload) -> Measurement:
    """Compile, then match every document twice, on the process's CPU clock."""
    from benchmarks.engines import ENGINES

    compile_expressions = ENGINES[engine]
    before_bytes = _memory_bytes("VmRSS")
    match, compile_s = timed(lambda: compile_expressions(workload.expressions), time.process_time)

    def match_all() -> list[tuple[int, ...]]:
        return [tuple(match(document)) for document in workload.documents]

    _, first_pass_s = timed(match_all, time.process_time)
    answers, match_s = timed(match_all, time.process_time)
    return Measurement(
        engine=engine,
        matches=sum(map(len, answers)),
        digest=digest(answers),
        clock="CPU",
        compile_s=compile_s,
        first_pass_s=first_pass_s,
        match_s=match_s,
        held_bytes=max(0, _memory_bytes("VmRSS") - before_bytes),
        peak_bytes=_memory_bytes("VmHWM"),
    )


def timed(action: Callable[[], T], clock: Callable[[], float]) -> tuple[T, float]:
    """The action's result and its seconds by the given clock."""
    start = clock()
    outcome = action()
    return outcome, clock() - start


def digest(answers: list[tuple[int, ...]]) -> str:
    """A fingerprint of who got what: equal counts alone could hide two errors that cancel."""
    return hashlib.sha256(repr(answers).encode()).hexdigest()[:16]


def _memory_bytes(line: str) -> int:
    """The memory held now (``VmRSS``) or at most so far (``VmHWM``), as Linux tells it.

    Elsewhere both are the peak that ``getrusage`` knows. On Linux that one would not do: a process
    inherits it from its parent.
    """
    if STATUS.exists():
        kib = STATUS.read_text(encoding="ascii").partition(f"{line}:")[2].split()[0]
        return int(kib) * 1024
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak if sys.platform == "darwin" else peak * 1024


if __name__ == "__main__":
    name, engine_name = sys.argv[1:]
    print(json.dumps(asdict(measure(by_name(name), engine_name))))
