"""The program as a whole: help, exit codes, and the real executable in pipes."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from typer.core import TyperCommand

from tests.cli.executable import ALL_VERBS, EXECUTABLE, VERBS
from twigcast import __version__
from twigcast.cli.program import app
from twigcast.errors import DocumentError, UsageError

if TYPE_CHECKING:
    from tests.cli.conftest import Twigcast


HEAVY = ("lxml", "pyspark", "pyarrow", "pandas", "matplotlib", "rich", "importlib.metadata")


def run_program(*words: str, folder: Path) -> subprocess.CompletedProcess[bytes]:
    """The real program, with its output and complaints as bytes."""
    return subprocess.run([EXECUTABLE, *words], cwd=folder, capture_output=True, check=False)


@pytest.mark.parametrize("verb", ALL_VERBS, ids=" ".join)
def test_the_help_of_each_verb_is_short_and_has_an_example(
    twigcast: Twigcast, verb: tuple[str, ...]
) -> None:
    result = twigcast(*verb, "--help")
    assert result.exit_code == 0
    assert f"\n    twigcast {verb[0]}" in result.stdout
    assert twigcast(*verb, "-h").stdout == result.stdout
    assert "\x1b" not in result.stdout


def test_the_help_lists_the_verbs_in_order(twigcast: Twigcast) -> None:
    result = twigcast("--help")
    listed = [line.split()[0] for line in result.stdout.splitlines() if line.startswith("  ")]
    assert [word for word in listed if word in VERBS] == list(VERBS)
    assert twigcast().stdout + twigcast().stderr == result.stdout


def test_the_version_is_shown(twigcast: Twigcast) -> None:
    assert twigcast("--version").stdout == f"twigcast {__version__}\n"


@pytest.mark.parametrize(
    "words", [("nonsense",), ("match",), ("match", "--nonsense", "a", "b"), ("generate", "x")]
)
def test_wrong_words_are_a_matter_of_usage(twigcast: Twigcast, words: tuple[str, ...]) -> None:
    result = twigcast(*words)
    assert (result.exit_code, result.stdout) == (2, "")
    assert result.stderr


@pytest.mark.parametrize(
    ("error", "code"),
    [
        (UsageError("do that instead"), 2),
        (DocumentError("not well-formed", document="a.xml"), 1),
        (OSError(28, "No space left on device"), 1),
        (BrokenPipeError(), 141),
        (KeyboardInterrupt(), 130),
    ],
    ids=lambda given: type(given).__name__,
)
def test_what_goes_wrong_is_a_sentence_and_an_exit_code(
    twigcast: Twigcast, monkeypatch: pytest.MonkeyPatch, error: BaseException, code: int
) -> None:
    def fail(_path: str, **_given: object) -> None:
        raise error

    monkeypatch.setattr("twigcast.files.read_subscriptions", fail)
    result = twigcast("check", "subs.txt")
    assert result.exit_code == code
    assert "Traceback" not in result.stderr
    assert result.stderr == (f"twigcast: {error}\n" if code in (1, 2) else "")


WORDS = {
    ("match",): ("subs.txt", "good.xml"),
    ("explain",): ("//item", "good.xml"),
    ("check",): ("subs.txt",),
    ("covers",): ("//a", "//b"),
    ("aggregate",): ("subs.txt",),
    ("advertise",): ("news",),
    ("generate", "patterns"): (),
    ("generate", "documents"): (),
    ("generate", "topology"): ("line",),
    ("run",): ("--subscriptions", "subs.txt", "--publications", ".", "--out", "out"),
    ("compact",): ("out",),
    ("simulate",): ("net.toml",),
    ("demo",): (),
    ("about",): (),
    ("doctor",): (),
}
"""Words that each verb takes; a new verb without any fails."""


@pytest.mark.usefixtures("shop")
@pytest.mark.parametrize(
    "verb", [verb for verb in ALL_VERBS if verb != ("generate",)], ids=" ".join
)
@pytest.mark.parametrize(
    "error",
    [AssertionError("a promise was broken"), KeyError("b"), RecursionError(), MemoryError()],
)
def test_what_nobody_foresaw_is_one_sentence_of_each_verb(
    twigcast: Twigcast, monkeypatch: pytest.MonkeyPatch, verb: tuple[str, ...], error: Exception
) -> None:
    def fail(*_args: object, **_given: object) -> None:
        raise error

    monkeypatch.setattr(TyperCommand, "invoke", fail)
    result = twigcast(*verb, *WORDS[verb])
    assert (result.exit_code, result.stdout) == (1, "")
    (sentence,) = result.stderr.splitlines()
    assert sentence.startswith(f"twigcast: the command failed: {type(error).__name__}")


def test_our_own_mistakes_are_not_hidden(
    twigcast: Twigcast, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(_path: str, **_given: object) -> None:
        raise AssertionError("a promise was broken")

    monkeypatch.setattr("twigcast.files.read_subscriptions", fail)
    assert "TWIGCAST_TRACEBACK=1" in twigcast("check", "subs.txt").stderr
    monkeypatch.setenv("TWIGCAST_TRACEBACK", "1")
    told = twigcast("check", "subs.txt").stderr.splitlines()
    assert told[0].startswith("Traceback")
    assert told[-2] == "AssertionError: a promise was broken"
    assert told[-1].startswith("twigcast: the command failed: AssertionError")


EMPTY: dict[str, list[tuple[str, ...]]] = {
    "match": [("", "good.xml"), ("subs.txt", ""), ("subs.txt", "good.xml", ""),
              ("subs.txt", "good.xml", "--copy-to", ""), ("subs.txt", "good.xml", "--move-to", ""),
              ("subs.txt", "good.xml", "--files", "")],
    "explain": [("//a", ""), ("", "good.xml", "--rule", "1")],
    "check": [("",)],
    "covers": [("--pairs", ""), ("//a", "//b", "--dtd", "")],
    "aggregate": [("",), ("subs.txt", "--budget", "5", "--dtd", "")],
    "advertise": [("",), ("", "--from-documents"), ("news", "--overlaps", "")],
    "generate patterns": [("--dtd", ""), ("--out", "")],
    "generate documents": [("--dtd", ""), ("--out", "")],
    "generate topology": [("line", "--out", "")],
    "run": [
        ("--subscriptions", "", "--publications", ".", "--out", "out"),
        ("--subscriptions", "subs.txt", "--publications", "", "--out", "out"),
        ("--subscriptions", "subs.txt", "--publications", ".", "--out", ""),
        ("--subscriptions", "subs.txt", "--publications", ".", "--out", "o", "--topology", ""),
        ("--subscriptions", "subs.txt", "--publications", ".", "--out", "o", "--stream",
         "--checkpoint", ""),
        ("--subscriptions", "subs.txt", "--publications", ".", "--out", "o", "--stream",
         "--checkpoint", "c", "--changes", ""),
    ],
    "simulate": [("",), ("net.toml", "--draw", "")],
    "demo": [("--out", "")],
}  # fmt: skip


@pytest.mark.usefixtures("shop")
@pytest.mark.parametrize(
    ("verb", "words"), [(verb, words) for verb, all_words in EMPTY.items() for words in all_words]
)
def test_an_empty_word_is_refused_before_anything_is_read_or_written(
    twigcast: Twigcast, tmp_path: Path, verb: str, words: tuple[str, ...]
) -> None:
    before = sorted(tmp_path.iterdir())
    result = twigcast(*verb.split(), *words)
    assert (result.exit_code, result.stdout) == (2, "")
    assert "empty" in result.stderr
    assert "rule" in " ".join(words) or result.stderr.count("\n") == 1
    assert sorted(tmp_path.iterdir()) == before


@pytest.mark.usefixtures("shop")
@pytest.mark.parametrize(
    ("command", "code", "told"),
    [
        ('"$0" match subs.csv good.xml > /dev/full', 1, "No space left"),
        ('"$0" --help > /dev/full', 1, "No space left"),
        ('"$0" match subs.csv good.xml --json > /dev/full', 1, "No space left"),
        ('"$0" match subs.csv good.xml >&-', 2, "standard output is closed"),
        ('"$0" --help >&-', 2, "standard output is closed"),
        ('"$0" match subs.csv - <&-', 1, "standard input is closed"),
        ('"$0" match - good.xml <&-', 2, "standard input is closed"),
        ('"$0" covers --pairs - <&-', 2, "standard input is closed"),
        ('"$0" match subs.csv good.xml <&-', 0, ""),
        ('"$0" match subs.csv good.xml 2>&-', 0, ""),
        ('"$0" match subs.csv broken.xml 2>/dev/full', 1, ""),
    ],
)
def test_streams_that_are_full_or_closed_end_in_a_sentence(
    tmp_path: Path, command: str, code: int, told: str
) -> None:
    ended = subprocess.run(
        ["/bin/sh", "-c", command, EXECUTABLE], cwd=tmp_path, capture_output=True, check=False
    )
    complaints = [line for line in ended.stderr.splitlines() if line.startswith(b"twigcast:")]
    assert b"Traceback" not in ended.stderr + ended.stdout
    assert ended.returncode == code
    assert told.encode() in b"".join(complaints)
    if "2>&-" in command:
        assert ended.stdout == b"good.xml\tb a\n", "complaints are not mixed into the answers"


def test_starting_up_imports_nothing_heavy() -> None:
    program = f"import sys, twigcast.cli.program; print([m for m in {HEAVY} if m in sys.modules])"
    told = subprocess.run([sys.executable, "-c", program], capture_output=True, check=True)
    assert told.stdout.strip() == b"[]"


@pytest.mark.usefixtures("shop")
def test_data_and_complaints_go_separate_ways(tmp_path: Path) -> None:
    words = ("match", "subs.txt", "good.xml", "broken.xml", "--engine", "streaming")
    told = run_program(*words, folder=tmp_path)
    assert told.returncode == 1
    assert told.stdout == b"good.xml\t1 3 5\n"
    assert [line.split(b":")[0] for line in told.stderr.splitlines()[:-1]] == [b"twigcast"] * 2


@pytest.mark.usefixtures("shop")
def test_the_executable_answers_from_standard_input(tmp_path: Path) -> None:
    told = subprocess.run(
        [EXECUTABLE, "match", "-", "good.xml", "--json"],
        cwd=tmp_path,
        input=b"//item\n",
        capture_output=True,
        check=True,
    )
    assert told.stdout == b'{"document": "good.xml", "matches": [1]}\n'


@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_an_interrupt_while_the_program_starts_is_an_exit_code_and_no_word(
    tmp_path: Path, number: int, code: int
) -> None:
    (tmp_path / "typer.py").write_text("print('starting', flush=True)\ninput()\n")
    with subprocess.Popen(
        [EXECUTABLE, "--version"],
        env={**os.environ, "PYTHONPATH": str(tmp_path)},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    ) as program:
        assert program.stdout is not None
        assert program.stdout.readline() == b"starting\n"
        program.send_signal(number)
        _, said = program.communicate()
    assert (program.returncode, said) == (code, b"")


def test_output_is_utf_8_whatever_the_locale(tmp_path: Path) -> None:
    (tmp_path / "subs.txt").write_text("//größe\n", encoding="utf-8")
    environment = {**os.environ, "PYTHONIOENCODING": "ascii", "PYTHONUTF8": "0"}
    told = subprocess.run(
        [EXECUTABLE, "check", "subs.txt"],
        cwd=tmp_path,
        env=environment,
        capture_output=True,
        check=True,
    )
    assert "//größe" in told.stdout.decode("utf-8")


def test_a_reader_that_leaves_is_no_reason_to_complain(tmp_path: Path) -> None:
    command = [str(EXECUTABLE), "generate", "patterns", "--count", "200000", "--no-distinct"]
    with subprocess.Popen(
        command, cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    ) as program:
        assert program.stdout is not None
        assert program.stderr is not None
        assert program.stdout.readline()
        program.stdout.close()
        complaints = program.stderr.read()
    assert complaints == b""
    assert program.returncode == 141


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs a disk that is always full")
def test_a_full_disk_is_one_sentence(tmp_path: Path) -> None:
    with Path("/dev/full").open("wb") as full:
        told = subprocess.run(
            [EXECUTABLE, "generate", "patterns"],
            cwd=tmp_path,
            stdout=full,
            stderr=subprocess.PIPE,
            check=False,
        )
    assert told.returncode == 1
    assert told.stderr.splitlines() == [b"twigcast: [Errno 28] No space left on device"]


def test_the_application_can_be_called_from_python() -> None:
    assert app.info.name == "twigcast"


def test_a_failure_before_a_verb_begins_is_one_sentence() -> None:
    failing = (
        "from twigcast.cli import program\n"
        "def fail(): raise MemoryError\n"
        "program.app = fail\n"
        "program.run_program()"
    )
    told = subprocess.run(
        [sys.executable, "-c", failing], capture_output=True, text=True, check=False
    )
    assert (told.returncode, told.stdout) == (1, "")
    reason = "MemoryError; the machine has no memory left for it"
    assert told.stderr == f"twigcast: the command failed: {reason}\n"
