"""XNET's tree patterns: labels, their order, and what is no tree."""

from __future__ import annotations

import pytest

from twigcast.covering import FactorizationTree
from twigcast.covering.papers.tree_pattern import tree_pattern
from twigcast.errors import UsageError
from twigcast.language import Pattern, PatternLimits


def test_values_are_ordered_by_implication_as_in_figure_1_of_xnet() -> None:
    tree = FactorizationTree()
    tree.add(1, '//Stock[Symbol = "GHI"][Price > 15]')
    tree.add(2, "//Stock[Price > 10]")
    tree.add(3, "//Stock[Price > 20]")
    assert tree.covering("/Quotes/Stock[Symbol = 'GHI'][Price > 15]") == [1, 2]
    assert tree.covered("//Stock[Price > 12]") == [1, 3]
    assert tree.covered("//Stock[Symbol]") == [1]


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
