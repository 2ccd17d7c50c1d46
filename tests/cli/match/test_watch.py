"""``match --watch``: files as they arrive, until Ctrl-C."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.cli.executable import EXECUTABLE

if TYPE_CHECKING:
    from tests.cli.conftest import Twigcast


@contextmanager
def _watching(folder: Path, *words: str) -> Iterator[subprocess.Popen[str]]:
    """The program, watching; whatever happens, it is ended."""
    (folder / "rules.csv").write_text("id,subscriber,xpath\n1,Anna,//a\n")
    command = [str(EXECUTABLE), "match", "rules.csv", "inbox", "--watch", "--every", "0.05", *words]
    with subprocess.Popen(
        command,
        cwd=folder,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    ) as program:
        try:
            yield program
        finally:
            program.kill()


def _line(program: subprocess.Popen[str]) -> str:
    assert program.stdout is not None
    return program.stdout.readline()


def _end(program: subprocess.Popen[str], number: int = signal.SIGINT) -> list[str]:
    """Ask for an end; returns what was said."""
    program.send_signal(number)
    _, said = program.communicate()
    assert program.returncode == 0
    return said.splitlines()


def test_files_that_are_there_come_first_then_those_that_arrive(tmp_path: Path) -> None:
    (tmp_path / "inbox").mkdir()
    (tmp_path / "inbox" / "first.xml").write_text("<a/>")
    with _watching(tmp_path) as program:
        assert _line(program) == "inbox/first.xml\t1\n"
        (tmp_path / "inbox" / "second.xml").write_text("<b/>")
        assert _line(program) == "inbox/second.xml\t\n"
        *_, last = _end(program)
    assert last.startswith("2 documents, 1 match in ")


def test_documents_are_moved_as_they_arrive_and_a_broken_one_is_named_once(tmp_path: Path) -> None:
    (tmp_path / "inbox").mkdir()
    (tmp_path / "inbox" / "broken.xml").write_text("<a>")
    with _watching(tmp_path, "--move-to", "sorted", "--json", "--jobs", "2") as program:
        assert json.loads(_line(program))["document"] == "inbox/broken.xml"
        for name in ("1.xml", "2.xml"):
            (tmp_path / "inbox" / name).write_text(f"<a>{name}</a>")
            told = json.loads(_line(program))
            assert (told["document"], told["moved"]) == (f"inbox/{name}", True)
        *_, last = _end(program, signal.SIGTERM)
    assert last.startswith("3 documents, 2 matches, 2 moved, 1 refused in ")
    assert [path.name for path in (tmp_path / "inbox").iterdir()] == ["broken.xml"]
    assert (tmp_path / "sorted" / "Anna" / "2.xml").read_text() == "<a>2.xml</a>"


def _watching_with_processes(folder: Path) -> AbstractContextManager[subprocess.Popen[str]]:
    (folder / "inbox").mkdir()
    for number in range(40):  # More than one chunk.
        (folder / "inbox" / f"{number}.xml").write_text("<a/>")
    return _watching(folder, "--jobs", "2", "--engine", "streaming")


def test_processes_of_jobs_end_with_the_program_when_it_is_killed(tmp_path: Path) -> None:
    with _watching_with_processes(tmp_path) as program:
        assert _line(program)
        program.kill()
        # They hold the same pipes, so this ends when the last of them has.
        program.communicate(timeout=60)


def test_an_end_that_reaches_all_processes_at_once_is_an_end_as_asked(tmp_path: Path) -> None:
    with _watching_with_processes(tmp_path) as program:
        assert _line(program)
        os.killpg(program.pid, signal.SIGTERM)
        _, said = program.communicate()
    assert program.returncode == 0
    assert re.search(r"^\d+ documents?, \d+ match(es)? in ", said, re.MULTILINE)


@pytest.mark.skipif(not Path("/proc/self/task").exists(), reason="needs /proc")
def test_a_process_of_jobs_that_was_killed_while_idle_costs_nothing(tmp_path: Path) -> None:
    with _watching_with_processes(tmp_path) as program:
        for _ in range(40):
            assert _line(program)
        for each in _workers(program.pid):
            os.kill(each, signal.SIGKILL)
        (tmp_path / "inbox" / "late.xml").write_text("<a/>")
        assert _line(program) == "inbox/late.xml\t1\n"
        *_, last = _end(program)
    assert last.startswith("41 documents, 41 matches in ")


def _workers(pid: int) -> list[int]:
    children = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
    return [
        int(each) for each in children if "spawn_main" in Path(f"/proc/{each}/cmdline").read_text()
    ]


@pytest.mark.usefixtures("shop")
def test_only_folders_can_be_watched(twigcast: Twigcast) -> None:
    result = twigcast("match", "subs.csv", "good.xml", "--watch")
    assert result.exit_code == 2
    assert "--watch takes folders" in result.stderr
