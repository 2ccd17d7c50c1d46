"""Start tags: attributes, identifiers, prefixes."""

from __future__ import annotations

import tracemalloc
from collections import Counter

import pytest

from tests.workload.drawn_documents import drawn
from twigcast.files.schemas import shipped_schema
from twigcast.language.dtd.schema import Schema
from twigcast.workload import (
    Vocabulary,
)
from twigcast.workload.start_tags import StartTags


def test_ids_are_unique_and_references_lead_to_them() -> None:
    root = drawn(shipped_schema("auction"), elements=500)
    ids = Counter(element.get("id") for element in root.iter() if element.get("id"))
    assert ids.total() > 10
    assert max(ids.values()) == 1
    references = [element.get("bidder") for element in root.iter("bid")]
    assert references
    assert set(references) <= set(ids)


def test_a_document_without_ids_has_no_references() -> None:
    schema = Schema.parse(b"<!ELEMENT a (a*)><!ATTLIST a ref IDREF #IMPLIED x CDATA #IMPLIED>")
    root = drawn(schema, elements=50, attributes=1)
    assert {tuple(element.keys()) for element in root.iter()} == {("x",)}


@pytest.mark.parametrize("attributes", [0.0, 0.5, 1.0])
def test_attributes_that_may_be_absent_are_there_as_often_as_asked(attributes: float) -> None:
    schema = Schema.parse(b"<!ELEMENT a (a*)><!ATTLIST a x CDATA #IMPLIED y CDATA #REQUIRED>")
    root = drawn(schema, elements=2000, attributes=attributes)
    found = Counter(name for element in root.iter() for name in element.keys())  # noqa: SIM118
    assert found["y"] == 2000
    assert found["x"] / 2000 == pytest.approx(attributes, abs=0.05)


def test_prefixes_are_bound_at_the_root() -> None:
    schema = Schema.parse(
        b'<!ELEMENT a (m:b)*><!ELEMENT m:b EMPTY><!ATTLIST m:b xmlns:m CDATA #FIXED "urn:m"'
        b" x:c CDATA #REQUIRED>"
    )
    root = drawn(schema, elements=3)
    assert root.nsmap == {"m": "urn:m", "x": "urn:x"}
    assert [child.tag for child in root] == ["{urn:m}b"] * 2


def test_a_large_vocabulary_is_held_once_and_not_for_each_attribute() -> None:
    schema, vocabulary = shipped_schema("news"), Vocabulary(numbers=5_000)
    tracemalloc.start()
    try:
        StartTags(schema, vocabulary, 0.4)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert peak < 4 << 20
