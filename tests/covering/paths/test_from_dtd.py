"""Label paths of schemas, drawn within bounds."""

from __future__ import annotations

import pytest

from twigcast.covering.paths.automaton import (
    AutomatonLimits,
    path_automaton,
)
from twigcast.covering.paths.from_dtd import schema_sketch
from twigcast.errors import SchemaLimitError
from twigcast.language.dtd.declarations import Anything, ElementDeclaration
from twigcast.language.dtd.schema import Schema


def in_each_other(count: int) -> Schema:
    """Elements that hold each other, each with a namespace of its own: a state for each pair."""
    held = "|".join(f"a{number}" for number in range(count))
    return Schema.parse(
        "".join(
            f"<!ELEMENT a{number} ({held})*><!ATTLIST a{number} xmlns CDATA #FIXED 'u{number}'>"
            for number in range(count)
        ).encode()
    )


def test_edges_are_counted_while_they_are_drawn() -> None:
    limits = AutomatonLimits(edges_max=500)
    assert schema_sketch(in_each_other(5), limits=limits).texts
    with pytest.raises(SchemaLimitError, match="edges_max"):
        schema_sketch(in_each_other(10), limits=limits)


def test_elements_with_one_content_share_their_edges() -> None:
    sketch = schema_sketch(in_each_other(10))
    assert len(sketch.texts) > 100
    assert len({id(edges) for edges in sketch.edges}) <= 12  # one for each namespace, and the root


def test_a_schema_in_which_everything_holds_everything_is_refused_in_time() -> None:
    schema = Schema(tuple(ElementDeclaration(f"e{n}", Anything()) for n in range(10_000)))
    with pytest.raises(SchemaLimitError, match="edges_max"):
        path_automaton(schema_sketch(schema))
