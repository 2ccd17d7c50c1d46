"""The number of tasks by which Spark lists files."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

from pyspark.sql import SparkSession

LISTING_TASKS: Final = "spark.sql.sources.parallelPartitionDiscovery.parallelism"

LISTING_TASKS_MAX: Final = 8
"""Spark lists more than 32 paths by tasks, one for each path; and each costs as much as listing
some hundreds of files."""

_UNSET: Final = "0"


def list_by_few_tasks(spark: SparkSession) -> bool:
    """Let a session list files by few tasks; False if somebody has chosen how many there are.

    A stream asks its session again for each batch, so there it stays like this.
    """
    if spark.conf.get(LISTING_TASKS, _UNSET) != _UNSET:
        return False
    spark.conf.set(LISTING_TASKS, str(LISTING_TASKS_MAX))
    return True


@contextmanager
def few_listing_tasks(spark: SparkSession) -> Iterator[None]:
    """Let a session list files by few tasks in the body of the ``with``."""
    is_ours = list_by_few_tasks(spark)
    try:
        yield
    finally:
        if is_ours:
            spark.conf.unset(LISTING_TASKS)
