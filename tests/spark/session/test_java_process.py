"""Whenever an interrupt comes: no process, no temporary file is left, and no word of Java's."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace

import pytest

from twigcast.spark.session import java_process

pytestmark = [
    pytest.mark.xdist_group("java processes"),
    pytest.mark.skipif(not Path("/proc/self/environ").exists(), reason="looks for them in /proc"),
]

EXECUTABLE = Path(sys.executable).with_name("twigcast")
TURNS_MAX = 6_000
PAUSE = [sys.executable, "-c", "import select; select.select([], [], [], 0.02)"]


def _marked(mark: bytes) -> dict[int, str]:
    """The processes whose environment has the mark, and what they are called."""
    found: dict[int, str] = {}
    for place in Path("/proc").iterdir():
        if place.name.isdigit():
            try:
                if mark in (place / "environ").read_bytes():
                    found[int(place.name)] = (place / "comm").read_text().strip()
            except OSError:
                continue
    return found


def _await(condition: Callable[[], bool]) -> None:
    """Look until something holds; a watchdog of so many looks ends what never comes."""
    for _ in range(TURNS_MAX):
        if condition():
            return
        subprocess.run(PAUSE, check=True)
    raise AssertionError("it never came")


HELD = """
import sys
from importlib.abc import MetaPathFinder
from importlib.machinery import PathFinder


class Finder(MetaPathFinder):
    def find_spec(self, name, path, target=None):
        if name != {module!r}:
            return None
        spec = PathFinder.find_spec(name, path, target)
        usual = spec.loader.exec_module

        def exec_module(module):
            usual(module)
            module.{place} = hold

        spec.loader.exec_module = exec_module
        return spec


def hold(*_given, **_named):
    import select
    from pathlib import Path

    Path({here!r}).touch()
    while True:
        select.select([], [], [], 0.1)


sys.meta_path.insert(0, Finder())
"""
"""A ``sitecustomize`` that stops whoever comes to a place, and says so."""

PLACES = {
    "a job runs": ("twigcast.spark.worker.parquet_parts", "write_outcomes"),
    "tables are put in place": ("twigcast.spark.storage.batches", "BatchOutput.finish"),
}

MOMENTS: dict[str, Callable[[dict[int, str], Path], bool]] = {
    "the script runs": lambda found, _tmp: len(found) > 1,
    "Java runs": lambda found, _tmp: "java" in found.values(),
    "Java can be reached": lambda found, tmp: (
        "java" in found.values() and any(tmp.rglob("blockmgr-*"))
    ),
    **dict.fromkeys(PLACES, lambda _found, tmp: (tmp.parent / "here").exists()),
}


@pytest.mark.parametrize("moment", MOMENTS)
@pytest.mark.parametrize(
    ("number", "code"),
    [(signal.SIGINT, 130), (signal.SIGTERM, 143), (signal.SIGKILL, -signal.SIGKILL)],
)
def test_an_interrupt_leaves_no_java_behind(
    tmp_path: Path, moment: str, number: signal.Signals, code: int
) -> None:
    (tmp_path / "s.txt").write_text("//a\n")
    (tmp_path / "d.xml").write_text("<a/>")
    temporary = tmp_path / "tmp"
    temporary.mkdir()
    environment = {**os.environ, "TMPDIR": str(temporary)}
    if moment in PLACES:
        module, place = PLACES[moment]
        held = HELD.format(module=module, place=place, here=str(tmp_path / "here"))
        (tmp_path / "python").mkdir()
        (tmp_path / "python" / "sitecustomize.py").write_text(held)
        environment["PYTHONPATH"] = str(tmp_path / "python")
    mark = f"TWIGCAST_TEST_{os.getpid()}_{number}_{len(moment)}".encode()
    words = ["run", "--subscriptions", "s.txt", "--publications", "d.xml", "--out", "out"]
    process = subprocess.Popen(
        [EXECUTABLE, *words, "--master", "local[1]"],
        cwd=tmp_path,
        env={**environment, "MARK": mark.decode()},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        start_new_session=True,
    )
    try:
        _await(lambda: MOMENTS[moment](_marked(mark), temporary) or process.poll() is not None)
        assert process.poll() is None, "it ended too soon"
        process.send_signal(number)
        _, complaints = process.communicate(timeout=60)
        assert (process.returncode, complaints) == (code, b"")
        _await(lambda: not _marked(mark))
        if number != signal.SIGKILL:
            assert list(temporary.iterdir()) == []
    finally:
        process.kill()
        process.wait()
        for left in _marked(mark):
            os.kill(left, signal.SIGKILL)


@pytest.mark.parametrize(
    ("error", "ending"), [(KeyboardInterrupt, "ends"), (SystemExit, "ends"), (ValueError, "stays")]
)
def test_a_java_that_was_started_is_ended_by_interrupts_only(
    error: type[BaseException], ending: str
) -> None:
    process = subprocess.Popen(["/bin/sh", "-c", "read line"], stdin=subprocess.PIPE)
    gateway = SimpleNamespace(proc=process)
    with pytest.raises(error), java_process.unless_interrupted(lambda: gateway):
        raise error
    assert (process.poll() is not None) == (ending == "ends")
    java_process.end(process)
    assert process.poll() is not None
    assert process.stdin is not None
    process.stdin.close()
