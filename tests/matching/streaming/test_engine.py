"""The engine streaming: right whatever it remembers, and nothing stays behind."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from lxml.etree import _Element

from tests.matching.streaming.small_engines import engine_of, matches
from tests.oracle import oracle
from tests.strategies import NAMESPACES, ExpressionPair, documents, subscriptions
from twigcast.language import Pattern
from twigcast.matching.residual.string_values import string_value
from twigcast.matching.streaming import run as reading
from twigcast.matching.streaming.engine import StreamingEngine
from twigcast.matching.streaming.lazy_dfa import REMEMBERED_MAX

BOUNDS = (0, 1, 30, REMEMBERED_MAX)
"""Cells that may be remembered: none, next to none, a few label paths, the default."""


@pytest.mark.parametrize("bound", BOUNDS)
@given(
    st.lists(subscriptions(), min_size=2, max_size=6),
    st.lists(documents(), min_size=1, max_size=3),
    st.data(),
)
def test_answers_are_the_oracles_between_adds_and_removes_at_every_bound(
    bound: int, said: list[ExpressionPair], contents: list[bytes], data: st.DataObject
) -> None:
    engine = StreamingEngine(remembered_max=bound)
    held: set[int] = set()
    for content in contents:
        turned = data.draw(st.sets(st.sampled_from(range(len(said)))))
        for number in sorted(turned):
            if number in held:
                engine.remove(number)
            else:
                engine.add(number, Pattern.parse(said[number].text, NAMESPACES))
        held ^= turned
        expected = tuple(
            number for number in sorted(held) if oracle(said[number].oracle, content, NAMESPACES)
        )
        for _ in range(2):  # With nothing remembered, and with what was remembered just now.
            assert matches(engine, content) == expected
        assert engine.statistics().remembered <= bound


def test_what_cannot_be_decided_on_the_way_is_a_candidate_only_where_it_may_hold() -> None:
    engine = engine_of("//a[contains(.//b, 'x')]", "//a[c or not(/r/d)]", "//a[2]")
    assert matches(engine, b"<r><b>x</b></r>") == ()
    assert engine.statistics().candidates == 0
    assert matches(engine, b"<r><a><b>x</b></a></r>") == (0, 1)
    assert engine.statistics().candidates == 3


def test_the_value_of_an_element_is_read_once_for_all_tests(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    read: list[str] = []

    def counted(element: _Element) -> str:
        read.append(element.tag)
        return string_value(element)

    monkeypatch.setattr(reading, "string_value", counted)
    engine = engine_of(*(f"//a[contains(., 'x{number}')]" for number in range(50)))
    assert matches(engine, b"<a><a>x7</a><b/></a>") == (7,)
    assert len(read) == 2
