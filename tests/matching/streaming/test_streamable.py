"""What is not decidable on the way never contradicts something else that is not."""

from __future__ import annotations

import pytest

from tests.engines import EVERY_ENGINE
from tests.oracle import oracle
from twigcast import Matcher
from twigcast.language import Pattern
from twigcast.language.condition.model import FALSE
from twigcast.matching.streaming.streamable import softened

DOCUMENT = b"<x> 5 <a>one</a><b>two</b></x>"

TRUE_HERE = [
    "not(contains(., 'q')) and . != 7",
    "contains(., '5') and not(starts-with(., 'xy'))",
    "contains(//a, 'n') and not(contains(//a, 'q'))",
    "contains(//a, 'n') and not(contains(//b, 'q'))",
    "//x[contains(.//a, 'n')][not(contains(.//a, 'q'))]",
    "//x[not(/x/c) or /x/a][/x/a or not(/x/c)]",
    "//x[contains(.//a, 'n') or not(contains(.//b, 'w'))][not(contains(.//b, 'q'))]",
]


@pytest.mark.parametrize("engine", EVERY_ENGINE)
@pytest.mark.parametrize("xpath", TRUE_HERE)
def test_two_things_that_wait_for_the_end_are_not_one(xpath: str, engine: str) -> None:
    assert oracle(xpath, DOCUMENT)
    assert Matcher({1: xpath}, engine=engine).match(DOCUMENT) == [1]


@pytest.mark.parametrize("xpath", TRUE_HERE)
def test_what_can_be_true_has_candidates(xpath: str) -> None:
    assert softened(Pattern.parse(xpath).condition) is not FALSE
