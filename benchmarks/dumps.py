"""The kind ``dumps``: records of one large file, beside the same records as rows of a table.

``records`` is ``run`` with ``record``: the dump is cut into ranges, read once for their effects and
once for their records. ``parquet`` is ``run`` over a Parquet table with a document a row, which
somebody would have had to write first. ``gzip`` is the dump compressed, which one task reads. Each
is run twice in its session, and the second run counts, from files to finished tables.

Documents are those of the workload without their prologs, the first :data:`DISTINCT` over and over.
"""

from __future__ import annotations

import gzip
import time
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import chain, cycle, islice
from pathlib import Path
from tempfile import TemporaryDirectory

import pyarrow as pa
import pyarrow.parquet as pq

from benchmarks.definition import Definition
from benchmarks.measure import Measurement, digest
from benchmarks.processes import peak_of_workers, used
from benchmarks.workloads import load
from twigcast.spark import Publications, run_batch, start_session

DISTINCT = 10_000
RECORD = "nitf"
SAMPLE = 1_000
"""Of the first records, each single answer is compared."""
_ROWS = 1_000


def measured(definition: Definition, engine: str) -> Measurement:
    """Measure one engine."""
    size = min(definition.documents, DISTINCT)
    workload = load(replace(definition, documents=size))
    whole = [document[document.index(b"<nitf") :] for document in workload.documents]
    records = islice(cycle(whole), definition.documents)
    with TemporaryDirectory() as folder:
        publications = _written(Path(folder), engine, records)
        subscriptions = dict(enumerate(workload.expressions))
        session = start_session("local[2]")
        run_batch(subscriptions, publications, f"{folder}/warm", spark=session)
        begun, wall = used(), time.perf_counter()
        run = run_batch(subscriptions, publications, f"{folder}/out", spark=session)
        took, wall_s = used() - begun, time.perf_counter() - wall
        peak = peak_of_workers()
        session.stop()
        sample = _answers(f"{folder}/out", SAMPLE)
    return Measurement(
        engine=engine,
        counts={"all": run.deliveries, "sample": sum(map(len, sample))},
        digests={"sample": digest(sample)},
        figures={
            "documents": run.documents,
            "documents_per_cpu_s": run.documents / took.all_s,
            "java_share": took.java_s / took.all_s,
            "documents_per_s": run.documents / wall_s,
            "listing_s": run.seconds["listing"],
            "worker_mb": peak / 1e6,
        },
    )


def _written(folder: Path, engine: str, records: Iterator[bytes]) -> Publications:
    match engine:
        case "records":
            path = folder / "dump.xml"
            with path.open("wb") as file:
                file.writelines(_dump(records))
            return Publications(path, record=RECORD)
        case "gzip":
            path = folder / "dump.xml.gz"
            with gzip.open(path, "wb", 6) as packed:
                packed.writelines(_dump(records))
            return Publications(path, record=RECORD)
        case "parquet":
            path, number = folder / "table.parquet", 0
            schema = pa.table({"document": [""], "content": [b""]}).schema
            with pq.ParquetWriter(path, schema) as writer:
                while rows := list(islice(records, _ROWS)):
                    names = [f"table#{number + row}@0" for row in range(1, len(rows) + 1)]
                    writer.write(pa.table({"document": names, "content": rows}, schema))
                    number += len(rows)
            return Publications(path)
    raise AssertionError(engine)


def _dump(records: Iterator[bytes]) -> Iterator[bytes]:
    return chain((b"<?xml version='1.0'?>\n<dump>",), records, (b"</dump>\n",))


def _answers(out: str, sample: int) -> Sequence[Sequence[int]]:
    answers: list[list[int]] = [[] for _ in range(sample)]
    columns = ["document", "subscription"]
    for batch in pq.ParquetDataset(f"{out}/deliveries").read(columns).to_batches():
        for document, subscription in zip(*(batch.column(name) for name in columns), strict=True):
            number = int(document.as_py().rpartition("#")[2].partition("@")[0])
            if number <= sample:
                answers[number - 1].append(int(subscription.as_py()))
    return [sorted(answer) for answer in answers]
