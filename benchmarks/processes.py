"""CPU seconds of this process and all that it has started: Spark's Java machine and its workers.

Linux tells for each process what it has used itself, and what those of its children have used that
ended and were waited for. Summed over a process and its living descendants, nothing is counted
twice and nothing is lost.

    utime + stime    used itself           } of every process alive
    cutime + cstime  used by ended children
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

PROC = Path("/proc")
TICKS_PER_S = os.sysconf("SC_CLK_TCK")


@dataclass(frozen=True, slots=True)
class Used:
    """CPU seconds so far: of Java, and of everything together."""

    java_s: float
    all_s: float

    def __sub__(self, other: Used) -> Used:
        return Used(self.java_s - other.java_s, self.all_s - other.all_s)


@dataclass(frozen=True, slots=True)
class _Process:
    parent: int
    name: str
    own_s: float
    ended_s: float


def used() -> Used:
    """What this process and its descendants have used so far."""
    processes = dict(_alive())
    ours = [processes[pid] for pid in _descendants(processes)]
    return Used(
        java_s=sum(process.own_s for process in ours if process.name == "java"),
        all_s=sum(process.own_s + process.ended_s for process in ours),
    )


def peak_of_workers() -> int:
    """The most bytes that one of our Python workers, still alive, has held at any time."""
    processes = dict(_alive())
    workers = [pid for pid in _descendants(processes)[1:] if "python" in processes[pid].name]
    return max(map(_peak_bytes, workers), default=0)


def _peak_bytes(pid: int) -> int:
    try:
        status = (PROC / str(pid) / "status").read_text(encoding="utf-8", errors="replace")
    except OSError:  # It has ended meanwhile.
        return 0
    lines = (line.split() for line in status.splitlines() if line.startswith("VmHWM:"))
    return next((int(fields[1]) * 1024 for fields in lines), 0)


def _descendants(processes: dict[int, _Process]) -> list[int]:
    found = [os.getpid()]
    for pid in found:  # The list grows while we go.
        found += [child for child, process in processes.items() if process.parent == pid]
    return found


def _alive() -> Iterator[tuple[int, _Process]]:
    for folder in PROC.glob("[0-9]*"):
        try:
            status = (folder / "stat").read_text(encoding="utf-8", errors="replace")
        except OSError:  # It has ended meanwhile.
            continue
        # The name stands in parentheses and may contain anything, spaces and parentheses too.
        name = status[status.index("(") + 1 : status.rindex(")")]
        fields = status[status.rindex(")") + 2 :].split()
        utime, stime, cutime, cstime = (int(ticks) / TICKS_PER_S for ticks in fields[11:15])
        yield int(folder.name), _Process(int(fields[1]), name, utime + stime, cutime + cstime)
