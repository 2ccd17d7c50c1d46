"""Documents drawn from schemas: valid, as large and as deep as asked, with values to be found."""

from __future__ import annotations

import io
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from random import Random
from typing import Any

import pytest
from lxml import etree

from tests.workload.drawn_documents import NEWS, depth, drawn, size
from twigcast.errors import UsageError
from twigcast.files.schemas import read_schema, shipped_schema, shipped_schema_names
from twigcast.language import Document
from twigcast.language.dtd.schema import Schema
from twigcast.workload import (
    Marker,
    Vocabulary,
    generate_document,
    generate_documents,
)


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
