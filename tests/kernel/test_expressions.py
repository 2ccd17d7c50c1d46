"""The evaluator of the kernel against libxml2: expressions of all of XPath 1.0 on documents."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Callable, Iterable
from pathlib import Path
from random import Random
from typing import TYPE_CHECKING, Any

import pytest
from lxml import etree

from tests.oracle import by_oracle, oracle_tree
from tests.xpath_drawing import NAMESPACES, document, expression
from twigcast.errors import PatternLimitError
from twigcast.language import Pattern
from twigcast.language.document.parse import LIBRARY_LIMITS, Document

if TYPE_CHECKING:
    import twigcast_kernel as kernel
else:
    kernel = pytest.importorskip("twigcast_kernel", reason="the kernel is not built")

from twigcast.matching.engines.native import _events

LIMITS = (LIBRARY_LIMITS.bytes_max, 1_000_000, 256, 1_000, 1_000, 131_072)
EXPRESSIONS, DOCUMENTS = 25, 12
Verdicts = tuple[list[int], list[int], list[int]]


def compare(seed: int) -> int:
    """Compare drawn expressions on drawn documents; on how many pairs."""
    rng = Random(seed)
    contents = [document(rng) for _ in range(DOCUMENTS)]
    expressions = kernel.Expressions(LIMITS)
    numbers: dict[str, int] = {}
    for _ in range(EXPRESSIONS):
        text = expression(rng, rng.randint(1, 4))
        if text in numbers:
            continue
        try:
            pattern = Pattern.parse(text, NAMESPACES)
        except PatternLimitError:
            continue
        number = expressions.add(pattern.text)
        assert number is not None, text
        numbers[text] = number
    for content in contents:
        verdicts = expressions.decide(content, list(numbers.values()))
        assert verdicts is not None, content
        tree = oracle_tree(content)
        for text, number in numbers.items():
            said = by_oracle(text, tree, NAMESPACES)
            assert (number in verdicts[0]) == said, (seed, text, content)
        assert verdicts[1:] == ([], []), content
    for number in numbers.values():
        expressions.remove(number)
    assert (len(expressions), expressions.statistics()["parts"]) == (0, 2)
    return len(numbers) * len(contents)


def test_drawn_expressions_are_answered_as_by_libxml2() -> None:
    assert sum(map(compare, range(60))) > 15_000


@pytest.mark.deep
def test_a_million_drawn_pairs_are_answered_as_by_libxml2() -> None:
    pairs, seed = 0, 1_000
    while pairs < 1_000_000:
        pairs += compare(seed)
        seed += 1
    assert seed > 1_000


def verdicts_on(expressions: kernel.Expressions, content: bytes, numbers: list[int]) -> Verdicts:
    """What the kernel says, whoever reads the document."""
    found = expressions.decide(content, numbers)
    return found or expressions.decide_events([*_events(Document.parse(content))], numbers)


@pytest.mark.parametrize("genre", ["ubl-cii", "html", "jats", "docbook"])
def test_rules_that_people_wrote_are_answered_as_by_libxml2(
    genre: str, shared_path: Callable[[str], Path]
) -> None:
    folder, data = shared_path("bench/rules") / genre, shared_path("data")
    expressions = kernel.Expressions(LIMITS)
    rules = defaultdict(set)
    for rule in lines(folder / "rules.jsonl"):
        number = expressions.add(Pattern.parse(rule["xpath"], rule["namespaces"]).text)
        if number is not None:
            rules[number].add(rule["id"])
    known = {one for ids in rules.values() for one in ids}
    for case in lines(folder / "expected.jsonl"):
        content = (data / case["document"]).read_bytes()
        holding, unsure, costly = verdicts_on(expressions, content, list(rules))
        left = {one for number in unsure for one in rules[number]}
        found = {one for number in holding for one in rules[number]}
        assert found == (known & set(case["matches"])) - left, case["document"]
        assert not costly


def lines(path: Path) -> Iterable[dict[str, Any]]:
    return map(json.loads, path.read_text(encoding="utf-8").splitlines())


@pytest.mark.parametrize("text", ["//namespace::a", "$x", "p:a", "//a[", "f()", "(" * 200])
def test_what_is_not_known_is_declined(text: str) -> None:
    assert kernel.Expressions(LIMITS).add(text) is None


def test_numbers_that_were_never_given_are_refused() -> None:
    expressions = kernel.Expressions(LIMITS)
    with pytest.raises(KeyError):
        expressions.remove(1_000)
    with pytest.raises(KeyError):
        expressions.decide(b"<a/>", [1_000])
    number = expressions.add("//a[2]")
    assert number is not None
    expressions.remove(number)
    with pytest.raises(KeyError):
        expressions.remove(number)


def test_a_document_that_is_none_is_left_to_libxml2() -> None:
    expressions = kernel.Expressions(LIMITS)
    assert expressions.decide(b"<a>", []) is None
    with pytest.raises(ValueError, match="tags"):
        expressions.decide_events([("", "a")], [])


def test_what_only_libxml2_knows_of_declarations_is_left_to_it() -> None:
    content = b"<!DOCTYPE a [<!ENTITY e 'x'><!--c-->]><a>&e;</a>"
    expressions = kernel.Expressions(LIMITS)
    texts = [
        "//comment()", "//a/preceding::text()", "string(/) = 'xx'",
        "//a[. = 'x'][1]", "contains(/, 'xx')",
    ]  # fmt: skip
    numbers = [one for one in map(expressions.add, texts) if one is not None]
    holding, unsure, _ = verdicts_on(expressions, content, numbers)
    assert holding == numbers[3:]
    assert unsure == numbers[:3]


def test_an_empty_section_is_a_text_as_libxml2_has_it() -> None:
    content = b"<a><![CDATA[]]><b/></a>"
    expressions = kernel.Expressions(LIMITS)
    number = expressions.add("count(//text()) = 1")
    assert number is not None
    assert verdicts_on(expressions, content, [number])[0] == [number]
    assert etree.fromstring(content).xpath("count(//text()) = 1")
