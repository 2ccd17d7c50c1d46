"""Documents where people keep them: folders, single files, zip and tar archives, standard input.

Reading has two halves, so that many workers can share it. :func:`list_documents` finds out what
is there without opening documents, and gives an :class:`Entry` for each; :func:`open_entries`
turns entries into bytes, anywhere the same paths lead to the same files. A tar archive is a
single entry for all of its documents, since it can only be read from its beginning.
:func:`read_documents` is both in one go::

    for name, content in read_documents(["feed/", "yesterday.zip", "late.xml"]):
        ...     # content is bytes, or the DocumentError that says why there are none

The rules:

- Bytes are handed on as they were published; nothing is decoded, nothing is written to disk.
- Whatever is wrong with one document (it cannot be read, it is too large, an archive's member is
  encrypted …) is the error of that document, and the others are read.
- The name of a document is its path as a user would type it: the path given, for a folder
  followed by the way inside it, for an archive followed by ``!`` and the member's name. Names
  are unique and do not depend on who reads; bytes of a name that are no UTF-8 are spelled out. A
  file that is called like a member of an archive beside it has ``./`` in front of its own name.
- In folders and archives the documents are those whose name fits one of ``patterns``
  (``*.xml`` if nothing is said; capitals count as small letters; a pattern with a slash is
  compared with the whole way inside). Hidden ones, whose name begins with a dot, are left out,
  as in any shell. What is named itself is always read.
- A folder is read with all below it, sorted by name. A link inside it is followed when it leads
  to a document inside; one that leads out of the folder is refused. An archive inside a folder
  is opened if its name fits a pattern.
- A compressed document (``.gz``, ``.bz2``, ``.xz``, ``.zst``) is read as what is in it, wherever a
  document may stand. It fits a pattern with the name that it would have unpacked, too.
- With ``record``, what would be documents are dumps of any size, and their records are the
  documents (:mod:`~twigcast.files.archives.contents`).
- What may be large or hostile is bounded by :class:`PublicationLimits`. Folders lie inside each
  other up to :data:`FOLDERS_DEEP_MAX` times.
- What nobody foresaw while one document is read is the error of that document as well; its cause is
  the :class:`~twigcast.errors.InternalError`.
"""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from enum import StrEnum
from functools import cached_property
from pathlib import Path
from typing import BinaryIO, Self, TypeAlias, cast
from zipfile import ZipFile

from twigcast.display import printable
from twigcast.door import door
from twigcast.errors import DocumentError, DocumentLimitError, InternalError, UsageError
from twigcast.files.archives.contents import documents_in
from twigcast.files.archives.members import BROKEN, Selection, UniqueNames, without_packing
from twigcast.files.archives.tar import read_tar
from twigcast.files.archives.unpacking import decompressed, is_packed
from twigcast.files.archives.zip import open_zip, read_zip_member, zip_members
from twigcast.files.documents.record_ranges import RecordRange, read_range
from twigcast.files.limits import Content, PublicationLimits, reason_of, too_large
from twigcast.files.opening import checked_path, open_regular, standard_input
from twigcast.language.records.selector import RecordSelector
from twigcast.slips import each_of

DEFAULT_PATTERNS = ("*.xml",)
DEFAULT_LIMITS = PublicationLimits()

_LEADS_OUT = "it is a link that leads out of the folder"
_ZIP_ENDINGS = (".zip",)
_TAR_ENDINGS = (
    ".tar", ".tgz", ".tar.gz", ".tbz2", ".tar.bz2", ".txz", ".tar.xz", ".tzst", ".tar.zst",
)  # fmt: skip

_NUMBERED = re.compile(r"(.*?)((?:#[0-9]+)*(?:#[0-9]+@[0-9]+)?)", re.DOTALL)
"""What :class:`UniqueNames` makes of a name that comes again, and what a record is called."""

AnyPath: TypeAlias = str | os.PathLike[str]

FOLDERS_DEEP_MAX = 1_000
"""Folders inside each other; nobody keeps documents deeper, and paths end soon after."""


class EntryKind(StrEnum):
    """What an entry is."""

    FILE = "file"
    ZIP_MEMBER = "zip member"
    TAR = "tar"
    STDIN = "stdin"
    REFUSED = "refused"


