"""Entities, sections and modules of a DTD, and errors with their place."""

from __future__ import annotations

from collections.abc import Mapping

import pytest

from twigcast.errors import SchemaError
from twigcast.language.dtd.schema import (
    Child,
    Resolve,
    Schema,
    Sequence,
)


def modules(contents: Mapping[str, bytes]) -> Resolve:
    return lambda _public_id, system_id: contents.get(system_id)


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
