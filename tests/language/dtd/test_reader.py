"""The reader of DTDs: entities, sections, modules, encodings, and errors with their place."""

from __future__ import annotations

from collections.abc import Mapping

import pytest

from twigcast.errors import SchemaError
from twigcast.language.dtd.schema import (
    AttributeType,
    Child,
    Choice,
    Mixed,
    Occurs,
    Presence,
    Resolve,
    Schema,
    Sequence,
)


def modules(contents: Mapping[str, bytes]) -> Resolve:
    return lambda _public_id, system_id: contents.get(system_id)


def test_groups_of_one_and_of_their_own_kind_are_dissolved() -> None:
    schema = Schema.parse(b"<!ELEMENT r (((a)), (b, (c | (d | e))), (f+)?)>")
    choice = Choice((Child("c"), Child("d"), Child("e")))
    f = Child("f", Occurs.ANY)
    assert schema.elements["r"].content == Sequence((Child("a"), Child("b"), choice, f))


def test_mixed_content_keeps_each_name_once() -> None:
    schema = Schema.parse(b"<!ELEMENT r ( #PCDATA |a| b |a )*><!ELEMENT s (#PCDATA)*>")
    assert schema.elements["r"].content == Mixed(("a", "b"))
    assert schema.elements["s"].content == Mixed()


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


def test_defaults_have_their_references_replaced() -> None:
    schema = Schema.parse(
        b'<!ENTITY who "A &amp; &#66;"><!ELEMENT a EMPTY>'
        b"""<!ATTLIST a x CDATA "&lt;&who;&quot;" y CDATA '100%' z NMTOKENS "  b\n c ">"""
    )
    assert [a.default for a in schema.elements["a"].attributes] == ['<A & B"', "100%", "b c"]


def test_the_first_definition_of_an_entity_counts() -> None:
    schema = Schema.parse(
        b'<!ENTITY % x "a"><!ENTITY % x "b"><!ENTITY % y "(%x;, c)"><!ELEMENT r %y;>'
    )
    assert schema.children("r") == ()
    assert schema.undeclared == ("a", "c")


def test_a_reference_in_a_value_is_replaced_when_the_value_is_defined() -> None:
    late = b'<!ENTITY % y "(&#37;x;)"><!ENTITY % x "a"><!ELEMENT r %y;>'
    assert Schema.parse(late).elements["r"].content == Child("a")
    with pytest.raises(SchemaError, match="'%x;' is not declared above"):
        Schema.parse(late.replace(b"&#37;", b"%"))


def test_sections_switch_parts_on_and_off() -> None:
    schema = Schema.parse(
        b"""<!ENTITY % draft "INCLUDE"><!ENTITY % final "IGNORE">
        <![%draft;[ <!ELEMENT a EMPTY> <![%final;[ <!ELEMENT b EMPTY> <![INCLUDE[ ]]> ]]> ]]>
        <![ IGNORE [ <!ELEMENT c '> %nonsense; ]]> <!ELEMENT d EMPTY>"""
    )
    assert tuple(schema.elements) == ("a", "d")


def test_modules_come_from_the_resolver_relative_to_who_asks() -> None:
    requested: list[tuple[str | None, str]] = []
    contents = {
        "parts/base.mod": b'<!ENTITY % more SYSTEM "deep/more.mod">%more; <!ELEMENT b (c)>',
        "parts/deep/more.mod": b'<!ENTITY % up PUBLIC "-//X//Y  Z//EN" "../up.mod">%up;',
        "parts/up.mod": b"<!ELEMENT c EMPTY>",
    }

    def resolve(public_id: str | None, system_id: str) -> bytes | None:
        requested.append((public_id, system_id))
        return contents.get(system_id)

    main = b'<!ENTITY % base SYSTEM "parts/base.mod"><!ELEMENT a (b)> %base;'
    schema = Schema.parse(main, resolve=resolve)
    assert tuple(schema.elements) == ("a", "c", "b")
    assert requested == [
        (None, "parts/base.mod"),
        (None, "parts/deep/more.mod"),
        ("-//X//Y Z//EN", "parts/up.mod"),
    ]


