"""``python -m fuzz``: random and damaged input for every target, for a time, by a seed.

Each case is determined by its target, the seed and its number. A fault is printed with the one
command that repeats it, and its case is written to the corpus, made smaller where that is possible.
The others go on. First of all come the cases that the corpus has already. Exit 0 when nothing was
found, 1 when something was, 2 for wrong usage.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from fuzz.runner import Plan, run, run_case
from fuzz.target import find_target, target_names
from fuzz.watched import CASE_SECONDS_MAX

CORPUS: Final = Path(__file__).resolve().parent / "corpus"
SECONDS: Final = 600.0
"""Some 50 s for each target: enough to notice a fault just made, while one waits for it."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run what the command line asks for; the exit code."""
    options = _options().parse_args(arguments)
    names = options.target or target_names()
    try:
        targets = [find_target(name) for name in names]
    except LookupError as error:
        print(error.args[0], file=sys.stderr)
        return 2
    if options.list:
        width = max(map(len, names))
        for name, target in zip(names, targets, strict=True):
            print(f"{name:{width}}  {target.summary}")
        return 0
    seed = int(time.time()) if options.seed is None else options.seed
    if options.case is not None:
        if len(targets) != 1:
            print("name the one target that the case is of", file=sys.stderr)
            return 2
        return run_case(
            names[0], targets[0], options.case, seed=seed, case_seconds_max=options.case_seconds
        )
    return run(
        Plan(
            targets=targets,
            names=names,
            seconds=options.seconds,
            seed=seed,
            workers=options.workers,
            corpus=options.corpus.resolve(),
            case_seconds_max=options.case_seconds,
        )
    )


def _options() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m fuzz",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("target", nargs="*", help="what to fuzz (default: all; see --list)")
    parser.add_argument("--seconds", type=float, default=SECONDS, help="for all targets together")
    parser.add_argument("--seed", type=int, help="(default: by the clock)")
    parser.add_argument("--case", help="run only this: a number, a range FIRST-LAST, or a file")
    parser.add_argument("--workers", type=int, default=1, help="targets at the same time")
    parser.add_argument("--corpus", type=Path, default=CORPUS, help="where cases that fail go")
    parser.add_argument(
        "--case-seconds", type=float, default=CASE_SECONDS_MAX, help="what takes longer is a fault"
    )
    parser.add_argument("--list", action="store_true", help="list the targets")
    return parser


if __name__ == "__main__":
    sys.exit(main())
