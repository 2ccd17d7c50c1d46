"""Each target finds a fault that is planted in what it tests, and its cases can be written down."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec
import pytest

from fuzz import matchers as engines
from fuzz.cases import generated, read_case, shown, write_case
from fuzz.target import Target, find_target, target_names
from fuzz.targets import archives, documents, expressions, files, kernel, stored
from twigcast import Network
from twigcast.errors import UsageError
from twigcast.language import Schema
from twigcast.matching import Matcher
from twigcast.routing.broker.router import Router

Plant = Callable[[pytest.MonkeyPatch], None]

CASES_MAX = 300
"""So many cases are enough to find a planted fault that concerns many of them."""


def _raising(*_: object, **__: object) -> None:
    raise IndexError("planted")


def _forgetting(*_: object) -> None:
    """Do nothing of what was asked for."""


def _plant_forgetful_engine(monkeypatch: pytest.MonkeyPatch) -> None:
    """The engine streaming loses a match of documents with attributes."""
    answer = engines.answer

    def wrong(matcher: Matcher, content: bytes) -> engines.Answer:
        refusal, matches, undecided = answer(matcher, content)
        lost = matcher.statistics().engine == "streaming" and b"=" in content
        return refusal, matches[1:] if lost else matches, undecided

    monkeypatch.setattr(documents, "answer", wrong)


def _plant_covers(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(expressions, "covers", lambda **_: True)


def _plant_decoder(monkeypatch: pytest.MonkeyPatch) -> None:
    """A decoder that takes whatever comes for a matcher with one rule."""

    class Careless(Matcher):
        @classmethod
        def from_buffer(cls, *_: object, **__: object) -> Any:  # noqa: ANN401  # any matcher
            return Matcher(["//a"])

    monkeypatch.setattr(stored, "Matcher", Careless)


PLANTED: dict[str, Plant] = {
    "archives": lambda patch: patch.setattr(archives, "read_documents", _raising),
    "documents": _plant_forgetful_engine,
    "expressions": _plant_covers,
    "files": lambda patch: patch.setattr(files, "read_topology", _raising),
    "frames": lambda patch: patch.setattr(Router, "decide", _raising),
    "kernel": lambda patch: patch.setattr(kernel, "_BUILT", Path("/nowhere")),
    "networks": lambda patch: patch.setattr(Network, "unsubscribe", _forgetting),
    "schemas": lambda patch: patch.setattr(Schema, "parse", _raising),
    "stored": _plant_decoder,
    "threads": lambda patch: patch.setattr(Matcher, "remove", _forgetting),
}


def _check_many(target: Target) -> None:
    for number in range(CASES_MAX):
        target.check(generated(target, 1, number))


@pytest.mark.parametrize("name", target_names())
def test_a_planted_fault_is_found(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    target = find_target(name)
    PLANTED[name](monkeypatch)
    with pytest.raises((AssertionError, IndexError, OSError, UsageError)):
        _check_many(target)


def test_the_kernels_programs_are_built_where_they_are_looked_for(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    commands: list[list[str]] = []
    monkeypatch.setattr(kernel, "_ran", commands.append)
    monkeypatch.setattr("fuzz.targets.kernel.shutil.which", {"cargo": "cargo"}.get)
    assert kernel.prepare() is None
    (command,) = commands
    assert kernel._BUILT.is_relative_to(command[command.index("--target-dir") + 1])


@pytest.fixture(params=target_names())
def target(request: pytest.FixtureRequest) -> Target:
    return find_target(request.param)


def test_a_case_is_determined_by_its_number(target: Target) -> None:
    first, again, other = (generated(target, 1, number) for number in (3, 3, 4))
    assert shown(first) == shown(again)
    assert shown(first) != shown(other)
    assert shown(first) != shown(generated(target, 2, 3))


def test_a_case_is_the_same_from_a_file(target: Target, tmp_path: Path) -> None:
    path = tmp_path / "folder" / "case.json"
    for number in range(10):
        case = generated(target, 1, number)
        write_case(path, case)
        assert read_case(target, path) == case


def test_a_file_of_another_kind_is_no_case(target: Target, tmp_path: Path) -> None:
    path = tmp_path / "case.json"
    path.write_text('{"something": ["else"]}')
    with pytest.raises(msgspec.ValidationError):
        read_case(target, path)
