"""Dumps cut into ranges, so that many tasks share one file.

The driver cuts and composes, and workers find the effects of ranges, each file read once
(:mod:`twigcast.files.documents.record_ranges`). What comes of it are entries like any others. A
dump that cannot be cut stays one entry, read by one task from its beginning.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace
from typing import TYPE_CHECKING, Final

import pyarrow as pa

from twigcast.errors import DocumentError
from twigcast.files.documents.publications import Entry, EntryKind
from twigcast.files.documents.record_ranges import (
    Cuts,
    RecordRange,
    cut_dump,
    effects_of,
    record_ranges,
)
from twigcast.language.records.selector import RecordSelector

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pyspark.sql import SparkSession

RANGE_BYTES_MIN: Final = 1 << 20
"""Less is read by one task in a few milliseconds."""

RANGE_BYTES_MAX: Final = 32 << 20
"""A worker that finds no tag in a range holds all of it in memory."""

_TASKS_PER_CORE: Final = 4


def with_ranges(
    spark: SparkSession, entries: Sequence[Entry], selector: RecordSelector, *, cores: int
) -> list[Entry]:
    """The entries, with dumps that can be cut replaced by their ranges."""
    total = sum(entry.size for entry in entries if entry.kind is EntryKind.FILE)
    range_bytes = min(max(total // (_TASKS_PER_CORE * cores), RANGE_BYTES_MIN), RANGE_BYTES_MAX)
    cuts = {
        number: found
        for number, entry in enumerate(entries)
        if entry.kind is EntryKind.FILE
        and (found := cut_dump(entry.path, range_bytes=range_bytes)) is not None
    }
    effects = _effects(spark, list(cuts.values()), selector, tasks_max=_TASKS_PER_CORE * cores)
    shared: list[Entry] = []
    for number, entry in enumerate(entries):
        ranges: list[RecordRange] = []
        if number in cuts:
            # Where it cannot be read any more, whoever reads it as a whole will tell.
            with suppress(OSError, DocumentError):
                ranges = record_ranges(cuts[number], next(effects), selector)
        shared += [replace(entry, part=part) for part in ranges] or [entry]
    return shared


def _effects(
    spark: SparkSession, cuts: Sequence[Cuts], selector: RecordSelector, *, tasks_max: int
) -> Iterator[list[bytes]]:
    """The effects of all ranges of each dump, found by workers.

    A range takes less time than a task costs Spark, so a task has several.
    """
    places = [(dump, number) for dump in cuts for number in range(len(dump.starts))]

    def work(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for batch in batches:
            for place in batch.column("id").to_pylist():
                dump, number = places[int(place or 0)]
                effects = effects_of(dump, number, selector)
                yield pa.RecordBatch.from_pydict({"id": [place], "effects": [effects]})

    found: dict[int, bytes] = {}
    if places:
        ranges = spark.range(0, len(places), 1, min(len(places), tasks_max))
        rows = ranges.mapInArrow(work, "id long, effects binary").collect()
        found = {row["id"]: bytes(row["effects"]) for row in rows}
    first = 0
    for dump in cuts:
        yield [found[first + number] for number in range(len(dump.starts))]
        first += len(dump.starts)
