"""``twigcast generate``: patterns and documents drawn from a DTD, for tests and measurements.

Equal seeds give equal output, byte for byte. The DTD is one that comes with Twigcast, by its name,
or a file. Patterns and documents drawn with one vocabulary (``--numbers``) suit each other:
predicates ask for values that documents have.
"""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from random import Random
from typing import TYPE_CHECKING, Annotated, TypeAlias, TypeVar

import typer

from twigcast.cli.options.arguments import AsJson
from twigcast.cli.options.grouped import grouped
from twigcast.cli.options.schemas import complete_schema, schema_named
from twigcast.cli.output import write_json, write_note, write_text
from twigcast.cli.output_files import write_folder, write_zip
from twigcast.cli.progress import Bar
from twigcast.display import counted
from twigcast.errors import UsageError

if TYPE_CHECKING:
    from twigcast.language.dtd.schema import Schema

_Drawn = TypeVar("_Drawn")

PATTERN_EXAMPLES = (
    "twigcast generate patterns --dtd news --count 1000 > subscriptions.txt",
    "twigcast generate patterns --dtd my.dtd --nested 0.2 --predicates 1 --out subs.csv",
)
DOCUMENT_EXAMPLES = (
    "twigcast generate documents --dtd news --count 1000 --out feed.zip",
    "twigcast generate documents --dtd my.dtd --root order --elements 50",
)
EXAMPLES = (PATTERN_EXAMPLES[0], DOCUMENT_EXAMPLES[0])


Dtd: TypeAlias = Annotated[
    str,
    typer.Option(
        metavar="NAME|FILE",
        help="A DTD that comes with Twigcast (news, bibliography, …) or a file.",
        autocompletion=complete_schema,
    ),
]
Root: TypeAlias = Annotated[
    str | None,
    typer.Option(metavar="NAME", help="The root element, if the DTD leaves it open."),
]
Seed: TypeAlias = Annotated[int, typer.Option(help="Equal seeds give equal output.")]
Numbers: TypeAlias = Annotated[
    int, typer.Option(min=1, help="Values that are numbers run from 1 to this.")
]
Vary: TypeAlias = Annotated[
    float,
    typer.Option(metavar="SHARE", help="Rename this share of the DTD's elements first (by seed)."),
]


@dataclass(frozen=True)
class ShapeOptions:
    """What patterns look like (:class:`~twigcast.workload.PatternShape`)."""

    depth_max: Annotated[int, typer.Option(help="Steps of a path, at most.")] = 6
    wildcard: Annotated[float, typer.Option(help="Probability that a step is *.")] = 0.2
    descendant: Annotated[float, typer.Option(help="Probability that a step begins with //.")] = 0.2
    nested: Annotated[float, typer.Option(help="Probability of a branch at each step.")] = 0.0
    nested_depth: Annotated[int, typer.Option(help="Steps of a branch, at most.")] = 3
    nested_levels: Annotated[int, typer.Option(help="Branches within branches, at most.")] = 1
    predicates: Annotated[float, typer.Option(help="Value predicates per pattern, on average.")] = (
        0.0
    )
    predicate_kinds: Annotated[
        list[str],
        typer.Option(
            "--predicate-kind",
            metavar="KIND",
            help="What they ask: equal, unequal, order, exists, contains or starts (repeatable).",
        ),
    ] = field(default_factory=lambda: ["equal"])
    attributes: Annotated[float, typer.Option(help="Share that ends in an attribute.")] = 0.0
    skew: Annotated[float, typer.Option(help="Zipf's θ for the choice of children.")] = 0.0
    distinct: Annotated[bool, typer.Option(help="Whether no two are written the same.")] = True
    marker: Annotated[str | None, typer.Option(metavar="NAME", help="Add [//NAME] to each.")] = None


@grouped
def patterns(
    dtd: Dtd = "news",
    count: Annotated[int, typer.Option(help="How many.")] = 1000,
    seed: Seed = 1,
    out: Annotated[
        str | None,
        typer.Option(metavar="FILE", help="Write there; .csv and .jsonl get ids, from 1."),
    ] = None,
    shape: ShapeOptions = ShapeOptions(),
    root: Root = None,
    numbers: Numbers = 20,
    vary: Vary = 0.0,
    as_json: AsJson = False,
) -> None:
    """Draw XPath patterns from a DTD.

    One per line on standard output: a subscriptions file for the other verbs.
    """
    from twigcast.workload import PatternShape, Vocabulary, generate_patterns

    drawn = generate_patterns(
        _schema(dtd, root, vary, seed),
        rng=Random(seed),
        count=count,
        shape=PatternShape(**vars(shape)),
        vocabulary=Vocabulary(numbers=numbers),
    )
    with Bar(beside_output=out is None) as bar:
        drawn = _watched(drawn, bar, "drawing patterns", count)
        if out is not None:
            _write_patterns(Path(out), drawn)
        else:
            _print_patterns(drawn, as_json=as_json)
    if out is not None:
        write_note(f"{counted(count, 'pattern')} in {out}")


