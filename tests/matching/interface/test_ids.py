"""Ids are the caller's own: integers or texts, alike in everything a matcher does."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.engines import EVERY_ENGINE
from tests.strategies import NAMESPACES, ExpressionPair, documents, subscriptions
from twigcast.errors import PatternError, UsageError
from twigcast.matching import Matcher, stored

TRADES = b"<feed><trade id='7'><price>120</price></trade><note/></feed>"
LOWEST = -(1 << 63)


def in_order(ids: list[int | str]) -> list[int | str]:
    return sorted(ids, key=lambda one: (isinstance(one, str), one))


_any_id = st.one_of(
    st.integers(-3, 3), st.sampled_from([LOWEST, LOWEST + 1, (1 << 63) - 1]), st.text(max_size=2)
)


@pytest.mark.parametrize("engine", EVERY_ENGINE)
@given(st.dictionaries(_any_id, subscriptions(), min_size=1, max_size=6), documents(), st.data())
def test_answers_are_those_of_positions_under_the_callers_ids(
    engine: str, said: dict[int | str, ExpressionPair], content: bytes, data: st.DataObject
) -> None:
    plain, named = Matcher(engine=engine), Matcher(engine=engine)
    ids = list(said)
    for position, one in enumerate(ids):
        plain.add(position, said[one].text, NAMESPACES)
        named.add(one, said[one].text, NAMESPACES)
    gone = data.draw(st.sets(st.sampled_from(range(len(ids)))))
    for position in gone:
        plain.remove(position)
        named.remove(ids[position])
    skip = data.draw(st.sets(st.sampled_from(range(len(ids)))))
    expected = in_order([ids[position] for position in plain.match(content, skip)])
    skipped: set[int | str] = {ids[position] for position in skip}
    skipped |= {"nobody", 99}
    assert named.match(content, skipped) == expected
    assert list(named.decide(content, skipped).matches) == expected
    groups = {one: [one, "nobody"] for one in ids}
    assert in_order(named.match_links(content, groups, skipped)) == expected
    assert in_order(named.match_links(content, named.groups(groups), skipped)) == expected
    again = Matcher.from_buffer(named.to_bytes(), engine=engine)
    assert again.match(content, skipped) == expected
    assert again.to_bytes() == named.to_bytes()
    for position, one in enumerate(ids):
        assert (one in named) == (one in again) == (position not in gone)


@pytest.mark.parametrize("engine", EVERY_ENGINE)
def test_integers_come_first_then_texts_in_text_order(engine: str) -> None:
    ids: list[int | str] = ["b", 10, "a", 2, "10", LOWEST, "ä", -1]
    matcher = Matcher(dict.fromkeys(ids, "//price"), engine=engine)
    assert matcher.match(TRADES) == [LOWEST, -1, 2, 10, "10", "a", "b", "ä"]


@pytest.mark.parametrize("engine", EVERY_ENGINE)
def test_undecided_texts_are_told_apart(engine: str) -> None:
    matcher = Matcher(
        {"wide": "//a[count(following::a/namespace::*) > 3]", "sure": "//a", 3: "//b"},
        engine=engine,
        residual_cost_max=10_000,
    )
    wide = b"<r>" + b"<a/>" * 300 + b"</r>"
    decision = matcher.decide(wide)
    assert (decision.matches, decision.undecided) == (("sure",), ("wide",))
    assert matcher.match_links(wide, {"x": ["wide"], "y": ["sure"], "z": [3]}) == ["x", "y"]


@pytest.mark.parametrize("engine", EVERY_ENGINE)
def test_batches_have_integers_until_an_id_is_a_text(engine: str) -> None:
    content: pa.Array[Any] = pa.array([TRADES, b"<broken>", None, b"<!DOCTYPE note []><note/>"])
    matcher = Matcher({2: "//price", 10: "//note", LOWEST: "//feed"}, engine=engine)
    rows = matcher.match_batch(content, skip=["nobody"])
    assert rows.schema.field("matches").type == pa.list_(pa.int64())
    assert rows.schema.field("undecided").type == pa.list_(pa.int64())
    assert rows.column("matches").to_pylist() == [[LOWEST, 2, 10], None, None, [10]]
    matcher.add("a", "//trade[last() = 1]")
    rows = matcher.match_batch(content)
    assert rows.schema.field("matches").type == pa.list_(pa.string())
    assert rows.schema.field("undecided").type == pa.list_(pa.string())
    assert rows.column("matches").to_pylist() == [[str(LOWEST), "2", "10", "a"], None, None, ["10"]]
    assert [error is None for error in rows.column("error").to_pylist()] == [
        True,
        False,
        False,
        True,
    ]
    assert rows.column("undecided").to_pylist() == [[], None, None, []]
    assert matcher.match_batch(content, skip=["a", 10]).column("matches").to_pylist()[0] == [
        str(LOWEST),
        "2",
    ]
    matcher.remove("a")
    rows = matcher.match_batch(content)
    assert rows.schema.field("matches").type == pa.list_(pa.int64())


def test_following_tells_texts() -> None:
    matcher = Matcher({"price": "//price", 1: "//note", "more": "//trade[2]"}, engine="streaming")
    matcher.watch("seen", "//trade")
    matcher.watch(2, "//nobody")
    matcher.watch("never", "//nothing")
    account = matcher.follow(TRADES, [["price"], [1, "more"], ["more"]], {0: ["x", 5]})
    assert list(account.decided) == [1, "price"]
    assert [moment is None for moment in account.links] == [False, False, True]
    assert list(account.last) == ["seen"]
    assert account.never == (2, "never")
    assert list(matcher.follow(TRADES, (), {0: ["price"]}).decided) == [1]
    matcher.unwatch("seen")
    with pytest.raises(UsageError, match="no path with id 'seen'"):
        matcher.unwatch("seen")
    with pytest.raises(UsageError, match="id 'never' is taken"):
        matcher.watch("never", "//a")
    with pytest.raises(UsageError, match="an id is an integer or a text, not True"):
        matcher.watch(True, "//a")  # noqa: FBT003


@pytest.mark.parametrize("engine", EVERY_ENGINE)
def test_bindings_are_told_by_text(engine: str) -> None:
    matcher = Matcher({"star": "/*/note"}, engine=engine)
    ((binding,),) = matcher.bindings(TRADES, ["star"]).values()
    assert binding.path == ("feed",)
    with pytest.raises(UsageError, match="no subscription with id 'nobody'"):
        matcher.bindings(TRADES, ["nobody"])


@pytest.mark.parametrize(
    "given", [True, False, 1.0, None, b"a", ["a"], ("a",), 1 << 63, LOWEST - 1]
)
def test_what_is_no_id_is_refused(given: object) -> None:
    matcher = Matcher({1: "//a", 0: "//a"})
    with pytest.raises(UsageError, match=r"an id is an integer or a text|64 bits"):
        matcher.add(given, "//a")  # type: ignore[arg-type]
    with pytest.raises(UsageError, match="no subscription with id"):
        matcher.remove(given)  # type: ignore[arg-type]
    assert given not in matcher


def test_a_text_that_no_file_can_hold_is_refused() -> None:
    with pytest.raises(UsageError, match="Unicode"):
        Matcher().add("\ud800", "//a")


def test_a_text_can_be_used_once_at_a_time() -> None:
    matcher = Matcher({"a": "//price"})
    with pytest.raises(UsageError, match="id 'a' is taken by //price; remove it first"):
        matcher.add("a", "//note")
    with pytest.raises(PatternError):
        matcher.add("b", "//note[")
    assert "b" not in matcher
    matcher.remove("a")
    assert (matcher.match(TRADES), len(matcher)) == ([], 0)
    with pytest.raises(UsageError, match="no subscription with id 'a', so nothing to remove"):
        matcher.remove("a")
    matcher.add("a", "//note")
    assert matcher.match(TRADES) == ["a"]


@pytest.mark.parametrize("engine", EVERY_ENGINE)
def test_threads_see_texts_only_while_others_add_and_remove(engine: str) -> None:
    matcher = Matcher({0: "//price"}, engine=engine)

    def churn() -> None:
        for number in range(1, 200):
            matcher.add(f"n{number}", f"//trade[@id='{number}']")
        for number in range(1, 200):
            matcher.remove(f"n{number}")

    def read() -> set[int | str]:
        return {one for _ in range(150) for one in matcher.match(TRADES)}

    with ThreadPoolExecutor(3) as pool:
        churning = pool.submit(churn)
        seen = [pool.submit(read) for _ in range(2)]
        churning.result()
        for future in seen:
            assert future.result() <= {0, "n7"}
    assert matcher.match(TRADES) == [0]


def test_engine_is_given_by_name_only() -> None:
    with pytest.raises(TypeError):
        Matcher([], "lxml")  # type: ignore[call-arg]
    with pytest.raises(TypeError):
        Matcher.from_buffer(Matcher().to_bytes(), "lxml")  # type: ignore[call-arg]


@pytest.mark.parametrize("engine", EVERY_ENGINE)
def test_stored_texts_that_are_damaged_are_refused(engine: str) -> None:
    whole = Matcher({"a": "//a", 1: "//b[last() = 1]", "ü": "//c"}, engine=engine).to_bytes()
    assert len(Matcher.from_buffer(memoryview(whole), engine=engine)) == 3
    for end in range(0, len(whole), 7):
        with pytest.raises(UsageError):
            Matcher.from_buffer(whole[:end], engine=engine)
    for place in range(min(len(whole), 200)):
        damaged = bytearray(whole)
        damaged[place] ^= 0x20
        with suppress(UsageError):
            Matcher.from_buffer(bytes(damaged), engine=engine)


@pytest.mark.parametrize("engine", EVERY_ENGINE)
def test_ids_to_skip_may_come_from_an_iterator(engine: str) -> None:
    matcher = Matcher({"a": "//x", 1: "//x", 2: "//x"}, engine=engine)
    assert matcher.match("<x/>", skip=iter(["a", 1])) == [2]  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "ids",
    [[(5, "a")], [(-(1 << 63), 5)], [(-(1 << 63), "a"), (1 - (1 << 63), "a")]],
    ids=["an id as a code", "an id that needs none", "two codes for one id"],
)
def test_stored_ids_that_no_matcher_wrote_are_refused(ids: list[tuple[int, Any]]) -> None:
    content = stored.with_ids(ids, Matcher(engine="streaming").to_bytes())
    with pytest.raises(UsageError, match="stored subscriptions are damaged"):
        Matcher.from_buffer(content, engine="streaming")
