"""A router without annotations has a plug-in that adds nothing."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

from twigcast import UsageError
from twigcast.routing import STRATEGIES, Router, piggyback
from twigcast.routing.piggyback.plug_in import Piggybacking, plug_in_for
from twigcast.routing.plug_in import PlugIn
from twigcast.routing.strategy import strategy

BROKER = Path(__file__).resolve().parents[2] / "src" / "twigcast" / "routing" / "broker"


@pytest.mark.parametrize("name", STRATEGIES)
def test_only_what_annotates_has_a_plug_in_of_its_own(name: str) -> None:
    made = plug_in_for(strategy(name), engine="lxml")
    annotates = strategy(name).protocol != "none"
    assert type(made) is (Piggybacking if annotates else PlugIn)


def test_a_router_knows_its_plug_in_by_one_name_alone() -> None:
    imported = {
        (file.name, node.module, name.name)
        for file in BROKER.glob("*.py")
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8")))
        if isinstance(node, ast.ImportFrom) and node.module and "piggyback" in node.module
        for name in node.names
    }
    assert imported == {("router.py", "twigcast.routing.piggyback.plug_in", "plug_in_for")}


def test_there_is_nothing_to_turn_from_without_annotations() -> None:
    with pytest.raises(UsageError, match="there is nothing to turn from"):
        Router("b", "covering", engine="lxml").switch_to(piggyback("eager"))
