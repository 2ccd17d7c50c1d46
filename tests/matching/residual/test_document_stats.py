"""What of a document decides the cost of an expression: its sizes, and its scale."""

from __future__ import annotations

import gc
import math
import weakref

from hypothesis import assume, given

from tests.matching.residual.large_documents import (
    levels,
    namespaces,
    texts,
)
from tests.strategies import NAMESPACES, THOROUGH, ExpressionPair, documents, subscriptions
from twigcast.language import Document, Pattern
from twigcast.language.condition.model import Kind, Label
from twigcast.matching.residual.cost import expression_cost, expression_of
from twigcast.matching.residual.document_stats import SCALES, scale, sizes_at_scale, sizes_of


def test_nodes_of_every_kind_are_counted() -> None:
    content = (
        b"<?p?><!--c--><a x='1' y='2'><!--c--><!--c--><?p?><b xmlns='uvw' z=''>text</b>"
        b"<a><a>t</a></a></a><!--c-->"
    )
    sizes = sizes_of(Document.parse(content))
    assert sizes.nodes == 15
    assert sizes.depth >= 3
    assert sizes.namespaces == 2
    assert sizes.breadth >= 5
    assert sizes.between >= 3
    assert sizes.count(Label(Kind.ELEMENT, "", "a")) == 3


def test_texts_from_entities_count_as_they_are_read() -> None:
    entity = b"<!DOCTYPE a [<!ENTITY e '%s'>]><a x='&e;'>&e;&e;&e;</a>" % (b"x" * 1_000)
    assert sizes_of(Document.parse(entity)).characters >= 4_000


def test_a_document_that_nobody_holds_is_not_held_by_its_sizes() -> None:
    document = Document.parse(texts(5))
    sizes_of(document)
    scale(document)
    gone = weakref.ref(document)
    del document
    gc.collect()
    assert gone() is None


@THOROUGH
@given(subscriptions(), documents())
def test_no_document_costs_more_than_the_largest_of_its_scale(
    said: ExpressionPair, content: bytes
) -> None:
    document = Document.parse(content)
    expression = expression_of(Pattern.parse(said.text, NAMESPACES))
    assume(scale(document) < math.inf)
    least = next(one for one in SCALES if scale(document) <= one)
    assert expression_cost(expression, sizes_of(document)) <= expression_cost(
        expression, sizes_at_scale(least)
    )


def test_a_deep_document_and_one_with_many_namespaces_have_no_scale() -> None:
    assert scale(Document.parse(levels(800))) < math.inf
    assert scale(Document.parse(levels(2_000))) == math.inf
    assert scale(Document.parse(namespaces(1_000))) == math.inf
