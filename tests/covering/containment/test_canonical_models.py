"""Canonical models alone: they decide exactly, and within their steps."""

from __future__ import annotations

import pytest
from hypothesis import given

from tests.covering.drawn import trees
from tests.covering.oracle import read, row_of_stars, truly_covers
from twigcast.covering.containment.canonical_models import (
    OutOfSteps,
    Steps,
    covers_every_model,
    longest_row_of_stars,
)
from twigcast.covering.containment.twig import Twig, condensed, twig_of
from twigcast.language import Pattern


def twig(text: str) -> Twig:
    found = twig_of(Pattern.parse(text).condition)
    assert found is not None
    return found


@given(trees(5), trees(5))
def test_models_alone_decide_exactly(wider: str, narrower: str) -> None:
    found = covers_every_model([condensed(twig(wider))], twig(narrower), Steps(1_000_000))
    assert found is truly_covers(wider=wider, narrower=narrower)


@given(trees())
def test_rows_of_stars_are_never_longer_condensed(text: str) -> None:
    assert longest_row_of_stars(condensed(twig(text))) <= row_of_stars(read(text))


def test_steps_run_out_before_they_are_taken() -> None:
    steps = Steps(100)
    steps.take(60)
    with pytest.raises(OutOfSteps):
        steps.take(41)
    assert steps.taken == 60
    assert steps.left == 0
