"""The kind ``tree_sizes``: how much a factorization tree shares (XNET, Table 2).

The "engines" are sizes of the set. Nodes are counted, so any machine must find the same numbers:
those of all patterns together, Σ|s|, and those of the tree, |T(R)|, with ``//`` as a node and
without document nodes.
"""

from __future__ import annotations

import time

from benchmarks.covering import distinct_patterns
from benchmarks.definition import Definition
from benchmarks.measure import Measurement, timed
from twigcast.covering import FactorizationTree


def measured(definition: Definition, size: str) -> Measurement:
    """Measure a set of that size, ``10,000 patterns``."""
    patterns = distinct_patterns(definition, int(size.removesuffix(" patterns").replace(",", "")))
    tree = FactorizationTree()

    def build() -> None:
        for number, pattern in enumerate(patterns):
            tree.add(number, pattern)

    _, build_s = timed(build, time.process_time)
    sizes = tree.statistics()
    return Measurement(
        engine=size,
        counts={size: sizes.tree_nodes},
        figures={
            "pattern_nodes": sizes.pattern_nodes,
            "tree_nodes": sizes.tree_nodes,
            "nodes_shared": sizes.pattern_nodes / sizes.tree_nodes,
            "adds_per_s": len(patterns) / build_s,
        },
    )
