"""A newcomer guesses the file: packages are small, and each room tells what is in it."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

SOURCES = Path(__file__).resolve().parents[1] / "src" / "twigcast"
MODULES_MAX = 12
LOOSE_MODULES_MAX = 8
ROOMS = sorted(place.parent.name for place in SOURCES.glob("*/__init__.py"))


def modules(package: Path) -> list[str]:
    return sorted(file.stem for file in package.glob("*.py") if file.stem != "__init__")


def sub_packages(package: Path) -> list[str]:
    return sorted(place.parent.name for place in package.glob("*/__init__.py"))


@pytest.mark.parametrize(
    "package",
    sorted(place.parent for place in SOURCES.glob("**/__init__.py")),
    ids=lambda p: p.name,
)
def test_a_package_has_at_most_twelve_modules(package: Path) -> None:
    assert len(modules(package)) <= MODULES_MAX, modules(package)


@pytest.mark.parametrize("room", [room for room in ROOMS if sub_packages(SOURCES / room)])
def test_a_room_with_sub_packages_has_at_most_eight_loose_modules(room: str) -> None:
    assert len(modules(SOURCES / room)) <= LOOSE_MODULES_MAX, modules(SOURCES / room)


@pytest.mark.parametrize("room", [room for room in ROOMS if sub_packages(SOURCES / room)])
def test_the_reading_order_of_a_room_names_all_that_is_in_it(room: str) -> None:
    package = SOURCES / room
    text = ast.get_docstring(ast.parse((package / "__init__.py").read_text(encoding="utf-8")))
    assert text is not None
    named = {line.split()[0] for line in text.splitlines() if line.startswith("    ")}
    assert set(modules(package)) | set(sub_packages(package)) <= named


SAME_BY_INTENT = {"Matcher", "Network"}
"""``twigcast.Matcher`` and ``twigcast.Network`` are those of their rooms, with files in reach."""


def test_a_class_name_has_one_meaning_in_the_whole_tree() -> None:
    files: dict[str, list[str]] = {}
    for file in sorted(SOURCES.rglob("*.py")):
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
            if isinstance(node, ast.ClassDef) and node.name not in SAME_BY_INTENT:
                files.setdefault(node.name, []).append(file.relative_to(SOURCES).as_posix())
    assert {name: places for name, places in files.items() if len(places) > 1} == {}
