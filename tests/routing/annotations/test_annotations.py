"""True annotations make true lessons, whatever is asked for and however little room there is."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.covering.drawn import drawn_path, drawn_tree
from tests.matching.following import cut_off, tags
from tests.oracle import oracle_tree
from tests.routing.annotated import (
    ALL,
    EVERY_KIND,
    contents,
    findings_of,
    matches,
    parsed,
    pattern_sets,
    sent_for,
    table_of,
)
from tests.strategies import THOROUGH, thickets
from twigcast.covering import Bound, simple_bindings
from twigcast.errors import ProtocolError, UsageError
from twigcast.language import Pattern
from twigcast.matching import Binding, Matcher, substituted
from twigcast.routing.annotations.annotations import (
    AnnotationLimits,
    Annotations,
    Kinds,
    LinkFindings,
    annotate,
)
from twigcast.routing.annotations.bit_sets import bits_of, members
from twigcast.routing.annotations.hints import HintLimits, Hints, HintTable, SimpleHint
from twigcast.routing.piggyback.inference import Lessons, derive, learn

TELLING = [kinds for kinds in EVERY_KIND if kinds.ns or kinds.nd]
LIMITS = st.builds(
    AnnotationLimits,
    bytes_max=st.sampled_from([1_024, 1_024, 60, 30, 20, 17]),
    bindings_max=st.sampled_from([64, 1]),
)


def assert_true(lessons: Lessons, content: bytes) -> None:
    """Ask libxml2; and of positions, whether all that matches does so as far as there."""
    assert all(matches(one, content) for one in lessons.matched)
    assert not any(matches(one, content) for one in lessons.hopeless)
    assert not lessons.matched & lessons.hopeless
    events = tags(oracle_tree(content))
    ends_at = [place for place, (event, _) in enumerate(events, 1) if event == "end"]
    for ends, patterns in lessons.hopeless_from.items():
        seen = ends_at[ends - 1]
        before = cut_off(content, seen)
        for pattern in patterns:
            assert not matches(pattern, content) or matches(pattern, before)
            moment = moment_of(pattern, content)
            assert moment is None or moment <= seen


def moment_of(pattern: Pattern, content: bytes) -> int | None:
    """How many tags it took to decide for a match."""
    matcher = Matcher(engine="streaming")
    matcher.add(0, pattern)
    moment = matcher.follow(content).decided.get(0)
    return None if moment is None else moment.element + moment.ends


def told(
    kinds: Kinds, table: HintTable, findings: LinkFindings, limits: AnnotationLimits
) -> Lessons:
    """What a broker learns from what it is told."""
    annotations = annotate(kinds, table.hints, findings, session=3, number=7, limits=limits)
    if annotations is None:
        return Lessons()
    assert annotations.size <= limits.bytes_max
    assert kinds.ps or not annotations.matched
    assert kinds.pd or not annotations.last
    assert kinds.ns or annotations.unmatched is None
    assert kinds.nd or annotations.absent is None
    return learn(annotations, table)


@THOROUGH
@given(st.data(), pattern_sets(), contents(), st.sampled_from([*EVERY_KIND, ALL, ALL]), LIMITS)
def test_what_is_learnt_is_true(
    data: st.DataObject,
    patterns: list[Pattern],
    content: bytes,
    kinds: Kinds,
    limits: AnnotationLimits,
) -> None:
    table = table_of(data.draw(sent_for(patterns)), patterns, kinds)
    findings = findings_of(table.sent, table.hints, content)
    assert_true(told(kinds, table, findings, limits), content)
    # A broker that sends the document on in the middle knows less.
    some = frozenset(place for place in findings.matched if data.draw(st.booleans()))
    others = frozenset(range(len(table.sent))) - findings.matched
    part = LinkFindings(
        matched=some,
        unmatched=frozenset(place for place in others if data.draw(st.booleans())),
        bindings=findings.bindings,
    )
    assert_true(told(kinds, table, part, limits), content)


@given(st.data(), pattern_sets(), pattern_sets(), contents(), st.sampled_from(TELLING), LIMITS)
def test_what_is_learnt_from_derived_annotations_is_true(
    data: st.DataObject,
    far: list[Pattern],
    own: list[Pattern],
    content: bytes,
    kinds: Kinds,
    limits: AnnotationLimits,
) -> None:
    beyond = table_of(data.draw(sent_for(far)), far, kinds)
    patterns = [*beyond.sent, *own]
    table = table_of(data.draw(sent_for(patterns)), patterns, kinds)
    findings = findings_of(table.sent, table.hints, content)
    came = annotate(kinds, table.hints, findings, session=1, number=1)
    if came is None:
        return
    annotations = derived(came, table, beyond, kinds, limits)
    if annotations is not None:
        assert annotations.size <= limits.bytes_max
        assert (annotations.session, annotations.number) == (5, 2)
        assert_true(learn(annotations, beyond), content)


def derived(
    came: Annotations,
    table: HintTable,
    beyond: HintTable,
    kinds: Kinds = ALL,
    limits: AnnotationLimits | None = None,
) -> Annotations | None:
    return derive(
        came, table, kinds=kinds, routes=beyond.sent, hints=beyond.hints, session=5, number=2,
        limits=limits or AnnotationLimits(),
    )  # fmt: skip


@THOROUGH
@given(st.data(), st.randoms(use_true_random=False), thickets())
def test_bindings_prove_just_such_parts_as_match(
    data: st.DataObject, rng: Random, content: bytes
) -> None:
    drawn = drawn_tree if rng.random() < 0.5 else drawn_path
    whole = Pattern.parse(drawn(rng, names="abc"))
    matcher = Matcher(engine="streaming")
    matcher.add(0, whole)
    bindings = matcher.bindings(content, [0])[0]
    parts = [whole]
    for _ in range(4 if bindings else 0):
        some = data.draw(st.lists(st.sampled_from(bindings), min_size=1, unique=True, max_size=3))
        parts.append(substituted(whole, [altered(one, rng) for one in some]))
    table = table_of([whole], parts, Kinds.parse("+s"))
    findings = findings_of(table.sent, table.hints, content)
    lessons = told(Kinds.parse("+s"), table, findings, AnnotationLimits())
    assert_true(lessons, content)
    needed = {part: simple_bindings(aggregate=whole, part=part) for part in parts}
    assert lessons.matched == {
        part
        for part, bounds in needed.items()
        if findings.matched and bounds is not None and set(bounds) <= set(bindings)
    }


def altered(binding: Binding, rng: Random) -> Binding:
    """The same as often as not, else with other names."""
    if rng.random() < 0.5:
        return binding
    return Binding(binding.wildcard, tuple(rng.choice("abc") for _ in binding.path))


@given(pattern_sets(), pattern_sets(), contents())
def test_where_nothing_is_aggregated_away_no_broker_reads_a_document_twice(
    far: list[Pattern], own: list[Pattern], content: bytes
) -> None:
    kinds = Kinds.parse("-s")
    beyond = table_of(far, far, kinds)
    patterns = [*beyond.sent, *own]
    table = table_of(patterns, patterns, kinds)
    findings = findings_of(table.sent, table.hints, content)
    came = annotate(kinds, table.hints, findings, session=1, number=1)
    assert came is not None
    for each, listener in (came, table), (derived(came, table, beyond, kinds), beyond):
        assert each is not None
        assert each.is_complete
        lessons = learn(each, listener)
        assert lessons.matched | lessons.hopeless == frozenset(listener.sent)
        assert lessons.matched == {one for one in listener.sent if matches(one, content)}


def test_what_is_derived_is_complete_only_if_all_is_known() -> None:
    beyond = table_of(parsed("//a/b", "//c"), parsed("//a/b", "//c"))
    table = table_of(parsed("//a/*", "//c"), [*beyond.sent, *parsed("//a/d")])
    for content, matched, hopeless, is_complete in (
        (b"<a><d/></a>", [], ["//c"], False),
        (b"<a><b/><d/></a>", ["//a/b"], ["//c"], True),
        (b"<c/>", ["//c"], ["//a/b"], True),
        (b"<a><d/><c/></a>", ["//c"], [], False),
    ):
        findings = findings_of(table.sent, table.hints, content)
        came = annotate(Kinds.parse("+s-s"), table.hints, findings, session=0, number=0)
        assert came is not None
        annotations = derived(came, table, beyond, Kinds.parse("+s-s"))
        assert annotations is not None
        assert annotations.is_complete == is_complete
        lessons = learn(annotations, beyond)
        assert (texts(lessons.matched), texts(lessons.hopeless)) == (matched, hopeless)


def test_rows_with_an_absent_row_in_them_are_derived() -> None:
    far = parsed("//x/a/b/c", "//b/d", "//e")
    beyond = table_of(far, far)
    table = table_of([*far, *parsed("//a/b")], [*far, *parsed("//a/b")])
    (row,) = [place for place, (one, _) in enumerate(table.hints.rows) if one.text == "//a/b"]
    came = Annotations(0, 0, absent=bits_of([row], len(table.hints.rows)))
    annotations = derived(came, table, beyond, Kinds.parse("-d"))
    assert annotations is not None
    absent = [beyond.hints.rows[place][0].text for place in members(annotations.absent or b"")]
    assert absent == ["//x/a/b/c"]
    assert texts(learn(annotations, beyond).hopeless) == ["//x/a/b/c"]


# What is told.

PATTERNS = parsed("/a/b/c", "/a/x/c", "//d/e", "//d/f", "//g/h")
SAID = parsed("/a/*/c", "//d/*", "//g/h")
"""In the order of their texts: ``//d/*``, ``//g/h``, ``/a/*/c``."""
LETTER = b"<a><b><c/></b><d><e/></d><x/></a>"


