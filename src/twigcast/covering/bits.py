"""Sets of small numbers as the bits of an integer."""

from __future__ import annotations

from collections.abc import Iterable, Iterator


def mask_of(numbers: Iterable[int]) -> int:
    """The integer with these bits.

    >>> mask_of([0, 2])
    5
    """
    mask = 0
    for number in numbers:
        mask |= 1 << number
    return mask


def each_bit(mask: int) -> Iterator[int]:
    """Each bit as an integer of its own, lowest first.

    >>> list(each_bit(5))
    [1, 4]
    """
    while mask:
        bit = mask & -mask
        yield bit
        mask ^= bit


def numbers_of(mask: int) -> Iterator[int]:
    """The numbers whose bits are set, ascending.

    >>> list(numbers_of(5))
    [0, 2]
    """
    while mask:
        bit = mask & -mask
        yield bit.bit_length() - 1
        mask ^= bit
