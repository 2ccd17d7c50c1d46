"""The story as it is told on the screen, in lines or as one object."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict
from itertools import islice
from pathlib import Path
from textwrap import indent

from twigcast.cli.demo.report import needless_words, unwanted_words
from twigcast.cli.demo.story import Story
from twigcast.cli.demo.tally import Tally
from twigcast.cli.speaking import counted

__all__ = ["sums", "told"]

_ROWS_SHOWN = 8


def told(story: Story, page: Path) -> Iterator[str]:
    """The story as lines."""
    feed, run = story.feed, story.run
    size = f"{run.bytes / 1e6:,.1f} MB"
    yield f"A feed of {counted(run.documents, 'document')} ({size}), {feed.documents}"
    readers = f"{counted(run.subscriptions, 'subscription')} of {len(feed.subscribers)} subscribers"
    yield f"{readers}, {feed.subscriptions}"
    yield f"A tree of {counted(run.brokers, 'broker')}, {feed.topology}"
    workers = counted(run.workers, "worker")
    yield f"Matched on Spark in {run.seconds['matching']:.1f} s by {workers}, tables in {run.out}"
    yield from ("", "Who received what", *_table(story.tally))
    yield from ("", "How much traffic each strategy needed", *_traffic(story))
    yield from ("", "Why one subscription did not match", *_miss(story))
    yield from ("", "How fast", *_compared(story))
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


def _traffic(story: Story) -> Iterator[str]:
    width = max(len(one.strategy) for one in story.traffic)
    yield f"  {'strategy':<{width}}  documents over links  needless        MB    routes"
    for one in story.traffic:
        yield (
            f"  {one.strategy:<{width}}  {one.crossings:>20,}  {needless_words(one):>8}"
            f"  {one.bytes / 1e6:>8,.1f}  {one.routes:>8,}"
        )
    yield f"  The same {counted(story.tally.deliveries, 'delivery', 'deliveries')} each time."


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
    comparison = story.comparison
    yield f"  documents/s, libxml2 one by one      {comparison.one_by_one:>9,.0f}"
    times = f"{comparison.ratio:.1f} times as many, same answers"
    yield f"  documents/s, Twigcast on one core    {comparison.matcher:>9,.0f}   {times}"


def sums(story: Story, page: Path) -> dict[str, object]:
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
        "traffic": [asdict(one) for one in story.traffic],
        "near_miss": miss and {"document": miss.document, **miss.explanation.as_json()},
        "documents_per_second": {
            "one_by_one": story.comparison.one_by_one,
            "matcher": story.comparison.matcher,
        },
        "report": str(page),
    }
