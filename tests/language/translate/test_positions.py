"""Positions and counts that ask for existence only."""

from __future__ import annotations

from typing import Final

import pytest

from tests.engines import EVERY_ENGINE
from tests.language.translate.aimed import agree
from twigcast.language import Pattern

EXISTENCE: Final = [
    ("//a[boolean(count(b))]", "//a/b"),
    ("//a[count(b) != 0]", "//a/b"),
    ("//a[count(b) > 0.5]", "//a/b"),
    ("//a[0 < count(b | c)]", "//a[b or c]"),
    ("//a[count(b) < 0.5]", "//a[not(b)]"),
    ("//a[not(count(b))]", "//a[not(b)]"),
    ("//a[count(b) >= 0]", "//a"),
    ("//a[count(b) < 0]", "false()"),
    ("//a[count(b) != 1.5]", "//a"),
    ("//a[b[position() = 1]]", "//a/b"),
    ("//a[b[3 > position()]]", "//a/b"),
    ("//a[b[position() = last()]]", "//a/b"),
    ("//a[b[last() >= position()]]", "//a/b"),
    ("//a[b[c][last()][position() != 2]]", "//a/b/c"),
    ("//a[position() > 0]/b", "//a/b"),
    ("//a[last() != 0][c]/b", "//a[c]/b"),
    ("//a[@x[1] = '1']", "//a[@x = '1']"),
    ("//a/self::a[last()]/b", "//a/b"),
    ("//self::a[1]/b", "//a/b"),
    ("//a//@x[1][. = '3']", "//a//@x[. = '3']"),
    ("//a//parent::b[last()]/b", "//a//parent::b/b"),
    ("(//a)[position() < 2]", "//a"),
]

RESIDUAL: Final = [
    "//a[1]/b", "//a[1][b]", "//a[b[2]]", "//a[b[position() > 1]]", "//a[count(b) > 1]",
    "//a[count(b) = 1]", "//a[count(b)]",
    "//a[count(b) != 1]", "//a[b[last() > 1]]", "//a[@*[1] = '1']",
    "//a[b[position() < last()]]", "//a[b[position() != last()]]", "//comment()[1]",
]  # fmt: skip


@pytest.mark.parametrize(("written", "meant"), EXISTENCE)
def test_a_position_or_a_count_may_only_ask_for_existence(written: str, meant: str) -> None:
    assert Pattern(written) is Pattern(meant)
    assert Pattern(written).exact


@pytest.mark.parametrize("written", RESIDUAL)
def test_another_position_or_count_stays_residual(written: str) -> None:
    assert not Pattern(written).exact


@pytest.mark.parametrize("engine", EVERY_ENGINE)
@pytest.mark.parametrize("seed", range(3))
def test_libxml2_agrees(engine: str, seed: int) -> None:
    assert agree("positions", seed, engine)


@pytest.mark.deep
@pytest.mark.parametrize("engine", EVERY_ENGINE)
@pytest.mark.parametrize("seed", range(100, 350))
def test_libxml2_agrees_at_length(engine: str, seed: int) -> None:
    assert agree("positions", seed, engine)
