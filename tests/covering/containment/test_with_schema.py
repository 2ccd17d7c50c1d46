"""Among the documents of a schema patterns cover more, and never too much."""

from __future__ import annotations

from collections.abc import Iterator
from importlib.resources import files
from random import Random

import pytest
from lxml import etree

from tests.covering.drawn import drawn_path, drawn_tree
from twigcast.covering import covers, decide
from twigcast.covering.containment.covers import paths_of
from twigcast.errors import SchemaError
from twigcast.language import Schema
from twigcast.workload import PatternShape, generate_documents, generate_patterns
from twigcast.workload.patterns import PREDICATE_KINDS

Graph = dict[str, str]
"""Of each element, the names of those that may stand in it, in any number."""


def drawn_graph(rng: Random, *, recursive: bool) -> Graph:
    """Elements a to d, of which a is the root."""
    names = "abcd"
    return {
        name: "".join(
            other for other in names if rng.random() < 0.5 and (recursive or other > name)
        )
        for name in names
    }


def schema_of(graph: Graph) -> Schema:
    declared = [
        f"<!ELEMENT {name} {'(' + ' | '.join(inside) + ')*' if inside else 'EMPTY'}>"
        for name, inside in graph.items()
    ]
    return Schema.parse("".join(declared).encode(), root="a")


def chains(graph: Graph) -> Iterator[etree._ElementTree]:
    """Each path of a graph without cycles as a document that is nothing else."""
    waiting = ["a"]
    for path in waiting:
        root = here = etree.Element(path[0])
        for name in path[1:]:
            here = etree.SubElement(here, name)
        yield root.getroottree()
        waiting += [path + name for name in graph[path[-1]]]


def drawn_document(rng: Random, graph: Graph, depth: int = 6) -> etree._ElementTree:
    def fill(element: etree._Element, levels: int) -> None:
        inside = graph[str(element.tag)]
        for _ in range(rng.randint(0, 3) if levels and inside else 0):
            fill(etree.SubElement(element, rng.choice(inside)), levels - 1)

    root = etree.Element("a")
    fill(root, depth)
    return root.getroottree()


def matching(text: str, trees: list[etree._ElementTree]) -> set[int]:
    matches = etree.XPath(f"boolean({text})", regexp=False)
    return {place for place, tree in enumerate(trees) if matches(tree)}


def test_paths_are_decided_exactly_where_the_schema_has_an_end() -> None:
    rng = Random(21)
    coverings = more = 0
    for _ in range(60):
        graph = drawn_graph(rng, recursive=False)
        schema, trees = paths_of(schema_of(graph)), list(chains(graph))
        for _ in range(20):
            wider, narrower = (drawn_path(rng, steps_max=4, names="abcd") for _ in range(2))
            truth = matching(narrower, trees) <= matching(wider, trees)
            assert covers(wider=wider, narrower=narrower, schema=schema) is truth, (graph, wider)
            coverings += truth
            more += truth and not covers(wider=wider, narrower=narrower)
    assert coverings > 300
    assert more > 100


@pytest.mark.parametrize("recursive", [False, True])
def test_no_covering_is_proved_wrong_by_a_document_of_the_schema(*, recursive: bool) -> None:
    rng = Random(22 + recursive)
    more = 0
    for _ in range(40):
        graph = drawn_graph(rng, recursive=recursive)
        schema = paths_of(schema_of(graph))
        trees = [drawn_document(rng, graph) for _ in range(60)]
        for _ in range(25):
            wider, narrower = (drawn_tree(rng, nodes_max=5, names="abcd") for _ in range(2))
            plainly = covers(wider=wider, narrower=narrower)
            if covers(wider=wider, narrower=narrower, schema=schema):
                assert matching(narrower, trees) <= matching(wider, trees), (graph, wider, narrower)
                more += not plainly
            else:
                assert not plainly, (graph, wider, narrower)
    assert more > 50


@pytest.mark.parametrize("name", ["auction", "treebank"])
def test_no_covering_is_proved_wrong_by_generated_documents_with_values(name: str) -> None:
    schema = Schema.parse((files("twigcast.workload") / "dtds" / f"{name}.dtd").read_bytes())
    ready, rng = paths_of(schema), Random(24)
    documents = generate_documents(schema, rng=rng, count=60)
    trees = [etree.fromstring(document).getroottree() for document in documents]
    texts = generate_patterns(
        schema,
        rng=rng,
        count=50,
        shape=PatternShape(
            depth_max=5,
            wildcard=0.25,
            descendant=0.3,
            nested=0.2,
            predicates=0.7,
            attributes=0.2,
            predicate_kinds=PREDICATE_KINDS,
        ),
    )
    drawn = [(text, matching(text, trees)) for text in texts]
    more = 0
    for wider, those in drawn:
        for narrower, these in drawn:
            if covers(wider=wider, narrower=narrower, schema=ready):
                assert these <= those, (wider, narrower)
                more += not covers(wider=wider, narrower=narrower)
    assert more > 10


def test_a_schema_without_documents_is_refused() -> None:
    endless = Schema.parse(b"<!ELEMENT a (a)>")
    with pytest.raises(SchemaError):
        covers(wider="//a", narrower="//b", schema=endless)


def test_steps_are_counted_under_a_schema_too() -> None:
    names = [f"n{number}" for number in range(40)]
    anything = "".join(f"<!ELEMENT {name} ANY>" for name in names).encode()
    paths = paths_of(Schema.parse(anything, root="n0"))
    wider, narrower = "//n1/*/*/*/*/*/n2", "//n1//*//*//n3//*//*/n2"
    verdict = decide(wider=wider, narrower=narrower, schema=paths, budget=2_000)
    assert verdict.steps <= 2_000
    assert not verdict.covers
