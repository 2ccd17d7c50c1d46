"""The demo step by step, and how it is told on the screen."""

from __future__ import annotations

import shlex
import shutil
import sys
from collections import Counter
from collections.abc import Iterator
from importlib.metadata import version
from itertools import islice
from pathlib import Path
from textwrap import indent

from twigcast.cli.demo.comparison import compare
from twigcast.cli.demo.feed import Feed, write_feed
from twigcast.cli.demo.near_miss import NearMiss, find_near_miss
from twigcast.cli.demo.report import report, unwanted_words
from twigcast.cli.demo.story import Story
from twigcast.cli.demo.tally import Tally, read_tally
from twigcast.cli.progress import Bar
from twigcast.cli.speaking import counted, write, write_json
from twigcast.cli.writing import new_file
from twigcast.errors import DocumentError
from twigcast.files import read_documents, read_subscriptions
from twigcast.language import Document

__all__ = ["run_demo"]

_SAMPLE = 20
"""Documents that are matched one expression after the other: enough for a ratio."""

_ROWS_SHOWN = 8


def run_demo(
    out: Path, *, documents: int, subscriptions: int, seed: int, as_json: bool = False
) -> None:
    """Make, run, tell. A UsageError says what is missing before anything is made."""
    from twigcast.spark import run_batch
    from twigcast.spark.java import find_java

    find_java()
    page = out / "report.html"
    with Bar() as bar:
        bar.show("drawing a feed", 0, None)
        feed = write_feed(out, documents=documents, subscriptions=subscriptions, seed=seed)
        bar.show("starting Spark", 0, None)
        run = run_batch(
            feed.subscriptions,
            feed.documents,
            out / "tables",
            overwrite=True,
            progress=lambda told: bar.show(told.stage, told.done, told.total),
        )
        bar.show("looking for a near miss", 0, None)
        file = read_subscriptions(feed.subscriptions)
        held = Counter(one.subscriber or "" for one in file.subscriptions)
        tally = read_tally(out / "tables", feed, held)
        sample = _sample(feed)
        near_miss = find_near_miss(file.subscriptions, sample, tally.by_subscription)
        bar.show("matching one by one, to compare", 0, None)
        comparison = compare(file, [document.content for document in sample])
    story = Story(
        feed=feed,
        run=run,
        tally=tally,
        near_miss=near_miss,
        comparison=comparison,
        commands=tuple(_commands(feed, near_miss)),
        spark_version=version("pyspark"),
        seed=seed,
    )
    with new_file(page) as binary:
        binary.write(report(story).encode("utf-8"))
    if as_json:
        write_json(_sums(story, page))
    else:
        for line in _told(story, page):
            write(line)


