"""Members of archives: their names, and which of them are refused.

An archive comes from a stranger, so everything in its headers is a claim:

- A member that is too large, encrypted, a link, sparse, an archive itself, or whose name points
  outside (``/etc/x``, ``../x``) is *refused*: it becomes an error of that one document.
- What is unpacked may be at most ``ratio_max`` times what is packed, beyond the first MiB: a few
  kilobytes that swell to gigabytes are stopped on the way.
- Within an archive two members may have one name; the second is called ``name#2``.
- Whatever the standard library raises on the way (:data:`BROKEN`) is an error of that member, or of
  the archive where nothing behind it can be found any more.

:mod:`~twigcast.files.archives.zip` and :mod:`~twigcast.files.archives.tar` read the two kinds,
member by member in bounded memory; nothing is ever unpacked to disk.
"""

from __future__ import annotations

import lzma
import re
import struct
import tarfile
import zipfile
import zlib
from collections.abc import Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase

from twigcast.display import printable, shortened
from twigcast.errors import DocumentError, DocumentLimitError
from twigcast.files.limits import PublicationLimits, too_large
from twigcast.language.records.selector import RecordSelector

PACKED_ENDINGS = (".gz", ".bz2", ".xz", ".zst")
"""What compressed documents are called, behind their own name."""

ARCHIVE_ENDINGS = (".zip", ".tar", ".tgz", ".tbz2", ".txz", ".tzst", ".7z", ".rar")

_NUMBER = re.compile(r"#[0-9]+\Z")

MEMBER_NAME_CHARACTERS_MAX = 4_096
"""Of a member's name, as on most disks. A longer one is refused, and shown by its beginning."""

BROKEN = (
    OSError,
    EOFError,
    ValueError,
    LookupError,
    RuntimeError,  # what zipfile cannot do, and too deep a recursion, are of this kind too
    AttributeError,  # tarfile and zipfile take some forged fields for granted,
    TypeError,  # and stumble where they use them
    AssertionError,
    MemoryError,  # an xz archive may ask for a dictionary of gigabytes
    OverflowError,
    struct.error,
    zipfile.BadZipFile,
    tarfile.TarError,
    zlib.error,
    lzma.LZMAError,
)
"""What the standard library raises on archives that are damaged or forged."""


@dataclass(frozen=True, slots=True)
class Selection:
    """Which files of a folder or archive are documents, and the limits they are held to.

    With ``record`` they are dumps, of any size, and their records are the documents.
    """

    patterns: Sequence[str]
    limits: PublicationLimits
    record: RecordSelector | None = None

    def wants(self, way: str) -> bool:
        """Whether the way to a file, from folder to folder, fits a pattern and is not hidden.

        A compressed file fits with the name that it would have unpacked, too.

        >>> selection = Selection(["*.xml"], PublicationLimits())
        >>> selection.wants("2026/News.XML"), selection.wants("News.xml.gz")
        (True, True)
        """
        steps = way.replace("\\", "/").lower().split("/")
        if any(step.startswith(".") and step not in {".", ".."} for step in steps):
            return False
        wholes = {"/".join(steps), without_packing("/".join(steps))}
        return any(
            fnmatchcase(whole if "/" in pattern else whole.rpartition("/")[2], pattern.lower())
            for pattern in self.patterns
            for whole in wholes
        )

    def concerns(self, member: str) -> bool:
        """Whether an archive's member is a document, or refused rather than passed over."""
        return self.wants(member) or is_archive(member)


class UniqueNames:
    """Names that were given out, each only once."""

    def __init__(self) -> None:
        self._seen: set[str] = set()
        self._copies: dict[str, int] = {}
        """Of names that came more than once: the last number given."""

    def __len__(self) -> int:
        return len(self._seen)

    def unique(self, name: str) -> str:
        """The name, with a number behind it when it was there before."""
        candidate = name
        while candidate in self._seen:
            # No number is tried twice for one name, however often it comes.
            copies = self._copies[name] = self._copies.get(name, 1) + 1
            candidate = f"{name}#{copies}"
        self._seen.add(candidate)
        return candidate


class MemberNames(UniqueNames):
    """Names of an archive's members as documents: ``archive!member``."""

    def __init__(self, archive: str) -> None:
        super().__init__()
        self._archive = archive

    def unique(self, name: str) -> str:
        """The document's name for a member's."""
        return super().unique(f"{self._archive}!{member_text(name)}")


def member_text(name: str) -> str:
    """A member's name as it stands in that of the document."""
    return printable(shortened(name, MEMBER_NAME_CHARACTERS_MAX))


def is_called_after(document: str, member: str) -> bool:
    """Whether a document has its name from this member, whatever number stands behind it.

    >>> is_called_after("a.zip!b.xml#2", "b.xml"), is_called_after("a.zip!b.xml", "c.xml")
    (True, False)
    """
    called = f"!{member_text(member)}"
    while not document.endswith(called):
        if (number := _NUMBER.search(document)) is None:
            return False
        document = document[: number.start()]
    return True


def without_packing(name: str) -> str:
    """The name of a compressed file without the ending that says so.

    >>> without_packing("news.XML.gz"), without_packing("news.xml")
    ('news.XML', 'news.xml')
    """
    ending = next((one for one in PACKED_ENDINGS if name.lower().endswith(one)), "")
    return name[: len(name) - len(ending)]


def member_refusal(member: str, size: int, name: str, selection: Selection) -> DocumentError | None:
    """Why a member is refused whatever the kind of archive, from what is claimed about it."""
    if len(member) > MEMBER_NAME_CHARACTERS_MAX:
        return DocumentLimitError(
            "too many characters in the member's name",
            limit="MEMBER_NAME_CHARACTERS_MAX",
            given=len(member),
            allowed=MEMBER_NAME_CHARACTERS_MAX,
            document=name,
        )
    if re.match(r"[/\\]|[A-Za-z]:", member) or ".." in re.split(r"[/\\]", member):
        return DocumentError("the member's name points outside the archive", document=name)
    if is_archive(member):
        return DocumentError("an archive inside an archive is not opened", document=name)
    if selection.record is None and size > selection.limits.document_bytes_max:
        return too_large(name, size, selection.limits)
    return None


def is_archive(member: str) -> bool:
    """Whether a member is an archive by its name, and no compressed document.

    >>> is_archive("a.tar.gz"), is_archive("a.gz"), is_archive("a.xml.gz")
    (True, True, False)
    """
    plain = without_packing(member)
    if plain != member and "." not in plain:
        return True
    return plain.lower().endswith(ARCHIVE_ENDINGS)
