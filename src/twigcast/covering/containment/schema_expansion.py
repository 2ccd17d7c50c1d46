"""Expansions of twigs by a schema: ``//`` and ``*`` replaced by the names they can stand for.

    //*[.//note]/price      by a schema in which only a stock has notes, right below it
    /stocks/stock[note]/price

The states of the schema in which each node can be are found first: from the leaves up, those from
which the nodes below can be reached, then from the document down. Then a ``*`` that can only have
one name gets it, and a ``//`` with only a few label sequences between its ends is replaced by them,
each in a twig of its own; where there are more, or infinitely many, at least the labels with which
all begin are inserted. A twig with a node that can be nowhere matches no document and is dropped.
The result has the same meaning among documents of the schema, and is compared as always, so a
covering found is sound; not all are found, since branches are considered one by one.
"""

from __future__ import annotations

from typing import Final

from twigcast.covering.containment.canonical_models import Steps
from twigcast.covering.containment.twig import ElementChain, Twig, stretched
from twigcast.covering.containment.with_schema import SchemaPaths, edges_from, possible_states
from twigcast.covering.paths.automaton import DOCUMENT_NODE
from twigcast.language.condition.model import ANY_ELEMENT, Kind, Label

_EXPANSIONS_MAX: Final = 64
"""Twigs that one twig is expanded into; where there would be more, a ``//`` stays."""


def expansions(twig: Twig, schema: SchemaPaths, steps: Steps) -> list[Twig]:
    """Twigs of which one holds exactly where this one does, among documents of the schema.

    Raises OutOfSteps.
    """
    done: list[Twig] = []
    pending = [(twig, 1)]
    while pending:
        expanded, begin = pending.pop()
        steps.take(expanded.size * schema.steps_a_node)
        node_states = _node_states(expanded, schema)
        if node_states is None:
            continue
        expanded = _named(expanded, node_states, schema)
        far = (node for node in range(begin, expanded.size) if expanded.reaches[node])
        for node in far:
            chains = _chains(
                expanded,
                node,
                node_states,
                schema,
                most=_EXPANSIONS_MAX // (len(pending) + len(done) + 1),
            )
            if chains is not None:
                pending += [
                    (stretched(expanded, {node: chain}), node + len(chain.elements) + 1)
                    for chain in chains
                ]
                break
        else:
            done.append(expanded)
    return done


def _node_states(twig: Twig, schema: SchemaPaths) -> list[set[int]] | None:
    """The possible states of each element of the twig; None if it can be nowhere.

    Each branch is considered by itself, so these may be more states than there really are.
    """
    possible, _ = possible_states(twig, schema)
    if DOCUMENT_NODE not in possible[0]:
        return None
    node_states: list[set[int]] = [{DOCUMENT_NODE}]
    for node in range(1, twig.size):
        label, above = twig.labels[node], node_states[twig.parents[node]]
        assert label is not None
        if twig.reaches[node]:
            above = schema.or_below(above)
        edges = edges_from(schema, above, label) if label.kind is Kind.ELEMENT else ()
        node_states.append({target for _, target in edges} & possible[node])
    return node_states


def _named(twig: Twig, node_states: list[set[int]], schema: SchemaPaths) -> Twig:
    """The twig with names in place of labels that can only be one."""
    labels = list(twig.labels)
    for node, label in enumerate(twig.labels):
        if label is None or None not in label or label.kind is not Kind.ELEMENT:
            continue
        above = node_states[twig.parents[node]]
        if twig.reaches[node]:
            above = schema.or_below(above)
        names = {
            met for met, target in edges_from(schema, above, label) if target in node_states[node]
        }
        if len(names) == 1:
            labels[node] = names.pop()
    return twig._replace(labels=tuple(labels))


def _chains(
    twig: Twig, node: int, node_states: list[set[int]], schema: SchemaPaths, *, most: int
) -> list[ElementChain] | None:
    """The chains that can stand between a node and its parent; None if nothing is known."""
    label = twig.labels[node]
    assert label is not None
    if label.kind is Kind.ELEMENT:
        ends = schema.with_child(label, node_states[node])
    else:
        ends = schema.with_leaf(label)
    begin = node_states[twig.parents[node]]
    inside = schema.or_above(ends)
    sequences = _sequences(schema, begin & inside, inside, ends, most=most)
    if sequences is not None:
        return [ElementChain(sequence, is_open=False) for sequence in sequences]
    first = _shared_beginning(schema, begin, inside, ends)
    return [ElementChain(first, is_open=True)] if first else None


def _sequences(
    schema: SchemaPaths, begin: set[int], inside: set[int], ends: set[int], *, most: int
) -> list[tuple[Label, ...]] | None:
    """The label sequences to one of the ends; None if there are too many."""
    sequences: dict[tuple[Label, ...], None] = {}
    waiting: list[tuple[int, tuple[Label, ...], frozenset[int]]] = [
        (state, (), frozenset({state})) for state in sorted(begin)
    ]
    while waiting:
        state, sequence, passed = waiting.pop()
        if state in ends:
            sequences[sequence] = None
        for label, target in schema.automaton.states[state].edges:
            if target in inside:
                if target in passed:
                    return None
                waiting.append((target, (*sequence, label), passed | {target}))
        if len(sequences) + len(waiting) > most:
            return None
    return list(sequences)


def _shared_beginning(
    schema: SchemaPaths, begin: set[int], inside: set[int], ends: set[int]
) -> tuple[Label, ...]:
    """The labels with which all sequences begin."""
    sequence: list[Label] = []
    states = begin & inside
    while not states & ends and len(sequence) < len(schema.automaton.states):
        edges = [edge for edge in edges_from(schema, states, ANY_ELEMENT) if edge[1] in inside]
        labels = {label for label, _ in edges}
        if len(labels) != 1:
            break
        sequence.append(labels.pop())
        states = {target for _, target in edges}
    return tuple(sequence)
