"""Positions in a document, and results of following it with the position of each.

A document is read tag by tag. A :class:`Position` counts the start tags and the end tags seen so
far; behind the start tag of the root element it is ``(1, 0)``. Attributes are seen with the start
tag of their element, its texts and its string-value with the end tag.

    <a> <b/> <c> x </c> </a>        //b     (2, 0)
     1   2    3                     //c     (3, 1)
                                    //c/text(), //c[. = 'x']     (3, 2)

Piggyback's annotations name such positions (3.1), and its protocols decide there to forward (3.2).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple


class Position(NamedTuple):
    """So many tags of a document have been seen. Later positions compare as greater."""

    element: int
    """Start tags; so this is the 1-based position of the element that began last."""
    ends: int
    """End tags."""


class LastSeen(NamedTuple):
    """The last occurrence of a path of elements in a document."""

    element: int
    """The 1-based position of the last element that the path leads to."""
    ends: int
    """The end tag, counted from 1, behind which no occurrence is open any more.

    It is that of the *first* element of the path, as in a PD annotation (Piggyback 3.1.1).
    """


@dataclass(frozen=True, slots=True)
class PositionedResult:
    """The result on one document, with positions; ids ascending.

    Whatever is neither in ``decided`` nor in ``undecided`` does not match; that was certain at the
    end of the reading, the position ``end``.
    """

    decided: Mapping[Any, Position]
    """The matches, with the position at which each was certain."""
    undecided: tuple[Any, ...]
    links: tuple[Position | None, ...]
    """The position of each group's first match, in the order given; None where it had none."""
    last: Mapping[Any, LastSeen]
    """The watched paths that occurred; where the reading ended early, as far as it went."""
    never: tuple[Any, ...]
    """The watched paths that did not."""
    end: Position
