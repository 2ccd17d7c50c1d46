"""Homomorphisms between twigs, and what a node knows of those below it."""

from __future__ import annotations

from hypothesis import assume, given

from tests.covering.drawn import trees
from tests.covering.oracle import model_count, truly_covers
from twigcast.covering.containment.homomorphism import lies_on, target_twig
from twigcast.covering.containment.twig import Twig, condensed, twig_of
from twigcast.language import Pattern


def twig(text: str) -> Twig:
    found = twig_of(Pattern.parse(text).condition)
    assert found is not None
    return found


@given(trees(), trees())
def test_a_homomorphism_is_a_covering(wider: str, narrower: str) -> None:
    assume(model_count(wider=wider, narrower=narrower) < 2_000)
    target = target_twig(twig(narrower))
    plain, found = lies_on(twig(wider), target), lies_on(condensed(twig(wider)), target)
    assert found or not plain
    assert not found or truly_covers(wider=wider, narrower=narrower)


def test_ground_knows_what_is_below_and_how_deep() -> None:
    target = target_twig(twig("/a[b]//c/*"))
    assert target.twig.parents == (-1, 0, 1, 2, 1)  # a, then c with its *, then b
    assert target.below == (0b11110, 0b11100, 0b01000, 0, 0)
    assert target.children == (0b00010, 0b10000, 0b01000, 0, 0)
    assert target.depths == (0, 1, 2, 3, 2)
    assert target.deep == (0b11111, 0b11110, 0b11100, 0b01000)
    assert target.near == 0b11011


def test_a_deeper_node_is_required_by_the_number_of_levels() -> None:
    wider = condensed(twig("/a//*/*/b"))
    assert lies_on(wider, target_twig(twig("/a/c//c/b")))
    assert not lies_on(wider, target_twig(twig("/a//c//b")))
