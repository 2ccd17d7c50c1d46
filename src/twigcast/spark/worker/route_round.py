"""A round of the route computation on a worker, in plain Python over Arrow.

The steps of a round (:mod:`~twigcast.routing.static.route_computation`) are shared out to tasks.
All patterns that the brokers have and have received travel as one Arrow file, the *plan*, a record
batch for each task. Texts stand in it once, however many brokers have received them; a row is three
numbers::

    broker   source   pattern               broker   neighbour   known      new
    5        -1       0: /a[@x = '1']       5        2           [1]        ["/a[@x = 1]"]
    5        11       1: /b
    plan: what 5 has (-1) and has received  answer: what 5 sends to 2

The answer is a row for each link that something is sent over. Nearly all that is sent is in the
plan, and goes back as the number that it has there; only what is new goes as a text.

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
    SweepStep,
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

_SENT: Mapping[str, pa.DataType] = {
    "broker": pa.int32(),
    "neighbour": pa.int32(),
    "known": pa.binary(),
    "new": pa.list_(pa.string()),
}
SENT = pa.schema(_SENT)
"""What is sent over a link: numbers of the plan, as the bytes of an array, and texts."""


class Round(NamedTuple):
    """What all tasks of a round need besides the plan."""

    strategy: Strategy
    brokers: tuple[str, ...]
    """Their names by number."""
    tasks: tuple[tuple[SweepStep, ...], ...]
    advertisements: AdvertisementsByLink


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


def run_steps(
    numbers: Iterable[pa.RecordBatch], plan: str, sweep_round: Round
) -> Iterator[pa.RecordBatch]:
    """What is sent in the tasks whose numbers come in the column ``id``."""
    for batch in numbers:
        for number in batch.column("id").to_pylist():
            with _no_collection():
                rows = _read(plan, int(number or 0))
                steps = sweep_round.tasks[int(number or 0)]
                answers = [_answer(step, rows, sweep_round) for step in steps]
            yield from answers


@contextmanager
def _no_collection() -> Iterator[None]:
    """No garbage collection, which would take a quarter of the time: a step makes no cycles."""
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


_stored_pattern = lru_cache(maxsize=PATTERNS_MAX)(read_pattern)
_stored_compiled = compiled_memory(PATTERNS_MAX)


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
        received, used = set(codes[sources != OWN].tolist()), np.unique(codes)
        texts = column.dictionary.take(used).to_pylist()
        patterns = {
            code: (_stored_pattern if code in received else read_pattern)(str(text))
            for code, text in zip(used.tolist(), texts, strict=True)
        }
        return _RoundRows(brokers, sources, codes, patterns)


def _answer(step: SweepStep, rows: _RoundRows, sweep_round: Round) -> pa.RecordBatch:
    """What a broker sends in one step."""
    place = sweep_round.brokers.index(step.broker)
    at_broker = rows.brokers == place
    sources, codes = rows.sources[at_broker], rows.codes[at_broker]
    by_source = {int(source): codes[sources == source].tolist() for source in np.unique(sources)}
    own = [rows.patterns[code] for code in by_source.pop(OWN, ())]
    received = {
        sweep_round.brokers[source]: [rows.patterns[code] for code in there]
        for source, there in by_source.items()
    }
    code_of = {rows.patterns[code]: code for there in by_source.values() for code in there}

    def compiled_of(pattern: Pattern) -> CompiledPattern:
        return _stored_compiled(pattern) if pattern in code_of else compiled_form(pattern.condition)

    sent = forwarded_by(
        sweep_round.strategy,
        own,
        received,
        step.to,
        advertised={
            link: sweep_round.advertisements.get((step.broker, link), ()) for link in step.to
        },
        compiled_of=compiled_of,
    )
    answers = [
        (
            place,
            sweep_round.brokers.index(link),
            np.array([code_of[each] for each in patterns if each in code_of], np.int32).tobytes(),
            [each.text for each in patterns if each not in code_of],
        )
        for link, patterns in sent.items()
    ]
    columns = zip(*answers, strict=True)
    arrays = [pa.array(column, kind) for column, kind in zip(columns, SENT.types, strict=True)]
    return pa.RecordBatch.from_arrays(arrays, schema=SENT)
