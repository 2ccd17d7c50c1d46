"""The reader of DTDs: names, attributes, and errors with their reason."""

from __future__ import annotations

import pytest

from twigcast.errors import SchemaError
from twigcast.language.dtd.schema import (
    AttributeType,
    Child,
    Choice,
    Occurs,
    Presence,
    Schema,
)


def test_names_keep_their_prefix_in_content_models() -> None:
    schema = Schema.parse(b"<!ELEMENT m:math (m:row | row)*>")
    assert schema.elements["m:math"].content == Choice((Child("m:row"), Child("row")), Occurs.ANY)


def test_the_first_declaration_of_an_attribute_counts_wherever_its_list_stands() -> None:
    schema = Schema.parse(
        b"<!ATTLIST a x CDATA #REQUIRED><!ELEMENT a EMPTY>"
        b"<!ATTLIST a x NMTOKEN #IMPLIED y NOTATION (gif | png) #IMPLIED><!ATTLIST b z ID #IMPLIED>"
    )
    x, y = schema.elements["a"].attributes
    assert (x.type, x.presence) == (AttributeType.CDATA, Presence.REQUIRED)
    assert (y.type, y.values) == (AttributeType.NOTATION, ("gif", "png"))


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        ("hello", "expected a declaration, got 'hello'"),
        ("<a/>", "expected a declaration"),
        ("<!ELEMENT a (b)", "<!ELEMENT is never closed"),
        ("<!ELEMENT a", "<!ELEMENT is never closed"),
        ("<!ELEMENT a>", "expected a name and its content"),
        ("<!ELEMENT a(b)>", "expected a name and its content"),
        ("<!ELEMENT a b>", "expected EMPTY, ANY or"),
        ("<!ELEMENT a (b c)>", r"expected ',', '\|' or '\)', got 'c\)'"),
        ("<!ELEMENT a (b,)>", r"expected a name or '\(', got '\)'"),
        ("<!ELEMENT a ()>", r"expected a name or '\('"),
        ("<!ELEMENT a (b) *>", r"got '\*'"),
        ("<!ELEMENT a (b))>", r"got '\)'"),
        ("<!ELEMENT a (b)(c)>", r"got '\(c\)'"),
        ("<!ELEMENT a ((b)>", "is never closed"),
        ("<!ELEMENT a (#PCDATA | b)>", r"must end in '\*'"),
        ("<!ELEMENT a (b | #PCDATA)*>", "expected a name"),
        ("<!ELEMENT a EMPTY><!ELEMENT a EMPTY>", "'a' is declared a second time"),
        ("<!ATTLIST a x>", "expected an attribute of element 'a', got 'x'"),
        ("<!ATTLIST a x TEXT #IMPLIED>", "expected an attribute"),
        ("<!ATTLIST a x (b | c #IMPLIED>", "expected an attribute"),
        ("<!ATTLIST a x (b | ,) #IMPLIED>", "',' is not a value"),
        ("<!ATTLIST a x CDATA '&none;'>", "&none; in the default"),
        ("<!ATTLIST a x CDATA '<'>", "'<' in the default"),
        ("<!ATTLIST a x NMTOKEN 'b c'>", "cannot have 'b c', its default"),
        ("<!ENTITY % a>", "expected a name and a value"),
        ("<!ENTITY % a '%'>", "'%' in the value of an entity"),
        ("<!ENTITY % a '&#0;'>", "&#0; is not a character"),
        ("<!ENTITY % a '&#x110000;'>", "is not a character"),
        ("<!ENTITY % a '&#99999999999;'>", "begins no reference"),
        ("%none;", "entity '%none;' is not declared above"),
        ("<!-- a -- b -->", "'--' inside a comment"),
        ("<!-- a", "a comment is never closed"),
        ("<?pi", "a processing instruction"),
        ("]]>", "closes nothing"),
        ("<![INCLUDE[", "'<!\\[INCLUDE\\[' is never closed"),
        ("<![IGNORE[ <![ ]]>", "'<!\\[IGNORE\\[' is never closed"),
        ("<!ENTITY % s 'MAYBE'><![%s;[ ]]>", "neither INCLUDE nor IGNORE but 'MAYBE'"),
        ("<!ENTITY % e 'EMPTY>'><!ELEMENT a %e;", "begins outside of %e; and ends in it"),
        ("<!NOTATION gif>", "expected a name and an id"),
    ],
)
def test_errors_have_a_reason(content: str, reason: str) -> None:
    with pytest.raises(SchemaError, match=reason) as wrong:
        Schema.parse(content.encode(), name="x.dtd")
    assert wrong.value.module == "x.dtd"
    assert wrong.value.line == 1
