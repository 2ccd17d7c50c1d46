"""The pages of ``docs`` as tests see them: fenced blocks that are run, in order, in one folder.

What happens to a block is told by the words behind its fence:

    python              run; all Python blocks of a page share their names
    text                what the Python block just before it prints
    console             ``$ `` begins a command for the shell, ``> `` goes on with it; what stands
                        below is what a terminal shows
    … FILE              any language and a name: the block is written to a file of that name
    … spark             the block needs Spark
    sh                  never run: how to install something

A page's blocks see the same folder and run from top to bottom, as a reader would do it. In what is
expected, ``…`` stands for any text within a line, and alone on a line for any number of lines.
Tabs are expanded, as a terminal does.
"""

from __future__ import annotations

import contextlib
import io
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from twigcast.cli.engine_note import slow_engine

ROOT = Path(__file__).resolve().parents[2]
DOCS = ROOT / "docs"
PAGES = sorted(DOCS.glob("*.md"))

ELLIPSIS = "…"

_FENCED = re.compile(r"^```(?P<words>[^\n`]*)\n(?P<text>.*?)^```$", re.DOTALL | re.MULTILINE)
_NEVER_RUN = {"sh"}
_SHOWN_ONLY = {"text", "xml", "csv", "json", "dtd"}


@dataclass(frozen=True)
class Block:
    """A fenced block: where it stands, the words behind its fence, and what is in it."""

    place: str
    words: tuple[str, ...]
    text: str

    @property
    def language(self) -> str:
        return self.words[0] if self.words else ""

    @property
    def file(self) -> str | None:
        return next((word for word in self.words[1:] if word != "spark"), None)

    @property
    def needs_spark(self) -> bool:
        return "spark" in self.words[1:]


def blocks_of(page: Path) -> list[Block]:
    """All fenced blocks of a page, from top to bottom."""
    text = page.read_text(encoding="utf-8")
    return [
        Block(
            place=f"{page.name}, line {text.count(chr(10), 0, found.start()) + 1}",
            words=tuple(found["words"].split()),
            text=found["text"],
        )
        for found in _FENCED.finditer(text)
    ]


def prose_of(page: Path) -> str:
    """A page without its blocks."""
    return _FENCED.sub("", page.read_text(encoding="utf-8"))


class Reader:
    """Somebody who follows a page in a folder of their own."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._names: dict[str, object] = {"__name__": "__main__"}
        self._printed: str | None = None
        self._exit_code = 0

    def follow(self, block: Block) -> None:
        """Do what a block says; an AssertionError if something else comes out of it."""
        before, self._printed = self._printed, None
        if block.file is not None:
            path = self._folder / block.file
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(block.text, encoding="utf-8")
        elif block.language == "python":
            self._printed = self._run_python(block)
        elif block.language == "console":
            for command, expected in commands_of(block):
                check_output(f"{block.place}: {command}", expected, self._run_command(command))
        elif block.language == "text" and before is not None:
            check_output(block.place, block.text, before)
        elif block.language not in _SHOWN_ONLY | _NEVER_RUN:
            raise AssertionError(f"{block.place}: nobody knows what to do with {block.words}")

    def _run_python(self, block: Block) -> str:
        printed = io.StringIO()
        with contextlib.redirect_stdout(printed), contextlib.chdir(self._folder):
            exec(compile(block.text, block.place, "exec"), self._names)  # noqa: S102 (our own pages)
        return printed.getvalue()

    def _run_command(self, command: str) -> str:
        """What a terminal would show; ``$?`` is the exit code of the command before."""
        done = subprocess.run(
            ["/bin/sh", "-c", f"(exit {self._exit_code})\n{command}"],
            cwd=self._folder,
            env=environment(),
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            stdin=subprocess.DEVNULL,
            encoding="utf-8",
            check=False,
        )
        self._exit_code = done.returncode
        return "".join(
            line for line in done.stdout.splitlines(keepends=True) if not _told_without_kernel(line)
        )


def _told_without_kernel(line: str) -> bool:
    """Whether a line is there only because this machine has no kernel; pages do not show it."""
    note = slow_engine()
    return note is not None and line.rstrip("\n") == note


def environment() -> dict[str, str]:
    """The environment of a reader who has activated the virtual environment of these tests."""
    return {
        **os.environ,
        "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}",
        "PYTHONUNBUFFERED": "1",  # what goes to both streams comes in the order of a terminal
        "JAVA_TOOL_OPTIONS": "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC",  # a start in half the time
    }


def commands_of(block: Block) -> Iterator[tuple[str, str]]:
    """Each command of a console block, and the output that stands below it."""
    command, output = "", ""
    for line in block.text.splitlines(keepends=True):
        if line.startswith("$ "):
            if command:
                yield command, output
            command, output = line[2:].rstrip("\n"), ""
        elif line.startswith("> ") and not output:
            command += "\n" + line[2:].rstrip("\n")
        else:
            assert command, f"{block.place}: output before the first command"
            output += line
    if command:
        yield command, output


def check_output(place: str, expected: str, actual: str) -> None:
    """Compare what a page shows with what there is."""
    wanted, there = _plain(expected), _plain(actual)
    assert fits(wanted, there), f"{place}\n--- the page says\n{wanted}\n--- but it is\n{there}"


def fits(expected: str, actual: str) -> bool:
    """Whether a text is what was expected, allowing for the ellipses in that."""
    pattern = "".join(
        "(?:.*\n)*?" if line == ELLIPSIS else f"{re.escape(line).replace(ELLIPSIS, '.*?')}\n"
        for line in expected.splitlines()
    )
    lines = (f"{line}\n" for line in actual.splitlines())
    return re.fullmatch(pattern, "".join(lines)) is not None


def _plain(text: str) -> str:
    """Lines as they look: tabs expanded, nothing at the ends."""
    return "\n".join(line.expandtabs().rstrip() for line in text.strip("\n").splitlines())
