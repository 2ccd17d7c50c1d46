"""Whoever makes a pipeline from odd values is told so, before Spark is started."""

from __future__ import annotations

import inspect
from pathlib import Path
from typing import Any

import pytest

from tests.test_slips import ODD, Raised
from twigcast.errors import InternalError, TwigcastError
from twigcast.spark import Pipeline


@pytest.mark.parametrize("parameter", [*inspect.signature(Pipeline).parameters])
def test_a_slip_is_told_as_one(
    parameter: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    for odd, value in ODD.items():
        arguments: dict[str, Any] = {"topology": {"links": [["a", "b"]]}, parameter: value()}
        try:
            Pipeline(**arguments)
        except TwigcastError as error:
            is_ours = isinstance(error, InternalError) and not isinstance(error.__cause__, Raised)
            assert not is_ours, odd  # A call that succeeds is right as well.