def lessons_of(text: str, content: bytes = LETTER) -> tuple[list[str], list[str]]:
    kinds = Kinds.parse(text)
    table = table_of(SAID, PATTERNS, kinds)
    found = told(kinds, table, findings_of(table.sent, table.hints, content), AnnotationLimits())
    return texts(found.matched), texts(found.hopeless)


def texts(patterns: Sequence[Pattern] | frozenset[Pattern]) -> list[str]:
    return sorted(pattern.text for pattern in patterns)


def test_bindings_tell_which_parts_match() -> None:
    assert lessons_of("+s") == (["//d/e", "/a/b/c"], [])


def test_what_did_not_match_rules_out_all_that_it_covers() -> None:
    assert lessons_of("-s") == ([], ["//g/h"])
    assert lessons_of("-s", b"<a><b/></a>") == ([], texts(PATTERNS))


def test_absent_rows_rule_out_who_needs_them() -> None:
    assert lessons_of("-d") == ([], ["//d/f", "//g/h", "/a/x/c"])


def test_a_pattern_said_as_it_is_is_known_to_match_by_its_bit() -> None:
    assert lessons_of("-s", b"<g><h/></g>") == (["//g/h"], texts(PATTERNS[:4]))


def test_bits_take_the_place_of_matches_that_need_no_bindings() -> None:
    table = table_of(SAID, PATTERNS)
    findings = findings_of(table.sent, table.hints, b"<g><h/><d><f/></d></g>")
    both = annotate(Kinds.parse("+s-s"), table.hints, findings, session=0, number=0)
    alone = annotate(Kinds.parse("+s"), table.hints, findings, session=0, number=0)
    bound = (0, (Bound(2, ("f",)),))
    assert both is not None
    assert (both.matched, both.unmatched, both.is_complete) == ((bound,), b"\x02", True)
    assert alone is not None
    assert (alone.matched, alone.unmatched) == ((bound, (1, ())), None)


