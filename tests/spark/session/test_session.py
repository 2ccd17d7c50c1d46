"""Spark starts quietly, with the settings that were measured, or says why it does not."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO

import pyarrow as pa
import pytest
from pyspark import SparkContext
from pyspark.errors import PySparkRuntimeError

import twigcast.spark
from tests.spark.sessions import hide_session
from twigcast.errors import UsageError
from twigcast.spark import start_session
from twigcast.spark.session import session
from twigcast.spark.session.java import Java

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pyspark.sql import SparkSession

QUIET = """
from twigcast.spark import start_session
spark = start_session("local[1]", quick=True, settings={"spark.app.name": "hush"})
print(spark.range(3).mapInArrow(lambda batches: batches, "id long").count())
print(spark.sparkContext.appName)
try:
    spark.range(1).selectExpr("raise_error('loud')").collect()
except Exception as error:
    print(type(error).__name__)
spark.stop()
"""


@pytest.mark.spark
@pytest.mark.xdist_group("spark")
def test_nothing_of_javas_talk_reaches_the_terminal(tmp_path: Path) -> None:
    environment = {**os.environ, "TMPDIR": str(tmp_path)}
    done = subprocess.run(
        [sys.executable, "-c", QUIET],
        capture_output=True,
        text=True,
        check=True,
        env=environment,
        cwd=tmp_path,
    )
    assert done.stdout.splitlines() == ["3", "hush", "SparkRuntimeException"]
    assert done.stderr == ""


@pytest.mark.spark
@pytest.mark.xdist_group("spark")
def test_a_session_has_the_measured_settings_and_is_the_only_one(spark: SparkSession) -> None:
    assert start_session() is spark
    settings = {
        "spark.sql.execution.arrow.maxRecordsPerBatch": "1000",
        "spark.driver.host": "127.0.0.1",
        "spark.driver.bindAddress": "127.0.0.1",
        "spark.ui.enabled": "false",
        "spark.sql.shuffle.partitions": "2",
        "spark.master": "local[2,2]",
    }
    assert {key: spark.conf.get(key) for key in settings} == settings
    assert spark.sparkContext.uiWebUrl is None


@pytest.mark.spark
@pytest.mark.xdist_group("spark")
def test_started_workers_have_imported_what_a_run_needs(spark: SparkSession) -> None:
    cores = session.cores_of(spark)

    def look(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        is_there = "twigcast.spark.plans.distribution" in sys.modules
        for batch in batches:
            yield pa.RecordBatch.from_pydict({"is_there": [is_there] * batch.num_rows})

    session.start_workers(spark)
    rows = spark.range(0, cores, 1, cores).mapInArrow(look, "is_there boolean").collect()
    assert [row["is_there"] for row in rows] == [True] * cores


@pytest.mark.parametrize(
    ("said", "hint"),
    [
        ("Exception: Master must be local", ""),
        ("Exception: [unresolved dependency: org#module;4: not found]", session._NO_PACKAGE),
    ],
)
def test_a_spark_that_does_not_start_says_why(
    monkeypatch: pytest.MonkeyPatch, said: str, hint: str
) -> None:
    def launch(_: object, popen: dict[str, BinaryIO]) -> None:
        popen["stderr"].write(f"a banner\n{said}\n\tat java.lang\n".encode())
        raise PySparkRuntimeError("the gateway exited")

    monkeypatch.setattr("pyspark.java_gateway.launch_gateway", launch)
    monkeypatch.setattr(SparkContext, "_gateway", None)
    hide_session(monkeypatch)
    monkeypatch.setattr(session, "find_java", lambda: Java(Path("/java"), 17, "PATH"))
    monkeypatch.setenv("JAVA_HOME", "/before")
    with pytest.raises(UsageError) as caught:
        start_session("nonsense")
    assert str(caught.value) == f"Spark did not start: {said}{hint}"


@pytest.mark.parametrize(
    ("locale", "expected"),
    [
        ({"LC_ALL": "C", "LANG": "de_DE.UTF-8"}, "C.UTF-8"),
        ({}, "C.UTF-8"),
        ({"LC_CTYPE": "C.UTF-8", "LANG": "C"}, None),
        ({"LC_ALL": "de_DE.utf8"}, "de_DE.utf8"),
    ],
)
def test_java_reads_names_of_files_as_utf8(
    monkeypatch: pytest.MonkeyPatch, locale: dict[str, str], expected: str | None
) -> None:
    monkeypatch.setattr(session, "find_java", lambda: Java(Path("/java"), 17, "PATH"))
    monkeypatch.setattr(os, "environ", dict(locale))
    session._prepare_environment()
    assert os.environ.get("LC_ALL") == expected


def test_without_the_extra_one_sentence_says_what_to_install(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(twigcast.spark, "find_spec", lambda _: None)
    monkeypatch.delitem(vars(twigcast.spark), "run_batch", raising=False)
    with pytest.raises(
        UsageError, match=r"needs pyspark, pyarrow, pandas.*pip install '\.\[spark\]'"
    ):
        _ = twigcast.spark.run_batch


def test_the_face_has_the_names_it_promises() -> None:
    assert dir(twigcast.spark) == sorted(twigcast.spark.__all__)
    for name in twigcast.spark.__all__:
        assert getattr(twigcast.spark, name).__name__ == name
    with pytest.raises(AttributeError, match="no attribute 'nonsense'"):
        _ = twigcast.spark.nonsense


CONFIGURED = """
import json, sys
from twigcast.spark import start_session

