"""``twigcast covers``: whether one expression makes another redundant.

Either two expressions are given, or a file of pairs, of which each line gets an answer of one
letter, so that answers and questions can be laid side by side.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, BinaryIO

import typer

from twigcast.cli.options.arguments import AsJson, ExitCode
from twigcast.cli.options.namespaces import Namespaces, bindings
from twigcast.cli.options.schemas import complete_schema, schema_named
from twigcast.cli.output import (
    REFUSED,
    Colour,
    complain,
    complain_of_all,
    painted,
    shown_at,
    write,
    write_json,
    write_note,
)
from twigcast.cli.progress import Bar
from twigcast.display import counted
from twigcast.errors import PatternError, UsageError

if TYPE_CHECKING:
    from twigcast.covering import Verdict
    from twigcast.covering.containment.with_schema import SchemaPaths
    from twigcast.files.subscriptions.row_formats import Row

EXAMPLES = (
    "twigcast covers '//stock[price > 10]' '/market/stock[price > 15]'",
    "twigcast covers '/stocks/stock/price' '//price' --dtd stocks.dtd",
    "twigcast covers --pairs pairs.tsv",
    "twigcast covers '//stock' '//stock/price' --exit-code && echo covered",
)


def covers(
    wider: Annotated[
        str | None,
        typer.Argument(metavar="WIDER", help="The expression that may cover.", show_default=False),
    ] = None,
    narrower: Annotated[
        str | None,
        typer.Argument(
            metavar="NARROWER", help="The expression that may be covered.", show_default=False
        ),
    ] = None,
    pairs: Annotated[
        str | None,
        typer.Option(
            metavar="FILE",
            help="Lines with WIDER, a tab and NARROWER, or - for standard input: prints 1, 0, "
            "or ? for a bad line.",
        ),
    ] = None,
    dtd: Annotated[
        str | None,
        typer.Option(
            metavar="DTD",
            help="Ask of documents of this DTD only: one that comes with Twigcast, or a file.",
            autocompletion=complete_schema,
        ),
    ] = None,
    namespace: Namespaces = [],  # noqa: B006 (typer never changes it)
    exit_code: ExitCode = False,
    as_json: AsJson = False,
) -> None:
    """Whether every document that matches NARROWER matches WIDER, too.

    A yes is certain. A no is certain for paths and for most tree patterns; with values, not() and
    what only libxml2 decides it may also mean that nobody knows.
    """
    namespaces = bindings(namespace)
    if (pairs is None) == (wider is None or narrower is None) or (pairs and wider):
        raise UsageError("give WIDER and NARROWER, or --pairs FILE")
    schema = _paths(dtd)
    if pairs is not None:
        every_yes = _answer_pairs(pairs, namespaces, schema, as_json=as_json)
        if exit_code and not every_yes:
            raise typer.Exit(REFUSED)
        return
    assert wider is not None
    assert narrower is not None
    try:
        verdict = _verdict(wider, narrower, namespaces, schema)
    except PatternError as error:
        _complain_of(error)
        raise typer.Exit(REFUSED) from None
    if as_json:
        write_json({"wider": wider, "narrower": narrower, **_as_json(verdict)})
    else:
        write(painted("yes", Colour.GOOD) if verdict.covers else painted("no", Colour.BAD))
        if not verdict.within_budget:
            write_note("the search was given up after its budget of steps: nobody knows")
    if exit_code and not verdict.covers:
        raise typer.Exit(REFUSED)


def _paths(dtd: str | None) -> SchemaPaths | None:
    if dtd is None:
        return None
    from twigcast.covering import paths_of

    return paths_of(schema_named(dtd))


def _verdict(
    wider: str, narrower: str, namespaces: Mapping[str, str], schema: SchemaPaths | None
) -> Verdict:
    from twigcast.covering import decide
    from twigcast.language import Pattern

    return decide(
        wider=Pattern.parse(wider, namespaces),
        narrower=Pattern.parse(narrower, namespaces),
        schema=schema,
    )


def _as_json(verdict: Verdict) -> dict[str, object]:
    fields: dict[str, object] = {"covers": verdict.covers}
    return fields if verdict.within_budget else {**fields, "within_budget": False}


@dataclass(frozen=True, slots=True)
class _Answer:
    """The answer to one line."""

    line: int
    verdict: Verdict | None
    fields: dict[str, object]


def _answer_pairs(
    path: str, namespaces: Mapping[str, str], schema: SchemaPaths | None, *, as_json: bool
) -> bool:
    """Print an answer for each line; whether all of them are yes."""
    sums: Counter[str] = Counter()
    bad: list[str] = []
    with _opened(path) as file, Bar(beside_output=True) as bar:
        step = bar.steps("asking", None)
        for answer in _answers(_lines(file, path), namespaces, schema):
            step()
            verdict = answer.verdict
            letter = "?" if verdict is None else str(int(verdict.covers))
            sums[letter] += 1
            if verdict is None:
                bad.append(f"{path}, line {answer.line}: {answer.fields['error']}")
            else:
                sums["unknown"] += not verdict.within_budget
            if as_json:
                write_json({"line": answer.line, **answer.fields})
            else:
                write(letter)
    complain_of_all(bad, hint="--json tells of each")
    write_note(_summary(sums))
    if sums["?"]:
        raise typer.Exit(REFUSED)
    return not sums["0"]


def _lines(file: BinaryIO, path: str) -> Iterator[Row]:
    """The lines of a file; a UsageError with its name if it cannot be read to its end."""
    from twigcast.files.subscriptions.file import SubscriptionLimits
    from twigcast.files.subscriptions.row_formats import decoded_lines

    limits = SubscriptionLimits()
    try:
        yield from decoded_lines(
            file, line_bytes_max=limits.line_bytes_max, file_bytes_max=limits.file_bytes_max
        )
    except UsageError as error:
        raise UsageError(f"cannot read the pairs in {path}: {error}") from error


def _answers(
    lines: Iterator[Row], namespaces: Mapping[str, str], schema: SchemaPaths | None
) -> Iterator[_Answer]:
    """An answer for each line, in order."""
    for row in lines:
        try:
            wider, narrower = _pair(row)
            verdict = _verdict(wider, narrower, namespaces, schema)
        except (PatternError, UsageError) as error:
            yield _Answer(row.line, None, {"error": str(error)})
        else:
            fields = {"wider": wider, "narrower": narrower, **_as_json(verdict)}
            yield _Answer(row.line, verdict, fields)


def _pair(row: Row) -> tuple[str, str]:
    if row.problem is not None:
        raise UsageError(row.problem)
    match row.text.split("\t"):
        case [wider, narrower]:
            return wider, narrower
        case others:
            raise UsageError(f"expected two expressions with a tab between, not {len(others)}")


def _opened(path: str) -> AbstractContextManager[BinaryIO]:
    from twigcast.files.opening import checked_path, standard_input

    if path == "-":
        return nullcontext(standard_input())
    try:
        return Path(checked_path(path, "a file of pairs")).open("rb")
    except OSError as error:
        raise UsageError(f"cannot read the pairs in {path}: {error.strerror or error}") from error


def _summary(sums: Counter[str]) -> str:
    summary = f"{counted(sums['1'], 'covering')}, {sums['0']:,} not"
    if sums["unknown"]:
        summary += f" ({sums['unknown']:,} of them given up after the budget of steps)"
    return f"{summary}, {counted(sums['?'], 'bad line')}" if sums["?"] else summary


def _complain_of(error: PatternError) -> None:
    """The error, and a caret under its place."""
    complain(str(error))
    for line in shown_at(error.text, error.column):
        write_note(f"  {line}")
