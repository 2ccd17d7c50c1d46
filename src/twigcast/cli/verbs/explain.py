"""``twigcast explain``: why an expression matches a document, or what it fails at.

The expression is given itself, or as the id of a rule in a file of subscriptions. The document is
one that ``match`` has named: a file, ``-``, or a member of an archive as in
``feed.zip!monday/7.xml``.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from difflib import get_close_matches
from itertools import islice
from typing import TYPE_CHECKING, Annotated

import typer

from twigcast.cli.options.arguments import AsJson, ExitCode, ResidualCostMax
from twigcast.cli.options.document_limits import LimitOptions, check_number, way_out
from twigcast.cli.options.grouped import grouped
from twigcast.cli.options.namespaces import Namespaces, bindings
from twigcast.cli.options.subscriptions import read_rules
from twigcast.cli.output import (
    REFUSED,
    Colour,
    complain,
    painted,
    shown_at,
    write,
    write_json,
    write_note,
)
from twigcast.errors import DocumentError, PatternError, UsageError

if TYPE_CHECKING:
    from twigcast.files import SubscriptionFile
    from twigcast.files.limits import Content, PublicationLimits
    from twigcast.matching import Explanation

EXAMPLES = (
    "twigcast explain '//item[price < 10]' shop.xml",
    "twigcast explain '//a:title' feed.xml --namespace a=http://www.w3.org/2005/Atom",
    "twigcast explain --rule 17 subscriptions.csv shop.xml",
)

_EVERY_FILE = ("*",)
"""Whoever names a member of an archive means it, whatever it is called."""

_IDS_SHOWN = 8

_PATH_MAX = 4096
"""No system takes a longer path."""


@grouped
def explain(
    xpath: Annotated[
        str,
        typer.Argument(
            metavar="XPATH|SUBSCRIPTIONS",
            help="The expression; with --rule the file of subscriptions that has it.",
            show_default=False,
        ),
    ],
    document: Annotated[
        str,
        typer.Argument(
            metavar="DOCUMENT",
            help="An XML file, - for standard input, or ARCHIVE!MEMBER.",
            show_default=False,
        ),
    ],
    rule: Annotated[
        str | None,
        typer.Option(
            metavar="ID",
            help="Explain the subscription with this id; in a file with one expression per line "
            "it is the number of the line.",
        ),
    ] = None,
    namespace: Namespaces = [],  # noqa: B006 (typer never changes it)
    exit_code: ExitCode = False,
    limits: LimitOptions = LimitOptions(),
    residual_cost_max: ResidualCostMax = None,
    as_json: AsJson = False,
) -> None:
    """Why an expression matches a document, or the first step of it that fails.

    Also tells when a name does exist, only in another namespace. With --rule the words are those
    of twigcast match: a file of subscriptions, then a document.
    """
    check_number("--residual-cost-max", residual_cost_max)
    namespaces: Mapping[str, str] = bindings(namespace)
    if rule is not None:
        if xpath == document == "-":
            raise UsageError("standard input cannot be both the subscriptions and a document")
        xpath, namespaces = _rule(xpath, read_rules(xpath, namespaces), rule)
    try:
        name, explanation = _explained(xpath, namespaces, document, limits, residual_cost_max)
    except PatternError as error:
        _complain_of(error)
        raise typer.Exit(REFUSED) from None
    except DocumentError as error:
        complain(f"{error}{way_out(error)}")
        raise typer.Exit(REFUSED) from None
    if as_json:
        rule_field = {} if rule is None else {"rule": rule}
        write_json({"document": name, **rule_field, **explanation.as_json()})
    else:
        _write_coloured(explanation)
    if explanation.matches is None:
        write_note(
            "ask in a simpler way (name elements instead of *), or raise --residual-cost-max"
        )
        raise typer.Exit(REFUSED)
    if exit_code and not explanation.matches:
        raise typer.Exit(REFUSED)


def _explained(
    xpath: str,
    namespaces: Mapping[str, str],
    path: str,
    limits: LimitOptions,
    cost_max: int | None,
) -> tuple[str, Explanation]:
    """The document's name, and its explanation."""
    bounds = limits.of_documents()
    name, content = _one_document(path, limits.of_files())
    if isinstance(content, DocumentError):
        raise content
    from twigcast.language import Document
    from twigcast.matching import explain as explained
    from twigcast.matching.residual.libxml2 import COST_MAX

    read = Document.parse(content, name=name, limits=bounds)
    return name, explained(xpath, read, namespaces, residual_cost_max=cost_max or COST_MAX)


def _rule(path: str, file: SubscriptionFile, rule: str) -> tuple[str, Mapping[str, str]]:
    """The expression with an id, and its namespaces; UsageError if there is none, or two."""
    found = [one for one in file.subscriptions if str(one.id) == rule]
    if len(found) > 1:
        raise UsageError(f"{path} has the id {rule} as a number and as text; give the expression")
    if found:
        return found[0].xpath, found[0].namespaces
    for bad in file.rejected:
        if str(bad.id) == rule:
            raise UsageError(f"{path}, line {bad.line}: the rule {rule} is none: {bad.reason}")
    ids = [str(one.id) for one in file.subscriptions]
    near = get_close_matches(rule, ids[:10_000], n=1)
    shown = f"did you mean {near[0]}?" if near else f"there are {_listed(ids)}"
    raise UsageError(f"{path} has no rule {rule}; {shown}")


def _listed(ids: list[str]) -> str:
    more = f" … {len(ids):,} in all" if len(ids) > _IDS_SHOWN else ""
    return (", ".join(ids[:_IDS_SHOWN]) or "none") + more


def _write_coloured(explanation: Explanation) -> None:
    """The text, its first words in the colour of the answer."""
    first, *others = explanation.text.split("\n")
    head, colon, rest = first.partition(":")
    colours = {True: Colour.GOOD, False: Colour.BAD, None: Colour.DOUBT}
    write(painted(head, colours[explanation.matches]), colon, rest, between="")
    for line in others:
        write(line)


def _one_document(path: str, limits: PublicationLimits) -> tuple[str, Content]:
    """The document that is meant, or the UsageError that there are several."""
    found = list(islice(_documents(path, limits), 2))
    match found:
        case [only]:
            return only
        case []:
            raise UsageError(f"there is no document in {path}")
        case _:
            raise UsageError(f"there are several documents in {path}; name one, as {found[0][0]}")


def _documents(path: str, limits: PublicationLimits) -> Iterator[tuple[str, Content]]:
    from twigcast.files import read_documents

    archive = _archive_in(path)
    if archive is None:
        yield from read_documents(path, limits=limits)
        return
    for name, content in read_documents(archive, patterns=_EVERY_FILE, limits=limits):
        if name == path:
            yield name, content
            return
    yield path, DocumentError("there is no such member in the archive", document=path)


def _archive_in(path: str) -> str | None:
    """The archive of ``ARCHIVE!MEMBER``: the first file that a path begins with, up to a ``!``."""
    # Of a name that cannot be, a Path would raise an error.
    if os.path.exists(path):  # noqa: PTH110
        return None
    ends = (place for place, letter in enumerate(path[:_PATH_MAX]) if letter == "!")
    return next((path[:end] for end in ends if os.path.isfile(path[:end])), None)  # noqa: PTH113


def _complain_of(error: PatternError) -> None:
    complain(f"column {error.column}: {error.reason}")
    for line in shown_at(error.text, error.column):
        write_note(f"  {line}")
