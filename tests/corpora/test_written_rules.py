"""Rules that people wrote: none is over a limit, and all are answered as libxml2 was known to."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import pytest

from tests.engines import NATIVE
from twigcast.language import Pattern
from twigcast.matching import Matcher

GENRES = ("ubl-cii", "html", "jats", "docbook")


def lines(path: Path) -> Iterable[dict[str, Any]]:
    return map(json.loads, path.read_text(encoding="utf-8").splitlines())


@pytest.mark.parametrize("genre", GENRES)
def test_no_rule_is_over_a_limit(genre: str, shared_path: Callable[[str], Path]) -> None:
    rules = list(lines(shared_path(f"bench/rules/{genre}/rules.jsonl")))
    assert len(rules) > 700
    for rule in rules:
        Pattern.parse(rule["xpath"], rule["namespaces"])


def test_no_sampled_rule_is_over_a_limit(shared_path: Callable[[str], Path]) -> None:
    rules = list(lines(shared_path("data/xpath/sample.jsonl")))
    assert len(rules) == 100
    for rule in rules:
        Pattern.parse(rule["sub"], rule["ns"])


@NATIVE
@pytest.mark.parametrize("genre", GENRES)
def test_all_rules_are_answered_as_known(genre: str, shared_path: Callable[[str], Path]) -> None:
    folder, data = shared_path(f"bench/rules/{genre}"), shared_path("data")
    matcher = Matcher(engine="native")
    for rule in lines(folder / "rules.jsonl"):
        matcher.add(rule["id"], rule["xpath"], rule["namespaces"])
    known = list(lines(folder / "expected.jsonl"))
    assert known
    for case in known:
        decision = matcher.decide((data / case["document"]).read_bytes())
        assert not decision.undecided, case["document"]
        assert list(decision.matches) == case["matches"], case["document"]
