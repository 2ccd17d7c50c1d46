"""Documents drawn from schemas: valid, as large and as deep as asked, with values to be found."""

from __future__ import annotations

import io
import subprocess
import sys
import tracemalloc
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from random import Random
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from lxml import etree

from tests.language.schema_strategies import declarations
from twigcast.errors import UsageError
from twigcast.files.schemas import read_schema, shipped_schema, shipped_schema_names
from twigcast.language import Document
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
    Marker,
    PatternShape,
    Vocabulary,
    generate_document,
    generate_documents,
    generate_patterns,
)
from twigcast.workload.start_tags import StartTags

NEWS = shipped_schema("news")


def drawn(
    schema: Schema = NEWS,
    *,
    seed: int = 1,
    **settings: Any,  # noqa: ANN401 - whatever the generator takes
) -> etree._Element:
    return etree.fromstring(generate_document(schema, rng=Random(seed), **settings))


def size(root: etree._Element) -> int:
    return sum(1 for _ in root.iter())


def depth(root: etree._Element) -> int:
    return max(1 + sum(1 for _ in element.iterancestors()) for element in root.iter())


def validator(schema: Schema) -> etree.DTD:
    return etree.DTD(io.StringIO(schema.text))


@pytest.mark.parametrize("name", shipped_schema_names())
def test_documents_of_every_shipped_schema_are_valid(name: str) -> None:
    schema = shipped_schema(name)
    dtd = validator(schema)
    for elements, depth_max in [(1, 7), (50, 7), (130, 10), (600, 25)]:
        documents = generate_documents(
            schema, rng=Random(elements), count=8, elements=elements, depth_max=depth_max
        )
        for content in documents:
            root = Document.parse(content).tree.getroot()
            assert dtd.validate(root), str(dtd.error_log)
            assert depth(root) <= depth_max


@pytest.mark.parametrize("name", shipped_schema_names())
@pytest.mark.parametrize("elements", [50, 130, 200, 1000])
def test_documents_have_the_number_of_elements_asked_for(name: str, elements: int) -> None:
    root = drawn(shipped_schema(name), elements=elements)
    assert 0.97 * elements <= size(root) <= elements


@pytest.mark.parametrize("name", shipped_schema_names())
def test_documents_have_about_the_number_of_bytes_asked_for(name: str) -> None:
    for content in generate_documents(
        shipped_schema(name), rng=Random(1), count=5, bytes_target=14_400, depth_max=13
    ):
        assert len(content) == pytest.approx(14_400, rel=0.05)


def test_a_schema_that_runs_out_of_places_gives_what_it_has() -> None:
    schema = Schema.parse(b"<!ELEMENT a (b?, c)><!ELEMENT b EMPTY><!ELEMENT c EMPTY>")
    assert size(drawn(schema, elements=100)) == 3


def test_the_least_document_may_be_larger_than_asked_for() -> None:
    least = size(drawn(elements=1))
    assert least == size(drawn(elements=least))
    assert 1 < least < 20


def test_deep_schemas_give_deep_documents_within_the_limit() -> None:
    treebank = shipped_schema("treebank")
    depths = [depth(drawn(treebank, seed=seed, elements=400, depth_max=40)) for seed in range(10)]
    assert 15 < max(depths) <= 40


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


def test_the_same_seed_gives_the_same_documents_in_every_process() -> None:
    program = (
        "import sys; from random import Random\n"
        "from twigcast.files.schemas import shipped_schema\n"
        "from twigcast.workload import generate_document\n"
        "sys.stdout.buffer.write(generate_document(shipped_schema('news'), rng=Random(3)))"
    )
    expected = generate_document(NEWS, rng=Random(3))
    for hash_seed in ("0", "1"):
        finished = subprocess.run(
            [sys.executable, "-c", program],
            capture_output=True,
            check=True,
            env={"PYTHONHASHSEED": hash_seed},
        )
        assert finished.stdout == expected
    assert generate_document(NEWS, rng=Random(4)) != expected


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


def test_values_come_from_the_vocabulary() -> None:
    words = Vocabulary(numbers=3, words=("north", "south"))
    root = drawn(shipped_schema("protein"), vocabulary=words, elements=300)
    texts = {text for text in root.itertext() if text.strip()}
    assert texts <= {"1", "2", "3", "north", "south"}
    assert len(texts) == 5


@pytest.mark.parametrize("position", [0.0, 0.25, 0.5, 0.75, 1.0])
@pytest.mark.parametrize("name", ["news", "treebank", "protein"])
def test_a_marker_stands_after_its_share_of_the_elements(name: str, position: float) -> None:
    root = drawn(shipped_schema(name), elements=129, marker=Marker("test", position))
    elements = [element.tag for element in root.iter()]
    before = elements.index("test")
    assert elements.count("test") == 1
    assert before == max(1, round(position * (len(elements) - 1)))


