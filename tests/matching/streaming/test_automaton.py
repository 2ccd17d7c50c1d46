"""States are shared by patterns that begin alike, and go with the last of them."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from tests.matching.streaming.small_engines import engine_of
from tests.strategies import NAMESPACES, THOROUGH, ExpressionPair, subscriptions
from twigcast.language import Pattern
from twigcast.matching.streaming.engine import StreamingEngine


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
