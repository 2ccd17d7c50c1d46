"""The arguments that several verbs share, so that they are spelt and explained once."""

from __future__ import annotations

from typing import Annotated, TypeAlias

import typer

__all__ = ["AsJson", "Documents", "Engine", "FileNames", "Subscriptions"]

Subscriptions: TypeAlias = Annotated[
    str,
    typer.Argument(
        metavar="SUBSCRIPTIONS",
        help="A file with one XPath per line, or .csv or .jsonl with id and xpath.",
        show_default=False,
    ),
]

Documents: TypeAlias = Annotated[
    list[str],
    typer.Argument(
        metavar="DOCUMENT",
        help="XML files, folders, zip or tar archives; - is standard input.",
        show_default=False,
    ),
]

FileNames: TypeAlias = Annotated[
    list[str],
    typer.Option(
        "--files",
        metavar="PATTERN",
        help="Which files of folders and archives are documents (may be repeated).",
    ),
]

Engine: TypeAlias = Annotated[
    str, typer.Option("--engine", metavar="NAME", help="What decides: auto, streaming or lxml.")
]

AsJson: TypeAlias = Annotated[
    bool, typer.Option("--json", help="Print one JSON object per line.", show_default=False)
]
