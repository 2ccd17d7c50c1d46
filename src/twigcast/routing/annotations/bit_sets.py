"""Sets of small numbers as bits: as a number to calculate with, as bytes to send.

The bit of a member is counted from the lowest, in bytes from the lowest of the first byte.
"""

from __future__ import annotations

from collections.abc import Iterable

from twigcast.covering.bits import mask_of


def bits_of(members: Iterable[int], count: int) -> bytes:
    """Bytes for so many bits, those of the members set; all members must be below the count.

    >>> bits_of([0, 2, 9], 10).hex()
    '0502'
    """
    return mask_of(members).to_bytes((count + 7) // 8, "little")


def members(bits: bytes | int) -> list[int]:
    """Whose bits are set, ascending.

    >>> members(bytes.fromhex("0502")), members(5)
    ([0, 2, 9], [0, 2])
    """
    if isinstance(bits, int):
        bits = bits.to_bytes((bits.bit_length() + 7) // 8, "little")
    return [
        8 * place + bit
        for place, byte in enumerate(bits)
        if byte
        for bit in range(8)
        if byte >> bit & 1
    ]
