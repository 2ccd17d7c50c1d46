"""The canonical text of an advertisement: it reads back as the same advertisement."""

from __future__ import annotations

from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.covering.path_oracles import tiny_schemas
from tests.language.schema_strategies import declarations
from tests.strategies import documents
from twigcast.covering.advertisements.advertisement import Advertisement, advertisement_covers
from twigcast.covering.paths import codec as automaton_text
from twigcast.covering.paths.automaton import AutomatonLimits
from twigcast.covering.paths.codec import _label
from twigcast.errors import SchemaError, SchemaLimitError
from twigcast.files.schemas import shipped_schema, shipped_schema_names
from twigcast.language import Document, Schema
from twigcast.language.condition.model import Kind, Label
from twigcast.language.dtd.declarations import ElementDeclaration


def check_text(advertisement: Advertisement) -> None:
    again = Advertisement.parse(advertisement.text)
    assert again == advertisement
    assert again.text == advertisement.text


@given(tiny_schemas())
def test_the_text_of_a_tiny_schema_reads_back(schema: Schema) -> None:
    check_text(Advertisement.of_schema(schema))


@given(declarations())
def test_the_text_of_a_schema_reads_back(declared: tuple[ElementDeclaration, ...]) -> None:
    schema = Schema(declared)
    if schema.heights:
        check_text(Advertisement.of_schema(schema))


def test_the_text_of_names_with_and_without_a_namespace_reads_back() -> None:
    """A state named {urn:p}a where another said the same of *:a."""
    schema = Schema.parse(
        b"<!ELEMENT p:b (a*)>"
        b"<!ELEMENT a (#PCDATA|a)*> <!ATTLIST a p:x CDATA #IMPLIED xmlns CDATA #FIXED 'urn:p'>"
        b"<!ELEMENT b (p:a+|(p:b*|a|b)*)*> <!ATTLIST b q:x CDATA #IMPLIED>"
        b"<!ELEMENT p:a (#PCDATA|p:b|p:a|b|a)*> <!ATTLIST p:a p:x CDATA #IMPLIED>"
    )
    check_text(Advertisement.of_schema(schema))


@given(st.lists(documents(depth=3), min_size=1, max_size=2))
def test_the_text_of_samples_reads_back(contents: list[bytes]) -> None:
    check_text(Advertisement.of_documents(map(Document.parse, contents)))


@pytest.mark.parametrize("name", shipped_schema_names())
def test_the_text_of_a_shipped_schema_reads_back(name: str) -> None:
    check_text(Advertisement.of_schema(shipped_schema(name)))


def test_odd_namespaces_and_values_read_back() -> None:
    check_text(Advertisement.of_documents([Document.parse(b"<a xmlns='urn:x=1:(y)*@z'/>")]))
    dtd = b"""<!ELEMENT a EMPTY><!ATTLIST a x CDATA #FIXED 'it"s | (\\) = 1:'>"""
    check_text(Advertisement.of_schema(Schema.parse(dtd)))
    check_text(Advertisement.of_expressions(["/*/*:a(b)+/@*:c"]))


def test_states_may_be_written_as_one_likes() -> None:
    loose = "0: a=1 a=2\n\n 1: space()  b=3\n2: text()\n3:"
    assert Advertisement.parse(loose).text == "0: a=1\n1: text() b=2\n2:"


@pytest.mark.parametrize(
    ("text", "line", "message"),
    [
        ("a=1", 1, "does not begin"),
        ("0: a=1\n2:", 2, "state 1 should begin here"),
        ("0: a=1", 1, "leads to no state"),
        ("0: a=99999999999999999999999", 1, "leads to no state"),
        ("0: a=1\n1: ???=", 2, "not part of a state"),
        ('0: a=1\n1: @x("\\q")', 2, "not a JSON string"),
        ("0: a=1\n1: @x('y')", 2, "not part of a state"),
        ("0: a=-1", 1, "not part of a state"),
    ],
)
def test_other_texts_are_refused_with_their_line(text: str, line: int, message: str) -> None:
    with pytest.raises(SchemaError, match=message) as caught:
        Advertisement.parse(text)
    assert caught.value.line == line


def test_a_text_over_the_limits_is_refused() -> None:
    text = "0: a=1\n" + "\n".join(f"{n}: a={n + 1}" for n in range(1, 100)) + "\n100:"
    assert Advertisement.parse(text).statistics().states == 101
    with pytest.raises(SchemaLimitError, match="states_max"):
        Advertisement.parse(text, limits=AutomatonLimits(states_max=50))


_tokens = st.sampled_from(
    ["0:", "1:", "a=1", "b=0", "*=1", "@x", '@y("v")', "text()", "{u}a=1", "("]
)


@given(st.lists(_tokens, max_size=8).map(" ".join))
def test_any_text_is_read_or_refused(text: str) -> None:
    with suppress(SchemaError):
        check_text(Advertisement.parse(f"0: {text}"))


def test_a_text_is_read_no_further_than_the_limits_allow(monkeypatch: pytest.MonkeyPatch) -> None:
    limits = AutomatonLimits(states_max=50, edges_max=100)
    read = 0

    def counting(kind: Kind, text: str) -> Label:
        nonlocal read
        read += 1
        return _label(kind, text)

    monkeypatch.setattr(automaton_text, "_label", counting)
    names = [f"a{number:05}" for number in range(10_000)]
    for limit, text in (
        ("states_max", "0: " + " ".join(f"{name}=1" for name in names) + "\n1:"),
        ("states_max", "\n".join(f"{n}: a={n + 1}" for n in range(9_999)) + "\n9999:"),
        ("edges_max", "0: a=1\n1: " + " ".join(f"@{name}" for name in names)),
        ("edges_max", "0: a=1\n1: @a(" + "|".join(f'"{name}"' for name in names) + ")"),
    ):
        read = 0
        with pytest.raises(SchemaLimitError) as caught:
            Advertisement.parse(text, limits=limits)
        assert caught.value.limit == limit
        assert read <= 101


def test_attributes_in_any_namespace_are_looked_up_and_not_compared(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    compared = 0

    def counting(self: Label, other: Label) -> bool:
        nonlocal compared
        compared += 1
        return includes(self, other)

    includes = Label.includes
    monkeypatch.setattr(Label, "includes", counting)
    names = sorted(f"@*:a{number}" for number in range(1_000))
    text = "0: a=1\n1: " + " ".join(names)
    wide = Advertisement.parse(text + " b=1")
    assert advertisement_covers(wider=wide, narrower=Advertisement.parse(text))
    assert compared == 0
    check_text(wide)
