"""What looking for one string in another costs, done as libxml2 does it: at every place anew.

The cost is per character of the text looked at, or of the whole text where it is known. A string
that overlaps with itself makes the difference: ``aaab`` is nearly found at every place of ``aaaa``,
``needle`` at none but where it is.
"""

from __future__ import annotations

from collections import Counter
from functools import lru_cache

COMPARED = 0.25
"""A character compared with one of those looked for, in visits of a node."""


@lru_cache(maxsize=256)
def looking_for(needle: str) -> float:
    """What looking for the needle costs per character of the text.

    libxml2 tries every place anew, so text like the needle's beginning is read as often as the
    needle overlaps with itself: not at all in ``needle``, at every character in ``aaab``.
    """
    overlaps, borders = 1.0, [0]
    for place in range(1, len(needle)):
        border = borders[-1]
        while border and needle[place] != needle[border]:
            border = borders[border - 1]
        borders.append(border + (needle[place] == needle[border]))
        overlaps = max(overlaps, (place + 1) / (place + 1 - borders[-1]))
    return COMPARED * overlaps


@lru_cache(maxsize=256)
def looking_in(text: str) -> float:
    """What looking for anything in the text costs, done as libxml2 does it.

    So many characters of the needle are compared as there are places with the same beginning: of
    one character, of two, of four …
    """
    total, length = 0.0, 1
    while length <= len(text):
        places = Counter(text[start : start + length] for start in range(len(text) - length + 1))
        total += length * max(places.values())
        length *= 2
    return COMPARED * (len(text) + total)
