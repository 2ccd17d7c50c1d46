"""``twigcast check``: what becomes of each subscription of a file.

An expression is *exact* (an index alone decides it), *residual* (an index finds candidates and
libxml2 decides on those) or an error, which is shown with a caret under its place. Expressions
that mean the same have one canonical text; each after the first names the first. What XPath 1.0
takes otherwise than the author of a rule may have meant comes with a warning.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from twigcast.cli.options.arguments import AsJson, Subscriptions
from twigcast.cli.options.namespaces import Namespaces, bindings
from twigcast.cli.options.subscriptions import read_rules
from twigcast.cli.output import (
    REFUSED,
    Colour,
    painted,
    shown_at,
    write,
    write_json,
    write_note,
)
from twigcast.cli.progress import Bar
from twigcast.display import counted, one_line
from twigcast.errors import PatternError

if TYPE_CHECKING:
    from twigcast.files import Rejected, Subscription, SubscriptionFile, SubscriptionId
    from twigcast.language import Pattern

EXAMPLES = ("twigcast check subscriptions.txt", "twigcast check subscriptions.csv --errors")


@dataclass(frozen=True, slots=True)
class CheckedLine:
    """What becomes of one line of a subscriptions file."""

    id: SubscriptionId | None
    line: int
    xpath: str
    kind: Literal["exact", "residual", "error"]
    canonical: str | None = None
    necessary: str | None = None
    duplicate_of: SubscriptionId | None = None
    error: str | None = None
    column: int | None = None
    hint: str | None = None
    warnings: tuple[str, ...] = ()

    def as_json(self) -> dict[str, object]:
        """The fields that have a value."""
        always = {"id": self.id, "line": self.line, "xpath": self.xpath, "kind": self.kind}
        others = {
            "canonical": self.canonical,
            "necessary": self.necessary,
            "duplicate_of": self.duplicate_of,
            "error": self.error,
            "column": self.column,
            "hint": self.hint,
            "warnings": list(self.warnings) or None,
        }
        return {**always, **{name: value for name, value in others.items() if value is not None}}


def check(
    subscriptions: Subscriptions,
    errors: Annotated[
        bool, typer.Option("--errors", help="Print the errors only.", show_default=False)
    ] = False,
    namespace: Namespaces = [],  # noqa: B006 (typer never changes it)
    as_json: AsJson = False,
) -> None:
    """What each subscription is: exact, residual, a duplicate, or an error.

    Prints id, kind and canonical text. An index alone decides what is exact; for what is residual
    it finds candidates, and libxml2 decides. A warning stands below what XPath 2.0 would take
    otherwise.
    """
    file = read_rules(subscriptions, bindings(namespace))
    width = max((len(one_line(str(one.id))) for one in file.subscriptions), default=1)
    sums: Counter[str] = Counter()
    with Bar(beside_output=True) as bar:
        for verdict in _verdicts(file, bar):
            sums[verdict.kind] += 1
            sums["duplicate"] += verdict.duplicate_of is not None
            sums["warning"] += len(verdict.warnings)
            if errors and verdict.kind != "error":
                continue
            if as_json:
                write_json(verdict.as_json())
            else:
                for parts in _lines(verdict, width):
                    write(*parts, between="")
    write_note(_summary(sums))
    if sums["error"]:
        raise typer.Exit(REFUSED)


def _verdicts(file: SubscriptionFile, bar: Bar) -> Iterator[CheckedLine]:
    """A verdict for each line, in the order of the file."""
    from twigcast.files import Subscription

    step = bar.steps("checking subscriptions", len(file.subscriptions) + len(file.rejected))
    firsts: dict[Pattern, SubscriptionId] = {}
    lines: list[Subscription | Rejected] = [*file.subscriptions, *file.rejected]
    for one in sorted(lines, key=lambda one: one.line):
        step()
        yield _verdict(one, firsts) if isinstance(one, Subscription) else _unreadable(one)


def _verdict(one: Subscription, firsts: dict[Pattern, SubscriptionId]) -> CheckedLine:
    from twigcast.language import Pattern
    from twigcast.language.cautions import cautions_of

    try:
        pattern = Pattern.parse(one.xpath, one.namespaces)
    except PatternError as error:
        reason = f"expected {error.expected}"
        return CheckedLine(
            one.id,
            one.line,
            one.xpath,
            "error",
            error=reason,
            column=error.column,
            hint=error.hint,
        )
    first = firsts.setdefault(pattern, one.id)
    return CheckedLine(
        one.id,
        one.line,
        one.xpath,
        "exact" if pattern.exact else "residual",
        canonical=pattern.text,
        necessary=None if pattern.exact else pattern.necessary.text,
        duplicate_of=None if first == one.id else first,
        warnings=cautions_of(one.xpath, one.namespaces) if _MAYBE in one.xpath else (),
    )


def _unreadable(one: Rejected) -> CheckedLine:
    return CheckedLine(one.id, one.line, one.xpath, "error", error=one.reason, column=one.column)


_MAYBE = "("
"""What every expression has of which there is something to warn: a call."""


_IDLE = {"true()": "  (every document matches)", "false()": "  (no document can match)"}
"""Expressions that do not depend on the document are hardly ever meant."""


_COLOURS = {"exact": Colour.GOOD, "residual": Colour.DOUBT, "error": Colour.BAD}


def _lines(verdict: CheckedLine, width: int) -> Iterator[tuple[str, ...]]:
    """A verdict for the eye, in parts: aligned, with a caret under what is wrong."""
    label = "-" if verdict.id is None else one_line(str(verdict.id))
    kind = verdict.kind
    start = f"{label:>{width}}  ", painted(kind, _COLOURS[kind]), " " * (10 - len(kind))
    margin = " " * (len(start[0]) + 10)
    if verdict.kind != "error":
        same = "" if verdict.duplicate_of is None else f"  (same as {verdict.duplicate_of})"
        yield *start, f"{verdict.canonical}{same}{_IDLE.get(str(verdict.canonical), '')}"
        for warning in verdict.warnings:
            yield margin, f"warning: {one_line(warning)}"
        return
    place = "" if verdict.id == verdict.line else f"line {verdict.line}, "
    if verdict.column is None:
        yield *start, f"{place}{verdict.error}"
        return
    shown, caret = shown_at(verdict.xpath, verdict.column)
    yield *start, shown
    yield margin, f"{caret} {place}column {verdict.column}: {verdict.error}"
    if verdict.hint is not None:
        yield margin, f"hint: {verdict.hint}"


def _summary(sums: Counter[str]) -> str:
    lines = sum(sums[kind] for kind in ("exact", "residual", "error"))
    counts = [f"{sums[kind]:,} {kind}" for kind in ("exact", "residual")]
    counts.append(counted(sums["error"], "error"))
    others = [counted(sums["duplicate"], "duplicate")]
    if sums["warning"]:
        others.append(counted(sums["warning"], "warning"))
    return f"{counted(lines, 'line')}: {', '.join(counts)}; {', '.join(others)}"
