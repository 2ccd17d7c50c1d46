"""The search for records by the kernel, where it is installed.

In this room, this module alone imports the kernel; :data:`AVAILABLE` is whether there is one. It
does what takes a look at every byte (:mod:`~twigcast.language.records.markup`), and finds what is
found without it.
"""

from __future__ import annotations

try:
    import twigcast_kernel as kernel
except ModuleNotFoundError:  # optional: everything works without it, only slower
    AVAILABLE = False
else:
    # A kernel built before it knew of records has none.
    AVAILABLE = hasattr(kernel, "records_alike")


def find_markup(text: bytes, start: int, end: int, local: bytes | None) -> int:
    """Where the first markup begins that counts inside a record; -1 if there is none."""
    return kernel.find_markup(text, start, end, local)


def records_alike(
    text: bytes, start: int, end: int, *, tag: bytes, local: bytes | None
) -> tuple[list[int], int]:
    """Where each of some records in a row begins and ends, and how far the row reaches."""
    places, reached = kernel.records_alike(text, start, end, tag, local)
    return memoryview(places).cast("i").tolist(), reached
