"""Properties of schemas and their elements."""

from __future__ import annotations

import pickle

import pytest

from twigcast.errors import UsageError
from twigcast.language.dtd.schema import (
    Anything,
    AttributeDeclaration,
    AttributeType,
    Child,
    Choice,
    ElementDeclaration,
    Empty,
    Mixed,
    Occurs,
    Presence,
    Schema,
    Sequence,
)

LIBRARY = b"""
<!ELEMENT library (book+, note?)>
<!ELEMENT book (title, (author | editor)*, chapter+)>
<!ATTLIST book id ID #REQUIRED kind (novel | poems) "novel" lang NMTOKEN #IMPLIED>
<!ELEMENT title (#PCDATA)>
<!ELEMENT author (#PCDATA)>
<!ELEMENT editor (#PCDATA)>
<!ELEMENT chapter (title, (p | chapter)*)>
<!ELEMENT p (#PCDATA | note | title)*>
<!ELEMENT note ANY>
<!ATTLIST note version CDATA #FIXED "1">
"""


@pytest.fixture(scope="module")
def library() -> Schema:
    return Schema.parse(LIBRARY)


def test_elements_stand_in_the_order_of_their_declaration(library: Schema) -> None:
    assert tuple(library.elements) == (
        "library",
        "book",
        "title",
        "author",
        "editor",
        "chapter",
        "p",
        "note",
    )


def test_content_models_become_particles(library: Schema) -> None:
    people = Choice((Child("author"), Child("editor")), Occurs.ANY)
    chapters = Child("chapter", Occurs.SOME)
    assert library.elements["book"].content == Sequence((Child("title"), people, chapters))
    assert library.elements["title"].content == Mixed()
    assert library.elements["p"].content == Mixed(("note", "title"))
    assert library.elements["note"].content == Anything()


def test_attributes_keep_type_values_and_default(library: Schema) -> None:
    assert library.elements["book"].attributes == (
        AttributeDeclaration("id", AttributeType.ID, (), Presence.REQUIRED),
        AttributeDeclaration(
            "kind", AttributeType.ENUMERATION, ("novel", "poems"), Presence.DEFAULT, "novel"
        ),
        AttributeDeclaration("lang", AttributeType.NMTOKEN, (), Presence.IMPLIED),
    )
    assert library.elements["note"].attributes == (
        AttributeDeclaration("version", AttributeType.CDATA, (), Presence.FIXED, "1"),
    )


def test_children_stand_in_the_order_of_the_model_and_any_has_all(library: Schema) -> None:
    assert library.children("book") == ("title", "author", "editor", "chapter")
    assert library.children("title") == ()
    assert library.children("note") == tuple(library.elements)


def test_an_element_that_names_itself_at_any_distance_is_recursive(library: Schema) -> None:
    assert library.recursive == {"chapter"}
    assert Schema.parse(b"<!ELEMENT a (b)><!ELEMENT b (c?)><!ELEMENT c (a)>").recursive == set(
        "abc"
    )


def test_the_root_is_the_element_that_no_other_contains(library: Schema) -> None:
    assert library.roots == ("library",)
    assert library.root == "library"


def test_an_element_that_contains_only_itself_can_be_the_root() -> None:
    assert Schema.parse(b"<!ELEMENT tree (tree | leaf)*><!ELEMENT leaf EMPTY>").root == "tree"


def test_with_several_roots_none_is_chosen_and_one_can_be_named() -> None:
    dtd = b"<!ELEMENT a (c)><!ELEMENT b (c)><!ELEMENT c EMPTY>"
    schema = Schema.parse(dtd)
    assert schema.roots == ("a", "b")
    assert schema.root is None
    with pytest.raises(UsageError, match="a, b"):
        schema.root_or(None)
    assert schema.root_or("b") == "b"
    assert Schema.parse(dtd, root="b").root == "b"


def test_reachable_elements_are_those_a_document_can_have(library: Schema) -> None:
    dtd = b"<!ELEMENT a (b)><!ELEMENT b EMPTY><!ELEMENT c (b)>"
    assert Schema.parse(dtd).reachable("a") == ("a", "b")
    assert library.reachable() == tuple(library.elements)
    assert library.reachable("chapter") == tuple(library.elements)  # by way of ANY
    assert library.reachable("title") == ("title",)


def test_heights_count_the_levels_an_element_needs_at_least(library: Schema) -> None:
    assert dict(library.heights) == {
        "library": 4,
        "book": 3,
        "chapter": 2,
        "title": 1,
        "author": 1,
        "editor": 1,
        "p": 1,
        "note": 1,
    }
    assert library.heights.keys() == library.elements.keys()


def test_elements_that_can_never_be_completed_are_named() -> None:
    schema = Schema.parse(
        b"<!ELEMENT a (b | c)><!ELEMENT b (b)><!ELEMENT c (a, d)><!ELEMENT d (x)>"
    )
    assert not schema.heights
    assert schema.undeclared == ("x",)


def test_namespaces_are_those_bound_by_default() -> None:
    dtd = b'<!ELEMENT m:a EMPTY><!ATTLIST m:a xmlns:m CDATA #FIXED "urn:m" xmlns CDATA "urn:d">'
    assert dict(Schema.parse(dtd).namespaces) == {"m": "urn:m"}


def test_a_schema_is_a_value(library: Schema) -> None:
    again = Schema.parse(LIBRARY)
    assert again == library
    assert hash(again) == hash(library)
    copy = pickle.loads(pickle.dumps(library))
    assert copy == library
    assert copy.recursive == library.recursive


def test_unknown_names_are_the_callers_mistake(library: Schema) -> None:
    with pytest.raises(UsageError, match="declares no element 'shelf'"):
        library.children("shelf")
    with pytest.raises(UsageError, match="declares no element 'shelf'"):
        Schema.parse(LIBRARY, root="shelf")
    with pytest.raises(UsageError, match="two declarations share a name"):
        Schema((ElementDeclaration("a", Empty()), ElementDeclaration("a", Empty())))
