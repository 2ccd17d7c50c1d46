"""Every engine answers as libxml2 does to questions about each part of XPath 1.0."""

from __future__ import annotations

import pytest

from tests.engines import EVERY_ENGINE
from tests.xpath_cases import DOCUMENTS, NAMESPACES, questions
from twigcast.language import Pattern
from twigcast.matching import Matcher
from twigcast.matching.engines.native import AVAILABLE

SOME = 7
"""One question in so many, for the slower engines."""


@pytest.mark.parametrize("engine", EVERY_ENGINE)
@pytest.mark.parametrize("content", DOCUMENTS, ids=["kinds", "root first", "few", "numbers"])
def test_engines_answer_each_question_as_libxml2(
    content: bytes, engine: str, pytestconfig: pytest.Config
) -> None:
    asked = list(questions(content))
    if engine != "native" and not pytestconfig.getoption("--deep"):
        asked = asked[::SOME]
    matcher = Matcher({one: Pattern.parse(one, NAMESPACES) for one in asked}, engine=engine)
    decision = matcher.decide(content)
    found, undecided = set(decision.matches), set(decision.undecided)
    assert not undecided or not AVAILABLE
    wrong = [one for one in asked if (one in found) != questions(content)[one]]
    assert set(wrong) <= undecided
