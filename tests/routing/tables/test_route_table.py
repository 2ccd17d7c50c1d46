"""Routes and local subscriptions: what they say of a document, now and as they were."""

from __future__ import annotations

from random import Random

import pytest

from tests.engines import EVERY_ENGINE
from twigcast.errors import DocumentError
from twigcast.language import Pattern
from twigcast.routing.events import BrokerId, LinkId, SubscriptionId
from twigcast.routing.tables.route_table import LocalAnswer, RouteTable, Snapshot

EAST, WEST = BrokerId("east"), BrokerId("west")
A, B, C = (Pattern.parse(f"//{name}") for name in "abc")
RUNAWAY = Pattern.parse("//*[count(preceding::*/namespace::*) > 9]")
WIDE = b"<r>" + b"<t/>" * 4_000 + b"</r>"


def subscription(number: int) -> SubscriptionId:
    return SubscriptionId(number)


def table(engine: str = "auto") -> RouteTable:
    """//a leads east, //b leads east and west; one subscription asks for //a, two for //b."""
    made = RouteTable(engine)
    for link in (WEST, EAST):
        made.add_link(link)
    for pattern, link in ((A, EAST), (B, EAST), (B, WEST)):
        made.add(pattern, link)
    for number, pattern in ((1, A), (2, B), (3, B)):
        made.subscribe(subscription(number), pattern)
    return made


def links(made: RouteTable, content: bytes, came_by: LinkId | None = None) -> tuple[str, ...]:
    snapshot = made.snapshot()
    found = made.links_for(content, snapshot, came_by)
    made.close(snapshot)
    return found


def matches(made: RouteTable, content: bytes, snapshot: Snapshot) -> tuple[int, ...]:
    return made.locals_for(content, snapshot).matches


# What there is.


@pytest.mark.parametrize("engine", EVERY_ENGINE)
def test_a_document_goes_to_the_links_with_a_route_and_never_back(engine: str) -> None:
    made = table(engine)
    assert links(made, b"<a/>") == (EAST,)
    assert links(made, b"<b/>") == (EAST, WEST)
    assert links(made, b"<b/>", came_by=EAST) == (WEST,)
    assert links(made, b"<a/>", came_by=EAST) == ()
    assert links(made, b"<c/>") == ()


@pytest.mark.parametrize("engine", EVERY_ENGINE)
def test_local_subscriptions_answer_in_the_order_they_came(engine: str) -> None:
    made = table(engine)
    made.subscribe(subscription(0), A)
    snapshot = made.snapshot()
    assert matches(made, b"<a><b/></a>", snapshot) == (1, 2, 3, 0)
    assert matches(made, b"<c/>", snapshot) == ()


def test_a_pattern_counts_once_however_many_links_it_leads_to() -> None:
    made = table()
    assert (made.sizes(), made.distinct) == ({WEST: 1, EAST: 2}, 2)
    assert list(made.routes(EAST)) == [A, B]
    made.remove(B, EAST)
    assert (made.sizes(), made.distinct) == ({WEST: 1, EAST: 1}, 2)
    made.remove(B, WEST)
    assert (made.sizes(), made.distinct) == ({WEST: 0, EAST: 1}, 1)


def test_a_link_goes_with_its_routes_alone() -> None:
    made = table()
    made.remove_link(EAST)
    assert made.sizes() == {WEST: 1}
    assert links(made, b"<a><b/></a>") == (WEST,)
    made.add_link(EAST)
    assert links(made, b"<a><b/></a>") == (WEST,)


def test_a_route_that_is_too_costly_to_decide_counts_as_satisfied() -> None:
    made = table()
    made.add(RUNAWAY, WEST)
    made.subscribe(subscription(4), RUNAWAY)
    assert links(made, WIDE) == (WEST,)
    assert made.locals_for(WIDE, made.snapshot()) == LocalAnswer((), (subscription(4),))


@pytest.mark.parametrize("engine", EVERY_ENGINE)
def test_a_document_that_cannot_be_read_is_an_error(engine: str) -> None:
    made = table(engine)
    snapshot = made.snapshot()
    with pytest.raises(DocumentError):
        made.links_for(b"<a>", snapshot, None)
    with pytest.raises(DocumentError):
        made.locals_for(b"<a>", snapshot)


# As it was.


@pytest.mark.parametrize("engine", EVERY_ENGINE)
def test_a_snapshot_answers_by_the_tables_as_they_were(engine: str) -> None:
    made = table(engine)
    before = made.snapshot()
    made.remove(A, EAST)
    made.add(C, WEST)
    made.unsubscribe(subscription(1))
    made.subscribe(subscription(4), C)
    after = made.snapshot()
    content = b"<r><a/><c/></r>"
    assert made.links_for(content, before, None) == (EAST,)
    assert made.links_for(content, after, None) == (WEST,)
    assert matches(made, content, before) == (1,)
    assert matches(made, content, after) == (4,)


