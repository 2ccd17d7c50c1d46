"""Our reader of DTDs against libxml2: real DTDs, random ones, and random damage."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.language.dtd_oracle import comparable, declared_by_libxml2
from tests.language.schema_strategies import declarations, dressed
from twigcast.errors import SchemaError
from twigcast.language.dtd.declarations import ElementDeclaration
from twigcast.language.dtd.schema import Schema
from twigcast.language.dtd.writer import dtd_text

REAL = (
    "checkstyle/configuration_1_3.dtd",
    "dblp/dblp.dtd",
    "docbook-4.5/docbookx.dtd",
    "hibernate-mapping/hibernate-mapping-3.0.dtd",
    "jats-nlm-publishing-3.0/journalpublishing3.dtd",
    "jats-nlm-publishing-3.0/mathml2.dtd",
    "ncbi/NCBI_BlastOutput.dtd",
    "ncbi/pubmed_190101.dtd",
    "newsml-1.2/NewsMLv1.2.dtd",
    "nitf-2.5/nitf-2-5.dtd",
    "rss-0.91/rss-0.91.dtd",
    "tei-lite/teilite.dtd",
    "xhtml1/xhtml1-transitional.dtd",
    "xmark/auction.dtd",
)


@pytest.mark.parametrize("name", REAL)
def test_real_dtds_are_read_as_libxml2_reads_them(
    name: str, shared_path: Callable[[str], Path]
) -> None:
    main = shared_path(f"data/dtd/{name}")

    def module(system_id: str) -> bytes:
        # Character sets that lie elsewhere on other machines are left out for both readers.
        path = main.parent / system_id.lstrip("/")
        return path.read_bytes() if path.is_file() else b""

    schema = Schema.parse(
        main.read_bytes(), name=main.name, resolve=lambda _, system_id: module(system_id)
    )
    expected = declared_by_libxml2(main.read_bytes(), module)
    assert expected is not None
    assert comparable(schema.elements) == expected
    assert tuple(schema.elements) == tuple(expected)


@given(st.data(), declarations())
def test_entities_and_sections_change_nothing(
    data: st.DataObject, declared: tuple[ElementDeclaration, ...]
) -> None:
    text = data.draw(dressed(declared))
    assert Schema.parse(text.encode()).declarations == declared
    assert declared_by_libxml2(text.encode()) == comparable(Schema(declared).elements)


@given(st.data(), declarations())
def test_a_damaged_dtd_is_read_as_libxml2_reads_it_or_refused_by_both(
    data: st.DataObject, declared: tuple[ElementDeclaration, ...]
) -> None:
    text = data.draw(st.one_of(dressed(declared), st.just(dtd_text(declared))))
    place = data.draw(st.integers(0, len(text)))
    removed = data.draw(st.integers(0, 3))
    added = data.draw(
        st.sampled_from(["", "(", ")", "|", ",", "<", ">", "%", "'", '"', "]]>", " ", "*"])
    )
    damaged = (text[:place] + added + text[place + removed :]).encode()
    expected = declared_by_libxml2(damaged)
    try:
        found = Schema.parse(damaged)
    except SchemaError:
        assert expected is None
    else:
        assert comparable(found.elements) == expected
