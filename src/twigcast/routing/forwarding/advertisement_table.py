"""The advertisement table: its entries, and those passed on (SRT of Dissemination, section 1.4).

A broker receives advertisements from its own publishers and over its links, and passes them on, so
that every broker knows in which directions a subscription can be satisfied at all. Over a link go
those that came from elsewhere, but for the ones that another of them covers: whatever overlaps the
narrower overlaps the wider too, so the far broker learns nothing from it.

    from its publishers   /a/b            over link east   /a(b)+ (covers /a/b), /c
    by link west          /a(b)+, /c      over link west   /a/b

Which they are depends on the set of those that came from elsewhere and on nothing else. Think of an
arrow from each to every one that it covers. Where arrows lead in a circle, all on it admit the
same, and the least text stands for them; passed on is what then has no arrow to it.

Advertisements are few, some for each publisher, so what goes over a link is worked out anew after a
change. The costly part, which covers which, is asked once for each pair, when the later of the two
comes. The answers stay for a while after an advertisement has left: a link that is lost and found
again brings the same ones.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final, NamedTuple

from twigcast.covering import Advertisement, advertisement_covers
from twigcast.language.condition.model import Label
from twigcast.routing.events import LinkId

ADVERTISEMENTS_MAX: Final = 1_000
"""Different advertisements that a router takes: each is compared with all others, so a table of
this size costs a million comparisons, and a network has some dozens of kinds of documents."""

FORMER_ADVERTISEMENTS_MAX: Final = 250
"""Advertisements that have left and are remembered with their answers: as many as one lost link of
a broker with few links is likely to bring back."""


COMPARED_EDGES_MAX: Final = 500_000
"""Edges, attributes and values of those that a new advertisement is compared with, each counted
with its own: some 10 comparisons of DocBook, or a second or two with those made to be slow. Beyond,
it counts as neither covering nor covered, and more is passed on."""

_STEPS_PER_EDGE: Final = 2
"""Of one comparison. Two schemas take less than one step for each edge, attribute and value of
both; automata made to be compared slowly, like circles of different lengths, take the product."""

_STEPS_MIN: Final = 1_000
"""Of one comparison, so that small ones are never given up."""


class AdvertisementDifference(NamedTuple):
    """What is passed on anew and then what no more, each in the order of texts."""

    added: tuple[Advertisement, ...] = ()
    removed: tuple[Advertisement, ...] = ()


@dataclass(slots=True)
class _TableEntry:
    """An advertisement, where it came from, and the texts of others that cover it."""

    advertisement: Advertisement
    labels: frozenset[Label]
    """Those of its elements."""
    general: bool
    """Whether one of them stands for several, as ``*`` does."""
    size: int
    """Its edges, attributes and values."""
    sources: set[LinkId | None] = field(default_factory=set)
    wider: set[str] = field(default_factory=set)


class AdvertisementTable:
    """Advertisements by source, and what is passed on over each link.

    A source advertises a thing once: whoever keeps several equal advertisements of one source takes
    them back here with the last of them.
    """

    def __init__(self) -> None:
        self._known: dict[str, _TableEntry] = {}
        """By text, which is quicker to compare than the advertisements themselves."""
        self._former: dict[str, None] = {}
        """Those without a source, in the order in which they lost it."""
        self._last_passed: dict[LinkId, dict[str, Advertisement]] = {}
        self._changed = False

    def __len__(self) -> int:
        """How many different advertisements there are; bounded by whoever puts them in."""
        return len(self._known) - len(self._former)

    def __contains__(self, advertisement: Advertisement) -> bool:
        """Whether some source advertises it."""
        text = advertisement.text
        return text in self._known and text not in self._former

    @property
    def remembered(self) -> int:
        """How many advertisements are kept, those that have left among them."""
        return len(self._known)

    def add_link(self, link: LinkId) -> None:
        """From now on report what is passed on over a link, too: its first change is all of it."""
        self._last_passed.setdefault(link, {})
        self._changed = True

    def remove_link(self, link: LinkId) -> None:
        """Forget a link, and all that came from it."""
        self._last_passed.pop(link, None)
        for text in [text for text, known in self._known.items() if link in known.sources]:
            self._take(text, link)

    def add(self, advertisement: Advertisement, source: LinkId | None) -> None:
        """An advertisement came from a source; nothing happens if it had come from there before."""
        text = advertisement.text
        if text not in self._known:
            self._compare(text, advertisement)
        self._former.pop(text, None)
        self._known[text].sources.add(source)
        self._changed = True

    def remove(self, advertisement: Advertisement, source: LinkId | None) -> None:
        """A source takes an advertisement back; nothing happens if it did not come from there."""
        text = advertisement.text
        if text in self._known and source in self._known[text].sources:
            self._take(text, source)

    def changes(self) -> dict[LinkId, AdvertisementDifference]:
        """What is passed on anew and what no more over each link, since the last call.

        Only links with a change are there, in the order of their names.
        """
        if not self._changed:
            return {}
        self._changed = False
        found = {}
        for link in sorted(self._last_passed):
            before, after = self._last_passed[link], self._passed_on(link)
            if before.keys() != after.keys():
                self._last_passed[link] = after
                found[link] = AdvertisementDifference(
                    tuple(one for text, one in after.items() if text not in before),
                    tuple(one for text, one in before.items() if text not in after),
                )
        return found

    def forwarded(self, link: LinkId) -> tuple[Advertisement, ...]:
        """All that is passed on over a link, in the order of texts."""
        return tuple(self._passed_on(link).values())

    def from_link(self, link: LinkId | None) -> tuple[Advertisement, ...]:
        """All that came from a source, in the order of texts."""
        texts = sorted(text for text, known in self._known.items() if link in known.sources)
        return tuple(self._known[text].advertisement for text in texts)

    def _compare(self, text: str, advertisement: Advertisement) -> None:
        """Take an advertisement in, and find out which others it covers and is covered by."""
        labels = frozenset(label for _, label, _ in advertisement.paths.edges())
        general = any(label.namespace is None for label in labels)
        new = _TableEntry(advertisement, labels, general, advertisement.paths.size)
        compared = 0
        for other_text, other in self._known.items():
            if not (_may_cover(new, other) or _may_cover(other, new)):
                continue
            compared += new.size + other.size
            if compared > COMPARED_EDGES_MAX:
                break
            if _covers(wider=new, narrower=other):
                other.wider.add(text)
            if _covers(wider=other, narrower=new):
                new.wider.add(other_text)
        self._known[text] = new

    def _take(self, text: str, source: LinkId | None) -> None:
        known = self._known[text]
        known.sources.discard(source)
        if not known.sources:
            self._former[text] = None
        if len(self._former) > FORMER_ADVERTISEMENTS_MAX:
            self._forget(next(iter(self._former)))
        self._changed = True

    def _forget(self, text: str) -> None:
        del self._former[text], self._known[text]
        for known in self._known.values():
            known.wider.discard(text)

    def _passed_on(self, link: LinkId) -> dict[str, Advertisement]:
        """What came from elsewhere and is not held back, in the order of texts."""
        elsewhere = {text for text, known in self._known.items() if known.sources - {link}}
        wider = {text: self._known[text].wider & elsewhere for text in elsewhere}
        widest: set[str] = set()
        found: list[str] = []
        # Whatever has the fewest above it comes first, so most others are held back at a glance.
        for text in sorted(elsewhere, key=lambda text: (len(wider[text]), text)):
            if text in widest or not widest.isdisjoint(wider[text]):
                continue
            alike = _above(text, wider)
            if all(text in _above(other, wider) for other in alike):
                widest |= alike
                found.append(min(alike))
        return {text: self._known[text].advertisement for text in sorted(found)}


def _covers(*, wider: _TableEntry, narrower: _TableEntry) -> bool:
    """Whether one covers the other; mostly they do not, and have different elements."""
    return _may_cover(wider, narrower) and advertisement_covers(
        wider=wider.advertisement,
        narrower=narrower.advertisement,
        steps_max=_STEPS_MIN + _STEPS_PER_EDGE * (wider.size + narrower.size),
    )


def _may_cover(wider: _TableEntry, narrower: _TableEntry) -> bool:
    return wider.general or narrower.labels <= wider.labels


def _above(text: str, wider: Mapping[str, set[str]]) -> set[str]:
    """The advertisement and all that cover it, be it by way of others.

    Covering is transitive, but its answers need not be: it gives up at times.
    """
    found = {text}
    waiting = [text]
    while waiting:
        new = wider[waiting.pop()] - found
        found |= new
        waiting.extend(new)
    return found
