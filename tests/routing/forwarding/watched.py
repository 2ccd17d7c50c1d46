"""What is said over one link, watched while patterns and advertisements come and go."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import cache
from random import Random
from typing import Literal, TypeAlias

from hypothesis import strategies as st

from tests.oracle import oracle
from twigcast import Pattern, Schema
from twigcast.covering import (
    Advertisement,
    Difference,
    overlaps,
)
from twigcast.routing.forwarding.outgoing_link import OutgoingLink
from twigcast.routing.strategy import Strategy, advertised, covering, identity, piggyback
from twigcast.workload import generate_documents

SCHEMAS = {
    "a": Schema.parse(
        b"<!ELEMENT a (b|c)*> <!ELEMENT b (d?)> <!ELEMENT c (d?,e?)> <!ELEMENT d (#PCDATA)>"
        b"<!ELEMENT e EMPTY> <!ATTLIST b x CDATA #IMPLIED> <!ATTLIST c x CDATA #IMPLIED>"
    ),
    "a with f": Schema.parse(
        b"<!ELEMENT a (b|f)*> <!ELEMENT b (d?)> <!ELEMENT f (d|f)*> <!ELEMENT d EMPTY>"
    ),
    "g": Schema.parse(
        b"<!ELEMENT g (a|h)*> <!ELEMENT a (d?)> <!ELEMENT h (d?)> <!ELEMENT d EMPTY>"
    ),
}
ADVERTISEMENTS = {
    name: Advertisement.of_schema(schema, roots=[name[0]]) for name, schema in SCHEMAS.items()
}
DOCUMENTS = {
    name: [
        document
        for elements in (1, 3, 6)
        for document in generate_documents(
            schema, rng=Random(5), count=8, elements=elements, root=name[0]
        )
    ]
    for name, schema in SCHEMAS.items()
}
TEXTS = (
    *("/a/b", "/a/c", "/a/f", "/a/b/d", "/a/c/d", "/a/f/d", "/a/*/d", "/a//d", "/a/c[d]/e"),
    *("//f/d", "//f//f", "/a/c/e", "/a/f/f/d", "/a/b/@x", "/a/c/@x", "//@x", "/a/b/d/text()"),
    *("/g/a", "/g/h", "/g/a/d", "/g/h/d", "/g//d", "/g[a]/h", "/news", "//news/d"),
    *("/a/b[@x]/d", "/a/c[@x]/d", "/a/b or /a/c", "/a/b[not(d)]", "/a[b]/c", "/a/b[2]"),
)
PATTERNS = tuple(Pattern.parse(text) for text in TEXTS)
MERGING = (
    advertised(merging="perfect"),
    advertised(covering=False, merging="perfect"),
    advertised(merging="imperfect", degree=0.3),
    advertised(covering=False, merging="imperfect", degree=0.6),
)
AGGREGATING = (
    piggyback(space=0.5),
    piggyback(on="identity", space=0.25),
    piggyback(on=covering("producers"), space=0.125),
    piggyback(on=advertised(), space=0.5),
    piggyback(on=advertised(covering=False), space=0.7),
)
STRATEGIES = (
    *(identity(), covering(), covering("producers"), advertised()),
    *MERGING,
    *AGGREGATING,
)
Doing: TypeAlias = tuple[Literal["put", "advertised", "merge", "flush"], frozenset[int]]
_nothing = st.just(frozenset[int]())
_numbers = st.integers(0, len(PATTERNS) - 1)
_some = st.frozensets(st.integers(0, len(SCHEMAS) - 1))
_doing = st.one_of(
    st.tuples(st.just("put"), st.frozensets(_numbers, min_size=1, max_size=4)),
    st.tuples(st.just("advertised"), _some),
    st.tuples(st.sampled_from(["merge", "flush"]), _nothing),
)
# Mergers take many patterns and a tick, so there are some to begin with.
_beginning = st.tuples(
    st.tuples(st.just("put"), st.frozensets(_numbers, min_size=4, max_size=9)),
    st.tuples(st.just("advertised"), _some.filter(bool)),
    st.tuples(st.just("merge"), _nothing),
)
doings = st.tuples(_beginning, st.lists(_doing, max_size=8)).map(lambda two: [*two[0], *two[1]])


@cache
def matches(pattern: Pattern, document: bytes) -> bool:
    return oracle(pattern.text, document)


def parsed(*texts: str) -> tuple[Pattern, ...]:
    return tuple(sorted(map(Pattern.parse, texts), key=lambda each: each.text))


def said_of(
    strategy: Strategy, patterns: Iterable[Pattern], advertisements: Sequence[Advertisement]
) -> OutgoingLink:
    """A link that was told everything at once."""
    made = OutgoingLink(strategy)
    made.advertised(tuple(advertisements))
    made.add(Difference(added=tuple(patterns)))
    return made


class Watched:
    """A link, beside what was put and advertised, and what the far broker has heard."""

    def __init__(self, strategy: Strategy) -> None:
        self.strategy = strategy
        self.link = OutgoingLink(strategy)
        self.possible: set[Pattern] = set()
        self.names: list[str] = []
        self.heard: set[Pattern] = set()

    @property
    def advertisements(self) -> list[Advertisement]:
        return [ADVERTISEMENTS[name] for name in self.names]

    def do(self, doing: Doing) -> None:
        match doing:
            case "put", numbers:
                # Each pattern comes if it is not there, and goes if it is.
                chosen = {PATTERNS[number] for number in numbers}
                change = Difference(
                    in_order(chosen - self.possible), in_order(chosen & self.possible)
                )
                self.possible ^= chosen
                self.link.add(change)
            case "advertised", numbers:
                self.names = [name for place, name in enumerate(SCHEMAS) if place in numbers]
                self.link.advertised(tuple(self.advertisements))
            case "merge", _:
                self.link.merge()
            case "flush", _:
                self.flush()

    def flush(self) -> None:
        change = self.link.flush()
        assert list(change.added) == list(in_order(change.added))
        assert list(change.removed) == list(in_order(change.removed))
        assert not self.heard & set(change.added)
        assert self.heard >= set(change.removed)
        self.heard = (self.heard | set(change.added)) - set(change.removed)
        assert in_order(self.heard) == self.link.whole()

    def directed(self) -> set[Pattern]:
        match self.strategy.towards:
            case "all":
                return self.possible
            case "producers":
                return self.possible if self.names else set()
            case _:
                return {
                    p for p in self.possible if any(overlaps(a, p) for a in self.advertisements)
                }


def in_order(patterns: Iterable[Pattern]) -> tuple[Pattern, ...]:
    return tuple(sorted(patterns, key=lambda each: each.text))
