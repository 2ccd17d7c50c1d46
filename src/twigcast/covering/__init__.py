"""When one pattern makes another redundant.

In reading order:

    twig                tree patterns as nodes in arrays
    implication         what value tests say about each other
    homomorphism        laying one twig onto another: sound, and quick
    single_paths        exact for single paths
    canonical_models    exact for tree patterns, within a budget
    alternatives        from any condition to twigs
    under_schema        the same among the documents of a schema: paths
    written_out         and trees
    covers              the answer, by all of these

Of whole sets:

    candidates          what a cover index asks of its engine
    features            what a covering needs, as numbers
    feature_index       the plain engine
    cover_index         which patterns of a changing set cover another, or are covered
    climb               to the classes of patterns that nothing else covers
    subscription_tree   what to forward, and what to withdraw, after each change
    tree_pattern        patterns as XNET draws them
    factorization_tree  many of them as one tree
    xsearch             the same questions, asked of that tree

What publishers can send, and which patterns that can satisfy:

    path_automaton      sets of label paths, made deterministic and small
    schema_paths        the label paths of a DTD
    document_paths      the label paths of documents
    path_expression     label paths as text, with ( )+
    automaton_text      an automaton as text, and back
    overlap             whether a document of these paths can match a pattern
    advertisement       all of it as a value
    advertisement_text  the same for the eye
    path_counts         how many paths of a schema a linear pattern accepts

Fewer patterns by merging:

    trunk               the row of steps that is generalised
    merge_rules         the three rules
    degree              how many documents of a schema a merger adds
    schema_places       what can stand at a place of a path
    merge_candidates    which patterns could be merged
    merging             a set merged, greedily
    merged_set          the same under change
    aggregation         a set made to fit a space
    aggregated_set      the same under change
    simple_aggregation  how parts are got back from aggregates
    reduction           all means together
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
