"""Batches through the kernel: the rows that the engine ``lxml`` gives, from Arrow's own buffers."""

from __future__ import annotations

import sys
import threading
from collections.abc import Sequence
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.engines import EVERY_ENGINE, NATIVE
from tests.strategies import NAMESPACES, ExpressionPair, documents, subscriptions
from twigcast.errors import UsageError
from twigcast.language import DocumentLimits
from twigcast.matching import Matcher

pytestmark = NATIVE

XPATHS = ("//a", "//a[2]", "//b[. = 'é']", ". = 'x'", "count(//b) > 1", "/a[@x > 3]")
CONTENTS = (
    "<a/>", "<r><a/><a/></r>", "<b>é</b>", "<x>x</x>", "<a x='4'><b/><b/></a>", "<broken>", "",
    "<?xml version='1.0' encoding='ISO-8859-1'?><b>é</b>",
    "<!DOCTYPE a [<!ENTITY e 'é'>]><b>&e;</b>",
    "<?xml version='1.0' encoding='UTF-8'?><a>&undeclared;</a>",
)  # fmt: skip
TYPES = (
    pa.binary(), pa.large_binary(), pa.binary_view(), pa.string(), pa.large_string(),
    pa.string_view(),
)  # fmt: skip


def matcher_of(engine: str = "native", xpaths: Sequence[str] = XPATHS) -> Matcher:
    matcher = Matcher(engine=engine)
    for number, xpath in enumerate(xpaths):
        matcher.add(number * 2**40, xpath)
    return matcher


def array_of(contents: Sequence[str | None], kind: pa.DataType) -> pa.Array[Any]:
    binary = kind in TYPES[:3]
    given = [one.encode() if binary and one is not None else one for one in contents]
    return pa.array(given, kind)


@given(
    st.lists(st.one_of(st.none(), st.sampled_from(CONTENTS)), max_size=8),
    st.sampled_from(TYPES),
    st.sampled_from([1, 2, 5]),
    st.sets(st.sampled_from([number * 2**40 for number in range(len(XPATHS))])),
    st.data(),
)
def test_a_batch_has_the_rows_of_the_engine_lxml(
    contents: list[str | None],
    kind: pa.DataType,
    threads: int,
    skip: set[int],
    data: st.DataObject,
) -> None:
    whole = array_of(contents, kind)
    start = data.draw(st.integers(0, len(whole)))
    length = data.draw(st.integers(0, len(whole) - start))
    native, lxml = matcher_of(), matcher_of("lxml")
    for array in (whole, whole.slice(start, length)):
        rows = native.match_batch(array, skip, threads=threads)
        rows.validate(full=True)
        assert rows.equals(lxml.match_batch(array, skip))
    told, expected = native.statistics(), lxml.statistics()
    assert (told.documents, told.refused) == (expected.documents, expected.refused)