def _sample(feed: Feed) -> list[Document]:
    """Documents from all over the feed."""
    every = max(1, feed.document_count // _SAMPLE)
    return [
        Document.parse(content, name=name)
        for name, content in islice(read_documents(feed.documents), 0, None, every)
        if not isinstance(content, DocumentError)
    ][:_SAMPLE]


def called_again() -> str:
    """How this program can be called again from here: by its name where the shell knows it."""
    if shutil.which("twigcast"):
        return "twigcast"
    called = Path(sys.argv[0])
    return shlex.quote(str(called)) if called.name == "twigcast" else "twigcast"


def _commands(feed: Feed, miss: NearMiss | None) -> Iterator[str]:
    """What to try next, ready to be typed."""
    program = called_again()
    subscriptions, documents = (shell_word(str(p)) for p in (feed.subscriptions, feed.documents))
    yield f"{program} match {subscriptions} {documents} | head"
    if miss is not None:
        xpath = shell_word(miss.subscription.xpath)
        yield f"{program} explain {xpath} {shell_word(miss.document)}"
    yield f"{program} check {subscriptions} | head"
    again = shell_word(str(feed.documents.parent / "again"))
    yield f"{program} run --subscriptions {subscriptions} --publications {documents} --out {again}"
    yield f"{program} --help"


def shell_word(text: str) -> str:
    """A text as one word of a shell, in the quotes that read best.

    >>> print(shell_word("//a[. = 'b']"), shell_word("feed.zip!a.xml"), shell_word("feed.zip"))
    "//a[. = 'b']" 'feed.zip!a.xml' feed.zip
    """
    if "'" in text and not set(text) & set('"$`\\!'):
        return f'"{text}"'
    return shlex.quote(text)


def _told(story: Story, page: Path) -> Iterator[str]:
    """The story as lines for the screen."""
    feed, run = story.feed, story.run
    size = f"{run.bytes / 1e6:,.1f} MB"
    yield f"A feed of {counted(run.documents, 'document')} ({size}), {feed.documents}"
    readers = f"{counted(run.subscriptions, 'subscription')} of {len(feed.subscribers)} subscribers"
    yield f"{readers}, {feed.subscriptions}"
    workers = counted(run.workers, "worker")
    yield f"Matched on Spark in {run.seconds['matching']:.1f} s by {workers}, tables in {run.out}"
    yield from ("", "Who received what", *_table(story.tally))
    yield from ("", "Why one subscription did not match", *_miss(story))
    yield from ("", "How the numbers compare", *_compared(story))
    yield from ("", "Go on with", *(f"  {command}" for command in story.commands))
    yield from ("", f"The report: {page}")


def _table(tally: Tally) -> Iterator[str]:
    width = max(map(len, tally.received), default=0)
    yield f"  {'subscriber':<{width}}  {'subscriptions':>13}  {'documents':>9}"
    for subscriber, number in islice(tally.received.items(), _ROWS_SHOWN):
        yield f"  {subscriber:<{width}}  {tally.held[subscriber]:>13,}  {number:>9,}"
    others = list(tally.received)[_ROWS_SHOWN:]
    if others:
        held = sum(tally.held[subscriber] for subscriber in others)
        received = sum(tally.received[subscriber] for subscriber in others)
        yield f"  {f'{len(others)} others':<{width}}  {held:>13,}  {received:>9,}"
    yield f"  {'in all':<{width}}  {sum(tally.held.values()):>13,}  {tally.copies:>9,}"
    yield f"  {unwanted_words(tally)}"


def _miss(story: Story) -> Iterator[str]:
    miss = story.near_miss
    if miss is None:
        yield "  All that was tried did match."
        return
    one = miss.subscription
    number = len(story.tally.by_subscription[str(one.id)])
    received = counted(number, "document")
    yield f"  For {one.id}, {one.subscriber} received {received}, but not {miss.document}:"
    yield from indent(miss.explanation.text, "    ").splitlines()


def _compared(story: Story) -> Iterator[str]:
    tally, comparison = story.tally, story.comparison
    share = tally.copies / tally.flooding_copies
    yield f"  copies, everything to everybody      {tally.flooding_copies:>9,}"
    yield f"  copies, to those who asked           {tally.copies:>9,}   {share:.1%}"
    yield f"  documents/s, libxml2 one by one      {comparison.one_by_one:>9,.0f}"
    times = f"{comparison.ratio:.1f} times as many, same answers"
    yield f"  documents/s, Twigcast on one core    {comparison.matcher:>9,.0f}   {times}"


def _sums(story: Story, page: Path) -> dict[str, object]:
    """The story as one object."""
    tally, run, miss = story.tally, story.run, story.near_miss
    return {
        "documents": run.documents,
        "subscriptions": run.subscriptions,
        "subscribers": tally.subscribers,
        "deliveries": tally.deliveries,
        "copies": tally.copies,
        "flooding_copies": tally.flooding_copies,
        "unwanted": tally.unwanted,
        "received": dict(tally.received),
        "near_miss": miss and {"document": miss.document, **miss.explanation.as_json()},
        "documents_per_second": {
            "one_by_one": story.comparison.one_by_one,
            "matcher": story.comparison.matcher,
        },
        "report": str(page),
    }
