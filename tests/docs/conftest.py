"""The Spark session that pages and examples run in, made when the first of them asks for it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


@pytest.fixture(scope="session")
def spark() -> Iterator[SparkSession]:
    """An embedded session like that of Spark's own tests; ``start_session`` hands it out again."""
    from twigcast.spark import start_session

    session = start_session("local[2]", quick=True)
    yield session
    session.stop()
