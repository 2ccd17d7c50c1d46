"""Effects of ranges, composed, are what somebody finds who reads from the beginning."""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise
from pathlib import Path
from random import Random

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from tests.records import Dump, context_at, dumps, is_read, opened, parsed
from twigcast.language.records.composition import context_behind, range_effects
from twigcast.language.records.context import DumpContext
from twigcast.language.records.lexer import Lexical

SELECTORS = ("rec", "*:rec", "{urn:p}rec", "x/rec", "/*/*", "/r/rec", "//x//*:rec")


def is_cut(dump: Dump, place: int) -> bool:
    """Whether a range may begin at a place: at a tag, or far behind the last."""
    if dump.text[place : place + 1] == b"<":
        return True
    is_far = b"<" not in dump.text[max(0, place - 16) : place]
    return is_far and context_at(dump, place) is not None


def some_cut(dump: Dump, rng: Random) -> int:
    place = dump.text.rfind(b"<", 0, rng.randrange(len(dump.text)) + 1)
    return max(0, place)


def behind(dump: Dump, start: int, end: int) -> DumpContext | None:
    context = context_at(dump, start)
    assert context is not None
    effects = range_effects(
        [dump.text[start:end]], dump.writer.local, behind=dump.text[end : end + 2], offset=start
    )
    return context_behind(context, effects, dump.writer)


@given(dumps(), st.sampled_from(SELECTORS), st.data())
def test_the_effect_of_a_range_leads_to_the_context_behind_it(
    text: str, record: str, data: st.DataObject
) -> None:
    assume(is_read(text.encode()))
    dump = opened(text.encode(), record)
    places = [place for place in range(len(dump.text) + 1) if is_cut(dump, place)]
    for start in places:
        end = data.draw(st.sampled_from([place for place in places if place >= start]))
        assert behind(dump, start, end) in {None, context_at(dump, end)}


@given(dumps(), st.sampled_from(SELECTORS), st.integers(1, 60))
def test_the_size_of_pieces_changes_nothing(text: str, record: str, size: int) -> None:
    assume(is_read(text.encode()))
    dump = opened(text.encode(), record)
    start = dump.text.find(b"<", len(dump.text) // 3)
    data = dump.text[max(0, start) :]
    whole = range_effects([data], dump.writer.local)
    pieces = (data[start : start + size] for start in range(0, len(data), size))
    in_blocks = range_effects(pieces, dump.writer.local)
    for state in Lexical:
        if whole[state].is_known or in_blocks[state].is_known:
            assert whole[state] == in_blocks[state]


@given(dumps(), st.sampled_from(SELECTORS), st.lists(st.integers(0, 400), max_size=5))
def test_composing_effects_is_associative(text: str, record: str, cuts: list[int]) -> None:
    assume(is_read(text.encode()))
    dump = opened(text.encode(), record)
    found = {dump.text.find(b"<", cut) for cut in cuts} - {-1}
    places = [0, *sorted(found), len(dump.text)]
    parts = [
        range_effects(
            [dump.text[start:end]],
            dump.writer.local,
            behind=dump.text[end : end + 2],
            offset=start,
        )
        for start, end in pairwise(places)
    ]
    for state in Lexical:
        chain = [parts[0][state]]
        for part in parts[1:]:
            chain.append(part[chain[-1].lexical])
        left = chain[0]
        for effect in chain[1:]:
            left = left.then(effect)
        right = chain[-1]
        for effect in reversed(chain[:-1]):
            right = effect.then(right)
        if left.is_known or right.is_known:
            assert left == right


REGULAR = (
    b"<?xml version='1.0'?><feed xmlns='urn:f' xml:lang='en'>"
    + b"".join(
        b"<entry id='%d' xml:base='%d/'><a>x &gt; y</a><![CDATA[ </entry> ]]><b c='>'/>"
        b"<!-- <entry> --><entry/></entry>\n <!-- %d -->" % (number, number, number)
        for number in range(200)
    )
    + b"</feed>"
)


@pytest.mark.parametrize("record", ["{urn:f}entry", "*:entry", "/*/*", "/*:feed/*:entry"])
def test_ranges_inside_a_regular_dump_are_always_known(record: str) -> None:
    dump, rng = opened(REGULAR, record), Random(7)
    first, last = dump.text.index(b"<entry"), dump.text.index(b"</feed")
    places = [place for place in range(first, last) if dump.text[place] == ord("<")]
    for _ in range(300):
        start, end = sorted(rng.sample(places, 2))
        found = behind(dump, start, end)
        assert found == context_at(dump, end)
        assert found is not None


def test_elements_of_the_name_that_are_no_records_are_left_to_a_scanner() -> None:
    dump = opened(b"<r xmlns:p='urn:p'><p:rec/><q><rec/></q><rec/></r>", "rec")
    end = dump.text.index(b"<rec/></r>")
    start = dump.text.index(b"<p:rec")
    assert behind(dump, start, end) is None
    start = dump.text.index(b"<q>")
    assert behind(dump, start, end) == context_at(dump, end)


def test_damage_is_left_to_a_scanner() -> None:
    for damaged in (
        b"<r><x></y><rec/><x/></r>",
        b"<r><rec></p:rec><x/></r>",
        b"<r><x a></x><x/></r>",
    ):
        dump = opened(damaged, "rec")
        start, end = 3, damaged.index(b"<x/>")
        assert behind(dump, start, end) is None


def test_more_kinds_than_are_kept_are_left_to_a_scanner() -> None:
    records = b"".join(b"<rec xmlns:p='urn:%d'/>" % number for number in range(1001))
    dump = opened(b"<r>" + records + b"<x/></r>", "rec")
    end = dump.text.index(b"<x/>")
    assert behind(dump, 3, end) is None
    start = dump.text.index(b"<rec", 4)
    assert behind(dump, start, end) == context_at(dump, end)


def test_large_tags_are_left_to_a_scanner() -> None:
    spaces = b" ".join(b"xmlns:p%d='u'" % number for number in range(2_000))
    dump = opened(b"<r><x " + spaces + b"><rec/></x><x/></r>", "rec")
    assert behind(dump, 3, dump.text.index(b"<x/>")) is None


@pytest.mark.parametrize("every", [40, pytest.param(2, marks=pytest.mark.deep)])
def test_real_documents_are_composed(shared_path: Callable[[str], Path], every: int) -> None:
    rng, known, asked = Random(3), 0, 0
    for path in sorted(shared_path("data/docs").rglob("*.xml"))[::every]:
        data = path.read_bytes()
        if len(data) > 200_000 or not is_read(data):
            continue
        names = sorted({one.tag.rpartition("}")[2] for one in parsed(data).iter("*")})
        for name in rng.sample(names, min(3, len(names))):
            dump = opened(data, f"*:{name}")
            for _ in range(10):
                start, end = sorted(some_cut(dump, rng) for _ in range(2))
                found = behind(dump, start, end)
                assert found in {None, context_at(dump, end)}
                known += found is not None
                asked += 1
    assert known > asked // 2
