"""Where in a source text a marked piece stands, for tests that replace it by a fault."""

from __future__ import annotations

import re
from typing import Final

_MARKED: Final = re.compile("«(.*)»", re.DOTALL)


def place_of(original: str, text: str) -> tuple[int, int]:
    """Where what is marked by ``«`` and ``»`` stands; with what is around it, it is there once.

    Lines may be broken otherwise than in ``original``, between any two words or signs.
    """
    marked = _MARKED.search(original)
    assert marked is not None, f"nothing is marked in {original}"
    before, after = original[: marked.start()], original[marked.end() :]
    pattern = rf"{_spaced(before)}\s*(?P<place>{_spaced(marked[1])}),?\s*{_spaced(after)}"
    found = list(re.finditer(pattern, text))
    assert len(found) == 1, f"{len(found)} times there: {original}"
    return found[0].span("place")


def _spaced(text: str) -> str:
    return r"\s*".join(map(re.escape, re.findall(r"\w+|[^\w\s]", text)))
