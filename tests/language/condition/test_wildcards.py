"""Wildcards are counted as the canonical text has them."""

from __future__ import annotations

import re

from hypothesis import assume, given

from tests.strategies import NAMESPACES, ExpressionPair, subscriptions
from twigcast.language import Pattern
from twigcast.language.condition.wildcards import wildcards_in


@given(subscriptions(exact=True))
def test_wildcards_are_those_of_the_canonical_text(said: ExpressionPair) -> None:
    pattern = Pattern.parse(said.text, NAMESPACES)
    assume(pattern.exact)
    bare = re.sub(r"'[^']*'|\"[^\"]*\"", "", pattern.text)
    assert wildcards_in(pattern.condition) == len(re.findall(r"//|\*(?!:)", bare))
