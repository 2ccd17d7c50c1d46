"""The tables of all brokers as one file, of which a worker maps those that it needs.

In the plan ``hops`` a worker decides documents at one broker after the other. What a broker knows
(:mod:`~twigcast.routing.static.static_broker`) is worked out once and travels as a file with a
record batch for each broker, in the order of their numbers
(:mod:`~twigcast.spark.worker.record_files`)::

    links            sizes     matcher                       tables
    north, south     2, 140    compiled, used where it lies  (none)

Without annotations a broker is a compiled matcher, and loading it takes no longer than mapping the
file. With annotations its patterns travel as texts, and are read again: some 50 microseconds for
each. A worker keeps the brokers it has loaded, up to a bound.
"""

from __future__ import annotations

import mmap
import os
from collections import Counter
from contextlib import closing
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast
from uuid import uuid4

import msgspec
import numpy as np
import pyarrow as pa

from twigcast.errors import UsageError
from twigcast.files import VersionedFile
from twigcast.files.writing.durable import sync_file, sync_folder
from twigcast.files.writing.versioned_files import version_of
from twigcast.language import LIBRARY_LIMITS, DocumentLimits, Pattern
from twigcast.language.pattern import CANONICAL_LIMITS
from twigcast.matching import Matcher
from twigcast.routing.events import BrokerId
from twigcast.routing.static.static_broker import (
    AnnotatingBroker,
    PlainBroker,
    StandingTables,
    agreements,
    compiled_tables,
)
from twigcast.routing.wire.annotations import HintsForm, hints_form, read_hints
from twigcast.spark.worker.record_files import RecordFile, RecordFileWriter

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from twigcast.routing.annotations.hints import Hints
    from twigcast.routing.strategy import Strategy
    from twigcast.spark.worker.broker_tree import BrokerTree

_FIELDS: Mapping[str, pa.DataType] = {
    "links": pa.list_(pa.string()),
    "sizes": pa.list_(pa.int64()),
    "matcher": pa.large_binary(),
    "tables": pa.large_binary(),
}
_BROKER = pa.schema(_FIELDS)
_KIND = "brokers"

BROKERS_KEPT = 256
"""Brokers that a worker keeps. One without annotations takes little more than its mapped pages."""

_FILES_KEPT = 4
"""The current version, and a few that other jobs on this worker may still use."""

_LOADS: Counter[HopTables] = Counter()


def tables_of(
    tree: BrokerTree,
    strategy: Strategy,
    *,
    patterns: Sequence[Pattern | None],
    places: Sequence[int],
    routes: pa.Table,
) -> dict[BrokerId, StandingTables]:
    """The tables of all brokers.

    ``patterns`` are those of subscriptions by position (None where one takes no part), ``places``
    the numbers of the brokers they are at. ``routes`` has the columns of the table of that name.
    """
    own: list[dict[int, Pattern]] = [{} for _ in tree.names]
    for position, (pattern, place) in enumerate(zip(patterns, places, strict=True)):
        if pattern is not None:
            own[place][position] = pattern
    known = {pattern.text: pattern for pattern in patterns if pattern is not None}
    led = dict(_by_link(routes, known))
    names = [BrokerId(name) for name in tree.names]
    tables = {
        name: StandingTables(
            own[number],
            {names[far]: led.get((name, names[far]), ()) for far in tree.neighbours(number)},
        )
        for number, name in enumerate(names)
    }
    return agreements(strategy, tables)


def write_tables(
    folder: str | os.PathLike[str],
    tables: Iterable[StandingTables],
    strategy: Strategy,
    *,
    engine: str = "auto",
) -> VersionedFile:
    """Write the tables of brokers, in the order of their numbers, under a name with their hash.

    One broker after the other: all together may be more than a driver should hold.
    """
    unfinished = Path(folder) / f"brokers.{uuid4().hex}.tmp"
    try:
        with closing(RecordFileWriter(str(unfinished), _KIND)) as writer:
            for each in tables:
                writer.write_batch(_written(each, strategy, engine))
        sync_file(unfinished)
        with unfinished.open("rb") as file:
            version = version_of(mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ))
        path = unfinished.with_name(f"brokers-{version}.arrow")
        unfinished.replace(path)
        sync_folder(folder)
    finally:
        unfinished.unlink(missing_ok=True)
    return VersionedFile(path, version)


def _written(tables: StandingTables, strategy: Strategy, engine: str) -> pa.RecordBatch:
    links = sorted(tables.routes)
    row: dict[str, object] = {
        "links": links,
        "sizes": [len(tables.routes[link]) for link in links],
        "matcher": None,
        "tables": None,
    }
    if strategy.protocol == "none":
        row["matcher"] = compiled_tables(tables, engine=engine).to_bytes()
    else:
        row["tables"] = _ENCODER.encode(_form(tables))
    return pa.RecordBatch.from_pylist([row], schema=_BROKER)


@dataclass(frozen=True, slots=True)
class HopTables:
    """A file of tables on this machine, and how they are to be read."""

    path: str
    version: str
    strategy: Strategy
    engine: str = "auto"
    limits: DocumentLimits = LIBRARY_LIMITS

    def broker(self, number: int) -> PlainBroker | AnnotatingBroker:
        """The broker with this number, loaded when this worker first needs it."""
        return _loaded_broker(self, number)

    @property
    def loads(self) -> int:
        """How many brokers this worker has loaded."""
        return _LOADS[self]


