"""The runner notices what was planted, tells how to repeat it, and goes on."""

from __future__ import annotations

import json
import os
import re
import shlex
import signal
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PLANTED = "tests.fuzz.planted"


def fuzz(*arguments: str, planted: str = "") -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "fuzz", *arguments],
        cwd=ROOT,
        env=_environment(planted),
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )


def _environment(planted: str) -> dict[str, str]:
    return {**os.environ, "TWIGCAST_FUZZ_PLANTED": planted}


def run(corpus: Path, planted: str, *more: str) -> subprocess.CompletedProcess[str]:
    return fuzz(
        *(PLANTED, "--seconds", "1", "--seed", "5", "--corpus", str(corpus), *more), planted=planted
    )


def commands(output: str) -> list[list[str]]:
    """The arguments of each command that is told to repeat a fault."""
    return [shlex.split(line)[3:] for line in re.findall(r"^  repeat: (.*)$", output, re.MULTILINE)]


def cases(corpus: Path) -> list[list[str]]:
    return [json.loads(path.read_text())["words"] for path in (corpus / PLANTED).glob("*.json")]


def row(output: str) -> dict[str, str]:
    """The line of the summary about the planted target, by the heads of its columns."""
    head, line = output.rstrip().splitlines()[-2:]
    return dict(zip(head.split(), line.split(), strict=False))


def test_a_decent_target_ends_well(tmp_path: Path) -> None:
    done = run(tmp_path, "")
    assert done.returncode == 0, done.stdout + done.stderr
    counted = row(done.stdout)
    assert int(counted["cases"].replace(",", "")) > 100
    assert counted["faults"] == "0"
    assert not cases(tmp_path)


@pytest.mark.parametrize(
    ("planted", "signature"),
    [("wrong", "a wrong word"), ("raise", "ZeroDivisionError"), ("eat", "MemoryError")],
)
def test_a_planted_fault_is_found_made_small_and_repeated_by_its_command(
    planted: str, signature: str, tmp_path: Path
) -> None:
    done = run(tmp_path, planted)
    assert done.returncode == 1, done.stdout + done.stderr
    assert signature in done.stdout
    assert cases(tmp_path) == [[planted]]
    (command,) = commands(done.stdout)
    assert command[:3] == [PLANTED, "--seed", "5"]
    again = fuzz(*command, planted=planted)
    assert again.returncode == 1
    assert signature in again.stdout


def test_the_others_go_on_behind_a_fault(tmp_path: Path) -> None:
    counted = row(run(tmp_path, "wrong").stdout)
    assert int(counted["faults"].replace(",", "")) > 1
    assert counted["kinds"] == "1"
    assert int(counted["accepted"].replace(",", "")) > 100


@pytest.mark.parametrize(
    ("planted", "signature"), [("die", "the process ended with 7"), ("hang", "no end after")]
)
def test_a_case_that_ends_or_stops_its_process_is_a_fault(
    planted: str, signature: str, tmp_path: Path
) -> None:
    done = run(tmp_path, planted, "--case-seconds", "3")
    assert done.returncode == 1
    assert signature in done.stdout
    (found,) = cases(tmp_path)
    assert planted in found
    assert int(row(done.stdout)["accepted"]) > 0
    (command,) = commands(done.stdout)
    again = fuzz(*command, "--case-seconds", "3", planted=planted)
    assert again.returncode == 1
    assert signature in again.stdout


def test_a_fault_that_needs_the_cases_before_it_is_repeated_with_them(tmp_path: Path) -> None:
    done = run(tmp_path, "history")
    (command,) = commands(done.stdout)
    assert re.fullmatch(r"\d+-\d+", command[-1])
    again = fuzz(*command, planted="history")
    assert again.returncode == 1
    assert "seen before" in again.stdout


def test_the_cases_of_the_corpus_come_first(tmp_path: Path) -> None:
    kept = tmp_path / PLANTED / "kept.json"
    kept.parent.mkdir()
    kept.write_text('{"words": ["sit", "wrong"]}')
    done = run(tmp_path, "")
    assert done.returncode == 1
    (command,) = commands(done.stdout)
    assert command == [PLANTED, "--case", str(kept)]
    assert fuzz(*command).returncode == 1
    assert json.loads(kept.read_text()) == {"words": ["sit", "wrong"]}


def test_the_same_seed_gives_the_same_cases(tmp_path: Path) -> None:
    for folder in ("one", "other"):
        run(tmp_path / folder, "history")
    assert cases(tmp_path / "one") == cases(tmp_path / "other")


def test_a_ctrl_c_ends_with_what_was_done_so_far(tmp_path: Path) -> None:
    command = [sys.executable, "-u", "-m", "fuzz", PLANTED, "--seconds", "500", "--seed", "5"]
    running = subprocess.Popen(
        [*command, "--corpus", str(tmp_path)],
        cwd=ROOT,
        env=_environment("hang"),
        stdout=subprocess.PIPE,
        text=True,
    )
    assert running.stdout is not None
    assert running.stdout.readline().startswith("seed 5")
    running.send_signal(signal.SIGINT)
    output, _ = running.communicate(timeout=60)
    assert running.returncode == 130
    assert "cases/s" in output


def test_unknown_targets_and_cases_are_wrong_usage() -> None:
    unknown = fuzz("nothing")
    assert unknown.returncode == 2
    assert "documents" in unknown.stderr
    assert fuzz(PLANTED, "--case", "nowhere.json").returncode == 2
    assert fuzz("--case", "1").returncode == 2


def test_every_target_is_listed() -> None:
    listed = fuzz("--list")
    assert listed.returncode == 0
    names = {line.split()[0] for line in listed.stdout.splitlines()}
    assert names == {path.stem for path in (ROOT / "fuzz" / "targets").glob("[a-z]*.py")}
