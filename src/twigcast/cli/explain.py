"""``twigcast explain``: why an expression matches a document, or what it fails at.

The document is one that ``match`` has named: a file, ``-``, or a member of an archive as in
``feed.zip!monday/7.xml``.
"""

from __future__ import annotations

from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from twigcast.cli.namespaces import Namespaces, bindings
from twigcast.cli.options import AsJson
from twigcast.cli.speaking import REFUSED, complain, pointed_at, say, write, write_json
from twigcast.errors import DocumentError, PatternError, UsageError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from twigcast.files.archives import Content

EXAMPLES = (
    "twigcast explain '//item[price < 10]' shop.xml",
    "twigcast explain '//a:title' feed.xml --namespace a=http://www.w3.org/2005/Atom",
)

_EVERY_FILE = ("*",)
"""Whoever names a member of an archive means it, whatever it is called."""


def explain(
    xpath: Annotated[
        str, typer.Argument(metavar="XPATH", help="The expression.", show_default=False)
    ],
    document: Annotated[
        str,
        typer.Argument(
            metavar="DOCUMENT",
            help="An XML file, - for standard input, or ARCHIVE!MEMBER.",
            show_default=False,
        ),
    ],
    namespace: Namespaces = [],  # noqa: B006 (typer never changes it)
    as_json: AsJson = False,
) -> None:
    """Why an expression matches a document, or the first step of it that fails.

    Also tells when a name does exist, only in another namespace.
    """
    namespaces = bindings(namespace)
    name, content = _one_document(document)
    if isinstance(content, DocumentError):
        raise content
    from twigcast.language import Document
    from twigcast.matching import explain as explained

    try:
        explanation = explained(xpath, Document.parse(content, name=name), namespaces)
    except PatternError as error:
        _complain_of(error)
        raise typer.Exit(REFUSED) from None
    if as_json:
        write_json({"document": name, **explanation.as_json()})
    else:
        write(explanation.text)
    if explanation.matches is None:
        raise typer.Exit(REFUSED)


def _one_document(path: str) -> tuple[str, Content]:
    """The document that is meant, or the UsageError that there are several."""
    found = list(islice(_documents(path), 2))
    match found:
        case [only]:
            return only
        case []:
            raise UsageError(f"there is no document in {path}")
        case _:
            raise UsageError(f"there are several documents in {path}; name one, as {found[0][0]}")


def _documents(path: str) -> Iterator[tuple[str, Content]]:
    from twigcast.files import read_documents

    archive, bang, _ = path.partition("!")
    if not bang or Path(path).exists() or not Path(archive).is_file():
        yield from read_documents(path)
        return
    for name, content in read_documents(archive, patterns=_EVERY_FILE):
        if name == path:
            yield name, content
            return
    yield path, DocumentError("there is no such member in the archive", document=path)


def _complain_of(error: PatternError) -> None:
    complain(f"column {error.column}: expected {error.expected}")
    for line in pointed_at(error.text, error.column):
        say(f"  {line}")
