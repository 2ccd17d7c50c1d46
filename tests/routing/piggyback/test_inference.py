"""What is learnt from true annotations is true; what nobody can mean is refused."""

from __future__ import annotations

from collections.abc import Sequence
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.covering.drawn import drawn_path, drawn_tree
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
from tests.routing.lessons import (
    LETTER,
    PATTERNS,
    ROWS,
    SAID,
    TABLE,
    assert_true,
    told,
)
from tests.strategies import THOROUGH, thickets
from twigcast.covering import Bound, simple_bindings
from twigcast.errors import ProtocolError
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
from twigcast.routing.annotations.hints import HintTable
from twigcast.routing.piggyback.inference import derive, learn

TELLING = [kinds for kinds in EVERY_KIND if kinds.ns or kinds.nd]
LIMITS = st.builds(
    AnnotationLimits,
    bytes_max=st.sampled_from([1_024, 1_024, 60, 30, 20, 17]),
    bindings_max=st.sampled_from([64, 1]),
)


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
