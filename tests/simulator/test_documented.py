"""The page on the simulator names every key of a scenario, with its default."""

from __future__ import annotations

import re
from dataclasses import asdict
from pathlib import Path

import pytest

from tests.docs.pages import DOCS
from twigcast.simulator import CostModel, Scenario

PAGE = (DOCS / "simulator.md").read_text(encoding="utf-8")
TREE = {"topology": {"generate": "binary-tree"}}


def rows_below(heading: str) -> list[list[str]]:
    """The cells of the table below a heading, without its first two lines."""
    section = PAGE.partition(f"### {heading}\n")[2].partition("\n#")[0]
    lines = [line for line in section.splitlines() if line.startswith("|")]
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in lines[2:]]


def keys_below(heading: str) -> set[str]:
    return {key for row in rows_below(heading) for key in re.findall(r"`(\w+)`", row[0])}


@pytest.mark.parametrize("table", ["workload", "run"])
def test_every_key_is_on_the_page(table: str) -> None:
    taken = Scenario.of(TREE, name="t", folder=Path()).options[table]
    assert isinstance(taken, dict)
    assert keys_below(f"`[{table}]`") == taken.keys()


def test_the_constants_are_on_the_page_with_their_values() -> None:
    told = {row[0].strip("`"): float(row[1]) for row in rows_below("`[cost]`")}
    assert told == asdict(CostModel())


def test_every_change_is_on_the_page() -> None:
    from twigcast.simulator.generation.build import _DOINGS

    assert keys_below("`[[change]]`") == set(_DOINGS)
