"""Needless crossings, counted once all documents have made their last visit.

The rule is that of :mod:`~twigcast.routing.static.crossing_rules`; a broker wants a document that a
subscription there matches, or stays in doubt on. The visits that were made tell, each with the
broker that the document came from::

    a.xml at north                 wanted: no
    a.xml at hub, from north               no     -> yes, because of south
    a.xml at south, from hub               yes
    a.xml at west, from hub                no     -> hub to west was needless

Visits of one document have to be together; those farthest from the origin come first, and each
that is wanted makes the one it came from wanted. It takes a step for each hop, however many
documents there are.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from numpy.typing import NDArray

    from twigcast.spark.worker.broker_tree import BrokerTree

_FIELDS: Mapping[str, pa.DataType] = {
    "link": pa.int32(),
    "needless": pa.int64(),
    "needless_bytes": pa.int64(),
}
NEEDLESS = pa.schema(_FIELDS)

VISITS_MAX = 1_000_000
"""Visits that one task gets, about: some 100 MB while they are counted."""


def count_needless(batches: Iterable[pa.RecordBatch], tree: BrokerTree) -> Iterator[pa.RecordBatch]:
    """For each link what crossed it needlessly; all visits of a document are among the batches."""
    made = [batch for batch in batches if len(batch)]
    if not made:
        return
    visits = pa.Table.from_batches(made).combine_chunks()
    names = ("broker", "came_by", "hops", "wanted", "bytes")
    broker, came_by, hops, wanted, sizes = (np.asarray(visits.column(name)) for name in names)
    wanted = _wanted(
        _documents(visits) * len(tree.names), broker, came_by, hops, wanted=wanted.copy()
    )
    needless = ~wanted & (hops > 0)
    pairs = zip(came_by[needless].tolist(), broker[needless].tolist(), strict=True)
    links = pa.array([tree.link(*pair) for pair in pairs], pa.int32())
    crossings = pa.table({"link": links, "bytes": sizes[needless]})
    sums = crossings.group_by("link", use_threads=False).aggregate(
        [("bytes", "count"), ("bytes", "sum")]
    )
    yield from sums.rename_columns(NEEDLESS.names).cast(NEEDLESS).to_batches()


def with_needless(
    traffic: Iterable[tuple[object, ...]], counted: Iterable[Mapping[str, int]], tree: BrokerTree
) -> list[tuple[object, ...]]:
    """Rows of the table ``traffic`` with what was counted of each link."""
    needless: Counter[tuple[object, ...]] = Counter()
    needless_bytes: Counter[tuple[object, ...]] = Counter()
    for row in counted:
        link = tuple(tree.names[end] for end in tree.links[row["link"]])
        needless[link] += row["needless"]
        needless_bytes[link] += row["needless_bytes"]
    return [(*row[:4], needless[row[:2]], needless_bytes[row[:2]]) for row in traffic]


def _documents(visits: pa.Table) -> NDArray[np.int64]:
    """A number for each document."""
    spools = visits.column("spool").combine_chunks().dictionary_encode()
    rows = np.asarray(visits.column("batch")).astype(np.int64) << 32
    rows |= np.asarray(visits.column("row"))
    found, places = np.unique(rows, return_inverse=True)
    pairs = np.asarray(spools.indices).astype(np.int64) * len(found) + places
    return np.unique(pairs, return_inverse=True)[1].astype(np.int64)


def _wanted(
    documents: NDArray[np.int64],
    broker: NDArray[Any],
    came_by: NDArray[Any],
    hops: NDArray[Any],
    *,
    wanted: NDArray[np.bool_],
) -> NDArray[np.bool_]:
    """Of each visit whether it was wanted there or farther on.

    ``documents`` are numbers that leave room for the numbers of brokers in between.
    """
    keys = documents + broker
    order = np.argsort(keys)
    # A document at its origin comes from nowhere.
    places = np.searchsorted(keys, documents + np.maximum(came_by, 0), sorter=order)
    before = order[places % len(keys)]
    for far in range(int(hops.max()), 0, -1):
        here = (hops == far) & wanted
        wanted[before[here]] = True
    return wanted
