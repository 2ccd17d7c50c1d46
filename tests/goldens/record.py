"""Records goldens anew: ``python -m tests.goldens.record [NAME …]``, all of them without a name.

Read the difference that ``git diff`` shows before it is committed: each line of it is something
that users see. What cannot be told on this machine is left as it is, and named.
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

from tests.goldens.every_golden import EVERY_GOLDEN, missing
from tests.goldens.golden import RECORDED, difference


def record(names: list[str]) -> int:
    """Write the goldens of these names, or all; the number that could not be written."""
    RECORDED.mkdir(exist_ok=True)
    known = {golden.name for golden in EVERY_GOLDEN}
    if unknown := set(names) - known:
        sys.stderr.write(f"no golden is called {', '.join(sorted(unknown))}\n")
        return len(unknown)
    left = 0
    for golden in EVERY_GOLDEN:
        if names and golden.name not in names:
            continue
        if reason := missing(golden):
            sys.stderr.write(f"left as it is: {golden.name}: {reason}\n")
            left += 1
            continue
        with tempfile.TemporaryDirectory(prefix="goldens-") as folder:
            told = golden.produce(Path(folder))
        if difference(golden, told):
            golden.path.write_text(told, encoding="utf-8")
            sys.stderr.write(f"recorded: {golden.name}\n")
    if not names:
        for path in RECORDED.iterdir():
            if path.name not in known:
                path.unlink()
                sys.stderr.write(f"removed: {path.name}\n")
    return left


if __name__ == "__main__":
    raise SystemExit(min(record(sys.argv[1:]), 1))
