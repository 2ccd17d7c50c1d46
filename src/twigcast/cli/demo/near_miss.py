"""A subscription that nearly matched a document, found among the real ones.

The best story is one in which everything is there but a value: without one predicate the document
would match, and the explanation can tell what the value is instead. A few hundred pairs are
explained, in the order of the file, and the nearest is shown.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from twigcast.files import Subscription
from twigcast.language import Document
from twigcast.matching import explain
from twigcast.matching.explain.explain import Explanation

_SUBSCRIPTIONS_TRIED = 80
_DOCUMENTS_TRIED = 6


@dataclass(frozen=True, slots=True)
class NearMiss:
    """A subscription, a document that does not satisfy it, and why."""

    subscription: Subscription
    document: str
    explanation: Explanation
    by_one_predicate: bool
    """Whether the document satisfies all but the predicate that failed first."""


def find_near_miss(
    subscriptions: Sequence[Subscription],
    documents: Sequence[Document],
    received: Mapping[str, frozenset[str]],
) -> NearMiss | None:
    """The nearest miss among the first pairs; None if everything tried does match.

    ``received`` has the names of the documents that each subscription received. Only subscriptions
    that received something are looked at: that they can be satisfied makes a miss worth telling.
    """
    able = [one for one in subscriptions if received.get(str(one.id)) and "[" in one.xpath]
    misses = list(_misses(able[:_SUBSCRIPTIONS_TRIED], documents, received))
    return max(misses, key=_nearness, default=None)


def _misses(
    subscriptions: Sequence[Subscription],
    documents: Sequence[Document],
    received: Mapping[str, frozenset[str]],
) -> Iterator[NearMiss]:
    for place, one in enumerate(subscriptions):
        for offset in range(min(_DOCUMENTS_TRIED, len(documents))):
            document = documents[(place + offset) % len(documents)]
            name = document.name or ""
            if name not in received[str(one.id)]:
                explanation = explain(one.xpath, document, one.namespaces)
                rest = _without(one.xpath, explanation.failed)
                by_one = rest is not None and bool(explain(rest, document, one.namespaces).matches)
                yield NearMiss(one, name, explanation, by_one)


def _without(xpath: str, failed: str | None) -> str | None:
    """The expression without the predicate that failed; None if it was no predicate."""
    if failed is None or not failed.startswith("[") or failed not in xpath:
        return None
    return xpath.replace(failed, "", 1)


def _nearness(miss: NearMiss) -> tuple[bool, bool, int]:
    """How much of a story there is: one predicate, on a value, of as many as possible."""
    on_a_value = any(" is '" in reason for reason in miss.explanation.reasons)
    return miss.by_one_predicate, on_a_value, miss.subscription.xpath.count("[")
