"""The bar that tells how far something has come."""

from __future__ import annotations

import io

import pytest

from twigcast.cli.output import write
from twigcast.cli.progress import Bar


class Terminal(io.StringIO):
    """A screen that remembers what was written on it."""

    def isatty(self) -> bool:
        return True


def test_no_bar_is_drawn_where_nobody_sees_it(monkeypatch: pytest.MonkeyPatch) -> None:
    screen = io.StringIO()
    monkeypatch.setattr("sys.stderr", screen)
    with Bar(after_seconds=0) as bar:
        bar.show("working", 1, 2)
    assert screen.getvalue() == ""


def test_no_bar_is_drawn_beside_output_on_the_same_screen(monkeypatch: pytest.MonkeyPatch) -> None:
    screen = Terminal()
    monkeypatch.setattr("sys.stderr", screen)
    monkeypatch.setattr("sys.stdout", screen)
    with Bar(beside_output=True, after_seconds=0) as bar:
        bar.steps("working", None)()
    assert screen.getvalue() == ""


def test_quick_work_leaves_no_flicker(monkeypatch: pytest.MonkeyPatch) -> None:
    screen = Terminal()
    monkeypatch.setattr("sys.stderr", screen)
    with Bar(after_seconds=600) as bar:
        bar.show("working", 1, 2)
    assert screen.getvalue() == ""


def test_a_bar_tells_the_stage_and_leaves_the_output_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    screen, output = Terminal(), io.StringIO()
    monkeypatch.setattr("sys.stderr", screen)
    monkeypatch.setattr("sys.stdout", output)
    monkeypatch.setenv("TERM", "xterm")
    with Bar() as bar:
        bar.begin()
        step = bar.steps("reading", 3)
        step()
        write("an answer")
        bar.show("matching", 2, 5)
    assert output.getvalue() == "an answer\n"
    assert "matching" in screen.getvalue()
    assert "2/5" in screen.getvalue()