def test_nothing_to_say_is_not_said() -> None:
    table = table_of(SAID, PATTERNS)
    assert annotate(ALL, table.hints, LinkFindings(), session=0, number=0) is None
    findings = findings_of(table.sent, table.hints, LETTER)
    assert annotate(Kinds(), table.hints, findings, session=0, number=0) is None
    matched = LinkFindings(matched=frozenset([1]), is_complete=True)
    assert annotate(ALL, Hints(covered=(0, 0, 0)), matched, session=0, number=0) is None


def test_positions_at_the_end_of_the_document_are_of_no_use() -> None:
    patterns = parsed("/a/b/c", "//b/c")
    table = table_of(patterns, patterns, Kinds.parse("+d"))
    content = b"<a><b><c/></b><d/></a>"
    findings = findings_of(table.sent, table.hints, content)
    annotations = annotate(Kinds.parse("+d"), table.hints, findings, session=0, number=0)
    assert annotations is not None
    assert [(table.hints.rows[row][0].text, ends) for row, ends in annotations.last] == [
        ("//b/c", 2)
    ]
    assert learn(annotations, table).hopeless_from == {2: frozenset(patterns)}


def test_a_position_says_nothing_of_patterns_that_ask_for_more_elsewhere() -> None:
    alone, beside = parsed("//a/b", "//a/b and //test")
    table = table_of([alone, beside], [alone, beside], Kinds.parse("+d"))
    content = b"<r><a><b/></a><test/></r>"
    findings = findings_of(table.sent, table.hints, content)
    lessons = told(Kinds.parse("+d"), table, findings, AnnotationLimits())
    assert lessons.hopeless_from == {2: frozenset([alone])}
    assert_true(lessons, content)


