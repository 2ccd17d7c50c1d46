"""The kernel's Python face: its types are what the stub says, and no mistake of ours breaks it.

Whatever it is given, it answers with a value or with a Python exception of the usual kinds. A panic
would come as ``RuntimeError`` (or worse), which none of these tests takes for an answer.
"""

from __future__ import annotations

import math
import os
import struct
import subprocess
import sys
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import pyarrow as pa
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from lxml import etree

from tests.strategies import THOROUGH
from twigcast.language import Pattern
from twigcast.language.condition.model import Not
from twigcast.language.document.parse import LIBRARY_LIMITS
from twigcast.matching import Matcher

if TYPE_CHECKING:
    import twigcast_kernel as kernel
else:
    kernel = pytest.importorskip("twigcast_kernel", reason="the kernel is not built")

ROOT = Path(__file__).resolve().parents[2]
LIMITS = (LIBRARY_LIMITS.bytes_max, 1_000_000, 256, 1_000, 1_000, 131_072)
USUAL = (TypeError, ValueError, KeyError, OverflowError, BufferError)

as_number = cast("Callable[..., float]", etree.XPath("number($text)"))
NOWHERE = etree.Element("nowhere")


def index_of(*xpaths: str) -> kernel.Index:
    index = kernel.Index(float, LIMITS)
    for number, xpath in enumerate(xpaths):
        index.add(number, Pattern.parse(xpath).condition, residual=False)
    return index


# Numbers.

_digits = st.text("0123456789", max_size=30)
_blanks = st.text(" \t\n\r", max_size=2)
_near_numbers = st.builds(
    "".join,
    st.tuples(
        _blanks,
        st.sampled_from(["", "-", "+", "--", "- "]),
        _digits,
        st.sampled_from(["", ".", ".."]),
        _digits,
        st.sampled_from(["", "e5", "E-7", "e+12", "e", "e400", "e-400", "x", "\xa0"]),
        _blanks,
    ),
)


@THOROUGH
@given(st.one_of(_near_numbers, st.text("0123456789.+-eE \t\n", max_size=12), st.floats().map(str)))
def test_a_number_is_read_bit_by_bit_as_libxml2_reads_it(text: str) -> None:
    expected, told = as_number(NOWHERE, text=text), kernel.number(text)
    if math.isnan(expected):
        assert math.isnan(told)
    else:
        assert struct.pack("<d", told) == struct.pack("<d", expected)


@pytest.mark.parametrize(
    "text", ["", "-", ".", "-0", "-.0", "9" * 400, "0." + "0" * 400 + "1", "1e"]
)
def test_a_number_at_the_edge_is_read_as_libxml2_reads_it(text: str) -> None:
    assert repr(kernel.number(text)) == repr(as_number(NOWHERE, text=text))


# Odd arguments.

ODD: list[Any] = [
    None, "", "x", b"", b"<a/>", 0, -1, 2**63, 2**80, 1.5, [], [1], ["x"], [2**70], [[1]], (),
    object(), "\ud800", memoryview(b"<a/>"), memoryview(bytes(8)).cast("i"), {"a": 1}, float("nan"),
]  # fmt: skip
_odd = st.sampled_from(range(len(ODD))).map(ODD.__getitem__)  # Some cannot be hashed.


@THOROUGH
@given(st.data())
def test_odd_arguments_get_a_value_or_one_of_the_usual_exceptions(data: st.DataObject) -> None:
    index = index_of("//a", "//b[. = 'x']")
    doors: list[tuple[Callable[..., Any], int]] = [
        (lambda one, two, three: index.add(one, two, residual=three), 3),
        (index.remove, 1),
        (index.__contains__, 1),
        (index.condition, 1),
        (index.match, 2),
        (index.match_events, 2),
        (index.links, 1),
        (lambda one, two: index.match_links(one, index.links([[1]]), two), 2),
        (lambda one, two: index.match_links(b"<a/>", one, two), 2),
        (kernel.Index.from_buffer, 3),
        (lambda one, two: kernel.Index(one, LIMITS, two), 2),
        (kernel.Index, 2),
        (kernel.outline, 1),
        (kernel.number, 1),
    ]
    door, arity = data.draw(st.sampled_from(doors))
    arguments = data.draw(st.lists(_odd, min_size=arity, max_size=arity))
    try:
        door(*arguments)
    except USUAL:
        assert len(index) == 2
    # Whatever came of it, the index goes on.
    assert index.match(b"<a/>", []) == ([0] if 0 in index else [], [], [])


