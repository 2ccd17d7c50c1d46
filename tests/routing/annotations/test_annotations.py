"""Annotations: what is said of a document, however little room there is; what is refused."""

from __future__ import annotations

from dataclasses import replace

import pytest

from tests.routing.annotated import (
    ALL,
    findings_of,
    parsed,
    table_of,
)
from tests.routing.lessons import LETTER, PATTERNS, ROWS, SAID, TABLE, assert_true, told
from twigcast.covering import Bound
from twigcast.errors import ProtocolError
from twigcast.routing.annotations.annotations import (
    AnnotationLimits,
    Annotations,
    Kinds,
    LinkFindings,
    annotate,
)
from twigcast.routing.annotations.bit_sets import members
from twigcast.routing.annotations.hints import Hints, SimpleHint
from twigcast.routing.piggyback.inference import learn

# What is told.


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
