"""Each named limit, reached and overstepped by one, for expressions and for documents."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import fields

import pytest

from twigcast.errors import DocumentLimitError, LimitError, PatternLimitError, UsageError
from twigcast.language import (
    LIBRARY_LIMITS,
    LIVE_LIMITS,
    PATTERN_LIMITS,
    Document,
    DocumentLimits,
    Pattern,
    PatternLimits,
)
from twigcast.language.pattern import CANONICAL_LIMITS

EXPRESSIONS: dict[str, Callable[[int], str]] = {
    "characters_max": lambda n: "//" + "a" * (n - 2),
    "steps_max": lambda n: "|".join(["a"] * n),
    "predicates_max": lambda n: "//a" + "[b]" * n,
    "predicate_depth_max": lambda n: "//a" + "[b" * n + "]" * n,
    "nesting_max": lambda n: "(" * (n - 1) + "//a" + ")" * (n - 1),
    "operators_max": lambda n: "+".join(["1"] * (n + 1)),
    "steps_in_row_max": lambda n: "/" + "/".join(["a"] * n),
}
"""An expression that comes to exactly ``n`` by the measure of a limit."""


@pytest.mark.parametrize("limit", EXPRESSIONS)
def test_an_expression_may_reach_a_limit_and_not_overstep_it(limit: str) -> None:
    allowed = getattr(PATTERN_LIMITS, limit)
    pattern = Pattern.parse(EXPRESSIONS[limit](allowed))
    assert Pattern.parse(pattern.text) is pattern
    with pytest.raises(PatternLimitError) as caught:
        Pattern.parse(EXPRESSIONS[limit](allowed + 1))
    error = caught.value
    assert (error.limit, error.given, error.allowed) == (limit, allowed + 1, allowed)
    assert isinstance(error, LimitError)


def test_every_limit_of_expressions_is_tried_here() -> None:
    assert EXPRESSIONS.keys() == {field.name for field in fields(PatternLimits)}


@pytest.mark.parametrize(
    ("limit", "text"),
    [
        ("steps_max", "concat(" + ",".join(["/"] * 257) + ")"),
        ("steps_max", "//a[concat(" + ",".join(["."] * 256) + ") = 1]"),
        ("steps_max", "|".join(["/"] * 257)),
        ("steps_max", "|".join(f"id('{n}')" for n in range(258))),
        ("steps_max", "|".join(["a/b/c"] * 86)),
        ("steps_in_row_max", "/a" * 30 + "[b" + "/b" * 34 + " = 1]"),
        ("steps_in_row_max", "//a" + "[b/b/b/b/b/b/b/b" * 8 + "]" * 8),
        ("steps_in_row_max", "(//a" + "/a" * 31 + ")[@x]/b" + "/b" * 32),
        ("steps_in_row_max", "((a/a)[b/b]/c | d" + "/d" * 60 + ")[e/e/e/e]"),
        ("steps_in_row_max", "(" * 22 + "a/a/a)/b" + ")/b/b/b" * 21),
        ("steps_in_row_max", "count(id(a/a)" + "/a" * 63 + ") > 1"),
        ("nesting_max", "-" * 32 + "1"),
        ("nesting_max", "not(" * 32 + "a" + ")" * 32),
        ("nesting_max", "//a" + "[(b" * 7 + "[" + "(" * 18 + "c" + ")" * 18 + "]" + ")]" * 7),
        ("operators_max", " or ".join(f"1={n}" for n in range(65))),
        ("operators_max", "=".join(["1"] * 130)),
        ("characters_max", "(" * 20_000 + "a" + ")" * 20_000),
        ("characters_max", " or ".join(["a"] * 50_000)),
        ("characters_max", "|".join(["a"] * 20_000)),
        ("characters_max", "//" + "é" * 100_000),
    ],
)
def test_other_ways_to_be_too_large_run_into_the_same_limits(limit: str, text: str) -> None:
    with pytest.raises(PatternLimitError) as caught:
        Pattern.parse(text)
    assert caught.value.limit == limit
    assert len(str(caught.value)) < 300


def test_a_namespace_may_not_be_longer_than_an_expression() -> None:
    assert Pattern.parse("//p:a", {"p": "u" * 16_384}).exact
    with pytest.raises(PatternLimitError, match="characters_max"):
        Pattern.parse("//p:a", {"p": "u" * 16_385})


def test_steps_side_by_side_are_not_in_a_row() -> None:
    for text in (
        " or ".join(["/a" * 60 + "[b/b][c/c and d/d]"] * 3),
        "(" + "a/" * 60 + "b | c)/d/d",
        "count(" + "a/" * 60 + "a) + count(" + "b/" * 60 + "b) > 1",
        "id(" + "a/" * 60 + "a)/a/a",
        "//a[concat(" + ", ".join(["b/" * 20 + "b"] * 8) + ") = 'x']",
    ):
        assert Pattern.parse(text).text


def test_a_list_of_codes_and_a_list_of_elements_are_within_the_limits() -> None:
    codes = " ".join(f"{number:03}" for number in range(2_200))
    assert (
        len(Pattern.parse(f"//quantity[contains(' {codes} ', concat(' ', @unit, ' '))]").text)
        > 8_800
    )
    named = " | ".join(f"self::d:element{number}" for number in range(192))
    assert Pattern.parse(named, {"d": "urn:d"}).text


@pytest.mark.parametrize(
    "text",
    [
        "("
        + "|".join(f"a{n}" for n in range(100))
        + ")["
        + " or ".join(f"contains(name(), '{n}')" for n in range(128))
        + "]",
        "(" + "|".join(f"a{n}" for n in range(120)) + ")[contains('" + "x" * 14_000 + "', .)]",
    ],
    ids=("operators", "characters"),
)
def test_what_follows_many_alternatives_is_not_copied_to_each_if_it_is_large(text: str) -> None:
    assert len(Pattern.parse(text).text) < 2 * len(text)


def test_limits_are_the_callers_to_set() -> None:
    with pytest.raises(PatternLimitError):
        Pattern.parse("/a/b", limits=PatternLimits(steps_max=1))
    wide = PatternLimits(characters_max=100_000, steps_in_row_max=10_000)
    assert Pattern.parse("/" + "/".join(["a"] * 65), limits=wide).exact


@pytest.mark.parametrize(
    ("text", "namespaces"),
    [
        ("/" + "/".join(["p:a"] * 60), {"p": "urn:" + "x" * 200}),
        ("(" + "|".join(f"a{n}[b]" for n in range(30)) + ") = 'x'", {}),
        ("//a[" + " or ".join(f"contains(@b, '{n}')" for n in range(60)) + "]", {}),
    ],
)
def test_canonical_texts_have_room_to_be_longer_than_what_was_written(
    text: str, namespaces: dict[str, str]
) -> None:
    pattern = Pattern.parse(text, namespaces)
    assert Pattern.parse(pattern.text, limits=CANONICAL_LIMITS) is pattern


# Documents.

DOCUMENTS: dict[str, tuple[DocumentLimits, Callable[[int], bytes]]] = {
    "bytes_max": (DocumentLimits(bytes_max=50), lambda n: b"<a>" + b"x" * (n - 7) + b"</a>"),
    "elements_max": (DocumentLimits(elements_max=9), lambda n: b"<a>%s</a>" % (b"<b/>" * (n - 1))),
    "depth_max": (DocumentLimits(depth_max=9), lambda n: b"<a>" * n + b"</a>" * n),
    "attributes_max": (
        DocumentLimits(attributes_max=9),
        lambda n: b"<a><b %s/></a>" % b" ".join(b"a%d=''" % i for i in range(n)),
    ),
    "name_length_max": (
        DocumentLimits(name_length_max=9),
        lambda n: b"<a><b xmlns='%s'/></a>" % (b"u" * n),
    ),
    "internal_subset_bytes_max": (
        DocumentLimits(internal_subset_bytes_max=9),
        lambda n: b"<!DOCTYPE a [<!--%s-->]><a/>" % (b"x" * (n - 7)),
    ),
}


@pytest.mark.parametrize("limit", DOCUMENTS)
def test_a_document_may_reach_a_limit_and_not_overstep_it(limit: str) -> None:
    limits, document = DOCUMENTS[limit]
    allowed = getattr(limits, limit)
    assert Document.parse(document(allowed), limits=limits).element_count
    with pytest.raises(DocumentLimitError) as caught:
        Document.parse(document(allowed + 1), name="big.xml", limits=limits)
    error = caught.value
    assert (error.limit, error.given, error.allowed) == (limit, allowed + 1, allowed)
    assert (error.document, limit in str(error)) == ("big.xml", True)


def test_every_limit_of_documents_is_tried_here() -> None:
    assert DOCUMENTS.keys() == {field.name for field in fields(DocumentLimits)}


@pytest.mark.parametrize("limits", [LIBRARY_LIMITS, LIVE_LIMITS])
def test_the_default_depth_is_where_libxml2_stops(limits: DocumentLimits) -> None:
    assert Document.parse(b"<a>" * 256 + b"</a>" * 256, limits=limits).depth == 256
    with pytest.raises(DocumentLimitError) as caught:
        Document.parse(b"<a>" * 257 + b"</a>" * 257, limits=limits)
    assert (caught.value.limit, caught.value.given, caught.value.allowed) == ("depth_max", 257, 256)


@pytest.mark.parametrize(
    ("limits", "encoding"),
    [(DOCUMENTS["elements_max"][0], "utf-16"), (DOCUMENTS["attributes_max"][0], "utf-16-be")],
)
def test_limits_count_what_is_written_in_any_encoding(
    limits: DocumentLimits, encoding: str
) -> None:
    for limit in ("elements_max", "attributes_max"):
        if getattr(limits, limit) == 9:
            text = DOCUMENTS[limit][1](10).decode()
            with pytest.raises(DocumentLimitError, match=limit):
                Document.parse(f"<?xml version='1.0'?>{text}".encode(encoding), limits=limits)


@pytest.mark.parametrize("encoding", ["utf-8", "utf-16"])
def test_elements_that_entities_bring_count_too(encoding: str) -> None:
    limits = DocumentLimits(elements_max=9)
    text = "<!DOCTYPE a [<!ENTITY e '<b/><b/><b/>'>]><a>{}</a>"
    assert Document.parse(text.format("&e;&e;").encode(encoding), limits=limits).element_count == 7
    with pytest.raises(DocumentLimitError, match="elements_max"):
        Document.parse(text.format("&e;&e;&e;").encode(encoding), limits=limits)


def test_no_attribute_comes_from_a_dtd() -> None:
    limits = DocumentLimits(attributes_max=1)
    content = b"<!DOCTYPE a [<!ATTLIST a x CDATA '1' y CDATA '2'>]><a z=''/>"
    assert Document.parse(content, limits=limits).tree.getroot().keys() == ["z"]


def test_what_only_looks_like_elements_does_not_count() -> None:
    limits = DocumentLimits(elements_max=1)
    content = b"<a><!-- <b/><b/> --><![CDATA[<b/><b/>]]><?p <b/>?>&lt;b/></a>"
    assert Document.parse(content, limits=limits).element_count == 1


@pytest.mark.parametrize("depth_max", [0, 257])
def test_a_depth_that_libxml2_cannot_keep_is_no_limit(depth_max: int) -> None:
    with pytest.raises(UsageError, match="depth_max"):
        DocumentLimits(depth_max=depth_max)


def test_more_elements_than_libxml2_can_count_are_no_limit() -> None:
    assert DocumentLimits(elements_max=10_000_000).elements_max == 10_000_000
    with pytest.raises(UsageError, match="elements_max"):
        DocumentLimits(elements_max=10_000_001)
