"""Labels travel as a file that is mapped."""

from __future__ import annotations

from pathlib import Path

import pytest

from twigcast.errors import UsageError
from twigcast.files import Subscription, SubscriptionFile
from twigcast.files.writing.versioned_files import write_versioned
from twigcast.spark.worker.labels import labels_bytes, labels_of, loaded_labels
from twigcast.spark.worker.parquet_parts import (
    WRITTEN,
)


def _file(*people: tuple[str | None, str | None]) -> SubscriptionFile:
    """Subscriptions s0, s1 and so on, with subscriber and broker."""
    return SubscriptionFile(
        tuple(
            Subscription(f"s{number}", "//a", line=number + 1, subscriber=who, broker=broker)
            for number, (who, broker) in enumerate(people)
        )
    )


@pytest.fixture(autouse=True)
def _folders(tmp_path: Path) -> None:
    for table in WRITTEN:
        (tmp_path / table).mkdir()


def test_labels_are_mapped_as_they_were_written(tmp_path: Path) -> None:
    for file in (_file(("ann", None), (None, "south"), ("ann", "north")), _file()):
        labels = labels_of(file)
        content = labels_bytes(labels)
        path = write_versioned(tmp_path, stem="labels", ending=".arrow", content=content).path
        assert loaded_labels(str(path)).equals(labels)
        assert loaded_labels(str(path)) is loaded_labels(str(path))


def test_labels_that_are_damaged_are_refused_by_their_name(tmp_path: Path) -> None:
    content = labels_bytes(labels_of(_file(("ann", "north"))))
    path = write_versioned(tmp_path, stem="labels", ending=".arrow", content=content).path
    path.write_bytes(content.replace(b"ann", b"bob"))
    with pytest.raises(UsageError, match=rf"cannot use .*{path.name}"):
        loaded_labels(str(path))


def test_a_subscription_without_a_broker_is_at_the_first_one() -> None:
    named = labels_of(_file((None, None), (None, "south"), (None, "north")))
    assert named.column("broker").to_pylist() == ["south", "south", "north"]
    assert labels_of(_file((None, None))).column("broker").to_pylist() == ["broker"]
