"""A DTD as a user names it: one that comes with Twigcast, by its name, or a file."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from twigcast.errors import UsageError

if TYPE_CHECKING:
    from twigcast.language.dtd.schema import Schema


def schema_named(dtd: str) -> Schema:
    """The schema of a name or a file; UsageError if there is neither."""
    from twigcast.files.opening import checked_path
    from twigcast.files.schemas import read_schema, shipped_schema, shipped_schema_names

    if dtd in shipped_schema_names():
        return shipped_schema(dtd)
    # Of a name that cannot be, a Path would raise an error.
    if os.path.isfile(checked_path(dtd, "a DTD")):  # noqa: PTH113
        return read_schema(dtd)
    known = ", ".join(shipped_schema_names())
    raise UsageError(f"there is no file {dtd}, and no DTD of that name comes along: {known}")


def complete_schema() -> list[str]:
    """The names that a shell can complete."""
    from twigcast.files.schemas import shipped_schema_names

    return list(shipped_schema_names())