@dataclass(frozen=True, slots=True)
class Entry:
    """Where a document lies (or, for a tar archive, all of its documents).

    ``member`` is the number of a zip archive's member, ``size`` the bytes to be read as far as
    they are known, and ``refusal`` why there is nothing to read. ``part`` is a range of a dump that
    was cut.
    """

    kind: EntryKind
    name: str
    path: str
    member: int = 0
    size: int = 0
    refusal: DocumentError | None = None
    part: RecordRange | None = None


@door("reading documents")
def read_documents(
    paths: AnyPath | Sequence[AnyPath],
    *,
    patterns: Sequence[str] = DEFAULT_PATTERNS,
    limits: PublicationLimits = DEFAULT_LIMITS,
    record: str | RecordSelector | None = None,
) -> Iterator[tuple[str, Content]]:
    """Name and bytes (or error) of each document, in the order of the paths; ``-`` is stdin.

    With ``record``, a name such as ``*:page`` or a path, each record of a file is a document.

    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     _ = Path(folder, "a.xml").write_text("<a/>")
    ...     contents = [content for name, content in read_documents(folder)]
    >>> contents
    [b'<a/>']
    """
    selector = selector_of(record)
    entries = list_documents(paths, patterns=patterns, limits=limits, record=selector)
    return open_entries(entries, patterns=patterns, limits=limits, record=selector)


@door("listing documents")
def list_documents(
    paths: AnyPath | Sequence[AnyPath],
    *,
    patterns: Sequence[str] = DEFAULT_PATTERNS,
    limits: PublicationLimits = DEFAULT_LIMITS,
    found_in: Iterable[str] = (),
    record: str | RecordSelector | None = None,
) -> Iterator[Entry]:
    """What there is to read, in the order of the paths; what is named twice is listed once.

    A path that is empty is a :class:`UsageError`, before anything is read. Paths that somebody has
    found in one of the folders ``found_in`` are held to the rules of links inside a folder.
    """
    several = isinstance(paths, Iterable) and not isinstance(paths, str | bytes | os.PathLike)
    given = cast("Iterable[object]", paths) if several else [paths]
    checked = [checked_path(path, "a document") for path in given]
    selection = Selection(patterns, limits, selector_of(record))
    inside = each_of(found_in, str, "folders are texts")
    folders = [_Folder(checked_path(folder, "a folder"), selection) for folder in inside]
    return _list_paths(checked, selection, folders)


@door("listing documents")
def _list_paths(
    paths: Iterable[str], selection: Selection, folders: Sequence[_Folder]
) -> Iterator[Entry]:
    seen: set[tuple[str, int, str]] = set()
    names = UniqueNames()
    for path in paths:
        listed = _list_path(path, selection, folders)
        while (entry := _next_entry(listed, path)) is not None:
            place = entry.path, entry.member, entry.name
            if place not in seen:
                seen.add(place)
                # Two paths that are no UTF-8 may be spelled out alike.
                yield replace(entry, name=names.unique(entry.name))


def _next_entry(listed: Iterator[Entry], path: str) -> Entry | None:
    """The next entry of a path; what nobody foresaw costs that path, not those behind it."""
    try:
        with door("listing its documents"):
            return next(listed, None)
    except InternalError as error:
        return _refused(path, str(error), cause=error)


@door("listing documents")
def list_files(folder: AnyPath, *, patterns: Sequence[str] = DEFAULT_PATTERNS) -> Iterator[Entry]:
    """The files of a folder that are documents or archives by their names, none of them opened."""
    checked = checked_path(folder, "a folder")
    yield from _Folder(checked, Selection(patterns, DEFAULT_LIMITS)).files()


@door("listing documents")
def list_members(
    found: Entry,
    *,
    patterns: Sequence[str] = DEFAULT_PATTERNS,
    limits: PublicationLimits = DEFAULT_LIMITS,
) -> Iterator[Entry]:
    """A file of :func:`list_files` itself, or the members of a zip archive."""
    yield from _readable_members(found, Selection(patterns, limits))


@door("reading documents")
def open_entries(
    entries: Iterable[Entry],
    *,
    patterns: Sequence[str] = DEFAULT_PATTERNS,
    limits: PublicationLimits = DEFAULT_LIMITS,
    stdin: BinaryIO | None = None,
    record: str | RecordSelector | None = None,
) -> Iterator[tuple[str, Content]]:
    """Name and bytes (or error) of each document of the entries.

    An archive stays open as long as entries of it follow one another.
    """
    opened = opened_entries(entries, patterns=patterns, limits=limits, stdin=stdin, record=record)
    for _, name, content in opened:
        yield name, content


