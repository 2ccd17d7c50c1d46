"""Spark lists files by few tasks, unless somebody has chosen."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.spark.sessions import session_of_a_user, tasks_by_job
from tests.spark.streams import Place
from twigcast.spark.session.listing import LISTING_TASKS

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = [pytest.mark.spark, pytest.mark.xdist_group("spark")]


def test_files_that_arrive_are_listed_by_few_tasks_in_any_session(
    tmp_path: Path, spark: SparkSession
) -> None:
    user = session_of_a_user(spark)
    user.conf.set("spark.sql.files.maxPartitionBytes", "1")  # As if there were thousands of files.
    place = Place(tmp_path, user)
    place.publish("x", *range(40))  # From 33 on, Spark would start a task for each.
    jobs = tasks_by_job(spark).keys()
    place.run(changes=None)
    assert max(count for job, count in tasks_by_job(spark).items() if job not in jobs) <= 8


def test_a_session_that_has_chosen_how_to_list_files_keeps_its_choice(
    tmp_path: Path, spark: SparkSession
) -> None:
    user = session_of_a_user(spark)
    user.conf.set(LISTING_TASKS, "3")
    Place(tmp_path, user).run()
    assert user.conf.get(LISTING_TASKS) == "3"
