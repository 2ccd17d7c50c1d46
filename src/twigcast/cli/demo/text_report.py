"""The report of the demo on the screen, in lines or as one object.

One name stands for one number throughout, here and on the page:

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
from twigcast.cli.demo.html_report import needless_share_text, unwanted_sentence
from twigcast.cli.demo.summary import DemoSummary
from twigcast.display import counted


def text_lines(summary: DemoSummary, page: Path) -> Iterator[str]:
    """The report as lines."""
    feed, run = summary.feed, summary.run
    size = f"{run.bytes / 1e6:,.1f} MB"
    yield f"{counted(run.documents, 'document')} ({size}), {feed.documents}"
    subscribers = counted(len(feed.subscribers), "subscriber")
    yield f"{counted(run.subscriptions, 'subscription')} of {subscribers}, {feed.subscriptions}"
    links = counted(len(summary.topology.links), "link")
    yield f"{counted(run.brokers, 'broker')}, a tree with {links}, {feed.topology}"
    yield f"The tables of the run: {run.out}"
    yield from ("", "How long it took", *_timings(summary))
    yield from ("", "Who received what", *_table(summary.tally))
    yield from ("", "What each strategy sent over links", *_traffic(summary))
    yield from ("", "Why one subscription did not match", *_miss(summary))
    yield from ("", "How fast matching alone is, in one process on one core", *_compared(summary))
    yield from ("", "Go on with", *(f"  {command}" for command in summary.commands))
    yield from ("", f"The report: {page}")


def _timings(summary: DemoSummary) -> Iterator[str]:
    run = summary.run
    workers = counted(run.workers, "worker process", "worker processes")
    compiled = f"{counted(run.subscriptions, 'subscription')}, {counted(run.routes, 'route')}"
    matched = f"{counted(run.documents, 'document')}, tables written"
    yield f"  start-up   {summary.start_up_s:>6.1f} s  Java, a Spark session, {workers}"
    yield f"  compiling  {summary.compiling_s:>6.1f} s  {compiled}"
    yield (
        f"  matching   {summary.matching_s:>6.1f} s  {matched}: "
        f"{summary.document_ms:.2f} ms a document"
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
    yield f"  {unwanted_sentence(tally)}"


def _traffic(summary: DemoSummary) -> Iterator[str]:
    yield "  A crossing is one document over one link. It is needless if nobody behind the link"
    yield "  asked for the document."
    width = max(len(one.strategy) for one in summary.traffic)
    yield f"  {'strategy':<{width}}  crossings  needless        MB    routes"
    for one in summary.traffic:
        yield (
            f"  {one.strategy:<{width}}  {one.crossings:>9,}  {needless_share_text(one):>8}"
            f"  {one.bytes / 1e6:>8,.1f}  {one.routes:>8,}"
        )
    deliveries = counted(summary.tally.deliveries, "delivery", "deliveries")
    yield f"  The same {deliveries} under every strategy."


def _miss(summary: DemoSummary) -> Iterator[str]:
    miss = summary.near_miss
    if miss is None:
        yield "  All that was tried did match."
        return
    one = miss.subscription
    number = len(summary.tally.by_subscription[str(one.id)])
    deliveries = counted(number, "delivery", "deliveries")
    yield f"  {one.id} of {one.subscriber} had {deliveries}, but not of {miss.document}:"
    yield from indent(miss.explanation.text, "    ").splitlines()


def _compared(summary: DemoSummary) -> Iterator[str]:
    comparison = summary.comparison
    yield f"  libxml2, one by one  {comparison.one_by_one:>9,.0f} documents a second"
    times = f"{comparison.ratio:.1f} times as many, same answers"
    yield f"  Twigcast             {comparison.matcher:>9,.0f} documents a second, {times}"
    sample = counted(comparison.documents, "document")
    yield f"  Taken on {sample} that were matched before; no file is opened, nothing is written."
    yield "  `twigcast match` does small feeds sooner than Spark starts; the README says from"
    yield "  which size on Spark pays."


def sums(summary: DemoSummary, page: Path) -> dict[str, object]:
    """The report as one object."""
    tally, run, miss = summary.tally, summary.run, summary.near_miss
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
            "start_up": summary.start_up_s,
            "compiling": summary.compiling_s,
            "matching": summary.matching_s,
        },
        "traffic": [asdict(one) for one in summary.traffic],
        "near_miss": miss and {"document": miss.document, **miss.explanation.as_json()},
        "documents_per_second": {
            "one_by_one": summary.comparison.one_by_one,
            "matcher": summary.comparison.matcher,
        },
        "report": str(page),
    }
