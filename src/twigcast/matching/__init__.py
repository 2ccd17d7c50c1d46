"""Many patterns, one document: the matcher, its engines, and why something did not match."""

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
