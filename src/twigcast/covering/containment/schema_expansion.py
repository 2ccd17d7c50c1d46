"""Twigs written out by a schema: what ``//`` and ``*`` can stand for, said by name.

    //*[.//note]/price      by a schema in which only a stock has notes, right below it
    /stocks/stock[note]/price

First the states of the schema in which each node can be: from the leaves up, those from which what
is below can be reached, then from the document down. Then a ``*`` that can only have one name gets
it, and a ``//`` with but a few ways between its ends becomes these ways, each a twig of its own; of
more ways, or no end of them, at least the beginning that all share is written out. A twig with a
node that can be nowhere is no document's and falls away. What is left means the same as before
among the documents of the schema, and is compared as always, so a covering found is sound; not all
are found, since branches are looked at one by one.
"""

from __future__ import annotations

from typing import Final

from twigcast.covering.containment.canonical_models import Steps
from twigcast.covering.containment.twig import Chain, Twig, stretched
from twigcast.covering.containment.with_schema import SchemaPaths, edges_from, possible_states
from twigcast.covering.paths.automaton import DOCUMENT_NODE
from twigcast.language.condition.model import ANY_ELEMENT, Kind, Label

__all__ = ["written_out"]

_WAYS_MAX: Final = 64
"""Twigs that one twig is written out into; where there would be more, a ``//`` stays."""


def written_out(twig: Twig, schema: SchemaPaths, steps: Steps) -> list[Twig]:
    """Twigs of which one holds just where this one does, among documents of the schema.

    Raises OutOfSteps.
    """
    done: list[Twig] = []
    left = [(twig, 1)]
    while left:
        here, begin = left.pop()
        steps.take(here.size * schema.steps_a_node)
        places = _places(here, schema)
        if places is None:
            continue
        here = _named(here, places, schema)
        far = (node for node in range(begin, here.size) if here.reaches[node])
        for node in far:
            chains = _chains(
                here, node, places, schema, most=_WAYS_MAX // (len(left) + len(done) + 1)
            )
            if chains is not None:
                left += [
                    (stretched(here, {node: chain}), node + len(chain.elements) + 1)
                    for chain in chains
                ]
                break
        else:
            done.append(here)
    return done


def _places(twig: Twig, schema: SchemaPaths) -> list[set[int]] | None:
    """The states in which each element of the twig can be; None if it can be nowhere.

    Each branch is looked at by itself, so these may be more states than there really are.
    """
    possible, _ = possible_states(twig, schema)
    if DOCUMENT_NODE not in possible[0]:
        return None
    places: list[set[int]] = [{DOCUMENT_NODE}]
    for node in range(1, twig.size):
        label, above = twig.labels[node], places[twig.parents[node]]
        assert label is not None
        if twig.reaches[node]:
            above = schema.or_below(above)
        edges = edges_from(schema, above, label) if label.kind is Kind.ELEMENT else ()
        places.append({target for _, target in edges} & possible[node])
    return places


def _named(twig: Twig, places: list[set[int]], schema: SchemaPaths) -> Twig:
    """The twig with names in the place of what can only be one."""
    labels = list(twig.labels)
    for node, label in enumerate(twig.labels):
        if label is None or None not in label or label.kind is not Kind.ELEMENT:
            continue
        above = places[twig.parents[node]]
        if twig.reaches[node]:
            above = schema.or_below(above)
        names = {met for met, target in edges_from(schema, above, label) if target in places[node]}
        if len(names) == 1:
            labels[node] = names.pop()
    return twig._replace(labels=tuple(labels))


def _chains(
    twig: Twig, node: int, places: list[set[int]], schema: SchemaPaths, *, most: int
) -> list[Chain] | None:
    """What can stand between a node and its parent; None where nothing can be said of it."""
    label = twig.labels[node]
    assert label is not None
    if label.kind is Kind.ELEMENT:
        ends = schema.with_child(label, places[node])
    else:
        ends = schema.with_leaf(label)
    begin = places[twig.parents[node]]
    inside = schema.or_above(ends)
    ways = _ways(schema, begin & inside, inside, ends, most=most)
    if ways is not None:
        return [Chain(way, is_open=False) for way in ways]
    first = _only_way(schema, begin, inside, ends)
    return [Chain(first, is_open=True)] if first else None


def _ways(
    schema: SchemaPaths, begin: set[int], inside: set[int], ends: set[int], *, most: int
) -> list[tuple[Label, ...]] | None:
    """The labels on the ways to one of the ends; None if there are too many, or no end of them."""
    found: dict[tuple[Label, ...], None] = {}
    waiting: list[tuple[int, tuple[Label, ...], frozenset[int]]] = [
        (state, (), frozenset({state})) for state in sorted(begin)
    ]
    while waiting:
        state, way, passed = waiting.pop()
        if state in ends:
            found[way] = None
        for label, target in schema.automaton.states[state].edges:
            if target in inside:
                if target in passed:
                    return None
                waiting.append((target, (*way, label), passed | {target}))
        if len(found) + len(waiting) > most:
            return None
    return list(found)


def _only_way(
    schema: SchemaPaths, begin: set[int], inside: set[int], ends: set[int]
) -> tuple[Label, ...]:
    """The labels with which all ways begin."""
    way: list[Label] = []
    states = begin & inside
    while not states & ends and len(way) < len(schema.automaton.states):
        edges = [edge for edge in edges_from(schema, states, ANY_ELEMENT) if edge[1] in inside]
        labels = {label for label, _ in edges}
        if len(labels) != 1:
            break
        way.append(labels.pop())
        states = {target for _, target in edges}
    return tuple(way)