@door("reading documents")
def opened_entries(
    entries: Iterable[Entry],
    *,
    patterns: Sequence[str] = DEFAULT_PATTERNS,
    limits: PublicationLimits = DEFAULT_LIMITS,
    stdin: BinaryIO | None = None,
    record: str | RecordSelector | None = None,
) -> Iterator[tuple[Entry, str, Content]]:
    """The same, with the entry that each document comes from."""
    selection = Selection(patterns, limits, selector_of(record))
    with _OpenArchive() as archive:
        for entry in each_of(entries, Entry, "entries are of the type Entry"):
            documents = _documents_of(entry, archive, selection, stdin)
            while (document := _next_of(documents, entry)) is not None:
                yield entry, *document


def _documents_of(
    entry: Entry, archive: _OpenArchive, selection: Selection, stdin: BinaryIO | None
) -> Iterator[tuple[str, Content]]:
    name = entry.name
    match entry.kind:
        case EntryKind.REFUSED:
            assert entry.refusal is not None
            yield name, entry.refusal
        case EntryKind.FILE:
            yield from _read_file(entry, selection)
        case EntryKind.STDIN:
            yield from _read_stdin(stdin, name, selection)
        case EntryKind.ZIP_MEMBER:
            yield from archive.read(entry, selection)
        case EntryKind.TAR:
            yield from read_tar(Path(entry.path), name, selection)


def _next_of(documents: Iterator[tuple[str, Content]], entry: Entry) -> tuple[str, Content] | None:
    """The next document of an entry; what nobody foresaw costs the entry, not those behind it."""
    try:
        with door("reading it"):
            return next(documents, None)
    except InternalError as error:
        return entry.name, _refusal(str(error), entry.name, error)


def selector_of(
    record: str | RecordSelector | None, namespaces: Mapping[str, str] | None = None
) -> RecordSelector | None:
    """Which elements are records, if there are to be any; UsageError if it cannot be meant."""
    if record is None or isinstance(record, RecordSelector):
        return record
    return RecordSelector.parse(record, namespaces)


def file_name(entry: Entry, name: str) -> str:
    """What a document of an entry is called without the way to it, in folders or an archive.

    >>> file_name(Entry(EntryKind.TAR, "feed.tar", "feed.tar"), "feed.tar!monday/Oh!.xml")
    'Oh!.xml'
    >>> file_name(Entry(EntryKind.TAR, "feed.tar", "feed.tar"), "feed.tar!monday/Oh!.xml#2")
    'Oh!#2.xml'
    >>> file_name(Entry(EntryKind.FILE, "dump.xml.gz", "dump.xml.gz"), "dump.xml.gz#17@8192")
    'dump#17@8192.xml'

    The number that distinguishes it stands before the ending, for files are chosen by that.
    A document that was compressed has the name of what is in it.
    """
    if entry.kind is EntryKind.STDIN:
        return "stdin.xml"
    if entry.kind is EntryKind.FILE:
        name = name.rpartition("/")[2]
    else:
        archive = entry.name if entry.kind is EntryKind.TAR else printable(entry.path)
        name = name.removeprefix(f"{archive}!")
        name = re.split(r"[/\\]", name)[-1] or name
    numbered = _NUMBERED.fullmatch(name)
    assert numbered is not None
    called, number = numbered.groups()
    stem, dot, ending = (without_packing(called) or called).rpartition(".")
    return f"{stem}{number}{dot}{ending}" if dot else ending + number


def _list_path(path: str, selection: Selection, folders: Sequence[_Folder]) -> Iterator[Entry]:
    if path == "-":
        yield Entry(EntryKind.STDIN, path, path)
        return
    folder = next((folder for folder in folders if folder.holds(path)), None)
    if folder is not None and (link := folder.link_on_the_way(path)) is not None:
        if not folder.leads_inside(link):
            yield _refused(link, _LEADS_OUT)
            return
        if link != path:
            return
    try:
        status = Path(path).stat()
        if stat.S_ISDIR(status.st_mode):
            for found in _Folder(path, selection).files():
                yield from _readable_members(found, selection)
        elif stat.S_ISREG(status.st_mode):
            found = Entry(_kind_by_content(path), _name_of(path), path, size=status.st_size)
            yield from _members(found, selection)
        else:
            yield _refused(path, "it is neither a file nor a folder; use - for a pipe")
    except OSError as error:
        yield _unreadable(path, error)


