"""The text of a schema, read back by our reader and by libxml2."""

from __future__ import annotations

from hypothesis import given

from tests.language.dtd_oracle import comparable, declared_by_libxml2
from tests.language.schema_strategies import declarations
from twigcast.language.dtd.declarations import ElementDeclaration
from twigcast.language.dtd.schema import Schema


@given(declarations())
def test_the_text_of_a_schema_is_read_back_as_the_same_schema(
    declared: tuple[ElementDeclaration, ...],
) -> None:
    schema = Schema(declared)
    assert Schema.parse(schema.text.encode()).declarations == declared
    assert declared_by_libxml2(schema.text.encode()) == comparable(schema.elements)
