"""A large dump, shared out by ranges: where to cut it, and what holds at each cut.

Three steps, so that many can share the work and the whole dump is nowhere::

    cuts = cut_dump(path, range_bytes=…)                 here, some kilobytes a cut
    effects = [effects_of(cuts, n, …) for n in …]        anywhere, one range at a time
    ranges = record_ranges(cuts, effects, selector)      here, some hundred bytes a range

Then each range is read by itself (:func:`read_range`), for the records that begin in it. Why that
is exact is told in :mod:`twigcast.language.records.composition`. A cut is at a ``<``; where there
is none within :data:`WINDOW_BYTES`, it is behind these.

A compressed dump cannot be read from the middle, and a dump whose entities may stand for elements
is not cut either. Whoever reads a range finds out whether the dump was changed since it was cut.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from typing import BinaryIO, Final, NamedTuple

import msgspec

from twigcast.errors import DocumentError
from twigcast.files.archives.contents import head_of, scanned_records
from twigcast.files.archives.unpacking import PACKED_START_BYTES, is_packed
from twigcast.files.limits import READ_BYTES_MAX, Content, PublicationLimits
from twigcast.files.opening import open_regular
from twigcast.language.records.composition import Effect, context_behind, range_effects
from twigcast.language.records.context import DumpContext
from twigcast.language.records.lexer import TERMINATOR_BYTES_MAX, Lexical
from twigcast.language.records.prolog import Prolog, Transcoder
from twigcast.language.records.scanner import RecordScanner
from twigcast.language.records.selector import RecordSelector
from twigcast.language.records.writer import RecordWriter

WINDOW_BYTES: Final = 1 << 16
"""How far a cut looks for a ``<``. Behind so much text no tag or comment can still be beginning."""

FIRST_PIECE_BYTES: Final = 1 << 17
"""Of a range, read for each state that it may begin in. As soon as these meet, they share what
follows, so that it is read in larger pieces."""

_HIGH_BYTES = {"utf-16-le": 1, "utf-16-be": 0}
_LOW_SURROGATE = range(0xDC, 0xE0)


class Stamp(NamedTuple):
    """Marks by which a file is known as the one that was cut."""

    size: int
    modified_ns: int

    @classmethod
    def of(cls, file: BinaryIO) -> Stamp:
        """The stamp of an open file."""
        status = os.fstat(file.fileno())
        return cls(status.st_size, status.st_mtime_ns)


class Cuts(NamedTuple):
    """A dump and the places where its ranges begin; the last range ends with the dump."""

    path: str
    starts: tuple[int, ...]
    stamp: Stamp

    def end(self, number: int) -> int:
        """Where a range ends."""
        return self.starts[number + 1] if number + 1 < len(self.starts) else self.stamp.size


class RecordRange(NamedTuple):
    """A range of a dump, and what holds at its beginning."""

    start: int
    end: int
    context: DumpContext
    stamp: Stamp

    def to_bytes(self) -> bytes:
        """To be read again by :meth:`from_bytes`."""
        return msgspec.msgpack.encode(self)

    @classmethod
    def from_bytes(cls, content: bytes) -> RecordRange:
        """The range again."""
        return msgspec.msgpack.decode(content, type=cls)


def cut_dump(path: str, *, range_bytes: int) -> Cuts | None:
    """Where to cut a dump into ranges; None for one that is not cut."""
    with suppress(OSError, DocumentError), open_regular(path) as file:
        stamp = Stamp.of(file)
        if stamp.size <= range_bytes or is_packed(file.read(PACKED_START_BYTES)):
            return None
        prolog = _prolog_of(file)
        if prolog.has_markup_entities:
            return None
        starts = [prolog.start]
        while (wanted := starts[-1] + range_bytes) < stamp.size:
            cut = _cut_behind(file, wanted, prolog)
            if cut >= stamp.size:
                break
            starts.append(cut)
        return Cuts(path, tuple(starts), stamp)
    return None


def effects_of(cuts: Cuts, number: int, selector: RecordSelector) -> bytes:
    """What a range does to any context; nothing if the dump cannot be read any more."""
    try:
        with open_regular(cuts.path) as file:
            prolog = _prolog_of(file)
            start, end = cuts.starts[number], cuts.end(number)
            behind = _pieces(file, end, end + 2 * TERMINATOR_BYTES_MAX, prolog)
            effects = range_effects(
                _pieces(file, start, end, prolog),
                RecordWriter(prolog, selector).local,
                behind=b"".join(behind),
                offset=start,
                wide=prolog.wide,
            )
    except (OSError, DocumentError):
        return b""
    return msgspec.msgpack.encode(list(effects.values()))


def record_ranges(
    cuts: Cuts, effects: Sequence[bytes], selector: RecordSelector
) -> list[RecordRange]:
    """The ranges in which records begin, with their contexts.

    A range whose effect depends on the context is read here, once more. Nothing is behind a range
    in which the dump is damaged. Raises OSError or DocumentError if the dump cannot be read.
    """
    with open_regular(cuts.path) as file:
        prolog = _prolog_of(file)
        writer = RecordWriter(prolog, selector)
        found: list[RecordRange] = []
        context, start = DumpContext(), cuts.starts[0]
        for number in range(len(cuts.starts)):
            end, behind = cuts.end(number), None
            if end == cuts.stamp.size:
                found.append(RecordRange(start, end, context, cuts.stamp))
                break
            if start == cuts.starts[number]:
                behind = _composed(context, effects[number], writer)
            if behind is None:
                scanner = RecordScanner(
                    prolog, writer, context=context, offset=start, end=end, bytes_max=0,
                    follows=True,
                )  # fmt: skip
                file.seek(start)
                _follow(scanner, file, end - start, prolog)
                if scanner.damaged:
                    found.append(RecordRange(start, cuts.stamp.size, context, cuts.stamp))
                    break
                if not scanner.done:
                    continue  # The cut is inside a tag: what is behind belongs to this range.
                behind = scanner.context
            if not (context.level and behind.level and context.number == behind.number):
                found.append(RecordRange(start, end, context, cuts.stamp))
            context, start = behind, end
        return found


def read_range(
    path: str,
    part: RecordRange,
    name: str,
    *,
    selector: RecordSelector,
    limits: PublicationLimits,
) -> Iterator[tuple[str, Content]]:
    """Name and bytes (or error) of each record that begins in a range."""
    with open_regular(path) as file:
        if Stamp.of(file) != part.stamp:
            reason = "the dump was changed since it was cut into ranges"
            yield f"{name}@{part.start}", DocumentError(reason, document=name)
            return
        prolog = _prolog_of(file, name)
        scanner = RecordScanner(
            prolog,
            RecordWriter(prolog, selector),
            context=part.context,
            offset=part.start,
            # Whoever reads to the end of the dump finds out whether it ends properly.
            end=part.end if part.end < part.stamp.size else None,
            bytes_max=limits.document_bytes_max,
        )
        file.seek(part.start)
        yield from scanned_records(scanner, file, name, limits, prolog=prolog)


def _prolog_of(file: BinaryIO, name: str | None = None) -> Prolog:
    file.seek(0)
    return head_of(file, name or "")[1]


def _cut_behind(file: BinaryIO, wanted: int, prolog: Prolog) -> int:
    """The first ``<`` at or behind a place, or where there was none for a while."""
    wide = prolog.wide
    if wide is None:
        file.seek(wanted)
        window = file.read(WINDOW_BYTES)
        found = window.find(b"<")
        return wanted + (found if found >= 0 else len(window))
    wanted += (wanted - prolog.start) % 2
    file.seek(wanted)
    window = file.read(WINDOW_BYTES + 2)
    markup = "<".encode(wide)
    found = window.find(markup)
    while found >= 0 and found % 2:
        found = window.find(markup, found + 1)
    if found >= 0:
        return wanted + found
    end = min(len(window), WINDOW_BYTES)
    if len(window) >= end + 2 and window[end + _HIGH_BYTES[wide]] in _LOW_SURROGATE:
        end += 2  # Not in the middle of a pair.
    return wanted + end


def _pieces(file: BinaryIO, start: int, end: int, prolog: Prolog) -> Iterator[bytes]:
    """A range as it is searched, in pieces."""
    transcoder = None if prolog.wide is None else Transcoder(prolog.wide)
    file.seek(start)
    size = FIRST_PIECE_BYTES
    while start < end and (piece := file.read(min(end - start, size))):
        start += len(piece)
        yield piece if transcoder is None else transcoder.read(piece)
        size = READ_BYTES_MAX


def _composed(context: DumpContext, packed: bytes, writer: RecordWriter) -> DumpContext | None:
    if not packed:
        return None
    found = msgspec.msgpack.decode(packed, type=list[Effect])
    effects: Mapping[Lexical, Effect] = dict(zip(Lexical, found, strict=True))
    return context_behind(context, effects, writer)


def _follow(scanner: RecordScanner, file: BinaryIO, size: int, prolog: Prolog) -> None:
    """Read a range, and what shows the terminators that its end cuts in two, for the context."""
    transcoder = None if prolog.wide is None else Transcoder(prolog.wide)
    left = size + 2 * TERMINATOR_BYTES_MAX
    while left > 0 and not scanner.done and (piece := file.read(min(left, READ_BYTES_MAX))):
        left -= len(piece)
        for _ in scanner.feed(piece if transcoder is None else transcoder.read(piece)):
            pass  # Only the context matters.
