"""Conditions that look up, turned around: exact where they can be, and right where they are not."""

from __future__ import annotations

from typing import Final

import pytest

from tests.engines import EVERY_ENGINE
from tests.language.translate.aimed import agree
from twigcast.language import Pattern
from twigcast.language.condition.depth import depth_of
from twigcast.language.pattern import CANONICAL_LIMITS

TURNED: Final = [
    ("//a[../b]", "//*[a]/b"),
    ("//x[parent::a]", "//a/x"),
    ("//a/../@x", "//*[@x]/a"),
    ("//x[../../y]", "/*/x and /y or //*[*/x]/y"),
    ("//x[not(../y)]", "/x or //*[not(y)]/x"),
    ("//x[not(parent::a)]", "/x or //*[not(self::a)]/x"),
    ("//x[../@y = '1']", "//*[@y = '1']/x"),
    ("//x[contains(../@y, '1')]", "//*[contains(@y, '1')]/x"),
    ("/a/b[not(ancestor::c)]", "/a[not(self::c)]/b"),
    ("//x[ancestor::a]", "//a//x"),
    ("//x[ancestor::a/b]", "//a[b]//x"),
    ("//x[ancestor::a/@y = '1']", "//a[@y = '1']//x"),
    ("//x[ancestor::a][ancestor::b]", "//a//b//x or //b//a//x"),
    ("//a//x[ancestor::b]", "//a//b//x or //b//a//x"),
    ("//x[ancestor-or-self::x]", "//x"),
    ("//x[ancestor-or-self::a]", "//a//x"),
    ("//x[parent::a or ancestor::b]", "//a/x or //b//x"),
    ("//x[ancestor::a/..]", "/a//x or //*/a//x"),
    ("//@x[../b]", "//*[@x]/b"),
    ("//text()[parent::a]", "//a/text()"),
    ("//../b", "/b or //*/b"),
    ("//ancestor::a/b", "//a/b"),
    ("//descendant-or-self::a", "//a"),
    ("//*[.//self::a]", "//*[self::a or .//a]"),
    ("//x[not(../y and z)]", "//x[not(../y) or not(z)]"),
    ("//@x[y]", "false()"),
    ("/@x", "false()"),
    ("/..", "false()"),
    ("/following::a", "false()"),
    ("/ancestor-or-self::a", "false()"),
]

LEFT: Final = [
    "//x[not(ancestor::a)]",  # No node in between, nor above, may be one.
    "//..",  # Comments have parents, too.
    "//../@x",
    "//x[ancestor::a[1]/@y]",
    "//x[../comment()]",
    "//x[ancestor::a][ancestor::b][ancestor::c][ancestor::d][ancestor::e]",
    "//x[" + "/".join([".."] * 9) + "]",
]


@pytest.mark.parametrize(("written", "meant"), TURNED)
def test_what_is_asked_of_nodes_above_is_asked_of_them(written: str, meant: str) -> None:
    assert Pattern(written) is Pattern(meant)
    assert Pattern(written).exact


@pytest.mark.parametrize("written", LEFT)
def test_what_cannot_be_turned_around_stays_residual(written: str) -> None:
    assert not Pattern(written).exact


@pytest.mark.parametrize("engine", EVERY_ENGINE)
@pytest.mark.parametrize("seed", range(4))
def test_libxml2_agrees(engine: str, seed: int) -> None:
    assert agree("upward", seed, engine)


@pytest.mark.deep
@pytest.mark.parametrize("engine", EVERY_ENGINE)
@pytest.mark.parametrize("seed", range(100, 350))
def test_libxml2_agrees_at_length(engine: str, seed: int) -> None:
    assert agree("upward", seed, engine)


@pytest.mark.parametrize(
    "written",
    [
        "//a[..//b" * 30 + "]" * 30,
        "//a[not(ancestor::b/..)][../c]",
        "//a[" + "ancestor::b/" * 200 + "c]",
        "//x[" + "ancestor::a/" * 14 + "b][" + "ancestor::c/" * 14 + "d]",
        "//x" + "/ancestor-or-self::a/descendant-or-self::b" * 30,
        "//x" + "//../b" * 12,
        "//x[" + " or ".join(f"../a{n} and ancestor::b{n}" for n in range(40)) + "]",
    ],
)
def test_a_condition_stays_small(written: str) -> None:
    pattern = Pattern.parse(written, None, CANONICAL_LIMITS)
    assert len(pattern.text) < 20 * len(written) + 2_000
    assert depth_of(pattern.condition) < 1_000
    assert Pattern.parse(pattern.text, None, CANONICAL_LIMITS) is pattern


def test_what_stands_outside_does_not_count_to_what_is_turned_around() -> None:
    of_parent, of_ancestor = "parent::d/ancestor-or-self::d/*/f", "ancestor::d//c/ancestor::c"
    turned = Pattern(f"//b[{of_parent}][{of_ancestor}]")
    assert turned.exact
    for outside in ("//a/ancestor::b/c", "/a or //c", "not(//d)"):
        pattern = Pattern(f"//b[{outside}][{of_parent}][{of_ancestor}]")
        assert pattern is Pattern(f"({turned.text}) and ({outside})", limits=CANONICAL_LIMITS)
        assert Pattern(pattern.text, limits=CANONICAL_LIMITS) is pattern


@pytest.mark.parametrize(
    "written",
    [
        "//text()[not(ancestor::node()/a and .//c)][parent::d[parent::node()/c]/@id]",
        "//@x[not(../../b) or not(ancestor::a and b)][../../c]",
        "//@x[//b or @x][parent::d]",
        "//text()[d or ancestor::* and //parent::a]",
        "//text()[..][(a | /)[a]]",
        "//@x[.. and (x or /*)]",
    ],
)
def test_what_a_node_cannot_have_does_not_count_either(written: str) -> None:
    pattern = Pattern(written)
    assert Pattern(pattern.text, limits=CANONICAL_LIMITS) is pattern
