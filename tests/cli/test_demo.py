"""``twigcast demo``: the feed, the sums, the near miss, the page, and once all of it on Spark."""

from __future__ import annotations

import json
import re
import shlex
from collections import Counter
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from lxml import etree

from twigcast.cli.demo.comparison import Comparison, compare
from twigcast.cli.demo.feed import Feed, write_feed
from twigcast.cli.demo.near_miss import NearMiss, find_near_miss
from twigcast.cli.demo.plot import histogram
from twigcast.cli.demo.report import report
from twigcast.cli.demo.steps import called_again, shell_word
from twigcast.cli.demo.story import Story
from twigcast.cli.demo.tally import Tally, read_tally
from twigcast.errors import TwigcastError, UsageError
from twigcast.files import Subscription, SubscriptionFile, read_documents, read_subscriptions
from twigcast.language import Document
from twigcast.matching import Matcher, explain

if TYPE_CHECKING:
    from lxml.etree import _Element

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
    assert contents[0] == contents[1]
    assert contents[0][0] != contents[2][0]
    assert contents[0][1] != contents[2][1]


def test_all_of_a_feed_can_be_read_and_used(tmp_path: Path) -> None:
    feed = write_feed(tmp_path, documents=5, subscriptions=40, seed=3)
    file = read_subscriptions(feed.subscriptions)
    assert len(file.subscriptions) == feed.subscription_count == 40
    assert file.rejected == ()
    assert {one.subscriber for one in file.subscriptions} == set(feed.subscribers)
    matcher = Matcher()
    for place, one in enumerate(file.subscriptions):
        matcher.add(place, one.xpath)
    contents = [content for _, content in read_documents(feed.documents)]
    assert len(contents) == feed.document_count == 5
    decisions = [matcher.decide(content) for content in contents if isinstance(content, bytes)]
    assert [decision.undecided for decision in decisions] == [()] * 5


def test_the_tally_counts_copies_once_for_a_subscriber(tmp_path: Path) -> None:
    import pyarrow as pa
    import pyarrow.parquet as pq

    rows = [("d1", "s1", "Ann"), ("d1", "s2", "Ann"), ("d1", "s3", "Bob"), ("d2", "s1", "Ann")]
    columns = dict(
        zip(("document", "subscription", "subscriber"), zip(*rows, strict=True), strict=True)
    )
    (tmp_path / "deliveries").mkdir()
    pq.write_table(pa.table(columns), tmp_path / "deliveries" / "part-0.parquet")
    feed = Feed(tmp_path, tmp_path, 4, 4, ("Ann", "Bob", "Cyd"))
    tally = read_tally(tmp_path, feed, Counter(Ann=2, Bob=1, Cyd=1))
    assert list(tally.received.items()) == [("Ann", 2), ("Bob", 1), ("Cyd", 0)]
    assert (tally.deliveries, tally.copies, tally.flooding_copies) == (4, 3, 12)
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


def test_a_plot_has_a_bar_for_each_range_and_loses_no_document() -> None:
    counts = {number: number * 3 for number in range(120)}
    plot = etree.fromstring(histogram(counts, across="readers", upwards="documents"))
    titles = [title.text or "" for title in plot.iter("title")]
    assert titles[:2] == ["0: 0", "1–10: 165"]
    assert sum(int(title.split(": ")[1].replace(",", "")) for title in titles) == sum(
        counts.values()
    )
    assert "readers (in steps of 10)" in [text.text for text in plot.iter("text")]


@pytest.mark.parametrize("counts", [{}, {0: 5}, {0: 0, 1: 1}, {7: 1_000_000}])
def test_a_plot_of_little_is_still_a_plot(counts: dict[int, int]) -> None:
    plot = etree.fromstring(histogram(counts, across="readers", upwards="documents"))
    heights = [float(bar.get("height", "-1")) for bar in plot.iter("rect")]
    assert all(0 <= height <= 300 for height in heights)


def test_shell_words_read_back_as_they_were() -> None:
    texts = ["//a[. = 'b']", "feed.zip!a.xml", 'it\'s "both"', "$HOME", "plain", "a`b'", "\\'"]
    assert [shlex.split(shell_word(text)) for text in texts] == [[text] for text in texts]


