"""Composition of range effects: where records begin in a range in the middle of a dump.

Whoever begins at byte 64,000,000 cannot know whether that is inside a comment, inside a record, or
which namespaces hold there. So a range is read twice. First :func:`range_effects` finds the
*effect* of the range, once for each lexical state it may begin in, without knowing what is in front
of it; then :func:`context_behind` composes the effects in the order of the dump, from its
beginning, which gives the exact :class:`~twigcast.language.records.context.DumpContext` at each
range; and with that a :class:`~twigcast.language.records.scanner.RecordScanner` reads the records.

An effect says what a range does to a context whatever the context is::

    … </b></entry> </g> <g xml:lang="de"> <entry>…</entry> <entry/> <entry> <c> …
       |________|  |__|  |_____________|  |_____________________|  |_________|
       ends one    closes opens           two of local name        begins one, level 1
                                          "entry", inside g

- Elements that may be records, by their local name, are counted from the start: the range ends
  ``ends`` of them that began in front of it. If fewer than that were open, the dump is damaged; if
  more, the whole range lies inside a record. So what counts begins behind the last of these ends,
  and all that was found before it is forgotten: it was inside a record.
- Outside of these elements the range closes ``closes`` and opens ``opens``.
- Elements that may be records are counted by what they are, and by what is around them. Whether
  they are records depends on the elements further out, and so it is decided in the composition.

Two effects in a row are one effect (:meth:`Effect.then`), which is how a range is read in blocks:
the four lexical states nearly always come to be the same one within the first block, and the blocks
behind it are read once. The cost is that of one search, and three more of the first blocks.

Some ranges have no effect that holds for all contexts: elements of a record's name that are none,
tags that fit nothing, the end of the outermost element. Then :func:`context_behind` gives None, and
that range alone is read by a scanner that knows its context.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Final, NamedTuple

from twigcast.language.records.context import (
    FRAMES_BYTES_MAX,
    FRAMES_MAX,
    DumpContext,
    Frame,
    Frames,
    size_of,
)
from twigcast.language.records.lexer import (
    END_TAG,
    START_TAG,
    TERMINATORS,
    Lexical,
    local_part,
    opened_by,
)
from twigcast.language.records.markup import Markup, Search
from twigcast.language.records.prolog import source_bytes
from twigcast.language.records.writer import RecordWriter

SEARCHED_BYTES: Final = 1 << 20
"""How far the end of a comment, CDATA section or processing instruction is looked for that may have
begun in front of a range. Where it is further, the effect is not known."""

KINDS_MAX: Final = 1_000
"""Kinds of start tags, at different places, that a range counts elements by. A dump has a few;
what has more is read by one who knows the context."""


class Place(NamedTuple):
    """Where an element that may be a record stands, as far as the range tells."""

    closed: int
    """How many of the elements around the beginning are closed in front of it."""
    frames: Frames
    """The elements around it that begin in the range."""
    frame: Frame


class Effect(NamedTuple):
    """What a part of a dump does to a context, from one lexical state at its beginning."""

    lexical: Lexical = Lexical.CONTENT
    since: int = -1
    """The state at the end, and where it began; -1 if that is in front of the part, or if there is
    nothing to tell."""
    ends: int = 0
    """Elements that may be records, begun in front of the part and ended in it."""
    ended: bytes = b""
    """The name of the last of them."""
    closes: tuple[bytes, ...] = ()
    opens: Frames = ()
    counts: tuple[tuple[Place, int], ...] = ()
    """Elements that may be records, where each begins outside of all others."""
    level: int = 0
    """How many elements that may be records are open at the end and begin in the part."""
    opened: bytes = b""
    """The name of the outermost of them."""
    is_known: bool = True
    """Whether this holds, whatever is in front of the part."""

    def then(self, other: Effect) -> Effect:
        """The effect of this part and the one behind it."""
        since = other.since
        if since < 0 and other.lexical is not Lexical.CONTENT:
            since = self.since
        if other.ends < self.level:
            return self._replace(
                lexical=other.lexical,
                since=since,
                level=self.level - other.ends + other.level,
                is_known=self.is_known and other.is_known,
            )
        if other.ends > self.level:
            # An element has ended that began in front of both: all before was inside it.
            return other._replace(since=since, ends=self.ends + other.ends - self.level)
        outside = _Outside(self)
        if other.ends and other.ended != self.opened:
            outside.is_known = False
        outside.add(other)
        return other._replace(
            since=since,
            ends=self.ends,
            ended=self.ended,
            closes=tuple(outside.closes),
            opens=tuple(outside.opens),
            counts=tuple(outside.counts.items()),
            is_known=outside.is_known,
        )


class _Outside:
    """What is closed, opened and counted outside of elements that may be records."""

    def __init__(self, effect: Effect = Effect()) -> None:  # noqa: B008 (a value, never changed)
        self.closes = list(effect.closes)
        self.opens = list(effect.opens)
        self._opens_size = size_of(effect.opens)
        self.counts = dict(effect.counts)
        self.is_known = effect.is_known

    def leave(self, name: bytes) -> None:
        if not self.opens:
            self.closes.append(name)
            self.is_known = self.is_known and len(self.closes) <= FRAMES_MAX
            return
        frame = self.opens.pop()
        self._opens_size -= frame.size
        if frame.name != name:
            self.is_known = False

    def enter(self, frame: Frame) -> None:
        self.opens.append(frame)
        self._opens_size += frame.size
        if len(self.opens) > FRAMES_MAX or self._opens_size > FRAMES_BYTES_MAX:
            self.is_known = False
            self._opens_size -= self.opens.pop(0).size

    def count(self, place: Place, number: int = 1) -> None:
        if not self.is_known:
            return  # And places may be too large to be looked up.
        if place in self.counts or len(self.counts) < KINDS_MAX:
            self.counts[place] = self.counts.get(place, 0) + number
        else:
            self.is_known = False

    def add(self, other: Effect) -> None:
        """What the part behind does, outside of elements that may be records."""
        for place, number in other.counts:
            inner = len(self.opens) - place.closed
            closed = len(self.closes) + max(0, -inner)
            around = tuple(frame.kind for frame in self.opens[: max(0, inner)])
            self.count(Place(closed, around + place.frames, place.frame), number)
        for name in other.closes:
            self.leave(name)
        for frame in other.opens:
            self.enter(frame)
        self.is_known = self.is_known and other.is_known


def range_effects(
    pieces: Iterable[bytes],
    local: bytes | None,
    *,
    behind: bytes = b"",
    offset: int = 0,
    wide: str | None = None,
) -> dict[Lexical, Effect]:
    """The effects of a range, by the lexical state at its beginning.

    The range comes in pieces. It begins and ends at a ``<``, or where there was none for a while.
    What is ``behind`` it shows terminators that the end cuts in two. ``offset`` is the place of the
    range in the dump, which is read as UTF-8 where it is ``wide``.
    """
    effects = {state: Effect(state) for state in Lexical}
    markup = Markup(local)
    searched = 0
    for block, following in _blocks(pieces, behind):
        known: dict[tuple[Lexical, int], Effect] = {}
        for state, effect in effects.items():
            if searched >= SEARCHED_BYTES and effect.lexical and effect.since < 0:
                effects[state] = effect._replace(is_known=False)
                continue
            key = effect.lexical, effect.level
            if key not in known:
                found = _Block(
                    block + following, len(block), effect.lexical, markup, level=effect.level
                ).read()
                if found.since >= 0:
                    since = offset + source_bytes(block, wide, 0, found.since)
                    found = found._replace(since=since)
                known[key] = found
            effects[state] = effect.then(known[key])
        searched += len(block)
        offset += source_bytes(block, wide)
    return effects


def _blocks(pieces: Iterable[bytes], behind: bytes) -> Iterator[tuple[bytes, bytes]]:
    """A range in blocks that begin and end where it may, with what follows the last of them."""
    parts: list[bytes] = []
    for piece in pieces:
        end = piece.rfind(b"<")
        if end >= 0 and (block := b"".join([*parts, piece[:end]])):
            yield block, b""
            parts = []
        parts.append(piece[max(0, end) :])
    yield b"".join(parts), behind


def context_behind(
    context: DumpContext, effects: Mapping[Lexical, Effect], writer: RecordWriter
) -> DumpContext | None:
    """The context behind a range; None if it has to be read again by one who knows the context."""
    effect = effects[context.lexical]
    since = context.since if effect.since < 0 else effect.since
    if effect.lexical is Lexical.CONTENT:
        since = 0
    if not effect.is_known or effect.ends > context.level:
        return None
    if effect.ends < context.level:
        level = context.level - effect.ends + effect.level
        return context._replace(level=level, lexical=effect.lexical, since=since)
    left = len(context.frames) - len(effect.closes)
    closed = tuple(frame.name for frame in reversed(context.frames[max(0, left) :]))
    if left <= 0 or closed != effect.closes or (effect.ends and effect.ended != context.record):
        # Around the outermost element there are rules of their own.
        return None
    frames = context.frames[:left] + effect.opens
    if len(frames) > FRAMES_MAX or size_of(frames) > FRAMES_BYTES_MAX:
        return None
    number = context.number
    for place, count in effect.counts:
        around = context.frames[: len(context.frames) - place.closed] + place.frames
        if not writer.verdict(around, place.frame).is_record:
            return None
        number += count
    return DumpContext(
        frames, effect.level, effect.opened, number, effect.lexical, since, ended=False
    )


class _Block:
    """Reads a part of a range, up to ``end``, from a lexical state.

    ``level`` tells how many elements that may be records are known to be open around it. As long as
    these are not ended, nothing else matters, and the search is the fast one.
    """

    def __init__(
        self, text: bytes, end: int, lexical: Lexical, markup: Markup, *, level: int
    ) -> None:
        self._text = text
        self._end = end
        self._local = markup.local
        self._markup = markup
        self._search: Search | None = None
        self._around = level
        self._lexical = lexical
        self._since = -1
        self._ends = self._level = 0
        self._ended = self._opened = b""
        self._outside = _Outside()
        self._last: tuple[Place, bytes] | None = None

    def read(self) -> Effect:
        position: int | None = 0
        while position is not None:
            position = self._step(position)
        return Effect(
            self._lexical,
            -1 if self._lexical is Lexical.CONTENT else self._since,
            self._ends,
            self._ended,
            tuple(self._outside.closes),
            tuple(self._outside.opens),
            tuple(self._outside.counts.items()),
            self._level,
            self._opened if self._level else b"",
            self._outside.is_known,
        )

    def _step(self, position: int) -> int | None:
        """Where the next markup ends; None if it is the last of the block."""
        text, end = self._text, self._end
        if self._lexical is not Lexical.CONTENT:
            terminator = TERMINATORS[self._lexical]
            place = text.find(terminator, position, end + len(terminator) - 1)
            if place < 0:
                return None
            self._lexical = Lexical.CONTENT
            return place + len(terminator)
        if self._level or self._ends < self._around:
            if self._search is None:
                self._search = self._markup.search(text, position, end)
            place = self._search(position)
        else:
            place = text.find(b"<", position, end)
        if place < 0:
            return None
        second = text[place + 1 : place + 2]
        if second in {b"!", b"?"}:
            if (state := opened_by(text, place)) is not None:
                self._lexical, reached = state
                self._since = place
                return reached
            tag = None
        elif second == b"/":
            if (tag := END_TAG.match(text, place, end)) is not None:
                self._close(tag[1])
        elif (tag := START_TAG.match(text, place, end)) is not None:
            self._open(*tag.groups())
        if tag is None:
            self._outside.is_known = False
            return place + 1
        return tag.end() if self._level or self._last is None else self._count_alike(tag.end())

    def _count_alike(self, position: int) -> int:
        """Count the elements behind one that has ended, as long as they are like it."""
        assert self._last is not None
        place, tag = self._last
        self._last = None
        places, reached = self._markup.alike(self._text, position, self._end, tag)
        if places:
            self._outside.count(place, len(places) // 2)
        return reached

    def _open(self, name: bytes, attributes: bytes, empty: bytes) -> None:
        if self._local is not None and local_part(name) != self._local:
            if not (self._level or empty):
                self._outside.enter(Frame.of(name, attributes))
            return
        if not self._level:
            place = Place(
                len(self._outside.closes),
                tuple(frame.kind for frame in self._outside.opens),
                Frame.of(name, attributes).kind,
            )
            self._outside.count(place)
            self._opened = name
            self._last = place, b"<" + name + attributes
        self._level += not empty

    def _close(self, name: bytes) -> None:
        if self._local is not None and local_part(name) != self._local:
            if not self._level:
                self._outside.leave(name)
        elif self._level:
            self._level -= 1
            if not self._level and name != self._opened:
                self._outside.is_known = False
        else:
            # It began in front of the block, and so did all that was found so far.
            self._ends += 1
            self._ended = name
            self._outside = _Outside()
