"""XSEARCH: both searches equal homomorphism, pair by pair."""

from __future__ import annotations

from random import Random

from hypothesis import given
from hypothesis import strategies as st

from tests.covering.drawn import drawn_path, drawn_pattern, drawn_tree
from tests.strategies import NAMESPACES
from twigcast.covering import FactorizationTree, covers
from twigcast.covering.containment.homomorphism import TargetTwig, lies_on, target_twig
from twigcast.covering.containment.twig import condensed, twig_of
from twigcast.covering.containment.value_implication import value_implies
from twigcast.language import Pattern
from twigcast.language.condition.model import Condition, ValueTest

randoms = st.randoms(use_true_random=False)


def drawn(rng: Random) -> Pattern:
    """A path or a tree, half of them with values."""
    if rng.random() < 0.5:
        return Pattern.parse(rng.choice((drawn_path, drawn_tree))(rng, stars=0.3))
    while True:
        pattern = Pattern.parse(drawn_pattern(rng, for_oracle=False), NAMESPACES)
        if twig_of(pattern.condition) is not None:
            return pattern


def one_test_follows(target: TargetTwig, node: int, wanted: Condition) -> bool:
    """XNET orders tests one by one: two of them together imply no more than each."""
    assert isinstance(wanted, ValueTest)
    tests = [test for test in target.twig.tests[node] if isinstance(test, ValueTest)]
    return any(value_implies(stronger=test, weaker=wanted) for test in tests)


def lies(wider: Pattern, narrower: Pattern) -> bool:
    """Whether there is a homomorphism between the normalised patterns."""
    first, second = (twig_of(each.condition) for each in (wider, narrower))
    assert first
    assert second
    return lies_on(condensed(first), target_twig(condensed(second)), one_test_follows)


@given(randoms)
def test_both_searches_equal_homomorphism_for_each_pair_while_patterns_come_and_go(
    rng: Random,
) -> None:
    tree = FactorizationTree()
    there: dict[int, Pattern] = {}
    for number in range(25):
        if there and rng.random() < 0.3:
            leaving = rng.choice(list(there))
            tree.remove(leaving)
            del there[leaving]
        there[number] = drawn(rng)
        tree.add(number, there[number])
    for probe in (drawn(rng), drawn(rng), rng.choice(list(there.values()))):
        above = [number for number, each in there.items() if lies(each, probe)]
        below = [number for number, each in there.items() if lies(probe, each)]
        assert tree.covering(probe) == above
        assert tree.covered(probe) == below
        assert all(covers(wider=there[number], narrower=probe) for number in above)
    assert len(tree) == len(there)


def test_a_pattern_may_end_inside_another() -> None:
    tree = FactorizationTree()
    tree.add(1, "/a/b")
    tree.add(2, "/a/b/c")
    tree.add(3, "/a")
    assert tree.covering("/a/b") == [1, 3]
    assert tree.covered("/a/b") == [1, 2]
    assert tree.covering("/a/b/c/d") == [1, 2, 3]
    tree.add(4, "true()")
    assert tree.covering("//z") == [4]
    assert tree.covered("true()") == [1, 2, 3, 4]
