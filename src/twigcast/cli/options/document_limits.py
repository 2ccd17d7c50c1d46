"""The limits of documents and archives as options: ``--document-bytes-max 20MB``.

Each limit that can stop a document has an option, and what is said about a document that was
stopped names it. A verb that takes documents takes :class:`LimitOptions`.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal
from typing import TYPE_CHECKING, Annotated, Any, Final

import typer

from twigcast.cli.output import reason_of
from twigcast.errors import DocumentError, LimitError, UsageError

if TYPE_CHECKING:
    from twigcast.files import PublicationLimits
    from twigcast.language import DocumentLimits

_SIZE = re.compile(r"(?P<number>\d+(?:\.\d+)?) ?(?P<unit>[kmg]i?b|b)?", re.IGNORECASE)
_UNITS: Final = {
    "": 1,
    "b": 1,
    "kb": 10**3,
    "mb": 10**6,
    "gb": 10**9,
    "kib": 2**10,
    "mib": 2**20,
    "gib": 2**30,
}

_OPTIONS: Final[Mapping[str, str]] = {
    "bytes_max": "--document-bytes-max",
    "elements_max": "--document-elements-max",
    "depth_max": "--document-depth-max",
    "attributes_max": "--document-attributes-max",
    "name_length_max": "--document-name-length-max",
    "internal_subset_bytes_max": "--document-internal-subset-bytes-max",
    "members_max": "--archive-members-max",
    "ratio_max": "--archive-ratio-max",
}
"""Which option sets a limit, by the name that an error has for the limit."""

_CEILINGS: Final[Mapping[str, int]] = {"depth_max": 256, "elements_max": 10_000_000}
"""Where libxml2 stops, whatever its options are."""

_NUMBER_MAX = 2**63 - 1
"""No limit can be larger; the kernel counts in 64 bits."""


def _option(limit: str, text: str, metavar: str = "N") -> Any:  # noqa: ANN401 (as typer's own)
    return typer.Option(
        _OPTIONS[limit], metavar=metavar, min=1 if metavar == "N" else None, help=text
    )


@dataclass(frozen=True)
class LimitOptions:
    """What a user set; None is the default."""

    bytes_max: Annotated[
        str | None,
        _option("bytes_max", "Bytes of a document, such as 20MB or 64MiB (10MB).", "SIZE"),
    ] = None
    elements_max: Annotated[
        int | None, _option("elements_max", "Elements of a document (1000000).")
    ] = None
    depth_max: Annotated[int | None, _option("depth_max", "Elements inside each other (256).")] = (
        None
    )
    attributes_max: Annotated[
        int | None, _option("attributes_max", "Attributes of one element (1000).")
    ] = None
    name_length_max: Annotated[
        int | None, _option("name_length_max", "Characters of a name or a namespace (1000).")
    ] = None
    internal_subset_bytes_max: Annotated[
        int | None,
        _option("internal_subset_bytes_max", "Bytes between the brackets of a DOCTYPE (131072)."),
    ] = None
    members_max: Annotated[
        int | None, _option("members_max", "Documents of an archive (10000000).")
    ] = None
    ratio_max: Annotated[
        int | None,
        _option("ratio_max", "How many times as large as packed an archive may be unpacked (100)."),
    ] = None

    def of_documents(self) -> DocumentLimits:
        """For whoever reads documents; UsageError for what cannot be set."""
        from twigcast.language import DocumentLimits

        given = {
            "elements_max": self.elements_max,
            "depth_max": self.depth_max,
            "attributes_max": self.attributes_max,
            "name_length_max": self.name_length_max,
            "internal_subset_bytes_max": self.internal_subset_bytes_max,
            "bytes_max": self._bytes(),
        }
        for name, number in given.items():
            if (number or 0) > (ceiling := _CEILINGS.get(name, _NUMBER_MAX)):
                why = ": there libxml2 stops" if name in _CEILINGS else ""
                raise UsageError(f"{_OPTIONS[name]} is {ceiling:,} at most{why}")
        return DocumentLimits(**{name: n for name, n in given.items() if n is not None})

    def of_files(self) -> PublicationLimits:
        """For whoever opens files and archives."""
        from twigcast.files import PublicationLimits

        for name, number in (("members_max", self.members_max), ("ratio_max", self.ratio_max)):
            check_number(_OPTIONS[name], number)
        given = {
            "document_bytes_max": self._bytes(),
            "members_max": self.members_max,
            "ratio_max": self.ratio_max,
        }
        return PublicationLimits(**{name: n for name, n in given.items() if n is not None})

    def _bytes(self) -> int | None:
        if self.bytes_max is None:
            return None
        return size_of(self.bytes_max, option=_OPTIONS["bytes_max"])


def check_number(option: str, given: int | None) -> None:
    """UsageError if a number is larger than any limit can be."""
    if given is not None and given > _NUMBER_MAX:
        raise UsageError(f"{option} is {_NUMBER_MAX:,} at most")


def size_of(given: str, *, option: str) -> int:
    """A number of bytes; UsageError if it is none.

    >>> size_of("20MB", option="--size"), size_of("1.5 KiB", option="--size")
    (20000000, 1536)
    """
    read = _SIZE.fullmatch(given.strip())
    size = int(Decimal(read["number"]) * _UNITS[(read["unit"] or "").lower()]) if read else 0
    if not size:
        raise UsageError(f"{option} takes a size, such as 20MB, 64MiB or 5000000, not {given!r}")
    return size


def stopped_by(error: DocumentError) -> str:
    """Why a document was refused, and which option would let it pass."""
    return reason_of(error) + way_out(error)


def way_out(error: DocumentError) -> str:
    """The end of a sentence, with the option that would let a document pass, if there is one."""
    if not isinstance(error, LimitError) or error.limit not in _OPTIONS:
        return ""
    if error.allowed >= _CEILINGS.get(error.limit, error.allowed + 1):
        return "; libxml2 reads no more"
    return f"; {_OPTIONS[error.limit]} raises it"