def _members(found: Entry, selection: Selection) -> Iterator[Entry]:
    """The entry itself, or those of its members if it is a zip archive."""
    if found.kind is not EntryKind.ZIP_MEMBER:
        yield found
        return
    for member in zip_members(Path(found.path), found.name, selection):
        kind = EntryKind.ZIP_MEMBER if member.refusal is None else EntryKind.REFUSED
        yield Entry(kind, member.name, found.path, member.number, member.size, member.refusal)


def _readable_members(found: Entry, selection: Selection) -> Iterator[Entry]:
    """The same, where a file that went away meanwhile is the error of that file alone."""
    try:
        yield from _members(found, selection)
    except OSError as error:
        yield _unreadable(found.path, error)


class _Folder:
    """A folder and all below it, in the order of names."""

    def __init__(self, path: str, selection: Selection) -> None:
        self._path = path.rstrip("/") or "/"
        self._selection = selection

    @cached_property
    def _real(self) -> str:
        """Its absolute path; OSError if there is none, for the working folder is gone."""
        return os.path.realpath(self._path)

    def files(self) -> Iterator[Entry]:
        """What there is, in this folder and below it; archives as one.

        The folders that we are in stand in a list: a recursion would end before the folders do.
        """
        inside = [self._items("")]
        while inside:
            found = next(inside[-1], None)
            if found is None:
                inside.pop()
            elif isinstance(found, Entry):
                yield found
            elif len(inside) >= FOLDERS_DEEP_MAX:
                yield _too_deep(self._full(found), len(inside) + 1)
            else:
                inside.append(self._items(f"{found}/"))

    def holds(self, path: str) -> bool:
        """Whether a path is one inside, by its name."""
        return path.startswith(self._full(""))

    def link_on_the_way(self, path: str) -> str | None:
        """The first link that a path inside goes over, which may be its end."""
        start = len(self._full(""))
        ends = [start + end for end, letter in enumerate(path[start:]) if letter == "/"]
        return next((path[:end] for end in (*ends, None) if Path(path[:end]).is_symlink()), None)

    def leads_inside(self, path: str) -> bool:
        """Whether a link leads to something inside, where that is read."""
        return os.path.commonpath([self._real, os.path.realpath(path)]) == self._real

    def _items(self, way: str) -> Iterator[Entry | str]:
        """What is in one folder: files as entries, folders by the way to them."""
        try:
            with os.scandir(self._full(way)) as found:
                items = sorted(found, key=lambda item: item.name)
        except OSError as error:
            yield _unreadable(self._full(way), error)
            return
        for item in items:
            if item.name.startswith("."):
                continue
            try:
                if item.is_dir(follow_symlinks=False):
                    yield way + item.name
                elif (file := self._file(item, way + item.name)) is not None:
                    yield file
            except OSError as error:
                yield _unreadable(self._full(way + item.name), error)

    def _file(self, item: os.DirEntry[str], way: str) -> Entry | None:
        """The document or archive that an item is, if it is one."""
        path = self._full(way)
        if item.is_dir():
            # A link that leads inside is read where it leads.
            return None if self.leads_inside(item.path) else _refused(path, _LEADS_OUT)
        if not self._selection.wants(way):
            return None
        status = item.stat()
        if item.is_symlink() and not self.leads_inside(item.path):
            return _refused(path, _LEADS_OUT)
        if not stat.S_ISREG(status.st_mode):
            # Opening a pipe would wait for ever.
            return _refused(path, "it is no regular file")
        return Entry(_kind_by_name(path), _name_of(path), path, size=status.st_size)

    def _full(self, way: str) -> str:
        """The way with the folder in front, as the user wrote it."""
        return f"{self._path}/{way}" if self._path != "/" else f"/{way}"


