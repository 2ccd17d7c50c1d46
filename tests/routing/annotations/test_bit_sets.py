"""Sets of small numbers as bytes."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from twigcast.covering.bits import mask_of
from twigcast.routing.annotations.bit_sets import bits_of, members


@given(st.sets(st.integers(0, 99)), st.integers(100, 130))
def test_bytes_have_the_members_they_were_made_of(numbers: set[int], count: int) -> None:
    bits = bits_of(numbers, count)
    assert len(bits) == -(-count // 8)
    assert members(bits) == members(mask_of(numbers)) == sorted(numbers)


def test_a_member_beyond_the_bytes_is_no_member() -> None:
    with pytest.raises(OverflowError):
        bits_of([16], 16)
