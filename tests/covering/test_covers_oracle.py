"""Covering against its oracle: canonical models as documents, matched by libxml2.

The runs with a fixed seed count what was found; those by Hypothesis look for a smallest mistake.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable
from itertools import product
from random import Random

import pytest
from hypothesis import given
from lxml import etree

from tests.covering.drawn import (
    drawn_document,
    drawn_path,
    drawn_pattern,
    drawn_tree,
    paths,
    trees,
)
from tests.covering.oracle import model_count, models, truly_covers
from tests.oracle import oracle_tree
from tests.strategies import THOROUGH
from twigcast.covering import Tally, covers, decide
from twigcast.language import Pattern

MODELS_MAX = 5_000
"""Pairs with more canonical models than that are left out: the oracle is slow, they are rare."""


def outcomes(draw: Callable[[Random], str], seed: int, pairs: int) -> Counter[str]:
    """What came out for so many pairs: right coverings, wrong ones, missed ones, and the rest."""
    rng = Random(seed)
    found: Counter[str] = Counter()
    for _ in range(pairs):
        wider, narrower = draw(rng), draw(rng)
        if model_count(wider=wider, narrower=narrower) > MODELS_MAX:
            found["left out"] += 1
            continue
        verdict = decide(wider=wider, narrower=narrower)
        truth = truly_covers(wider=wider, narrower=narrower)
        found["undecided"] += not verdict.within_budget
        if verdict.covers:
            found["right" if truth else "wrong"] += 1
        else:
            found["missed" if truth else "rightly not"] += 1
    return found


def check(found: Counter[str], *, coverings: int, share: float) -> None:
    assert found["wrong"] == 0
    assert found["right"] >= coverings
    assert found["right"] >= share * (found["right"] + found["missed"])
    assert found["left out"] <= 0.01 * found.total()


def test_every_pair_of_paths_is_decided_rightly() -> None:
    check(outcomes(drawn_path, seed=11, pairs=3_000), coverings=400, share=1)


def test_every_pair_of_small_paths_is_decided_rightly() -> None:
    steps = [slash + name for slash in ("/", "//") for name in "a*"]
    small = ["".join(path) for count in (1, 2, 3) for path in product(steps, repeat=count)]
    for wider, narrower in product(small, repeat=2):
        truth = truly_covers(wider=wider, narrower=narrower)
        assert covers(wider=wider, narrower=narrower) is truth, (wider, narrower)


def test_nearly_all_coverings_of_trees_are_found() -> None:
    check(outcomes(drawn_tree, seed=12, pairs=3_000), coverings=400, share=0.995)


def test_nearly_all_coverings_of_trees_with_one_name_are_found() -> None:
    def draw(rng: Random) -> str:
        return drawn_tree(rng, names="a", stars=0.5)

    check(outcomes(draw, seed=13, pairs=1_000), coverings=250, share=0.995)


@pytest.mark.deep
@pytest.mark.parametrize("seed", range(4))
def test_paths_and_trees_at_length(seed: int) -> None:
    check(outcomes(drawn_path, seed=seed, pairs=20_000), coverings=3_000, share=1)
    check(outcomes(drawn_tree, seed=seed, pairs=20_000), coverings=3_000, share=0.995)


@THOROUGH
@given(paths(), paths())
def test_paths_are_decided_exactly(wider: str, narrower: str) -> None:
    assert covers(wider=wider, narrower=narrower) is truly_covers(wider=wider, narrower=narrower)


@THOROUGH
@given(trees(5), trees(6))
def test_trees_are_decided_exactly(wider: str, narrower: str) -> None:
    assert covers(wider=wider, narrower=narrower) is truly_covers(wider=wider, narrower=narrower)


def cut_at_a_descendant(rng: Random, text: str) -> tuple[str, str]:
    """The text with one of its ``//`` as one level, and as two levels or more."""
    places = [found.start() for found in re.finditer("//", text)]
    if not places:
        return text, text
    place = rng.choice(places)
    before, behind = text[:place], text[place + 2 :]
    return before.removesuffix(".") + "/" * (before[-1:] != ".") + behind, f"{before}//*//{behind}"


def test_alternatives_of_an_or_are_decided_exactly_and_together() -> None:
    rng = Random(14)
    coverings = together = 0
    for number in range(1_000):
        first, second, narrower = (drawn_tree(rng, nodes_max=4) for _ in range(3))
        if number % 5 == 0:
            first, second = cut_at_a_descendant(rng, narrower)
        matches = etree.XPath(f"boolean({first} | {second})", regexp=False)
        truth = all(matches(model.getroottree()) for model in models(narrower, 6))
        assert covers(wider=f"{first} | {second}", narrower=narrower) is truth
        coverings += truth
        apart = any(covers(wider=each, narrower=narrower) for each in (first, second))
        together += truth and not apart
    assert coverings > 300
    assert together > 50


def wrong_among(seed: int, patterns: int, documents: int) -> tuple[list[tuple[str, str]], Tally]:
    """Pairs of the whole language found to cover that some random document proves wrong."""
    prefixes = {"p": "urn:p"}
    rng = Random(seed)
    trees_drawn = [oracle_tree(drawn_document(rng)) for _ in range(documents)]
    drawn = []
    for number in range(patterns):
        own, depth = rng.random(), number % 3
        pattern = Pattern.parse(drawn_pattern(Random(own), for_oracle=False, depth=depth), prefixes)
        text = drawn_pattern(Random(own), for_oracle=True, depth=depth)
        matches = etree.XPath(
            f"boolean(/self::node()[boolean({text})])", namespaces=prefixes, regexp=False
        )
        drawn.append((pattern, {place for place, tree in enumerate(trees_drawn) if matches(tree)}))
    tally = Tally()
    wrong = [
        (wider.text, narrower.text)
        for wider, more in drawn
        for narrower, fewer in drawn
        if covers(wider=wider, narrower=narrower, tally=tally) and not fewer <= more
    ]
    return wrong, tally


def test_no_covering_of_the_whole_language_is_proved_wrong_by_a_document() -> None:
    wrong, tally = wrong_among(seed=15, patterns=150, documents=400)
    assert wrong == []
    assert tally.covering > 2_000
    assert tally.undecided == 0


@pytest.mark.deep
@pytest.mark.parametrize("seed", range(4))
def test_no_covering_is_proved_wrong_at_length(seed: int) -> None:
    wrong, tally = wrong_among(seed=seed, patterns=500, documents=3_000)
    assert wrong == []
    assert tally.covering > 20_000
