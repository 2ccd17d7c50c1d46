"""A round of brokers that speak, in plain Python over Arrow: what a worker does to find routes.

:mod:`~twigcast.routing.static.route_computation` tells who speaks when. The turns of one round are
shared out to tasks, and all that the brokers have and have heard travels as one Arrow file, the
*plan*, a record batch for each task. Texts stand in it once, however many brokers have heard them;
a row is three numbers::

    broker   source   pattern              broker   neighbour   heard      own
    5        -1       0: /a[@x = '1']      5        2           [1]        ["/a[@x = 1]"]
    5        11       1: /b
    plan: what 5 has (-1) and has heard    answer: what 5 says to 2

The answer is a row for each link that is spoken over. Nearly all that is said was heard before, and
goes back as the number that it came with; only what is new goes as a text.

Workers keep what was received, parsed and compiled for searches, since the same texts come again
with each broker and each round. What a broker's own clients ask for comes twice at most.
"""

from __future__ import annotations

import gc
import io
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import lru_cache
from typing import TYPE_CHECKING, Final, NamedTuple

import numpy as np
import pyarrow as pa

from twigcast.covering.containment.covers import CompiledPattern, compiled_form
from twigcast.files.writing.versioned_files import read_versioned
from twigcast.language import Pattern
from twigcast.language.pattern import CANONICAL_LIMITS
from twigcast.routing.static.route_computation import (
    AdvertisementsByLink,
    Turn,
    compiled_memory,
    forwarded_by,
)
from twigcast.routing.strategy import Strategy

if TYPE_CHECKING:
    from typing import TypeAlias

    from numpy.typing import NDArray

    Numbers: TypeAlias = NDArray[np.int32]

OWN: Final = -1
"""The source of what a broker's own clients ask for."""

PATTERNS_MAX: Final = 250_000
"""Patterns that a worker keeps, parsed and compiled, at about 3 KB each: more than a broker
receives in a network of a million subscriptions, unless these have little to do with each other."""

_PLANS_KEPT: Final = 2
"""Plans that a worker keeps mapped: of the round at hand, and of one beside it."""

_PLAN: Mapping[str, pa.DataType] = {
    "broker": pa.int32(),
    "source": pa.int32(),
    "pattern": pa.dictionary(pa.int32(), pa.string()),
}
PLAN = pa.schema(_PLAN)

_SAID: Mapping[str, pa.DataType] = {
    "broker": pa.int32(),
    "neighbour": pa.int32(),
    "heard": pa.binary(),
    "own": pa.list_(pa.string()),
}
SAID = pa.schema(_SAID)
"""What is said over a link: numbers of the plan, as the bytes of an array, and texts."""


class Round(NamedTuple):
    """What all tasks of a round have to know, besides the plan."""

    strategy: Strategy
    brokers: tuple[str, ...]
    """Their names by number."""
    tasks: tuple[tuple[Turn, ...], ...]
    promises: AdvertisementsByLink


class _RoundRows(NamedTuple):
    """The rows of a task."""

    brokers: Numbers
    sources: Numbers
    codes: Numbers
    patterns: Mapping[int, Pattern]
    """By their numbers in the plan."""


def plan_bytes(tasks: Sequence[pa.RecordBatch]) -> bytes:
    """The plan of a round as an Arrow file; all batches have the same dictionary."""
    sink = io.BytesIO()
    with pa.ipc.new_file(sink, PLAN) as writer:
        for task in tasks:
            writer.write_batch(task)
    return sink.getvalue()


def take_turns(
    numbers: Iterable[pa.RecordBatch], plan: str, told: Round
) -> Iterator[pa.RecordBatch]:
    """What is said in the tasks whose numbers come in the column ``id``."""
    for batch in numbers:
        for number in batch.column("id").to_pylist():
            with _no_collection():
                rows = _read(plan, int(number or 0))
                said = [_taken(turn, rows, told) for turn in told.tasks[int(number or 0)]]
            yield from said


@contextmanager
def _no_collection() -> Iterator[None]:
    """Nobody looks for circles among objects meanwhile.

    What a turn makes has none, and looking for them would take a quarter of its time.
    """
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            gc.enable()


def read_pattern(text: str) -> Pattern:
    """The pattern of a canonical text, or of an expression without prefixes."""
    return Pattern.parse(text, limits=CANONICAL_LIMITS)


_kept = lru_cache(maxsize=PATTERNS_MAX)(read_pattern)
_kept_compiled = compiled_memory(PATTERNS_MAX)


@lru_cache(maxsize=_PLANS_KEPT)
def _mapped(path: str) -> pa.Buffer:
    """A plan in a file, compared with its name when this worker first asks for it."""
    return pa.py_buffer(read_versioned(path))


def _read(plan: str, task: int) -> _RoundRows:
    with pa.ipc.open_file(_mapped(plan)) as reader:
        batch = reader.get_batch(task)
        column = batch.column("pattern")
        assert isinstance(column, pa.DictionaryArray)
        codes = np.array(column.indices, np.int32)
        brokers, sources = (np.array(batch.column(name)) for name in ("broker", "source"))
        heard, met = set(codes[sources != OWN].tolist()), np.unique(codes)
        texts = column.dictionary.take(met).to_pylist()
        patterns = {
            code: (_kept if code in heard else read_pattern)(str(text))
            for code, text in zip(met.tolist(), texts, strict=True)
        }
        return _RoundRows(brokers, sources, codes, patterns)


def _taken(turn: Turn, rows: _RoundRows, told: Round) -> pa.RecordBatch:
    """One broker's turn."""
    place = told.brokers.index(turn.broker)
    here = rows.brokers == place
    sources, codes = rows.sources[here], rows.codes[here]
    by_source = {int(source): codes[sources == source].tolist() for source in np.unique(sources)}
    own = [rows.patterns[code] for code in by_source.pop(OWN, ())]
    heard = {
        told.brokers[source]: [rows.patterns[code] for code in there]
        for source, there in by_source.items()
    }
    code_of = {rows.patterns[code]: code for there in by_source.values() for code in there}

    def compiled_of(pattern: Pattern) -> CompiledPattern:
        return _kept_compiled(pattern) if pattern in code_of else compiled_form(pattern.condition)

    said = forwarded_by(
        told.strategy,
        own,
        heard,
        turn.to,
        advertised={link: told.promises.get((turn.broker, link), ()) for link in turn.to},
        compiled_of=compiled_of,
    )
    found = [
        (
            place,
            told.brokers.index(link),
            np.array([code_of[each] for each in patterns if each in code_of], np.int32).tobytes(),
            [each.text for each in patterns if each not in code_of],
        )
        for link, patterns in said.items()
    ]
    columns = zip(*found, strict=True)
    arrays = [pa.array(column, kind) for column, kind in zip(columns, SAID.types, strict=True)]
    return pa.RecordBatch.from_arrays(arrays, schema=SAID)
