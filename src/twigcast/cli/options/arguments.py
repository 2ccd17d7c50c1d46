"""The arguments that several verbs share, so that they are spelt and explained once."""

from __future__ import annotations

from typing import Annotated, TypeAlias

import typer

from twigcast.cli.options.completion import complete_engine

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
        help="XML files (.gz, .bz2, .xz, .zst too), folders, zip or tar archives; - is standard "
        "input.",
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

Record: TypeAlias = Annotated[
    str | None,
    typer.Option(
        "--record",
        metavar="NAME",
        help="Documents are the elements NAME of files of any size: page, *:page, /feed/entry.",
    ),
]

Engine: TypeAlias = Annotated[
    str,
    typer.Option(
        "--engine",
        metavar="NAME",
        help="What decides: auto, native, streaming or lxml.",
        autocompletion=complete_engine,
    ),
]

ExitCode: TypeAlias = Annotated[
    bool,
    typer.Option(
        "--exit-code", help="End with exit code 1 if the answer is no.", show_default=False
    ),
]

ResidualCostMax: TypeAlias = Annotated[
    int | None,
    typer.Option(
        "--residual-cost-max",
        metavar="N",
        min=1,
        help="Steps that one expression may cost on one document (10000000).",
    ),
]

DocumentCostMax: TypeAlias = Annotated[
    int | None,
    typer.Option(
        "--document-cost-max",
        metavar="N",
        min=1,
        help="Steps that all expressions together may cost on one document (250000000).",
    ),
]

AsJson: TypeAlias = Annotated[
    bool, typer.Option("--json", help="Print one JSON object per line.", show_default=False)
]