@settings(max_examples=settings().max_examples // 2)
@given(st.lists(subscriptions(), min_size=1, max_size=5), st.lists(documents(), max_size=6))
def test_random_batches_are_equal_on_any_number_of_threads(
    said: list[ExpressionPair], contents: list[bytes]
) -> None:
    native, lxml = Matcher(engine="native"), Matcher(engine="lxml")
    for number, one in enumerate(said):
        native.add(number, one.text, NAMESPACES)
        lxml.add(number, one.text, NAMESPACES)
    array = pa.array(contents, pa.binary())
    expected = lxml.match_batch(array)
    for threads in (1, 2, 5):
        assert native.match_batch(array, threads=threads).equals(expected)


def test_a_row_without_candidates_keeps_the_ids_of_the_kernel_between_those_of_libxml2() -> None:
    matcher = matcher_of()
    rows = matcher.match_batch(pa.array([b"<a/>", b"<r><a/><a/></r>", b"<broken>", None, b"<a/>"]))
    assert rows.column("matches").to_pylist() == [[0], [0, 2**40], None, None, [0]]
    assert rows.column("undecided").to_pylist() == [[], [], None, None, []]
    told = matcher.statistics()
    assert (told.documents, told.refused) == (4, 1)


def test_a_null_is_a_null_though_there_are_bytes_below_it() -> None:
    offsets = b"".join(number.to_bytes(4, "little") for number in (0, 4, 8))
    buffers: list[pa.Buffer | None] = [
        pa.py_buffer(b"\x01"),
        pa.py_buffer(offsets),
        pa.py_buffer(b"<a/><a/>"),
    ]
    array = pa.Array.from_buffers(pa.binary(), 2, buffers)
    rows = matcher_of(xpaths=["//a"]).match_batch(array)
    assert rows.column("matches").to_pylist() == [[0], None]
    assert rows.equals(matcher_of("lxml", ["//a"]).match_batch(array))


@pytest.mark.parametrize("array", [
    pa.nulls(2), pa.array([], pa.binary()), pa.array([b"<a/>"], pa.binary(4)),
    pa.array(["<a/>", "<b/>", "<a/>"]).dictionary_encode(), pa.nulls(3, pa.string()),
], ids=lambda array: str(array.type))  # fmt: skip
def test_arrays_of_other_kinds_are_read_row_by_row(array: pa.Array[Any]) -> None:
    assert matcher_of().match_batch(array).equals(matcher_of("lxml").match_batch(array))


def test_an_array_of_something_else_is_refused() -> None:
    with pytest.raises(UsageError, match=r"a document is bytes, a text, .* not int"):
        matcher_of().match_batch(pa.array([5]))


def test_a_refused_row_has_the_text_that_reading_it_alone_has() -> None:
    matcher = Matcher(engine="native", limits=DocumentLimits(elements_max=2))
    matcher.add(1, "//a")
    contents = [b"<a><b/><b/></a>", b"<a/>", b"<a>\n</b>"]
    rows = matcher.match_batch(pa.array(contents))
    errors = rows.column("error").to_pylist()
    assert "elements_max" in str(errors[0])
    assert errors[1] is None
    assert "line 2" in str(errors[2])
    assert matcher.statistics().refused == 2


def test_what_is_too_costly_is_undecided_in_its_row() -> None:
    matcher = Matcher(engine="native", residual_cost_max=10_000)
    matcher.add(1, "//a[count(following::a/namespace::*) > 3]")
    matcher.add(2, "//a")
    wide = b"<r>" + b"<a/>" * 300 + b"</r>"
    rows = matcher.match_batch(pa.array([b"<b/>", wide, b"<a/>"]), threads=2)
    assert rows.column("matches").to_pylist() == [[], [2], [2]]
    assert rows.column("undecided").to_pylist() == [[], [1], []]
    assert matcher.statistics().undecided == 1


def test_fewer_than_one_thread_is_one_or_refused() -> None:
    array = pa.array([b"<a/>"])
    assert matcher_of().match_batch(array, threads=0).equals(matcher_of().match_batch(array))
    with pytest.raises(UsageError):
        matcher_of().match_batch(array, threads=-1)


def test_another_thread_goes_on_while_a_batch_is_matched() -> None:
    # No thread is asked to let another run any more, so the other one can only go on if the
    # kernel lets it. It may wake up late on a busy machine; hence several calls.
    interval = sys.getswitchinterval()
    engine: Any = matcher_of(xpaths=["//a[b > 3]//c"])._engine
    array = pa.array([b"<r>" + b"<a><b>5</b><c/></a>" * 20_000 + b"</r>"] * 2)
    offsets, content = (memoryview(one).cast("B") for one in array.buffers()[1:] if one)
    call = {
        "wide": False,
        "decoded": False,
        "first": 0,
        "count": len(array),
        "skip": (),
        "threads": 1,
    }
    waiting, went_on = threading.Lock(), list[bool]()

    def go_on() -> None:
        with waiting:
            went_on.append(True)

    waiting.acquire()
    thread = threading.Thread(target=go_on)
    thread.start()
    try:
        sys.setswitchinterval(1_000)
        waiting.release()
        calls = 0
        while not went_on and calls < 200:
            engine.match_buffers(content, offsets, **call)
            calls += 1
        seen = bool(went_on)
    finally:
        sys.setswitchinterval(interval)
    thread.join()
    assert seen


@pytest.mark.parametrize("engine", EVERY_ENGINE)
def test_the_column_of_a_table_is_taken_and_a_list_is_answered(engine: str) -> None:
    matcher = Matcher({1: "//a"}, engine=engine)
    column = pa.chunked_array([[b"<a/>"], [b"<b/>", b"<a/>"]])
    assert matcher.match_batch(column).column("matches").to_pylist() == [[1], [], [1]]
    with pytest.raises(UsageError, match=r"pyarrow\.array\(documents\)"):
        matcher.match_batch([b"<a/>"])  # type: ignore[arg-type]


STRINGS: dict[pa.DataType, pa.DataType] = {
    pa.string(): pa.binary(),
    pa.large_string(): pa.large_binary(),
    pa.string_view(): pa.binary_view(),
}


@pytest.mark.parametrize("engine", EVERY_ENGINE)
@pytest.mark.parametrize("kind", STRINGS, ids=str)
@pytest.mark.parametrize("shape", ["array", "column", "dictionary"])
def test_a_string_that_is_not_utf8_is_refused_alone(
    engine: str, kind: pa.DataType, shape: str
) -> None:
    contents = [
        b"<a/>", b"<a>\xe9, and more than twelve bytes</a>", b"<b/>", None, b"\xff\xfe<\x00",
        b"<?xml version='1.0' encoding='ISO-8859-1'?><a>\xe9</a>", b"<a/>",
    ]  # fmt: skip
    array: Any = pa.array(contents, STRINGS[kind]).view(kind)
    if shape == "column":
        array = pa.chunked_array([array.slice(0, 3), array.slice(3)])
    elif shape == "dictionary":
        array = pa.DictionaryArray.from_arrays(pa.array(range(7)), array, safe=False)
    matcher = Matcher({1: "//a", 2: "//b[1 or c]"}, engine=engine)
    rows = matcher.match_batch(array)
    assert rows.column("matches").to_pylist() == [[1], None, [2], None, None, None, [1]]
    errors = rows.column("error").to_pylist()
    assert [errors[row] is None for row in range(7)] == [
        True,
        False,
        True,
        False,
        False,
        False,
        True,
    ]
    assert str(errors[1]).startswith("document: byte 4 of the string is not UTF-8; ")
    assert "null" in str(errors[3])
    told = matcher.statistics()
    assert (told.documents, told.refused, told.internal_errors) == (6, 3, 0)


def _offsets(*numbers: int, size: int = 4) -> pa.Buffer:
    return pa.py_buffer(b"".join(one.to_bytes(size, "little", signed=True) for one in numbers))


@pytest.mark.parametrize("engine", EVERY_ENGINE)
@pytest.mark.parametrize(
    ("kind", "offsets"),
    [
        (pa.binary(), _offsets(0, 10**9, 5)),
        (pa.binary(), _offsets(0, -5, 8)),
        (pa.string(), _offsets(0, -5, 8)),
        (pa.large_binary(), _offsets(0, 2**62, 8, size=8)),
        (pa.large_string(), _offsets(0, 2**62, 8, size=8)),
    ],
)
def test_an_array_whose_offsets_lead_astray_is_refused(
    engine: str, kind: pa.DataType, offsets: pa.Buffer
) -> None:
    array: pa.Array[Any] = pa.Array.from_buffers(
        kind, 2, [None, offsets, pa.py_buffer(b"<a/><b/>")]
    )
    for one in (array, pa.chunked_array([array, array])):
        with pytest.raises(UsageError, match=r"the array of documents is damaged: .*offset"):
            Matcher(["//a"], engine=engine).match_batch(one)


@pytest.mark.parametrize("engine", EVERY_ENGINE)
def test_a_dictionary_whose_indices_lead_astray_is_refused(engine: str) -> None:
    array = pa.DictionaryArray.from_arrays(pa.array([0, 7]), pa.array([b"<a/>"]), safe=False)
    with pytest.raises(UsageError, match=r"the array of documents is damaged: .*out of bounds"):
        Matcher(["//a"], engine=engine).match_batch(array)


@pytest.mark.parametrize("engine", EVERY_ENGINE)
def test_ids_to_skip_are_skipped_in_every_row(engine: str) -> None:
    array = pa.array([b"<a/>", b"<!DOCTYPE a []><a/>", b"<a/>"])
    for rules in ({1: "//a", 2: "//*"}, {1: "//a", 2: "//*", "x": "//y"}):
        matcher = Matcher(rules, engine=engine)
        expected = matcher.match_batch(array, [1])
        once: Any = iter([1])
        assert matcher.match_batch(array, once).equals(expected)


@pytest.mark.parametrize("engine", EVERY_ENGINE)
@pytest.mark.parametrize("threads", [1.5, "2", None, True, -1, 2**63])
def test_threads_are_a_whole_number(engine: str, threads: Any) -> None:  # noqa: ANN401
    with pytest.raises(UsageError, match="threads is a whole number"):
        Matcher(["//a"], engine=engine).match_batch(pa.array([b"<a/>"]), threads=threads)
