"""Containment of single paths over ``/ // *``, decided exactly by one scan of bit masks.

In its condensed form (:func:`~twigcast.covering.containment.twig.condensed`) a path is a row of
*blocks*, names and ``*`` joined by ``/``, with *gaps* of at least so many levels between them:

    /a/*/b//*/c/d//*//e     a/*/b   ≥2   c/d   ≥2   e

A block begins and ends with a name (the first with the document node), except that a run of ``*``
at the very end is all gap. The wider path covers the narrower one if and only if its blocks can be
placed on the narrower path's steps, block by block along ``/`` alone, with gaps at least as wide as
required, where a ``//`` of the narrower path counts as one level, for it may be no more.

Sufficiency is plain. Necessity: put so many unknown elements into every ``//`` of the narrower path
that no block can span one; then the blocks lie on its own steps. If some gap is wide enough only
because a ``//`` is long, consider the document where that ``//`` is one level, and the placement of
the wider path there. If no block spans that ``//``, this placement always serves. Otherwise take,
of the two placements, the one that has less before the ``//`` for the blocks before the gap, and
the other for those behind: the gap has only become wider. Repeated for each ``//``, this leaves a
single placement that serves every document.

The images of a prefix of the wider path are the bits of one integer, a bit a level: a step along
``/`` shifts them by one, a gap leaves all levels from the lowest image on. That is a handful of
operations a step, and no search. It is not the scan of Dissemination, Figure 1.14, which is greedy
on paths as written and misses that ``/*/a//*/c`` covers ``/a/a/*//c/b/d`` (section 1.5.2 even
denies it).

Milo and Suciu (*Index structures for path expressions*, 1999) have shown that paths can be
decided in polynomial time.
"""

from __future__ import annotations

from twigcast.covering.containment.homomorphism import (
    Follows,
    TargetTwig,
    plainly_follows,
    where,
    with_label,
)
from twigcast.covering.containment.twig import Twig


def path_covers(*, wider: Twig, narrower: TargetTwig, follows: Follows = plainly_follows) -> bool:
    """Whether a condensed single path covers another that is not condensed.

    Exact where neither has tests, otherwise sound.

    >>> from twigcast.covering.containment.homomorphism import target_twig
    >>> from twigcast.covering.containment.twig import condensed, twig_of
    >>> from twigcast.language import Pattern
    >>> wider, narrower = (
    ...     twig_of(Pattern.parse(text).condition) for text in ("/*/a//*/c", "/a/a/*//c/b/d")
    ... )
    >>> path_covers(wider=condensed(wider), narrower=target_twig(narrower))
    True
    """
    # On a path the number of a node is its depth: each has one child at most.
    near, everywhere = narrower.near, narrower.everywhere
    images = 1
    for node, label in enumerate(wider.labels):
        if node:
            reach = wider.reaches[node]
            lowest = images & -images
            images = (-lowest << reach) & everywhere if reach else (images << 1) & near
        images &= with_label(narrower, label)
        for wanted in wider.tests[node]:
            images = where(narrower, images, wanted, follows)
        if not images:
            return False
    return True
