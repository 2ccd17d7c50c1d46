"""XNET's factorization tree: its searches equal homomorphism, pair by pair."""

from __future__ import annotations

from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.covering.drawn import drawn_path, drawn_pattern, drawn_tree
from tests.strategies import NAMESPACES
from twigcast.covering import FactorizationTree, covers
from twigcast.covering.containment.homomorphism import TargetTwig, lies_on, target_twig
from twigcast.covering.containment.twig import condensed, twig_of
from twigcast.covering.containment.value_implication import value_implies
from twigcast.covering.papers.tree_pattern import tree_pattern
from twigcast.errors import UsageError
from twigcast.language import Pattern, PatternLimits
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


@given(randoms)
def test_removing_everything_leaves_nothing_behind(rng: Random) -> None:
    tree = FactorizationTree()
    for number in range(20):
        tree.add(number, drawn(rng))
    whole = tree.statistics()
    tree.add(20, drawn(rng))
    tree.remove(20)
    assert tree.statistics() == whole
    for number in rng.sample(range(20), 20):
        tree.remove(number)
    assert tree.statistics() == (0, 0, 0)
    root = tree._root
    left = (root.sub, root.ending, root.branching, root.children, root.names_below)
    assert not any(left)
    assert not tree._by_label
    assert tree.covered("//*") == tree.covering("/a/b/a") == []


# XNET, Figure 2, has lost its labels in the scans. These patterns, with the numbers that occur in
# the traces of Figure 3, give a tree of the shape of those traces: below a (t3) there are c (t4)
# and, since s4 has two of them, two nodes b (t5 and t9); below t5 there are three nodes.
FIGURE_2 = {
    1: "/a/c",
    2: "//c/d",
    3: "/a/b/d",
    6: "/a/b[b][d]",
    7: "/a/b/e",
    4: "/a[b/e][b/d]",
}


@pytest.fixture
def figure_2() -> FactorizationTree:
    tree = FactorizationTree()
    for number, text in FIGURE_2.items():
        tree.add(number, text)
    return tree


def test_patterns_share_nodes_as_in_figure_2_of_xnet(figure_2: FactorizationTree) -> None:
    # s1 2, s2 3 (with //), s3 3, s6 4, s7 3, s4 5; the tree: //cd, a, c, b bde, and the other b
    # with one node below. In XNET's figure it has 10 nodes from t1 to t10.
    assert figure_2.statistics() == (6, 20, 11)
    (a,) = figure_2._root.children["a"]
    first, second = a.children["b"]
    assert (a.sub, first.sub, second.sub) == ({1, 3, 4, 6, 7}, {3, 4, 6, 7}, {4})


def test_the_first_run_of_figure_3_of_xnet(figure_2: FactorizationTree) -> None:
    # u = /a[*/d][b/b]: what has */d is {s3, s6} by t5 and {s4}, what has b/b is {s6} by t5 alone.
    assert figure_2.covered("/a/*/d") == [3, 4, 6]
    assert figure_2.covered("/a/b/b") == [6]
    assert figure_2.covered("/a[*/d][b/b]") == [6]


def test_the_second_run_of_figure_3_of_xnet(figure_2: FactorizationTree) -> None:
    # v = /a//b: S0, a path of no step, gives sub(t5) and sub(t9); S>=1 gives {s6} once more.
    assert figure_2.covered("/a//b") == [3, 4, 6, 7]
    assert figure_2.covered("/a/*//b") == [6]


def test_cover_mode_collects_what_goes_on_in_all_branches(figure_2: FactorizationTree) -> None:
    assert figure_2.covering("/a[b[d][b]][c/d]") == [1, 2, 3, 6]
    assert figure_2.covering("/a/b[d][e]") == [3, 4, 7]
    assert figure_2.covering("/a/b[d]") == [3]
    assert figure_2.covering("//c//d") == []


def test_values_are_ordered_by_implication_as_in_figure_1_of_xnet() -> None:
    tree = FactorizationTree()
    tree.add(1, '//Stock[Symbol = "GHI"][Price > 15]')
    tree.add(2, "//Stock[Price > 10]")
    tree.add(3, "//Stock[Price > 20]")
    assert tree.covering("/Quotes/Stock[Symbol = 'GHI'][Price > 15]") == [1, 2]
    assert tree.covered("//Stock[Price > 12]") == [1, 3]
    assert tree.covered("//Stock[Symbol]") == [1]


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


def test_what_is_no_tree_is_refused() -> None:
    tree = FactorizationTree()
    for text in ("//a[b or c]", "//a[not(b)]", "//a[2]", "false()"):
        with pytest.raises(UsageError, match="no tree"):
            tree.add(1, text)
    deep = Pattern.parse(
        "/a" * 300, limits=PatternLimits(characters_max=9999, steps_max=999, steps_in_row_max=999)
    )
    with pytest.raises(UsageError, match="levels"):
        tree.add(1, deep)
    tree.add(1, "//a")
    with pytest.raises(UsageError, match="id 1 is taken"):
        tree.add(1, "//b")
    with pytest.raises(UsageError, match="no pattern with id 2"):
        tree.remove(2)
    assert 1 in tree
    assert tree.statistics().patterns == 1


def test_labels_are_distinguished_by_kind_and_namespace() -> None:
    texts = ("//{urn:p}a", "//*:a", "//{urn:p}*", "//a", "//@a", "//*", "//text()", "//@*")
    labels = [tree_pattern(text).children[0].children[0].label for text in texts]
    assert labels == ["{urn:p}a", "*:a", "{urn:p}*", "a", "@a", "*", "text()", "@*"]
    tree = FactorizationTree()
    for number, text in enumerate(texts):
        tree.add(number, text)
    assert tree.covering("/{urn:p}a") == [0, 1, 2, 5]
    assert tree.covered("//@*") == [4, 7]
