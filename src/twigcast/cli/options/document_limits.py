"""The limits of documents and archives as options: ``--document-bytes-max 20MB``.

Each limit that can stop a document has an option, and what is said about a document that was
stopped names it. A verb that takes documents takes all of these options (:func:`takes_limits`).
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from decimal import Decimal
from functools import wraps
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

_OPTIONS: Final[Mapping[str, tuple[str, str]]] = {
    "bytes_max": ("--document-bytes-max", "Bytes of a document, such as 20MB or 64MiB (10MB)."),
    "elements_max": ("--document-elements-max", "Elements of a document (1000000)."),
    "depth_max": ("--document-depth-max", "Elements inside each other (256)."),
    "attributes_max": ("--document-attributes-max", "Attributes of one element (1000)."),
    "name_length_max": (
        "--document-name-length-max", "Characters of a name or a namespace (1000)."
    ),
    "internal_subset_bytes_max": (
        "--document-internal-subset-bytes-max", "Bytes between the brackets of a DOCTYPE (131072)."
    ),
    "members_max": ("--archive-members-max", "Documents of an archive (10000000)."),
    "ratio_max": (
        "--archive-ratio-max", "How many times as large as packed an archive may be unpacked (100)."
    ),
}  # fmt: skip
"""Which option sets a limit and its help, by the name that an error has for the limit."""

_CEILINGS: Final[Mapping[str, int]] = {"depth_max": 256, "elements_max": 10_000_000}
"""Where libxml2 stops, whatever it is told."""

_NUMBER_MAX = 2**63 - 1
"""No limit can be larger; the kernel counts in 64 bits."""


@dataclass(frozen=True)
class LimitOptions:
    """What a user set; None is the default."""

    bytes_max: str | None = None
    elements_max: int | None = None
    depth_max: int | None = None
    attributes_max: int | None = None
    name_length_max: int | None = None
    internal_subset_bytes_max: int | None = None
    members_max: int | None = None
    ratio_max: int | None = None

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
                raise UsageError(f"{_OPTIONS[name][0]} is {ceiling:,} at most{why}")
        return DocumentLimits(**{name: n for name, n in given.items() if n is not None})

    def of_files(self) -> PublicationLimits:
        """For whoever opens files and archives."""
        from twigcast.files import PublicationLimits

        for name, number in (("members_max", self.members_max), ("ratio_max", self.ratio_max)):
            check_number(_OPTIONS[name][0], number)
        given = {
            "document_bytes_max": self._bytes(),
            "members_max": self.members_max,
            "ratio_max": self.ratio_max,
        }
        return PublicationLimits(**{name: n for name, n in given.items() if n is not None})

    def _bytes(self) -> int | None:
        if self.bytes_max is None:
            return None
        return size_of(self.bytes_max, option=_OPTIONS["bytes_max"][0])


def takes_limits(verb: Callable[..., None]) -> Callable[..., None]:
    """A verb with an option for each limit, which itself takes them together, as ``limits``."""

    @wraps(verb)
    def called(**given: Any) -> None:  # noqa: ANN401 (what typer has read)
        each = {name: given.pop(name) for name in _OPTIONS}
        verb(**given, limits=LimitOptions(**each))

    signature = inspect.signature(verb, eval_str=True)
    parameters: list[inspect.Parameter] = []
    for parameter in signature.parameters.values():
        if parameter.name == "limits":
            parameters += (
                parameter.replace(name=name, default=None, annotation=_annotated(name))
                for name in _OPTIONS
            )
        else:
            parameters.append(parameter)
    called.__annotations__ = {each.name: each.annotation for each in parameters}
    vars(called)["__signature__"] = signature.replace(parameters=parameters)
    return called


def _annotated(name: str) -> object:
    flag, text = _OPTIONS[name]
    if name == "bytes_max":
        return Annotated[str | None, typer.Option(flag, metavar="SIZE", help=text)]
    return Annotated[int | None, typer.Option(flag, metavar="N", min=1, help=text)]


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
    """The end of a sentence that says which option would let a document pass, if one would."""
    if not isinstance(error, LimitError) or error.limit not in _OPTIONS:
        return ""
    if error.allowed >= _CEILINGS.get(error.limit, error.allowed + 1):
        return "; libxml2 reads no more"
    return f"; {_OPTIONS[error.limit][0]} raises it"
