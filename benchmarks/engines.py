"""The ways to match, in process. An engine compiles expressions into a function over documents.

``parse`` answers nothing and is the floor: it only builds the tree that libxml2 needs. ``one by
one`` is what one would write without Twigcast. Ours are matchers, asked for whole batches in Arrow.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from hashlib import sha256
from itertools import islice, pairwise
from pathlib import Path
from typing import Any, cast

import pyarrow as pa
from lxml import etree

from benchmarks.workloads import cache_folder
from twigcast.files import read_index
from twigcast.matching import Matcher

FLOOR = "parse"

PIECE = 50_000
"""Compiled expressions take 3 KB each; a million at once would crowd out everything else."""


@dataclass(frozen=True, slots=True)
class Documents:
    """Documents in both forms, so that no engine pays for the other's."""

    contents: Sequence[bytes]
    array: pa.Array[Any] = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "array", pa.array(self.contents, pa.binary()))

    def batches(self, size: int) -> list[Documents]:
        """The same in batches of a size."""
        starts = range(0, len(self.contents), size)
        return [Documents(self.contents[start : start + size]) for start in starts]


Answers = Sequence[Sequence[int]] | pa.RecordBatch
"""For each document the numbers of its expressions, as a list or as a column ``matches``."""

Match = Callable[[Documents], Answers]
Engine = Callable[[Sequence[str]], Match]


def listed(answers: Answers) -> Sequence[Sequence[int]]:
    """The answers, a sequence of numbers for each document.

    Of a million expressions a hundred thousand match a document, so those in Arrow stay there.
    """
    if not isinstance(answers, pa.RecordBatch):
        return answers
    column = cast("pa.ListArray[Any]", answers.column("matches"))
    ends = column.offsets.to_pylist()
    numbers = memoryview(column.values.buffers()[1] or b"").cast("B").cast("q")
    return [numbers[start:end] for start, end in pairwise(cast("list[int]", ends))]


def parse(expressions: Sequence[str]) -> Match:
    """Build the tree, ask nothing."""
    del expressions

    def match(documents: Documents) -> Answers:
        for content in documents.contents:
            etree.fromstring(content)
        return ()

    return match


def one_by_one(expressions: Sequence[str]) -> Match:
    """Every expression compiled by lxml, every one evaluated on every document."""
    compiled = compiled_by_lxml(expressions)

    def match(documents: Documents) -> Answers:
        found = []
        for content in documents.contents:
            tree = etree.fromstring(content)
            found.append([number for number, holds in enumerate(compiled) if holds(tree)])
        return found

    return match


def one_by_one_in_pieces(expressions: Sequence[str]) -> Match:
    """The same for more expressions than can be held compiled; compiling counts as matching."""

    def match(documents: Documents) -> Answers:
        trees = [etree.fromstring(content) for content in documents.contents]
        found: list[list[int]] = [[] for _ in trees]
        for start in range(0, len(expressions), PIECE):
            compiled = compiled_by_lxml(islice(expressions, start, start + PIECE))
            for tree, numbers in zip(trees, found, strict=True):
                numbers += [n for n, holds in enumerate(compiled, start) if holds(tree)]
        return found

    return match


def compiled_by_lxml(expressions: Iterable[str]) -> list[etree.XPath]:
    """Each expression as a question with the answer true or false."""
    return [etree.XPath(f"boolean({expression})", regexp=False) for expression in expressions]


def matcher_of(engine: str, expressions: Sequence[str]) -> Matcher:
    """Our matcher, with expressions under their numbers."""
    matcher = Matcher(engine=engine, keep_texts=False)
    for number, expression in enumerate(expressions):
        matcher.add(number, expression)
    return matcher


@dataclass(frozen=True, slots=True)
class Twigcast:
    """Our matcher, asked for a batch."""

    matcher: Matcher

    def __call__(self, documents: Documents) -> Answers:
        """The answers, as Arrow has them."""
        return self.matcher.match_batch(documents.array)


def _twigcast(engine: str) -> Engine:
    return lambda expressions: Twigcast(matcher_of(engine, expressions))


def _mapped(expressions: Sequence[str]) -> Match:
    """Our fastest engine, from a file that ``native`` has written earlier in the run."""
    return Twigcast(read_index(index_path(expressions), engine="native"))


def index_path(expressions: Sequence[str]) -> Path:
    """Where the compiled form of these expressions lies during a run."""
    return cache_folder() / f"{sha256(repr(expressions).encode()).hexdigest()[:16]}.index"


ENGINES: dict[str, Engine] = {
    FLOOR: parse,
    "one by one": one_by_one,
    "one by one, in pieces": one_by_one_in_pieces,
    "lxml": _twigcast("lxml"),
    "streaming": _twigcast("streaming"),
    "native": _twigcast("native"),
    "native, mapped": _mapped,
}
