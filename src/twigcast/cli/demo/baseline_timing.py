"""The baseline of the demo: the same matching by libxml2, one expression after the other.

A sample of the feed is matched in this very process, by libxml2 with every expression in turn and
by the matcher. Both begin with bytes, and both have compiled what they need before the time is
taken, in seconds of the processor, so that other work on the machine counts for little. The answers
must be equal, or there is nothing to compare.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from time import process_time
from typing import cast

from lxml import etree

from twigcast.errors import TwigcastError
from twigcast.files import SubscriptionFile, compile_subscriptions
from twigcast.language import Document, Pattern
from twigcast.matching import Matcher

_CLOCK_SECONDS = 1e-6
"""The processor's clock may stand still during very little work."""


@dataclass(frozen=True, slots=True)
class Comparison:
    """Documents per second, one expression after the other and with the matcher."""

    documents: int
    one_by_one: float
    matcher: float

    @property
    def ratio(self) -> float:
        """How many times as fast the matcher is."""
        return self.matcher / self.one_by_one


def compare(file: SubscriptionFile, contents: Sequence[bytes]) -> Comparison:
    """Match a sample by both; a TwigcastError if the answers differ."""
    matcher = Matcher()
    compile_subscriptions(file, matcher.add)
    expressions = [_compiled(one.xpath, one.namespaces) for one in file.subscriptions]

    def one_by_one(content: bytes) -> list[int]:
        tree = Document.parse(content).tree
        return [place for place, matches in enumerate(expressions) if matches(tree)]

    naive, naive_rate = _timed(one_by_one, contents)
    answers, rate = _timed(matcher.match, contents)
    if naive != answers:
        raise TwigcastError("the matcher and libxml2 disagree on the demo: please report this")
    return Comparison(len(contents), one_by_one=naive_rate, matcher=rate)


def _compiled(xpath: str, namespaces: object) -> Callable[[object], bool]:
    text, prefixes = Pattern.parse(xpath, cast("dict[str, str]", namespaces)).for_libxml2()
    compiled = etree.XPath(f"boolean({text})", namespaces=prefixes or None, regexp=False)
    return cast("Callable[[object], bool]", compiled)


def _timed(
    match: Callable[[bytes], list[int]], contents: Sequence[bytes]
) -> tuple[list[list[int]], float]:
    """The answers to a first round, and how many a second a second round gives."""
    answers = [match(content) for content in contents]
    begun = process_time()
    for content in contents:
        match(content)
    return answers, len(contents) / max(process_time() - begun, _CLOCK_SECONDS)
