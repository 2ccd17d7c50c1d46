"""The matcher: ids in, ids out, whatever comes between."""

from __future__ import annotations

import pickle
from concurrent.futures import ThreadPoolExecutor

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.engines import EVERY_ENGINE
from tests.oracle import oracle
from tests.strategies import (
    NAMESPACES,
    THOROUGH,
    ExpressionPair,
    documents,
    subscriptions,
    tangles,
    thickets,
)
from twigcast.errors import DocumentError, PatternError, UsageError
from twigcast.language import Document, DocumentLimits, Pattern
from twigcast.language.pattern import CANONICAL_LIMITS, PatternLimits
from twigcast.language.xpath.parser import parse_expression
from twigcast.language.xpath.syntax import Type, type_of
from twigcast.matching import Matcher
from twigcast.matching.engines.native import AVAILABLE

TRADES = b"<feed><trade id='7'><price>120</price></trade><note/></feed>"


def matcher_of(*xpaths: str, engine: str = "auto") -> Matcher:
    matcher = Matcher(engine=engine)
    for number, xpath in enumerate(xpaths):
        matcher.add(number, xpath)
    return matcher


@pytest.mark.parametrize("engine", EVERY_ENGINE)
@THOROUGH
@given(st.lists(subscriptions(), min_size=1, max_size=6), documents(), st.data())
def test_matching_is_what_the_oracle_says_under_adds_and_removes(
    engine: str, said: list[ExpressionPair], content: bytes, data: st.DataObject
) -> None:
    matcher = Matcher(engine=engine)
    for number, one in enumerate(said):
        matcher.add(number, one.text, NAMESPACES)
    gone = data.draw(st.sets(st.sampled_from(range(len(said)))))
    for number in gone:
        matcher.remove(number)
    expected = [
        number
        for number, one in enumerate(said)
        if number not in gone and oracle(one.oracle, content, NAMESPACES)
    ]
    assert matcher.match(content) == expected


@pytest.mark.parametrize("engine", EVERY_ENGINE)
@given(subscriptions(), documents())
def test_parentheses_around_a_path_change_nothing(
    engine: str, said: ExpressionPair, content: bytes
) -> None:
    matcher = Matcher(engine=engine)
    matcher.add(0, said.text, NAMESPACES)
    matcher.add(1, f"({said.text})", NAMESPACES)
    numbers = [0, 1]
    if type_of(parse_expression(said.text, NAMESPACES, CANONICAL_LIMITS)) is Type.NODES:
        matcher.add(2, f"({said.text})[true()]", NAMESPACES)
        matcher.add(3, f"(({said.text})/self::node())[1]", NAMESPACES)
        numbers += [2, 3]
    matches = oracle(said.oracle, content, NAMESPACES)
    assert matcher.match(content) == (numbers if matches else [])


@pytest.mark.parametrize("engine", EVERY_ENGINE)
@THOROUGH
@given(st.lists(tangles(), min_size=1, max_size=8), thickets())
def test_twigs_that_begin_alike_are_joined_each_at_its_own_elements(
    engine: str, said: list[ExpressionPair], content: bytes
) -> None:
    matcher = matcher_of(*(one.text for one in said), engine=engine)
    expected = [number for number, one in enumerate(said) if oracle(one.oracle, content, {})]
    assert matcher.match(content) == expected


@given(st.lists(subscriptions(), min_size=1, max_size=4), documents())
def test_stored_subscriptions_match_the_same(said: list[ExpressionPair], content: bytes) -> None:
    matcher = Matcher()
    for number, one in enumerate(said):
        matcher.add(10 * number, one.text, NAMESPACES)
    again = Matcher.from_buffer(memoryview(matcher.to_bytes()))
    assert again.match(content) == matcher.match(content)
    assert again.to_bytes() == matcher.to_bytes()


