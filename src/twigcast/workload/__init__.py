"""Workloads made to measure: patterns and documents drawn from a schema, and topologies.

The experiments of the papers need subscriptions by the hundred thousand and documents that some
of them match. Both are drawn at random from the same schema, with the parameters the papers give
(depth, share of ``*`` and of ``//``, nested paths, value predicates, skew) and from one
:class:`Vocabulary`, so that predicates ask for values that documents have::

    schema = shipped_schema("news")
    shape = PatternShape(wildcard=0.1, descendant=0.1)
    patterns = generate_patterns(schema, rng=Random(1), count=1000, shape=shape)
    documents = generate_documents(schema, rng=Random(2), count=10, elements=130)

All chance comes from the ``rng`` that the caller passes: equal seeds give equal workloads, on every
machine and in every process.
"""

from __future__ import annotations

from twigcast.workload.documents import Marker, generate_document, generate_documents
from twigcast.workload.patterns import PatternShape, generate_patterns
from twigcast.workload.topologies import (
    TopologyTable,
    binary_tree,
    line,
    overlay,
    random_tree,
    star,
)
from twigcast.workload.transit_stubs import TransitStub, transit_stub
from twigcast.workload.variation import vary
from twigcast.workload.vocabulary import Vocabulary

__all__ = [
    "Marker",
    "PatternShape",
    "TopologyTable",
    "TransitStub",
    "Vocabulary",
    "binary_tree",
    "generate_document",
    "generate_documents",
    "generate_patterns",
    "line",
    "overlay",
    "random_tree",
    "star",
    "transit_stub",
    "vary",
]