class _OpenArchive:
    """The zip archive that was read last, kept open for its next member."""

    def __init__(self) -> None:
        self._path: str | None = None
        self._file: ZipFile | DocumentError | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        if self._file is not None and not isinstance(self._file, DocumentError):
            self._file.close()

    def read(self, entry: Entry, selection: Selection) -> Iterator[tuple[str, Content]]:
        if entry.path != self._path:
            self.__exit__()
            self._path, self._file = entry.path, open_zip(Path(entry.path), entry.name)
        assert self._file is not None
        if isinstance(self._file, DocumentError):
            yield entry.name, DocumentError(self._file.reason, document=entry.name)
            return
        yield from read_zip_member(self._file, entry.member, entry.name, selection)


def _read_file(entry: Entry, selection: Selection) -> Iterator[tuple[str, Content]]:
    name, limits, record = entry.name, selection.limits, selection.record
    try:
        if entry.part is not None and record is not None:
            yield from read_range(entry.path, entry.part, name, selector=record, limits=limits)
            return
        with open_regular(entry.path) as file:
            size = os.fstat(file.fileno()).st_size
            if record is None and size > limits.document_bytes_max:
                # Packed, it would be larger still.
                yield name, too_large(name, size, limits)
                return
            yield from documents_in(file, name, selection)
    except OSError as error:
        yield name, _cannot_read(name, error)


def _read_stdin(
    stdin: BinaryIO | None, name: str, selection: Selection
) -> Iterator[tuple[str, Content]]:
    try:
        yield from documents_in(stdin or standard_input(), name, selection)
    except UsageError as error:
        yield name, DocumentError(str(error), document=name)
    except (OSError, ValueError) as error:  # a folder, or a stream that was closed meanwhile
        reason = f"standard input cannot be read: {reason_of(error)}"
        yield name, DocumentError(reason, document=name)


def _name_of(path: str) -> str:
    """The path as text, spelled otherwise where a member of an archive may have that name.

    A file ``a.tar!b.xml`` beside ``a.tar`` is ``./a.tar!b.xml``: no member's name begins like that.
    One in which there are two such names has this twice, for the first may be that of a tar, too.
    """
    ends = [place for place, letter in enumerate(path) if letter == "!"]
    files = [path[:end] for end in ends if stat.S_ISREG(_mode(path[:end]))]
    if files:
        start = files[0].rfind("/") + 1
        path = path[:start] + "./" * len(files) + path[start:]
    return printable(path)


def _mode(path: str) -> int:
    """What kind of file a path leads to; 0 if to none."""
    try:
        return os.stat(path).st_mode  # noqa: PTH116 (of a name that cannot be, Path raises)
    except (OSError, ValueError):
        return 0


def _kind_by_content(path: str) -> EntryKind:
    """What a file is by its first bytes, which no document begins with; else by its name."""
    with open_regular(path) as file:
        start = file.read(512)
        if start.startswith((b"PK\3\4", b"PK\5\6")):
            return EntryKind.ZIP_MEMBER
        if is_packed(start):
            file.seek(0)
            with suppress(DocumentError, *BROKEN):
                start = decompressed(file, path).read(512)
    return EntryKind.TAR if start[257:262] == b"ustar" else _kind_by_name(path)


def _kind_by_name(path: str) -> EntryKind:
    low = path.lower()
    if low.endswith(_ZIP_ENDINGS):
        return EntryKind.ZIP_MEMBER
    return EntryKind.TAR if low.endswith(_TAR_ENDINGS) else EntryKind.FILE


def _refused(path: str, reason: str, cause: Exception | None = None) -> Entry:
    name = printable(path)
    return Entry(EntryKind.REFUSED, name, path, refusal=_refusal(reason, name, cause))


def _refusal(reason: str, name: str, cause: Exception | None) -> DocumentError:
    refusal = DocumentError(reason, document=name)
    refusal.__cause__ = cause
    return refusal


def _too_deep(path: str, given: int) -> Entry:
    name = printable(path)
    refusal = DocumentLimitError(
        "too many folders inside each other, what is in this one is not read",
        limit="FOLDERS_DEEP_MAX",
        given=given,
        allowed=FOLDERS_DEEP_MAX,
        document=name,
    )
    return Entry(EntryKind.REFUSED, name, path, refusal=refusal)


def _unreadable(path: str, error: OSError) -> Entry:
    return Entry(
        EntryKind.REFUSED, printable(path), path, refusal=_cannot_read(printable(path), error)
    )


def _cannot_read(name: str, error: OSError) -> DocumentError:
    return DocumentError(f"it cannot be read: {error.strerror or error}", document=name)
