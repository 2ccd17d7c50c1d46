"""All engines side by side, in the words of a target: answers, refusals, and nothing else."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from twigcast.errors import DocumentError, InternalError
from twigcast.language import Pattern
from twigcast.matching import ENGINES, Matcher
from twigcast.matching.engines.native import AVAILABLE

__all__ = ["ENGINE_NAMES", "Answer", "answer", "matchers"]

ENGINE_NAMES: Final = tuple(
    name for name in ENGINES if name != "auto" and (name != "native" or AVAILABLE)
)

Answer = tuple[str, tuple[object, ...], tuple[object, ...]]
"""The refusal, or the matches and what is undecided."""


def matchers(patterns: Sequence[Pattern] | Mapping[int, Pattern]) -> dict[str, Matcher]:
    """A new matcher of each engine, with these patterns by their numbers."""
    numbered = patterns if isinstance(patterns, Mapping) else dict(enumerate(patterns))
    made = {name: Matcher(engine=name) for name in ENGINE_NAMES}
    for matcher in made.values():
        for number, pattern in numbered.items():
            matcher.add(number, pattern)
    return made


def answer(matcher: Matcher, content: bytes) -> Answer:
    """What a matcher says of a document. Errors that are not about the document pass through."""
    try:
        decision = matcher.decide(content)
    except InternalError:
        raise
    except DocumentError as error:
        return f"{type(error).__name__}: {error}", (), ()
    return "", tuple(decision.matches), tuple(decision.undecided)
