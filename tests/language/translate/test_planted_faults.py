"""Faults planted into the rewriting of expressions are found by what quick tests compare."""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from types import CodeType, ModuleType

import pytest
from lxml import etree

from tests.language.translate.aimed import agree
from tests.language.translate.faults import FAULTS, Fault
from tests.language.translate.test_positions import EXISTENCE
from tests.language.translate.test_positions import RESIDUAL as OTHER_POSITIONS
from tests.language.translate.test_relaxation import NECESSARY
from tests.language.translate.test_rewriting import RESIDUAL as OTHER_CALLS
from tests.language.translate.test_rewriting import SIMPLER
from tests.language.translate.test_upward import LEFT, TURNED
from tests.oracle import oracle_tree
from tests.source_places import place_of
from tests.xpath_cases import DOCUMENTS, NAMESPACES, questions
from twigcast.language import Document, Pattern
from twigcast.matching.residual.tree_walk import holds


def text_of(module: ModuleType) -> str:
    assert module.__file__ is not None
    return Path(module.__file__).read_text(encoding="utf-8")


def codes(module: ModuleType, text: str) -> dict[str, CodeType]:
    """The code of each function of a module with this text."""
    whole = compile(text, str(module.__file__), "exec")
    return {one.co_name: one for one in whole.co_consts if isinstance(one, CodeType)}


def forget() -> None:
    """Nothing that was translated before is remembered."""
    for name, module in list(sys.modules.items()):
        if name.startswith("twigcast.language"):
            for value in list(vars(module).values()):
                if hasattr(value, "cache_clear"):
                    value.cache_clear()


@pytest.fixture
def plant(monkeypatch: pytest.MonkeyPatch) -> Iterator[pytest.MonkeyPatch]:
    yield monkeypatch
    monkeypatch.undo()
    forget()


def planted(fault: Fault, plant: pytest.MonkeyPatch) -> None:
    """Put a fault into a function, wherever that is known by now."""
    text = text_of(fault.module)
    start, end = place_of(fault.original, text)
    before = codes(fault.module, text)
    after = codes(fault.module, text[:start] + fault.planted + text[end:])
    changed = [name for name, code in after.items() if code != before[name]]
    assert changed
    for name in changed:
        function = getattr(fault.module, name)
        plant.setattr(getattr(function, "__wrapped__", function), "__code__", after[name])
    forget()


def wrong() -> str | None:
    """What shows that something is wrong: a known form, a question, or a drawn expression."""
    try:
        return _wrong_form() or _wrong_answer() or _wrong_by_chance()
    except Exception as error:  # noqa: BLE001  # Whatever a fault leads to shows it.
        return f"{type(error).__name__}: {error}"


def _wrong_answer() -> str | None:
    for content in DOCUMENTS:
        tree, document = oracle_tree(content), Document.parse(content)
        # Those that are listed come last, and show the most.
        for question, held in reversed(questions(content).items()):
            pattern = Pattern.parse(question, NAMESPACES)
            text, namespaces = pattern.for_libxml2()
            evaluate = etree.XPath(f"boolean({text})", namespaces=namespaces, regexp=False)
            if evaluate(tree) != held:
                return f"{question} as {pattern.text}"
            necessary = holds(pattern.necessary.condition, document)
            if necessary != held and (held or pattern.exact):
                return f"{question} needs {pattern.necessary.text}"
    return None


def _wrong_by_chance() -> str | None:
    for aim in ("positions", "functions", "upward", "relaxed"):
        for seed in range(8):
            agree(aim, seed, "streaming")
    return None


def _wrong_form() -> str | None:
    for written, meant in (*TURNED, *EXISTENCE, *SIMPLER):
        if Pattern(written) is not Pattern(meant):
            return f"{written} as {Pattern(written).text}"
    for written, meant in NECESSARY:
        if Pattern(written).necessary is not Pattern(meant):
            return f"{written} needs {Pattern(written).necessary.text}"
    for written in (*OTHER_POSITIONS, *OTHER_CALLS, *LEFT):
        if Pattern(written).exact:
            return f"{written} exactly as {Pattern(written).text}"
    return None


def test_faults_have_names_of_their_own() -> None:
    assert [name for name, count in Counter(one.what for one in FAULTS).items() if count > 1] == []


@pytest.mark.parametrize("fault", FAULTS, ids=[one.what for one in FAULTS])
def test_what_a_fault_replaces_is_there_once(fault: Fault) -> None:
    start, end = place_of(fault.original, text_of(fault.module))
    assert start < end


@pytest.mark.deep
def test_without_a_fault_nothing_is_wrong() -> None:
    assert wrong() is None


@pytest.mark.deep
@pytest.mark.parametrize("fault", FAULTS, ids=[one.what for one in FAULTS])
def test_a_planted_fault_is_found(fault: Fault, plant: pytest.MonkeyPatch) -> None:
    planted(fault, plant)
    assert wrong(), f"nothing shows it: {fault}"
