"""Many patterns, one document: the matcher, its engines, and explanations.

In reading order:

    interface       what a matcher takes and gives: engines, ids, rules, groups, statistics
    matcher         the matcher itself; an engine decides
    engines         ``lxml``, one expression after the other, and ``native``, the kernel
    streaming       ``streaming``, all patterns at once in document order
    restorable      the engines in Python: patterns by id, and tables made anew after an interrupt
    residual        what no index decides: libxml2 behind an estimate of its cost
    prefilter       which patterns a document can match at all, by the labels it has
    lazy_document   a document that is parsed when somebody needs its tree
    batch           Arrow arrays of documents in, record batches out
    stored          subscriptions as bytes
    bindings        what the wildcards of a match stand for
    explain         why a document matches or not, and which nodes made it match
"""

from twigcast.matching.bindings import Binding, substituted
from twigcast.matching.explain.explain import Explanation, explain
from twigcast.matching.explain.finding import Finding, Findings, FoundNode
from twigcast.matching.interface.engine import Decision, EngineStatistics
from twigcast.matching.interface.statistics import MatcherStatistics
from twigcast.matching.matcher import ENGINES, Matcher
from twigcast.matching.streaming.positions import LastSeen, Position, PositionedResult

__all__ = [
    "ENGINES",
    "Binding",
    "Decision",
    "EngineStatistics",
    "Explanation",
    "Finding",
    "Findings",
    "FoundNode",
    "LastSeen",
    "Matcher",
    "MatcherStatistics",
    "Position",
    "PositionedResult",
    "explain",
    "substituted",
]
