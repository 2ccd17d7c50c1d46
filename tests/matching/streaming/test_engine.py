"""The engine streaming: right whatever it remembers, and nothing stays behind."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from lxml.etree import _Element

from tests.oracle import oracle
from tests.strategies import NAMESPACES, THOROUGH, ExpressionPair, documents, subscriptions
from twigcast.language import Document, Pattern
from twigcast.matching.residual.string_values import string_value
from twigcast.matching.streaming import run as reading
from twigcast.matching.streaming.engine import StreamingEngine
from twigcast.matching.streaming.lazy_dfa import REMEMBERED_MAX

BOUNDS = (0, 1, 30, REMEMBERED_MAX)
"""Cells that may be remembered: none, next to none, a few label paths, the default."""


def engine_of(*xpaths: str, remembered_max: int = REMEMBERED_MAX) -> StreamingEngine:
    engine = StreamingEngine(remembered_max=remembered_max)
    for number, xpath in enumerate(xpaths):
        engine.add(number, Pattern.parse(xpath, NAMESPACES))
    return engine


def matches(engine: StreamingEngine, content: bytes) -> tuple[int, ...]:
    decision = engine.decide(Document.parse(content), ())
    assert not decision.undecided
    return decision.matches


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


@THOROUGH
@given(st.lists(subscriptions(), min_size=1, max_size=8), st.data())
def test_removing_leaves_what_was_never_there(
    said: list[ExpressionPair], data: st.DataObject
) -> None:
    patterns = [Pattern.parse(one.text, NAMESPACES) for one in said]
    kept = data.draw(st.sets(st.sampled_from(range(len(said)))))
    engine, fresh = StreamingEngine(), StreamingEngine()
    for number in data.draw(st.permutations(range(len(said)))):
        engine.add(number, patterns[number])
    for number in data.draw(st.permutations(sorted(set(range(len(said))) - kept))):
        engine.remove(number)
    for number in kept:
        fresh.add(number, patterns[number])
    assert engine.statistics() == fresh.statistics()
    assert engine._automaton._vocabulary == fresh._automaton._vocabulary
    for number in kept:
        engine.remove(number)
    assert engine.statistics().states == 1
    assert not engine._automaton._vocabulary
    assert engine._automaton.root.is_idle


def test_patterns_that_begin_alike_share_states() -> None:
    assert engine_of("/a/b/c").statistics().states == 4
    assert engine_of("/a/b/c", "/a/b/d", "/a/b").statistics().states == 5


def test_watched_paths_share_states_and_leave_none_behind() -> None:
    engine = engine_of("//a[b][c]")
    before = engine.statistics()
    engine.watch(1, Pattern.parse("//a/b"))
    assert engine.statistics().states == before.states
    engine.watch(2, Pattern.parse("//a/d"))
    assert engine.statistics().states == before.states + 1
    engine.unwatch(1)
    engine.unwatch(2)
    assert engine.statistics() == before


@pytest.mark.parametrize(
    ("xpath", "content", "expected"),
    [
        ("//a[b][c]", b"<r><a><b/></a><a><c/></a></r>", False),
        ("//a[b][c]", b"<r><a><b/></a><a><c/><b/></a></r>", True),
        ("//a[.//b[c][d]][e]", b"<a><b><c/></b><b><d/></b><e/></a>", False),
        ("//a[.//b[c][d]][e]", b"<a><a><b><c/><d/></b></a><e/></a>", True),
        ("//a[.//a][b]", b"<a><b/></a>", False),
        ("//a[.//a][b]", b"<a><b/><a/></a>", True),
    ],
)
def test_branches_are_joined_at_the_same_element(
    xpath: str, content: bytes, *, expected: bool
) -> None:
    # Checked independently, as in YAK 4.1, the branches would hold in all of these documents.
    assert matches(engine_of(xpath), content) == ((0,) if expected else ())


def test_names_that_nobody_mentions_are_remembered_once() -> None:
    engine = engine_of("//a/*[@x]", "//p:*")
    many = b"".join(b"<n%d a%d='1' x='1'/>" % (one, one) for one in range(500))
    assert matches(engine, b"<a>" + many + b"</a>") == (0,)
    few = engine.statistics().remembered
    assert matches(engine, b"<a>" + many * 3 + b"</a>") == (0,)
    assert engine.statistics().remembered == few
    assert few < 500 * 2 + 100  # A reference for each name that was seen, and one path for all.


def test_what_is_remembered_is_forgotten_when_it_grows_over_its_bound() -> None:
    names = [f"n{one}" for one in range(100)]
    engine = engine_of(*(f"//{name}/@x" for name in names), remembered_max=1_000)
    content = b"<r>" + b"".join(b"<%s x=''/>" % name.encode() for name in names) + b"</r>"
    for _ in range(3):
        assert matches(engine, content) == tuple(range(100))
        assert 0 < engine.statistics().remembered <= 1_000


def test_a_change_forgets_what_is_remembered_and_a_double_does_not() -> None:
    engine = engine_of("//a", "//b")
    matches(engine, b"<a><b/></a>")
    remembered = engine.statistics().remembered
    engine.add(5, Pattern.parse("//a"))
    assert engine.statistics().remembered == remembered > 0
    engine.add(6, Pattern.parse("//c"))
    assert engine.statistics().remembered == 0
    assert matches(engine, b"<a><b/></a>") == (0, 1, 5)


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
