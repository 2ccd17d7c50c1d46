"""Random declarations, and the same dressed up as people write DTDs: with entities and sections."""

from __future__ import annotations

from hypothesis import strategies as st

from twigcast.language.dtd.declarations import (
    Anything,
    AttributeDeclaration,
    AttributeType,
    Child,
    Choice,
    Content,
    ElementDeclaration,
    Empty,
    Mixed,
    Occurs,
    Particle,
    Presence,
    Sequence,
    group,
)
from twigcast.language.dtd.writer import content_text, dtd_text

NAMES = ("a", "b", "c", "d", "e", "p:f", "p:g", "ünit", "x.y-z", "_")

names = st.sampled_from(NAMES)
occurrences = st.sampled_from(Occurs)


def _groups(inner: st.SearchStrategy[Particle]) -> st.SearchStrategy[Particle]:
    kinds = st.sampled_from([Sequence, Choice])
    parts = st.lists(inner, min_size=1, max_size=4).map(tuple)
    return st.builds(group, kinds, parts, occurrences)


particles: st.SearchStrategy[Particle] = st.recursive(
    st.builds(Child, names, occurrences), _groups, max_leaves=8
)
contents: st.SearchStrategy[Content] = st.one_of(
    st.just(Empty()),
    st.just(Anything()),
    st.builds(Mixed, st.lists(names, unique=True, max_size=4).map(tuple)),
    particles,
)

_values = st.text(alphabet="abc <&\"'%é", max_size=6)
_tokens = st.lists(st.sampled_from(["x", "1", "-", "a.b"]), unique=True, min_size=1, max_size=3)


@st.composite
def attributes(draw: st.DrawFn, name: str) -> AttributeDeclaration:
    kind = draw(st.sampled_from([AttributeType.CDATA, AttributeType.NMTOKEN, AttributeType.IDREF]))
    values: tuple[str, ...] = ()
    if draw(st.booleans()):
        kind, values = AttributeType.ENUMERATION, tuple(draw(_tokens))
    presence = draw(st.sampled_from(Presence))
    if presence in {Presence.REQUIRED, Presence.IMPLIED}:
        return AttributeDeclaration(name, kind, values, presence)
    default = draw(_values if kind is AttributeType.CDATA else st.sampled_from(values or ("t",)))
    return AttributeDeclaration(name, kind, values, presence, default)


@st.composite
def declarations(draw: st.DrawFn) -> tuple[ElementDeclaration, ...]:
    """The declarations of a small schema; names in content models may be undeclared."""
    elements = draw(st.lists(names, unique=True, min_size=1, max_size=6))
    attribute_names = st.lists(st.sampled_from(["i", "j", "p:k"]), unique=True, max_size=3)
    return tuple(
        ElementDeclaration(
            element,
            draw(contents),
            tuple(draw(attributes(name)) for name in draw(attribute_names)),
        )
        for element in elements
    )


@st.composite
def dressed(draw: st.DrawFn, declared: tuple[ElementDeclaration, ...]) -> str:
    """A DTD that declares the same by way of parameter entities, sections and comments."""
    pieces: list[str] = []
    for number, element in enumerate(declared):
        plain = dtd_text([element])
        model = content_text(element.content)
        way = draw(st.sampled_from(["plain", "model", "whole", "included", "switched"]))
        if way == "model":
            pieces.append(f'<!ENTITY % m{number} "{model}">')
            pieces.append(plain.replace(f" {model}>", f" %m{number};>", 1))
        elif way == "whole":
            hidden = plain.replace("&", "&#38;").replace("%", "&#37;").replace("'", "&#39;")
            pieces.append(f"<!ENTITY % w{number} '{hidden}'> %w{number};")
        elif way == "included":
            pieces.append(f"<![INCLUDE[{plain}]]>")
        elif way == "switched":
            pieces.append(f"<!ENTITY % on{number} ' INCLUDE '><!ENTITY % off{number} 'IGNORE'>")
            pieces.append(f"<![ %on{number}; [{plain}]]><![%off{number};[{plain}<![X[ ]]> ]]>")
        else:
            pieces.append(plain)
        pieces.append(draw(st.sampled_from(["", "<!-- > %none; -->", "<?pi <!ELEMENT?>", "\r\n"])))
    return "\n".join(pieces)
