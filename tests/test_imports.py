"""The architecture is a failing test: import-linter's contracts, and proof that they bite."""

from __future__ import annotations

import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
CORE = ("language", "covering", "matching", "workload", "routing")
ROOMS = (*CORE, "files", "library", "spark", "network", "simulator", "experiments", "cli")


def lint_imports(folder: Path) -> subprocess.CompletedProcess[str]:
    """What import-linter says of the package in ``folder``, by our own contracts."""
    linter = Path(sys.executable).with_name("lint-imports")
    config = ROOT / "pyproject.toml"
    command = [str(linter), "--config", str(config), "--no-cache", "--no-logo"]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)


def skeleton(folder: Path) -> Path:
    """A Twigcast of empty rooms, in which one import can be planted."""
    for room in ("", *ROOMS):
        package = folder / "twigcast" / room
        package.mkdir()
        (package / "__init__.py").touch()
    for module in ("display", "door", "errors"):
        (folder / "twigcast" / f"{module}.py").touch()
    for module in _modules_of_contracts():
        room, _, name = module.removeprefix("twigcast.").partition(".")
        if name:
            (folder / "twigcast" / room / f"{name}.py").touch()
    return folder


def _modules_of_contracts() -> set[str]:
    """What our contracts name: rooms, and single modules of rooms."""
    rules = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["importlinter"]
    return {module for rule in rules["contracts"] for module in rule.get("source_modules", ())}


def test_rooms_import_downwards_only_and_the_core_does_no_io() -> None:
    outcome = lint_imports(ROOT / "src")
    assert outcome.returncode == 0, outcome.stdout + outcome.stderr


def test_a_skeleton_without_imports_keeps_every_contract(tmp_path: Path) -> None:
    outcome = lint_imports(skeleton(tmp_path))
    assert outcome.returncode == 0, outcome.stdout + outcome.stderr


@pytest.mark.parametrize(
    ("module", "planted"),
    [
        ("language/__init__.py", "import twigcast.matching"),
        ("matching/__init__.py", "import twigcast.files"),
        ("workload/__init__.py", "import twigcast.routing"),
        ("files/__init__.py", "import twigcast.library"),
        ("library/__init__.py", "import twigcast.spark"),
        ("spark/__init__.py", "import twigcast.network"),
        ("spark/__init__.py", "import twigcast.experiments"),
        ("errors.py", "import twigcast.language"),
        ("errors.py", "import twigcast.door"),
        ("language/__init__.py", "import socket"),
        ("matching/__init__.py", "import multiprocessing"),
        ("workload/__init__.py", "import time"),
        ("files/__init__.py", "import pyspark"),
        ("cli/__init__.py", "import pyspark.sql"),
        ("spark/worker.py", "import pyspark"),
    ],
)
def test_a_planted_import_breaks_a_contract(tmp_path: Path, module: str, planted: str) -> None:
    (skeleton(tmp_path) / "twigcast" / module).write_text(f"{planted}\n")
    outcome = lint_imports(tmp_path)
    assert outcome.returncode == 1, outcome.stdout + outcome.stderr
    assert "BROKEN" in outcome.stdout
