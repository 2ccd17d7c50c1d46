"""Sets of small numbers as the bits of an integer."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence


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


def neighbours_of(mask: int, near: Sequence[int]) -> int:
    """All numbers that are near one of these; ``near`` has for each number those beside it.

    >>> neighbours_of(0b011, [0b010, 0b100, 0])
    6
    """
    found = 0
    for number in numbers_of(mask):
        found |= near[number]
    return found


def reached_from(mask: int, near: Sequence[int], allowed: int = -1) -> int:
    """All numbers that one or more steps to allowed neighbours lead to.

    >>> reached_from(0b001, [0b010, 0b100, 0])
    6
    """
    found = new = neighbours_of(mask, near) & allowed
    while new:
        new = neighbours_of(new, near) & allowed & ~found
        found |= new
    return found
