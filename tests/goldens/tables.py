"""The tables of a run: their columns, and the rows and manifests of small runs of each plan.

Columns are told from their definitions, which takes no Spark; rows and files by a run.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from functools import partial
from pathlib import Path
from typing import Any, Final

from tests.goldens.golden import Golden, Need, normalised

_TOPOLOGY: Final = {
    "brokers": ["hub", "north", "south", "pole"],
    "links": [["hub", "north"], ["hub", "south"], ["north", "pole"]],
}
_SUBSCRIPTIONS: Final = (
    {"id": "small", "xpath": "//b[. < 5]", "broker": "pole", "subscriber": "ann"},
    {"id": "any", "xpath": "/a/b", "broker": "south"},
    {"id": "seven", "xpath": "//b[. = 7]"},
    {"id": "never", "xpath": "//c", "broker": "north"},
    {"id": "bad", "xpath": "//["},
    {"id": "lost", "xpath": "//b", "broker": "nowhere"},
    {"id": "second", "xpath": "//b[2]", "broker": "pole", "subscriber": "ann"},
)
_DOCUMENTS: Final = {
    "1.xml": "<a><b>1</b></a>",
    "5.xml": "<a><b>5</b><b>6</b></a>",
    "7.xml": "<a><x><b>7</b></x></a>",
    "broken.xml": "<a>\n<b></a>",
}

PLANS: Final[Mapping[str, Mapping[str, Any]]] = {
    "fused": {},
    "hops": {"plan": "hops"},
    "shards": {"shards": 2},
}

_TOLD_OF_METRICS: Final = (
    "strategy", "plan", "shards", "brokers", "subscriptions", "rejected", "documents", "bytes",
    "deliveries", "dead_letters", "internal_errors", "routes", "crossings", "needless",
    "shard_visits", "annotation_bytes",
)  # fmt: skip
"""What depends neither on the machine nor on how the work was shared out."""


def _columns(_: Path) -> str:
    from twigcast.spark.storage.tables import TABLES, parquet_schema

    lines: list[str] = []
    for name, table in TABLES.items():
        lines += [f"## {name}", ""]
        for column, stored in zip(table, parquet_schema(table), strict=True):
            null = "null" if column.nullable else "not null"
            told = column.dataType.simpleString()
            lines.append(f"{column.name}: {told} ({stored.type}), {null}: {_comment(column)}")
        lines.append("")
    return "\n".join(lines)


def _comment(column: Any) -> str:  # noqa: ANN401 (a field of pyspark's)
    return str(column.metadata["comment"])


def _ran(plan: str, folder: Path) -> str:
    """What a run leaves behind: all rows, and the names of all that lies there."""
    from twigcast.spark import Pipeline, start_session

    documents = _documents(folder)
    session = start_session("local[2,2]", quick=True)
    pipeline = Pipeline(session, _TOPOLOGY, list(_SUBSCRIPTIONS), "covering", **PLANS[plan])
    run = pipeline.disseminate(documents, folder / "out", partitions=2)
    fields = sorted(vars(run))
    lines = ["# fields of Run", "", *fields, "", *_left_in(folder / "out")]
    return normalised("\n".join(lines) + "\n", folder)


def _streamed(folder: Path) -> str:
    """The same of a stream of two batches, with a change of subscriptions in between."""
    from twigcast.spark import Pipeline, start_session

    documents, changes = _documents(folder), folder / "changes"
    changes.mkdir()
    session = start_session("local[2,2]", quick=True)
    pipeline = Pipeline(session, _TOPOLOGY, list(_SUBSCRIPTIONS), "covering")
    for row in ({"op": "remove", "version": 1, "id": "any"}, None):
        stream = pipeline.stream(
            documents, folder / "out", checkpoint=folder / "checkpoint", changes=changes
        )
        assert stream.wait()
        if row is not None:
            (changes / "1.jsonl").write_text(json.dumps(row), encoding="utf-8")
            (documents / "8.xml").write_text("<a><b>2</b></a>", encoding="utf-8")
    return normalised("\n".join(_left_in(folder / "out")) + "\n", folder)


def _documents(folder: Path) -> Path:
    documents = folder / "documents"
    documents.mkdir()
    for name, text in _DOCUMENTS.items():
        (documents / name).write_text(text, encoding="utf-8")
    return documents


def _left_in(out: Path) -> Iterator[str]:
    """Names of tables and batches, manifests, rows, and columns as they stand in the files."""
    from twigcast.spark.storage.tables import TABLES

    yield f"# in the folder: {', '.join(sorted(path.name for path in out.iterdir()))}"
    for path in sorted((out / "_manifest").iterdir()):
        if path.suffix == ".json":
            yield from ("", f"## manifest {path.name}", "", *_manifest_lines(path))
    for name in TABLES:
        for batch in sorted((out / name).iterdir()):
            yield from ("", f"## {name}, {batch.name}", "", *_rows(name, batch))


def _manifest_lines(path: Path) -> Iterator[str]:
    manifest = json.loads(path.read_text(encoding="utf-8"))
    for key, value in manifest.items():
        shown = value if key in _STEADY else type(value).__name__
        if key == "parts":  # names of files have chance in them
            shown = list(value)
        yield f"{key}: {json.dumps(shown)}"


_STEADY: Final = {"kind", "format", "batch", "rows", "version", "changes"}


def _rows(name: str, batch: Path) -> Iterator[str]:
    import pyarrow.parquet

    table = pyarrow.parquet.read_table(batch, partitioning=None)
    for field in table.schema:
        yield f"    {field.name}: {field.type}, {'null' if field.nullable else 'not null'}"
    kept = _TOLD_OF_METRICS if name == "metrics" else table.column_names
    rows = [{key: row[key] for key in kept} for row in table.to_pylist()]
    yield from sorted(json.dumps(row, ensure_ascii=False) for row in rows)


GOLDENS: Final = (
    Golden("tables-columns.txt", _columns, Need.PYSPARK),
    *(Golden(f"tables-{plan}.txt", partial(_ran, plan), Need.SESSION) for plan in PLANS),
    Golden("tables-stream.txt", _streamed, Need.SESSION),
)
