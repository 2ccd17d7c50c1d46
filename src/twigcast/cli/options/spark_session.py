"""The options of a Spark session, for all verbs that start one."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, TypeAlias

import typer

from twigcast.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Sequence

Master: TypeAlias = Annotated[
    str | None,
    typer.Option(
        metavar="URL",
        help="A Spark cluster, or local[CORES]; else Spark's own choice: where this was submitted "
        "to, or all cores of this machine.",
    ),
]
Settings: TypeAlias = Annotated[
    list[str],
    typer.Option(
        metavar="KEY=VALUE", help="For Spark, such as spark.driver.memory=8g (may be repeated)."
    ),
]


def bindings(given: Sequence[str], option: str, example: str) -> list[tuple[str, str]]:
    """What stands on both sides of each equals sign."""
    found: list[tuple[str, str]] = []
    for binding in given:
        key, equals, value = binding.partition("=")
        if not (key and equals):
            raise UsageError(f"{option} takes {example}, not {binding!r}")
        found.append((key, value))
    return found
