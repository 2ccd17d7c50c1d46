"""Necessary conditions: exact, as tight as here, and never missing a document."""

from __future__ import annotations

from typing import Final

import pytest

from tests.engines import EVERY_ENGINE
from tests.language.translate.aimed import agree
from twigcast.language import Pattern

NECESSARY: Final = [
    ("//a[following-sibling::b]", "//*[a]/b"),
    ("//a[preceding-sibling::*[1][self::b]/c]", "//*[a]/b/c"),
    ("//a[following-sibling::b = 'x']", "//*[a][b = 'x']"),
    ("/c/a/following-sibling::b", "/c[a]/b"),
    ("//a[not(following-sibling::b)]", "//a"),
    ("//a[ancestor::b[1]/@x]", "//b[@x]//a"),
    ("//a[contains(concat(' ', normalize-space(@x), ' '), ' yz ')]", "//a[contains(@x, 'yz')]"),
    ("//a[contains(concat(' ', @x, ' '), ' yz ')]", "//a[contains(@x, 'yz')]"),
    ("//a[contains(concat(@x, @y), 'yz')]", "//a[@x or @y]"),
    ("//a[contains(concat(@x, 'y'), 'yz')]", "//a"),
    ("//a[normalize-space(@x) = 'y zw']", "//a[contains(@x, 'zw')]"),
    ("//a[normalize-space() = 'yz']", "//a[contains(., 'yz')]"),
    ("//a[normalize-space(@x)]", "//a/@x"),
    ("//a[starts-with(normalize-space(@x), 'y')]", "//a[contains(@x, 'y')]"),
    ("//a[substring-before(@x, ' - ')]", "//a[contains(@x, '-')]"),
    (
        "substring-after(substring-before(//a, 'y'), 'z')",
        "contains(//a, 'y') and contains(//a, 'z')",
    ),
    ("//a[substring(@x, 2) = 'yz']", "//a[contains(@x, 'yz')]"),
    ("//a[translate(@x, 'y', 'z') = 'zz']", "//a/@x"),
    ("//a[string(b) = 'yz']", "//a[contains(b, 'yz')]"),
    ("//a[string(b) = '']", "//a"),
    ("//a[b + c > 2]", "//a[b][c]"),
    ("//a[b + c != 2]", "//a"),
    ("//a[sum(b) > number(c)]", "//a/c"),
    ("//a[round(b * 100) div 100 = c]", "//a[b][c]"),
    ("//a[count(b) > 1]", "//a/b"),
    ("//a[string-length(b) > 3]", "//a/b"),
    ("//a[lang('en')]", "//a and //@xml:lang"),
    ("boolean(//a * 2)", "//a"),
    ("concat(substring-before(//a, '-'), //b)", "contains(//a, '-') or //b"),
    ("(//a)[2][2 > count(b)]", "//a"),
    (
        "//@x[substring-before(normalize-space(), 'y') < ../@z]",
        "//@x[contains(., 'y')] and //@z",
    ),
    ("//a[contains(concat(@x, ' ', @y), 'yz')]", "//a"),
    ("//a[following::node()[b or c]]", "//a[//b or //c]"),
    ("(//@x)[2][contains(., 'yz')]", "//@x"),
    ("/self::a[2]", "false()"),
]


@pytest.mark.parametrize(("written", "necessary"), NECESSARY)
def test_a_residual_pattern_has_a_tight_necessary_condition(written: str, necessary: str) -> None:
    assert not Pattern(written).exact
    assert Pattern(written).necessary is Pattern(necessary)


@pytest.mark.parametrize("engine", EVERY_ENGINE)
@pytest.mark.parametrize("seed", range(4))
def test_libxml2_agrees(engine: str, seed: int) -> None:
    assert agree("relaxed", seed, engine)


@pytest.mark.deep
@pytest.mark.parametrize("engine", EVERY_ENGINE)
@pytest.mark.parametrize("seed", range(100, 350))
def test_libxml2_agrees_at_length(engine: str, seed: int) -> None:
    assert agree("relaxed", seed, engine)
