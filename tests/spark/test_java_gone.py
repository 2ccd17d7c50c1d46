"""A Java machine that is killed: whoever needs it is told so, and a new one can be started."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest
from py4j.protocol import Py4JError, Py4JNetworkError  # type: ignore[import-untyped]

from twigcast.spark.session import failures
from twigcast.spark.session.failures import cause, is_java_gone

PROGRAM = """
import json, os, signal, sys
from pathlib import Path

from pyspark import SparkContext

from twigcast.errors import InternalError, TwigcastError
from twigcast.spark import Pipeline, read_table, start_session
from twigcast.spark.session.session import no_session_left

folder = Path(sys.argv[1])
told = {}


def ask(name, question):
    try:
        told[name] = question()
    except InternalError as error:
        told[name] = f"ours: {error}"
    except TwigcastError as error:
        told[name] = f"told: {error}"
    except Exception as error:
        told[name] = f"raw: {error!r}"


with no_session_left():
    spark = start_session("local[1]", quick=True)
    pipeline = Pipeline(spark, None, ["//a"])
    run = pipeline.disseminate(folder / "feed", folder / "run")
    stream = pipeline.stream(
        folder / "feed", folder / "out", checkpoint=folder / "checkpoint", trigger=60
    )
    stream.catch_up()
    java = SparkContext._gateway.proc
    os.kill(java.pid, signal.SIGKILL)
    ask("is_active", lambda: stream.is_active)
    ask("wait", stream.wait)
    ask("catch_up", stream.catch_up)
    ask("read_table", lambda: read_table(spark, run.out, "deliveries"))
    ask("disseminate", lambda: pipeline.disseminate(folder / "feed", folder / "another"))
    ask("repr", lambda: repr(stream).partition(",")[0])
    ask("stop", stream.stop)
    ask("table", lambda: run.table("deliveries"))
    ask("start_session", lambda: start_session("local[1]", quick=True).range(3).count())
    ask("again", lambda: run.table("deliveries").count())
print(json.dumps(told))
"""


@pytest.mark.spark
@pytest.mark.xdist_group("java processes")
def test_whoever_needs_a_java_that_was_killed_is_told_so(tmp_path: Path) -> None:
    (tmp_path / "feed").mkdir()
    (tmp_path / "feed" / "d.xml").write_text("<a/>")
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM, tmp_path], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    gone = failures._JAVA_GONE
    assert json.loads(done.stdout) == {
        "is_active": False,
        "wait": f"told: the stream has stopped: {gone}",
        "catch_up": f"told: the stream has stopped: {gone}",
        "read_table": f"told: cannot read the table deliveries of {tmp_path / 'run'}: {gone}",
        "disseminate": f"told: the run did not finish: {gone}",
        "repr": "<Stream: ended",
        "stop": None,
        "table": "told: there is no Spark session, or its Java machine has gone; start one to "
        "read tables",
        "start_session": 3,
        "again": 1,
    }


@pytest.mark.parametrize(
    "error",
    [
        ConnectionRefusedError(111, "Connection refused"),
        BrokenPipeError(32, "Broken pipe"),
        EOFError(),
        Py4JNetworkError("Answer from Java side is empty"),
    ],
)
def test_a_talk_that_breaks_off_means_that_java_has_gone(error: Exception) -> None:
    assert is_java_gone(error)
    assert cause(error).startswith("Spark's Java machine has gone")


@pytest.mark.parametrize(
    "error", [Py4JError("no such method"), FileNotFoundError(2, "x"), ValueError("y")]
)
def test_other_failures_do_not(error: Exception, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(failures, "has_gone", lambda **_: False)
    assert not is_java_gone(error)
