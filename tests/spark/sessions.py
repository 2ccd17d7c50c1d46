"""What tests do to Spark sessions."""

from __future__ import annotations

import pytest
from pyspark.errors import PySparkException
from pyspark.sql import SparkSession

from twigcast.spark.session.listing import LISTING_TASKS


def hide_session(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let it look as if no session had been started."""

    def refuse() -> SparkSession:
        raise PySparkException("there is none")

    monkeypatch.setattr(SparkSession, "active", refuse)


def session_of_a_user(spark: SparkSession) -> SparkSession:
    """A session without the settings for listing that ours have."""
    session = spark.newSession()
    session.conf.unset(LISTING_TASKS)
    return session


def tasks_by_job(spark: SparkSession) -> dict[int, int]:
    """How many tasks each job had so far."""
    java = spark.sparkContext._jsc.sc()
    java.listenerBus().waitUntilEmpty()
    jobs = java.statusStore().jobsList(None)
    return {
        jobs.apply(number).jobId(): jobs.apply(number).numTasks() for number in range(jobs.size())
    }
