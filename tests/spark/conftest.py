"""One Spark session for all tests that need one, made when the first of them asks for it."""

from __future__ import annotations

from collections.abc import Iterator
from importlib.util import find_spec
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

if find_spec("pyspark") is None:
    # Without the extra there is nothing here to test.
    collect_ignore_glob = ["test_*.py"]


@pytest.fixture(scope="session")
def spark() -> Iterator[SparkSession]:
    """An embedded session with two cores and two tries for a task, quick to start."""
    from twigcast.spark import start_session

    session = start_session("local[2,2]", quick=True)
    yield session
    session.stop()
