"""The program as tests call it, and a small world to call it in."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from typer.testing import CliRunner

from twigcast.cli.program import app

if TYPE_CHECKING:
    from typer.testing import Result

    Twigcast = Callable[..., Result]


@pytest.fixture
def twigcast(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Twigcast:
    """A function that runs the program with these words, in the folder of the test."""
    monkeypatch.chdir(tmp_path)

    def call(*words: str, stdin: bytes | None = None) -> Result:
        return CliRunner().invoke(app, words, input=stdin)

    return call


@pytest.fixture
def shop(tmp_path: Path) -> Path:
    """A folder with subscriptions in three forms and a few documents."""
    subscriptions = ["//price[. > 10]", "# a comment", "//item", "//a[", "//item[2]"]
    (tmp_path / "subs.txt").write_text("\n".join(subscriptions) + "\n", encoding="utf-8")
    rows = ["id,xpath,namespaces", "b,//item,", "a,//price[. > 10],", "ns,//s:item,s=urn:s"]
    (tmp_path / "subs.csv").write_text("\n".join(rows) + "\n", encoding="utf-8")
    lines = ['{"id": 7, "xpath": "//item"}', '{"id": "7", "xpath": "//price"}']
    (tmp_path / "subs.jsonl").write_text("\n".join(lines) + "\n", encoding="utf-8")
    (tmp_path / "good.xml").write_text("<shop><item/><item><price>12</price></item></shop>")
    (tmp_path / "cheap.xml").write_text("<shop><item><price>3</price></item></shop>")
    (tmp_path / "broken.xml").write_text("<shop>\n<item></shop>")
    return tmp_path
