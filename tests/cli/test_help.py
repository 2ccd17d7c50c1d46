"""Help that people can read, shells that complete, and colour only where a terminal shows it."""

from __future__ import annotations

import io
import os
import re
import subprocess
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from typer.testing import CliRunner

from tests.cli.executable import ALL_VERBS, EXECUTABLE
from twigcast.cli.output import Colour, complain, painted
from twigcast.cli.program import app
from twigcast.matching.matcher import ENGINES
from twigcast.routing.strategy import STRATEGIES

if TYPE_CHECKING:
    from tests.cli.conftest import Twigcast


class Terminal(io.StringIO):
    """A screen that remembers what was written on it."""

    def isatty(self) -> bool:
        return True


@pytest.mark.parametrize("columns", [60, 80])
@pytest.mark.parametrize("verb", [(), ("generate",), *ALL_VERBS], ids=" ".join)
def test_help_shows_no_types_and_cuts_nothing(verb: tuple[str, ...], columns: int) -> None:
    told = CliRunner().invoke(app, [*verb, "--help"], terminal_width=columns).stdout
    shown = told.partition("  Example")[0]
    assert not re.search(r"<\w+[^>]*>|\blist\[|Literal|dynamic|function|\{", shown)
    assert not re.search(r"\w\.\.\.(?!$)\s", shown.partition("\n")[2])
    assert max(map(len, shown.splitlines())) <= columns


def test_the_list_of_verbs_has_whole_sentences(twigcast: Twigcast) -> None:
    listed = twigcast("--help").stdout.partition("Commands:\n")[2]
    told = " ".join(listed.split())
    assert "Why an expression matches a document, or the first step of it that fails." in told


def test_help_names_all_engines(twigcast: Twigcast) -> None:
    for verb in ("match", "run"):
        told = " ".join(twigcast(verb, "--help").stdout.split())
        assert all(engine in told.partition("--engine")[2] for engine in ENGINES)


def _completed(words: str, place: int, folder: Path) -> list[str]:
    asked = {"_TWIGCAST_COMPLETE": "complete_bash", "COMP_WORDS": words, "COMP_CWORD": str(place)}
    told = subprocess.run(
        [EXECUTABLE], cwd=folder, env={**os.environ, **asked}, capture_output=True, check=False
    )
    return told.stdout.decode().split()


def test_a_shell_completes_engines_strategies_and_plans(tmp_path: Path) -> None:
    assert _completed("twigcast match --engine ", 3, tmp_path) == list(ENGINES)
    assert _completed("twigcast match --engine n", 3, tmp_path) == ["native"]
    assert _completed("twigcast simulate --strategy ", 3, tmp_path) == list(STRATEGIES)
    assert _completed("twigcast run --strategy cov", 3, tmp_path) == ["covering"]
    assert _completed("twigcast run --plan h", 3, tmp_path) == ["hops"]


def test_completion_can_be_installed(tmp_path: Path) -> None:
    subprocess.run(
        [EXECUTABLE, "--install-completion", "bash"],
        # Without detection the shell is the one that is named, and not that of whoever tests.
        env={
            **os.environ,
            "HOME": str(tmp_path),
            "_TYPER_COMPLETE_TEST_DISABLE_SHELL_DETECTION": "1",
        },
        capture_output=True,
        check=True,
    )
    installed = [path for path in tmp_path.rglob("*") if path.is_file()]
    assert any("_TWIGCAST_COMPLETE" in path.read_text() for path in installed)


def test_colour_is_for_terminals(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("NO_COLOR", raising=False)
    monkeypatch.setenv("TERM", "xterm")
    assert painted("no", Colour.BAD, Terminal()) == "\x1b[31mno\x1b[0m"
    assert painted("no", Colour.BAD, io.StringIO()) == "no"
    monkeypatch.setenv("TERM", "dumb")
    assert painted("no", Colour.BAD, Terminal()) == "no"
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setenv("NO_COLOR", "1")
    assert painted("no", Colour.BAD, Terminal()) == "no"


def test_complaints_are_in_colour_on_a_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("NO_COLOR", raising=False)
    monkeypatch.setenv("TERM", "xterm")
    screen = Terminal()
    monkeypatch.setattr("sys.stderr", screen)
    complain("no")
    assert screen.getvalue() == "\x1b[31mtwigcast:\x1b[0m no\n"


@pytest.mark.usefixtures("shop")
def test_what_goes_into_a_pipe_has_no_colour(twigcast: Twigcast) -> None:
    for words in (
        ("check", "subs.txt"),
        ("explain", "//item", "good.xml"),
        ("covers", "//a", "//b"),
    ):
        assert "\x1b" not in twigcast(*words).output