# What is chosen.


def chosen(hints: Hints, findings: LinkFindings, bytes_max: int) -> Annotations:
    limits = AnnotationLimits(bytes_max=bytes_max)
    annotations = annotate(ALL, hints, findings, session=0, number=0, limits=limits)
    assert annotations is not None
    return annotations


def test_the_best_bits_are_left_when_there_is_no_room_for_all() -> None:
    hints = Hints(covered=tuple(range(1, 801)))
    findings = LinkFindings(matched=frozenset([799]), is_complete=True)
    assert len(chosen(hints, findings, 1_024).unmatched or b"") == 100
    cut = chosen(hints, findings, 64)
    assert not cut.is_complete
    assert cut.unmatched is not None
    assert 0 < len(cut.unmatched) < 32
    assert {hints.order[bit] for bit in members(cut.unmatched)} == set(
        range(799 - 8 * len(cut.unmatched) + 1, 799)
    )


def test_bindings_of_most_patterns_per_byte_come_first() -> None:
    rows = parsed("//a", "//b")
    hints = replace(
        table_of(SAID, PATTERNS).hints, rows=tuple((row, 9) for row in rows), placed=(1, 9)
    )
    known: dict[int, list[tuple[int, tuple[str, ...]]]] = {
        0: [(2, ("f" * 9,))],
        2: [(1, ("b",)), (9, ("never", "asked"))],
    }
    findings = LinkFindings(
        matched=frozenset([0, 2]), bindings=lambda place: known[place], last={0: 2, 1: 12}
    )
    long, short = (0, (Bound(2, ("f" * 9,)),)), (2, (Bound(1, ("b",)),))
    assert chosen(hints, findings, 1_024).matched == (long, short)
    tight = chosen(hints, findings, 27)
    assert tight.matched == (short,)
    assert tight.last == ((1, 12),)


def test_matches_that_need_no_bindings_come_before_all_others() -> None:
    hints = Hints((0,) * 2, (SimpleHint(0, 99, (1,)), SimpleHint(1, 1, ())))
    findings = LinkFindings(matched=frozenset([0, 1]), bindings=lambda _: [(1, ("a",))])
    tight = chosen(hints, findings, 20)
    assert tight.matched == ((1, ()),)
    assert chosen(hints, findings, 40).matched == ((0, (Bound(1, ("a",)),)), (1, ()))


# What nobody can mean.

TABLE = table_of(SAID, PATTERNS)
ROWS = len(TABLE.hints.rows)


