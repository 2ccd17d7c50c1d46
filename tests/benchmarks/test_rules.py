"""The kind about rules that people wrote, on a few rules and documents of our own."""

from __future__ import annotations

from dataclasses import replace

import pytest
from lxml import etree

from benchmarks.rules import NAIVE, Rule, RuleSet, for_lxml, ruled, varied
from benchmarks.workloads import RULES
from tests.engines import EVERY_ENGINE

NAMESPACES = {"m": "urn:m"}
KNOWN = RuleSet(
    rules=(
        Rule(3, "a[2]", {}),
        Rule(4, "m:x | //b[. = '|']", NAMESPACES),
        Rule(5, "//*:y or string() = 'n'", {}),
        Rule(9, "count(//a) = 1", {}),
    ),
    documents=(
        b"<r><a/><a/></r>",
        b'<m:x xmlns:m="urn:m">n</m:x>',
        b"<?xml version='1.0'?><!DOCTYPE r SYSTEM 'r'><!-- <r> --><r\n><b>|</b><a>&auml;</a></r>",
    ),
    answers=((3,), (4, 5), (4, 9)),
)


@pytest.mark.parametrize("engine", [*EVERY_ENGINE, NAIVE])
def test_every_engine_finds_what_is_known(engine: str) -> None:
    run = ruled(engine, KNOWN)
    assert run.counts == {"matches": 5, "differences": 0}
    assert run.figures["undecided"] == 0
    assert run.figures["documents"] == 3


@pytest.mark.parametrize("engine", ["streaming", NAIVE])
def test_a_wrong_answer_is_a_difference(engine: str) -> None:
    right = ruled(engine, KNOWN)
    wrong = ruled(engine, replace(KNOWN, answers=((3, 9), (4,), (4, 9))))
    assert right.counts["differences"] == 0
    assert wrong.counts["differences"] > 0
    assert wrong.digests == right.digests


@pytest.mark.parametrize("content", KNOWN.documents)
def test_a_document_is_another_in_every_turn_and_says_the_same(content: bytes) -> None:
    reader = etree.XMLParser(recover=True)
    turns = [varied(content, turn) for turn in range(3)]
    assert len({content, *turns}) == 4
    plain = etree.fromstring(content, reader)
    for turn in turns:
        tree = etree.fromstring(turn, reader)
        assert texts_of(tree) == texts_of(plain)
        assert len(tree.nsmap) == len(plain.nsmap) + 1


def texts_of(tree: etree._Element) -> list[str]:
    """Every text and attribute, in document order."""
    found = etree.XPath("//text() | //@*")(tree)
    assert isinstance(found, list)
    return [str(one) for one in found]


@pytest.mark.parametrize(
    ("xpath", "plain"),
    [
        ("a", "//a"),
        ("/a", "/a"),
        ("a | /b | c[d | e]", "//a | /b | //c[d | e]"),
        ("a = b", "a = b"),
        ("*:a[@*:b]", "//*[local-name() = 'a'][@*[local-name() = 'b']]"),
        ("'*:a' = @b", "'*:a' = @b"),
    ],
)
def test_libxml2_gets_the_rule_as_we_read_it(xpath: str, plain: str) -> None:
    assert for_lxml(Rule(1, xpath, {})) == plain


def test_the_rules_are_where_the_definitions_look() -> None:
    if not RULES.exists():
        pytest.skip("shared corpus not found: ../shared/bench/rules")
    assert {folder.name for folder in RULES.iterdir() if folder.is_dir()} >= {
        "docbook",
        "html",
        "jats",
        "ubl-cii",
    }
