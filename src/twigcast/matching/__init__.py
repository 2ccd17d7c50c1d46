"""Many patterns, one document: the matcher, its engines, and why something did not match."""

from twigcast.matching.engine import Decision, EngineStatistics
from twigcast.matching.explain import Explanation, explain
from twigcast.matching.matcher import ENGINES, Matcher, MatcherStatistics

__all__ = [
    "ENGINES",
    "Decision",
    "EngineStatistics",
    "Explanation",
    "Matcher",
    "MatcherStatistics",
    "explain",
]
