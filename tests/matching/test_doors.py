"""What nobody foresaw leaves every entrance as an InternalError, and the matcher goes on.

That every entrance has a door is the business of ``tests/test_doors.py``.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pyarrow as pa
import pytest

from tests.engines import EVERY_ENGINE
from twigcast import Matcher, explain
from twigcast.errors import InternalError, UsageError
from twigcast.language import Document, Pattern
from twigcast.matching import Matcher as CoreMatcher

RAISED = [
    KeyError("b"),
    RecursionError("too deep"),
    UnicodeDecodeError("utf-8", b"\xed", 0, 1, "invalid continuation byte"),
    MemoryError(),
    AttributeError("no such thing"),
    AssertionError(),
]


def _failing(error: BaseException) -> Callable[..., None]:
    def fail(*_: object, **__: object) -> None:
        raise error

    return fail


CALLS: dict[str, Callable[[CoreMatcher], object]] = {
    "match": lambda matcher: matcher.match(b"<a/>"),
    "decide": lambda matcher: matcher.decide(b"<a/>"),
    "find": lambda matcher: matcher.find(b"<a/>"),
    "match_links": lambda matcher: matcher.match_links(b"<a/>", {"x": [1]}),
    "add": lambda matcher: matcher.add(2, "//b"),
    "add a text": lambda matcher: matcher.add("two", "//b"),
    "remove": lambda matcher: matcher.remove(1),
    "statistics": lambda matcher: matcher.statistics(),
}
BELOW = {"match": "decide", "find": "decide", "match_links": "decide_links", "add a text": "add"}


@pytest.mark.parametrize("engine", EVERY_ENGINE)
@pytest.mark.parametrize("call", CALLS)
@pytest.mark.parametrize("error", RAISED, ids=lambda error: type(error).__name__)
def test_an_engine_that_fails_is_told_and_the_matcher_goes_on(
    engine: str, call: str, error: Exception, monkeypatch: pytest.MonkeyPatch
) -> None:
    matcher = Matcher({1: "//a"}, engine=engine)
    with monkeypatch.context() as patch:
        patch.setattr(matcher._engine, BELOW.get(call, call), _failing(error))
        with pytest.raises(InternalError) as caught:
            CALLS[call](matcher)
    assert caught.value.__cause__ is error
    assert (len(matcher), 1 in matcher, 2 in matcher, "two" in matcher) == (1, True, False, False)
    assert matcher.match(b"<a/>") == [1]
    CALLS[call](matcher)
    counted = matcher.statistics().internal_errors
    assert counted == (call in {"match", "decide", "find", "match_links"})


@pytest.mark.parametrize("engine", EVERY_ENGINE)
@pytest.mark.parametrize("error", RAISED, ids=lambda error: type(error).__name__)
def test_in_a_batch_it_costs_its_own_row(
    engine: str, error: Exception, monkeypatch: pytest.MonkeyPatch
) -> None:
    matcher = Matcher({1: "//a", 2: "//b/namespace::q"}, engine=engine)
    decide = matcher._engine.decide

    def failing(document: Document, skip: Any) -> object:  # noqa: ANN401
        if b"poison" in document.content:
            raise error
        return decide(document, skip)

    poison = b"<a>poison<b/></a>"  # the kernel leaves it to libxml2
    monkeypatch.setattr(matcher._engine, "decide", failing)
    rows = matcher.match_batch(pa.array([b"<a/>", poison, b"<a/>", b"<a"])).to_pydict()
    assert rows["matches"] == [[1], None, [1], None]
    assert [bool(one) for one in rows["error"]] == [False, True, False, True]
    assert type(error).__name__ in rows["error"][1]
    assert (matcher.statistics().internal_errors, matcher.statistics().refused) == (1, 1)


def test_a_kernel_that_fails_on_a_batch_is_asked_row_by_row(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    matcher = Matcher({1: "//a"})
    monkeypatch.setattr(
        "twigcast.matching.engines.native_batch.decided_rows", _failing(KeyError("b"))
    )
    assert matcher.match_batch(pa.array([b"<a/>", b"<b/>"])).to_pydict()["matches"] == [[1], []]


@pytest.mark.parametrize("interrupt", [KeyboardInterrupt(), SystemExit(3)])
def test_an_interrupt_passes_every_door(
    interrupt: BaseException, monkeypatch: pytest.MonkeyPatch
) -> None:
    matcher = Matcher({1: "//a"})
    monkeypatch.setattr(matcher._engine, "decide", _failing(interrupt))
    with pytest.raises(type(interrupt)):
        matcher.match(b"<a/>")


@pytest.mark.parametrize(
    ("below", "call"),
    [
        ("twigcast.language.document.parse._parsed", lambda: Document.parse(b"<a/>")),
        ("twigcast.language.pattern.fast_meaning", lambda: Pattern.parse("//a")),
        ("twigcast.language.pattern.fast_meaning", lambda: Pattern("//a")),
        ("twigcast.matching.engines.lxml.LxmlEngine.decide", lambda: explain("//a", b"<a/>")),
    ],
)
def test_the_other_entrances_tell_it_too(
    below: str, call: Callable[[], object], monkeypatch: pytest.MonkeyPatch
) -> None:
    error = RecursionError("too deep")
    with monkeypatch.context() as patch:
        patch.setattr(below, _failing(error))
        with pytest.raises(InternalError) as caught:
            call()
    assert caught.value.__cause__ is error
    assert call()


@pytest.mark.parametrize("engine", EVERY_ENGINE)
@pytest.mark.parametrize(
    "call",
    [
        lambda matcher: matcher.match(5),
        lambda matcher: matcher.match(b"<a/>", skip=5),
        lambda matcher: matcher.find(b"<a/>", skip=5),
        lambda matcher: matcher.match_batch([b"<a/>"]),
        lambda matcher: matcher.match_batch(pa.array([b"<a/>"]), skip=5),
        lambda matcher: matcher.match_links(b"<a/>", 5),
        lambda matcher: matcher.add(2, 5),
        lambda matcher: matcher.add(2, "//b", 5),
        lambda matcher: matcher.add(2.5, "//b"),
        lambda matcher: matcher.remove(2.5),
    ],
)
def test_what_the_caller_cannot_mean_is_theirs_to_mend(
    engine: str, call: Callable[[Any], object]
) -> None:
    matcher = Matcher({1: "//a"}, engine=engine)
    with pytest.raises(UsageError):
        call(matcher)
    assert matcher.match(b"<a/>") == [1]
    assert len(matcher) == 1
