"""Records cut out of a dump, piece by piece, by someone who knows what is around them.

:class:`RecordScanner` is given bytes as they come and gives records as they end. It opens nothing
and holds no more than one record, so a dump of any size, or a stream without end, costs the memory
of its largest record at most.

Outside records each tag is read, and must fit the one that it closes. Inside a record only tags of
its local name count, with comments, CDATA sections and processing instructions, which hide tags; in
the rest nothing is looked at, and regular expressions run over it at some hundred megabytes a
second. That is enough, since each record is parsed later on its own: if all records are
well-formed, and the tags around them fit, the parts are what a parser would find in the whole. If
one is not, it is refused by its own name like any document.

What the scanner sees itself, a tag that is none, an end tag that fits no start tag, an end in the
middle, is *damage*: nobody can say where the next record begins. Records in front of it stand, it
is reported once with its place in bytes, and nothing behind it is read.

A scanner may begin anywhere with the :class:`~twigcast.language.records.context.DumpContext` of the
place, and be responsible for a range: for the records that begin in it, to their ends, wherever
these are. Of a record that began before, it says nothing, whatever is in it.
"""

from __future__ import annotations

import re
from collections.abc import Generator, Iterator
from typing import Final, NamedTuple, TypeAlias

from twigcast.display import printable, shortened
from twigcast.language.records.context import (
    FRAMES_BYTES_MAX,
    FRAMES_MAX,
    DumpContext,
    Frame,
    Frames,
    size_of,
)
from twigcast.language.records.lexer import (
    BLANK,
    END_TAG,
    NAMES,
    REFERENCE,
    START_TAG,
    TERMINATOR_BYTES_MAX,
    TERMINATORS,
    Lexical,
    cut_off,
    cut_off_reference,
    may_open,
    opened_by,
)
from twigcast.language.records.markup import Markup, Search
from twigcast.language.records.prolog import Prolog, source_bytes
from twigcast.language.records.writer import RecordVerdict, RecordWriter, start_tag

TAG_BYTES_MAX: Final = 16 << 20
"""Of one tag. libxml2 reads no attribute of more than ten million bytes."""

_LONG_TAG_BYTES = 1 << 16
"""A tag that is longer is looked at again only when there is twice as much of it."""

_NAME_SHOWN_MAX = 100


class CutRecord(NamedTuple):
    """A record: its number in the dump, from 1, its place in bytes, and its document.

    One that is larger than a document may be has only its size.
    """

    number: int
    offset: int
    content: bytes | None
    size: int


class Damage(NamedTuple):
    """Where a dump cannot be read any further, the number of the first record lost, and why."""

    number: int
    offset: int
    reason: str


Found: TypeAlias = CutRecord | Damage


class _DamagedError(Exception):
    """At a place in the buffer."""

    def __init__(self, place: int, reason: str) -> None:
        super().__init__(reason)
        self.place = place
        self.reason = reason


