"""Patterns parsed as canonical texts are, and whether their texts read back."""

from __future__ import annotations

from tests.strategies import NAMESPACES
from twigcast.language import Pattern
from twigcast.language.pattern import CANONICAL_LIMITS


def parsed(xpath: str) -> Pattern:
    return Pattern.parse(xpath, {**NAMESPACES, "same": "urn:p"}, CANONICAL_LIMITS)


def reads_back(pattern: Pattern) -> bool:
    again = Pattern.parse(pattern.text, None, CANONICAL_LIMITS)
    return again is pattern and again.text == pattern.text
