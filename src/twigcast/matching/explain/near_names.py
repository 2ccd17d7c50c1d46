"""Names that another name may be a slip of.

A hint that is far-fetched costs more time than none, so a name is proposed only where a slip of the
hand or of the memory leads from one to the other:

    Title, ID            title, id      letters of another case
    pub_date, pubDate    pub-date       another separator, or none
    titles               title          one and many
    klass, tilte         class, title   a letter or two, by the length of the name
    desc                 description    the beginning of a name

Names of one or two letters are near to everything, hence to nothing.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Final

_LETTERS_MIN: Final = 3
"""Shorter names have nothing in common that could not be chance, but for the letters' case."""

_NAME_MAX: Final = 60
"""Longer names are nobody's slip, and comparing them takes time."""

_SLIPS: Final = ((4, 0), (8, 1), (13, 2))
"""Names with fewer letters than the first may differ in so many; longer ones in three."""

_SHORT: Final = (4, 5)
"""Letters of a name that may be short for another; longer ones are rather part of another word."""

_SHORT_SHARE: Final = 3
"""What is short for a name has at least a third of its letters."""

_SEPARATORS: Final = re.compile(r"[-_.]")


def nearest_name(name: str, pool: Iterable[str]) -> str | None:
    """The name in the pool that ``name`` is most likely a slip of; None if it is of none.

    >>> nearest_name("klass", ["id", "class", "outputclass"]), nearest_name("id", ["di"])
    ('class', None)
    """
    ranked = ((_distance(name, other), place, other) for place, other in enumerate(pool))
    near = [(distance, place, other) for distance, place, other in ranked if distance is not None]
    return min(near)[2] if near else None


def _distance(name: str, other: str) -> int | None:
    """How far a name is from another; None if too far."""
    one, two = name.lower(), other.lower()
    if name != other and one == two and len(one) > 1:
        return 0
    if min(len(name), len(other)) < _LETTERS_MIN or max(len(name), len(other)) > _NAME_MAX:
        return None
    if name == other:
        return None
    if _SEPARATORS.sub("", one) == _SEPARATORS.sub("", two):
        return 1
    short, long = sorted((one, two), key=len)
    if long in _plurals(short):
        return 2
    allowed = next((slips for length, slips in _SLIPS if len(short) < length), 3)
    slips = _slips(one, two, allowed)
    if slips <= allowed:
        return 2 + slips
    return 10 + len(long) - len(short) if _is_short_for(*sorted((name, other), key=len)) else None


def _is_short_for(short: str, long: str) -> bool:
    """Whether a name is the beginning of another, which goes on within a word."""
    within = long[len(short) : len(short) + 1].islower()
    fits = _SHORT[0] <= len(short) <= _SHORT[1] and _SHORT_SHARE * len(short) >= len(long)
    return fits and within and long.lower().startswith(short.lower())


def _plurals(name: str) -> tuple[str, ...]:
    return f"{name}s", f"{name}es", f"{name[:-1]}ies" if name.endswith("y") else f"{name}s"


def _slips(one: str, two: str, most: int) -> int:
    """Letters added, left out, replaced, or exchanged with the next; more than ``most`` is enough.

    This is the distance of Damerau and Levenshtein, with each letter exchanged at most once.
    """
    if abs(len(one) - len(two)) > most:
        return most + 1
    before: list[int] = []
    row = list(range(len(two) + 1))
    for i, letter in enumerate(one, start=1):
        above, before, row = before, row, [i]
        for j, other in enumerate(two, start=1):
            cost = min(before[j] + 1, row[j - 1] + 1, before[j - 1] + (letter != other))
            if i > 1 and j > 1 and letter == two[j - 2] and one[i - 2] == other:
                cost = min(cost, above[j - 2] + 1)
            row.append(cost)
    return row[-1]
