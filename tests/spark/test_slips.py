"""Whoever calls the faces of Spark with odd values is told so, before Spark is started."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from pathlib import Path
from typing import Any
from unittest.mock import Mock

import pytest
from pyspark.errors import PySparkException
from pyspark.sql import SparkSession

from tests.spark.sessions import hide_session
from tests.test_slips import ODD, Raised
from twigcast.errors import InternalError, TwigcastError, UsageError
from twigcast.spark import Pipeline, grid, matches, pipeline, read_table, register, run_batch
from twigcast.spark.session.session import check_session


def _no_session() -> Any:  # noqa: ANN401
    """A session that does nothing it is asked for."""
    made = Mock(spec=SparkSession)
    made.sparkContext.defaultParallelism = 2
    made.range.side_effect = made.udf.register.side_effect = PySparkException("no")
    return made


def _pipeline() -> Pipeline:
    return Pipeline(_no_session(), None, ["//a"])


CALLS: dict[str, tuple[Callable[..., object], dict[str, Any]]] = {
    "Pipeline": (Pipeline, {"topology": {"links": [["a", "b"]]}}),
    "disseminate": (_pipeline().disseminate, {"publications": "feed"}),
    "stream": (
        _pipeline().stream,
        {"publications": "feed", "out": "out", "checkpoint": "checkpoint"},
    ),
    "read_table": (read_table, {"spark": _no_session(), "out": "out", "name": "metrics"}),
    "matches": (matches, {"column": "content", "subscriptions": ["//a"]}),
    "register": (register, {"spark": _no_session(), "subscriptions": ["//a"]}),
    "grid": (grid, {"spark": _no_session(), "work": lambda a: {"b": a}, "axes": {"a": [1]}}),
}


@pytest.mark.parametrize(
    ("call", "parameter"),
    [
        (call, parameter)
        for call, (function, _) in CALLS.items()
        for parameter in inspect.signature(function).parameters
    ],
)
def test_a_slip_is_told_as_one(
    call: str, parameter: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse() -> None:
        raise TwigcastError("Spark is not started")

    monkeypatch.setattr(pipeline, "start_session", refuse)
    hide_session(monkeypatch)
    monkeypatch.chdir(tmp_path)
    (tmp_path / "feed").mkdir()
    function, needed = CALLS[call]
    for odd, value in ODD.items():
        try:
            function(**{**needed, parameter: value()})
        except InternalError as error:
            pytest.fail(f"{odd}: {error}")
        except (TwigcastError, Raised):
            pass  # It says what is wrong, or is the caller's own; a call that succeeds is right.


@pytest.mark.parametrize("odd", [7, "local[*]", [], SparkSession, SparkSession.builder])
@pytest.mark.parametrize(
    "call",
    [
        lambda odd, _: Pipeline(odd, None, ["//a"]),
        lambda odd, at: run_batch(["//a"], at, at / "out", spark=odd),
        lambda odd, at: read_table(odd, at, "metrics"),
        lambda odd, _: read_table(odd, "hdfs://host/out", "metrics"),
        lambda odd, _: register(odd, ["//a"]),
        lambda odd, _: grid(odd, lambda a: {"b": a}, {"a": [1]}),
    ],
)
def test_what_is_no_session_is_told_before_anything_is_done(
    call: Callable[[object, Path], object], odd: object, tmp_path: Path
) -> None:
    with pytest.raises(UsageError, match=r"spark is a Spark session, as start_session.*, not "):
        call(odd, tmp_path)
    assert list(tmp_path.iterdir()) == []


def test_a_session_that_is_connected_to_is_a_session() -> None:
    connected = pytest.importorskip("pyspark.sql.connect.session")
    check_session(Mock(spec=connected.SparkSession))


def test_the_name_of_a_function_is_text() -> None:
    with pytest.raises(UsageError, match="the name of a function is text, not 5"):
        register(_no_session(), ["//a"], 5)  # type: ignore[arg-type]
