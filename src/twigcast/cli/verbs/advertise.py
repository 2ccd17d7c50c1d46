"""``twigcast advertise``: the shapes of documents that a publisher can keep to.

They come from a DTD or, where there is none, from sample documents. What is printed are path
expressions, the shortest first; ``( )+`` stands for recursion. There can be no end of them, so
there is a limit, and what is left out is said on standard error. With ``--overlaps`` the question
is which subscriptions can ever be satisfied.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import TYPE_CHECKING, Annotated, TypeAlias

import typer

from twigcast.cli.options.arguments import AsJson, FileNames
from twigcast.cli.options.document_limits import LimitOptions, stopped_by
from twigcast.cli.options.grouped import grouped
from twigcast.cli.options.schemas import complete_schema, schema_named
from twigcast.cli.options.subscriptions import read_rules
from twigcast.cli.output import (
    REFUSED,
    cell,
    complain,
    write,
    write_json,
    write_note,
)
from twigcast.cli.progress import Bar
from twigcast.display import counted
from twigcast.errors import DocumentError, PatternError, UsageError

if TYPE_CHECKING:
    from twigcast.covering.advertisements.advertisement import Advertisement
    from twigcast.language import Document

EXAMPLES = (
    "twigcast advertise news --elements",
    "twigcast advertise my.dtd --root order --limit 50",
    "twigcast advertise --from-documents feed/ archive.zip",
    "twigcast advertise my.dtd --overlaps subscriptions.txt",
)


Sources: TypeAlias = Annotated[
    list[str],
    typer.Argument(
        metavar="SOURCE",
        help="A DTD that comes with Twigcast or a file; with --from-documents XML files, "
        "folders, zip or tar archives.",
        show_default=False,
        autocompletion=complete_schema,
    ),
]
Overlaps: TypeAlias = Annotated[
    str | None,
    typer.Option(
        metavar="SUBSCRIPTIONS",
        help="Print which subscriptions such documents can match: 1, 0, or ? for a bad line.",
    ),
]


@grouped
def advertise(
    sources: Sources,
    from_documents: Annotated[
        bool,
        typer.Option(
            "--from-documents", help="Take what the documents given have.", show_default=False
        ),
    ] = False,
    root: Annotated[
        list[str] | None,
        typer.Option(metavar="NAME", help="A root element of the DTD (may be repeated)."),
    ] = None,
    files: FileNames = ["*.xml"],  # noqa: B006 (typer never changes it)
    number_max: Annotated[
        int,
        typer.Option("--limit", min=1, help="Path expressions to print, at most; the shortest."),
    ] = 1000,
    elements: Annotated[
        bool,
        typer.Option("--elements", help="Leave out attributes and text.", show_default=False),
    ] = False,
    automaton: Annotated[
        bool,
        typer.Option("--automaton", help="Print the automaton, all of it.", show_default=False),
    ] = False,
    overlaps: Overlaps = None,
    limits: LimitOptions = LimitOptions(),
    as_json: AsJson = False,
) -> None:
    """What documents of a DTD, or documents like these, can look like.

    Prints path expressions; ( )+ is a part that may repeat. Nothing is printed that such documents
    cannot have, and what is left out is said on standard error.
    """
    if from_documents:
        advertisement, refused = _of_documents(sources, root, files, limits)
    else:
        advertisement, refused = _of_schema(sources, root), 0
    if overlaps is not None:
        with Bar(beside_output=True) as bar:
            bad, sums = _print_overlaps(advertisement, overlaps, bar, as_json=as_json)
            refused += bad
    elif automaton:
        sums = _print_automaton(advertisement, as_json=as_json)
    else:
        sums = _print_expressions(advertisement, number_max, elements=elements, as_json=as_json)
    write_note(sums)
    if refused:
        raise typer.Exit(REFUSED)


def _of_schema(sources: list[str], roots: list[str] | None) -> Advertisement:
    from twigcast.covering.advertisements.advertisement import Advertisement

    if len(sources) > 1:
        raise UsageError("give one DTD; --from-documents takes any number of documents")
    schema = schema_named(sources[0])
    if schema.root is None and not roots:
        write_note(
            f"no single root: any of {len(schema.elements):,} elements may be; --root chooses"
        )
    return Advertisement.of_schema(schema, roots=roots)


def _of_documents(
    sources: list[str], roots: list[str] | None, files: list[str], limits: LimitOptions
) -> tuple[Advertisement, int]:
    """The advertisement, and how many documents were refused on the way."""
    from twigcast.covering.advertisements.advertisement import Advertisement

    if roots:
        raise UsageError("--root is for a DTD; documents have the roots they have")
    refusals: list[DocumentError] = []
    with Bar() as bar:
        try:
            made = Advertisement.of_documents(_readable(sources, files, limits, refusals, bar))
        except UsageError:
            if refusals:
                raise typer.Exit(REFUSED) from None
            raise UsageError(
                f"no documents there: no file fits {' or '.join(files)}; --files chooses others"
            ) from None
    return made, len(refusals)


def _readable(
    sources: list[str],
    files: list[str],
    limits: LimitOptions,
    refusals: list[DocumentError],
    bar: Bar,
) -> Iterator[Document]:
    """The documents one after the other; each that cannot be read is reported and counted."""
    from twigcast.files.documents.publications import read_documents
    from twigcast.language import Document

    step = bar.steps("reading documents", None)
    bounds = limits.of_documents()
    for name, content in read_documents(sources, patterns=files, limits=limits.of_files()):
        step()
        try:
            if isinstance(content, DocumentError):
                raise content
            yield Document.parse(content, name=name, limits=bounds)
        except DocumentError as error:
            refusals.append(error)
            complain(f"{name}: {stopped_by(error)}")


def _print_expressions(
    advertisement: Advertisement, number_max: int, *, elements: bool, as_json: bool
) -> str:
    """Print path expressions; returns how many of which form there are."""
    from twigcast.covering.advertisements.display import path_expressions
    from twigcast.covering.paths.expression import expression_text, recursion_of

    shown = path_expressions(
        advertisement, expressions_max=number_max, attributes=not elements, text=not elements
    )
    forms: Counter[str] = Counter()
    for expression in shown.expressions:
        form = recursion_of(expression).value
        forms[form] += 1
        if as_json:
            write_json({"expression": expression_text(expression), "form": form})
        else:
            write(expression_text(expression))
    if as_json and shown.left_out:
        write_json({"left_out": list(shown.left_out)})
    by_form = ", ".join(f"{number:,} {form}" for form, number in sorted(forms.items()))
    for sentence in shown.left_out:
        write_note(f"left out: {sentence}")
    return f"{counted(len(shown.expressions), 'path expression')}: {by_form or 'none fits'}"


def _print_automaton(advertisement: Advertisement, *, as_json: bool) -> str:
    statistics = advertisement.statistics()
    if as_json:
        write_json({**statistics._asdict(), "automaton": advertisement.text.splitlines()})
    else:
        for line in advertisement.text.split("\n"):
            write(line)
    recursive = "recursive" if statistics.recursive else "not recursive"
    return (
        f"{counted(statistics.states, 'state')}, {counted(statistics.edges, 'edge')}, {recursive}"
    )


def _print_overlaps(
    advertisement: Advertisement, path: str, bar: Bar, *, as_json: bool
) -> tuple[int, str]:
    """Print an answer for each subscription; returns how many lines are none, and the sums."""
    from twigcast.covering.advertisements.advertisement import overlaps
    from twigcast.language import Pattern

    file = read_rules(path)
    answers: list[tuple[int, object, bool | None, str]] = [
        (one.line, one.id, None, one.reason) for one in file.rejected
    ]
    step = bar.steps("reading subscriptions", len(file.subscriptions))
    for one in file.subscriptions:
        step()
        try:
            pattern = Pattern.parse(one.xpath, one.namespaces)
        except PatternError as error:
            answers.append((one.line, one.id, None, str(error)))
        else:
            answers.append((one.line, one.id, overlaps(advertisement, pattern), ""))
    answers.sort(key=lambda answer: answer[0])
    sums: Counter[bool | None] = Counter()
    for line, subscription, answer, reason in answers:
        sums[answer] += 1
        if as_json:
            result = {"error": reason} if answer is None else {"overlaps": answer}
            write_json({"id": subscription, "line": line, **result})
        else:
            write(cell(str(subscription)), "?" if answer is None else str(int(answer)))
            if answer is None:
                complain(f"{path}, line {line}: {reason}")
    return sums[None], f"{counted(sums[True], 'subscription')} can match, {sums[False]:,} cannot"
