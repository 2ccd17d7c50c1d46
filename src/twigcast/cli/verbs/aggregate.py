"""``twigcast aggregate``: fewer subscriptions that cover all those of a file.

What others cover is left out. On request the rest is merged by a DTD, or made wider until it fits a
share of the steps. What is printed is a subscriptions file again: expressions in their canonical
form, which needs no prefixes, one per line or with ids as JSON.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from twigcast.cli.options.arguments import AsJson, Subscriptions
from twigcast.cli.options.namespaces import Namespaces, bindings
from twigcast.cli.options.schemas import complete_schema, schema_named
from twigcast.cli.options.subscriptions import read_rules
from twigcast.cli.output import (
    REFUSED,
    complain_of_all,
    quoted,
    write,
    write_json,
    write_note,
)
from twigcast.cli.progress import Bar
from twigcast.display import counted
from twigcast.errors import PatternError, UsageError

if TYPE_CHECKING:
    from collections.abc import Mapping

    from twigcast.covering.merging.reduction import Kept, Reduction
    from twigcast.files import SubscriptionId
    from twigcast.language import Pattern

EXAMPLES = (
    "twigcast aggregate subscriptions.txt",
    "twigcast aggregate subscriptions.csv --merge --degree 0.1 --dtd my.dtd --json",
    "twigcast aggregate subscriptions.txt --budget 20",
)


def aggregate(
    subscriptions: Subscriptions,
    merge: Annotated[
        bool,
        typer.Option(
            "--merge", help="Merge what is nearly alike; needs --dtd.", show_default=False
        ),
    ] = False,
    degree: Annotated[
        float,
        typer.Option(
            min=0, max=1, help="What share of its matches a merger may add; 0 adds no document."
        ),
    ] = 0,
    budget: Annotated[
        float | None,
        typer.Option(
            min=0,
            max=100,
            metavar="PERCENT",
            help="Make expressions wider until they have so much of the steps in the file.",
        ),
    ] = None,
    dtd: Annotated[
        str | None,
        typer.Option(
            metavar="DTD",
            help="What documents look like: a DTD that comes with Twigcast, or a file.",
            autocompletion=complete_schema,
        ),
    ] = None,
    namespace: Namespaces = [],  # noqa: B006 (typer never changes it)
    as_json: AsJson = False,
) -> None:
    """The fewest subscriptions that ask for all that the file asks for.

    Prints those that no other covers, as a subscriptions file. With --merge and --budget there are
    fewer, and they may match more.
    """
    if degree and not merge:
        raise UsageError("--degree is for --merge")
    if merge and dtd is None:
        raise UsageError("--merge needs --dtd: what a merger adds is counted by a DTD")
    if dtd is not None and not merge and budget is None:
        raise UsageError("--dtd is for --merge and --budget")
    schema = None if dtd is None else schema_named(dtd)
    from twigcast.covering import space_budget
    from twigcast.covering.merging.reduction import reduced

    with Bar() as bar:
        ids, bad = _read(subscriptions, bindings(namespace), bar)
        found = reduced(
            ids,
            schema=schema,
            degree=degree if merge else None,
            steps_max=None if budget is None else space_budget(ids, budget),
            report=bar.show,
        )
    unwritten = _print(found, ids, as_json=as_json)
    bad += [f"{quoted(text)} has {_unwritten(text)} in it; --json prints it" for text in unwritten]
    refused = complain_of_all(bad, hint="twigcast check names them all")
    _write_reduction(found, sum(map(len, ids.values())), merged=merge, budget=budget)
    if refused:
        raise typer.Exit(REFUSED)


def _read(
    path: str, namespaces: Mapping[str, str], bar: Bar
) -> tuple[dict[Pattern, list[SubscriptionId]], list[str]]:
    """The patterns of a file with their ids, in file order, and what is wrong with other lines."""
    from twigcast.language import Pattern

    file = read_rules(path, namespaces)
    bad = [(one.line, one.reason) for one in file.rejected]
    ids: dict[Pattern, list[SubscriptionId]] = {}
    step = bar.steps("reading expressions", len(file.subscriptions))
    for one in file.subscriptions:
        step()
        try:
            ids.setdefault(Pattern.parse(one.xpath, one.namespaces), []).append(one.id)
        except PatternError as error:
            bad.append((one.line, str(error)))
    return ids, [f"{path}, line {line}: {reason}" for line, reason in sorted(bad)]


def _print(
    found: Reduction, ids: dict[Pattern, list[SubscriptionId]], *, as_json: bool
) -> list[str]:
    """Print what is kept; returns what has no place on a line."""
    unwritten: list[str] = []
    for kept in found.kept:
        text = kept.pattern.text
        if as_json:
            write_json(_as_json(kept, text, ids))
        elif not text.isprintable():
            unwritten.append(text)
        else:
            write(text)
    return unwritten


def _unwritten(text: str) -> str:
    return "a line break" if "\n" in text or "\r" in text else "letters that cannot be shown"


def _as_json(kept: Kept, text: str, ids: dict[Pattern, list[SubscriptionId]]) -> dict[str, object]:
    """An object that can be read as a subscription again; its id is that of the first part."""
    first = [number for part in kept.parts for number in ids[part]]
    fields: dict[str, object] = {"id": first[0], "xpath": text, "ids": first}
    if kept.parts != (kept.pattern,):
        fields["degree"] = None if kept.degree is None else round(float(kept.degree), 6)
    return fields


def _write_reduction(found: Reduction, number: int, *, merged: bool, budget: float | None) -> None:
    write_note(
        f"{counted(number, 'subscription')}, {found.given:,} different; "
        f"{found.minimal:,} cover the others"
    )
    if merged or budget is not None:
        steps = f"{found.steps:,} of {counted(found.steps_given, 'step')}"
        how = "merged" if budget is None else f"for a budget of {budget:g} %"
        write_note(f"{how}: {counted(len(found.kept), 'expression')} with {steps}")
    if not found.within_budget:
        write_note("not every degree was counted: there was too much to count, so less was merged")