@pytest.mark.parametrize("engine", EVERY_ENGINE)
def test_stored_subscriptions_take_limits_as_a_new_matcher_does(engine: str) -> None:
    stored = matcher_of("//trade", "//trade[last() = 1]", engine=engine).to_bytes()
    usual = Matcher.from_buffer(stored, engine=engine)
    assert usual.match(TRADES) == [0, 1]
    small = Matcher.from_buffer(stored, engine=engine, limits=DocumentLimits(elements_max=3))
    with pytest.raises(DocumentError, match="elements"):
        small.match(TRADES)
    assert small.statistics().refused == 1
    short = Matcher.from_buffer(stored, engine=engine, pattern_limits=PatternLimits(steps_max=1))
    with pytest.raises(PatternError):
        short.add(2, "/feed/trade")
    idle = Matcher.from_buffer(stored, engine=engine, residual_cost_max=1)
    assert idle.decide(TRADES).undecided == (1,)


@pytest.mark.parametrize("engine", EVERY_ENGINE)
@given(st.lists(subscriptions(), min_size=1, max_size=6), documents(), st.data())
def test_links_and_skips_follow_from_the_matches(
    engine: str, said: list[ExpressionPair], content: bytes, data: st.DataObject
) -> None:
    matcher = Matcher(engine=engine)
    for number, one in enumerate(said):
        matcher.add(number, one.text, NAMESPACES)
    ids = st.sets(st.sampled_from(range(len(said))))
    groups = dict(enumerate(data.draw(st.lists(ids, max_size=4))))
    skip = data.draw(ids)
    matches = set(matcher.match(content)) - skip
    assert matcher.match(content, skip=skip) == sorted(matches)
    linked = [key for key, members in groups.items() if members & matches]
    assert matcher.match_links(content, groups, skip=skip) == linked


def test_a_document_may_be_given_parsed() -> None:
    matcher = matcher_of("//price", "//cost")
    assert matcher.match(Document.parse(TRADES)) == [0]


@pytest.mark.parametrize("engine", EVERY_ENGINE)
def test_subscriptions_with_one_meaning_share_a_pattern_and_keep_their_ids(engine: str) -> None:
    same = ("//trade[price][@id]", "trade[@id and price]", "//trade[@id]/price")
    matcher = matcher_of(*same, engine=engine)
    assert matcher.match(TRADES) == [0, 1, 2]
    assert matcher.statistics().details.patterns == 1
    matcher.remove(1)
    assert matcher.match(TRADES) == [0, 2]


@pytest.mark.parametrize("engine", EVERY_ENGINE)
def test_removing_everything_leaves_nothing_behind(engine: str) -> None:
    matcher = matcher_of("//price", "//trade[2]", "//*", engine=engine)
    matcher.match(TRADES)
    for number in range(3):
        matcher.remove(number)
    details = matcher.statistics().details
    assert (len(matcher), details.patterns, details.residual, details.compiled) == (0, 0, 0, 0)
    assert matcher.match(TRADES) == []


def test_an_id_can_be_used_once_at_a_time() -> None:
    matcher = matcher_of("//price")
    with pytest.raises(UsageError, match="id 0 is taken by //price"):
        matcher.add(0, "//note")
    with pytest.raises(UsageError, match="no subscription with id 5"):
        matcher.remove(5)
    matcher.remove(0)
    matcher.add(0, "//note")
    assert matcher.match(TRADES) == [0]
    assert 0 in matcher


def test_a_bad_expression_changes_nothing() -> None:
    matcher = matcher_of("//price")
    with pytest.raises(PatternError):
        matcher.add(1, "//price[")
    assert len(matcher) == 1
    assert 1 not in matcher


def test_an_unknown_engine_is_refused() -> None:
    with pytest.raises(UsageError, match="no engine 'fast'; choose one of auto, "):
        Matcher(engine="fast")


def test_documents_are_held_to_the_matchers_limits() -> None:
    matcher = Matcher(limits=DocumentLimits(bytes_max=10))
    with pytest.raises(DocumentError, match="bytes_max"):
        matcher.match(TRADES)
    assert matcher.statistics().refused == 1


