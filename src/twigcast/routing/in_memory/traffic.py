"""Traffic over links, counted by link, direction and kind of message.

Each pattern, each advertisement and each document is one message, however many travel in one
:class:`~twigcast.routing.events.Change`: that is how the papers count (Dissemination, Tables 1.2
and 1.3), and what a batch saves in envelopes depends on its driver. Where traffic is counted in
paths, each path of a document is one.

    >>> traffic = Traffic()
    >>> traffic.count(("north", "south"), Change(1, 1, routes=(Pattern.parse("/a"),)))
    >>> traffic.total("subscribe"), traffic.total("publish")
    (1, 0)
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Final, TypeAlias, assert_never

from twigcast.copies import Copied, attributes, blank
from twigcast.display import counted, html_table
from twigcast.door import door
from twigcast.language import Pattern
from twigcast.routing.annotations.hints import Hints
from twigcast.routing.events import Arrive, Change, Message

KINDS: Final = ("subscribe", "unsubscribe", "advertise", "unadvertise", "publish")
"""Of messages: a pattern sent or withdrawn, an advertisement, a document or one of its paths."""

Direction: TypeAlias = tuple[str, str]
"""A link in one direction: from this broker, to that one."""

_ENVELOPE_BYTES: Final = 32
"""What a message takes beside its texts: kind, session, numbers, lengths."""


class Traffic(Copied, Mapping[Direction, dict[str, int]]):
    """Messages and bytes by direction and kind; a mapping from directions to messages by kind.

    Where nothing has crossed yet, all counts are 0.
    """

    def __init__(self) -> None:
        self.messages: dict[Direction, Counter[str]] = {}
        self.bytes: dict[Direction, int] = {}

    @door("counting traffic")
    def count(self, direction: Direction, message: Message) -> None:
        """Take note of a message that crosses a link."""
        size = message_bytes(message)
        counted = self.messages.setdefault(direction, Counter())
        match message:
            case Change():
                counted["subscribe"] += len(message.routes)
                counted["unsubscribe"] += len(message.withdrawn)
                counted["advertise"] += len(message.advertisements)
                counted["unadvertise"] += len(message.unadvertised)
            case Arrive():
                counted["publish"] += 1 if message.paths is None else len(message.paths)
            case _:
                assert_never(message)
        self.bytes[direction] = self.bytes.get(direction, 0) + size

    @door("counting traffic")
    def total(self, kind: str | None = None) -> int:
        """Messages of one kind over all links, or of all kinds."""
        kinds = KINDS if kind is None else (kind,)
        return sum(counted[each] for counted in self.messages.values() for each in kinds)

    @door("counting traffic")
    def by_kind(self) -> dict[str, int]:
        """Messages of each kind over all links."""
        return {kind: self.total(kind) for kind in KINDS}

    @door("counting traffic")
    def by_link(self) -> dict[Direction, dict[str, int]]:
        """Messages of each kind in each direction, in the order of names."""
        return dict(self)

    @door("copying counts")
    def __reduce__(self) -> tuple[object, ...]:
        """Copies, deep copies and pickles: counts of their own, which go on from these."""
        state = attributes(self)
        state["messages"] = {one: Counter(count) for one, count in self.messages.items()}
        state["bytes"] = dict(self.bytes)
        return blank, (type(self),), state

    def __repr__(self) -> str:
        kinds = ", ".join(f"{number:,} {kind}" for kind, number in self.by_kind().items() if number)
        links = counted(len(self), "direction")
        return f"<Traffic: {counted(self.total(), 'message')} in {links}: {kinds or 'none'}>"

    def _repr_html_(self) -> str:
        rows = ((*link, *each.values(), self.bytes.get(link, 0)) for link, each in self.items())
        return html_table(("from", "to", *KINDS, "bytes"), rows, caption=repr(self)[1:-1])

    def __getitem__(self, direction: Direction) -> dict[str, int]:
        counted = self.messages.get(direction, Counter())
        return {kind: counted[kind] for kind in KINDS}

    def __contains__(self, direction: object) -> bool:
        return direction in self.messages

    def __iter__(self) -> Iterator[Direction]:
        return iter(sorted(self.messages))

    def __len__(self) -> int:
        return len(self.messages)


def message_bytes(message: Message) -> int:
    """About how many bytes a message takes on the wire, without writing it."""
    match message:
        case Change():
            patterns: tuple[Pattern, ...] = message.routes + message.withdrawn
            advertisements = message.advertisements + message.unadvertised
            texts = sum(len(each.text) for each in patterns) + sum(
                len(each.text) for each in advertisements
            )
            size = _ENVELOPE_BYTES + texts + 4 * (len(patterns) + len(advertisements))
            return size + (_hint_bytes(message.hints) if message.hints else 0)
        case Arrive():
            size = _ENVELOPE_BYTES + len(message.publication.content) + 2 * len(message.paths or ())
            return size + (message.annotations.size if message.annotations else 0)
        case _:
            assert_never(message)


def _hint_bytes(hints: Hints) -> int:
    rows = sum(len(row.text) for row, _ in hints.rows)
    bound = sum(len(hint.wildcards) for hint in hints.simple)
    numbers = len(hints.covered) + 3 * len(hints.rows) + 3 * len(hints.simple) + bound
    return rows + 2 * numbers
