"""Links of a watched folder that lead round in circles."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.spark.streams import Place
from twigcast.errors import UsageError

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


pytestmark = [pytest.mark.spark, pytest.mark.xdist_group("spark")]


@pytest.fixture
def place(tmp_path: Path, spark: SparkSession) -> Place:
    return Place(tmp_path, spark)


def test_links_that_lead_round_in_many_circles_are_refused(place: Place, tmp_path: Path) -> None:
    place.publish("x", 7)
    for name in ("one", "other"):
        (place.documents / name).symlink_to(place.documents)
    with pytest.raises(UsageError, match=r"or round in circles, as in .*documents/.*; remove them"):
        place.start()
    assert not (tmp_path / "out" / "deliveries").exists()
