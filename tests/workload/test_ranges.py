"""Ranges and markers that nobody can mean."""

from __future__ import annotations

from random import Random

import pytest

from tests.workload.drawn_documents import NEWS
from twigcast.errors import UsageError
from twigcast.workload import (
    Marker,
    PatternShape,
    generate_patterns,
)


@pytest.mark.parametrize("name", ["", "a b", "<x", "1a", "x:y", "\n", "a/b", "{u}a", "a" * 1_001])
def test_a_marker_that_no_element_can_be_called_is_refused(name: str) -> None:
    with pytest.raises(UsageError, match="the marker is the name of an element, without a prefix"):
        Marker(name)
    with pytest.raises(UsageError, match="the marker is the name of an element, without a prefix"):
        generate_patterns(NEWS, rng=Random(1), count=1, shape=PatternShape(marker=name))
