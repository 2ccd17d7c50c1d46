"""Where and with what a record was made: without it a number means nothing."""

from __future__ import annotations

import os
import platform
import shutil
import subprocess
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

from benchmarks.workloads import ROOT

LIBRARIES = ("twigcast", "twigcast-kernel", "lxml", "pyarrow", "pandas", "pyspark")
CPUINFO = Path("/proc/cpuinfo")


def machine() -> dict[str, object]:
    """Cores, processor, system."""
    return {"cores": os.cpu_count(), "processor": _processor(), "system": platform.system()}


def versions() -> dict[str, str]:
    """Python and every library that has a part in a measurement."""
    return {"python": platform.python_version(), **{name: _version(name) for name in LIBRARIES}}


def commit() -> str:
    """The commit measured, marked when files had changed since; ``unknown`` without git."""
    head = _git("rev-parse", "HEAD")
    if head is None:
        return "unknown"
    return f"{head} with changes" if _git("status", "--porcelain", "--", "src", "kernel") else head


def _git(*arguments: str) -> str | None:
    git = shutil.which("git")
    if git is None:
        return None
    answer = subprocess.run(
        [git, *arguments], cwd=ROOT, capture_output=True, text=True, check=False
    )
    return answer.stdout.strip() if answer.returncode == 0 else None


def _processor() -> str:
    if CPUINFO.exists():
        for line in CPUINFO.read_text(encoding="utf-8", errors="replace").splitlines():
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    return platform.processor() or platform.machine()


def _version(name: str) -> str:
    try:
        return version(name)
    except PackageNotFoundError:
        return "absent"
