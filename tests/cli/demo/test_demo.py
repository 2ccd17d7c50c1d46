"""``twigcast demo``: the feed, the sums, the near miss, and once all of it on Spark.

How it is told, on the screen and as a page, is tested in ``test_telling.py``.
"""

from __future__ import annotations

import re
import shlex
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.test_readme import strategies
from twigcast.cli.demo.baseline_timing import compare
from twigcast.cli.demo.delivery_counts import read_tally
from twigcast.cli.demo.feed import DemoFeed, write_feed
from twigcast.cli.demo.near_miss import find_near_miss
from twigcast.cli.demo.regions import DESKS, NEWSROOM, REGIONS, country
from twigcast.cli.demo.steps import program_name, shell_quoted
from twigcast.cli.demo.strategy_traffic import COMPARED, LinkLoad, carried_by_link, measure
from twigcast.errors import TwigcastError, UsageError
from twigcast.files import Subscription, SubscriptionFile, read_documents, read_subscriptions
from twigcast.files.schemas import shipped_schema
from twigcast.files.topologies import read_topology
from twigcast.language import Document
from twigcast.matching import Matcher

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from tests.cli.conftest import Twigcast

pytest.importorskip("pyspark")


def a_subscription(xpath: str, id: str = "s1") -> Subscription:
    return Subscription(id, xpath, subscriber="Fen & Co")


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


def test_the_country_is_a_tree_from_the_newsroom_to_the_towns() -> None:
    topology = country()
    tree = topology.tree()
    towns = [town for region in REGIONS.values() for town in region.towns]
    assert len(set(topology.brokers)) == len(topology.links) + 1
    assert tree.left_out == ()
    assert {tree.hops(NEWSROOM, town) for town in towns} == {3}
    assert {desk for region in REGIONS.values() for desk in region.desks} == set(DESKS)


def test_regions_ask_for_what_their_desks_write(tmp_path: Path) -> None:
    feed = write_feed(tmp_path, documents=1, subscriptions=300, seed=1)
    asked = read_subscriptions(feed.subscriptions).subscriptions
    for region in REGIONS.values():
        texts = [one.xpath for one in asked if one.broker in region.towns]
        told = {
            name: sum(f"'{word}'" in text for text in texts for word in desk.words.split())
            for name, desk in DESKS.items()
        }
        assert max(told, key=lambda name: told[name]) == region.desks[0]


def test_the_tally_counts_copies_once_for_a_subscriber(tmp_path: Path) -> None:
    import pyarrow as pa
    import pyarrow.parquet as pq

    rows = [
        ("d1", "s1", "Ann", "east"),
        ("d1", "s2", "Ann", "east"),
        ("d1", "s3", "Bob", "west"),
        ("d2", "s1", "Ann", "east"),
    ]
    names = ("document", "subscription", "subscriber", "broker")
    batch = tmp_path / "deliveries" / "batch=0"
    batch.mkdir(parents=True)
    columns = dict(zip(names, zip(*rows, strict=True), strict=True))
    pq.write_table(pa.table(columns), batch / "part-0.parquet")
    feed = DemoFeed(tmp_path, tmp_path, tmp_path, 4, 4, ("Ann", "Bob", "Cyd"))
    tally = read_tally(tmp_path, feed, Counter(Ann=2, Bob=1, Cyd=1))
    assert list(tally.received.items()) == [("Ann", 2), ("Bob", 1), ("Cyd", 0)]
    assert (tally.deliveries, tally.copies) == (4, 3)
    assert tally.delivered == {"Ann": 3, "Bob": 1}
    assert tally.by_broker == {"east": 2, "west": 1}
    assert tally.receivers == {0: 2, 1: 1, 2: 1}
    assert tally.unwanted == 2
    assert tally.by_subscription["s1"] == {"d1", "d2"}


def test_the_nearest_miss_fails_on_one_value() -> None:
    documents = [
        Document.parse(b"<a><b c='1'/></a>", name="near"),
        Document.parse(b"<z/>", name="far"),
    ]
    subscriptions = [a_subscription("/a/b[@c = '2']"), a_subscription("/x[y]", "s2")]
    received = {"s1": frozenset({"another"}), "s2": frozenset({"another"})}
    miss = find_near_miss(subscriptions, documents, received)
    assert miss is not None
    assert (miss.document, miss.subscription.id) == ("near", "s1")
    assert miss.by_one_predicate
    assert miss.explanation.matches is False


def test_what_was_delivered_or_never_satisfied_is_no_near_miss() -> None:
    documents = [Document.parse(b"<a><b/></a>", name="here")]
    delivered = {"s1": frozenset({"here"})}
    assert find_near_miss([a_subscription("/a[b]")], documents, delivered) is None
    assert find_near_miss([a_subscription("/a[c]")], documents, {}) is None


def test_the_comparison_insists_on_equal_answers(monkeypatch: pytest.MonkeyPatch) -> None:
    file = SubscriptionFile((a_subscription("//b"), a_subscription("//a[2]", "s2")))
    contents = [b"<a><b/></a>", b"<c/>"]
    comparison = compare(file, contents)
    assert comparison.documents == 2
    assert comparison.ratio > 0
    monkeypatch.setattr(Matcher, "match", lambda *_: [])
    with pytest.raises(TwigcastError, match="disagree"):
        compare(file, contents)


def test_shell_words_read_back_as_they_were() -> None:
    texts = ["//a[. = 'b']", "feed.zip!a.xml", 'it\'s "both"', "$HOME", "plain", "a`b'", "\\'"]
    assert [shlex.split(shell_quoted(text)) for text in texts] == [[text] for text in texts]


