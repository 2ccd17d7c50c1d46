"""The limits of publications: how large a document, how many to an archive, how far it may swell.

Every document that comes from a disk, a stream or an archive is held to them before anybody parses
it. What is over a limit becomes the error of that one document.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol, TypeAlias

from twigcast.errors import DocumentError, DocumentLimitError
from twigcast.language import LIBRARY_LIMITS
from twigcast.slips import check_fields

Content: TypeAlias = bytes | DocumentError
"""What comes of a document: its bytes as they were published, or why there are none."""

RATIO_EXEMPT_BYTES = 1 << 20
"""Up to this size an extreme ratio harms nobody, and small repetitive documents do reach it."""

READ_BYTES_MAX = 1 << 20
"""No single read is larger, so that a forged size cannot claim our memory."""


@dataclass(frozen=True, slots=True)
class PublicationLimits:
    """How large a document may be, how many an archive may hold, and how far it may swell."""

    document_bytes_max: int = LIBRARY_LIMITS.bytes_max
    members_max: int = 10_000_000
    ratio_max: int = 100

    def __post_init__(self) -> None:
        check_fields(self)

    def unpacked_bytes_max(self, packed: int) -> int:
        """How many bytes so many packed bytes may become."""
        return max(RATIO_EXEMPT_BYTES, packed * self.ratio_max)


class ByteReader(Protocol):
    """A file that is read on and on."""

    def read(self, size: int, /) -> bytes:
        """The next bytes, empty at the end."""


def bounded_read(file: ByteReader, name: str, limits: PublicationLimits) -> Content:
    """All bytes of an open file, or the error that it has more than a document may have."""
    parts: list[bytes] = []
    left = limits.document_bytes_max + 1
    while left and (part := file.read(min(left, READ_BYTES_MAX))):
        parts.append(part)
        left -= len(part)
    content = b"".join(parts)
    if len(content) > limits.document_bytes_max:
        return too_large(name, len(content), limits)
    return content


def too_large(name: str, size: int, limits: PublicationLimits) -> DocumentLimitError:
    """The error of a document with more bytes than allowed."""
    allowed = limits.document_bytes_max
    return DocumentLimitError(
        "too many bytes", limit="bytes_max", given=size, allowed=allowed, document=name
    )


def too_packed(name: str, unpacked: int, allowed: int) -> DocumentLimitError:
    """The error of an archive, or a member, that swells beyond what the ratio allows."""
    return DocumentLimitError(
        "more unpacked bytes than the packed ones explain",
        limit="ratio_max",
        given=unpacked,
        allowed=allowed,
        document=name,
    )


def too_many(archive: str, members: int, limits: PublicationLimits) -> DocumentLimitError:
    """The error that stands for all members beyond the number allowed."""
    return DocumentLimitError(
        "too many members, the rest is not read",
        limit="members_max",
        given=members,
        allowed=limits.members_max,
        document=archive,
    )


def reason_of(error: BaseException) -> str:
    """The text of an error from below, or at least its name."""
    text = error.strerror if isinstance(error, OSError) else None
    return text or str(error) or type(error).__name__
