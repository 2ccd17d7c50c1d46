"""Advertisements as values: where they come from, what they include, how they cover each other."""

from __future__ import annotations

import pickle
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.strategies import documents
from twigcast.covering.advertisements.advertisement import (
    Advertisement,
    advertisement_covers,
    overlaps,
)
from twigcast.covering.paths.automaton import AutomatonLimits
from twigcast.errors import SchemaLimitError
from twigcast.files.schemas import shipped_schema, shipped_schema_names
from twigcast.language import Document, Pattern, Schema


def of(*contents: bytes) -> Advertisement:
    return Advertisement.of_documents(map(Document.parse, contents))


def departure(advertisement: Advertisement, content: bytes) -> str | None:
    return advertisement.departure(Document.parse(content))


samples = st.lists(documents(depth=3), min_size=1, max_size=3)


# From documents.


@given(samples)
def test_samples_are_included_and_their_order_does_not_matter(contents: list[bytes]) -> None:
    advertisement = of(*contents)
    assert all(advertisement.includes(Document.parse(content)) for content in contents)
    assert of(*reversed(contents)) == advertisement
    assert of(*contents, *contents) == advertisement


@given(samples, samples)
def test_covering_agrees_with_inclusion(wide: list[bytes], narrow: list[bytes]) -> None:
    wider, narrower = of(*wide), of(*narrow)
    includes_all = all(wider.includes(Document.parse(content)) for content in narrow)
    assert advertisement_covers(wider=wider, narrower=narrower) == includes_all


@given(samples, samples)
def test_a_union_includes_what_either_includes(one: list[bytes], other: list[bytes]) -> None:
    both = of(*one) | of(*other)
    assert both == of(*one, *other)
    assert advertisement_covers(wider=both, narrower=of(*one))


def test_the_first_departure_is_named() -> None:
    advertisement = of(b"<a><b x='1'>t</b><c/></a>", b"<a><c><d/></c></a>")
    assert departure(advertisement, b"<a><c><d/></c><b>other</b></a>") is None
    assert departure(advertisement, b"<z/>") == "/z"
    assert departure(advertisement, b"<a><b/><c><e/></c></a>") == "/a/c/e"
    assert departure(advertisement, b"<a><c x='1'/></a>") == "/a/c/@x"
    assert departure(advertisement, b"<a xmlns='urn:a'/>") == "/{urn:a}a"
    assert departure(advertisement, b"<a><b p:x='' xmlns:p='u'/></a>") == "/a/b/@{u}x"


def test_white_space_may_stand_anywhere_and_text_where_it_was_seen() -> None:
    advertisement = of(b"<a><b>t</b></a>")
    assert departure(advertisement, b"<a>\n  <b/>\n</a>") is None
    assert departure(advertisement, b"<a>t<b/></a>") == "/a/text()"
    assert departure(advertisement, b"<a><b/>t</a>") == "/a/text()"
    assert departure(advertisement, b"<a><!-- c -->t<b/></a>") == "/a/text()"
    assert departure(advertisement, b"<a><b><?p?>t</b></a>") is None


# From schemas.


def test_values_that_a_schema_lists_are_promised() -> None:
    schema = Schema.parse(
        b"<!ELEMENT a (b?)><!ELEMENT b EMPTY>"
        b"<!ATTLIST a k (x | y) #IMPLIED v CDATA #FIXED '1' w NMTOKENS #FIXED 'p q'>"
    )
    advertisement = Advertisement.of_schema(schema)
    assert departure(advertisement, b"<a k='x' v='1' w='p  q'/>") is None
    assert departure(advertisement, b"<a k='z'/>") == "/a/@k"
    assert departure(advertisement, b"<a v='2'/>") == "/a/@v"
    assert departure(advertisement, b"<a><b> </b></a>") == "/a/b/text()"


@pytest.mark.parametrize("name", shipped_schema_names())
def test_an_advertisement_survives_pickling_and_is_its_own_union(name: str) -> None:
    advertisement = Advertisement.of_schema(shipped_schema(name))
    assert overlaps(advertisement, Pattern.parse("//*"))
    twin = pickle.loads(pickle.dumps(advertisement))
    assert twin == advertisement
    assert hash(twin) == hash(advertisement)
    assert twin.text == advertisement.text
    assert advertisement | twin == advertisement


def test_advertisements_of_different_schemas_do_not_cover_each_other() -> None:
    news, parts = (Advertisement.of_schema(shipped_schema(name)) for name in ("news", "parts"))
    assert not advertisement_covers(wider=news, narrower=parts)
    both = news | parts
    assert advertisement_covers(wider=both, narrower=parts)
    assert not advertisement_covers(wider=parts, narrower=both)


def test_covering_that_takes_too_long_is_a_no() -> None:
    news, parts = (Advertisement.of_schema(shipped_schema(name)) for name in ("news", "parts"))
    assert not advertisement_covers(wider=news | parts, narrower=news, steps_max=10)


def test_a_union_over_the_limit_is_refused() -> None:
    news, parts = (Advertisement.of_schema(shipped_schema(name)) for name in ("news", "parts"))
    with pytest.raises(SchemaLimitError, match="edges_max"):
        news.union(parts, limits=AutomatonLimits(edges_max=50))


def test_a_deep_schema_needs_no_deep_stack() -> None:
    depth = 2 * sys.getrecursionlimit()
    chain = "".join(f"<!ELEMENT e{n} (e{n + 1})>" for n in range(depth))
    schema = Schema.parse(f"{chain}<!ELEMENT e{depth} EMPTY>".encode())
    advertisement = Advertisement.of_schema(schema)
    assert advertisement.statistics().states == depth + 2
    assert overlaps(advertisement, Pattern.parse(f"//e{depth}"))


def test_statistics_tell_the_size() -> None:
    schema = Schema.parse(b"<!ELEMENT a (a*, b)><!ELEMENT b EMPTY><!ATTLIST b x CDATA #IMPLIED>")
    statistics = Advertisement.of_schema(schema, roots=["a"]).statistics()
    assert (statistics.states, statistics.edges, statistics.elements, statistics.attributes) == (
        3,
        3,
        2,
        1,
    )
    assert statistics.recursive


def test_the_text_has_a_line_for_each_state() -> None:
    schema = Schema.parse(
        b"<!ELEMENT a (a*, b)><!ELEMENT b (#PCDATA)><!ATTLIST b x (1 | 2) #IMPLIED>"
    )
    assert Advertisement.of_schema(schema, roots=["a"]).text.splitlines() == [
        "0: a=1",
        "1: space() a=1 b=2",
        '2: text() @x("1"|"2")',
    ]
