"""What is put into elements: as little as must be, and as much as there is room for."""

from __future__ import annotations

from random import Random

from hypothesis import given
from hypothesis import strategies as st
from lxml import etree

from tests.language.schema_strategies import declarations
from tests.workload.drawn_documents import depth, drawn, size
from twigcast.errors import UsageError
from twigcast.language.dtd.declarations import (
    Anything,
    Child,
    Choice,
    Content,
    ElementDeclaration,
    Empty,
    Mixed,
    Particle,
)
from twigcast.language.dtd.schema import Schema
from twigcast.workload import (
    generate_document,
)


def test_a_choice_that_would_explode_is_kept_small() -> None:
    explosive = Schema.parse(b"<!ELEMENT a ((a, a, a) | (a, a) | b)><!ELEMENT b EMPTY>")
    for seed in range(20):
        root = drawn(explosive, seed=seed, elements=500, depth_max=100, root="a")
        assert size(root) <= 500


def test_a_choice_of_something_impossible_or_nothing_is_nothing() -> None:
    schema = Schema.parse(b"<!ELEMENT a (a | never?)>")
    assert size(drawn(schema, elements=1, depth_max=1)) == 1
    assert size(drawn(schema, elements=9, depth_max=20)) <= 9


def test_empty_occurrences_do_not_go_on_for_ever() -> None:
    schema = Schema.parse(
        b"<!ELEMENT a ((b?, (c?, d?)*)*, e)*><!ELEMENT b (a)><!ELEMENT c (a)><!ELEMENT d (a)>"
        b"<!ELEMENT e EMPTY>"
    )
    assert size(drawn(schema, elements=200, depth_max=1, root="a")) == 1
    assert size(drawn(schema, elements=200, depth_max=9, root="a")) == 200


@given(declarations(), st.integers(0, 3), st.integers(1, 60), st.integers(1, 12))
def test_documents_of_random_schemas_fit_their_content_models(
    declared: tuple[ElementDeclaration, ...], seed: int, elements: int, depth_max: int
) -> None:
    schema = Schema(declared)
    root = declared[0].name
    try:
        content = generate_document(
            schema, rng=Random(seed), elements=elements, depth_max=depth_max, root=root
        )
    except UsageError:
        assert schema.heights.get(root, depth_max + 1) > depth_max
        return
    parsed = etree.fromstring(content)
    assert depth(parsed) <= depth_max
    for element in parsed.iter():
        names = [qualified(child) for child in element]
        assert fits(schema.elements[qualified(element)].content, names)


def qualified(element: etree._Element) -> str:
    local_name = etree.QName(element).localname
    return f"{element.prefix}:{local_name}" if element.prefix else local_name


def fits(content: Content, names: list[str]) -> bool:
    """Whether these children make up the content, also where a model is ambiguous."""
    match content:
        case Empty():
            return not names
        case Anything():
            return True
        case Mixed(allowed):
            return set(names) <= set(allowed)
        case _:
            return len(names) in ends(content, names, {0})


def ends(particle: Particle, names: list[str], starts: set[int]) -> set[int]:
    """Where a particle can end if it begins at one of these places."""
    found = once(particle, names, starts)
    if particle.occurs.may_repeat:
        while not (more := once(particle, names, found)) <= found:
            found |= more
    return found | starts if particle.occurs.may_be_absent else found


def once(particle: Particle, names: list[str], starts: set[int]) -> set[int]:
    if isinstance(particle, Child):
        return {start + 1 for start in starts if names[start : start + 1] == [particle.name]}
    if isinstance(particle, Choice):
        return set().union(*(ends(part, names, starts) for part in particle.parts))
    for part in particle.parts:
        starts = ends(part, names, starts)
    return starts
