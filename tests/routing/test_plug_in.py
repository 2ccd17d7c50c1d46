"""A router without annotations has a plug-in that adds nothing."""

from __future__ import annotations

import ast
from pathlib import Path

BROKER = Path(__file__).resolve().parents[2] / "src" / "twigcast" / "routing" / "broker"


def test_a_router_knows_its_plug_in_by_one_name_alone() -> None:
    imported = {
        (file.name, node.module, name.name)
        for file in BROKER.glob("*.py")
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8")))
        if isinstance(node, ast.ImportFrom) and node.module and "piggyback" in node.module
        for name in node.names
    }
    assert imported == {("router.py", "twigcast.routing.piggyback.plug_in", "plug_in_for")}