def test_a_missing_java_is_said_before_anything_is_made(
    twigcast: Twigcast, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def find_java() -> None:
        raise UsageError("Spark needs Java 17 or newer and none was found: install one")

    monkeypatch.setattr("twigcast.spark.session.java.find_java", find_java)
    result = twigcast("demo")
    assert (result.exit_code, result.stdout) == (2, "")
    assert (
        result.stderr == "twigcast: Spark needs Java 17 or newer and none was found: install one\n"
    )
    assert list(tmp_path.iterdir()) == []


def test_the_program_is_named_as_it_can_be_called_again(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr("sys.argv", [".venv/bin/twigcast", "demo"])
    monkeypatch.setenv("PATH", str(tmp_path))
    assert program_name() == ".venv/bin/twigcast"
    known = tmp_path / "twigcast"
    known.touch(mode=0o755)
    assert program_name() == "twigcast"


@pytest.fixture
def compared(monkeypatch: pytest.MonkeyPatch) -> None:
    """Two strategies beside the main one are enough for tests."""
    for name in set(COMPARED) - {"flooding", "advertised"}:
        monkeypatch.delitem(COMPARED, name)


@pytest.mark.spark
@pytest.mark.xdist_group("spark")
@pytest.mark.usefixtures("compared", "spark")
def test_a_small_demo_tells_who_received_what(twigcast: Twigcast, tmp_path: Path) -> None:
    result = twigcast("demo", "--documents", "40", "--subscriptions", "300")
    assert result.exit_code == 0, result.stderr
    headings = (
        "Who received what",
        "How long it took",
        "What each strategy sent over links",
        "Why one subscription did not match",
        "Go on with",
    )
    assert all(f"\n{heading}\n" in result.stdout for heading in headings)
    out = tmp_path / "demo"
    assert "Who received what" in (out / "report.html").read_text(encoding="utf-8")

    needed, deliveries = _needed_links(out)
    told = {
        line.split()[0]: [int(word.replace(",", "")) for word in line.split()[1::3]]
        for line in result.stdout.splitlines()
        if line.split()[:1] and line.split()[0] in {"flooding", "advertised", "best"}
    }
    assert told["flooding"] == [40 * len(country().links), 0]
    assert told["best"][0] == told["advertised"][0] == needed
    assert 0 < told["advertised"][1] <= told["best"][1]
    assert f"The same {deliveries:,} deliveries under every strategy." in result.stdout
    command = re.search(r"  twigcast (explain .*)", result.stdout)
    assert command is not None
    assert twigcast(*shlex.split(command[1])).stdout.startswith("no match: ")


@pytest.mark.deep
@pytest.mark.spark
@pytest.mark.xdist_group("spark")
@pytest.mark.usefixtures("spark")
def test_the_table_of_the_readme_is_that_of_the_demo(twigcast: Twigcast) -> None:
    result = twigcast("demo")
    assert result.exit_code == 0, result.stderr
    rows = [line.split() for line in result.stdout.splitlines()]
    start = rows.index(["strategy", "crossings", "needless", "MB", "routes"]) + 1
    shown = {name: figures for name, *figures in rows[start : start + len(COMPARED) + 1]}
    assert shown == strategies()


def _needed_links(out: Path) -> tuple[int, int]:
    """How many links documents have to cross, and how many deliveries there are, one by one."""
    asked = read_subscriptions(out / "subscriptions.csv").subscriptions
    tree = read_topology(out / "topology.toml").tree()
    matcher = Matcher(engine="lxml")
    for place, one in enumerate(asked):
        matcher.add(place, one.xpath)
    needed = deliveries = 0
    for _, content in read_documents(out / "feed.zip"):
        assert isinstance(content, bytes)
        found = matcher.match(content)
        deliveries += len(found)
        paths = {tree.path(NEWSROOM, asked[place].broker or "") for place in found}
        needed += len({broker for path in paths for broker in path[1:]})
    return needed, deliveries


@pytest.mark.spark
@pytest.mark.xdist_group("spark")
def test_a_strategy_that_delivers_something_else_is_no_comparison(
    tmp_path: Path, spark: SparkSession
) -> None:
    from twigcast.spark import Pipeline

    feed = write_feed(tmp_path, documents=20, subscriptions=40, seed=1)
    everything = {"one": "/news"}
    main = Pipeline(spark, feed.topology, everything).disseminate(feed.documents, tmp_path / "out")
    assert carried_by_link(tmp_path / "out") == {}
    with pytest.raises(TwigcastError, match="covering and best disagree on the demo"):
        measure(feed, main, "covering")


def test_what_links_carried_is_read_from_the_table(tmp_path: Path) -> None:
    import pyarrow as pa
    import pyarrow.parquet as pq

    batch = tmp_path / "traffic" / "batch=0"
    batch.mkdir(parents=True)
    columns = {
        "broker": ["hub", "hub"],
        "neighbour": ["east", "west"],
        "documents": [3, 1],
        "bytes": [300, 100],
        "needless": [2, 0],
        "needless_bytes": [200, 0],
    }
    pq.write_table(pa.table(columns), batch / "part-0.parquet")
    assert carried_by_link(tmp_path) == {
        ("hub", "east"): LinkLoad(3, 300, 2),
        ("hub", "west"): LinkLoad(1, 100, 0),
    }


@pytest.mark.parametrize("option", ["--documents", "--subscriptions"])
@pytest.mark.parametrize("number", ["1000001", "99999999999999999999"])
def test_a_demo_that_nobody_could_wait_for_is_refused(
    twigcast: Twigcast, tmp_path: Path, option: str, number: str
) -> None:
    result = twigcast("demo", option, number)
    assert result.exit_code == 2
    assert "1000000" in result.stderr
    assert not list(tmp_path.iterdir())
