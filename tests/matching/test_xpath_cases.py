"""Every engine answers as libxml2 does to questions about each part of XPath 1.0."""

from __future__ import annotations

import pytest

from tests.engines import EVERY_ENGINE
from tests.oracle import by_oracle, oracle_tree
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


@pytest.mark.parametrize("engine", EVERY_ENGINE)
def test_a_document_node_is_compared_as_libxml2_does_where_entities_are_declared(
    engine: str,
) -> None:
    """It looks at how the root begins, and then at the text of the entities as well."""
    asked = (
        "string() != .", "string() = .", "/ = 'zxz'", "/ != 'zxz'", "string(/) = 'zxz'",
        "string() = 'zxz'", ". = 'xz'", "/ = /", "/ != /", "contains(/, 'zx')", "/ = ''",
        "starts-with(/, 'z')", "not(/ = 'zxz')", "concat(/, '') = 'zxz'", "'zxz' = string()",
        "/self::node()[. = 'zxz']", "/self::node()[string() = 'zxz']", "//node()/.. = 'zxz'",
        "//a/ancestor::node() = 'zxz'", "//a/ancestor::node()[1] = 'zxz'", "string(/) != ''",
    )  # fmt: skip
    content = b"<!DOCTYPE a [<!ENTITY e 'z'>]><a>x&e;</a>"
    tree = oracle_tree(content)
    decision = Matcher({one: one for one in asked}, engine=engine).decide(content)
    assert not decision.undecided
    assert set(decision.matches) == {one for one in asked if by_oracle(one, tree)}
