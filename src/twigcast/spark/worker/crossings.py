"""The links that documents cross, read off the answer of one matcher.

In the plan ``fused`` a worker has one matcher over the subscriptions of all brokers. What the
brokers would have done with a document follows from its answer, without visiting them:

- a link is *needed* if a subscription behind it matches the document (or stays undecided on it:
  the subscriber has to learn of that);
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
broker shows which documents need the link that leads there. It takes one step for each broker and
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
    """The network as a worker needs it, beside the matcher and the labels."""

    tree: BrokerTree
    origin: int
    """Where documents begin that name no broker."""
    floods: bool
    perfect: bool
    """Whether exactly the needed links are crossed."""
    brokers: NDArray[np.int32]
    """Of each subscription, by position, its broker."""
    starts: NDArray[np.int64]
    """For each route behind the subscriptions, where its links begin in ``route_links``; and the
    end."""
    route_links: NDArray[np.int32]
    """The links that routes lead over."""
    advertisements: Mapping[int, tuple[Advertisement, ...]]
    """By broker, what is advertised there; documents of others are flooded, if anybody asks."""
    towards: str = "all"
    refuses: bool = False
    """Whether documents that depart from what is advertised are refused, and not flooded."""

    @cached_property
    def route_bits(self) -> NDArray[np.uint64]:
        """For each route a bit for each link, set for those that it leads over."""
        routes, links = len(self.starts) - 1, len(self.tree.links)
        route_bits = np.zeros((routes, links // 64 + 1), np.uint64)
        for route in range(routes):
            bits = np.zeros(64 * route_bits.shape[1], np.uint8)
            bits[self.route_links[self.starts[route] : self.starts[route + 1]]] = 1
            route_bits[route] = np.packbits(bits).view(np.uint64)
        return route_bits

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


def crossing_model(
    tree: BrokerTree,
    strategy: Strategy,
    *,
    origin: int,
    brokers: NDArray[np.int32],
    routes: Sequence[Sequence[int]] = (),
    advertisements: Mapping[int, tuple[Advertisement, ...]] | None = None,
) -> CrossingModel:
    """The model of a strategy; ``routes`` are the links of each route behind the subscriptions."""
    starts = np.cumsum([0, *map(len, routes)], dtype=np.int64)
    route_links = np.array([link for links in routes for link in links], np.int32)
    return CrossingModel(
        tree,
        origin,
        floods=strategy.floods,
        perfect=strategy.perfect,
        brokers=brokers,
        starts=starts,
        route_links=route_links,
        advertisements=advertisements or {},
        towards=strategy.towards,
        refuses=strategy.unadvertised == "refuse",
    )


def crossings(
    model: CrossingModel,
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
    own = positions < model.subscriptions
    crossed = np.zeros((len(model.tree.links), len(origins)), np.bool_)
    needed = np.zeros_like(crossed)
    for origin in np.unique(origins[answered]):
        here = answered & (origins == origin)
        chosen = here[documents]
        walk = model.tree.walk(int(origin))
        wanted = np.zeros((len(model.tree.names), len(origins)), np.bool_)
        own_pairs = chosen & own
        wanted[model.brokers[positions[own_pairs]], documents[own_pairs]] = True
        _towards_origin(walk, wanted)
        everywhere = here if model.floods else here & flooded
        if model.perfect:
            sent = wanted | everywhere
        else:
            routed = chosen & ~own
            sent = _sent(model, walk, here, (documents[routed], positions[routed]))
            sent |= everywhere
        reached = walk.order[1:]
        links = walk.links[reached]
        crossed[links] |= sent[reached] & here
        needed[links] |= wanted[reached] & here
    return Crossings(_lists(crossed, answered), _lists(crossed & ~needed, answered))


def advertisement_violations(
    model: CrossingModel, origins: NDArray[np.int32], contents: Sequence[bytes | None]
) -> list[str | None]:
    """How documents depart from what is advertised where they begin; None if they do not.

    Where nothing is advertised, everything departs from it (see ``routing.documents``).
    """
    return [
        _departure(model, int(origin), content)
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


def _departure(model: CrossingModel, origin: int, content: bytes | None) -> str | None:
    held_to = model.advertisements.get(origin, ())
    if not held_to or content is None:
        return ""
    if model.towards != "advertisers":
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
    model: CrossingModel,
    walk: Walk,
    here: Flags,
    pairs: tuple[NDArray[np.int64], NDArray[np.int64]],
) -> Flags:
    """Which brokers documents come to, if they follow the routes that match."""
    links_by_route = _followed_links(model, len(here), *pairs)
    sent = np.zeros((len(model.tree.names), len(here)), np.bool_)
    sent[walk.order[0]] = here
    for broker in walk.order[1:]:
        sent[broker] = sent[walk.parents[broker]] & links_by_route[walk.links[broker]]
    return sent


def _followed_links(
    model: CrossingModel, count: int, documents: NDArray[np.int64], positions: NDArray[np.int64]
) -> Flags:
    """Over which links the routes that match lead documents, wherever these are."""
    links = len(model.tree.links)
    links_by_route = np.zeros((links, count), np.bool_)
    if not len(documents):
        return links_by_route
    order = np.argsort(documents, kind="stable")
    documents, routes = documents[order], positions[order] - model.subscriptions
    begins = np.flatnonzero(np.diff(documents, prepend=-1))
    # Where one document's routes would take too much room at once, they are taken in pieces.
    for some in np.array_split(begins, len(routes) * model.route_bits.shape[1] // _WORDS_MAX + 1):
        if len(some):
            after = begins[np.searchsorted(begins, some[-1]) + 1 :][:1]
            end = int(after[0]) if len(after) else len(routes)
            rows = model.route_bits[routes[some[0] : end]]
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


def crossing_model_bytes(model: CrossingModel) -> bytes:
    """The model as a file that :func:`load_crossing_model` reads."""
    advertisements = [
        (number, each.text) for number, all_ in model.advertisements.items() for each in all_
    ]
    flags = (model.floods, model.perfect, model.refuses)
    sink = io.BytesIO()
    np.savez(
        sink,
        names=np.array(model.tree.names),
        links=np.array(model.tree.links, np.int32).reshape(-1, 2),
        origin=np.array(model.origin),
        flags=np.array(flags),
        brokers=model.brokers,
        starts=model.starts,
        route_links=model.route_links,
        towards=np.array(model.towards),
        advertisers=np.array([number for number, _ in advertisements], np.int32),
        advertisements=np.array([text for _, text in advertisements], np.str_),
    )
    return sink.getvalue()


@lru_cache(maxsize=_KEPT)
def load_crossing_model(place: str | VersionedContent) -> CrossingModel:
    """The model in a file, read when this worker first needs it."""
    with np.load(io.BytesIO(read_versioned(place)), allow_pickle=False) as file:
        advertisements: dict[int, tuple[Advertisement, ...]] = {}
        for number, text in zip(
            file["advertisers"].tolist(), file["advertisements"].tolist(), strict=True
        ):
            advertisements[number] = (*advertisements.get(number, ()), Advertisement.parse(text))
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
            route_links=file["route_links"],
            advertisements=advertisements,
            towards=str(file["towards"]),
            refuses=refuses,
        )
