"""What wildcards stand for: put in their places, the pattern still matches."""

from __future__ import annotations

import pytest
from hypothesis import assume, given

from tests.oracle import oracle
from tests.strategies import NAMESPACES, THOROUGH, ExpressionPair, documents, subscriptions
from twigcast.errors import UsageError
from twigcast.language import Pattern
from twigcast.language.condition.wildcards import wildcards_in
from twigcast.matching import Binding, Matcher, substituted


def bindings(xpath: str | Pattern, content: bytes) -> tuple[Binding, ...]:
    matcher = Matcher()
    matcher.add(1, xpath, NAMESPACES)
    return matcher.bindings(content, [1])[1]


@THOROUGH
@given(subscriptions(exact=True), documents())
def test_with_what_its_wildcards_stand_for_a_pattern_matches_the_same_document(
    said: ExpressionPair, content: bytes
) -> None:
    pattern = Pattern.parse(said.text, NAMESPACES)
    assume(pattern.exact)
    bound = bindings(pattern, content)
    if not oracle(said.oracle, content, NAMESPACES):
        assert bound == ()
        return
    assert len({one.wildcard for one in bound}) == len(bound)
    narrower = substituted(pattern, bound)
    assert oracle(*_asked(narrower, content))
    numbers = {one.wildcard for one in bound}
    if numbers == set(range(1, wildcards_in(pattern.condition) + 1)):
        assert wildcards_in(narrower.condition) == 0


def _asked(pattern: Pattern, content: bytes) -> tuple[str, bytes, dict[str, str]]:
    text, namespaces = pattern.for_libxml2()
    return text, content, namespaces


@pytest.mark.parametrize(
    ("xpath", "content", "expected"),
    [
        ("/a/b", "<a><b/></a>", {}),
        ("/*/b", "<a><b/></a>", {1: "a"}),
        ("//b", "<a><c><b/></c><b/></a>", {1: "a/c"}),
        ("//b", "<b/>", {1: ""}),
        ("//*", "<a><b/></a>", {1: "", 2: "a"}),
        ("/*//c[.//@d]", "<a><b><c><e d=''/></c></b></a>", {1: "a", 2: "b", 3: "e"}),
        ("//a[*][@*]", "<r><a/><a x=''><b/><c/></a></r>", {1: "r", 2: "b", 3: "x"}),
        ("//a[b//c or .//d]", "<a><e><d/></e></a>", {1: "", 2: "e"}),
        ("//a[not(.//b)]//c", "<a><d><c/></d></a>", {1: "", 3: "d"}),
        ("//text()", "<a><b>x</b></a>", {1: "a/b"}),
        ("/*/c", "<a/>", {}),
    ],
)
def test_the_first_match_in_document_order_is_told(
    xpath: str, content: str, expected: dict[int, str]
) -> None:
    told = {one.wildcard: "/".join(one.path) for one in bindings(xpath, content.encode())}
    assert told == expected


def test_names_come_with_their_namespaces() -> None:
    bound = bindings("//p:*/@*", b"<a><b xmlns='urn:p' c=''/></a>")
    assert bound == (Binding(1, ("a",)), Binding(2, ("{urn:p}b",)), Binding(3, ("c",)))


def test_what_only_libxml2_decides_has_no_bindings() -> None:
    with pytest.raises(UsageError, match="libxml2 alone knows how //a\\[2\\]/b matches"):
        bindings("//a[2]/b", b"<r><a/><a><b/></a></r>")
    with pytest.raises(UsageError, match="no subscription with id 7"):
        Matcher().bindings(b"<a/>", [7])