def test_a_marker_at_the_end_is_the_last_thing_in_the_document() -> None:
    content = generate_document(NEWS, rng=Random(1), marker=Marker(position=1.0))
    assert content.endswith(b"<test/></news>")


def test_without_the_marker_the_document_is_the_same() -> None:
    plain = generate_document(NEWS, rng=Random(1))
    marked = generate_document(NEWS, rng=Random(1), marker=Marker(position=0.3))
    assert marked.replace(b"<test/>", b"") == plain


def test_real_schemas_give_documents_that_can_be_parsed(shared_path: Callable[[str], Path]) -> None:
    for name, root in [
        ("nitf-2.5/nitf-2-5.dtd", None),
        ("docbook-4.5/docbookx.dtd", "article"),
        ("jats-nlm-publishing-3.0/journalpublishing3.dtd", "article"),
        ("xhtml1/xhtml1-strict.dtd", None),
    ]:
        schema = read_schema(shared_path(f"data/dtd/{name}"))
        content = generate_document(schema, rng=Random(1), elements=300, depth_max=12, root=root)
        assert size(Document.parse(content).tree.getroot()) == 300


def test_prefixes_are_bound_at_the_root() -> None:
    schema = Schema.parse(
        b'<!ELEMENT a (m:b)*><!ELEMENT m:b EMPTY><!ATTLIST m:b xmlns:m CDATA #FIXED "urn:m"'
        b" x:c CDATA #REQUIRED>"
    )
    root = drawn(schema, elements=3)
    assert root.nsmap == {"m": "urn:m", "x": "urn:x"}
    assert [child.tag for child in root] == ["{urn:m}b"] * 2


@pytest.mark.parametrize("name", ["", "a b", "<x", "1a", "x:y", "\n", "a/b", "{u}a", "a" * 1_001])
def test_a_marker_that_no_element_can_be_called_is_refused(name: str) -> None:
    with pytest.raises(UsageError, match="the marker is the name of an element, without a prefix"):
        Marker(name)
    with pytest.raises(UsageError, match="the marker is the name of an element, without a prefix"):
        generate_patterns(NEWS, rng=Random(1), count=1, shape=PatternShape(marker=name))


@pytest.mark.parametrize(
    ("dtd", "settings", "reason"),
    [
        ("<!ELEMENT a (a)>", {}, "could never be completed"),
        ("<!ELEMENT a (b)><!ELEMENT b (c)><!ELEMENT c EMPTY>", {"depth_max": 2}, "at least 3"),
        ("<!ELEMENT a EMPTY><!ELEMENT b EMPTY>", {}, "no single root; name one, such as a, b"),
        ("<!ELEMENT a EMPTY>", {"marker": Marker("a")}, "'a' is an element of the schema"),
        ("<!ELEMENT a (a*)>", {"elements": 2_000_000}, "ELEMENTS_MAX"),
        ("<!ELEMENT a (a*)>", {"elements": 0}, "elements must be at least 1, not 0"),
        ("<!ELEMENT a (a*)>", {"elements": 1.5}, "elements is a whole number, not 1.5"),
        ("<!ELEMENT a (a*)>", {"bytes_target": 2**31}, "BYTES_MAX"),
        ("<!ELEMENT a (a*)>", {"bytes_target": 0}, "bytes must be at least 1, not 0"),
        ("<!ELEMENT a (a*)>", {"depth_max": 2**31}, "DEPTH_MAX"),
        ("<!ELEMENT a EMPTY>", {"attributes": 2}, "attributes is a probability"),
        (
            "".join(f"<!ELEMENT e{n} (e{n + 1}, e{n + 1})>" for n in range(40))
            + "<!ELEMENT e40 EMPTY>",
            {"depth_max": 100},
            "1,000,000,001 elements or more",
        ),
    ],
)
def test_what_cannot_be_made_is_said(dtd: str, settings: dict[str, Any], reason: str) -> None:
    with pytest.raises(UsageError, match=reason):
        generate_document(Schema.parse(dtd.encode()), rng=Random(1), **settings)


def test_a_marker_outside_of_the_document_is_a_mistake() -> None:
    with pytest.raises(UsageError, match="lies in 0 … 1"):
        Marker(position=1.5)


def test_a_large_vocabulary_is_held_once_and_not_for_each_attribute() -> None:
    schema, vocabulary = shipped_schema("news"), Vocabulary(numbers=5_000)
    tracemalloc.start()
    try:
        StartTags(schema, vocabulary, 0.4)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert peak < 4 << 20
