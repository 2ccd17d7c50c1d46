"""Ctrl-C and SIGTERM in the first moments of the program, each at a chosen one."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

import twigcast
from tests.cli.executable import EXECUTABLE

_AT_A_CALL = """
import os, signal, sys

def interrupt(frame, event, _):
    code = frame.f_code
    if event == "call" and code.co_name == {name!r} and code.co_filename.endswith({file!r}):
        sys.setprofile(None)
        os.kill(os.getpid(), {number})

sys.setprofile(interrupt)
"""
"""Python runs this before the program (``sitecustomize``)."""

MOMENTS = [
    ("end_in_order", "twigcast/cli/interrupts.py"),
    ("<module>", "typer/__init__.py"),
    ("run_program", "twigcast/cli/program.py"),
    ("_run_verb", "twigcast/cli/program.py"),
    ("__call__", "typer/main.py"),
    ("get_command", "typer/main.py"),
    ("get_params_from_function", "typer/utils.py"),
    ("main", "typer/core.py"),
    ("_flushed", "twigcast/cli/program.py"),
]


@pytest.mark.parametrize("moment", MOMENTS, ids=lambda moment: "-".join(moment).replace("/", "."))
@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_an_interrupt_at_any_moment_of_the_start_is_an_exit_code_and_no_traceback(
    tmp_path: Path, moment: tuple[str, str], number: int, code: int
) -> None:
    name, file = moment
    hook = _AT_A_CALL.format(name=name, file=file, number=int(number))
    (tmp_path / "sitecustomize.py").write_text(hook)
    ended = subprocess.run(
        [EXECUTABLE, "--version"],
        env={**os.environ, "PYTHONPATH": str(tmp_path)},
        capture_output=True,
        check=False,
    )
    assert ended.returncode == code
    assert b"Traceback" not in ended.stderr


def test_nothing_is_imported_before_the_interrupts_are_taken() -> None:
    program = (
        "import os, sys\n"
        f"sys.path.insert(0, {str(Path(twigcast.__file__).parents[1])!r})\n"
        "loaded = set(sys.modules)\n"
        "from twigcast.cli import main\n"
        "print(*sorted(set(sys.modules) - loaded))\n"
    )
    told = subprocess.run(
        [sys.executable, "-I", "-S", "-c", program], capture_output=True, text=True, check=True
    )
    ours = ["twigcast", "twigcast.cli", "twigcast.cli.starting"]
    assert told.stdout.split() == ["__future__", *ours]