class RecordScanner:
    """The records of a range of a dump, from the context at its beginning.

    ``offset`` is where the range begins and ``end`` where it ends, in bytes of the dump.
    ``bytes_max`` bounds the document of a record. With ``follows=True`` it only keeps the context,
    up to the end of the range.
    """

    def __init__(
        self,
        prolog: Prolog,
        writer: RecordWriter,
        *,
        context: DumpContext = DumpContext(),  # noqa: B008 (a value, which never changes)
        offset: int | None = None,
        end: int | None = None,
        bytes_max: int,
        follows: bool = False,
    ) -> None:
        self._writer = writer
        self._markup = Markup(writer.local)
        self._search: Search = self._markup.search(b"", 0, 0)
        self._wide = prolog.wide
        self._has_entities = prolog.has_markup_entities
        self._end = end
        self._follows = follows
        self._frames: Frames = context.frames
        self._frames_size = size_of(context.frames)
        self._level = context.level
        self._record = context.record
        self._number = context.number
        self._lexical = context.lexical
        self._since = context.since
        self._ended = context.ended
        self._bytes_max = bytes_max
        # The buffer begins where the next markup may, and its place in the dump is counted from a
        # mark in it, which moves on with the records.
        self._buffer = b""
        self._behind: list[bytes] = []
        """Pieces that follow the buffer, while a long tag waits for more of it."""
        self._mark = 0
        self._mark_offset = prolog.start if offset is None else offset
        self._opened: _Opened | None = None
        self._last: tuple[bytes, bytes, RecordVerdict] | None = None
        self.done = False
        self.damaged = False

    @property
    def context(self) -> DumpContext:
        """What holds at the place that it has come to."""
        return DumpContext(
            self._frames,
            self._level,
            self._record if self._level else b"",
            self._number,
            self._lexical,
            self._since if self._lexical else 0,
            self._ended,
        )

    def feed(self, piece: bytes, *, final: bool = False) -> Iterator[Found]:
        """The records that end in the next piece; ``final`` says that nothing follows it."""
        self._behind.append(piece)
        waits = len(self._buffer) > _LONG_TAG_BYTES and not final
        if waits and sum(map(len, self._behind)) < len(self._buffer):
            return
        buffer = b"".join((self._buffer, *self._behind))
        self._behind = []
        self._search = self._markup.search(buffer, 0, len(buffer))
        position = 0
        try:
            while not self.done:
                reached, record = self._step(buffer, position, final=final)
                if record is not None:
                    yield record
                    reached = yield from self._alike(buffer, reached)
                if reached == position:
                    break
                position = reached
            if final and not self.done:
                self._check_end(buffer, position)
        except _DamagedError as damage:
            self.done = self.damaged = True
            if not self._level or self._opened is not None:
                number = self._number + (self._opened is None)
                yield Damage(number, self._offset(buffer, damage.place), damage.reason)
            return
        if self._opened is not None:
            self._opened.take(buffer, position, self._bytes_max)
            self._opened.taken = 0
        self._mark_offset = self._offset(buffer, position)
        self._buffer, self._mark = buffer[position:], 0

    def _offset(self, buffer: bytes, place: int) -> int:
        """The place in the dump; the mark moves there, so that nothing is counted twice."""
        if place >= self._mark:
            self._mark_offset += source_bytes(buffer, self._wide, self._mark, place)
            self._mark = place
            return self._mark_offset
        return self._mark_offset - source_bytes(buffer, self._wide, place, self._mark)

    def _is_behind(self, buffer: bytes, place: int) -> bool:
        """Whether a place lies behind the range, with no record of the range open any more."""
        if self._end is None or (self._opened is not None and not self._follows):
            return False
        return self._offset(buffer, place) >= self._end

    def _step(self, buffer: bytes, position: int, *, final: bool) -> tuple[int, CutRecord | None]:
        """How far the next markup reaches, and the record that ends with it.

        The place does not change where more bytes are needed.
        """
        if self._lexical is not Lexical.CONTENT:
            return self._leave(buffer, position), None
        if self._level:
            place = self._search(position)
            if place < 0:
                place = cut_off(buffer, position)
                if self._is_behind(buffer, place):
                    self.done = True
                return place, None
        else:
            place = buffer.find(b"<", position)
            if not self._frames:
                self._check_blank(buffer, position, place if place >= 0 else len(buffer))
            elif self._has_entities:
                self._check_references(buffer, position, place if place >= 0 else len(buffer))
            if place < 0:
                self.done = self._is_behind(buffer, len(buffer))
                cut = self._has_entities and not final
                return (cut_off_reference(buffer, position) if cut else len(buffer)), None
        if self._is_behind(buffer, place):
            self.done = True
            return place, None
        reached, record = self._read_markup(buffer, place, final=final)
        return (reached or place), record

    def _leave(self, buffer: bytes, position: int) -> int:
        terminator = TERMINATORS[self._lexical]
        place = buffer.find(terminator, position)
        last = max(position, len(buffer) - TERMINATOR_BYTES_MAX + 1)
        reached = last if place < 0 else place
        if self._is_behind(buffer, reached):
            self.done = True
            return reached
        if place < 0:
            return reached
        self._lexical = Lexical.CONTENT
        return place + len(terminator)

    def _read_markup(
        self, buffer: bytes, place: int, *, final: bool
    ) -> tuple[int | None, CutRecord | None]:
        """Where the markup at a place ends, None if it is not there yet; the record it ends."""
        match buffer[place + 1 : place + 2]:
            case b"!" | b"?":
                if (opened := opened_by(buffer, place)) is not None:
                    if opened[0] is Lexical.CDATA and not (self._level or self._frames):
                        raise _DamagedError(place, "a CDATA section outside of all elements")
                    self._lexical, reached = opened
                    self._since = self._offset(buffer, place)
                    return reached, None
                if not final and may_open(buffer, place):
                    return None, None
                raise _DamagedError(place, "a markup declaration in the middle of the document")
            case b"/":
                tag = END_TAG.match(buffer, place)
                if tag is not None:
                    return tag.end(), self._close(buffer, tag[1], place, tag.end())
            case _:
                tag = START_TAG.match(buffer, place)
                if tag is not None:
                    return tag.end(), self._open(buffer, tag)
        if final or buffer.find(b"<", place + 1) >= 0:
            raise _DamagedError(place, "a tag that is not well-formed")
        if len(buffer) - place > TAG_BYTES_MAX:
            raise _DamagedError(place, f"a tag of more than {TAG_BYTES_MAX:,} bytes")
        return None, None

    def _open(self, buffer: bytes, tag: re.Match[bytes]) -> CutRecord | None:
        name, attributes, empty = tag.groups()
        if self._level:
            # What is found inside has the record's local name, or any does.
            self._level += not empty
            return None
        if self._ended:
            raise _DamagedError(tag.start(), "a second outermost element")
        frame = Frame.of(name, attributes)
        verdict = self._writer.verdict(self._frames, frame)
        if not verdict.is_record:
            if not empty:
                self._push(frame, tag.start())
            elif not self._frames:
                self._ended = True
            return None
        self._number += 1
        self._record = name
        self._level = 1
        offset = self._offset(buffer, tag.start())
        self._opened = _Opened(offset, start_tag(name, attributes, verdict), tag.end(2))
        self._last = name, attributes, verdict
        return self._finish(buffer, tag.end()) if empty else None

    def _push(self, frame: Frame, place: int) -> None:
        self._frames = (*self._frames, frame)
        if len(self._frames) > FRAMES_MAX:
            raise _DamagedError(place, f"more than {FRAMES_MAX:,} elements inside each other")
        self._frames_size += frame.size
        if self._frames_size > FRAMES_BYTES_MAX:
            reason = "bytes of names and namespaces in the elements around a record"
            raise _DamagedError(place, f"more than {FRAMES_BYTES_MAX:,} {reason}")

    def _close(self, buffer: bytes, name: bytes, place: int, reached: int) -> CutRecord | None:
        if self._level:
            self._level -= 1
            if self._level:
                return None
            if name != self._record:
                self._level = 1
                raise _mismatch(place, self._record, name)
            return self._finish(buffer, reached)
        if not self._frames or self._frames[-1].name != name:
            opened = self._frames[-1].name if self._frames else None
            raise _mismatch(place, opened, name)
        self._frames_size -= self._frames[-1].size
        self._frames = self._frames[:-1]
        self._ended = not self._frames
        return None

    def _finish(self, buffer: bytes, reached: int) -> CutRecord | None:
        """The record that ends here, if it is of this range."""
        self._level = 0
        self._ended = not self._frames
        opened, self._opened = self._opened, None
        if opened is None:
            return None
        opened.take(buffer, reached, self._bytes_max)
        return self._written(opened.offset, b"".join(opened.parts), opened.size)

    def _written(self, offset: int, content: bytes, size: int) -> CutRecord:
        """The record of a document, which may be too large; then its content does not count."""
        if size <= self._bytes_max:
            content = self._writer.head(content) + content
            size = len(content)
        return CutRecord(self._number, offset, content if size <= self._bytes_max else None, size)

    def _alike(self, buffer: bytes, position: int) -> Generator[CutRecord, None, int]:
        """The records behind one that has ended, as long as they are like it, and their end."""
        if not self._frames or self._has_entities or self._last is None:
            return position
        name, attributes, verdict = self._last
        if verdict.base is not None:  # The base of each may change in its own way.
            return position
        tag = b"<" + name
        beginning = start_tag(name, b"", verdict)
        places, reached = self._markup.alike(buffer, position, len(buffer), tag + attributes)
        for start, end in zip(places[::2], places[1::2], strict=True):
            offset = self._offset(buffer, start)
            if self._is_cut_off(buffer, offset, end):
                return position
            self._number += 1
            size = len(beginning) + end - start - len(tag)
            fits = size <= self._bytes_max
            content = beginning + buffer[start + len(tag) : end] if fits else b""
            yield self._written(offset, content, size)
            position = end
        # What goes on behind the range is read step by step: the context at its end counts.
        return position if self._is_behind(buffer, reached) else reached

    def _is_cut_off(self, buffer: bytes, offset: int, end: int) -> bool:
        """Whether a record is not of the range, or goes on behind it where only that counts."""
        if self._end is None:
            return False
        return offset >= self._end or (self._follows and self._offset(buffer, end) > self._end)

    def _check_blank(self, buffer: bytes, position: int, end: int) -> None:
        """Nothing but blanks may stand outside of all elements."""
        blank = BLANK.match(buffer, position, end)
        assert blank is not None
        if blank.end() < end and not self._is_behind(buffer, blank.end()):
            raise _DamagedError(blank.end(), "text outside of all elements")

    def _check_references(self, buffer: bytes, position: int, end: int) -> None:
        """A record must not be hidden in an entity outside of records: nobody would find it."""
        for reference in REFERENCE.finditer(buffer, position, end):
            if self._writer.hides_records(reference[0]) and not self._is_behind(
                buffer, reference.start()
            ):
                reason = f"{_shown(reference[0])} stands for elements with the name of records"
                raise _DamagedError(reference.start(), f"{reason}, which are not read from there")

    def _check_end(self, buffer: bytes, position: int) -> None:
        """Damage if the dump ends in the middle of something."""
        if self._lexical is not Lexical.CONTENT:
            begun = f"{NAMES[self._lexical]} that begins at byte {self._since:,}"
            raise _DamagedError(len(buffer), f"the end, inside {begun}")
        if self._level:
            begun = f"<{_shown(self._record)}>"
            if self._opened is not None:
                begun += f" that begins at byte {self._opened.offset:,}"
            raise _DamagedError(len(buffer), f"the end, inside the record {begun}")
        if position < len(buffer):
            raise _DamagedError(position, "a tag that is not well-formed")
        if self._frames:
            name = _shown(self._frames[-1].name)
            raise _DamagedError(len(buffer), f"the end, without </{name}>")
        if not self._ended:
            raise _DamagedError(len(buffer), "the end, without any element")


class _Opened:
    """A record on its way: its place in the dump, and what there is of it."""

    def __init__(self, offset: int, beginning: bytes, taken: int) -> None:
        self.offset = offset
        self.parts = [beginning]
        self.size = len(beginning)
        self.taken = taken

    def take(self, buffer: bytes, reached: int, bytes_max: int) -> None:
        """Take on what is in the buffer up to a place; too much of it is only counted."""
        self.size += reached - self.taken
        if self.size > bytes_max:
            self.parts = []
        else:
            self.parts.append(buffer[self.taken : reached])


def _mismatch(place: int, opened: bytes | None, closed: bytes) -> _DamagedError:
    expected = f"where </{_shown(opened)}> is due" if opened else "which closes nothing"
    return _DamagedError(place, f"</{_shown(closed)}>, {expected}")


def _shown(name: bytes) -> str:
    return shortened(printable(name.decode("utf-8", "replace")), _NAME_SHOWN_MAX)
