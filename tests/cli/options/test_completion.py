"""Completion in the shell."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from tests.cli.executable import EXECUTABLE, VERBS


def test_shell_completion_knows_verbs_and_schemas(tmp_path: Path) -> None:
    def completed(words: str, place: int) -> list[str]:
        asked = {
            "_TWIGCAST_COMPLETE": "complete_bash",
            "COMP_WORDS": words,
            "COMP_CWORD": str(place),
        }
        told = subprocess.run(
            [EXECUTABLE],
            cwd=tmp_path,
            env={**os.environ, **asked},
            capture_output=True,
            check=False,
        )
        return told.stdout.decode().split()

    assert completed("twigcast ", 1) == list(VERBS)
    assert completed("twigcast generate patterns --dtd ne", 4) == ["news"]


@pytest.mark.parametrize("place", ["abc", ""])
def test_a_shell_that_asks_for_completion_in_other_words_is_told_so(place: str) -> None:
    asked = {"_TWIGCAST_COMPLETE": "complete_bash", "COMP_WORDS": "twigcast", "COMP_CWORD": place}
    ended = subprocess.run(
        [EXECUTABLE], env={**os.environ, **asked}, capture_output=True, text=True, check=False
    )
    assert (ended.returncode, ended.stdout) == (2, "")
    assert ended.stderr.startswith("twigcast: what the shell gives for completion cannot be read")
    assert ended.stderr.count("\n") == 1
