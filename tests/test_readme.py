"""What the README shows is what happens."""

from __future__ import annotations

import contextlib
import io
import re
from pathlib import Path

import pytest

README = Path(__file__).resolve().parents[1] / "README.md"


def blocks(language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```$", README.read_text(), re.DOTALL | re.MULTILINE)


@pytest.mark.parametrize("place", [0, 1], ids=["the twelve lines", "a network"])
def test_lines_print_what_stands_below_them(place: int) -> None:
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        exec(compile(blocks("python")[place], "README.md", "exec"), {})  # noqa: S102
    assert printed.getvalue() == blocks("text")[place]


def test_the_twelve_lines_are_twelve() -> None:
    assert len(blocks("python")[0].splitlines()) <= 12
