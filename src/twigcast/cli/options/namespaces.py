"""Prefixes of expressions on the command line: ``--namespace a=urn:a``."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Annotated, TypeAlias

import typer

from twigcast.errors import UsageError

Namespaces: TypeAlias = Annotated[
    list[str],
    typer.Option(
        "--namespace",
        metavar="PREFIX=URI",
        help="What a prefix stands for in expressions that do not bind it (may be repeated).",
        show_default=False,
    ),
]


def bindings(given: Iterable[str]) -> dict[str, str]:
    """The namespace of each prefix; UsageError for an argument that binds none."""
    from twigcast.files.subscriptions.row_formats import PREFIX

    namespaces: dict[str, str] = {}
    for binding in given:
        prefix, equals, uri = binding.partition("=")
        if not (PREFIX.fullmatch(prefix) and equals and uri):
            raise UsageError(f"--namespace takes PREFIX=URI, such as a=urn:a, not {binding!r}")
        namespaces[prefix] = uri
    return namespaces
