"""Contents of an open file: one document, or the records of a dump.

A file is a document of at most ``document_bytes_max`` bytes, unpacked if it is compressed. Where
records are wanted, it is a dump of any size, read from its beginning with no more than one record
in memory, and each record is a document (:mod:`twigcast.language.records`). A record is called
after its dump, with its number and its place::

    dump.xml#17@81920

The place counts bytes of the dump, unpacked if it was compressed. A dump that is damaged gives the
records in front of the damage, and one error under the name of the first record that is lost.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import IO

from twigcast.errors import DocumentError
from twigcast.files.archives.members import Selection
from twigcast.files.archives.unpacking import Unpacked
from twigcast.files.limits import (
    READ_BYTES_MAX,
    ByteReader,
    Content,
    PublicationLimits,
    bounded_read,
    too_large,
)
from twigcast.language.records.prolog import Prolog, Transcoder, read_prolog
from twigcast.language.records.scanner import CutRecord, Found, RecordScanner
from twigcast.language.records.selector import RecordSelector
from twigcast.language.records.writer import RecordWriter

_HEAD_BYTES = 1 << 16
"""Nearly every prolog is shorter."""


def documents_in(file: IO[bytes], name: str, selection: Selection) -> Iterator[tuple[str, Content]]:
    """Name and bytes (or error) of each document of an open file.

    Errors of the file itself, which have another name or none, are its caller's.
    """
    try:
        unpacked = Unpacked(file, name, selection.limits)
        if selection.record is None:
            yield name, bounded_read(unpacked, name, selection.limits)
        else:
            yield from records_in(unpacked, name, selection.record, selection.limits)
    except DocumentError as error:
        if error.document != name:
            raise
        yield name, error


def records_in(
    file: ByteReader, name: str, selector: RecordSelector, limits: PublicationLimits
) -> Iterator[tuple[str, Content]]:
    """Name and bytes (or error) of each record of a dump, read from its beginning.

    Raises DocumentError for a dump whose prolog cannot be read.
    """
    head, prolog = head_of(file, name)
    scanner = RecordScanner(
        prolog, RecordWriter(prolog, selector), bytes_max=limits.document_bytes_max
    )
    yield from scanned_records(
        scanner, file, name, limits, begun=head[prolog.start :], prolog=prolog
    )


def head_of(file: ByteReader, name: str) -> tuple[bytes, Prolog]:
    """The beginning of a dump and its prolog; DocumentError for one that cannot be read."""
    head = b""
    while True:
        part = file.read(_HEAD_BYTES)
        head += part
        prolog = read_prolog(head, whole=not part, name=name)
        if prolog is not None:
            return head, prolog


def scanned_records(
    scanner: RecordScanner,
    file: ByteReader,
    name: str,
    limits: PublicationLimits,
    *,
    prolog: Prolog,
    begun: bytes = b"",
) -> Iterator[tuple[str, Content]]:
    """The documents of the records that a scanner finds in a file, from where it stands."""
    transcoder = None if prolog.wide is None else Transcoder(prolog.wide)
    part, final = begun, False
    while not (scanner.done or final):
        part = part or file.read(READ_BYTES_MAX)
        final = not part
        text = part if transcoder is None else transcoder.read(part, final=final)
        for found in scanner.feed(text, final=final):
            yield named(found, name, limits)
        part = b""


def named(found: Found, name: str, limits: PublicationLimits) -> tuple[str, Content]:
    """Name and bytes, or error, of what a scanner has found."""
    called = f"{name}#{found.number}@{found.offset}"
    if isinstance(found, CutRecord):
        if found.content is None:
            return called, too_large(called, found.size, limits)
        return called, found.content
    reason = f"the dump is damaged at byte {found.offset:,}, and not read from there on"
    return called, DocumentError(f"{reason}: {found.reason}", document=called)
