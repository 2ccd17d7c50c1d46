"""``python -m fuzz.child TARGET``: the process that runs cases; the runner watches it from outside.

What happens is written to the original stdout, one JSON object per line: which case begins, each
fault, and at the end how many cases ended how. Whatever a target prints itself goes to stderr.
Memory is bounded, so that a case that would eat the machine fails by itself.
"""

from __future__ import annotations

import argparse
import faulthandler
import json
import os
import resource
import signal
import sys
import time
import traceback
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from pathlib import Path
from typing import Any, Final

from fuzz.cases import generated, read_case, write_case
from fuzz.shrinking import shrunk
from fuzz.target import Target, find_target

__all__ = ["MEMORY_BYTES_MAX", "STACK_SIGNAL"]

MEMORY_BYTES_MAX: Final = 6 << 30
"""Address space of a child. Documents are bounded to 10 MB, and a hostile one may grow to 1 GB;
libraries that are only mapped (Arrow, the kernel) take another."""

STACK_SIGNAL: Final = signal.SIGUSR1
"""Makes the child write to stderr where each of its threads is."""

_DETAILS_MAX: Final = 4_000
"""Characters of a fault that are worth reporting."""

_ROOT: Final = Path(__file__).resolve().parents[1]

Report = Callable[..., None]


def main(arguments: list[str] | None = None) -> int:
    """Run what the command line names; always 0, since faults are reported, not returned."""
    options = _options().parse_args(arguments)
    report = _reporter()
    faulthandler.enable()
    faulthandler.register(STACK_SIGNAL, all_threads=True)
    hard = resource.getrlimit(resource.RLIMIT_AS)[1]
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY_BYTES_MAX, hard))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    target = find_target(options.target)
    end = time.monotonic() + options.seconds
    if options.write is not None:
        write_case(options.write, generated(target, options.seed, options.first))
    elif options.shrink is not None:
        _shrink(target, options.shrink, end, report)
    else:
        files = [(str(path), partial(read_case, target, path)) for path in options.files]
        _run(target, files or _numbered(target, options, end), report)
    return 0


def _options() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m fuzz.child", description=__doc__)
    parser.add_argument("target")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--first", type=int, default=0, help="number of the first case")
    parser.add_argument("--last", type=int, help="number of the last case")
    parser.add_argument("--seconds", type=float, default=float("inf"), help="begin no case later")
    parser.add_argument("--files", type=Path, nargs="*", default=[], help="these cases instead")
    parser.add_argument("--write", type=Path, help="write the first case here, and run none")
    parser.add_argument("--shrink", type=Path, help="make the case in this file smaller")
    return parser


def _reporter() -> Report:
    """A function that writes a line to the original stdout; from here on, stdout is stderr."""
    lines = os.fdopen(os.dup(1), "w", encoding="ascii", buffering=1)
    os.dup2(2, 1)

    def report(**what: object) -> None:
        lines.write(json.dumps(what) + "\n")

    return report


def _numbered(
    target: Target, options: argparse.Namespace, end: float
) -> Iterator[tuple[str, Callable[[], Any]]]:
    number = options.first
    while time.monotonic() < end and (options.last is None or number <= options.last):
        yield str(number), partial(generated, target, options.seed, number)
        number += 1


def _run(target: Target, cases: Iterable[tuple[str, Callable[[], Any]]], report: Report) -> None:
    ended: Counter[str] = Counter()
    for name, make in cases:
        report(begins=name)
        fault = failure(target, make)
        if isinstance(fault, str):
            ended[fault] += 1
        else:
            ended["fault"] += 1
            report(fault=name, **fault)
        report(ended=ended)
    report(over=True)


def failure(target: Target, make: Callable[[], Any]) -> dict[str, str] | str:
    """What is wrong with a case, or how it ended well."""
    try:
        return target.check(make())
    except Exception as error:  # noqa: BLE001  # to find whatever is raised is the purpose
        return {"signature": _signature(error), "details": _details(error)}


def _signature(error: Exception) -> str:
    """What two faults have in common that are probably one: kind and place."""
    kind = getattr(error, "kind", None)
    if isinstance(kind, str):
        return f"{type(error).__name__}: {kind}"
    frames = traceback.extract_tb(error.__traceback__)
    ours = [frame for frame in frames if Path(frame.filename).is_relative_to(_ROOT)]
    place = ours[-1] if ours else None
    cause = error.__cause__
    behind = f" from {_signature(cause)}" if isinstance(cause, Exception) else ""
    where = f" in {Path(place.filename).name}, {place.name}" if place else ""
    return f"{type(error).__name__}{where}{behind}"


def _details(error: Exception) -> str:
    text = "".join(traceback.format_exception(error))
    return text if len(text) <= _DETAILS_MAX else f"…{text[-_DETAILS_MAX:]}"


def _shrink(target: Target, path: Path, end: float, report: Report) -> None:
    """Replace the case in a file by a smaller one that fails in the same way."""
    case = read_case(target, path)
    first = failure(target, lambda: case)
    if isinstance(first, str):
        report(over=True)
        return

    def still_fails(smaller: Any) -> bool:  # noqa: ANN401  # of the target's kind
        report(begins="smaller")
        found = failure(target, lambda: smaller)
        return not isinstance(found, str) and found["signature"] == first["signature"]

    small = shrunk(case, target.kind, still_fails, is_over=lambda: time.monotonic() > end)
    write_case(path, small)
    report(over=True)


if __name__ == "__main__":
    sys.exit(main())
