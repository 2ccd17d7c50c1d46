"""Targets take turns for a time; what fails is repeated, made smaller, filed and counted.

Each turn is a process of its own, so that what a target keeps warm is warm for thousands of cases,
and a process that is lost costs a turn at most. Case numbers of turn ``t`` begin at ``t`` million,
so that a case has the same number however fast the machine is.
"""

from __future__ import annotations

import shlex
import sys
from collections import Counter
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from hashlib import sha256
from math import ceil
from pathlib import Path
from threading import Event, Lock
from typing import Final

from fuzz.target import ACCEPTED, REFUSED, UNDECIDED, Target
from fuzz.watched import CASE_SECONDS_MAX, Finding, Slice, end_all, watched

__all__ = ["Plan", "run", "run_case"]

TURN_SECONDS_MAX: Final = 60.0
"""Long enough for thousands of cases behind one start, short enough that all targets come early."""

CASES_PER_TURN: Final = 1_000_000
SHRINK_SECONDS: Final = 20.0
"""How long a case that fails is made smaller; most are small after a few seconds."""

_DETAIL_LINES: Final = 12


@dataclass(frozen=True)
class Plan:
    """What is to be run."""

    targets: Sequence[Target]
    names: Sequence[str]
    """How the command line calls each of them."""
    seconds: float
    seed: int
    workers: int
    corpus: Path
    case_seconds_max: float = CASE_SECONDS_MAX


@dataclass
class _Tally:
    """What a target has done so far."""

    ended: Counter[str] = field(default_factory=Counter)
    seconds: float = 0.0
    faults: Counter[str] = field(default_factory=Counter)
    left_out: str | None = None


@dataclass(frozen=True)
class _Turn:
    name: str
    number: int
    """0 for the cases of the corpus; from 1 on for new ones."""
    seconds: float


