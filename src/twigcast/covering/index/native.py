"""The engine ``native`` of the cover index: the kernel, where it is installed.

The kernel (the package ``twigcast-kernel``, written in Rust) keeps the twigs of patterns as arrays,
finds those that could have to do with a pattern by what they need and have, and decides nearly all
of these itself: by homomorphisms over masks of bits, and by canonical models where there is
none, with the same steps as :func:`~twigcast.covering.containment.covers.decide_compiled`.

What tests say of each other it does not know. It numbers the tuples of tests that it meets at
nodes, asks here, once, whether one follows from another, and remembers the answer. What depends on
more than the two tuples (``not(self::a)`` on the label of the node, ``not(@x)`` on what is known of
its attributes) is left open, wherever an answer hangs on it, and so are twigs of more than 128
nodes and questions that exceed the budget.

This module alone imports the kernel; :data:`AVAILABLE` tells whether there is one.
"""

from __future__ import annotations

from dataclasses import dataclass

from twigcast.covering.containment.covers import COVER_BUDGET, CompiledPattern, follows
from twigcast.covering.containment.homomorphism import TargetTwig, target_twig
from twigcast.covering.containment.twig import CHILD, made
from twigcast.language.condition.model import (
    AnyOf,
    Condition,
    Exists,
    Not,
    Operator,
    SelfIs,
    ValueTest,
)
from twigcast.language.xpath.syntax import Literal

try:
    import twigcast_kernel as kernel
except ModuleNotFoundError:  # optional: everything works without it, only slower
    AVAILABLE = False
else:
    # A kernel built before there was a cover index has none.
    AVAILABLE = hasattr(kernel, "Candidates")

__all__ = ["AVAILABLE", "CandidateStatistics", "NativeCandidates"]


@dataclass(frozen=True, slots=True)
class CandidateStatistics:
    """What the kernel holds, and how searches fared."""

    patterns: int
    nodes: int
    labels: int
    tests: int
    """Different sets of tests."""
    features: int
    """What patterns have, told apart: names, names joined by ``/``, values."""
    bytes: int
    """Roughly how much memory it takes; an empty one takes none."""
    searches: int
    decided: int
    """How many pairs were looked at closely, over all searches."""
    sure: int
    open: int
    """How many pairs were left to :func:`~twigcast.covering.containment.covers.decide_compiled`."""


class NativeCandidates:
    """Numbered patterns in the kernel: see :class:`~twigcast.covering.index.engine.Candidates`.

    Any number of threads may use it. Made only where :data:`AVAILABLE`.
    """

    __slots__ = ("_kernel",)

    def __init__(self, *, budget: int = COVER_BUDGET) -> None:
        self._kernel = kernel.Candidates(_follow, _only_value, budget)

    def add(self, number: int, ready: CompiledPattern) -> None:
        """Put in a pattern under a number that is not in use."""
        self._kernel.add(number, ready.groups, _twigs(ready))

    def remove(self, number: int) -> None:
        """Take out the pattern with a number that is in use, and all that was kept for it."""
        if not self._kernel.remove(number):
            raise KeyError(number)

    def covering(self, ready: CompiledPattern) -> tuple[list[int], list[int]]:
        """The numbers (sure, maybe) of patterns that may cover this one."""
        return self._kernel.covering(_twigs(ready))

    def covered(self, ready: CompiledPattern) -> tuple[list[int], list[int]]:
        """The numbers (sure, maybe) of patterns that this one may cover."""
        return self._kernel.covered(ready.groups)

    def statistics(self) -> CandidateStatistics:
        """Counters of the moment."""
        return CandidateStatistics(**self._kernel.statistics())

    def __len__(self) -> int:
        """How many patterns there are."""
        return len(self._kernel)


def _twigs(ready: CompiledPattern) -> tuple[tuple[object, ...], ...]:
    return tuple([ground.twig for ground in ready.grounds])


# What the kernel asks about tests.


def _follow(stronger: tuple[Condition, ...], weaker: tuple[Condition, ...]) -> bool | None:
    """Whether all the weaker tests pass at a node with the stronger ones; None if it depends."""
    ground = _lone_node(stronger)
    depends = False
    for wanted in weaker:
        if follows(ground, 0, wanted):
            continue
        if not _depends_on_more(wanted):
            return False
        depends = True
    return None if depends else True


def _lone_node(tests: tuple[Condition, ...]) -> TargetTwig:
    """A node of which nothing is known but what tests it passes."""
    return target_twig(made([None], [-1], [CHILD], [tests]))


def _depends_on_more(wanted: Condition) -> bool:
    """Whether what the test says may follow from a label, or from attributes below."""
    match wanted:
        case Not(SelfIs() | Exists()):
            return True
        case AnyOf(parts):
            return any(map(_depends_on_more, parts))
        case _:
            return False


def _only_value(tests: tuple[Condition, ...]) -> str | None:
    """The one string that passes the tests, where one of them says so.

    Tests that say so follow only from others that say the same.
    """
    for test in tests:
        match test:
            case ValueTest(Operator.EQUAL, Literal(value)):
                return value
            case Not(ValueTest(Operator.UNEQUAL, Literal(value))):
                return value
    return None