@pytest.mark.parametrize("engine", EVERY_ENGINE)
def test_a_residual_over_its_bound_is_undecided_and_links_count_it_as_a_match(engine: str) -> None:
    matcher = Matcher(engine=engine, residual_cost_max=10_000)
    matcher.add(1, "//a[count(following::a/namespace::*) > 3]")
    matcher.add(2, "//a")
    matcher.add(3, "//b[count(following::b) > 3]")
    wide = b"<r>" + b"<a/>" * 300 + b"</r>"
    decision = matcher.decide(wide)
    assert (decision.matches, decision.undecided) == ((2,), (1,))
    assert matcher.match(wide) == [2]
    groups = {"doubt": [1], "sure": [1, 2], "none": [3]}
    assert matcher.match_links(wide, groups) == ["doubt", "sure"]
    assert matcher.decide(wide, skip=[1]).undecided == ()
    assert matcher.statistics().undecided == 3


@pytest.mark.parametrize("engine", EVERY_ENGINE)
def test_an_exact_pattern_is_decided_however_costly_it_would_be_for_libxml2(engine: str) -> None:
    costly = ("//a[contains(.//a//a, 'x')]", "//a//a//a[contains(.//a//a, 'y')]")
    matcher = matcher_of(*costly, engine=engine)
    deep = b"<a>" * 150 + b"<a><d/></a>" * 2_000 + b"</a>" * 150
    assert matcher.match(deep) == []
    assert matcher.match(deep.replace(b"<d/>", b"x", 1)) == [0]
    assert matcher.match(deep.replace(b"<d/>", b"y", 1)) == [1]
    # With the kernel only the engine lxml would have asked libxml2.
    asked = {"native": 0, "streaming": 0 if AVAILABLE else 6, "lxml": 6}
    assert matcher.statistics().details.walked == asked[engine]


def test_a_batch_has_a_row_for_every_document_whatever_happens_to_one() -> None:
    matcher = matcher_of("//price", "//note")
    documents = pa.array([TRADES, b"<broken>", None, b"<note/>"], pa.binary())
    rows = matcher.match_batch(documents)
    assert rows.schema.names == ["matches", "error", "undecided"]
    assert rows.column("matches").to_pylist() == [[0, 1], None, None, [1]]
    errors = rows.column("error").to_pylist()
    assert [error is None for error in errors] == [True, False, False, True]
    assert "line 1" in str(errors[1])
    assert rows.column("undecided").to_pylist() == [[], None, None, []]


def test_a_batch_may_be_of_strings() -> None:
    rows = matcher_of("//é").match_batch(pa.array(["<é/>", "<e/>"]))
    assert rows.column("matches").to_pylist() == [[0], []]


def test_a_batch_of_none_is_empty() -> None:
    rows = matcher_of("//a").match_batch(pa.array([], pa.binary()))
    assert rows.num_rows == 0


@pytest.mark.parametrize("content", [b"", b"something else", b"twigcast subscriptions 1\n[[1,2"])
def test_bytes_of_another_kind_are_not_taken_for_subscriptions(content: bytes) -> None:
    with pytest.raises(UsageError):
        Matcher.from_buffer(content)


@pytest.mark.parametrize("engine", EVERY_ENGINE)
def test_threads_may_match_while_another_adds_and_removes(engine: str) -> None:
    matcher = matcher_of("//price", engine=engine)

    def churn() -> None:
        for number in range(1, 300):
            matcher.add(number, f"//trade[@id='{number}']")
        for number in range(1, 300):
            matcher.remove(number)

    def read() -> set[int]:
        return {number for _ in range(200) for number in matcher.match(TRADES)}

    with ThreadPoolExecutor(3) as pool:
        churning = pool.submit(churn)
        seen = [pool.submit(read) for _ in range(2)]
        churning.result()
        for future in seen:
            assert future.result() <= {0, 7}
    assert matcher.match(TRADES) == [0]


def test_a_pattern_survives_pickling_as_itself() -> None:
    pattern = Pattern.parse("//a[b = 'x' or not(c[2])]/@d")
    assert pickle.loads(pickle.dumps(pattern)) is pattern
