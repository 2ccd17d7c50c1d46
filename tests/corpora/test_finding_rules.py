"""What made real documents match rules that people wrote: ids and nodes, against libxml2."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from lxml import etree

import twigcast
from tests.oracle import oracle_tree
from twigcast.matching.explain.finding import NODES_MAX


@pytest.mark.parametrize("genre", ["ubl-cii", "html", "jats", "docbook"])
def test_what_is_found_is_what_libxml2_finds(
    genre: str, shared_path: Callable[[str], Path]
) -> None:
    rules = shared_path(f"bench/rules/{genre}/rules.jsonl")
    lines = shared_path(f"bench/rules/{genre}/expected.jsonl").read_text("utf-8").splitlines()
    expected = max(map(json.loads, lines), key=lambda one: len(one["matches"]))
    path = shared_path(f"data/{expected['document']}")
    matcher = twigcast.Matcher.from_file(rules, errors="skip")
    found = matcher.find(path)
    wanted = set(expected["matches"]) - set(found.undecided)
    assert set(found) | {one.id for one in matcher.rejected} >= wanted
    assert set(found) <= wanted
    tree = oracle_tree(path.read_bytes())
    looked_at = 0
    for rule in map(json.loads, rules.read_text("utf-8").splitlines()):
        finding, xpath = found.get(rule["id"]), rule["xpath"]
        # At top level a relative path means more to us than to libxml2.
        if finding is not None and finding.kind == "nodes" and _is_absolute(xpath):
            names = rule.get("namespaces") or {}
            nodes: Any = etree.XPath(xpath, namespaces=names, regexp=False)(tree)
            lines_found: list[Any] = [node.sourceline for node in nodes if etree.iselement(node)]
            if len(lines_found) == len(nodes):
                looked_at += 1
                assert [node.line for node in finding.nodes] == lines_found[:NODES_MAX]
                assert finding.more == (len(nodes) > NODES_MAX)
    assert looked_at


def _is_absolute(xpath: str) -> bool:
    """Whether libxml2 takes the expression as it is, and means the same by it."""
    return xpath.startswith("/") and "|" not in xpath and "*:" not in xpath
