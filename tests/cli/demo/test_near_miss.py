"""The near miss that the demo explains."""

from __future__ import annotations

import pytest

from twigcast.cli.demo.near_miss import find_near_miss
from twigcast.files import Subscription
from twigcast.language import Document


def a_subscription(xpath: str, id: str = "s1") -> Subscription:
    return Subscription(id, xpath, subscriber="Fen & Co")


pytest.importorskip("pyspark")


def test_the_nearest_miss_fails_on_one_value() -> None:
    documents = [
        Document.parse(b"<a><b c='1'/></a>", name="near"),
        Document.parse(b"<z/>", name="far"),
    ]
    subscriptions = [a_subscription("/a/b[@c = '2']"), a_subscription("/x[y]", "s2")]
    received = {"s1": frozenset({"another"}), "s2": frozenset({"another"})}
    miss = find_near_miss(subscriptions, documents, received)
    assert miss is not None
    assert (miss.document, miss.subscription.id) == ("near", "s1")
    assert miss.by_one_predicate
    assert miss.explanation.matches is False


def test_what_was_delivered_or_never_satisfied_is_no_near_miss() -> None:
    documents = [Document.parse(b"<a><b/></a>", name="here")]
    delivered = {"s1": frozenset({"here"})}
    assert find_near_miss([a_subscription("/a[b]")], documents, delivered) is None
    assert find_near_miss([a_subscription("/a[c]")], documents, {}) is None
