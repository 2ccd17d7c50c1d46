"""The engine ``native`` of the cover index: the kernel, where it is installed.

The kernel (the package ``twigcast-kernel``, written in Rust) keeps the twigs of patterns as arrays,
finds candidates by their features, and decides nearly all of these itself: by homomorphisms over
masks of bits, and by canonical models where there is none, with the same steps as
:func:`~twigcast.covering.containment.covers.decide_compiled`.

It has no rules for implications between tests. It numbers the tuples of tests that it meets at
nodes, calls this module, once, to decide whether one follows from another, and caches the answer.
What depends on more than the two tuples (``not(self::a)`` on the label of the node, ``not(@x)`` on
what is known of its attributes) is left open wherever the result depends on it, and so are twigs of
more than 128 nodes and pairs that exceed the budget.

In this room, this module alone imports the kernel; :data:`AVAILABLE` is whether there is one.
"""

from __future__ import annotations

from dataclasses import dataclass

from twigcast.covering.containment.covers import COVER_BUDGET, CompiledPattern, follows
from twigcast.covering.containment.homomorphism import TargetTwig, target_twig
from twigcast.covering.containment.twig import CHILD, twig_from_arrays
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


@dataclass(frozen=True, slots=True)
class CandidateStatistics:
    """The contents of the kernel, and counters of searches."""

    patterns: int
    nodes: int
    labels: int
    tests: int
    """Distinct sets of tests."""
    features: int
    """Distinct features: names, names joined by ``/``, values."""
    bytes: int
    """A rough estimate of the memory used; 0 when empty."""
    searches: int
    decided: int
    """Pairs decided in all searches."""
    sure: int
    open: int
    """Pairs left to :func:`~twigcast.covering.containment.covers.decide_compiled`."""


class NativeCandidates:
    """Numbered patterns in the kernel: see :class:`~twigcast.covering.index.engine.Candidates`.

    Any number of threads may use it. Made only where :data:`AVAILABLE`.
    """

    __slots__ = ("_kernel",)

    def __init__(self, *, budget: int = COVER_BUDGET) -> None:
        self._kernel = kernel.Candidates(_follow, _only_value, budget)

    def add(self, number: int, compiled: CompiledPattern) -> None:
        """Add a pattern under a number that is not in use."""
        self._kernel.add(number, compiled.groups, _twigs(compiled))

    def remove(self, number: int) -> None:
        """Remove the pattern with a number that is in use, and all that was kept for it."""
        if not self._kernel.remove(number):
            raise KeyError(number)

    def covering(self, compiled: CompiledPattern) -> tuple[list[int], list[int]]:
        """The numbers (sure, maybe) of patterns that may cover this one."""
        return self._kernel.covering(_twigs(compiled))

    def covered(self, compiled: CompiledPattern) -> tuple[list[int], list[int]]:
        """The numbers (sure, maybe) of patterns that this one may cover."""
        return self._kernel.covered(compiled.groups)

    def statistics(self) -> CandidateStatistics:
        """The current counters."""
        return CandidateStatistics(**self._kernel.statistics())

    def __len__(self) -> int:
        """The number of patterns."""
        return len(self._kernel)


def _twigs(compiled: CompiledPattern) -> tuple[tuple[object, ...], ...]:
    return tuple([target.twig for target in compiled.targets])


# Implications between tests, called by the kernel.


def _follow(stronger: tuple[Condition, ...], weaker: tuple[Condition, ...]) -> bool | None:
    """Whether all the weaker tests pass at a node with the stronger ones; None if it depends."""
    target = _lone_node(stronger)
    depends = False
    for test in weaker:
        if follows(target, 0, test):
            continue
        if not _depends_on_more(test):
            return False
        depends = True
    return None if depends else True


def _lone_node(tests: tuple[Condition, ...]) -> TargetTwig:
    """A node of which only the tests that it passes are known."""
    return target_twig(twig_from_arrays([None], [-1], [CHILD], [tests]))


def _depends_on_more(test: Condition) -> bool:
    """Whether the test may follow from a label, or from attributes below."""
    match test:
        case Not(SelfIs() | Exists()):
            return True
        case AnyOf(parts):
            return any(map(_depends_on_more, parts))
        case _:
            return False


def _only_value(tests: tuple[Condition, ...]) -> str | None:
    """The one string that passes the tests, where one of them requires it.

    Such tests follow only from others that require the same string.
    """
    for test in tests:
        match test:
            case ValueTest(Operator.EQUAL, Literal(value)):
                return value
            case Not(ValueTest(Operator.UNEQUAL, Literal(value))):
                return value
    return None
