"""A design of a network that cannot be."""

from __future__ import annotations

import pytest

from twigcast.errors import UsageError
from twigcast.spark.plans.design import design_of


def test_a_topology_in_two_parts_has_no_ways() -> None:
    with pytest.raises(UsageError, match=r"in 2 parts that no link joins: a, b \| c"):
        design_of({"brokers": ["a", "b", "c"], "links": [["a", "b"]]})