class _Run:
    def __init__(self, plan: Plan) -> None:
        self._plan = plan
        self._tallies = {name: _Tally() for name in plan.names}
        self._lock = Lock()
        self._stop = Event()

    def play(self) -> int:
        """All turns; 1 if there was a fault, 130 if somebody had enough before the end."""
        code = 0
        try:
            plan = self._plan
            print(
                f"seed {plan.seed}: {len(plan.names)} targets, {plan.seconds:g} s in all",
                flush=True,
            )
            self._play_all(self._ready())
        except KeyboardInterrupt:
            code = 130
        print(self._summary())
        return 1 if any(tally.faults for tally in self._tallies.values()) else code

    def _play_all(self, ready: Sequence[str]) -> None:
        with ThreadPoolExecutor(self._plan.workers) as workers:
            try:
                for _ in workers.map(self._take, self._turns(ready)):
                    pass
            except KeyboardInterrupt:
                self._stop.set()
                workers.shutdown(wait=False, cancel_futures=True)
                end_all()
                raise

    def _ready(self) -> list[str]:
        for name, target in zip(self._plan.names, self._plan.targets, strict=True):
            reason = target.prepare()
            if reason is not None:
                self._tallies[name].left_out = reason
                print(f"{name} is left out: {reason}", file=sys.stderr)
        return [name for name, tally in self._tallies.items() if tally.left_out is None]

    def _turns(self, names: Sequence[str]) -> list[_Turn]:
        if not names:
            return []
        share = self._plan.seconds * self._plan.workers / len(names)
        rounds = ceil(share / TURN_SECONDS_MAX)
        return [
            _Turn(name, number, share / max(1, rounds))
            for number in range(rounds + 1)
            for name in names
        ]

    def _take(self, turn: _Turn) -> None:
        if self._stop.is_set():
            return
        if turn.number == 0:
            files = sorted((self._plan.corpus / turn.name).glob("*.json"))
            if files:
                self._account(turn, self._child(turn.name, "--files", *map(str, files)), first=0)
            return
        first, left = turn.number * CASES_PER_TURN, turn.seconds
        while left > 0 and not self._stop.is_set():
            seen = self._child(turn.name, "--first", str(first), "--seconds", f"{left:.1f}")
            if self._stop.is_set():
                return
            self._account(turn, seen, first)
            left -= seen.seconds
            if not seen.lost:
                break
            if not seen.last:
                self._tallies[turn.name].left_out = "its process ends before the first case"
                break
            first = int(seen.last) + 1

    def _account(self, turn: _Turn, seen: Slice, first: int) -> None:
        tally = self._tallies[turn.name]
        with self._lock:
            tally.ended.update(seen.ended)
            tally.seconds += seen.seconds
            new = []
            for found in seen.found:
                if found.signature not in tally.faults:
                    new.append(found)
                tally.faults[found.signature] += 1
        for found in new:
            if turn.number == 0 or not found.case:
                self._print_fault(turn.name, found, _command(turn.name, found.case), None)
            else:
                self._file(turn.name, found, first)

    def _file(self, name: str, found: Finding, first: int) -> None:
        """Repeat a fault, write its case into the corpus as small as it gets, and print it."""
        digest = sha256(f"{name} {found.signature}".encode()).hexdigest()[:8]
        path = self._plan.corpus / name / f"{digest}.json"
        seed = self._plan.seed
        self._child(name, "--first", found.case, "--write", str(path))
        alone = path.exists() and self._fails(name, path, found.signature)
        if alone:
            original = path.read_bytes()
            self._child(name, "--shrink", str(path), "--seconds", str(SHRINK_SECONDS))
            if path.read_bytes() != original and not self._fails(name, path, found.signature):
                path.write_bytes(original)
        # What fails only behind other cases is repeated with all that came before it.
        numbers = found.case if alone else f"{first}-{found.case}"
        command = _command(name, numbers, seed=seed)
        self._print_fault(name, found, command, path if path.exists() else None)

    def _fails(self, name: str, path: Path, signature: str) -> bool:
        seen = self._child(name, "--files", str(path))
        return any(found.signature == signature for found in seen.found)

    def _child(self, name: str, *arguments: str) -> Slice:
        return watched(
            [name, "--seed", str(self._plan.seed), *arguments],
            case_seconds_max=self._plan.case_seconds_max,
        )

    def _print_fault(self, name: str, found: Finding, command: str, path: Path | None) -> None:
        details = found.details.rstrip().splitlines()[-_DETAIL_LINES:]
        lines = [
            "",
            f"{name}: FAULT {found.signature}",
            *(f"    {line}" for line in details),
            f"  repeat: {command}",
            *([f"  case:   {path}"] if path else []),
        ]
        with self._lock:
            print("\n".join(lines), flush=True)

    def _summary(self) -> str:
        head = ("target", "cases", "cases/s", ACCEPTED, REFUSED, UNDECIDED, "faults", "kinds")
        rows: list[tuple[str, ...]] = [head]
        for name, tally in self._tallies.items():
            if tally.left_out is not None and not tally.ended:
                rows.append((name, "-", "-", "-", "-", "-", "-", tally.left_out))
                continue
            cases = tally.ended.total()
            rows.append(
                (
                    name,
                    f"{cases:,}",
                    f"{cases / tally.seconds:,.0f}" if tally.seconds else "-",
                    *(f"{tally.ended[each]:,}" for each in (ACCEPTED, REFUSED, UNDECIDED)),
                    f"{tally.faults.total():,}",
                    f"{len(tally.faults)}",
                )
            )
        widths = [max(len(row[column]) for row in rows) for column in range(len(head))]
        lines = ["", f"seed {self._plan.seed}"]
        for row in rows:
            first, *others = row
            cells = (cell.rjust(width) for cell, width in zip(others, widths[1:], strict=True))
            lines.append("  ".join([first.ljust(widths[0]), *cells]))
        return "\n".join(lines)


def run(plan: Plan) -> int:
    """Run targets for a time. The exit code: 0, 1 with a fault, 130 after a Ctrl-C without one."""
    return _Run(plan).play()


def run_case(name: str, target: Target, case: str, *, seed: int, case_seconds_max: float) -> int:
    """Run the case with a number, those of a range ``FIRST-LAST``, or the one in a file."""
    reason = target.prepare()
    if reason is not None:
        print(f"{name} cannot run here: {reason}", file=sys.stderr)
        return 2
    first, _, last = case.partition("-")
    if first.isdecimal() and (last or first).isdecimal():
        chosen = ["--seed", str(seed), "--first", first, "--last", last or first]
    elif Path(case).is_file():
        chosen = ["--files", str(Path(case).resolve())]
    else:
        print(f"{case} is no number, no range FIRST-LAST and no file", file=sys.stderr)
        return 2
    try:
        seen = watched([name, *chosen], case_seconds_max=case_seconds_max)
    except KeyboardInterrupt:
        return 130
    for found in seen.found:
        print(f"{name}, case {found.case}: FAULT {found.signature}\n{found.details}")
    ended = ", ".join(f"{how}: {count}" for how, count in sorted(seen.ended.items()))
    print(f"{name}: {ended or 'no case'}")
    return 1 if seen.found else 0


def _command(name: str, case: str, *, seed: int | None = None) -> str:
    """The one command that repeats a fault."""
    seeded = [] if seed is None else ["--seed", str(seed)]
    return shlex.join(["python", "-m", "fuzz", name, *seeded, "--case", case])
