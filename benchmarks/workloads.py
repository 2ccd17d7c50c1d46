"""The expressions and documents that a definition asks for.

Workloads are named ``SOURCE/SET``:

- ``news/…`` and ``drawn/…``: expressions drawn by our own generators with the definition's seed,
  from our news format with our own documents, or from NITF's DTD with those of the corpus;
- ``nitf/…``: a set of the shared corpus, of which the first expressions are taken;
- ``rules/…``: a genre of rules that people wrote, read by ``rules.py``.

What takes long to draw is kept in a folder that the processes of one run share.
"""

from __future__ import annotations

import atexit
import gzip
import os
import re
import shutil
import tarfile
import tempfile
from dataclasses import dataclass
from functools import cache, partial
from itertools import count, cycle, islice
from pathlib import Path
from random import Random
from typing import TYPE_CHECKING, Any

from benchmarks.definition import Definition

if TYPE_CHECKING:
    from twigcast.language import Schema

ROOT = Path(__file__).resolve().parents[1]
NITF = ROOT.parent / "shared" / "bench" / "nitf"
RULES = ROOT.parent / "shared" / "bench" / "rules"
CACHE_VARIABLE = "TWIGCAST_BENCHMARK_CACHE"

SHAPES: dict[str, dict[str, float]] = {
    "mixed": {"wildcard": 0.1, "descendant": 0.1, "nested": 0.1, "predicates": 0.5},
    "paths": {"wildcard": 0.2, "descendant": 0.2},
    "values": {"wildcard": 0.2, "descendant": 0.2, "predicates": 1.0},
    "branches": {"wildcard": 0.2, "descendant": 0.2, "nested": 0.2},
    "xnet": {"depth_max": 10, "wildcard": 0.1, "descendant": 0.05, "nested": 0.1, "skew": 1.0},
    "five-steps": {"depth_max": 10, "wildcard": 0.1, "descendant": 0.1, "steps_min": 5},
    "seven-steps": {"depth_max": 10, "wildcard": 0.1, "descendant": 0.1, "steps_min": 7},
}
"""What is drawn: a little of everything the papers vary, the shapes of the shared sets, that of
XNET's evaluation, and paths of at least so many steps. Among thousands drawn at random there is
``/*``, which covers all paths and leaves nothing to route by; of the longer ones a network has
something to choose from."""


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
    require(definition)
    source, _, name = definition.workload.partition("/")
    if source == "nitf":
        expressions = _nitf_expressions(name, definition.subscriptions)
    else:
        expressions = drawn(source, name, seed=definition.seed, count=definition.subscriptions)
    workload = Workload(expressions, documents_of(definition))
    assert len(workload.expressions) == definition.subscriptions
    assert len(workload.documents) == definition.documents
    return workload


def require(definition: Definition) -> None:
    """MissingWorkloadError unless the definition's workload can be had here."""
    source = definition.workload.partition("/")[0]
    assert source in {"news", "drawn", "nitf", "rules", "hard"}, definition.workload
    if source == "rules":
        if not RULES.exists():
            raise MissingWorkloadError("../shared/bench/rules is not here")
    elif source not in {"news", "hard"} and not NITF.exists():
        raise MissingWorkloadError("../shared/bench/nitf is not here")


def documents_of(definition: Definition) -> tuple[bytes, ...]:
    """The documents; the shared ones begin anew when there are not enough of them."""
    if definition.workload.startswith("news/"):
        from twigcast.files.schemas import shipped_schema
        from twigcast.workload import generate_documents

        rng = Random(definition.seed + 1)
        schema = shipped_schema("news")
        return tuple(generate_documents(schema, rng=rng, count=definition.documents))
    named = islice(cycle(_nitf_documents().values()), definition.documents)
    return tuple(named)


