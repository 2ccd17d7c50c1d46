"""A program that is interrupted ends in order."""

from __future__ import annotations

import signal
import subprocess
import sys
from pathlib import Path

from tests.cli.executable import EXECUTABLE


def test_an_interrupted_program_leaves_without_a_traceback(tmp_path: Path) -> None:
    command = [str(EXECUTABLE), "generate", "patterns", "--count", "10000000", "--no-distinct"]
    with subprocess.Popen(
        command, cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    ) as program:
        assert program.stdout is not None
        assert program.stdout.readline()  # It is in the middle of its work now.
        program.send_signal(signal.SIGINT)
        _, complaints = program.communicate()
    assert program.returncode == 130
    assert b"Traceback" not in complaints


def test_an_interrupt_while_an_object_is_let_go_of_is_not_lost() -> None:
    program = (
        "import signal, sys\n"
        "from twigcast.cli.interrupts import interrupt_again\n"
        "sys.unraisablehook = interrupt_again\n"
        "class Held:\n"
        "    def __del__(self): signal.raise_signal(signal.SIGINT)\n"
        "try:\n"
        "    del (held := [Held()])[0]\n"
        "    while True: pass\n"
        "except KeyboardInterrupt: print('interrupted')\n"
    )
    told = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )
    assert (told.stdout, told.stderr) == ("interrupted\n", "")