@lru_cache(maxsize=BROKERS_KEPT)
def _loaded_broker(tables: HopTables, number: int) -> PlainBroker | AnnotatingBroker:
    _LOADS[tables] += 1
    batch = _mapped(tables.path).get_batch(number)
    if tables.strategy.protocol != "none":
        form = _DECODER.decode(batch.column("tables")[0].as_buffer())
        return AnnotatingBroker(
            tables.strategy, _read(form), engine=tables.engine, limits=tables.limits
        )
    mapped = memoryview(_content(batch.column("matcher"))).cast("B")
    links = map(BrokerId, batch.column("links")[0].as_py())
    sizes = dict(zip(links, batch.column("sizes")[0].as_py(), strict=True))
    matcher = Matcher.from_buffer(mapped, engine=tables.engine, limits=tables.limits)
    return PlainBroker(matcher, sizes)


def _content(column: pa.Array[Any]) -> pa.Buffer:
    """The bytes of the first row, where they lie: as a single value, Arrow would copy them."""
    _, offsets, content = column.buffers()
    assert offsets is not None
    assert content is not None
    places = memoryview(offsets).cast("B").cast("q")  # of a large binary, 64 bits each
    start, end = places[column.offset], places[column.offset + 1]
    return content.slice(start, end - start)


@lru_cache(maxsize=_FILES_KEPT)
def _mapped(path: str) -> RecordFile:
    return RecordFile(path, _KIND, _BROKER)


def _by_link(
    routes: pa.Table, known: Mapping[str, Pattern]
) -> Iterator[tuple[tuple[BrokerId, BrokerId], tuple[Pattern, ...]]]:
    """The patterns of each link that has some; rows of one link stand together."""
    columns = [_encoded(routes.column(name)) for name in ("broker", "neighbour", "pattern")]
    brokers, neighbours, texts = (_texts(column) for column in columns)
    patterns = [known.get(text) or _parsed(text) for text in texts]
    codes = [np.asarray(column.indices) for column in columns]
    if not len(codes[0]):
        return
    changes = (np.diff(codes[0]) != 0) | (np.diff(codes[1]) != 0)
    starts = [0, *(np.flatnonzero(changes) + 1).tolist(), len(codes[0])]
    for start, end in pairwise(starts):
        link = BrokerId(brokers[codes[0][start]]), BrokerId(neighbours[codes[1][start]])
        yield link, tuple(patterns[code] for code in codes[2][start:end])


def _encoded(column: pa.ChunkedArray[Any]) -> pa.DictionaryArray[Any, Any]:
    whole = column.combine_chunks()
    if not pa.types.is_dictionary(whole.type):
        whole = whole.dictionary_encode()
    return cast("pa.DictionaryArray[Any, Any]", whole)


def _texts(column: pa.DictionaryArray[Any, Any]) -> list[str]:
    return cast("list[str]", column.dictionary.to_pylist())


# Tables with what brokers have agreed on, as texts.


class _Link(msgspec.Struct, array_like=True):
    name: str
    routes: list[int]
    sent: list[str]
    hints: HintsForm | None


class _Tables(msgspec.Struct, array_like=True):
    own: dict[int, int]
    patterns: list[str]
    """Subscriptions and routes are numbers in this list."""
    links: list[_Link]
    covered: dict[str, list[int]]


_ENCODER = msgspec.msgpack.Encoder()
_DECODER = msgspec.msgpack.Decoder(_Tables)


def _form(tables: StandingTables) -> _Tables:
    patterns = tables.patterns
    numbers = {pattern: number for number, pattern in enumerate(patterns)}
    return _Tables(
        {position: numbers[pattern] for position, pattern in tables.own.items()},
        [pattern.text for pattern in patterns],
        [
            _Link(
                link,
                [numbers[pattern] for pattern in routes],
                [pattern.text for pattern in tables.sent.get(link, ())],
                _hints_form(tables.hints.get(link)),
            )
            for link, routes in tables.routes.items()
        ],
        {
            sent.text: [numbers[pattern] for pattern in covered]
            for sent, covered in tables.covered.items()
        },
    )


def _hints_form(hints: Hints | None) -> HintsForm | None:
    """None for hints that are too large to cross a link: no annotations then, as with routers."""
    try:
        return None if hints is None else hints_form(hints)
    except UsageError:
        return None


def _read(form: _Tables) -> StandingTables:
    patterns = [_parsed(text) for text in form.patterns]
    known = dict(zip(form.patterns, patterns, strict=True))

    def pattern(text: str) -> Pattern:
        return known.get(text) or known.setdefault(text, _parsed(text))

    return StandingTables(
        {position: patterns[number] for position, number in form.own.items()},
        {BrokerId(link.name): tuple(patterns[each] for each in link.routes) for link in form.links},
        {BrokerId(link.name): tuple(map(pattern, link.sent)) for link in form.links},
        {
            pattern(sent): tuple(patterns[number] for number in covered)
            for sent, covered in form.covered.items()
        },
        {
            BrokerId(link.name): read_hints(link.hints)
            for link in form.links
            if link.hints is not None
        },
    )


def _parsed(text: str) -> Pattern:
    return Pattern.parse(text, None, CANONICAL_LIMITS)