names = ("spark.master", "spark.app.name", "spark.ui.enabled", "spark.driver.memory",
         "spark.sql.execution.arrow.maxRecordsPerBatch", "spark.local.dir")


def facts(spark):
    memory = spark.sparkContext._jvm.java.lang.Runtime.getRuntime().maxMemory()
    settings = spark.sparkContext.getConf()
    return {**{name: settings.get(name) for name in names}, "bytes": memory}


first = start_session(settings={"spark.app.name": "first", "spark.master": "local[1]"})
found = [facts(first)]
first.stop()
second = start_session("local[2]", settings={"spark.local.dir": sys.argv[1]})
found.append(facts(second))
second.stop()
print(json.dumps(found))
"""


@pytest.mark.spark
@pytest.mark.xdist_group("java processes")
def test_settings_of_a_call_count_most_then_those_of_a_file_then_the_defaults(
    tmp_path: Path,
) -> None:
    lines = (
        "spark.driver.memory 600m",
        f"spark.local.dir {tmp_path}/of-file",
        "spark.sql.execution.arrow.maxRecordsPerBatch 7",
    )
    (tmp_path / "spark-defaults.conf").write_text("\n".join(lines), encoding="utf-8")
    done = subprocess.run(
        [sys.executable, "-c", CONFIGURED, f"{tmp_path}/called"],
        capture_output=True,
        text=True,
        check=True,
        env={**os.environ, "SPARK_CONF_DIR": str(tmp_path)},
    )
    first, second = json.loads(done.stdout)
    of_file = {
        "spark.driver.memory": "600m",
        "spark.sql.execution.arrow.maxRecordsPerBatch": "7",
        "spark.ui.enabled": "false",
    }
    assert first.items() >= of_file.items()
    assert second.items() >= of_file.items()
    assert first["bytes"] < 700_000_000
    assert [first[name] for name in PLACES] == ["local[1]", "first", f"{tmp_path}/of-file"]
    # What was the first session's alone has gone with it.
    assert [second[name] for name in PLACES] == ["local[2]", "twigcast", f"{tmp_path}/called"]


PLACES = ("spark.master", "spark.app.name", "spark.local.dir")


def test_a_program_that_was_submitted_to_a_spark_elsewhere_connects_to_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    hide_session(monkeypatch)
    monkeypatch.setenv("SPARK_REMOTE", "sc://127.0.0.1:nonsense")
    with pytest.raises(UsageError, match=r"cannot connect to sc://127\.0\.0\.1:nonsense: "):
        start_session()