def known_answers(definition: Definition) -> list[tuple[int, ...]] | None:
    """What libxml2 said about the set before this project began, if somebody asked it."""
    source, _, name = definition.workload.partition("/")
    path = NITF / "expected" / f"{name}.{definition.subscriptions}.txt.gz"
    if source != "nitf" or not path.exists():
        return None
    with gzip.open(path, "rt", encoding="utf-8") as lines:
        rows = {row[0]: tuple(map(int, row[1:])) for row in map(str.split, lines)}
    return [rows[name] for name in islice(cycle(_nitf_documents()), definition.documents)]


def large_document(bytes_max: int) -> bytes:
    """One NITF document: what many of the corpus have below their roots, under one root.

    They are taken in their order, and from the first again, while they fit; each time they come
    again, their attributes, numbers from 0 to 20, have other values.
    """
    head, foot = b'<?xml version="1.0"?>\n<nitf>', b"</nitf>\n"
    parts, size = [head], len(head) + len(foot)
    for time in count():
        for content in _nitf_documents().values():
            inside = _INSIDE_ROOT.search(content)
            assert inside is not None
            part = _ATTRIBUTE_NUMBER.sub(partial(_shifted, time), inside[1])
            size += len(part)
            if size > bytes_max:
                return b"".join([*parts, foot])
            parts.append(part)
    raise AssertionError("there is always a next time")


_INSIDE_ROOT = re.compile(rb"<nitf[^>]*>(.*)</nitf>", re.DOTALL)
_ATTRIBUTE_NUMBER = re.compile(rb'(?<==")[0-9]+(?=")')
_NUMBERS = 21


def _shifted(time: int, number: re.Match[bytes]) -> bytes:
    return b"%d" % ((int(number[0]) + time) % _NUMBERS)


def cache_folder() -> Path:
    """Where processes of one run keep what takes long to make."""
    return Path(os.environ.get(CACHE_VARIABLE) or _own_folder())


@cache
def _own_folder() -> str:
    folder = tempfile.mkdtemp(prefix="twigcast-benchmarks-")
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    return folder


def drawn(source: str, shape: str, *, seed: int, count: int) -> tuple[str, ...]:
    """Expressions drawn from a schema, or what was drawn earlier in the run."""
    kept = cache_folder() / f"{source}-{shape}-{seed}-{count}.txt"
    if not kept.exists():
        from twigcast.files.schemas import read_schema, shipped_schema

        schema = (
            shipped_schema("news")
            if source == "news"
            else read_schema(NITF / "nitf-2-5.dtd", root="nitf")
        )
        patterns = _generated(schema, shape, seed, count)
        unfinished = kept.with_suffix(".tmp")
        unfinished.write_text("\n".join(patterns), encoding="utf-8")
        unfinished.replace(kept)
    return tuple(kept.read_text(encoding="utf-8").split("\n"))


def _generated(schema: Schema, shape: str, seed: int, count: int) -> list[str]:
    from twigcast.workload import PatternShape, generate_patterns

    options: dict[str, Any] = dict(SHAPES[shape])
    steps_min = options.pop("steps_min", 0)
    drawn_as = PatternShape(**options)
    if not steps_min:
        return list(generate_patterns(schema, rng=Random(seed), count=count, shape=drawn_as))
    found: list[str] = []
    drawn_count = count
    while len(found) < count:
        drawn_count *= 2
        paths = generate_patterns(schema, rng=Random(seed), count=drawn_count, shape=drawn_as)
        found = [path for path in paths if len(_STEP.findall(path)) >= steps_min]
    Random(seed).shuffle(found)  # Else long ones would come last.
    return found[:count]


_STEP = re.compile("/+[^/]+")


def _nitf_expressions(name: str, count: int) -> tuple[str, ...]:
    with gzip.open(NITF / "queries" / f"{name}.txt.gz", "rt", encoding="utf-8") as lines:
        return tuple(line.rstrip("\n") for line in islice(lines, count))


@cache
def _nitf_documents() -> dict[str, bytes]:
    """The shared documents in the order of their names."""
    with tarfile.open(NITF / "documents.tar.gz") as archive:
        members = sorted((m for m in archive if m.isfile()), key=lambda member: member.name)
        files = ((member.name, archive.extractfile(member)) for member in members)
        return {Path(name).name: file.read() for name, file in files if file}
