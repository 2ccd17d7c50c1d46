"""Every engine answers as libxml2 does to questions aimed at the pitfalls of XPath 1.0."""

from __future__ import annotations

from collections.abc import Iterator
from random import Random

import pytest

from tests.engines import EVERY_ENGINE
from tests.matching.pitfalls import AIMS, NAMESPACES, aimed_document, question
from tests.oracle import by_oracle, oracle_tree
from twigcast.errors import PatternError
from twigcast.language import Pattern
from twigcast.matching import Matcher
from twigcast.matching.engines.native import AVAILABLE

DOCUMENTS = 5
QUESTIONS = 40
"""In one round: each question is asked of each document."""

Round = tuple[list[bytes], dict[str, list[bool]]]


def rounds(aim: str, seed: int, count: int) -> Iterator[Round]:
    """Documents, and questions with libxml2's answer for each of them."""
    for number in range(count):
        rng = Random(f"{aim} {seed} {number}")
        contents = [aimed_document(rng) for _ in range(DOCUMENTS)]
        trees = [oracle_tree(content) for content in contents]
        answers: dict[str, list[bool]] = {}
        for _ in range(QUESTIONS):
            xpath = question(rng, aim, rng.choice(trees))
            if xpath is not None:
                answers[xpath] = [by_oracle(xpath, tree, NAMESPACES) for tree in trees]
        yield contents, answers


def wrong(contents: list[bytes], answers: dict[str, list[bool]], engine: str) -> list[str]:
    """What an engine answers otherwise than libxml2, or leaves open though it has the kernel."""
    patterns: dict[str, Pattern] = {}
    for xpath in answers:
        try:
            patterns[xpath] = Pattern.parse(xpath, NAMESPACES)
        except PatternError as error:
            raise AssertionError(f"{xpath}: {error}") from error
    matcher = Matcher(patterns.items(), engine=engine)
    found = []
    for number, content in enumerate(contents):
        decision = matcher.decide(content)
        if AVAILABLE and b"<!DOCTYPE" not in content:  # What is declared is left to libxml2.
            found += [f"{engine}: {xpath} on {content.decode()}" for xpath in decision.undecided]
        found += [
            f"{engine}: {xpath} on {content.decode()} is {held[number]}"
            for xpath, held in answers.items()
            if xpath not in decision.undecided and held[number] != (xpath in decision.matches)
        ]
    return found


@pytest.mark.parametrize("engine", EVERY_ENGINE)
@pytest.mark.parametrize("aim", AIMS)
def test_engines_answer_as_libxml2(aim: str, engine: str, pytestconfig: pytest.Config) -> None:
    count = 500 if pytestconfig.getoption("--deep") else 6
    for contents, answers in rounds(aim, 1, count):
        assert wrong(contents, answers, engine) == []


@pytest.mark.parametrize("aim", AIMS)
def test_both_answers_are_frequent(aim: str) -> None:
    """Questions that are always answered alike would show nothing."""
    held = [
        answer for _, answers in rounds(aim, 2, 6) for row in answers.values() for answer in row
    ]
    assert 0.15 < sum(held) / len(held) < 0.85
    assert len(held) > 5 * QUESTIONS
