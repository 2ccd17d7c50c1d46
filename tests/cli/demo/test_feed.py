"""The feed of the demo."""

from __future__ import annotations

from pathlib import Path

import pytest

from twigcast.cli.demo.feed import write_feed
from twigcast.cli.demo.regions import DESKS, NEWSROOM
from twigcast.files import read_documents, read_subscriptions
from twigcast.files.schemas import shipped_schema
from twigcast.files.topologies import read_topology
from twigcast.language import Document
from twigcast.matching import Matcher

pytest.importorskip("pyspark")


def test_a_feed_is_the_same_for_the_same_seed(tmp_path: Path) -> None:
    feeds = [
        write_feed(tmp_path / name, documents=5, subscriptions=40, seed=seed)
        for name, seed in (("a", 1), ("b", 1), ("c", 2))
    ]
    contents = [(f.documents.read_bytes(), f.subscriptions.read_bytes()) for f in feeds]
    assert feeds[0].topology.read_bytes() == feeds[1].topology.read_bytes()
    assert contents[0] == contents[1]
    assert contents[0][0] != contents[2][0]
    assert contents[0][1] != contents[2][1]


def test_all_of_a_feed_can_be_read_and_used(tmp_path: Path) -> None:
    feed = write_feed(tmp_path, documents=5, subscriptions=40, seed=3)
    file = read_subscriptions(feed.subscriptions)
    assert len(file.subscriptions) == feed.subscription_count == 40
    assert file.rejected == ()
    assert {one.subscriber for one in file.subscriptions} == set(feed.subscribers)
    brokers = read_topology(feed.topology).brokers
    assert brokers[0] == NEWSROOM
    assert {one.broker for one in file.subscriptions} <= set(brokers)
    assert all((one.subscriber or "").split()[0] == one.broker for one in file.subscriptions)
    matcher = Matcher()
    for place, one in enumerate(file.subscriptions):
        matcher.add(place, one.xpath)
    contents = [content for _, content in read_documents(feed.documents)]
    assert len(contents) == feed.document_count == 5
    decisions = [matcher.decide(content) for content in contents if isinstance(content, bytes)]
    assert [decision.undecided for decision in decisions] == [()] * 5


def test_documents_of_all_desks_are_as_the_newsroom_advertises(tmp_path: Path) -> None:
    from twigcast.covering import Advertisement

    feed = write_feed(tmp_path, documents=30, subscriptions=20, seed=2)
    promise = Advertisement.of_schema(shipped_schema("news"))
    read = [content for _, content in read_documents(feed.documents) if isinstance(content, bytes)]
    documents = list(map(Document.parse, read))
    assert [promise.departure(document) for document in documents] == [None] * 30
    words = {name: set(desk.words.split()) for name, desk in DESKS.items()}
    texts = ["".join(map(str, document.tree.getroot().itertext())) for document in documents]
    desks = [{name for name in words if words[name] & set(text.split())} for text in texts]
    assert all(len(found) == 1 for found in desks)
