"""Which links documents cross, read off the answer of one matcher.

In the plan ``fused`` a worker has one matcher over the subscriptions of all brokers. What the
brokers would have done with a document follows from its answer, without visiting them:

- a link is *needed* if a subscription behind it matches the document (or stays undecided on it:
  somebody there has to be told);
- a link is *crossed* if the document is at its near end and its broker sends it on: over all
  links if the strategy floods, over those that are needed if it is perfect, and otherwise where one
  of the *routes* of the link matches. Such routes are patterns that nobody has subscribed to, so
  they are in the matcher as well, behind the subscriptions;
- what is crossed and not needed is *needless* (:mod:`~twigcast.routing.static.crossing_rules`).

All documents of a batch that begin at one broker are walked through the tree together, as a table
of brokers by documents::

                  a.xml  b.xml  c.xml
    north           .      x      .       a subscription there matches
    hub             .      .      .
    south           x      x      .

From the leaves to the origin each broker adds its row to the one before it, and then the row of a
broker tells which documents need the link that leads there. It takes one step for each broker and
batch, however many documents there are, so 127 brokers cost little more than one.
"""

from __future__ import annotations

import io
import sys
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from twigcast.covering import Advertisement
from twigcast.covering.advertisements.advertisement import departure_from
from twigcast.errors import DocumentError
from twigcast.files.writing.versioned_files import VersionedContent, read_versioned
from twigcast.language import Document, DocumentLimits
from twigcast.spark.worker.broker_tree import BrokerTree

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Any

    from numpy.typing import NDArray

    from twigcast.routing.strategy import Strategy
    from twigcast.spark.worker.broker_tree import Walk

    Column: TypeAlias = pa.Array[Any]
    Flags: TypeAlias = NDArray[np.bool_]
    """Rows for brokers or links, columns for documents."""

_KEPT = 4
"""The current version, and a few that other jobs on this worker may still use."""

_WORDS_MAX = 1 << 22
"""Words of bits (32 MB) that are put together at once."""

UNKNOWN = -1
"""Instead of the number of a broker that is not in the topology."""


