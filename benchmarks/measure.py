"""One engine on one definition, measured in a process of its own.

``python -m benchmarks.measure NAME ENGINE`` loads the workload, compiles, matches every document
once, and prints a :class:`Measurement` as one line of JSON. Compile time, match time and memory
are kept apart; loading the workload counts for none of them.
"""

from __future__ import annotations

import hashlib
import json
import os
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

STATM = Path("/proc/self/statm")


@dataclass(frozen=True, slots=True, kw_only=True)
class Measurement:
    """What one process found. ``clock`` says whether its times are CPU or wall seconds.

    On Spark, where the memory lies in many processes, it is not known.
    """

    engine: str
    matches: int
    digest: str
    clock: str
    compile_s: float
    match_s: float
    compiled_bytes: int | None
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
    """Compile, then match every document once, on the process's CPU clock."""
    from benchmarks.engines import ENGINES

    compile_expressions = ENGINES[engine]
    before_bytes = _resident_bytes()
    match, compile_s = timed(lambda: compile_expressions(workload.expressions), time.process_time)
    compiled_bytes = _resident_bytes() - before_bytes
    answers, match_s = timed(
        lambda: [tuple(match(document)) for document in workload.documents], time.process_time
    )
    return Measurement(
        engine=engine,
        matches=sum(map(len, answers)),
        digest=digest(answers),
        clock="CPU",
        compile_s=compile_s,
        match_s=match_s,
        compiled_bytes=max(0, compiled_bytes),
        peak_bytes=peak_bytes(),
    )


def timed(action: Callable[[], T], clock: Callable[[], float]) -> tuple[T, float]:
    """The action's result and its seconds by the given clock."""
    start = clock()
    outcome = action()
    return outcome, clock() - start


def digest(answers: list[tuple[int, ...]]) -> str:
    """A fingerprint of who got what: equal counts alone could hide two errors that cancel."""
    return hashlib.sha256(repr(answers).encode()).hexdigest()[:16]


def peak_bytes() -> int:
    """The most memory this process has held so far (Linux counts it in KiB, macOS in bytes)."""
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak if sys.platform == "darwin" else peak * 1024


def _resident_bytes() -> int:
    """The memory held right now; where the system does not tell, the most so far."""
    if not STATM.exists():
        return peak_bytes()
    pages = int(STATM.read_text(encoding="ascii").split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE")


if __name__ == "__main__":
    name, engine_name = sys.argv[1:]
    print(json.dumps(asdict(measure(by_name(name), engine_name))))