@given(
    st.binary(max_size=40),
    st.lists(st.integers(-2, 45), max_size=5),
    st.sampled_from([0, 1, 3, 2**61, 2**62, 2**63, 2**64 - 1]),
    st.sampled_from([0, 1, 2, 4, 2**40]),
    st.sampled_from([4, 8]),
)
def test_offsets_that_do_not_fit_are_refused(
    content: bytes, offsets: list[int], first: int, count: int, width: int
) -> None:
    packed = b"".join(one.to_bytes(width, "little", signed=True) for one in offsets)
    fits = first + count < len(offsets) and all(
        0 <= one <= two <= len(content)
        for one, two in zip(
            offsets[first : first + count], offsets[first + 1 : first + count + 1], strict=True
        )
    )

    def match() -> tuple[Any, ...]:
        return index_of("//a").match_batch(
            memoryview(content),
            memoryview(packed),
            wide=width == 8,
            decoded=False,
            first=first,
            count=count,
            skip=[],
            threads=2,
        )

    if fits or not count:
        assert len(match()[0]) == 4 * (count + 1)
    else:
        with pytest.raises(ValueError, match="offsets do not fit"):
            match()


def test_a_buffer_with_gaps_or_backwards_is_refused() -> None:
    backwards, gaps = memoryview(bytes(8))[::-1], memoryview(bytes(16))[::2]
    for content, offsets in ((backwards, gaps), (gaps, memoryview(bytes(8)))):
        with pytest.raises(ValueError, match="not contiguous"):
            index_of("//a").match_batch(
                content, offsets, wide=False, decoded=False, first=0, count=1, skip=[], threads=1
            )
        with pytest.raises(ValueError, match="not contiguous"):
            kernel.Index.from_buffer(content, float, LIMITS)


@example([("", "a"), ("",), ("", "x", "1"), ()])
@example([("", "a"), ("", "b"), (), ("", "x", "1"), ()])
@given(st.lists(st.sampled_from([(), ("",), ("x",), ("", "a"), ("", "x", "1"), ("", "b")])))
def test_events_make_a_document_or_are_refused(events: list[tuple[str | None, ...]]) -> None:
    index = index_of("//a", "//@x", "//text()")
    depth, roots, whole, may_have = 0, 0, True, False
    for event in events:
        whole &= depth > 0 or (len(event) == 2 and not roots)
        whole &= len(event) != 3 or may_have
        may_have = len(event) in {2, 3}
        roots += len(event) == 2 and not depth
        depth += {2: 1, 0: -1}.get(len(event), 0)
    if whole and roots and not depth:
        matches, candidates, undecided = index.match_events(events, [])
        assert ((0 in matches), candidates, undecided) == (("", "a") in events, [], [])
        assert (1 in matches, 2 in matches) == (
            any(len(event) == 3 for event in events),
            any(len(event) == 1 for event in events),
        )
    else:
        with pytest.raises(ValueError, match=r"\w"):
            index.match_events(events, [])


def test_an_id_is_added_once_and_removed_once() -> None:
    index = index_of("//a")
    with pytest.raises(KeyError):
        index.add(0, Pattern.parse("//b").condition, residual=False)
    assert (index.remove(0), index.remove(0), len(index)) == (True, False, 0)
    with pytest.raises(KeyError):
        index.condition(0)