def documents(
    dtd: Dtd = "news",
    count: Annotated[int, typer.Option(help="How many.")] = 1,
    seed: Seed = 1,
    out: Annotated[
        str | None,
        typer.Option(metavar="FOLDER|FILE.zip", help="Write there; needed for more than one."),
    ] = None,
    elements: Annotated[int, typer.Option(help="Elements of a document, about.")] = 130,
    depth_max: Annotated[int, typer.Option(help="Levels of elements, at most.")] = 10,
    bytes_target: Annotated[
        int | None,
        typer.Option("--bytes", metavar="BYTES", help="Size, about, instead of the elements."),
    ] = None,
    attributes: Annotated[
        float, typer.Option(help="Probability of an attribute that may be left out.")
    ] = 0.4,
    marker: Annotated[
        str | None,
        typer.Option(metavar="NAME", help="Put an empty element of this name into each."),
    ] = None,
    marker_position: Annotated[
        float, typer.Option(help="The share of the elements that begin before it.")
    ] = 0.5,
    root: Root = None,
    numbers: Numbers = 20,
    vary: Vary = 0.0,
    as_json: AsJson = False,
) -> None:
    """Draw XML documents from a DTD.

    One goes to standard output, more go to a folder or a zip archive. With --json each is an object
    with its name and content, on one line.
    """
    from twigcast.workload import Marker, Vocabulary, generate_documents

    placed = Marker("test" if marker is None else marker, marker_position)
    if out is None and count != 1 and not as_json:
        raise UsageError("say where the documents go: --out FOLDER, or --out FILE.zip")
    drawn = generate_documents(
        _schema(dtd, root, vary, seed),
        rng=Random(seed),
        count=count,
        elements=elements,
        depth_max=depth_max,
        bytes_target=bytes_target,
        attributes=attributes,
        marker=None if marker is None else placed,
        vocabulary=Vocabulary(numbers=numbers),
    )
    with Bar(beside_output=out is None) as bar:
        named = _named(_watched(drawn, bar, "drawing documents", count), Path(dtd).stem, count)
        if out is None:
            _print_documents(named, as_json=as_json)
        elif out.lower().endswith(".zip"):
            write_zip(Path(out), named)
        else:
            write_folder(Path(out), named)
    if out is not None:
        write_note(f"{counted(count, 'document')} in {out}")


def _schema(dtd: str, root: str | None, share: float, seed: int) -> Schema:
    """The schema to draw from; the same variation of it for the same seed."""
    from twigcast.language.dtd.schema import Schema
    from twigcast.workload import vary

    schema = schema_named(dtd)
    if root is not None:
        schema = Schema(schema.declarations, root)
    return vary(schema, Random(f"vary {seed}"), share) if share else schema


def _watched(drawn: Iterable[_Drawn], bar: Bar, stage: str, total: int) -> Iterator[_Drawn]:
    step = bar.steps(stage, total)
    for one in drawn:
        yield one
        step()


def _print_patterns(drawn: Iterable[str], *, as_json: bool) -> None:
    for number, xpath in enumerate(drawn, start=1):
        if as_json:
            write_json({"id": number, "xpath": xpath})
        else:
            write_text(xpath)


def _write_patterns(path: Path, drawn: Iterable[str]) -> None:
    """Write a subscriptions file in the form that its name asks for."""
    from twigcast.files.writing.new_files import new_file

    with new_file(path) as binary, io.TextIOWrapper(binary, "utf-8", newline="\n") as file:
        match path.suffix.lower():
            case ".csv":
                rows = csv.writer(file, lineterminator="\n")
                rows.writerow(("id", "xpath"))
                rows.writerows(enumerate(drawn, start=1))
            case ".jsonl" | ".ndjson" | ".json":
                for number, xpath in enumerate(drawn, start=1):
                    file.write(json.dumps({"id": number, "xpath": xpath}) + "\n")
            case _:
                file.writelines(f"{xpath}\n" for xpath in drawn)


def _named(drawn: Iterable[bytes], stem: str, count: int) -> Iterator[tuple[str, bytes]]:
    """The documents as ``news-0001.xml`` and so on, so that names sort as they were drawn.

    A DTD may be called anything; its documents have names that every disk and archive takes.
    """
    from twigcast.files.documents.subscriber_folders import safe_name

    digits, safe = len(str(count)), safe_name(stem)
    for number, content in enumerate(drawn, start=1):
        yield f"{safe}-{number:0{digits}}.xml", content


def _print_documents(named: Iterable[tuple[str, bytes]], *, as_json: bool) -> None:
    for name, content in named:
        text = content.decode("utf-8")
        if as_json:
            write_json({"document": name, "content": text})
        else:
            write_text(text.rstrip("\n"))
