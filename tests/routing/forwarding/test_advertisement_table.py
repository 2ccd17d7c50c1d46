"""What is passed on of advertisements depends on what came from elsewhere, and on nothing else."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import pytest
from hypothesis import given
from hypothesis import strategies as st

from twigcast.covering import Advertisement, advertisement_covers
from twigcast.covering.paths import automaton as path_automaton
from twigcast.covering.paths.automaton import most_special
from twigcast.language.condition.model import Label
from twigcast.routing.events import BrokerId, LinkId
from twigcast.routing.forwarding import advertisement_table
from twigcast.routing.forwarding.advertisement_table import (
    AdvertisementDifference,
    AdvertisementTable,
)

EAST, NORTH, WEST = LINKS = (BrokerId("east"), BrokerId("north"), BrokerId("west"))
_PATHS = ("/a", "/a/b", "/a(b)+", "/a/*", "/a/b/c", "/c", "/c/@x", "/*")
ADVERTISEMENTS = [Advertisement.of_expressions([path]) for path in _PATHS]
ADVERTISEMENTS += [
    Advertisement.of_expressions(["/a/b", "/c"]),
    Advertisement.of_expressions(["/*/b"]),
]


def advertisement(*expressions: str) -> Advertisement:
    return Advertisement.of_expressions(expressions)


def texts(advertisements: Iterable[Advertisement]) -> list[str]:
    return [one.text for one in advertisements]


def table_with(*links: LinkId) -> AdvertisementTable:
    table = AdvertisementTable()
    for link in links:
        table.add_link(link)
    return table


def uncovered(advertisements: Iterable[Advertisement]) -> list[str]:
    """By definition: classes that nothing outside covers, each by its least text.

    Reachability is worked out for all pairs at once, by squaring until nothing is added.
    """
    by_text = {one.text: one for one in advertisements}
    arrows = {
        (wide, narrow)
        for wide in by_text
        for narrow in by_text
        if advertisement_covers(wider=by_text[wide], narrower=by_text[narrow])
    }
    while True:
        further = {(a, d) for a, b in arrows for c, d in arrows if b == c} | arrows
        if further == arrows:
            break
        arrows = further
    found = set()
    for text in by_text:
        above = {wide for wide, narrow in arrows if narrow == text}
        if all((text, wide) in arrows for wide in above):
            found.add(min(above))
    return sorted(found)


_SOURCES = st.sampled_from([None, *LINKS])
_STEPS = st.one_of(
    st.tuples(st.just("put"), st.sampled_from(ADVERTISEMENTS), _SOURCES),
    st.tuples(st.just("take"), st.sampled_from(ADVERTISEMENTS), _SOURCES),
    st.tuples(st.just("remove"), st.none(), st.sampled_from(LINKS)),
    st.tuples(st.just("add"), st.none(), st.sampled_from(LINKS)),
    st.tuples(st.just("changes"), st.none(), st.none()),
)


class ModelledTable:
    """A table with a model beside it, and what neighbours believe after all changes."""

    def __init__(self) -> None:
        self.table = table_with(*LINKS)
        self.held: set[tuple[Advertisement, LinkId | None]] = set()
        self.believed: dict[LinkId, list[str]] = {link: [] for link in LINKS}

    def step(self, verb: str, one: Advertisement | None, source: LinkId | None) -> None:
        if verb == "put" and one is not None and (source is None or source in self.believed):
            self.table.add(one, source)
            self.held.add((one, source))
        elif verb == "take" and one is not None:
            self.table.remove(one, source)
            self.held.discard((one, source))
        elif verb == "remove" and source is not None:
            self.table.remove_link(source)
            self.held = {(one, by) for one, by in self.held if by != source}
            self.believed.pop(source, None)
        elif verb == "add" and source is not None and source not in self.believed:
            self.table.add_link(source)
            self.believed[source] = []
        elif verb == "changes":
            self.flush()

    def flush(self) -> None:
        changes = self.table.changes()
        assert list(changes) == sorted(changes)
        for link, (added, removed) in changes.items():
            assert added or removed
            for part in (texts(added), texts(removed)):
                assert part == sorted(part)
            assert set(texts(removed)) <= set(self.believed[link])
            assert set(texts(added)).isdisjoint(self.believed[link])
            left = set(self.believed[link]) - set(texts(removed))
            self.believed[link] = sorted(left | set(texts(added)))

    def elsewhere(self, link: LinkId) -> set[Advertisement]:
        return {one for one, source in self.held if source != link}


@given(st.lists(_STEPS, max_size=30))
def test_after_any_history_what_is_passed_on_is_as_defined(
    steps: list[tuple[str, Advertisement | None, LinkId | None]],
) -> None:
    modelled = ModelledTable()
    for step in steps:
        modelled.step(*step)
    modelled.flush()
    for link in modelled.believed:
        assert modelled.believed[link] == uncovered(modelled.elsewhere(link))
        assert texts(modelled.table.forwarded(link)) == modelled.believed[link]
    for source in (None, *LINKS):
        of_source = sorted(one.text for one, by in modelled.held if by == source)
        assert texts(modelled.table.from_link(source)) == of_source
    assert len(modelled.table) == len({one for one, _ in modelled.held})
    assert not modelled.table.changes()


@given(st.lists(_STEPS, max_size=30))
def test_any_history_ends_like_a_fresh_table(
    steps: list[tuple[str, Advertisement | None, LinkId | None]],
) -> None:
    modelled = ModelledTable()
    for step in steps:
        modelled.step(*step)
    fresh = table_with(*modelled.believed)
    for one, source in sorted(modelled.held, key=lambda held: (held[0].text, held[1] or "")):
        fresh.add(one, source)
    for link in modelled.believed:
        assert modelled.table.forwarded(link) == fresh.forwarded(link)


def test_a_covered_advertisement_is_held_back_until_its_cover_leaves() -> None:
    table = table_with(EAST)
    table.add(advertisement("/a/b"), None)
    assert table.changes() == {EAST: AdvertisementDifference(added=(advertisement("/a/b"),))}
    table.add(advertisement("/a(b)+"), WEST)
    assert table.changes() == {
        EAST: AdvertisementDifference(
            added=(advertisement("/a(b)+"),), removed=(advertisement("/a/b"),)
        )
    }
    table.remove(advertisement("/a(b)+"), WEST)
    assert table.changes() == {
        EAST: AdvertisementDifference(
            added=(advertisement("/a/b"),), removed=(advertisement("/a(b)+"),)
        )
    }


def test_nothing_goes_back_to_where_it_came_from() -> None:
    table = table_with(EAST, WEST)
    table.add(advertisement("/a"), WEST)
    assert table.forwarded(WEST) == ()
    assert table.forwarded(EAST) == (advertisement("/a"),)


def test_what_two_sources_said_stays_until_both_have_taken_it_back() -> None:
    table = table_with(EAST)
    table.add(advertisement("/a"), None)
    table.add(advertisement("/a"), WEST)
    table.remove(advertisement("/a"), None)
    assert table.forwarded(EAST) == (advertisement("/a"),)
    table.remove(advertisement("/a"), WEST)
    assert table.forwarded(EAST) == ()
    assert advertisement("/a") not in table


def test_a_lost_link_takes_its_advertisements_along_and_begins_anew() -> None:
    table = table_with(EAST, WEST)
    table.add(advertisement("/a"), WEST)
    table.add(advertisement("/c"), None)
    table.changes()
    table.remove_link(WEST)
    assert table.changes() == {EAST: AdvertisementDifference(removed=(advertisement("/a"),))}
    table.add_link(WEST)
    assert table.changes() == {WEST: AdvertisementDifference(added=(advertisement("/c"),))}


def test_to_take_back_what_was_never_said_changes_nothing() -> None:
    table = table_with(EAST)
    table.add(advertisement("/a"), None)
    table.changes()
    table.remove(advertisement("/a"), WEST)
    table.remove(advertisement("/b"), None)
    assert table.changes() == {}
    assert len(table) == 1


def test_a_circle_is_one_class_and_its_least_text_stands_for_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    # All have the same elements, so that each pair is asked about.
    one, two, three, below = (advertisement(f"/a/@x{number}") for number in range(4))
    arrows = {(one, two), (two, three), (three, one), (three, below)}
    monkeypatch.setattr(
        advertisement_table,
        "advertisement_covers",
        lambda *, wider, narrower, steps_max: (wider, narrower) in arrows and steps_max,
    )
    table = table_with(EAST)
    for each in (three, below, two, one):
        table.add(each, None)
    assert texts(table.forwarded(EAST)) == [min(texts((one, two, three)))]
    table.remove(one, None)
    # The circle is broken: two covers three, three covers what is below.
    assert table.forwarded(EAST) == (two,)


def test_the_least_text_stands_for_a_class_even_if_more_cover_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    least, *others = sorted(
        (advertisement(f"/a/@x{n}") for n in range(3)), key=lambda one: one.text
    )
    arrows = {(other, least) for other in others} | {(least, other) for other in others}
    monkeypatch.setattr(
        advertisement_table,
        "advertisement_covers",
        lambda *, wider, narrower, steps_max: (wider, narrower) in arrows and steps_max,
    )
    table = table_with(EAST)
    for each in (*others, least):
        table.add(each, None)
    assert table.forwarded(EAST) == (least,)


def test_one_that_left_and_came_back_is_there_to_stay(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(advertisement_table, "FORMER_ADVERTISEMENTS_MAX", 1)
    table = table_with(EAST)
    table.add(advertisement("/a"), None)
    table.remove(advertisement("/a"), None)
    table.add(advertisement("/a"), None)
    assert (len(table), advertisement("/a") in table) == (1, True)
    for other in ("/b", "/c"):
        table.add(advertisement(other), None)
        table.remove(advertisement(other), None)
    assert table.forwarded(EAST) == (advertisement("/a"),)


def test_those_that_left_are_remembered_up_to_a_bound(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(advertisement_table, "FORMER_ADVERTISEMENTS_MAX", 3)
    table = table_with(EAST)
    for number in range(10):
        one = advertisement(f"/a{number}")
        table.add(one, None)
        table.remove(one, None)
    assert (len(table), table.remembered) == (0, 3)
    assert table.changes() == {}


def test_a_pair_is_compared_once_though_a_link_comes_and_goes(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    asked = []

    def covers(*, wider: Advertisement, narrower: Advertisement, steps_max: int) -> bool:
        asked.append((wider, narrower))
        return advertisement_covers(wider=wider, narrower=narrower, steps_max=steps_max)

    monkeypatch.setattr(advertisement_table, "advertisement_covers", covers)
    table = table_with(EAST, WEST)
    for _ in range(3):
        for one in ADVERTISEMENTS:
            table.add(one, WEST)
        table.changes()
        table.remove_link(WEST)
        table.changes()
        table.add_link(WEST)
    assert asked
    assert len(asked) == len(set(asked))


def circle(length: int, *, attribute: str, once: str) -> Advertisement:
    """Elements ``a`` in a circle: all may have one attribute, if any, and the last another."""
    states = [f"{n}: {attribute} a={n % length + 1}" for n in range(1, length)]
    last = f"{attribute} {once}"
    return Advertisement.parse("\n".join(["0: a=1", *states, f"{length}: {last} a=1"]))


def test_circles_of_different_lengths_are_not_followed_for_ever(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    steps = 0

    def counting(table: Mapping[Label, int], label: Label) -> int | None:
        nonlocal steps
        steps += 1
        return most_special(table, label)

    wide = circle(997, attribute="@x", once="@y")
    narrow = circle(991, attribute="", once="@x")
    monkeypatch.setattr(path_automaton, "most_special", counting)
    table = table_with(EAST)
    table.add(wide, NORTH)
    table.add(narrow, NORTH)
    assert steps < 50_000  # the product is a million
    assert set(table.forwarded(EAST)) >= {wide}


def test_a_new_advertisement_is_compared_with_so_many_and_no_more(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(advertisement_table, "COMPARED_EDGES_MAX", 10)
    table = table_with(EAST)
    for expression in ("/a/b/@x", "/a/b/@y", "/a/b/@z", "/a/b"):
        table.add(advertisement(expression), NORTH)
    # Four edges a pair: the last is compared with two of the three that cover it.
    assert len(table.forwarded(EAST)) == 3
    monkeypatch.setattr(advertisement_table, "COMPARED_EDGES_MAX", 2)
    table.add(advertisement("/a"), NORTH)
    assert len(table.forwarded(EAST)) == 4
