"""Schemas that resemble others."""

from __future__ import annotations

from random import Random

import pytest
from lxml import etree

from twigcast.errors import UsageError
from twigcast.files.schemas import shipped_schema, shipped_schema_names
from twigcast.workload import PatternShape, generate_documents, generate_patterns, vary


@pytest.mark.parametrize("name", shipped_schema_names())
@pytest.mark.parametrize("share", [0.0, 0.1, 0.5, 1.0])
def test_the_share_of_replaced_elements_is_as_asked(name: str, share: float) -> None:
    schema = shipped_schema(name)
    varied = vary(schema, Random(1), share)
    new = [element for element in varied.elements if element not in schema.elements]
    assert len(varied.elements) == len(schema.elements)
    assert len(new) == round(share * len(schema.elements))
    assert (varied.root == schema.root) is (share < 1)


def test_names_are_replaced_consistently_and_the_build_stays() -> None:
    schema = shipped_schema("news")
    varied = vary(schema, Random(1), 0.3)
    assert varied.undeclared == ()
    assert varied.reachable() == tuple(varied.elements)
    assert len(varied.recursive) == len(schema.recursive)
    renamed = dict(zip(schema.elements, varied.elements, strict=True))
    for old, new in renamed.items():
        assert varied.children(new) == tuple(renamed[child] for child in schema.children(old))
        assert varied.elements[new].attributes == schema.elements[old].attributes


def test_nothing_varied_is_the_same_and_everything_varied_shares_no_name() -> None:
    schema = shipped_schema("auction")
    assert vary(schema, Random(1), 0) == schema
    assert not set(vary(schema, Random(1), 1).elements) & set(schema.elements)


def test_the_seed_decides_which_elements_are_replaced() -> None:
    schema = shipped_schema("auction")
    assert vary(schema, Random(1), 0.3) == vary(schema, Random(1), 0.3)
    assert vary(schema, Random(1), 0.3) != vary(schema, Random(2), 0.3)


def test_a_schema_can_be_varied_again() -> None:
    schema = shipped_schema("auction")
    twice = vary(vary(schema, Random(1), 1), Random(2), 1)
    assert len(twice.elements) == len(schema.elements)


def test_the_less_is_varied_the_more_patterns_still_match() -> None:
    schema = shipped_schema("auction")
    patterns = list(
        generate_patterns(schema, rng=Random(1), count=300, shape=PatternShape(depth_max=4))
    )

    def matches(share: float) -> int:
        varied = vary(schema, Random(1), share)
        documents = generate_documents(varied, rng=Random(2), count=10, elements=200)
        roots = [etree.fromstring(document) for document in documents]
        return sum(bool(root.xpath(text)) for text in patterns for root in roots)

    assert matches(0) > matches(0.2) > matches(0.6) > matches(1)


def test_a_share_is_between_nothing_and_all() -> None:
    with pytest.raises(UsageError, match="between 0 and 1"):
        vary(shipped_schema("news"), Random(1), 1.1)
