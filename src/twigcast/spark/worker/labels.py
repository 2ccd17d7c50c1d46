"""Labels of subscriptions by position: their ids, subscribers and brokers.

A matcher knows subscriptions by their positions in the file. The *labels* travel to the workers
beside the matcher, as an Arrow file that is mapped once per worker and version. Each column is a
dictionary of its distinct texts and a number per subscription, since a broker is named by many, and
since that is how tables are written, too (:mod:`~twigcast.spark.worker.parquet_parts`).
"""

from __future__ import annotations

import io
from functools import lru_cache
from typing import TYPE_CHECKING

import pyarrow as pa

from twigcast.files.writing.versioned_files import VersionedContent, read_versioned

if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import Any, TypeAlias

    from twigcast.files import SubscriptionFile
    from twigcast.spark.worker.broker_tree import BrokerTree

    Column: TypeAlias = pa.Array[Any]

DEFAULT_BROKER = "broker"

_KEPT = 4
"""The current version, and a few that other jobs on this worker may still use."""


def labels_of(file: SubscriptionFile, tree: BrokerTree | None = None) -> pa.RecordBatch:
    """The labels by position; a subscription without a broker is at the first one.

    That is the first of the tree, or the first that the file names if there is none. With a tree,
    the numbers of brokers in the column are those of the tree.
    """
    subscriptions = file.subscriptions
    if tree is None:
        first = next(
            (item.broker for item in subscriptions if item.broker is not None), DEFAULT_BROKER
        )
        brokers = _encoded(item.broker or first for item in subscriptions)
    else:
        numbers = [0 if item.broker is None else tree.number(item.broker) for item in subscriptions]
        names = pa.array(tree.names, pa.string())
        brokers = pa.DictionaryArray.from_arrays(pa.array(numbers, pa.int32()), names)
    return pa.RecordBatch.from_arrays(
        [
            _encoded(str(item.id) for item in subscriptions),
            _encoded(item.subscriber for item in subscriptions),
            brokers,
        ],
        ["subscription", "subscriber", "broker"],
    )


def labels_bytes(labels: pa.RecordBatch) -> bytes:
    """The labels as an Arrow file."""
    sink = io.BytesIO()
    with pa.ipc.new_file(sink, labels.schema) as writer:
        writer.write_batch(labels)
    return sink.getvalue()


@lru_cache(maxsize=_KEPT)
def loaded_labels(place: str | VersionedContent) -> pa.RecordBatch:
    """The labels in a file, mapped when this worker first needs them."""
    with pa.ipc.open_file(pa.py_buffer(read_versioned(place))) as reader:
        return reader.get_batch(0)


@lru_cache(maxsize=_KEPT)
def loaded_names(place: str | VersionedContent) -> Column:
    """The subscriptions' own ids by position, as plain texts."""
    return loaded_labels(place).column("subscription").cast(pa.string())


def _encoded(texts: Iterable[str | None]) -> Column:
    return pa.array(texts, pa.string()).dictionary_encode()
