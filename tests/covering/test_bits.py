"""Sets of small numbers as the bits of an integer."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from twigcast.covering.bits import each_bit, mask_of, numbers_of


@given(st.sets(st.integers(0, 200)))
def test_a_mask_has_the_numbers_it_was_made_of(numbers: set[int]) -> None:
    mask = mask_of(numbers)
    assert list(numbers_of(mask)) == sorted(numbers)
    assert list(each_bit(mask)) == [1 << number for number in sorted(numbers)]
    assert mask_of([*numbers, *numbers]) == mask
