"""Covering: examples of the papers, of the language, and laws that always hold."""

from __future__ import annotations

import re
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

import twigcast
from tests.covering.drawn import drawn_path, drawn_tree, paths, trees
from tests.covering.oracle import truly_covers
from tests.oracle import oracle
from tests.strategies import NAMESPACES, ExpressionPair, documents, subscriptions
from twigcast.covering import Tally, Verdict, covers, decide
from twigcast.errors import PatternError, PatternLimitError
from twigcast.language import Pattern, PatternLimits

COVERING = [
    # Paths, among them those that need // and * together.
    ("//a", "/a"), ("/*", "/a"), ("//*", "//a/b"), ("/a", "/a/b"), ("/a//b", "/a/b"),
    ("/a//b", "/a/*/b"), ("/a/*//b", "/a//*/b"), ("/a//*/b", "/a/*//b"), ("/a/*", "/a//b"),
    ("//*/*/a", "/*//*//a"), ("//a//*", "//a/*/b"), ("//a//b", "//a//a/b"),
    ("/*/a//*/c", "/a/a/*//c/b/d"),
    # Branches.
    ("//a[b]", "//a[b][c]"), ("//a[.//b]/c", "/x/a[c]/*/b"), ("//a[b]", "//a[b/c]"),
    ("//a[.//*/b]", "//a[.//a//b]"), ("/a[*/b]", "/a[*[b][c]]"),
    # Attributes and texts are below elements.
    ("//*[@x]", "//@x"), ("//@*", "//a/@x"), ("//a//@x", "//a/@x"), ("//*/text()", "//text()"),
    # Values: XNET, section 3 and Figure 1.
    ("//stock[price > 10]", "//stock[price > 15]"), ("//a[@x]", "//a[@x = '1']"),
    ("//a[starts-with(@x, 'a')]", "//a[starts-with(@x, 'ab')]"), ("//a[@x != 5]", "//a[@x > 6]"),
    ("//a[@x > 3]", "//a[@x > 4][@x < 9]"), ("//a[contains(., 'x')]", "//a[b = 'xy']"),
    ("//a[contains(., 'x')]", "//a[.//text() = 'x']"),
    # Connectives.
    ("//a[b or c]", "//a[b]"), ("//a[b or c]", "//a[c][d] | //a/b"), ("//a", "//a[b or c]"),
    ("//a[not(b)]", "//a[not(.//b)]"), ("//a[not(b[c])]", "//a[not(b)]"),
    ("//a[not(b and c)]", "//a[not(b)]"), ("//a[not(@x = '2')]", "//a[@x = '1']"),
    ("//a[not(@x < 5)]", "//a[@x >= 5]"), ("not(/a)", "not(//a)"), ("//*[not(self::b)]", "//a"),
    ("//a/b | //a/*//b", "//a//b"), ("//a | //b", "//a[c] | //b[d]"),
    ("//a[.//b]", "//a[b or */b]"), ("//a", "false()"),
    # Every document has one root element.
    ("/a[b][c]", "/a[b] and /*[c]"), ("/a//b", "/a and //b"), ("/*/*", "//a and //b"),
    ("true()", "//a"), ("/*", "true()"), ("//a", "/a and /b"),
    # Residual parts: equal ones cover each other, any is covered by what it needs.
    ("//a[b[2]]", "//a[b[2]][c]"), ("//a/b", "//a/b[2]/c"), ("//a[b][c]", "//a[b = c]"),
    ("//a[contains(b/c, 'x')]", "//a[contains(b/c, 'xy')]"),
    ("//a[b/c]", "//a[contains(b/c, 'xy')]"), ("//a[.//c]", "//a[contains(b/c, 'xy')]"),
    # Namespaces.
    ("//*:a", "//{urn:p}a"), ("//{urn:p}*", "//{urn:p}a"), ("//*", "//{urn:p}*"),
    ("//*:a", "//a"), ("//@*:x", "//@{urn:p}x"),
]  # fmt: skip

