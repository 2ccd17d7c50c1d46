"""Declarations of elements: their contents are simplified."""

from __future__ import annotations

from twigcast.language.dtd.schema import (
    Child,
    Choice,
    Mixed,
    Occurs,
    Schema,
    Sequence,
)


def test_groups_of_one_and_of_their_own_kind_are_dissolved() -> None:
    schema = Schema.parse(b"<!ELEMENT r (((a)), (b, (c | (d | e))), (f+)?)>")
    choice = Choice((Child("c"), Child("d"), Child("e")))
    f = Child("f", Occurs.ANY)
    assert schema.elements["r"].content == Sequence((Child("a"), Child("b"), choice, f))


def test_mixed_content_keeps_each_name_once() -> None:
    schema = Schema.parse(b"<!ELEMENT r ( #PCDATA |a| b |a )*><!ELEMENT s (#PCDATA)*>")
    assert schema.elements["r"].content == Mixed(("a", "b"))
    assert schema.elements["s"].content == Mixed()
