"""Calls and comparisons that mean something simpler."""

from __future__ import annotations

from typing import Final

import pytest

from tests.engines import EVERY_ENGINE
from tests.language.translate.aimed import agree
from twigcast.language import Pattern

SIMPLER: Final = [
    ("//a[string-length(@x) > 0]", "//a[@x != '']"),
    ("//a[string-length(@x) = 0]", "//a[not(@x != '')]"),
    ("//a[not(string-length())]", "//a[not(. != '')]"),
    ("//a[string-length() >= 0]", "//a"),
    ("//a[string(@x)]", "//a[@x != '']"),
    ("//a[string(@x) = 'x']", "//a[@x = 'x']"),
    ("//a[string(@x) != 'x']", "//a[not(@x = 'x')]"),
    ("//a[string(@x) = '']", "//a[not(@x != '')]"),
    ("//a[number(@x) < 3]", "//a[@x < 3]"),
    ("//a[number(@x) != 3]", "//a[not(@x = 3)]"),
    ("//b[local-name(..) = 'a']", "//*:a/b"),
    ("//b[namespace-uri(..) = 'urn:a']", "//{urn:a}*/b"),
    ("//a[contains(string(b/c), 'x')]", "//a[contains(b/c, 'x')]"),
    ("//a[contains(normalize-space(b), 'xy')]", "//a[contains(b, 'xy')]"),
    ("//a[substring(b, 1, 2) = 'xy']", "//a[starts-with(b, 'xy')]"),
    ("//a[b = true()]", "//a/b"),
    ("//a[false() = b]", "//a[not(b)]"),
    ("//a[concat('x', b)]", "//a"),
    ("//a[concat('', @x)]", "//a[@x != '']"),
    ("//a[concat(@x, @y)]", "//a[@x != '' or @y != '']"),
    ("string('x')", "true()"),
    ("//node() or //@*", "true()"),
    ("//@*[name() = 'x']", "//@x"),
    ("//@*[name() != 'x']", "//@*[not(local-name() = 'x' and namespace-uri() = '')]"),
    ("//@*[name(.) = 'xml:id']", "//@{http://www.w3.org/XML/1998/namespace}id"),
]

RESIDUAL: Final = [
    "//a[string(b) = 'x']", "//a[string-length(b) > 0]", "//a[string-length(@x) > 1]",
    "//a[contains(normalize-space(b), 'x y')]", "//a[starts-with(normalize-space(b), 'x')]",
    "//a[substring(b, 1, 3) = 'xy']", "//*[name() = 'a']", "//@*[name() = 'p:x']",
    "string(/) = 'x'", "string(/) != 'x'",
    "//a[local-name(b) = 'b']", "//a[number(@x) = 'x']", "//a[concat(b, c)]",
]  # fmt: skip


@pytest.mark.parametrize(("written", "meant"), SIMPLER)
def test_a_call_may_mean_something_simpler(written: str, meant: str) -> None:
    assert Pattern(written) is Pattern(meant)
    assert Pattern(written).exact


@pytest.mark.parametrize("written", RESIDUAL)
def test_what_it_does_not_mean_it_is_not_taken_for(written: str) -> None:
    assert not Pattern(written).exact


@pytest.mark.parametrize("engine", EVERY_ENGINE)
@pytest.mark.parametrize("seed", range(4))
def test_libxml2_agrees(engine: str, seed: int) -> None:
    assert agree("functions", seed, engine)


@pytest.mark.deep
@pytest.mark.parametrize("engine", EVERY_ENGINE)
@pytest.mark.parametrize("seed", range(100, 350))
def test_libxml2_agrees_at_length(engine: str, seed: int) -> None:
    assert agree("functions", seed, engine)
