"""The kernel finds of a dump what is found without it."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from random import Random
from typing import TypeVar

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from tests.records import (
    BYTES_MAX,
    context_at,
    dumps,
    is_read,
    opened,
    regular_dumps,
    scanned,
)
from twigcast.language.records import native
from twigcast.language.records.composition import range_effects
from twigcast.language.records.markup import Markup

pytestmark = pytest.mark.skipif(not native.AVAILABLE, reason="the kernel is not built")

SELECTORS = ("rec", "*:rec", "{urn:p}rec", "x/rec", "/*/*", "/r/rec", "//x//*:rec", "/*")
PIECES = (
    b"<rec>", b"</rec>", b"<rec/>", b"<p:rec>", b"</p:rec>", b"<:rec>", b"<p:q:rec>", b"<recs>",
    b"<rec a='1'", b"<rec a>", b"</rec a>", b"<rec xmlns='u'>", b"<!--", b"-->", b"<![CDATA[",
    b"]]>", b"<?", b"?>", b"<!", b"<", b"/", b">", b":rec", b"rec", b" ", b"'", b"\n", b"\xff",
)  # fmt: skip

_Found = TypeVar("_Found")


def without(find: Callable[[], _Found]) -> _Found:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(native, "AVAILABLE", False)
        return find()


def damaged(text: bytes, rng: Random) -> bytes:
    """A dump cut off, or with something in it that should not be there."""
    place = rng.randrange(opened(text, "rec").prolog.start, len(text))
    return text[:place] + rng.choice((b"", rng.choice(PIECES) + text[place + rng.randrange(5) :]))


@given(
    st.one_of(dumps(), regular_dumps()),
    st.sampled_from(SELECTORS),
    st.sampled_from((None, 1, 7, 40)),
    st.integers(0, 1 << 32),
)
def test_records_are_the_same(text: str, record: str, piece: int | None, seed: int) -> None:
    for data in (text.encode(), damaged(text.encode(), Random(seed))):
        cut = partial(
            scanned, data, record, piece=piece or 1 << 30, bytes_max=60 if seed % 2 else BYTES_MAX
        )
        assert cut() == without(cut)


@given(
    st.one_of(dumps(), regular_dumps()),
    st.sampled_from(SELECTORS),
    st.sampled_from((2, 6, 1 << 20)),
    st.data(),
)
def test_contexts_and_effects_are_the_same(
    text: str, record: str, behind: int, data: st.DataObject
) -> None:
    assume(is_read(text.encode()))
    dump = opened(text.encode(), record)
    places = [place for place in range(len(dump.text)) if dump.text.startswith(b"<", place)]

    def found(place: int) -> object:
        context = context_at(dump, place, behind=behind)
        return context, range_effects([dump.text[place:]], dump.writer.local)

    for place in data.draw(st.lists(st.sampled_from(places), max_size=10)):
        assert found(place) == without(partial(found, place))
    broken = [damaged(text.encode(), Random(len(places)))[dump.prolog.start :]]
    effects = partial(range_effects, broken, dump.writer.local)
    assert effects() == without(effects)


@given(
    st.lists(st.sampled_from(PIECES), max_size=20).map(b"".join),
    st.sampled_from((None, b"rec", b"r", "é".encode())),
    st.integers(0, 40),
    st.integers(0, 90),
)
def test_the_search_inside_records_is_the_same(
    text: bytes, local: bytes | None, start: int, end: int
) -> None:
    start, end = min(start, len(text)), min(end, len(text))
    search = Markup(local).search(text, start, end)
    plain = without(lambda: Markup(local).search(text, start, end))
    assert search(start) == plain(start)


@pytest.mark.parametrize(
    "text",
    [
        b"<r><rec/><!-- <--><rec/><![CDATA[<]]><rec/><?x <?><rec/></r>",
        b"<r xml:base='http://h.example/a/'><rec xml:base='b/'/><rec xml:base='b/'/></r>",
        b"<r xmlns='u' xml:lang='de'><rec xmlns=''/><rec xmlns=''/><rec/><rec/></r>",
        b"<r><rec a='xmlns'/><rec a='1'/><rec xmlns:p='u'>x</rec><rec xmlns:p='v'>x</rec></r>",
        b"<r><rec><rec/></rec><rec><p:rec></p:rec></rec><rec><rec></rec></r>",
        b"<r><rec/><rec/></r><rec/>",
        b"<r><rec/><x><rec/></x><rec/></r>",
    ],
)
def test_the_ends_of_rows_are_the_same(text: bytes) -> None:
    for record in ("rec", "*:rec", "/*/*"):
        dump = opened(text, record)
        cut = partial(scanned, text, record)
        assert cut() == without(cut)
        for place in range(len(text)):
            if text.startswith(b"<", place):
                at = partial(context_at, dump, place, behind=6)
                assert at() == without(at)


def test_most_records_of_a_regular_dump_are_taken_in_rows() -> None:
    taken: list[int] = []
    records_alike = native.records_alike

    def counted(*given: object, **named: object) -> tuple[list[int], int]:
        places, reached = records_alike(*given, **named)  # type: ignore[arg-type]
        taken.append(len(places) // 2)
        return places, reached

    text = b"<r>" + b"<rec no='1'>x</rec>\n<!-- x -->" * 1000 + b"</r>"
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(native, "records_alike", counted)
        assert len(scanned(text, "rec", piece=10_000)) == 1000
    assert sum(taken) >= 990
