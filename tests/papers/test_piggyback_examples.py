"""The worked examples of Piggyback: 1.1, 1.2, 2.1, 3.1, 4.1 to 4.4 and 5.1.

The text of these examples is preserved; Figures 1 and 3, with the patterns and the document, are
not. The patterns and the document here are made up so that all the text says of them is true: the
wildcards of s6 stand for ``b`` and ``e``, s5 is matched by ``x`` first, s'1 by ``/b/a/x/c``, only
the second wildcard of s'1 is asked for, s'2 does not match, the last occurrence of p3 ends with the
fourth end tag, p1 and p2 do not occur. Whatever else they contain is invented.
"""

from __future__ import annotations

import pytest

from tests.routing.annotated import findings_of, matches, parsed, table_of
from twigcast.covering import Bound, covers, simple_bindings
from twigcast.language import Pattern
from twigcast.routing.annotations.annotations import Annotations, Kinds, annotate
from twigcast.routing.annotations.bit_sets import members
from twigcast.routing.annotations.hints import HintTable, SimpleHint
from twigcast.routing.piggyback.inference import learn

DOCUMENT = b"<b><a><x><c/></x><y><c/></y></a><c><e><d/></e></c></b>"
"""Figure 1(b), made up."""


def told(table: HintTable, content: bytes, kinds: str) -> Annotations:
    """What a broker tells that has read all of a document."""
    findings = findings_of(table.sent, table.hints, content)
    found = annotate(Kinds.parse(kinds), table.hints, findings, session=1, number=1)
    assert found is not None
    return found


def places(table: HintTable, *patterns: Pattern) -> list[int]:
    return [table.sent.index(pattern) for pattern in patterns]


def row_places(table: HintTable, *texts: str) -> list[int]:
    rows = [pattern.text for pattern, _ in table.hints.rows]
    return [rows.index(text) for text in texts]


# Section 1.


def test_example_1_1_bindings_show_a_match_without_the_document() -> None:
    (narrow,) = parsed("/a/b/c/d")
    table = table_of(parsed("/a//d"), [narrow], Kinds.parse("+s"))
    annotations = told(table, b"<a><b><c><d/></c></b></a>", "+s")
    assert annotations.matched == ((0, (Bound(1, ("b", "c")),)),)
    assert learn(annotations, table).matched == {narrow}


def test_example_1_2_three_findings_rule_patterns_out() -> None:
    said = parsed("//k", "//x/y", "//a")
    below_k, needs_xyz, needs_abc = parsed("//k/l", "//w//x/y/z", "//a/b/c[@d]")
    other = Pattern.parse("//x/y/v")
    table = table_of(said, [below_k, needs_xyz, needs_abc, other])
    content = b"<w><x><y><z/></y></x><a><b/></a><x><y><v/></y></x></w>"
    (xyz, abc) = row_places(table, "//x/y/z", "//a/b/c")
    annotations = told(table, content, "+d-sd")
    assert annotations.unmatched is not None
    assert [table.hints.order[bit] for bit in members(annotations.unmatched)] == places(
        table, said[0]
    )  # H1
    assert (xyz, 3) in annotations.last  # H2
    assert abc in members(annotations.absent or b"")  # H3
    lessons = learn(annotations, table)
    assert {below_k, needs_abc} <= lessons.hopeless
    assert lessons.hopeless_from[3] == {needs_xyz}


# Sections 2 and 3, with Figure 1(a) made up.

S1, S2, S3, S4 = parsed("/b/a/y/c", "/b/a/z/c", "/b/c/e/d", "/b/c/f/d/m")
S5, S6 = parsed("/b/a/*/c", "/*/c//d")


def test_example_2_1_aggregates_cover_and_one_is_simple_for_one_part_only() -> None:
    assert all(covers(wider=S5, narrower=one) for one in (S1, S2))
    assert all(covers(wider=S6, narrower=one) for one in (S3, S4))
    assert simple_bindings(aggregate=S6, part=S3) == ((1, ("b",)), (2, ("e",)))
    assert simple_bindings(aggregate=S6, part=S4) is None


