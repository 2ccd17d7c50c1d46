"""Label paths found the slow way: by writing out contents and whole documents.

A *universal* document of a schema has, down to a depth, every child, attribute and text that any
valid document has in that place. A pattern without values and negations is matched by some valid
document (content models that forbid neighbours aside) exactly if a universal one matches it, as
long as the depth suffices; libxml2 decides that.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product

from hypothesis import strategies as st

from tests.language.schema_strategies import attributes, occurrences
from twigcast.covering.paths.automaton import PathAutomaton, Sketch, TextKind, path_automaton
from twigcast.language.dtd.declarations import (
    Anything,
    Child,
    Choice,
    Content,
    ElementDeclaration,
    Empty,
    Mixed,
    Occurs,
    Particle,
    Sequence,
)
from twigcast.language.dtd.schema import Schema

NAMES = ("a", "b", "p:f")
PREFIXES = {"p": "urn:p"}

_children = st.builds(Child, st.sampled_from((*NAMES, "undeclared")), occurrences)
_groups = st.builds(
    lambda kind, parts, occurs: kind(parts, occurs),
    st.sampled_from([Sequence, Choice]),
    st.lists(_children, min_size=1, max_size=3).map(tuple),
    occurrences,
)
_contents: st.SearchStrategy[Content] = st.one_of(
    st.just(Empty()),
    st.just(Anything()),
    st.builds(Mixed, st.lists(st.sampled_from(NAMES), unique=True, max_size=2).map(tuple)),
    _children,
    _groups,
    _groups,
)


@st.composite
def tiny_schemas(draw: st.DrawFn) -> Schema:
    """A schema of three elements, of which at least one can be completed."""
    declared = tuple(
        ElementDeclaration(
            name,
            draw(_contents),
            tuple(draw(attributes(key)) for key in draw(st.sampled_from([(), ("x",), ("x", "y")]))),
        )
        for name in NAMES
    )
    schema = Schema(declared)
    if not schema.heights:
        return Schema((ElementDeclaration("a", Mixed(("b",))), *declared[1:]))
    return schema


def words(content: Content, schema: Schema) -> Iterator[tuple[str, ...]]:
    """Contents of an element; each repetition stands at most once, which is enough for paths."""
    if isinstance(content, Empty):
        yield ()
    elif isinstance(content, Anything):
        yield from ((name,) for name in schema.elements)
    elif isinstance(content, Mixed):
        yield ()
        yield from ((name,) for name in content.names)
    else:
        yield from _particle_words(content)


def _particle_words(particle: Particle) -> Iterator[tuple[str, ...]]:
    if particle.occurs in {Occurs.OPTIONAL, Occurs.ANY}:
        yield ()
    if isinstance(particle, Child):
        yield (particle.name,)
    elif isinstance(particle, Choice):
        for part in particle.parts:
            yield from _particle_words(part)
    else:
        for chosen in product(*([*_particle_words(part)] for part in particle.parts)):
            yield tuple(name for word in chosen for name in word)


def children_of(schema: Schema) -> dict[str, list[str]]:
    """For each element that can be completed, the children that complete contents have."""
    return {
        name: sorted(
            {
                child
                for word in words(schema.elements[name].content, schema)
                if all(other in schema.heights for other in word)
                for child in word
            }
        )
        for name in schema.heights
    }


def universal_documents(schema: Schema, depth: int) -> Iterator[bytes]:
    """For each root a document with everything in every place, down to a depth."""
    children = children_of(schema)

    def element(name: str, left: int, scope: str = "") -> str:
        declaration = schema.elements[name]
        attributes = "".join(
            f' {attribute.name}="{(attribute.values or ("v",))[0]}"'
            for attribute in declaration.attributes
        )
        below = "".join(element(child, left - 1) for child in children[name] if left > 1)
        text = "t" if declaration.holds_text else ""
        return f"<{name}{scope}{attributes}>{text}{below}</{name}>"

    for root in children:
        if schema.root in (None, root):
            yield element(root, depth, ' xmlns:p="urn:p"').encode()


def label_paths(paths: PathAutomaton, depth: int) -> list[tuple[str, ...]]:
    """Every way through an automaton, attributes and texts included, spelt out."""
    found: list[tuple[str, ...]] = []

    def follow(state: int, way: tuple[str, ...]) -> None:
        here = paths.states[state]
        if way:
            found.append(way)
        if len(way) < depth:
            if here.text is TextKind.ANY:
                found.append((*way, "text()"))
            found.extend((*way, f"@{label.local}") for label, _ in here.attributes)
            for label, target in here.edges:
                follow(target, (*way, f"{{{label.namespace}}}{label.local}"))

    follow(0, ())
    return found


def loosened(paths: PathAutomaton) -> PathAutomaton:
    """The same labels with any values, and white space everywhere, as in expressions."""
    sketch = Sketch()
    sketch.include(paths)
    sketch.texts = [max(text, TextKind.BLANK) for text in sketch.texts]
    sketch.texts[0] = TextKind.NONE
    sketch.attributes = [dict.fromkeys(each) for each in sketch.attributes]
    return path_automaton(sketch)
