"""Rules that a matcher is made with: mappings, lists, and what is refused."""

from __future__ import annotations

from typing import Any

import pytest

from twigcast.errors import PatternError, UsageError
from twigcast.language import Pattern
from twigcast.matching import Matcher

TRADES = b"<feed><trade id='7'><price>120</price></trade><note/></feed>"


def test_rules_may_be_a_mapping() -> None:
    rules = {"a": "//price", 7: ("//x:b", {"x": "urn:x"}), "c": Pattern("//note")}
    matcher = Matcher(rules)
    assert matcher.match(TRADES) == ["a", "c"]
    assert matcher.match(b"<b xmlns='urn:x'/>") == [7]


def test_rules_may_be_a_list_of_expressions_counted_from_1() -> None:
    assert Matcher(["//nothing", "//price", Pattern("//note")]).match(TRADES) == [2, 3]
    assert Matcher(one for one in ("//price",)).match(TRADES) == [1]


def test_rules_may_be_a_list_of_ids_and_expressions() -> None:
    matcher = Matcher([("a", "//price"), (2, "//x:note", {"x": "urn:x"}), ["c", "//note"]])
    assert matcher.match(TRADES) == ["a", "c"]


def test_nothing_or_none_are_no_rules() -> None:
    assert [len(Matcher()), len(Matcher(None)), len(Matcher({})), len(Matcher([]))] == [0] * 4


@pytest.mark.parametrize(
    ("rules", "what_to_do"),
    [
        ("lxml", r"Matcher\(engine='lxml'\)"),
        ("//a", r"Matcher\(\['//a'\]\)"),
        ("rules.csv", r"Matcher.from_file\('rules.csv'\)"),
        (b"//a", "a mapping"),
        (5, "a mapping"),
        ([5], "rule 1 of the list is 5"),
        ([("a",)], "rule 1 of the list is"),
        (["//a", ("a", {"x": "urn:x"})], "rule 2 of the list is"),
        ({"a": 5}, "the rule 'a' is 5"),
        ({"a": ("//a", 5)}, "the rule 'a' is"),
        ({"a": ("//a", {1: 2})}, "the rule 'a' is"),
    ],
)
def test_rules_of_another_kind_are_refused_with_what_to_do(
    rules: Any,  # noqa: ANN401
    what_to_do: str,
) -> None:
    with pytest.raises(UsageError, match=what_to_do):
        Matcher(rules)


def test_a_bad_rule_is_named() -> None:
    with pytest.raises(PatternError) as caught:
        Matcher({"a": "//a", "wrong": "//a["})
    assert any("'wrong'" in note for note in caught.value.__notes__)


def test_an_id_twice_in_the_rules_is_refused() -> None:
    with pytest.raises(UsageError, match="id 'a' is taken"):
        Matcher([("a", "//a"), ("a", "//b")])