def test_example_3_1_a_broker_forwards_by_bindings_alone_and_another_cannot() -> None:
    third = table_of([S6], [S3, S4], Kinds.parse("+s"))
    annotations = told(third, DOCUMENT, "+s")
    assert annotations.matched == ((0, (Bound(1, ("b",)), Bound(2, ("e",)))),)
    assert learn(annotations, third).matched == {S3}
    # The first match of s5 is by x; that y comes later the other broker is not told.
    second = table_of([S5], [S1, S2], Kinds.parse("+s"))
    annotations = told(second, DOCUMENT, "+s")
    assert annotations.matched == ((0, (Bound(1, ("x",)),)),)
    assert learn(annotations, second).matched == frozenset()
    assert matches(S1, DOCUMENT)
    again = Annotations(1, 1, matched=((0, (Bound(1, ("y",)),)),))
    assert learn(again, second).matched == {S1}


# Sections 4 and 5, with Figure 3 made up.

ONE, TWO, THREE, FOUR, FIVE, SIX = parsed(
    "//a/y/c", "//a/z/c", "//k/m", "//k/n", "/b/c/e/d", "/b/c/f/d/y/c"
)
FIRST, SECOND, THIRD = parsed("//a/*/c", "//k", "/*/c//d")
"""s'1, s'2 and s'3; in the order of texts the third comes first."""


@pytest.fixture
def table() -> HintTable:
    """The tables of R_j, whose patterns are said as s'1, s'2 and s'3."""
    return table_of([FIRST, SECOND, THIRD], [ONE, TWO, THREE, FOUR, FIVE, SIX])


def test_example_4_1_only_wildcards_that_tell_parts_apart_are_asked_for(table: HintTable) -> None:
    first, second, third = places(table, FIRST, SECOND, THIRD)
    assert [set(table.those(table.covered[place])) for place in (first, second, third)] == [
        {ONE, TWO},
        {THREE, FOUR},
        {FIVE, SIX},
    ]
    assert table.hints.covered == (2, 2, 2)
    assert table.hints.simple == (SimpleHint(third, 1, (1, 2)), SimpleHint(first, 2, (2,)))


def test_example_4_2_matches_are_told_with_these_wildcards(table: HintTable) -> None:
    first, third = places(table, FIRST, THIRD)
    assert told(table, DOCUMENT, "+s").matched == (
        (third, (Bound(1, ("b",)), Bound(2, ("e",)))),
        (first, (Bound(2, ("x",)),)),
    )


def test_example_4_3_the_last_occurrence_is_told_by_its_end_tag(table: HintTable) -> None:
    """p1, p2 and p3 are ``//k``, ``//a/z/c`` and ``//y/c`` here; the last begins at ``y``."""
    absent_one, absent_two, third = row_places(table, "//k", "//a/z/c", "//y/c")
    annotations = told(table, DOCUMENT, "+d")
    positions = dict(annotations.last)
    assert not {absent_one, absent_two} & positions.keys()
    assert positions[third] == 4
    assert learn(annotations, table).hopeless_from[4] == {ONE, SIX}


def test_example_4_4_bits_tell_what_did_not_match_and_does_not_occur(table: HintTable) -> None:
    """The paper prints these strings as 101 and 001, which have their bits set for what matches.

    By its definitions (4.3 and 4.4), which we follow, they are 010 and 110.
    """
    annotations = told(table, DOCUMENT, "-sd")
    assert annotations.unmatched is not None
    assert annotations.absent is not None
    bits = {table.hints.order[bit] for bit in members(annotations.unmatched)}
    assert bits == set(places(table, SECOND))
    absent = set(members(annotations.absent))
    assert set(row_places(table, "//k", "//a/z/c")) <= absent
    assert not set(row_places(table, "//y/c")) & absent
    assert {THREE, FOUR} <= learn(annotations, table).hopeless


def test_example_5_1_bindings_are_compared_with_the_parts(table: HintTable) -> None:
    lessons = learn(told(table, DOCUMENT, "+s"), table)
    assert lessons.matched == {FIVE}
    assert matches(FIVE, DOCUMENT)
