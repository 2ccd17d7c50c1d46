"""The comparison with one expression after the other."""

from __future__ import annotations

import pytest

from twigcast.cli.demo.baseline_timing import compare
from twigcast.errors import TwigcastError
from twigcast.files import Subscription, SubscriptionFile
from twigcast.matching import Matcher

pytest.importorskip("pyspark")


def a_subscription(xpath: str, id: str = "s1") -> Subscription:
    return Subscription(id, xpath, subscriber="Fen & Co")


def test_the_comparison_insists_on_equal_answers(monkeypatch: pytest.MonkeyPatch) -> None:
    file = SubscriptionFile((a_subscription("//b"), a_subscription("//a[2]", "s2")))
    contents = [b"<a><b/></a>", b"<c/>"]
    comparison = compare(file, contents)
    assert comparison.documents == 2
    assert comparison.ratio > 0
    monkeypatch.setattr(Matcher, "match", lambda *_: [])
    with pytest.raises(TwigcastError, match="disagree"):
        compare(file, contents)
