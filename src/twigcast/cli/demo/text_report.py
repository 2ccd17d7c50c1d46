"""The story as it is told on the screen, in lines or as one object.

One word stands for one number throughout, here and in the report:

    document    an XML text of the feed
    delivery    a document and a subscription that it satisfies
    copy        a document handed to a subscriber, however many subscriptions of theirs it satisfies
    crossing    a document over one link between two brokers
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict
from itertools import islice
from pathlib import Path
from textwrap import indent

from twigcast.cli.demo.delivery_counts import SUBSCRIBERS_SHOWN, DeliveryCounts
from twigcast.cli.demo.html_report import needless_words, unwanted_words
from twigcast.cli.demo.summary import DemoSummary
from twigcast.display import counted


def told(story: DemoSummary, page: Path) -> Iterator[str]:
    """The story as lines."""
    feed, run = story.feed, story.run
    size = f"{run.bytes / 1e6:,.1f} MB"
    yield f"{counted(run.documents, 'document')} ({size}), {feed.documents}"
    subscribers = counted(len(feed.subscribers), "subscriber")
    yield f"{counted(run.subscriptions, 'subscription')} of {subscribers}, {feed.subscriptions}"
    links = counted(len(story.topology.links), "link")
    yield f"{counted(run.brokers, 'broker')}, a tree with {links}, {feed.topology}"
    yield f"The tables of the run: {run.out}"
    yield from ("", "How long it took", *_times(story))
    yield from ("", "Who received what", *_table(story.tally))
    yield from ("", "What each strategy sent over links", *_traffic(story))
    yield from ("", "Why one subscription did not match", *_miss(story))
    yield from ("", "How fast matching alone is, in one process on one core", *_compared(story))
    yield from ("", "Go on with", *(f"  {command}" for command in story.commands))
    yield from ("", f"The report: {page}")


def _times(story: DemoSummary) -> Iterator[str]:
    run = story.run
    workers = counted(run.workers, "worker process", "worker processes")
    compiled = f"{counted(run.subscriptions, 'subscription')}, {counted(run.routes, 'route')}"
    matched = f"{counted(run.documents, 'document')}, tables written"
    yield f"  start-up   {story.start_up_s:>6.1f} s  Java, a Spark session, {workers}"
    yield f"  compiling  {story.compiling_s:>6.1f} s  {compiled}"
    yield (
        f"  matching   {story.matching_s:>6.1f} s  {matched}: {story.document_ms:.2f} ms a document"
    )


def _table(tally: DeliveryCounts) -> Iterator[str]:
    yield "  A delivery is a document for a subscription that it satisfies. A subscriber gets one"
    yield "  copy of a document, however many of their subscriptions it satisfies."
    everybody = f"all {len(tally.received):,}"
    width = max(map(len, (*tally.received, everybody)))

    def row(name: str, subscribers: list[str]) -> str:
        held, delivered, received = (
            sum(numbers.get(one, 0) for one in subscribers)
            for numbers in (tally.held, tally.delivered, tally.received)
        )
        return f"  {name:<{width}}  {held:>13,}  {delivered:>10,}  {received:>8,}"

    yield f"  {'subscriber':<{width}}  subscriptions  deliveries    copies"
    for subscriber in islice(tally.received, SUBSCRIBERS_SHOWN):
        yield row(subscriber, [subscriber])
    others = list(tally.received)[SUBSCRIBERS_SHOWN:]
    if others:
        yield row(counted(len(others), "other"), others)
    yield row(everybody, list(tally.received))
    yield f"  {unwanted_words(tally)}"


def _traffic(story: DemoSummary) -> Iterator[str]:
    yield "  A crossing is one document over one link. It is needless if nobody behind the link"
    yield "  asked for the document."
    width = max(len(one.strategy) for one in story.traffic)
    yield f"  {'strategy':<{width}}  crossings  needless        MB    routes"
    for one in story.traffic:
        yield (
            f"  {one.strategy:<{width}}  {one.crossings:>9,}  {needless_words(one):>8}"
            f"  {one.bytes / 1e6:>8,.1f}  {one.routes:>8,}"
        )
    deliveries = counted(story.tally.deliveries, "delivery", "deliveries")
    yield f"  The same {deliveries} under every strategy."


def _miss(story: DemoSummary) -> Iterator[str]:
    miss = story.near_miss
    if miss is None:
        yield "  All that was tried did match."
        return
    one = miss.subscription
    number = len(story.tally.by_subscription[str(one.id)])
    deliveries = counted(number, "delivery", "deliveries")
    yield f"  {one.id} of {one.subscriber} had {deliveries}, but not of {miss.document}:"
    yield from indent(miss.explanation.text, "    ").splitlines()


def _compared(story: DemoSummary) -> Iterator[str]:
    comparison = story.comparison
    yield f"  libxml2, one by one  {comparison.one_by_one:>9,.0f} documents a second"
    times = f"{comparison.ratio:.1f} times as many, same answers"
    yield f"  Twigcast             {comparison.matcher:>9,.0f} documents a second, {times}"
    sample = counted(comparison.documents, "document")
    yield f"  Taken on {sample} that were matched before; no file is opened, nothing is written."
    yield "  `twigcast match` does small feeds sooner than Spark starts; the README says from"
    yield "  which size on Spark pays."


def sums(story: DemoSummary, page: Path) -> dict[str, object]:
    """The story as one object."""
    tally, run, miss = story.tally, story.run, story.near_miss
    return {
        "documents": run.documents,
        "subscriptions": run.subscriptions,
        "subscribers": tally.subscribers,
        "brokers": run.brokers,
        "deliveries": tally.deliveries,
        "copies": tally.copies,
        "unwanted": tally.unwanted,
        "received": dict(tally.received),
        "seconds": {
            "start_up": story.start_up_s,
            "compiling": story.compiling_s,
            "matching": story.matching_s,
        },
        "traffic": [asdict(one) for one in story.traffic],
        "near_miss": miss and {"document": miss.document, **miss.explanation.as_json()},
        "documents_per_second": {
            "one_by_one": story.comparison.one_by_one,
            "matcher": story.comparison.matcher,
        },
        "report": str(page),
    }
