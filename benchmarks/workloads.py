"""The expressions and documents that a definition asks for."""

from __future__ import annotations

import gzip
import tarfile
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from random import Random

from benchmarks.definitions import Definition

ROOT = Path(__file__).resolve().parents[1]
NITF = ROOT.parent / "shared" / "bench" / "nitf"


class MissingWorkloadError(Exception):
    """The corpus of a definition does not lie on this machine."""


@dataclass(frozen=True, slots=True)
class Workload:
    """Expressions, each an absolute path so that every engine reads it alike, and documents."""

    expressions: tuple[str, ...]
    documents: tuple[bytes, ...]

    def __post_init__(self) -> None:
        assert all(expression.startswith("/") for expression in self.expressions)


def load(definition: Definition) -> Workload:
    """The workload in full size; MissingWorkloadError when its corpus is not here."""
    kind, _, name = definition.workload.partition("/")
    if kind == "nitf":
        workload = _nitf(name, definition)
    else:
        assert kind == "news", definition.workload
        workload = _news(definition)
    assert len(workload.expressions) == definition.subscriptions
    assert len(workload.documents) == definition.documents
    return workload


def _nitf(name: str, definition: Definition) -> Workload:
    queries = NITF / "queries" / f"{name}.txt.gz"
    if not queries.exists():
        raise MissingWorkloadError("../shared/bench/nitf is not here")
    with gzip.open(queries, "rt", encoding="utf-8") as lines:
        expressions = tuple(line.rstrip("\n") for line in islice(lines, definition.subscriptions))
    with tarfile.open(NITF / "documents.tar.gz") as archive:
        members = sorted((m for m in archive if m.isfile()), key=lambda member: member.name)
        files = (archive.extractfile(member) for member in members[: definition.documents])
        documents = tuple(file.read() for file in files if file)
    return Workload(expressions, documents)


def _news(definition: Definition) -> Workload:
    """Patterns and documents of our news format, with a little of everything the papers vary."""
    from twigcast.files.schemas import shipped_schema
    from twigcast.workload import generate_documents, generate_patterns

    schema = shipped_schema("news")
    patterns = generate_patterns(
        schema,
        rng=Random(definition.seed),
        count=definition.subscriptions,
        wildcard=0.1,
        descendant=0.1,
        nested=0.1,
        predicates=0.5,
    )
    documents = generate_documents(
        schema, rng=Random(definition.seed + 1), count=definition.documents
    )
    return Workload(tuple(patterns), tuple(documents))
