"""Engines of a few patterns that read documents in order."""

from __future__ import annotations

from tests.strategies import NAMESPACES
from twigcast.language import Document, Pattern
from twigcast.matching.streaming.engine import StreamingEngine
from twigcast.matching.streaming.lazy_dfa import REMEMBERED_MAX


def engine_of(*xpaths: str, remembered_max: int = REMEMBERED_MAX) -> StreamingEngine:
    engine = StreamingEngine(remembered_max=remembered_max)
    for number, xpath in enumerate(xpaths):
        engine.add(number, Pattern.parse(xpath, NAMESPACES))
    return engine


def matches(engine: StreamingEngine, content: bytes) -> tuple[int, ...]:
    decision = engine.decide(Document.parse(content), ())
    assert not decision.undecided
    return decision.matches