def test_a_link_that_has_gone_is_still_in_a_snapshot() -> None:
    made = table()
    before = made.snapshot()
    made.remove_link(EAST)
    assert before.links == (EAST, WEST)
    assert made.links_for(b"<a/>", before, None) == (EAST,)
    assert made.snapshot().links == (WEST,)


def test_an_id_that_is_used_again_means_another_subscription() -> None:
    made = table()
    before = made.snapshot()
    made.unsubscribe(subscription(1))
    made.subscribe(subscription(1), C)
    after = made.snapshot()
    assert [matches(made, b"<a/>", each) for each in (before, after)] == [(1,), ()]
    assert [matches(made, b"<c/>", each) for each in (before, after)] == [(), (1,)]


def test_a_route_that_goes_and_comes_back_is_in_both_snapshots() -> None:
    made = table()
    before = made.snapshot()
    made.remove(A, EAST)
    made.add(A, EAST)
    after = made.snapshot()
    assert [made.links_for(b"<a/>", each, None) for each in (before, after)] == [(EAST,)] * 2


def test_a_snapshot_is_shared_until_something_changes() -> None:
    made = table()
    one, same = made.snapshot(), made.snapshot()
    assert one is same
    made.add(C, WEST)
    assert made.snapshot().version > one.version


# What is kept.


def test_what_has_left_is_kept_while_a_document_is_open_and_no_longer() -> None:
    made = table()
    first, second = made.snapshot(), made.snapshot()
    made.remove(A, EAST)
    made.unsubscribe(subscription(1))
    assert made.kept_for_snapshots == 2
    made.close(first)
    assert made.kept_for_snapshots == 2
    made.close(second)
    assert made.kept_for_snapshots == 0


def test_an_older_document_keeps_what_a_newer_one_does_not_need() -> None:
    made = table()
    older = made.snapshot()
    made.unsubscribe(subscription(1))
    newer = made.snapshot()
    made.unsubscribe(subscription(2))
    made.close(newer)
    assert made.kept_for_snapshots == 2
    made.close(older)
    assert made.kept_for_snapshots == 0


def test_a_newer_document_does_not_keep_what_had_left_before() -> None:
    made = table()
    older = made.snapshot()
    made.unsubscribe(subscription(1))
    newer = made.snapshot()
    made.unsubscribe(subscription(2))
    made.close(older)
    assert made.kept_for_snapshots == 1
    assert matches(made, b"<b/>", newer) == (2, 3)


def test_without_open_documents_nothing_is_kept() -> None:
    made = table()
    made.remove(B, WEST)
    made.unsubscribe(subscription(3))
    made.remove_link(EAST)
    assert made.kept_for_snapshots == 0
    assert len(made.route_matcher) == 0


@pytest.mark.parametrize("seed", range(20))
def test_open_documents_see_their_own_time_whatever_happens(seed: int) -> None:
    """Random changes, with documents opened and closed in any order, against plain copies."""
    rng = Random(seed)
    made = RouteTable("lxml")
    made.add_link(EAST)
    patterns = {name: Pattern.parse(f"//{name}") for name in "abcdef"}
    routes: set[str] = set()
    asked: dict[int, str] = {}
    opened: list[tuple[Snapshot, set[str], dict[int, str]]] = []
    for number in range(60):
        name = rng.choice("abcdef")
        if name in routes:
            made.remove(patterns[name], EAST)
        else:
            made.add(patterns[name], EAST)
        routes ^= {name}
        made.subscribe(subscription(number), patterns[name])
        asked[number] = name
        if rng.random() < 0.5:
            gone = rng.choice(list(asked))
            made.unsubscribe(subscription(gone))
            del asked[gone]
        if rng.random() < 0.5:
            opened.append((made.snapshot(), set(routes), dict(asked)))
        for snapshot, were, had in rng.sample(opened, min(2, len(opened))):
            seen = rng.choice("abcdef")
            content = f"<{seen}/>".encode()
            assert made.links_for(content, snapshot, None) == ((EAST,) if seen in were else ())
            wanted = tuple(each for each, name in had.items() if name == seen)
            assert matches(made, content, snapshot) == wanted
        if opened and rng.random() < 0.4:
            made.close(opened.pop(rng.randrange(len(opened)))[0])
    for snapshot, _, _ in opened:
        made.close(snapshot)
    assert made.kept_for_snapshots == 0
    assert len(made.route_matcher) == len(routes)
