"""Documents shared out in chunks of about equal work, one chunk for each Spark task.

Reading a folder with one Spark task (or one file-source row) per document would cost more than
matching it. So the driver lists the documents with their sizes and cuts the list into chunks::

    listing     a.xml  b.xml  c.zip!1  c.zip!2  c.zip!3  d.tar
    chunks     |------ 0 ------|---------- 1 -----------|-- 2 --|

A chunk is a run of the listing, so files are read in the order in which they lie and a zip
archive is shared out by ranges of members; a tar archive, which can only be read from its start,
is never cut. A dump whose records are the documents comes in as its ranges, an entry each
(:mod:`twigcast.files.documents.record_ranges`). Which chunk a document falls into changes nothing
but who reads it.

The chunks travel to the workers as one Arrow file, a record batch for each chunk: a task is told
the number of its chunk and maps the file to read just that. A small one, such as that of a batch of
a stream, travels with the tasks, since Spark never forgets a file that it was given. Paths are
bytes in it, since not every path is valid text.
"""

from __future__ import annotations

import io
import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from itertools import accumulate
from pathlib import Path

import pyarrow as pa

from twigcast.errors import DocumentError
from twigcast.files.archives.members import without_packing
from twigcast.files.documents.publications import Entry, EntryKind
from twigcast.files.documents.record_ranges import RecordRange
from twigcast.files.writing.versioned_files import read_versioned

_FIELDS: Mapping[str, pa.DataType] = {
    "kind": pa.string(),
    "name": pa.string(),
    "path": pa.binary(),
    "member": pa.int64(),
    "size": pa.int64(),
    "refusal": pa.string(),
    "part": pa.binary(),
}
PLAN = pa.schema(_FIELDS)

_OPENING_BYTES = 4096
"""Opening a document costs about as much as matching this many bytes."""

_PACKED_GROWTH = 5
"""Text is several times larger unpacked."""

CARRIED_BYTES_MAX = 4 << 20
"""What is no larger travels with the tasks: plans of some 20,000 documents, and, to a Spark that
runs elsewhere, each file of some 8,000 compiled subscriptions."""

_KEPT = 2
"""Plans that a worker keeps mapped: of the run at hand, and of one beside it."""

CHUNK_BYTES_MIN = 8 << 20
"""A task costs Spark, its worker and the disk as much as some hundreds of documents: 1,000 of 8 KB
took twice as long in eight tasks as in two. Opening counts as bytes do."""

CHUNK_BYTES_MAX = 64 << 20
"""A chunk that is lost with its worker is read again, so it should not be much."""


def chunk_count(entries: Sequence[Entry], *, cores: int) -> int:
    """How many chunks suit the work: several for each core, so that none waits long for another.

    Little work is shared out to fewer.
    """
    work = sum(map(_work, entries))
    suits = min(4 * cores, work // CHUNK_BYTES_MIN + 1)
    return max(1, min(len(entries), max(work // CHUNK_BYTES_MAX + 1, suits)))


def cut(entries: Sequence[Entry], count: int) -> list[list[Entry]]:
    """The entries in at most ``count`` runs of about equal work, none of them empty."""
    works = [_work(entry) for entry in entries]
    total = sum(works)
    runs: dict[int, list[Entry]] = {}
    for entry, work, until in zip(entries, works, accumulate(works), strict=True):
        # An entry goes where its middle falls.
        runs.setdefault((2 * until - work) * count // (2 * total), []).append(entry)
    return list(runs.values())


def plan_bytes(chunks: Iterable[Iterable[Entry]]) -> bytes:
    """The chunks as an Arrow file."""
    sink = io.BytesIO()
    with pa.ipc.new_file(sink, PLAN) as writer:
        for chunk in chunks:
            writer.write_batch(pa.RecordBatch.from_pylist([_row(e) for e in chunk], schema=PLAN))
    return sink.getvalue()


def read_chunk(plan: str | bytes, number: int) -> Iterator[Entry]:
    """The entries of the chunk with this number, counted from 0; the plan is bytes or in a file."""
    content = _mapped(plan) if isinstance(plan, str) else pa.py_buffer(plan)
    with pa.ipc.open_file(content) as reader:
        rows = reader.get_batch(number).to_pylist()
    for row in rows:
        refusal = row["refusal"] and DocumentError(row["refusal"], document=row["name"])
        yield Entry(
            kind=EntryKind(row["kind"]),
            name=row["name"],
            path=os.fsdecode(row["path"]),
            member=row["member"],
            size=row["size"],
            refusal=refusal or None,
            part=row["part"] and RecordRange.from_bytes(row["part"]),
        )


@lru_cache(maxsize=_KEPT)
def _mapped(path: str) -> pa.Buffer:
    """A plan in a file, compared with its name when this worker first needs it."""
    return pa.py_buffer(read_versioned(path))


def _work(entry: Entry) -> int:
    if entry.part is not None:
        return _OPENING_BYTES + entry.part.end - entry.part.start
    is_packed = entry.kind is EntryKind.TAR or without_packing(entry.name) != entry.name
    return _OPENING_BYTES + (_PACKED_GROWTH if is_packed else 1) * entry.size


def _row(entry: Entry) -> dict[str, object]:
    return {
        "kind": entry.kind.value,
        "name": entry.name,
        # Workers may run in another folder than the driver.
        "path": os.fsencode(Path(entry.path).absolute()),
        "member": entry.member,
        "size": entry.size,
        "refusal": entry.refusal.reason if entry.refusal else None,
        "part": entry.part and entry.part.to_bytes(),
    }
