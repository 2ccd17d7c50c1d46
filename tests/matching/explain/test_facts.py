"""Every sentence of an explanation is true of the document."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from random import Random

import pytest
from hypothesis import given

from tests.matching.explain.facts import check_facts
from tests.strategies import NAMESPACES, THOROUGH, ExpressionPair, documents, subscriptions
from twigcast.language import Document
from twigcast.matching import Explanation, explain


@THOROUGH
@given(subscriptions(), documents())
def test_libxml2_finds_again_what_an_explanation_says(said: ExpressionPair, content: bytes) -> None:
    document = Document.parse(content)
    check_facts(explain(said.text, document, NAMESPACES), document, NAMESPACES)


@pytest.mark.parametrize("genre", ["ubl-cii", "jats", "docbook", "html"])
def test_so_it_does_of_rules_that_people_wrote(
    genre: str, shared_path: Callable[[str], Path], pytestconfig: pytest.Config
) -> None:
    folder, documents = shared_path(f"bench/rules/{genre}"), shared_path("data")
    rules = [json.loads(line) for line in (folder / "rules.jsonl").read_text().splitlines()]
    expected = (folder / "expected.jsonl").read_text().splitlines()
    rng = Random(17)
    for line in rng.sample(expected, 3):
        document = Document.parse((documents / json.loads(line)["document"]).read_bytes())
        for rule in rng.sample(rules, 400 if pytestconfig.getoption("--deep") else 20):
            namespaces = rule.get("namespaces") or {}
            check_facts(explain(rule["xpath"], document, namespaces), document, namespaces)


@pytest.mark.parametrize(
    "reason",
    [
        "@id is '2' there",
        "@id is not there",
        "there is only b",
        "parent::* is only b there",
        "predicate [@x] holds for none of 1 node reached by //c",
        "predicate [@x] holds for none of 2 nodes reached by //b",
        "b is not there",
        "3 nodes found",
        "count(b) is 2 there",
        "step b leads nowhere from 1 node reached by //a",
        "step b finds nothing anywhere in the document",
        "step a does not fit: the root element is a",
        "@x is not at /a/c",
        "@id holds, though it must not at /a/b",
    ],
)
def test_a_sentence_that_is_false_is_found(reason: str) -> None:
    document = Document.parse(b"<a id='1'><b/><c x='1'/></a>")
    explanation = Explanation("//a", matches=True, place="/a", reasons=(reason,))
    with pytest.raises(AssertionError):
        check_facts(explanation, document, {})
