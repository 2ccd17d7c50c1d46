"""The machine and versions of a record: without them a number means nothing."""

from __future__ import annotations

import os
import platform
import shutil
import subprocess
from hashlib import sha256
from importlib.metadata import PackageNotFoundError, version
from importlib.util import find_spec
from pathlib import Path

from benchmarks.workloads import ROOT

LIBRARIES = ("twigcast", "twigcast-kernel", "lxml", "pyarrow", "pandas", "pyspark")
CPUINFO = Path("/proc/cpuinfo")


def machine() -> dict[str, object]:
    """Cores, processor, system."""
    return {"cores": os.cpu_count(), "processor": _processor(), "system": platform.system()}


def versions() -> dict[str, str]:
    """Python, every library that has a part in a measurement, and which kernel is loaded."""
    libraries = {name: _version(name) for name in LIBRARIES}
    return {"python": platform.python_version(), **libraries, "kernel file": _kernel_digest()}


def _kernel_digest() -> str:
    """A fingerprint of the kernel that would be loaded: its version alone does not tell builds."""
    found = find_spec("twigcast_kernel")
    if found is None or found.origin is None:
        return "absent"
    origin = Path(found.origin)
    built = [origin] if origin.suffix == ".so" else sorted(origin.parent.glob("*.so"))
    return sha256(b"".join(file.read_bytes() for file in built)).hexdigest()[:12]


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
