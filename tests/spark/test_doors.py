"""Nothing but our own errors leaves what a program calls on Spark; Spark is not started for it."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any
from unittest.mock import Mock

import pytest
from pyspark.sql import SparkSession

from twigcast.errors import InternalError, TwigcastError
from twigcast.spark import column as functions
from twigcast.spark import parameter_grid as parameters
from twigcast.spark import pipeline, result
from twigcast.spark.column import matches, register
from twigcast.spark.parameter_grid import grid
from twigcast.spark.pipeline import Pipeline, run_batch
from twigcast.spark.result import read_table
from twigcast.spark.stream import stream
from twigcast.spark.stream.stream import BatchStep, Stream

NOBODY: Any = Mock(spec=SparkSession)
"""A session or a stream that is never asked for anything."""
NOBODY.processAllAvailable = lambda: None


def _disseminate(folder: Path) -> object:
    return Pipeline(NOBODY, None, ["//a"]).disseminate(folder, folder / "out")


def _stream(folder: Path) -> object:
    made = Pipeline(NOBODY, None, ["//a"])
    return made.stream(folder, folder / "out", checkpoint=folder / "checkpoint")


def _wait(folder: Path) -> object:
    return Stream(NOBODY, BatchStep(NOBODY, NOBODY, str(folder))).wait(1)


def _catch_up(folder: Path) -> None:
    Stream(NOBODY, BatchStep(NOBODY, NOBODY, str(folder))).catch_up()


def _stop(folder: Path) -> None:
    Stream(NOBODY, BatchStep(NOBODY, NOBODY, str(folder))).stop()


DOORS: list[tuple[Callable[[Path], object], Any, str]] = [
    (lambda _: Pipeline(NOBODY, None, ["//a"]), pipeline, "load_subscriptions"),
    (lambda _: Pipeline(NOBODY, None, ["//a"]), pipeline, "design_of"),
    (lambda _: Pipeline(NOBODY, None, ["//a"]).prepared, pipeline, "prepare"),
    (_disseminate, pipeline, "validated_publications"),
    (_disseminate, pipeline, "Output"),
    (_disseminate, pipeline, "prepare"),
    (lambda folder: run_batch(["//a"], folder, folder / "out", spark=NOBODY), pipeline, "Batch"),
    (_stream, pipeline, "is_connected_to"),
    (_stream, stream, "start_stream"),
    (_stream, stream, "BatchStep"),
    (_wait, stream.Stream, "_ends_within"),
    (_catch_up, stream.Stream, "_raise_failure"),
    (_stop, stream, "suppress"),
    (lambda _: matches("content", ["//a"]), functions, "running_session"),
    (lambda _: register(NOBODY, ["//a"]), functions, "load_subscriptions"),
    (lambda folder: read_table(NOBODY, folder, "deliveries"), result, "manifests_of"),
    (lambda _: grid(NOBODY, lambda a: {"b": a}, {"a": [1]}), parameters, "_checked_count"),
]


@pytest.mark.parametrize(("call", "where", "name"), DOORS)
@pytest.mark.parametrize(
    "error",
    [KeyError("b"), RecursionError(), UnicodeDecodeError("utf-8", b"\xff", 0, 1, "no")],
    ids=lambda error: type(error).__name__,
)
def test_what_nobody_foresaw_is_told_as_ours(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    call: Callable[[Path], object],
    where: Any,  # noqa: ANN401
    name: str,
    error: Exception,
) -> None:
    def fails(*_: object, **__: object) -> None:
        raise error

    monkeypatch.setattr(where, name, fails)
    with pytest.raises(InternalError, match=type(error).__name__) as told:
        call(tmp_path)
    assert told.value.__cause__ is error


@pytest.mark.parametrize(("call", "where", "name"), DOORS)
@pytest.mark.parametrize("error", [KeyboardInterrupt(), SystemExit(3), TwigcastError("ours")])
def test_what_may_leave_leaves_as_it_is(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    call: Callable[[Path], object],
    where: Any,  # noqa: ANN401
    name: str,
    error: BaseException,
) -> None:
    def fails(*_: object, **__: object) -> None:
        raise error

    monkeypatch.setattr(where, name, fails)
    with pytest.raises(type(error)) as told:
        call(tmp_path)
    assert told.value is error


@pytest.mark.parametrize("name", ["validated_publications", "Output", "prepare"])
def test_a_disk_that_fails_is_told_as_that(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    def full(*_: object, **__: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(pipeline, name, full)
    with pytest.raises(TwigcastError, match=r"the run did not finish: .*No space left") as told:
        _disseminate(tmp_path)
    assert not isinstance(told.value, InternalError)
