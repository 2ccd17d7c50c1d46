"""Cases as data: expressions, a document, and whether it matches; no engine is named in them.

A case file holds tables ``[[case]]`` with

    name         the fact that the case shows
    document     its text, and ``encoding`` where that is not UTF-8
    namespaces   what prefixes stand for
    match, miss  expressions that the document satisfies, or does not

An expression beyond plain XPath 1.0 is a pair: as a subscriber writes it, and as the oracle is
asked. Each is taken through every way there is to decide it, and through the oracle itself.
"""

from __future__ import annotations

import tomllib
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.engines import EVERY_ENGINE
from tests.oracle import oracle
from twigcast.language import Document, Pattern
from twigcast.matching import Matcher, explain
from twigcast.matching.residual.tree_walk import holds

CASES = Path(__file__).parent / "cases"


@dataclass(frozen=True)
class Case:
    """A document and what must be found out about it."""

    name: str
    content: bytes
    namespaces: Mapping[str, str]
    expected: Mapping[str, bool]
    by_oracle: Mapping[str, str]
    """Each expression as the oracle is asked it."""


def cases() -> Iterator[Case]:
    for path in sorted(CASES.glob("*.toml")):
        for table in tomllib.loads(path.read_text(encoding="utf-8"))["case"]:
            pairs = [
                (*([one, one] if isinstance(one, str) else one), matches)
                for matches in (True, False)
                for one in table["match" if matches else "miss"]
            ]
            yield Case(
                name=f"{path.stem}: {table['name']}",
                content=table["document"].encode(table.get("encoding", "utf-8")),
                namespaces=table.get("namespaces", {}),
                expected={text: matches for text, _, matches in pairs},
                by_oracle={text: asked for text, asked, _ in pairs},
            )


def by_oracle(case: Case, text: str) -> bool:
    return oracle(case.by_oracle[text], case.content, case.namespaces)


def by_engine(case: Case, text: str, engine: str) -> bool:
    matcher = Matcher(engine=engine)
    matcher.add(7, text, case.namespaces)
    decision = matcher.decide(case.content)
    assert not decision.undecided
    return bool(decision.matches)


def by_walk(case: Case, text: str) -> bool:
    """Walking decides exact patterns only; for the others, their necessary condition."""
    pattern = Pattern.parse(text, case.namespaces)
    found = holds(pattern.necessary.condition, Document.parse(case.content))
    return found if pattern.exact or not found else case.expected[text]


def by_explanation(case: Case, text: str) -> bool | None:
    explanation = explain(text, case.content, case.namespaces)
    assert explanation.reasons
    return explanation.matches


def by_canonical_text(case: Case, text: str) -> bool:
    pattern = Pattern.parse(text, case.namespaces)
    assert Pattern.parse(pattern.text) is pattern
    matcher = Matcher()
    matcher.add(7, pattern.text)
    return bool(matcher.match(case.content))


def by_stored_matcher(case: Case, text: str) -> bool:
    matcher = Matcher()
    for number, other in enumerate(case.expected):
        matcher.add(number, other, case.namespaces)
    matches = Matcher.from_buffer(matcher.to_bytes()).match(case.content)
    return list(case.expected).index(text) in matches


WAYS: list[Callable[[Case, str], bool | None]] = [
    by_oracle, by_walk, by_explanation, by_canonical_text, by_stored_matcher,
]  # fmt: skip


@pytest.mark.parametrize("engine", EVERY_ENGINE)
@pytest.mark.parametrize("case", list(cases()), ids=lambda case: case.name)
def test_case_by_engine(case: Case, engine: str) -> None:
    wrong = [text for text, ok in case.expected.items() if by_engine(case, text, engine) != ok]
    assert not wrong


@pytest.mark.parametrize("way", WAYS, ids=lambda way: way.__name__)
@pytest.mark.parametrize("case", list(cases()), ids=lambda case: case.name)
def test_case(case: Case, way: Callable[[Case, str], bool | None]) -> None:
    wrong = [text for text, expected in case.expected.items() if way(case, text) != expected]
    assert not wrong


def test_there_are_cases_of_every_kind() -> None:
    assert {case.name.split(":")[0] for case in cases()} == {
        path.stem for path in CASES.iterdir() if path.suffix == ".toml"
    }
    assert len({case.name for case in cases()}) == len(list(cases()))
