"""A child process under a watchdog: what it tells, and what became of it.

A case that takes longer than a generous limit, or that takes its process along, is a fault. Where
the child was is then known by its stack, which it writes when it is asked by a signal, even while
native code runs.
"""

from __future__ import annotations

import json
import os
import select
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryFile
from typing import IO, Final

from fuzz.child import STACK_SIGNAL

__all__ = ["CASE_SECONDS_MAX", "Finding", "Slice", "end_all", "watched"]

CASE_SECONDS_MAX: Final = 60.0
"""A case that takes longer hangs. The slowest honest ones take a second on a busy machine."""

_STACK_SECONDS: Final = 2.0
"""How long a child that hangs may take to tell where it is."""

_STDERR_MAX: Final = 4_000
"""Characters of what a lost child wrote that are worth telling."""

ROOT: Final = Path(__file__).resolve().parents[1]

_children: set[int] = set()
"""The processes that were started here and have not ended, as groups."""


@dataclass(frozen=True)
class Finding:
    """A fault: the name of its case, what it shares with others of its kind, and details."""

    case: str
    signature: str
    details: str


@dataclass
class Slice:
    """What a child did in its life."""

    ended: dict[str, int] = field(default_factory=dict)
    """How many cases ended how."""
    found: list[Finding] = field(default_factory=list)
    last: str = ""
    """The case that began last."""
    lost: bool = False
    """Whether the child did not end by itself."""
    seconds: float = 0.0


def watched(arguments: Sequence[str], *, case_seconds_max: float = CASE_SECONDS_MAX) -> Slice:
    """Run ``python -m fuzz.child`` with these arguments to its end, or to the end of patience."""
    seen = Slice()
    began = time.monotonic()
    with TemporaryFile() as stderr:
        child = subprocess.Popen(
            [sys.executable, "-m", "fuzz.child", *arguments],
            stdout=subprocess.PIPE,
            stderr=stderr,
            stdin=subprocess.DEVNULL,
            cwd=ROOT,
            start_new_session=True,  # a Ctrl-C is for the runner, which then ends its child
        )
        _children.add(child.pid)
        try:
            over = _follow(child, seen, case_seconds_max)
            if not over:
                _lost(child, seen, stderr, case_seconds_max)
        finally:
            _end(child.pid)
            child.wait()
            _children.discard(child.pid)
            assert child.stdout is not None
            child.stdout.close()
    seen.seconds = time.monotonic() - began
    return seen


def end_all() -> None:
    """End every child that runs; whoever watches it then sees its end."""
    for child in list(_children):
        _end(child)


def _end(child: int) -> None:
    """End a child, and whatever it has started, at once."""
    with suppress(ProcessLookupError):
        os.killpg(child, signal.SIGKILL)


def _follow(child: subprocess.Popen[bytes], seen: Slice, patience: float) -> bool:
    """Record the child's reports; whether it came to its end."""
    for line in _lines(child, patience):
        message = json.loads(line)
        if "begins" in message:
            seen.last = message["begins"]
        elif "fault" in message:
            seen.found.append(Finding(message["fault"], message["signature"], message["details"]))
        elif "ended" in message:
            seen.ended = message["ended"]
        else:
            return True
    return False


def _lines(child: subprocess.Popen[bytes], patience: float) -> Iterator[bytes]:
    """Each line as it comes, until the end or until none comes for too long."""
    assert child.stdout is not None
    waiting = b""
    while select.select([child.stdout], [], [], patience)[0]:
        chunk = os.read(child.stdout.fileno(), 1 << 16)
        if not chunk:
            return
        *lines, waiting = (waiting + chunk).split(b"\n")
        yield from lines


def _lost(child: subprocess.Popen[bytes], seen: Slice, stderr: IO[bytes], patience: float) -> None:
    """The child died or hangs: this is a fault of the case that it was at."""
    seen.lost = True
    try:
        code = child.wait(timeout=_STACK_SECONDS)
        kind = f"the process ended with {code}"
    except subprocess.TimeoutExpired:
        kind = f"no end after {patience:g} s"
        os.kill(child.pid, STACK_SIGNAL)
        try:
            child.wait(timeout=_STACK_SECONDS)
        except subprocess.TimeoutExpired:
            _end(child.pid)
            child.wait()
    stderr.seek(0)
    stack = stderr.read().decode(errors="replace")[-_STDERR_MAX:]
    seen.ended["fault"] = seen.ended.get("fault", 0) + 1
    seen.found.append(Finding(seen.last, f"{kind}{_place(stack)}", f"{kind}\n{stack}"))


def _place(stack: str) -> str:
    """Where the child was, by the stack that it wrote: the innermost frame of ours."""
    frames = [line.strip() for line in stack.splitlines() if line.lstrip().startswith("File ")]
    ours = [frame for frame in frames if "twigcast" in frame]
    name = (ours or frames or [""])[0].rpartition(" in ")[2]
    return f" in {name}" if name else ""