@pytest.mark.parametrize(
    ("wrong", "where"),
    [
        (Annotations(0, 0, matched=((3, ()),)), "matched: places"),
        (Annotations(0, 0, matched=((-1, ()),)), "matched: places"),
        (Annotations(0, 0, matched=((1, ()), (0, ()))), "matched: places"),
        (Annotations(0, 0, matched=((1, ()), (1, ()))), "matched: places"),
        (Annotations(0, 0, matched=((1, (Bound(1, ("x",)),)),)), "bindings were not asked"),
        (Annotations(0, 0, matched=((0, (Bound(2, ("x",)),) * 2),)), "bindings were not asked"),
        (Annotations(0, 0, last=((ROWS, 1),)), "last: rows"),
        (Annotations(0, 0, last=((0, 0),)), "end tags are counted from 1"),
        (Annotations(0, 0, last=((1, 3), (0, 2))), "last: rows"),
        (Annotations(0, 0, unmatched=b""), "1 to 1 bytes"),
        (Annotations(0, 0, unmatched=b"\0\0"), "1 to 1 bytes"),
        (Annotations(0, 0, unmatched=b"\x08"), "a bit is about nothing"),
        (Annotations(0, 0, is_complete=True), "1 bytes of bits are expected"),
        (Annotations(0, 0, absent=bytes(9)), "absent: 1 to"),
        (Annotations(0, 0, matched=((1, ()),), unmatched=b"\x04"), "both matches and does not"),
        (Annotations(0, 0, last=((0, 1),), absent=b"\x01"), "has no position"),
    ],
)
def test_what_cannot_be_meant_is_refused(wrong: Annotations, where: str) -> None:
    with pytest.raises(ProtocolError, match=where):
        learn(wrong, TABLE)


def test_a_pattern_that_matches_though_a_row_it_needs_is_absent_is_refused() -> None:
    row = next(place for place, (one, _) in enumerate(TABLE.hints.rows) if one.text == "//g/h")
    wrong = Annotations(0, 0, matched=((1, ()),), absent=bits_of([row], ROWS))
    with pytest.raises(ProtocolError, match="both matches and does not"):
        learn(wrong, TABLE)


_NUMBERS = st.integers(-2, 9)
_BOUNDS = st.builds(Bound, _NUMBERS, st.tuples(st.sampled_from("bx")))


@given(
    st.builds(
        Annotations,
        st.just(0),
        st.just(0),
        matched=st.lists(
            st.tuples(_NUMBERS, st.lists(_BOUNDS, max_size=2).map(tuple)), max_size=3
        ).map(tuple),
        last=st.lists(st.tuples(_NUMBERS, _NUMBERS), max_size=3).map(tuple),
        unmatched=st.none() | st.binary(max_size=3),
        absent=st.none() | st.binary(max_size=3),
        is_complete=st.booleans(),
    )
)
def test_whatever_comes_is_learnt_from_or_refused(annotations: Annotations) -> None:
    try:
        lessons = learn(annotations, TABLE)
    except ProtocolError:
        return
    assert lessons.matched | lessons.hopeless <= frozenset(PATTERNS)


# Names.


@pytest.mark.parametrize("kinds", EVERY_KIND, ids=str)
def test_kinds_are_read_as_they_are_written(kinds: Kinds) -> None:
    assert Kinds.parse(str(kinds)) == kinds
    assert bool(kinds) == bool(str(kinds))


@pytest.mark.parametrize("text", ["s", "+", "-ds", "-s+s", "+s+d", "+s -d", "+sd-sdx"])
def test_other_ways_of_writing_kinds_are_refused(text: str) -> None:
    with pytest.raises(UsageError, match="annotations are '\\+s', '\\+d'"):
        Kinds.parse(text)


def test_there_are_as_many_kinds_as_the_paper_combines() -> None:
    assert len(set(map(str, EVERY_KIND))) == 16
    assert str(Kinds.parse("+sd-d")) == "+sd-d"
    assert HintLimits().rows_max == 8 * 128