NOT_COVERING = [
    ("/a", "//a"), ("//a/b", "//a//b"), ("/a/*/b", "/a//b"), ("/a/*/b", "/a/*//b"), ("//b", "//a"),
    ("//a[b][c]", "//a[b]"), ("//a[b/c]", "//a[b][.//c]"), ("//a[b[c][d]]", "//a[b/c][b/d]"),
    ("//a/b", "//a[b or c]"), ("//a[not(b)]", "//a[c]"), ("//a[not(.//b)]", "//a[not(b)]"),
    ("//a[@x = '5']", "//a[@x = 5]"), ("//a[@x >= 5]", "//a[not(@x < 5)]"),
    ("//a[b != '1']", "//a[not(b = '1')]"), ("//a[not(b = '2')]", "//a[b = '1']"),
    ("//a[. = 'x']", "//a[b = 'x']"), ("//a[starts-with(., 'x')]", "//a[b = 'x']"),
    ("//a[contains(@x, 'x')]", "//a[b[@x = 'x']]"), ("//a", "//{urn:p}a"), ("//*:a", "//{urn:p}*"),
    ("//a[b[2]]", "//a[b]"), ("//a[contains(b, 'x')]", "//a/b[contains(., 'x')]"),
    ("/a/@x", "/a//@x"), ("//*/*/@x", "//@x"), ("/*/*", "//a and //*"), ("false()", "//a"),
    # An empty CDATA section makes an empty text.
    ("//a[text() != '']", "//a[text()]"), ("//b", "//a/text()[. = '']"),
    ("//a[.//text()]", "//a[b]"), ("//*[@x = 'y'][@z]", "//*[@x = 'y'] and //@z"),
]  # fmt: skip


@pytest.mark.parametrize(("wider", "narrower"), COVERING)
def test_it_covers(wider: str, narrower: str) -> None:
    assert covers(wider=wider, narrower=narrower)


@pytest.mark.parametrize(("wider", "narrower"), NOT_COVERING)
def test_it_does_not_cover(wider: str, narrower: str) -> None:
    assert not covers(wider=wider, narrower=narrower)


def test_a_part_with_a_descendant_can_be_covered_unlike_in_dissemination() -> None:
    # Dissemination 1.5.2 denies that /*/a//*/c covers /a/a/*//c/b/d; by the definition it does.
    assert covers(wider="/*/a//*/c", narrower="/a/a/*//c/b/d")
    # Its own special case, and one where its greedy scan takes the first place and fails.
    assert covers(wider="/a/*//*/d", narrower="/a//b/c/d")
    assert covers(wider="//a/b//c", narrower="/a/a/b/x/c")


def test_a_covering_without_a_homomorphism_is_found() -> None:
    # In the shape of Miklau and Suciu's examples: the c//d in the middle is c/d or c/*//d. In the
    # one case the lower b serves, in the other the upper one, and no place serves both.
    wider, narrower = "/a[.//b[c/*//d][b/c/d]]", "/a[b[c/*//d][b[c//d][b/c/d]]]"
    verdict = decide(wider=wider, narrower=narrower)
    assert verdict.covers
    assert verdict.steps > 0
    assert truly_covers(wider=wider, narrower=narrower)


@given(subscriptions())
def test_every_pattern_covers_itself_and_is_covered_by_its_necessary_one(
    expression: ExpressionPair,
) -> None:
    pattern = Pattern.parse(expression.text, NAMESPACES)
    assert covers(wider=pattern, narrower=pattern)
    assert covers(wider=pattern.necessary, narrower=pattern)


@given(subscriptions(), subscriptions(), documents())
def test_covering_never_loses_a_match(
    wider: ExpressionPair, narrower: ExpressionPair, document: bytes
) -> None:
    first, second = (Pattern.parse(expression.text, NAMESPACES) for expression in (wider, narrower))
    if covers(wider=first, narrower=second) and oracle(narrower.oracle, document, NAMESPACES):
        assert oracle(wider.oracle, document, NAMESPACES)


@given(st.lists(st.one_of(trees(5), paths()), min_size=3, max_size=3))
def test_covering_is_transitive(texts: list[str]) -> None:
    first, second, third = texts
    if covers(wider=first, narrower=second) and covers(wider=second, narrower=third):
        assert covers(wider=first, narrower=third)


