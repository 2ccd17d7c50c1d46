"""Canonical models: the exact check for tree patterns, within a budget of steps.

A twig with ``//`` matches infinitely many documents, but finitely many of them suffice (Miklau and
Suciu, *Containment and equivalence for a fragment of XPath*, 2004): replace every ``*`` by a name
that occurs nowhere, and every ``//`` by a chain of such elements, of every length from none to one
more than the longest row of ``*`` joined by ``/`` in the wider twig. The wider twig covers the
narrower one if and only if it matches all of these *canonical models*.

    wider      //a[*/b]/…            the longest row of stars is 1,
    narrower   //a//b[…]             so each // becomes 0, 1 or 2 unknown elements

Longer chains add nothing: nodes of the wider twig that lie in a chain longer than its rows of stars
cannot be fixed to both ends of it, so one end can be moved away and the rest still fits. The models
need no values: a test of the wider twig counts as passed only where it follows from the narrower
one's tests of that very node.

There are exponentially many models, since the problem is coNP-complete. So they are not listed;
their set is split into *classes*, each the narrower twig with some ``//`` made longer or closed:

    a//b   =   a/b   or   a/*//b          and so on with the last

A homomorphism onto the twig of a class decides all of its models at once; a model at one end of
the class (all chains as short, or as long, as can be) that the wider twig does not match decides
the whole check. Only a class where neither happens is split again. The first class decides most
pairs, and only the few ``//`` that the answer depends on are split.

The wider side may be several twigs, of which each model must match one: alternatives of an ``or``.
"""

from __future__ import annotations

from collections.abc import Sequence

from twigcast.covering.containment.homomorphism import (
    Follows,
    lies_on,
    plainly_follows,
    target_twig,
)
from twigcast.covering.containment.twig import ElementChain, Twig, stretched
from twigcast.language.condition.model import ANY_ELEMENT


class OutOfSteps(Exception):  # noqa: N818  # Not an error: the budget has done its work.
    """The budget of steps is used up."""


class Steps:
    """A budget of steps: one for each pair of nodes that a homomorphism might join."""

    __slots__ = ("left", "taken")

    def __init__(self, budget: int) -> None:
        self.left = budget
        self.taken = 0

    def take(self, count: int) -> None:
        """Use so many steps, or raise :class:`OutOfSteps`."""
        if count > self.left:
            self.left = 0
            raise OutOfSteps
        self.left -= count
        self.taken += count


def covers_every_model(
    widers: Sequence[Twig], narrower: Twig, steps: Steps, follows: Follows = plainly_follows
) -> bool:
    """Whether every model of the narrower twig matches one of the condensed wider ones.

    Raises :class:`OutOfSteps` where there are more models to check than steps left.
    """
    models = _Models(widers, narrower, steps, follows)
    whole = (ElementChain((), is_open=True),) * len(models.far)
    if not models.match(models.shortest(whole)) or not models.match(models.longest(whole)):
        return False
    pending = [whole]
    while pending:
        chains = pending.pop()
        if models.match(chains):
            continue
        position = next((position for position, chain in enumerate(chains) if chain.is_open), None)
        if position is None:
            return False
        closed, longer = models.split(chains, position)
        # The shortest model of the one and the longest of the other were checked before.
        if not models.match(models.longest(closed)) or not models.match(models.shortest(longer)):
            return False
        pending += [longer, closed]
    return True


def longest_row_of_stars(twig: Twig) -> int:
    """The length of the longest row of ``*`` joined by ``/``."""
    rows = [0] * twig.size
    for node in range(1, twig.size):
        if twig.labels[node] == ANY_ELEMENT:
            rows[node] = 1 + (0 if twig.reaches[node] else rows[twig.parents[node]])
    return max(rows)


class _Models:
    """Classes of models of one twig: a chain for each of its ``//`` nodes."""

    def __init__(
        self, widers: Sequence[Twig], narrower: Twig, steps: Steps, follows: Follows
    ) -> None:
        self._widers, self._narrower = widers, narrower
        self._steps, self._follows = steps, follows
        self._size = sum(wider.size for wider in widers)
        self._longest = 1 + max(map(longest_row_of_stars, widers))
        self.far = [node for node, reach in enumerate(narrower.reaches) if reach]

    def match(self, chains: tuple[ElementChain, ...]) -> bool:
        """Whether a homomorphism shows that a wider twig matches every model of the class."""
        twig = stretched(self._narrower, dict(zip(self.far, chains, strict=True)))
        self._steps.take(self._size * twig.size)
        target = target_twig(twig)
        return any(lies_on(wider, target, self._follows) for wider in self._widers)

    def shortest(self, chains: tuple[ElementChain, ...]) -> tuple[ElementChain, ...]:
        """The model with the shortest chains of the class."""
        return tuple(ElementChain(chain.elements, is_open=False) for chain in chains)

    def longest(self, chains: tuple[ElementChain, ...]) -> tuple[ElementChain, ...]:
        """The model whose open chains have the greatest length needed."""
        full = ElementChain((ANY_ELEMENT,) * self._longest, is_open=False)
        return tuple(full if chain.is_open else chain for chain in chains)

    def split(
        self, chains: tuple[ElementChain, ...], position: int
    ) -> tuple[tuple[ElementChain, ...], tuple[ElementChain, ...]]:
        """The two halves of the class: one chain closed as it is, or one element longer."""
        elements = chains[position].elements
        extended = ElementChain((*elements, ANY_ELEMENT), is_open=len(elements) + 1 < self._longest)
        before, behind = chains[:position], chains[position + 1 :]
        return (*before, ElementChain(elements, is_open=False), *behind), (
            *before,
            extended,
            *behind,
        )