@pytest.fixture
def story(tmp_path: Path) -> Story:
    from twigcast.spark import Run

    one = a_subscription("//a[. < 3][b]")
    document = Document.parse(b"<a>1</a>", name="<d>.xml")
    miss = NearMiss(one, "<d>.xml", explain(one.xpath, document), by_one_predicate=True)
    subscribers = ("Fen & Co", "Lake Post")
    run = Run(
        run="r1",
        out="out",
        started=datetime(2026, 1, 2, tzinfo=UTC),
        subscriptions=3,
        rejected=0,
        documents=20,
        bytes=1_000_000,
        deliveries=9,
        dead_letters=2,
        engine="lxml",
        matcher_version="v",
        matcher_loads=1,
        workers=1,
        partitions=1,
        seconds={"matching": 2.0},
    )
    tally = Tally(
        documents=20,
        subscribers=2,
        deliveries=9,
        received={"Fen & Co": 7, "Lake Post": 1},
        held={"Fen & Co": 2, "Lake Post": 1},
        receivers={0: 13, 1: 6, 2: 1},
        by_subscription={"s1": frozenset({"x"})},
    )
    return Story(
        feed=Feed(tmp_path / "feed.zip", tmp_path / "subs.csv", 20, 3, subscribers),
        run=run,
        tally=tally,
        near_miss=miss,
        comparison=Comparison(5, one_by_one=10.0, matcher=40.0),
        commands=("twigcast explain '//a[. < 3]' x.xml",),
        spark_version="4",
        seed=1,
    )


def elements(page: str) -> list[_Element]:
    """Every element of a page, which is written so that a strict parser can read it too."""
    return list(etree.fromstring(page.encode()).iter("*"))


def words(page: str) -> str:
    body = etree.fromstring(page.encode()).find("body")
    assert body is not None
    return " ".join("".join(map(str, body.itertext())).split())


def test_the_page_needs_nothing_from_elsewhere(story: Story) -> None:
    page = report(story)
    found = elements(page)
    assert not {"script", "link", "iframe", "img"} & {str(element.tag) for element in found}
    assert not any({"src", "href", "srcset"} & set(element.attrib) for element in found)
    assert not re.search(r"url[(]|@import|https?:", page)


def test_the_page_tells_the_numbers_and_escapes_what_strangers_wrote(story: Story) -> None:
    page = report(story)
    text = words(page)
    assert "20.0%of what flooding would send" in text
    assert "2 dead letters, no rejected subscription" in text
    assert "13 documents interested nobody." in text
    assert "//a[. < 3][b]" in text
    assert "<d>.xml" in text
    assert "<d>" not in page
    assert "Fen &amp; Co" in page
    assert "$" not in text


def test_the_page_does_without_a_near_miss(story: Story) -> None:
    page = report(replace(story, near_miss=None))
    assert "did not match" not in page


def test_a_missing_java_is_said_before_anything_is_made(
    twigcast: Twigcast, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def find_java() -> None:
        raise UsageError("Spark needs Java 17 or newer and none was found: install one")

    monkeypatch.setattr("twigcast.spark.java.find_java", find_java)
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
    assert called_again() == ".venv/bin/twigcast"
    known = tmp_path / "twigcast"
    known.touch(mode=0o755)
    assert called_again() == "twigcast"


@pytest.mark.spark
@pytest.mark.xdist_group("spark")
def test_a_small_demo_tells_who_received_what(twigcast: Twigcast, tmp_path: Path) -> None:
    few = ("--documents", "30", "--subscriptions", "200")
    result = twigcast("demo", *few)
    assert result.exit_code == 0, result.stderr
    headings = ("Who received what", "Why one subscription did not match", "Go on with")
    assert all(f"\n{heading}\n" in result.stdout for heading in headings)
    page = (tmp_path / "demo" / "report.html").read_text(encoding="utf-8")
    assert "Who received what" in words(page)

    again = json.loads(twigcast("demo", *few, "--json").stdout)
    file = read_subscriptions(tmp_path / "demo" / "subscriptions.csv")
    matcher = Matcher()
    for place, one in enumerate(file.subscriptions):
        matcher.add(place, one.xpath)
    contents = [content for _, content in read_documents(tmp_path / "demo" / "feed.zip")]
    matches = [matcher.match(content) for content in contents if isinstance(content, bytes)]
    assert again["deliveries"] == sum(map(len, matches))
    command = re.search(r"  twigcast (explain .*)", result.stdout)
    assert command is not None
    assert twigcast(*shlex.split(command[1])).stdout.startswith("no match: ")
