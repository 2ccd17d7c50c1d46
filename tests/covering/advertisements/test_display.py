"""Path expressions of advertisements: all included, and complete if they are marked so."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.covering.path_oracles import loosened, tiny_schemas
from tests.strategies import THOROUGH, documents
from twigcast.covering.advertisements.advertisement import Advertisement
from twigcast.covering.advertisements.display import EXPRESSIONS_MAX, ShownPaths, path_expressions
from twigcast.covering.paths.automaton import covers_paths
from twigcast.covering.paths.expression import (
    expression_text,
)
from twigcast.files.schemas import shipped_schema, shipped_schema_names
from twigcast.language import Document, Schema


def shown(advertisement: Advertisement) -> list[str]:
    return [expression_text(one) for one in path_expressions(advertisement).expressions]


def of_dtd(dtd: str, *roots: str) -> Advertisement:
    return Advertisement.of_schema(Schema.parse(dtd.encode()), roots=roots or None)


def check_shown(advertisement: Advertisement) -> ShownPaths:
    found = path_expressions(advertisement)
    back = Advertisement.of_expressions(map(expression_text, found.expressions))
    assert covers_paths(wider=loosened(advertisement.paths), narrower=back.paths)
    if found.complete:
        assert covers_paths(wider=back.paths, narrower=advertisement.paths)
    return found


@THOROUGH
@given(tiny_schemas())
def test_expressions_of_a_schema_read_back_are_its_advertisement(schema: Schema) -> None:
    check_shown(Advertisement.of_schema(schema))


@given(st.lists(documents(depth=3), min_size=1, max_size=3))
def test_expressions_of_samples_read_back_are_their_advertisement(contents: list[bytes]) -> None:
    advertisement = Advertisement.of_documents(map(Document.parse, contents))
    found = check_shown(advertisement)
    assert found.complete
    assert Advertisement.of_expressions(map(expression_text, found.expressions)) == advertisement


@pytest.mark.parametrize("name", shipped_schema_names())
def test_expressions_of_shipped_schemas_are_true(name: str) -> None:
    found = check_shown(Advertisement.of_schema(shipped_schema(name)))
    sizes = [expression_text(one).count("/") for one in found.expressions]
    assert 0 < len(sizes) <= EXPRESSIONS_MAX


def test_two_recursions_of_one_element_are_shown_with_their_mixtures() -> None:
    advertisement = of_dtd("<!ELEMENT a (a | b)*><!ELEMENT b (a | b)*>", "a")
    found = check_shown(advertisement)
    assert found.complete
    assert "/a((a)+(b)+)+" in map(expression_text, found.expressions)


def test_three_recursions_that_mix_are_shown_alone_with_a_note() -> None:
    each = "(a | b | c)*"
    found = check_shown(of_dtd(f"<!ELEMENT a {each}><!ELEMENT b {each}><!ELEMENT c {each}>", "a"))
    assert list(map(expression_text, found.expressions)) == ["/(a)+", "/a(b)+", "/a(c)+"]
    assert found.left_out == ("three or more recursions mix freely at a; each is shown alone",)


def test_over_the_limit_the_shortest_are_shown_with_a_note() -> None:
    advertisement = Advertisement.of_schema(shipped_schema("news"))
    found = path_expressions(advertisement, expressions_max=5)
    assert len(found.expressions) == 5
    assert found.left_out[0].startswith("there are more than 5 path expressions")
    assert not found.complete


def test_exactly_as_many_as_the_limit_are_complete() -> None:
    advertisement = Advertisement.of_expressions(["/a/b", "/a/c"])
    assert path_expressions(advertisement, expressions_max=2).complete
    assert not path_expressions(advertisement, expressions_max=1).complete


def test_very_long_paths_are_left_out_with_a_note() -> None:
    chain = "".join(f"<!ELEMENT e{n} (e{n + 1}?)>" for n in range(100))
    found = check_shown(of_dtd(f"{chain}<!ELEMENT e100 EMPTY>", "e0"))
    assert not found.expressions
    assert found.left_out == ("expressions of more than 64 labels are not shown",)


def test_elements_alone_can_be_requested() -> None:
    advertisement = of_dtd(
        "<!ELEMENT a (b, c)><!ELEMENT b (#PCDATA)><!ELEMENT c EMPTY><!ATTLIST c x CDATA #IMPLIED>",
        "a",
    )
    assert shown(advertisement) == ["/a/b/text()", "/a/c/@x"]
    found = path_expressions(advertisement, attributes=False, text=False)
    assert list(map(expression_text, found.expressions)) == ["/a/b", "/a/c"]


def test_namespaces_are_written_out() -> None:
    dtd = "<!ELEMENT p:a (q:b)><!ATTLIST p:a xmlns:p CDATA #FIXED 'urn:p'><!ELEMENT q:b EMPTY>"
    assert shown(of_dtd(dtd, "p:a")) == ["/{urn:p}a/*:b"]