def test_groups_that_another_index_made_are_looked_up_anew() -> None:
    first, second = index_of("//a", "//b"), index_of("//b", "//a", "//c")
    links = first.links([[0], [1], [2]])
    assert first.match_links(b"<a/>", links, []) == [True, False, False]
    assert second.match_links(b"<a/>", links, []) == [False, True, False]
    assert first.match_links(b"<b/>", links, []) == [False, True, False]


def test_groups_of_an_index_that_changed_as_often_are_looked_up_anew() -> None:
    first, second = index_of("//a", "//b"), index_of()
    for number, xpath in ((1, "//a"), (0, "//b")):
        second.add(number, Pattern.parse(xpath).condition, residual=False)
    links = first.links([[0], [1]])
    assert second.match_links(b"<a/>", links, []) == [False, True]
    assert first.match_links(b"<a/>", links, []) == [True, False]


def test_a_condition_nested_without_end_is_refused() -> None:
    deep = Pattern.parse("//a").condition
    for _ in range(100_000):
        deep = Not(deep)
    with pytest.raises(ValueError, match="too deep"):
        kernel.Index(float, LIMITS).add(1, deep, residual=False)
    while isinstance(deep, Not):  # One by one: the interpreter would go too deep, too.
        deep = deep.part


# Threads.


def test_threads_match_in_every_way_while_another_adds_and_removes() -> None:
    matcher = Matcher(engine="native")
    matcher.add(0, "//price")
    matcher.add(-1, "//price[last()]")
    content = b"<feed><trade id='7'><price>120</price></trade><note/></feed>"
    array = pa.array([content, b"<broken>", content])
    groups = matcher.groups({"always": [0], "never": [8], "sometimes": [7]})

    def churn() -> None:
        for _ in range(3):
            for number in range(1, 100):
                matcher.add(number, f"//trade[@id='{number}']/price[. > 5]")
            for number in range(1, 100):
                matcher.remove(number)

    def read() -> None:
        for _ in range(60):
            assert {-1, 0} <= set(matcher.match(content)) <= {-1, 0, 7}
            linked = set(matcher.match_links(content, groups))
            assert {"always"} <= linked <= {"always", "sometimes"}
            rows = matcher.match_batch(array, threads=2).column("matches").to_pylist()
            assert rows[1] is None
            assert {-1, 0} <= set(rows[2] or ()) <= {-1, 0, 7}
            assert len(Matcher.from_buffer(matcher.to_bytes())) >= 2
            assert matcher.statistics().subscriptions >= 2

    with ThreadPoolExecutor(3) as pool:
        jobs = [pool.submit(job) for job in (churn, read, read)]
        for job in jobs:
            job.result()
    assert matcher.match(content) == [-1, 0]


def test_no_document_is_lost_count_of_however_many_threads_read() -> None:
    # More at a time than workspaces are kept for.
    index, threads = index_of("//b"), 60
    large = b"<a>" + b"<b/><c>text</c>" * 80_000 + b"</a>"
    with ThreadPoolExecutor(threads) as pool:
        found = list(pool.map(lambda _: index.match(large, []), range(threads)))
    assert found == [([0], [], [])] * threads
    assert index.statistics()["documents"] == threads


# Types.


def test_the_stub_says_what_the_kernel_has(tmp_path: Path) -> None:
    allowed = tmp_path / "allowed"
    # The first is how maturin packs it; the second is there from Python 3.12 on.
    allowed.write_text("twigcast_kernel.twigcast_kernel\ntwigcast_kernel.Slab.__buffer__\n")
    found = subprocess.run(
        [
            *(sys.executable, "-m", "mypy.stubtest", "twigcast_kernel"),
            *("--mypy-config-file", "pyproject.toml", "--allowlist", str(allowed)),
            "--ignore-unused-allowlist",
        ],
        cwd=ROOT,
        env=os.environ | {"MYPYPATH": "kernel", "MYPY_CACHE_DIR": str(tmp_path / "cache")},
        capture_output=True,
        text=True,
        check=False,
    )
    assert found.returncode == 0, found.stdout + found.stderr
