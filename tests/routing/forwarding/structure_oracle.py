"""The definition of YAK, 4.2: when one structure begins another."""

from __future__ import annotations

from twigcast.language import Pattern
from twigcast.routing.forwarding.structure_prefix import structures


def is_structure_prefix(*, shorter: Pattern, longer: Pattern) -> bool:
    """Whether the structure of the one begins that of the other (YAK, 4.2).

    Where there are several paths, each of the longer must begin with some path of the shorter.
    """
    beginnings = {structure.path for structure in structures(shorter)}
    return all(
        any(path[:end] in beginnings for end in range(len(path) + 1))
        for path, _ in structures(longer)
    )
