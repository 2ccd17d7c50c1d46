"""XNET's factorization tree: nodes that patterns share, as in its figures."""

from __future__ import annotations

from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.covering.drawn import drawn_path, drawn_pattern, drawn_tree
from tests.strategies import NAMESPACES
from twigcast.covering import FactorizationTree
from twigcast.covering.containment.twig import twig_of
from twigcast.language import Pattern

randoms = st.randoms(use_true_random=False)


def drawn(rng: Random) -> Pattern:
    """A path or a tree, half of them with values."""
    if rng.random() < 0.5:
        return Pattern.parse(rng.choice((drawn_path, drawn_tree))(rng, stars=0.3))
    while True:
        pattern = Pattern.parse(drawn_pattern(rng, for_oracle=False), NAMESPACES)
        if twig_of(pattern.condition) is not None:
            return pattern


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
