"""Paths without branches, walked together."""

from __future__ import annotations

from hypothesis import given

from tests.covering.drawn import paths
from twigcast.covering.containment.homomorphism import lies_on, target_twig
from twigcast.covering.containment.linear import path_covers
from twigcast.covering.containment.twig import Twig, condensed, twig_of
from twigcast.language import Pattern


def twig(text: str) -> Twig:
    found = twig_of(Pattern.parse(text).condition)
    assert found is not None
    return found


@given(paths(), paths())
def test_on_paths_the_walk_and_the_homomorphism_agree(wider: str, narrower: str) -> None:
    first, second = condensed(twig(wider)), target_twig(twig(narrower))
    assert path_covers(wider=first, narrower=second) is lies_on(first, second)
