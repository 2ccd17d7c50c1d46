"""The engine ``native`` behind the matcher: what the kernel decides, and what it hands over.

The kernel forgets when its memory is small, leaves some documents to libxml2 and some patterns
too; none of this may be seen from outside. So answers are compared with the oracle, or with those
of the engine ``lxml``, wherever one of these hand-overs is on the way.
"""

from __future__ import annotations

import array
import mmap
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.engines import NATIVE
from tests.matching.engines.native_matchers import MIXED, matcher_of
from tests.oracle import oracle
from tests.strategies import NAMESPACES, ExpressionPair, documents, subscriptions
from twigcast.errors import DocumentError, UsageError
from twigcast.language import Document, DocumentLimits, Pattern
from twigcast.language.document.parse import LIBRARY_LIMITS
from twigcast.matching import Matcher
from twigcast.matching.engines.native import REMEMBERED_BYTES_MAX, NativeEngine
from twigcast.matching.lazy_document import Unread

pytestmark = NATIVE

BRIEF = settings(max_examples=settings().max_examples // 2)
"""For properties of which one example goes through many documents and patterns."""


LEFT_TO_LIBXML2 = {
    "entities": b"<!DOCTYPE r [<!ENTITY e '4'><!ATTLIST b k CDATA '&e;'>]><r><a>x</a><b>4</b></r>",
    "namespace by default": b"<!DOCTYPE r [<!ATTLIST b xmlns CDATA 'u'>]><r><a>x</a><b>4</b></r>",
    "XML 1.1": b"<?xml version='1.1'?><r><a>x</a><b>4</b></r>",
    "empty section": b"<r><a><![CDATA[]]></a><b/></r>",
    "odd namespace": b"<r xmlns:p='urn:p' xmlns='//'><p:a p:x='1'/></r>",
}
REFUSED = (
    b"", b"x", b"<a>", b"<a/><b/>", b"<a>\n<b></a>", b"<p:a/>", b"<a xmlns='a b'/>",
    b"<a x='1' x='2'/>", b"<a>&e;</a>",
    b"<a>\x00</a>", b"<a>\xff</a>", b"<?xml version='1.0' encoding='UTF-7'?><a/>", b"<a>]]></a>",
    b"<a>" * 300 + b"</a>" * 300,
)  # fmt: skip
WITHIN = DocumentLimits(bytes_max=200, elements_max=5, depth_max=3, attributes_max=2)
TOO_LARGE = (
    b"<a>" + b"x" * 200 + b"</a>", b"<a><b/><b/><b/><b/><b/></a>", b"<a><b><c><d/></c></b></a>",
    b"<a x='1' y='2' z='3'/>",
)  # fmt: skip

IDS = st.one_of(
    st.integers(-5, 20),
    st.integers(-(2**63), 2**63 - 1),
    st.sampled_from([2**62, 2**62 + 1, -(2**63), 2**63 - 1]),
)


@pytest.mark.parametrize("remembered", [0, 3_000, REMEMBERED_BYTES_MAX])
@BRIEF
@given(st.data())
def test_answers_are_the_oracles_however_little_is_remembered(
    remembered: int, data: st.DataObject
) -> None:
    engine = NativeEngine(remembered_bytes_max=remembered)
    ids = data.draw(st.lists(IDS, min_size=1, max_size=6, unique=True))
    pool = {one: data.draw(subscriptions()) for one in ids}
    held: dict[int, ExpressionPair] = {}
    contents = data.draw(st.lists(documents(), min_size=1, max_size=2))
    for content in data.draw(st.lists(st.sampled_from(contents), min_size=1, max_size=4)):
        for one in data.draw(st.sets(st.sampled_from(ids))):
            if held.pop(one, None):
                engine.remove(one)
            else:
                held[one] = pool[one]
                engine.add(one, Pattern.parse(pool[one].text, NAMESPACES))
        expected = [one for one in sorted(held) if oracle(held[one].oracle, content, NAMESPACES)]
        for document in (Unread(content, LIBRARY_LIMITS), Document.parse(content)):
            assert engine.decide(document, ()).matches == tuple(expected)
        assert set(engine.patterns) == set(held)


def test_a_reader_without_room_forgets_and_one_with_room_does_not() -> None:
    for remembered in (0, REMEMBERED_BYTES_MAX):
        engine = NativeEngine(remembered_bytes_max=remembered)
        engine.add(1, Pattern.parse("//a/b"))
        for content in (b"<r><a><b/></a></r>", b"<r><r><a/></r></r>"):
            engine.decide(Unread(content, LIBRARY_LIMITS), ())
        statistics = engine.statistics()
        assert statistics.remembered_bytes_max == remembered
        assert (statistics.forgotten > 0) == (remembered == 0)


def test_statistics_tell_what_evaluating_remembered() -> None:
    engine = NativeEngine()
    engine.add(1, Pattern.parse("//a[sum(../a) = 1]"))
    before = engine.statistics()
    assert (before.evaluator_bytes, before.answers_bytes_most) == (0, 0)
    engine.decide(Unread(b"<r>" + b"<a>1</a>" * 1_000 + b"</r>", LIBRARY_LIMITS), ())
    after = engine.statistics()
    assert after.evaluator_bytes > 0
    # Where it led to is remembered for all that stand beside each other, four bytes a node.
    assert 4_000 < after.answers_bytes_most < after.answers_bytes_max
    engine.decide(Unread(b"<r><a>2</a></r>", LIBRARY_LIMITS), ())
    assert engine.statistics().answers_bytes_most == after.answers_bytes_most


@pytest.mark.parametrize("kind", LEFT_TO_LIBXML2)
def test_documents_that_are_left_to_libxml2_get_the_oracles_answers(kind: str) -> None:
    import twigcast_kernel

    content = LEFT_TO_LIBXML2[kind]
    assert isinstance(twigcast_kernel.outline(content), str)
    matcher = matcher_of()
    expected = [n for n, xpath in enumerate(MIXED) if oracle(xpath, content, NAMESPACES)]
    assert expected
    assert matcher.match(content) == matcher.match(Document.parse(content)) == expected
    groups = {number: [number] for number in range(len(MIXED))}
    assert matcher.match_links(content, groups) == expected
    assert matcher.match(content, skip=expected[:1]) == expected[1:]


def test_statistics_tell_how_many_documents_libxml2_had_to_read() -> None:
    matcher = matcher_of()
    contents = [b"<r/>", "<?xml version='1.0'?><r/>".encode("utf-16"), *LEFT_TO_LIBXML2.values()]
    for content in contents:
        matcher.match(content)
    told: Any = matcher.statistics().details
    assert told.documents == len(contents)
    assert told.read_by_libxml2 == len(LEFT_TO_LIBXML2)


def test_an_empty_section_is_a_text_node_wherever_it_stands() -> None:
    xpaths = ("//a/text()", "//a[text() = '']", "//a[text() = 'x']", "//text()", "/r/text()")
    contents = [
        b"<r><a>%b</a></r>",
        b"<r>%b<a/></r>",
        b"<r><a/>%b</r>",
        b"<r><!--c-->%b<a>x</a></r>",
    ]
    for content in (one % b"<![CDATA[]]>" for one in contents):
        expected = [number for number, xpath in enumerate(xpaths) if oracle(xpath, content)]
        assert matcher_of(xpaths).match(content) == expected


def _doors(matcher: Matcher) -> list[Callable[[bytes], object]]:
    groups = matcher.groups({"all": range(len(MIXED))})
    return [
        matcher.match,
        matcher.decide,
        lambda content: matcher.match_links(content, groups),
        lambda content: matcher.match_links(content, dict(groups)),
    ]


@pytest.mark.parametrize("content", REFUSED, ids=lambda content: repr(content[:24]))
def test_refused_documents_are_refused_with_libxml2s_words(content: bytes) -> None:
    with pytest.raises(DocumentError) as expected:
        Document.parse(content)
    matcher = matcher_of()
    for number, door in enumerate(_doors(matcher), start=1):
        with pytest.raises(DocumentError) as refused:
            door(content)
        assert (type(refused.value), str(refused.value)) == (
            type(expected.value),
            str(expected.value),
        )
        assert matcher.statistics().refused == number


@pytest.mark.parametrize("content", TOO_LARGE, ids=lambda content: repr(content[:24]))
def test_documents_over_the_matchers_limits_are_refused_as_by_reading(content: bytes) -> None:
    with pytest.raises(DocumentError) as expected:
        Document.parse(content, limits=WITHIN)
    matcher = Matcher(engine="native", limits=WITHIN)
    matcher.add(0, "//a")
    for door in _doors(matcher):
        with pytest.raises(DocumentError) as refused:
            door(content)
        assert str(refused.value) == str(expected.value)
    # Whoever parsed it has held it to limits already.
    assert matcher.match(Document.parse(content)) == [0]


@given(st.lists(st.sampled_from(MIXED), min_size=1, max_size=8), documents(), st.data())
def test_patterns_of_all_sorts_side_by_side_are_decided_as_by_libxml2(
    xpaths: list[str], content: bytes, data: st.DataObject
) -> None:
    native, lxml = matcher_of(xpaths), matcher_of(xpaths, "lxml")
    ids = st.sets(st.sampled_from(range(len(xpaths))))
    skip = data.draw(ids)
    assert native.decide(content, skip) == lxml.decide(content, skip)
    groups = dict(enumerate(data.draw(st.lists(ids, max_size=4))))
    assert native.match_links(content, groups, skip) == lxml.match_links(content, groups, skip)
    for removed in data.draw(ids):
        native.remove(removed)
        lxml.remove(removed)
    assert native.match(content) == lxml.match(content)


def test_what_is_too_costly_stays_undecided_beside_what_the_kernel_decides() -> None:
    matcher = Matcher(engine="native", residual_cost_max=10_000)
    for number, xpath in enumerate(
        ("//a[count(following::a/namespace::*) > 3]", "//a", ". = 'x'", "//b[2]")
    ):
        matcher.add(number, xpath)
    wide = b"<r>" + b"<a/>" * 300 + b"</r>"
    decision = matcher.decide(wide)
    assert (decision.matches, decision.undecided) == ((1,), (0,))
    groups = matcher.groups({"doubt": [0, 2], "sure": [0, 1], "none": [2, 3]})
    assert matcher.match_links(wide, groups) == ["doubt", "sure"]
    assert matcher.match_links(wide, groups, skip=[0]) == ["sure"]


@BRIEF
@given(st.lists(subscriptions(), min_size=2, max_size=6), documents(), documents(), st.data())
def test_prepared_groups_answer_rightly_while_subscriptions_come_and_go(
    said: list[ExpressionPair], first: bytes, second: bytes, data: st.DataObject
) -> None:
    matcher, other = Matcher(engine="native"), Matcher(engine="native")
    for number, one in enumerate(said):
        other.add(number, one.text, NAMESPACES)
    ids = st.sets(st.sampled_from(range(len(said))))
    members = dict(enumerate(data.draw(st.lists(ids, min_size=1, max_size=4))))
    groups = matcher.groups(members)
    assert matcher.match_links(first, groups) == []
    present: set[int] = set()
    for content in (first, second, first):
        for number in data.draw(ids):
            if number in present:
                matcher.remove(number)
            else:
                matcher.add(number, said[number].text, NAMESPACES)
            present ^= {number}
        expected = [key for key, some in members.items() if some & set(matcher.match(content))]
        assert matcher.match_links(content, groups) == expected
        assert matcher.match_links(content, members) == expected
        # Groups that another matcher made ready are no worse than plain ones.
        assert other.match_links(content, groups) == other.match_links(content, members)


# Stored subscriptions.


@given(st.lists(subscriptions(), min_size=2, max_size=6), documents(), st.data())
def test_a_stored_matcher_goes_on_where_the_first_was(
    said: list[ExpressionPair], content: bytes, data: st.DataObject
) -> None:
    ids = data.draw(st.lists(IDS, min_size=len(said), max_size=len(said), unique=True))
    some = data.draw(st.integers(0, len(said)))
    matcher = Matcher(engine="native")
    for one, pattern in zip(ids[:some], said[:some], strict=True):
        matcher.add(one, pattern.text, NAMESPACES)
    again = Matcher.from_buffer(matcher.to_bytes(), engine="native")
    for one, pattern in zip(ids[some:], said[some:], strict=True):
        again.add(one, pattern.text, NAMESPACES)
    gone = data.draw(st.sets(st.sampled_from(ids)))
    for one in gone:
        again.remove(one)
    third = Matcher.from_buffer(memoryview(again.to_bytes()))
    expected = sorted(
        one
        for one, pattern in zip(ids, said, strict=True)
        if one not in gone and oracle(pattern.oracle, content, NAMESPACES)
    )
    assert again.match(content) == third.match(content) == expected
    assert third.to_bytes() == again.to_bytes()


def test_a_stored_matcher_works_in_a_file_that_is_mapped_into_memory(tmp_path: Path) -> None:
    path = tmp_path / "subscriptions"
    matcher = matcher_of()
    path.write_bytes(matcher.to_bytes())
    with path.open("rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as mapped:
        again = Matcher.from_buffer(memoryview(mapped))
        for content in LEFT_TO_LIBXML2.values():
            assert again.decide(content) == matcher.decide(content)
        again.add(100, "//b")
        again.remove(0)
        assert again.match(b"<r><a/><b/></r>") == [7, 100]
        assert again.statistics().subscriptions == len(MIXED)
        del again  # The mapping can be closed only when nobody looks at it.


def test_stored_bytes_that_are_cut_are_refused() -> None:
    whole = matcher_of().to_bytes()
    for end in range(0, len(whole), 7):
        with pytest.raises(UsageError):
            Matcher.from_buffer(whole[:end], engine="native")


@given(st.data())
@settings(max_examples=200)
def test_stored_bytes_that_are_damaged_are_refused_or_harmless(data: st.DataObject) -> None:
    matcher = matcher_of()
    damaged = bytearray(matcher.to_bytes())
    place = data.draw(st.integers(0, len(damaged) - 1))
    damaged[place] ^= data.draw(st.integers(1, 255))
    try:
        again = Matcher.from_buffer(bytes(damaged), engine="native")
    except UsageError:
        return
    # Only what fills the gap between the two parts may be anything.
    assert {one: again._pattern_under(one).text for one in range(len(MIXED))} == {
        one: matcher._pattern_under(one).text for one in range(len(MIXED))
    }


@pytest.mark.parametrize("engine", ["streaming", "lxml"])
def test_another_engine_cannot_use_what_the_kernel_stored(engine: str) -> None:
    with pytest.raises(UsageError, match="compiled for the engine native"):
        Matcher.from_buffer(matcher_of().to_bytes(), engine=engine)


# What the kernel tells of its patterns.


def test_an_id_beyond_64_bits_is_never_there() -> None:
    matcher = matcher_of(("//a",))
    assert 2**80 not in matcher
    with pytest.raises(UsageError, match="so nothing to remove"):
        matcher.remove(2**80)
    with pytest.raises(UsageError, match="does not fit into 64 bits"):
        matcher.add(2**63, "//a")


# Buffers.


def _mapped(content: bytes, access: int) -> mmap.mmap:
    mapped = mmap.mmap(-1, len(content))
    mapped.write(content)
    if access == mmap.ACCESS_WRITE:
        return mapped
    with tempfile.TemporaryFile() as file:
        file.write(content)
        file.flush()
        return mmap.mmap(file.fileno(), len(content), access=access)


@pytest.mark.parametrize(
    "changeable",
    [
        bytearray,
        lambda content: memoryview(bytearray(content)),
        lambda content: memoryview(bytearray(content)).toreadonly(),
        lambda content: _mapped(content, mmap.ACCESS_WRITE),
        lambda content: _mapped(content, mmap.ACCESS_COPY),
        lambda content: pa.py_buffer(bytearray(content)),
        lambda content: array.array("B", content),
    ],
)
@pytest.mark.parametrize("id", [1, "text"])
def test_a_stored_index_that_somebody_can_write_to_is_refused(
    changeable: Callable[[bytes], Any], id: int | str
) -> None:
    stored = changeable(Matcher({id: "//a"}, engine="native").to_bytes())
    with pytest.raises(UsageError, match=r"can be written to.*bytes\(buffer\)"):
        Matcher.from_buffer(stored)
    assert Matcher.from_buffer(bytes(memoryview(stored))).match(b"<a/>") == [id]


@pytest.mark.parametrize(
    "lasting",
    [
        bytes,
        memoryview,
        lambda content: _mapped(content, mmap.ACCESS_READ),
        pa.py_buffer,
    ],
)
def test_a_stored_index_that_nobody_can_write_to_is_used_where_it_lies(
    lasting: Callable[[bytes], Any],
) -> None:
    stored = lasting(Matcher({1: "//a", "two": "//b[2]"}, engine="native").to_bytes())
    assert Matcher.from_buffer(stored).match(b"<a><b/><b/></a>") == [1, "two"]


@pytest.mark.parametrize("odd", [None, "text", 7, memoryview(bytes(8))[::2]])
def test_what_has_no_bytes_is_no_stored_index(odd: object) -> None:
    with pytest.raises(UsageError, match="stored subscriptions are bytes"):
        Matcher.from_buffer(odd)  # type: ignore[arg-type]


class _Interrupted(BaseException):
    """What comes from elsewhere than the code that it stops, as Ctrl-C does."""


@NATIVE
@pytest.mark.parametrize("again", ["//r/*", "//r/*[2]"])
def test_an_interrupted_add_leaves_nothing_under_its_id(
    monkeypatch: pytest.MonkeyPatch, again: str
) -> None:
    def interrupted(_pattern: Pattern) -> str:
        raise _Interrupted

    matcher = Matcher(engine="native", keep_texts=False)
    with monkeypatch.context() as patched:
        patched.setattr(Pattern, "text", property(interrupted))
        with pytest.raises(_Interrupted):
            matcher.add(5, "//a[2]")
    assert 5 not in matcher
    matcher.add(5, again)
    again_stored = Matcher.from_buffer(matcher.to_bytes())
    for one in (matcher, again_stored):
        assert one._engine.patterns[5] == Pattern.parse(again)
