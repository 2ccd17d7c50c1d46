"""One version, wherever it stands."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

import twigcast

ROOT = Path(__file__).resolve().parents[1]


def test_the_kernel_has_the_version_of_the_package() -> None:
    cargo = tomllib.loads((ROOT / "kernel" / "Cargo.toml").read_text())
    assert cargo["workspace"]["package"]["version"] == twigcast.__version__


def test_the_extra_pulls_the_kernel_of_the_same_version() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    wanted = [f"twigcast-kernel=={twigcast.__version__}"]
    assert project["optional-dependencies"]["kernel"] == wanted


def test_the_changelog_begins_with_this_version() -> None:
    sections = re.findall(r"^## (\S+) \(", (ROOT / "CHANGELOG.md").read_text(), re.MULTILINE)
    assert sections[0] == twigcast.__version__


def test_a_user_finds_home_documentation_changes_and_issues() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    assert {"Homepage", "Documentation", "Changelog", "Issues"} <= project["urls"].keys()
