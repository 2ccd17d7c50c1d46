"""One engine on one definition, measured in a process of its own.

``python -m benchmarks.measure NAME ENGINE`` loads the workload, does what the definition's kind
asks for, and prints a :class:`Measurement` as one line of JSON.
"""

from __future__ import annotations

import gc
import hashlib
import json
import resource
import subprocess
import sys
from array import array
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from importlib import import_module
from pathlib import Path
from typing import TypeVar

from benchmarks.definition import Definition
from benchmarks.definitions import by_name
from benchmarks.workloads import ROOT

T = TypeVar("T")

STATUS = Path("/proc/self/status")


@dataclass(frozen=True, slots=True, kw_only=True)
class Measurement:
    """What one process found.

    ``counts`` must be those that the definition expects under the same names, ``digests`` those
    that all other engines found under the same names. The unit of a figure ends its name.
    """

    engine: str
    counts: Mapping[str, int] = field(default_factory=dict)
    digests: Mapping[str, str] = field(default_factory=dict)
    figures: Mapping[str, float]


def measure_apart(definition: Definition, engine: str) -> Measurement:
    """Measure in a fresh process, so that no run warms or burdens another."""
    command = [sys.executable, "-m", "benchmarks.measure", definition.name, engine]
    answer = subprocess.run(command, cwd=ROOT, stdout=subprocess.PIPE, text=True, check=True)
    return Measurement(**json.loads(answer.stdout.splitlines()[-1]))


def measure(definition: Definition, engine: str) -> Measurement:
    """Measure here and now."""
    measurement: Measurement = import_module(f"benchmarks.{definition.kind}").measured(
        definition, engine
    )
    return measurement


def timed(action: Callable[[], T], clock: Callable[[], float]) -> tuple[T, float]:
    """The action's result and its seconds by the given clock."""
    start = clock()
    outcome = action()
    return outcome, clock() - start


def digest(answers: Iterable[Sequence[int]]) -> str:
    """A fingerprint of who got what: equal counts alone could hide two errors that cancel."""
    found = hashlib.sha256()
    for answer in answers:
        found.update(len(answer).to_bytes(8, "little"))
        found.update(array("q", answer).tobytes())
    return found.hexdigest()[:16]


def held_bytes() -> int:
    """The resident memory of the moment, once what nobody needs has been given back."""
    gc.collect()
    return _memory_bytes("VmRSS")


def peak_bytes() -> int:
    """The most that the process has held so far."""
    return _memory_bytes("VmHWM")


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
