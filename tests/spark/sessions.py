"""What tests do to Spark sessions."""

from __future__ import annotations

import pytest
from pyspark.errors import PySparkException
from pyspark.sql import SparkSession


def hide_session(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let it look as if no session had been started."""

    def refuse() -> SparkSession:
        raise PySparkException("there is none")

    monkeypatch.setattr(SparkSession, "active", refuse)