@dataclass(frozen=True)
class CrossingModel:
    """What a worker has to know of the network, beside the matcher and the labels."""

    tree: BrokerTree
    origin: int
    """Where documents begin that do not say it."""
    floods: bool
    perfect: bool
    """Whether exactly the needed links are crossed."""
    brokers: NDArray[np.int32]
    """Of each subscription, by position, its broker."""
    starts: NDArray[np.int64]
    """Of each route behind the subscriptions where its links begin in ``said``; and the end."""
    said: NDArray[np.int32]
    """The links that routes lead over."""
    promises: Mapping[int, tuple[Advertisement, ...]]
    """By broker, what is advertised there; documents of others are flooded, if anybody asks."""
    towards: str = "all"
    refuses: bool = False
    """Whether documents that depart from what is advertised are refused, and not flooded."""

    @cached_property
    def words(self) -> NDArray[np.uint64]:
        """Of each route a bit for each link, set for those that it leads over."""
        routes, links = len(self.starts) - 1, len(self.tree.links)
        words = np.zeros((routes, links // 64 + 1), np.uint64)
        for route in range(routes):
            bits = np.zeros(64 * words.shape[1], np.uint8)
            bits[self.said[self.starts[route] : self.starts[route + 1]]] = 1
            words[route] = np.packbits(bits).view(np.uint64)
        return words

    @cached_property
    def subscriptions(self) -> int:
        """How many subscriptions there are; routes have higher positions."""
        return len(self.brokers)

    def hops(self, origins: NDArray[np.int32], brokers: NDArray[np.int32]) -> NDArray[np.int32]:
        """How many links lie between origins and brokers, pair by pair."""
        found = np.zeros(len(origins), np.int32)
        for origin in np.unique(origins):
            here = origins == origin
            found[here] = self.tree.walk(int(origin)).hops[brokers[here]]
        return found

    def origins(self, names: Sequence[str | None]) -> NDArray[np.int32]:
        """The brokers that documents begin at; UNKNOWN for names of none."""
        numbers = (self.tree.number(name) if name else self.origin for name in names)
        return np.array([UNKNOWN if n is None else n for n in numbers], np.int32)


class Crossings(NamedTuple):
    """For each document the links it crosses, and those of them that nobody needs."""

    crossed: Column
    needless: Column


def ways_of(
    tree: BrokerTree,
    strategy: Strategy,
    *,
    origin: int,
    brokers: NDArray[np.int32],
    routes: Sequence[Sequence[int]] = (),
    promises: Mapping[int, tuple[Advertisement, ...]] | None = None,
) -> CrossingModel:
    """The ways of a strategy; ``routes`` are the links of each route behind the subscriptions."""
    starts = np.cumsum([0, *map(len, routes)], dtype=np.int64)
    said = np.array([link for links in routes for link in links], np.int32)
    return CrossingModel(
        tree,
        origin,
        floods=strategy.floods,
        perfect=strategy.perfect,
        brokers=brokers,
        starts=starts,
        said=said,
        promises=promises or {},
        towards=strategy.towards,
        refuses=strategy.unadvertised == "refuse",
    )


def crossings(
    ways: CrossingModel,
    origins: NDArray[np.int32],
    *,
    matches: Column,
    undecided: Column,
    flooded: Flags,
) -> Crossings:
    """Which links the documents of a batch cross.

    ``matches`` and ``undecided`` are lists of positions, null for a document that was refused.
    ``flooded`` marks documents that go everywhere, whatever the strategy.
    """
    answered = np.asarray(matches.is_valid())
    documents, positions = _pairs(matches, undecided)
    own = positions < ways.subscriptions
    crossed = np.zeros((len(ways.tree.links), len(origins)), np.bool_)
    needed = np.zeros_like(crossed)
    for origin in np.unique(origins[answered]):
        here = answered & (origins == origin)
        chosen = here[documents]
        walk = ways.tree.walk(int(origin))
        wanted = np.zeros((len(ways.tree.names), len(origins)), np.bool_)
        asked = chosen & own
        wanted[ways.brokers[positions[asked]], documents[asked]] = True
        _towards_origin(walk, wanted)
        everywhere = here if ways.floods else here & flooded
        if ways.perfect:
            sent = wanted | everywhere
        else:
            routed = chosen & ~own
            sent = _sent(ways, walk, here, (documents[routed], positions[routed]))
            sent |= everywhere
        reached = walk.order[1:]
        links = walk.links[reached]
        crossed[links] |= sent[reached] & here
        needed[links] |= wanted[reached] & here
    return Crossings(_lists(crossed, answered), _lists(crossed & ~needed, answered))


def advertisement_violations(
    ways: CrossingModel, origins: NDArray[np.int32], contents: Sequence[bytes | None]
) -> list[str | None]:
    """How documents depart from what is advertised where they begin; None if they do not.

    Where nothing is advertised, everything departs from it (see ``routing.documents``).
    """
    return [
        _departure(ways, int(origin), content)
        for origin, content in zip(origins, contents, strict=True)
    ]


_ACCEPTED = DocumentLimits(
    bytes_max=sys.maxsize,
    elements_max=10_000_000,
    attributes_max=sys.maxsize,
    name_length_max=sys.maxsize,
    internal_subset_bytes_max=sys.maxsize,
)
"""For documents that a matcher has accepted, by the limits it was given."""


def _departure(ways: CrossingModel, origin: int, content: bytes | None) -> str | None:
    held_to = ways.promises.get(origin, ())
    if not held_to or content is None:
        return ""
    if ways.towards != "advertisers":
        return None
    try:
        return departure_from(held_to, Document.parse(content, limits=_ACCEPTED))
    except DocumentError:
        return ""


def _pairs(*lists: Column) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """All documents and positions in some lists of positions."""
    documents = [np.asarray(pc.list_parent_indices(each)) for each in lists]
    positions = [np.asarray(pc.list_flatten(each)) for each in lists]
    return np.concatenate(documents).astype(np.int64), np.concatenate(positions).astype(np.int64)


def _towards_origin(walk: Walk, wanted: Flags) -> None:
    for broker in walk.order[:0:-1]:
        wanted[walk.parents[broker]] |= wanted[broker]


def _sent(
    ways: CrossingModel,
    walk: Walk,
    here: Flags,
    pairs: tuple[NDArray[np.int64], NDArray[np.int64]],
) -> Flags:
    """Which brokers documents come to, if they follow the routes that match."""
    links_by_route = _led(ways, len(here), *pairs)
    sent = np.zeros((len(ways.tree.names), len(here)), np.bool_)
    sent[walk.order[0]] = here
    for broker in walk.order[1:]:
        sent[broker] = sent[walk.parents[broker]] & links_by_route[walk.links[broker]]
    return sent


def _led(
    ways: CrossingModel, count: int, documents: NDArray[np.int64], positions: NDArray[np.int64]
) -> Flags:
    """Over which links the routes that match lead documents, wherever these are."""
    links = len(ways.tree.links)
    links_by_route = np.zeros((links, count), np.bool_)
    if not len(documents):
        return links_by_route
    order = np.argsort(documents, kind="stable")
    documents, routes = documents[order], positions[order] - ways.subscriptions
    begins = np.flatnonzero(np.diff(documents, prepend=-1))
    # Where one document's routes would take too much room at once, they are taken in pieces.
    for some in np.array_split(begins, len(routes) * ways.words.shape[1] // _WORDS_MAX + 1):
        if len(some):
            after = begins[np.searchsorted(begins, some[-1]) + 1 :][:1]
            end = int(after[0]) if len(after) else len(routes)
            rows = ways.words[routes[some[0] : end]]
            found = np.bitwise_or.reduceat(rows, some - some[0], axis=0)
            bits = np.unpackbits(found.view(np.uint8), axis=1, count=links)
            links_by_route[:, documents[some]] = bits.T.astype(np.bool_)
    return links_by_route


def _lists(flags: Flags, answered: Flags) -> Column:
    """Of each document the rows that are marked; null if it was not answered."""
    documents, rows = np.nonzero(flags.T)
    offsets = np.searchsorted(documents, np.arange(len(answered) + 1))
    return lists_of(offsets, pa.array(rows, pa.int32()), ~answered)


def lists_of(offsets: NDArray[Any], values: Column, missing: Flags) -> Column:
    """Lists out of their values one after the other, and where each begins; some are null."""
    made: Column = pa.ListArray.from_arrays(
        pa.array(offsets, pa.int32()), values, mask=pa.array(missing)
    )
    return made


# As files.


def ways_bytes(ways: CrossingModel) -> bytes:
    """The ways as a file that :func:`loaded_ways` reads."""
    promises = [(number, each.text) for number, all_ in ways.promises.items() for each in all_]
    flags = (ways.floods, ways.perfect, ways.refuses)
    sink = io.BytesIO()
    np.savez(
        sink,
        names=np.array(ways.tree.names),
        links=np.array(ways.tree.links, np.int32).reshape(-1, 2),
        origin=np.array(ways.origin),
        flags=np.array(flags),
        brokers=ways.brokers,
        starts=ways.starts,
        said=ways.said,
        towards=np.array(ways.towards),
        promising=np.array([number for number, _ in promises], np.int32),
        promises=np.array([text for _, text in promises], np.str_),
    )
    return sink.getvalue()


@lru_cache(maxsize=_KEPT)
def loaded_ways(place: str | VersionedContent) -> CrossingModel:
    """The ways in a file, read when this worker first asks for them."""
    with np.load(io.BytesIO(read_versioned(place)), allow_pickle=False) as file:
        promises: dict[int, tuple[Advertisement, ...]] = {}
        for number, text in zip(file["promising"].tolist(), file["promises"].tolist(), strict=True):
            promises[number] = (*promises.get(number, ()), Advertisement.parse(text))
        floods, perfect, refuses = file["flags"].tolist()
        return CrossingModel(
            BrokerTree(
                tuple(file["names"].tolist()),
                tuple((one, other) for one, other in file["links"].tolist()),
            ),
            int(file["origin"]),
            floods=floods,
            perfect=perfect,
            brokers=file["brokers"],
            starts=file["starts"],
            said=file["said"],
            promises=promises,
            towards=str(file["towards"]),
            refuses=refuses,
        )