def test_a_module_may_be_part_of_a_declaration() -> None:
    main = b'<!ENTITY % model SYSTEM "model.txt"><!ELEMENT a (%model;)>'
    schema = Schema.parse(main, resolve=modules({"model.txt": b"b, c"}))
    assert schema.elements["a"].content == Sequence((Child("b"), Child("c")))


def test_a_module_that_is_declared_and_not_used_is_not_requested() -> None:
    main = b"""<!ENTITY % unused SYSTEM "no.mod"> <!ENTITY picture SYSTEM "no.gif" NDATA gif>
               <!ELEMENT a EMPTY>"""
    assert tuple(Schema.parse(main).elements) == ("a",)


def test_a_module_that_is_not_given_is_named_with_the_place_that_asks() -> None:
    main = b'\n\n<!ENTITY % m PUBLIC "-//X//ELEMENTS m//EN" "sub/m.mod">\n%m;'
    with pytest.raises(
        SchemaError, match=r"'sub/m.mod' \(public id '-//X//ELEMENTS m//EN'\)"
    ) as no:
        Schema.parse(main, name="main.dtd", resolve=modules({}))
    assert (no.value.module, no.value.line) == ("main.dtd", 4)


def test_sets_of_character_names_may_be_missing() -> None:
    main = (
        b'<!ENTITY % lat1 PUBLIC "ISO 8879:1986//ENTITIES Added Latin 1//EN//XML"'
        b' "/usr/share/iso-lat1.ent">%lat1;<!ELEMENT a EMPTY>'
    )
    assert tuple(Schema.parse(main).elements) == ("a",)


@pytest.mark.parametrize(
    ("content", "comment"),
    [
        ("<!-- é --><!ELEMENT ü EMPTY>".encode(), "UTF-8 without a declaration"),
        ("\ufeff<!ELEMENT ü EMPTY>".encode(), "UTF-8 with a mark"),
        ("\ufeff<!ELEMENT ü EMPTY>".encode("utf-16-le"), "UTF-16, little end first"),
        ("\ufeff<!ELEMENT ü EMPTY>".encode("utf-16-be"), "UTF-16, big end first"),
        ("<?xml encoding='UTF-16'?><!ELEMENT ü EMPTY>".encode("utf-16-le"), "UTF-16 unmarked"),
        (
            "<?xml version='1.0' encoding='ISO-8859-1'?><!ELEMENT ü EMPTY>".encode("latin-1"),
            "Latin",
        ),
    ],
)
def test_encodings_are_recognised_by_mark_or_declaration(content: bytes, comment: str) -> None:
    assert tuple(Schema.parse(content).elements) == ("ü",), comment


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (b"<!ELEMENT \xfc EMPTY>", "byte 11 is not UTF-8"),
        (b"<?xml encoding='UTF-7'?><!ELEMENT a EMPTY>", "'UTF-7' is not taken"),
        (b"<?xml encoding='US-ASCII'?><!ELEMENT \xc3\xbc EMPTY>", "is not ASCII"),
        (b"<!ELEMENT a EMPTY>\x00", r"'\\x00' is not a character"),
    ],
)
def test_other_encodings_are_refused(content: bytes, reason: str) -> None:
    with pytest.raises(SchemaError, match=reason):
        Schema.parse(content)


@pytest.mark.parametrize("ending", [b"\n", b"\r\n", b"\r"])
def test_lines_are_counted_whatever_ends_them(ending: bytes) -> None:
    content = ending.join([b"<!ELEMENT a EMPTY>", b"<!-- two", b"three -->", b"<!ELEMENT b (c,>"])
    with pytest.raises(SchemaError) as wrong:
        Schema.parse(content, name="news.dtd")
    assert (wrong.value.module, wrong.value.line) == ("news.dtd", 4)


def test_errors_in_a_module_name_the_module_and_its_line() -> None:
    main = b'<!ENTITY % m SYSTEM "m.mod">\n\n%m;'
    with pytest.raises(SchemaError, match=r"schema m\.mod, line 2: ',' and '\|' in one group"):
        Schema.parse(main, resolve=modules({"m.mod": b"\n<!ELEMENT a (b, c | d)>"}))


def test_errors_in_an_entity_name_the_line_that_refers_to_it() -> None:
    with pytest.raises(SchemaError) as wrong:
        Schema.parse(b'<!ENTITY % m "<!ELEMENT a (b>">\n\n\n%m;')
    assert wrong.value.line == 4


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
