"""The architecture is a failing test: import-linter's contracts, and proof that they bite."""

from __future__ import annotations

import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Any

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
    """A Twigcast of empty rooms and sub-packages, in which one import can be planted."""
    packages = {f"twigcast.{room}" for room in ROOMS} | _modules_of_contracts()
    for package in {"twigcast", *packages}:
        place = folder / package.replace(".", "/")
        place.mkdir(parents=True, exist_ok=True)
        (place / "__init__.py").touch()
    for module in ("display", "door", "errors"):
        (folder / "twigcast" / f"{module}.py").touch()
    return folder


def _contracts() -> list[dict[str, Any]]:
    rules = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["importlinter"]
    contracts: list[dict[str, Any]] = rules["contracts"]
    return contracts


def _modules_of_contracts() -> set[str]:
    """What our contracts name below the rooms: sub-packages, and single modules."""
    found = {module for rule in _contracts() for module in rule.get("source_modules", ())}
    for room, layers in LAYERS.items():
        found.update(f"{room}.{name}" for layer in layers for name in layer)
    return {module for module in found if module.count(".") > 1}


def _layers() -> dict[str, list[list[str]]]:
    """The layers inside each room, from the top."""
    return {
        rule["containers"][0]: [layer.split(" | ") for layer in rule["layers"]]
        for rule in _contracts()
        if "containers" in rule
    }


LAYERS = _layers()


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
        ("spark/worker/__init__.py", "import pyspark"),
    ],
)
def test_a_planted_import_breaks_a_contract(tmp_path: Path, module: str, planted: str) -> None:
    (skeleton(tmp_path) / "twigcast" / module).write_text(f"{planted}\n")
    outcome = lint_imports(tmp_path)
    assert outcome.returncode == 1, outcome.stdout + outcome.stderr
    assert "BROKEN" in outcome.stdout


@pytest.mark.parametrize("room", LAYERS)
def test_an_import_upwards_inside_a_room_breaks_its_contract(tmp_path: Path, room: str) -> None:
    top, bottom = LAYERS[room][0][0], LAYERS[room][-1][0]
    place = skeleton(tmp_path) / room.replace(".", "/") / bottom / "__init__.py"
    place.write_text(f"import {room}.{top}\n")
    outcome = lint_imports(tmp_path)
    assert outcome.returncode == 1, outcome.stdout + outcome.stderr
    name = room.rpartition(".")[2]
    assert f"sub-packages of {name} import downwards only BROKEN" in outcome.stdout


def test_each_room_with_sub_packages_has_a_contract() -> None:
    rooms = (ROOT / "src" / "twigcast").iterdir()
    divided = {room.name for room in rooms if room.is_dir() and list(room.glob("*/__init__.py"))}
    assert divided == {room.rpartition(".")[2] for room in LAYERS}
