"""A pipeline that remembers what it was asked, in place of the one that runs."""

from __future__ import annotations

import warnings
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from tests.cli.run.runs import a_run
from twigcast.errors import FloodingWarning

if TYPE_CHECKING:
    from twigcast.spark import Run


@dataclass
class Asked:
    """What the pipeline was asked; it answers at once."""

    told: dict[str, object] = field(default_factory=dict)
    floods: bool = False
    made: tuple[Any, ...] = ()
    chosen: dict[str, Any] = field(default_factory=dict)
    source: Any = None
    out: str = ""
    how: dict[str, Any] = field(default_factory=dict)
    sessions: list[tuple[str, dict[str, str]]] = field(default_factory=list)


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Asked:
    """Takes the place of the pipeline: remembers what it was asked, answers at once."""
    asked = Asked()
    (tmp_path / "feed").mkdir()

    class Pipeline:
        def __init__(self, *made: object, **chosen: object) -> None:
            asked.made, asked.chosen = made, chosen

        def flooding_notice(self, _: object, *, remedy: str) -> str | None:
            return f"they go over every link; {remedy}" if asked.floods else None

        def disseminate(self, source: object, out: str, **how: object) -> Run:
            if asked.floods:
                warnings.warn("the same at length", FloodingWarning, stacklevel=1)
            asked.source, asked.out, asked.how = source, out, how
            return a_run(out, **asked.told)

    def start_session(master: str, settings: dict[str, str]) -> None:
        asked.sessions.append((master, settings))

    monkeypatch.setattr("twigcast.spark.Pipeline", Pipeline)
    monkeypatch.setattr("twigcast.spark.start_session", start_session)
    return asked