@given(st.randoms(use_true_random=False))
def test_a_pattern_covers_what_asks_for_more(rng: Random) -> None:
    text = drawn_tree(rng)
    more = text + drawn_path(rng, steps_max=3)
    assert covers(wider=text, narrower=more)
    assert covers(wider=re.sub("[a-z]", "*", text), narrower=text)
    assert covers(wider=re.sub(r"(?<!/)/(?!/)", "//", text), narrower=text)


def test_patterns_and_texts_are_taken_alike() -> None:
    pattern = Pattern.parse("//p:a", {"p": "urn:p"})
    assert covers(wider="//{urn:p}a", narrower=pattern)
    assert covers(wider=pattern, narrower="/{urn:p}a/b")
    assert twigcast.covers(wider=pattern, narrower=pattern)


def test_bad_input_is_refused_with_the_errors_of_the_language() -> None:
    with pytest.raises(PatternError):
        covers(wider="//a[", narrower="//a")
    with pytest.raises(PatternLimitError):
        covers(wider="//a", narrower="/a" * 100)


def test_out_of_budget_is_no_and_is_counted() -> None:
    wider, narrower = "/a[.//b[c/*//d][b/c/d]]", "/a[b[c/*//d][b[c//d][b/c/d]]]"
    tally = Tally()
    assert covers(wider=wider, narrower=narrower, tally=tally)
    assert not covers(wider=wider, narrower=narrower, budget=10, tally=tally)
    assert tally == Tally(asked=2, covering=1, undecided=1)
    assert decide(wider=wider, narrower=narrower, budget=0) == Verdict(
        covers=False, within_budget=False
    )


LARGE = PatternLimits(
    characters_max=1 << 20, steps_max=1 << 14, predicates_max=1 << 12, steps_in_row_max=1 << 14
)


@pytest.mark.parametrize(
    ("wider", "narrower"),
    [
        ("/a" + "//*[b]" * 30, "/a" + "//*[b]" * 31),
        ("//*[a]/*[b]" * 15, "//*[a]//*[b]" * 15),
        (
            "//a" + "".join(f"[.//*/b{n}]" for n in range(9)),
            "//a" + "".join(f"[.//b{n}//*/c]" for n in range(9)),
        ),
        ("//a" + "[b or c]" * 31, "//a" + "[c or d]" * 31),
        ("//a[not(b or c) or d]" * 10, "//a[not(b and c)]" * 10),
        (" or ".join(f"//*/a{n}" for n in range(31)), " and ".join(f"//a{n}" for n in range(31))),
        (" or ".join(f"//a{n}" for n in range(31)), " or ".join(f"//a{n}//b" for n in range(31))),
    ],
)
def test_patterns_at_the_limits_stay_within_the_budget(wider: str, narrower: str) -> None:
    budget = 20_000
    for first, second in ((wider, narrower), (narrower, wider)):
        assert decide(wider=first, narrower=second, budget=budget).steps <= budget


def test_questions_beyond_the_budget_take_milliseconds() -> None:
    """Such patterns can be short, and a broker compares each with each."""
    steps = sum(
        decide(
            wider=f"//*//*[*//*/* or .//c{number}]/b",
            narrower=f"//a/*//*[.//*[*]//*/*][.//a//b][.//d{number}]//b//b//b",
        ).steps
        for number in range(5)
    )
    assert steps <= 100_000


def test_deep_patterns_do_not_recur() -> None:
    deep = Pattern.parse("/a//*" * 600, limits=LARGE)
    deeper = Pattern.parse("/a/b/*" * 500, limits=LARGE)
    twice = Pattern.parse("/a//*" * 600 + "[b][c]", limits=LARGE)
    assert covers(wider=deep, narrower=twice)
    assert not covers(wider=deeper, narrower=deep)
    assert decide(wider=twice, narrower=deep).within_budget
    either = Pattern.parse("/a" * 600 + "[b or not(c)]", limits=LARGE)
    assert covers(wider=either, narrower=Pattern.parse("/a" * 600 + "/b", limits=LARGE))


def test_the_wider_pattern_comes_first_where_they_are_given_by_position() -> None:
    assert covers("//a", "//a/b")
    assert not covers("//a/b", "//a")
    assert covers(Pattern.parse("//a"), narrower="//a/b")
