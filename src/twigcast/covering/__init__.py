"""Covering: patterns that make others redundant, and few patterns that stand for many.

In reading order:

    containment      whether one pattern covers another
    index            the same for changing sets of patterns
    bits             sets of small numbers as bits
    delta            how a set of patterns has changed since it was last sent
    paths            label paths: automata of them, from DTDs and from documents
    advertisements   the shapes of documents a publisher keeps to, and what they overlap
    merging          fewer patterns by merging and aggregation
    papers           XNET's and Dissemination's own trees, kept for comparison
"""

from twigcast.covering.advertisements.advertisement import (
    Advertisement,
    advertisement_covers,
    overlaps,
)
from twigcast.covering.containment.covers import (
    COVER_BUDGET,
    Tally,
    Verdict,
    covers,
    decide,
    paths_of,
)
from twigcast.covering.delta import Difference
from twigcast.covering.index.cover_index import CoverIndex, CoverIndexStatistics
from twigcast.covering.merging.aggregation import (
    Aggregate,
    Aggregation,
    SimplePart,
    aggregate,
    space_budget,
)
from twigcast.covering.merging.degree import Degree, merge_degree
from twigcast.covering.merging.greedy import Merged, Merger, merge
from twigcast.covering.merging.merged_set import MergedSet
from twigcast.covering.merging.reduction import Kept, Reduction, reduced
from twigcast.covering.merging.substitution import Bound, simple_bindings
from twigcast.covering.papers.factorization_tree import (
    FactorizationTree,
    FactorizationTreeStatistics,
)
from twigcast.covering.papers.subscription_tree import SubscriptionTree, SubscriptionTreeStatistics

__all__ = [
    "COVER_BUDGET",
    "Advertisement",
    "Aggregate",
    "Aggregation",
    "Bound",
    "CoverIndex",
    "CoverIndexStatistics",
    "Degree",
    "Difference",
    "FactorizationTree",
    "FactorizationTreeStatistics",
    "Kept",
    "Merged",
    "MergedSet",
    "Merger",
    "Reduction",
    "SimplePart",
    "SubscriptionTree",
    "SubscriptionTreeStatistics",
    "Tally",
    "Verdict",
    "advertisement_covers",
    "aggregate",
    "covers",
    "decide",
    "merge",
    "merge_degree",
    "overlaps",
    "paths_of",
    "reduced",
    "simple_bindings",
    "space_budget",
]
