"""``twigcast match``: which subscriptions match which documents, here and now.

No Spark, no broker: the quickest way to an answer, and the one that all others must equal. A
document that cannot be read is refused by name, and so is a line that is no subscription; all
others are answered.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

import typer

from twigcast.cli.options import AsJson, Documents, Engine, FileNames, Subscriptions
from twigcast.cli.progress import Bar
from twigcast.cli.speaking import (
    REFUSED,
    complain,
    complain_of_all,
    quoted,
    reason_of,
    say,
    write,
    write_json,
)
from twigcast.errors import DocumentError, UsageError

if TYPE_CHECKING:
    from twigcast.files import Rejected, SubscriptionFile, SubscriptionId
    from twigcast.matching import Decision, Matcher

EXAMPLES = (
    "twigcast match subscriptions.txt news.xml",
    "twigcast match subscriptions.csv feed/ archive.zip --json",
)


def match(
    subscriptions: Subscriptions,
    documents: Documents,
    files: FileNames = ["*.xml"],  # noqa: B006 (typer never changes it)
    engine: Engine = "auto",
    as_json: AsJson = False,
) -> None:
    """Which subscriptions match which documents.

    Prints a line per document: its name, a tab, and the ids of the subscriptions that match. A
    document may be in a folder or archive; what cannot be read is named on standard error.
    """
    with Bar(beside_output=True) as bar:
        file, matcher, rejected = _compiled(subscriptions, documents, engine, bar)
        refused = _complain_of_rejected(subscriptions, rejected)
        number = 0
        for name, answer in _answers(matcher, documents, files, bar):
            number += 1
            refused += not _print_answer(file, name, answer, as_json=as_json)
    if not number:
        say(f"No documents there: no file fits {' or '.join(files)}; --files chooses others.")
    if refused:
        raise typer.Exit(REFUSED)


def _compiled(
    path: str, documents: list[str], engine: str, bar: Bar
) -> tuple[SubscriptionFile, Matcher, tuple[Rejected, ...]]:
    """The subscriptions as they stand in the file, their matcher, and what is none."""
    from twigcast.files import compile_subscriptions, read_subscriptions
    from twigcast.matching import Matcher

    if path == "-" and "-" in documents:
        raise UsageError("standard input cannot be both the subscriptions and a document")
    matcher = Matcher(engine)
    file = read_subscriptions("/dev/stdin" if path == "-" else path)
    step = bar.steps("reading subscriptions", len(file.subscriptions))

    def add(position: int, xpath: str, namespaces: Mapping[str, str]) -> None:
        matcher.add(position, xpath, namespaces)
        step()

    return file, matcher, file.rejected + compile_subscriptions(file, add)


def _complain_of_rejected(path: str, rejected: tuple[Rejected, ...]) -> int:
    in_order = sorted(rejected, key=lambda one: one.line)
    texts = (f"{path}, {_place(one)}: {one.reason}, in {quoted(one.xpath)}" for one in in_order)
    return complain_of_all(texts, hint="twigcast check lists them")


def _place(one: Rejected) -> str:
    return f"line {one.line}" + (f", column {one.column}" if one.column is not None else "")


def _answers(
    matcher: Matcher, documents: list[str], files: list[str], bar: Bar
) -> Iterator[tuple[str, Decision | DocumentError]]:
    """What the matcher says to each document, in the order given."""
    from twigcast.files.publications import Kind, list_documents, open_entries
    from twigcast.language import Document

    entries = list(list_documents(documents, patterns=files))
    of_unknown_number = any(entry.kind is Kind.TAR for entry in entries)
    step = bar.steps("matching documents", None if of_unknown_number else len(entries))
    for name, content in open_entries(entries, patterns=files):
        step()
        if isinstance(content, DocumentError):
            yield name, content
            continue
        try:
            yield name, matcher.decide(Document.parse(content, name=name))
        except DocumentError as error:
            yield name, error


def _print_answer(
    file: SubscriptionFile, name: str, answer: Decision | DocumentError, *, as_json: bool
) -> bool:
    """Print what there is to say about a document; False if something of it was refused."""
    if isinstance(answer, DocumentError):
        if as_json:
            write_json({"document": name, "error": reason_of(answer)})
        else:
            complain(f"{name}: {reason_of(answer)}")
        return False
    matches, undecided = _ids(file, answer.matches), _ids(file, answer.undecided)
    if as_json:
        doubts = {"undecided": undecided} if undecided else {}
        write_json({"document": name, "matches": matches, **doubts})
    else:
        write(f"{name}\t{' '.join(map(str, matches))}")
        if undecided:
            ids = " ".join(map(str, undecided))
            complain(f"{name}: too costly to decide on this document: {ids}")
    return not undecided


def _ids(file: SubscriptionFile, positions: tuple[int, ...]) -> list[SubscriptionId]:
    return [file.subscriptions[position].id for position in positions]
