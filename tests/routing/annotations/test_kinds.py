"""Kinds of annotations, and how they are written."""

from __future__ import annotations

import pytest

from tests.routing.annotated import (
    EVERY_KIND,
)
from twigcast.errors import UsageError
from twigcast.routing.annotations.annotations import (
    Kinds,
)
from twigcast.routing.annotations.hints import HintLimits


@pytest.mark.parametrize("kinds", EVERY_KIND, ids=str)
def test_kinds_are_read_as_they_are_written(kinds: Kinds) -> None:
    assert Kinds.parse(str(kinds)) == kinds
    assert bool(kinds) == bool(str(kinds))


@pytest.mark.parametrize("text", ["s", "+", "-ds", "-s+s", "+s+d", "+s -d", "+sd-sdx"])
def test_other_ways_of_writing_kinds_are_refused(text: str) -> None:
    with pytest.raises(UsageError, match="annotations are '\\+s', '\\+d'"):
        Kinds.parse(text)


def test_there_are_as_many_kinds_as_the_paper_combines() -> None:
    assert len(set(map(str, EVERY_KIND))) == 16
    assert str(Kinds.parse("+sd-d")) == "+sd-d"
    assert HintLimits().rows_max == 8 * 128
