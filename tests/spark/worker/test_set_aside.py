"""Whatever a document makes fail inside a worker costs that document, and is told and counted."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from tests.spark.worker.test_shard_probes import stage_of
from twigcast.door import door
from twigcast.errors import DocumentError, InternalError, TwigcastError, UsageError
from twigcast.files import list_documents, open_entries
from twigcast.files.limits import PublicationLimits
from twigcast.language import Pattern
from twigcast.matching import Matcher
from twigcast.routing import Topology
from twigcast.routing.strategy import strategy
from twigcast.spark.storage.tables import TABLES, parquet_schema
from twigcast.spark.worker import crossings
from twigcast.spark.worker import matching as worker
from twigcast.spark.worker import shard_probes as visits
from twigcast.spark.worker.broker_tree import BrokerTree
from twigcast.spark.worker.chunks import cut, plan_bytes
from twigcast.spark.worker.columns import matching_names
from twigcast.spark.worker.crossings import CrossingModel, crossing_model
from twigcast.spark.worker.matching import match_batches, open_chunks
from twigcast.spark.worker.parquet_parts import DEAD_LETTERS, DELIVERIES, write_outcomes
from twigcast.spark.worker.set_aside import (
    Refusal,
    each_alone,
    refusal_by,
    refusal_in,
    row_of,
    texts_of,
)
from twigcast.spark.worker.shard_probes import answer_visits, visit_batches

POISON = b"<a>poison</a>"
ERRORS = [
    KeyError("b"),
    UnicodeDecodeError("utf-8", b"\xed\xb0\x80", 0, 1, "invalid continuation byte"),
    MemoryError(),
    RecursionError("too deep"),
    pa.ArrowInvalid("odd"),
    OSError(5, "Input/output error"),
    AssertionError(),
    ExceptionGroup("two", [ValueError("one"), KeyError("other")]),
]
EVERY_ERROR = pytest.mark.parametrize("error", ERRORS, ids=lambda error: type(error).__name__)


def _batch(*contents: bytes | None, names: list[str] | None = None, origin: bool = False) -> Any:  # noqa: ANN401
    columns: dict[str, pa.Array[Any]] = {
        "document": pa.array(names or [f"d{number}" for number in range(len(contents))]),
        "content": pa.array(contents, pa.binary()),
    }
    if origin:
        where = ["B2" if content == POISON else "B1" for content in contents]
        columns["origin"] = pa.array(where)
    return pa.RecordBatch.from_pydict(columns)


FIVE = (b"<a/>", b"<a", POISON, None, b"<a/>")


def _ways(name: str = "covering") -> CrossingModel:
    tree = BrokerTree.of(Topology.of({"links": [["B1", "B2"]]}).tree())
    return crossing_model(tree, strategy(name), origin=0, brokers=np.zeros(1, np.int32))


def _raising(
    monkeypatch: pytest.MonkeyPatch,
    where: object,
    name: str,
    error: Exception,
) -> None:
    """Have a function fail when the poison is among what it is given."""
    real = getattr(where, name)

    def fails(*given: Any, **named: Any) -> Any:  # noqa: ANN401
        if any(_has_poison(each) for each in (*given, *named.values())):
            raise error
        return real(*given, **named)

    monkeypatch.setattr(where, name, fails)


def _has_poison(given: Any) -> bool:  # noqa: ANN401
    match given:
        case bytes():
            return given == POISON
        case list() | tuple():
            return any(map(_has_poison, given))
        case pa.Array():
            return _has_poison(given.to_pylist())
        case pa.RecordBatch():
            return any(_has_poison(column) for column in given.columns)
        case np.ndarray():
            return given.dtype == np.int32 and 1 in given  # The poison is published at B2.
        case _:
            return False


@EVERY_ERROR
@pytest.mark.parametrize(
    "place",
    [
        (Matcher, "match_batch"),
        (worker, "sha256"),
        (worker, "refusal_of"),
        (worker, "_redeclared"),
        (worker, "_routed"),
        (worker, "advertisement_violations"),
        (worker, "crossings"),
        (crossings, "_departure"),
    ],
    ids=lambda place: place[1],
)
def test_an_error_below_costs_the_document_that_raised_it(
    monkeypatch: pytest.MonkeyPatch, place: tuple[Any, str], error: Exception
) -> None:
    kind = pa.string() if place[1] == "_redeclared" else pa.binary()
    batch = _batch(*FIVE, origin=True)
    batch = batch.set_column(1, "content", batch.column("content").cast(kind))
    through = _ways("advertised")
    matcher = Matcher({0: "//a"})
    (expected,) = match_batches([batch], matcher, crossing_model=through)
    _raising(monkeypatch, *place, error)
    (found,) = match_batches([batch], matcher, crossing_model=through)
    assert found.schema == expected.schema
    rows = found.to_pylist()
    assert [*rows[:2], *rows[3:]] == [
        row for number, row in enumerate(expected.to_pylist()) if number != 2
    ]
    assert (rows[2]["document"], rows[2]["stage"]) == ("d2", "internal")
    assert rows[2]["reason"].startswith(f"matching a document failed: {type(error).__name__}")
    assert (rows[2]["matches"], rows[2]["crossed"]) == (None, None)
    assert rows[2]["bytes"] == len(POISON)


@pytest.mark.parametrize("error", [KeyboardInterrupt(), SystemExit(1)])
def test_who_ends_a_worker_is_not_held_up(
    monkeypatch: pytest.MonkeyPatch, error: BaseException
) -> None:
    _raising(monkeypatch, worker, "sha256", error)  # type: ignore[arg-type]
    with pytest.raises(type(error)):
        list(match_batches([_batch(*FIVE)], Matcher({0: "//a"})))


@EVERY_ERROR
@pytest.mark.parametrize("place", [(worker, "sha256"), (visits, "_visits")])
def test_a_document_that_fails_on_its_way_to_shards_visits_none(
    monkeypatch: pytest.MonkeyPatch, place: tuple[Any, str], error: Exception
) -> None:
    stage = stage_of([Pattern.parse("//a"), Pattern.parse("//b")], 2)
    _raising(monkeypatch, *place, error)
    (found,) = visit_batches([_batch(*FIVE)], stage.hub)
    rows = [row for row in found.to_pylist() if row["document"] == "d2"]
    assert [(row["shard"], row["stage"], row["is_first"]) for row in rows] == [
        (-1, "internal", True)
    ]
    answers = list(answer_visits([found], stage.shards.__getitem__))
    told = {row["document"]: row for batch in answers for row in batch.to_pylist()}
    assert told["d2"]["stage"] == "internal"
    assert told["d0"]["matches"] == told["d4"]["matches"] == [0]


@EVERY_ERROR
def test_a_visit_that_fails_is_a_dead_letter_of_its_shard(
    monkeypatch: pytest.MonkeyPatch, error: Exception
) -> None:
    stage = stage_of([Pattern.parse("//a"), Pattern.parse("//b")], 2)
    (found,) = visit_batches([_batch(*FIVE)], stage.hub)
    _raising(monkeypatch, Matcher, "match_batch", error)
    answers = list(answer_visits([found], stage.shards.__getitem__, None))
    told = {row["document"]: row for batch in answers for row in batch.to_pylist()}
    assert told["d2"]["stage"] == "internal"
    assert type(error).__name__ in told["d2"]["reason"]
    assert told["d0"]["matches"] == told["d4"]["matches"] == [0]


@EVERY_ERROR
def test_a_column_function_gives_null_for_a_document_that_fails(
    monkeypatch: pytest.MonkeyPatch, error: Exception
) -> None:
    matcher, names = Matcher({0: "//a"}), pa.array(["ann"])
    _raising(monkeypatch, Matcher, "match_batch", error)
    found = matching_names(pa.array(FIVE, pa.binary()), matcher, names)
    assert found.to_pylist() == [["ann"], None, None, None, ["ann"]]


@EVERY_ERROR
def test_what_cannot_be_opened_costs_one_document(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, error: Exception
) -> None:
    for number in range(5):
        (tmp_path / f"{number}.xml").write_bytes(b"<a/>")

    def fails(entries: Any, **named: Any) -> Iterator[Any]:  # noqa: ANN401
        for name, content in open_entries(entries, **named):
            if name.endswith("2.xml"):
                raise error
            yield name, content

    monkeypatch.setattr(worker, "open_entries", fails)
    plan = plan_bytes(cut(list(list_documents(tmp_path)), 1))
    numbers = pa.RecordBatch.from_pydict({"id": [0]})
    (batch,) = open_chunks([numbers], plan, patterns=["*.xml"], limits=PublicationLimits())
    (found,) = match_batches([batch], Matcher({0: "//a"}))
    assert found.column("stage").to_pylist() == [None, None, "internal", None, None]
    assert str(found.column("document")[2].as_py()).endswith("2.xml")
    assert "opening a document failed" in str(found.column("reason")[2].as_py())


def test_every_document_may_fail(monkeypatch: pytest.MonkeyPatch) -> None:
    _raising(monkeypatch, worker, "sha256", KeyError("b"))
    (found,) = match_batches([_batch(*[POISON] * 33)], Matcher({0: "//a"}))
    assert found.column("stage").to_pylist() == ["internal"] * 33


def test_dead_letters_of_our_own_are_counted(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    for table in (DELIVERIES, DEAD_LETTERS):
        (tmp_path / table).mkdir()
    _raising(monkeypatch, worker, "sha256", KeyError("b"))
    schemas = {table: parquet_schema(TABLES[table]) for table in (DELIVERIES, DEAD_LETTERS)}
    texts = pa.array(["x"]).dictionary_encode()
    labels = pa.RecordBatch.from_arrays([texts] * 3, ["subscription", "subscriber", "broker"])
    outcomes = match_batches([_batch(*FIVE, POISON)], Matcher({0: "//a"}))
    (receipt,) = write_outcomes(
        outcomes, folder=str(tmp_path), part="p", schemas=schemas, labels=labels
    )
    (told,) = receipt.to_pylist()
    assert (told["documents"], told["dead_letters"], told["internal_errors"]) == (6, 4, 2)


ODD = {
    "the shortest that raised": b"<x xmlns='&#xDC00;'",
    "its siblings": b"<a xmlns:q='&#xD800;'/>",
    "unclosed": b"<a xmlns:q='&#xD800;' b='>",
    "wide": "<a xmlns:q='&#xD800;'/>".encode("utf-16"),
    "with an entity": b"<!DOCTYPE a [<!ENTITY e 'x'>]><a q='&#xD800;'/>",
    "in a text": b"<!DOCTYPE a [<!ENTITY e 'x'>]><a>&#xD800;</a>",
    "nothing": b"",
    "zeros": bytes(100),
}


@pytest.mark.parametrize("kind", [pa.binary(), pa.large_binary(), pa.binary_view(), pa.string()])
def test_odd_documents_are_refused_and_the_others_answered(kind: Any) -> None:  # noqa: ANN401
    contents = [b"<a/>", *ODD.values(), None, b"<a/>"]
    plain = pa.array(contents, pa.binary())
    column = plain.view(kind) if kind == pa.string() else plain.cast(kind)
    batch = pa.RecordBatch.from_arrays(
        [pa.array([str(number) for number in range(len(contents))]), column],
        ["document", "content"],
    )
    (found,) = match_batches([batch], Matcher({0: "//a"}))
    assert found.column("matches").to_pylist() == [[0], *[None] * (len(ODD) + 1), [0]]
    assert None not in found.column("stage").to_pylist()[1:-1]


def test_names_of_any_kind_are_kept_and_what_is_no_unicode_is_spelled_out() -> None:
    names = ["a\nb\x1b[2J", "x" * 1_000_000, "\u202ecod.xml", "same", "same", ""]
    column = pa.array([*(name.encode() for name in names), b"caf\xe9"], pa.binary())
    batch = pa.RecordBatch.from_arrays(
        [column.view(pa.string()), pa.array([b"<a/>"] * 7, pa.binary()), column.view(pa.string())],
        ["document", "content", "origin"],
    )
    (found,) = match_batches([batch], Matcher({0: "//a"}))
    told: list[Any] = found.column("document").to_pylist()
    assert told[:5] == names[:5]
    assert told[5].startswith("sha256:")
    assert told[6] == "caf\\xe9"
    assert found.column("matches").to_pylist() == [[0]] * 7
    (routed,) = match_batches([batch], Matcher({0: "//a"}), crossing_model=_ways())
    assert routed.column("stage").to_pylist() == ["route"] * 5 + [None, "route"]


def test_contents_of_another_type_are_set_aside() -> None:
    batch = pa.RecordBatch.from_pydict({"document": ["a", "b"], "content": [1, 2]})
    (found,) = match_batches([batch], Matcher({0: "//a"}))
    assert found.column("stage").to_pylist() == ["internal"] * 2


def test_all_rows_are_answered_at_once_where_nothing_fails() -> None:
    asked: list[int] = []
    assert _sums([1, 2, 3], asked.append) == [1, 2, 3]
    assert asked == [3]


@pytest.mark.parametrize("count", [1, 2, 3, 64, 100])
def test_one_row_that_fails_takes_few_answers(count: int) -> None:
    asked: list[int] = []
    found = _sums([-1, *range(1, count)], asked.append)
    assert found == [0, *range(1, count)]
    assert len(asked) <= 1 + 2 * count.bit_length()


def _sums(numbers: list[int], asked: Callable[[int], None]) -> list[int]:
    def answer(rows: pa.Array[Any]) -> list[int]:
        asked(len(rows))
        if -1 in rows.to_pylist():
            raise ZeroDivisionError
        return [int(each) for each in rows.to_pylist() if each is not None]

    return each_alone(
        "adding",
        pa.array(numbers, pa.int64()),
        answer,
        aside=lambda _row, _error: [0],
        joined=lambda several: [one for each in several for one in each],
    )


def test_what_fails_without_any_row_is_told() -> None:
    def fails(_: object) -> list[int]:
        raise KeyError("b")

    with pytest.raises(InternalError, match="adding failed: KeyError"):
        each_alone("adding", pa.array([]), fails, aside=lambda *_: [0], joined=lambda _: [])


def test_a_refusal_is_told_as_the_matcher_tells_it() -> None:
    error = DocumentError("end tag\n does not fit", line=3, column=7)
    expected = Refusal("parse", r"end tag\n does not fit", 3, 7)
    assert refusal_in(str(error)) == refusal_by(error) == expected
    assert refusal_by(DocumentError("no", document="a: b, line 7")) == Refusal("parse", "no")
    assert refusal_by(UsageError("no")) == Refusal("match", "no")
    try:
        with door("matching a document"):
            raise KeyError("document: x")
    except TwigcastError as raised:
        assert refusal_in(str(raised)) == refusal_by(raised)  # noqa: PT017
        assert refusal_by(raised).stage == "internal"  # noqa: PT017


def test_texts_and_rows_of_columns() -> None:
    column = pa.array([b"a", None, b"\xff"], pa.binary()).view(pa.string())
    assert texts_of(column) == ["a", None, "\\xff"]
    fields: list[pa.Field[Any]] = [pa.field("a", pa.int64()), pa.field("b", pa.string())]
    assert row_of(pa.schema(fields), b="x").to_pylist() == [{"a": None, "b": "x"}]
