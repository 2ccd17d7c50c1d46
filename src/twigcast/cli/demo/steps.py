"""The demo step by step."""

from __future__ import annotations

import shlex
import shutil
import sys
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from importlib.metadata import version
from itertools import islice
from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING

from twigcast.cli.demo.baseline_timing import compare
from twigcast.cli.demo.delivery_counts import read_tally
from twigcast.cli.demo.feed import DemoFeed, write_feed
from twigcast.cli.demo.html_report import report
from twigcast.cli.demo.near_miss import NearMiss, find_near_miss
from twigcast.cli.demo.regions import country
from twigcast.cli.demo.strategy_traffic import (
    COMPARED,
    StrategyTraffic,
    advertised,
    carried_by_link,
    measure,
    traffic_of,
)
from twigcast.cli.demo.summary import DemoSummary
from twigcast.cli.demo.text_report import sums, text_lines
from twigcast.cli.output import write, write_json
from twigcast.cli.progress import Bar
from twigcast.errors import DocumentError
from twigcast.files import read_documents, read_subscriptions
from twigcast.files.writing.new_files import new_file
from twigcast.language import Document

if TYPE_CHECKING:
    from twigcast.spark import Progress, Run

_SAMPLE = 20
"""Documents that are matched one expression after the other: enough for a ratio."""

_MAIN = "best"
_MAIN_IDEA = "the default: covering, which asks nothing of publishers"


def run_demo(
    out: Path, *, documents: int, subscriptions: int, seed: int, as_json: bool = False
) -> None:
    """Make, run, report. A UsageError names what is missing before anything is made."""
    from twigcast.spark.session.java import find_java

    find_java()
    page = out / "report.html"
    with Bar() as bar:
        bar.show("drawing a feed", 0, None)
        feed = write_feed(out, documents=documents, subscriptions=subscriptions, seed=seed)
        result = _disseminated(feed, out / "tables", bar)
        summary = _summary(feed, result, bar, seed=seed)
    with new_file(page) as binary:
        binary.write(report(summary).encode("utf-8"))
    if as_json:
        write_json(sums(summary, page))
    else:
        for line in text_lines(summary, page):
            write(line)


@dataclass(frozen=True, slots=True)
class _Result:
    """The results of Spark."""

    start_up_s: float
    run: Run
    """The run that leaves tables behind."""
    traffic: tuple[StrategyTraffic, ...]
    """That of all strategies; the run's own is the last."""


def _disseminated(feed: DemoFeed, tables: Path, bar: Bar) -> _Result:
    from twigcast.spark import Pipeline
    from twigcast.spark.session.session import passing_session, start_workers

    def progress(now: Progress) -> None:
        bar.show(now.stage, now.done, now.total)

    bar.show("starting Spark", 0, None)
    begun = perf_counter()
    with passing_session() as spark:
        start_workers(spark)
        start_up_s = perf_counter() - begun
        pipeline = Pipeline(
            spark,
            feed.topology,
            feed.subscriptions,
            _MAIN,
            advertisements=advertised(),
            progress=progress,
        )
        run = pipeline.disseminate(feed.documents, tables, overwrite=True)
        others = []
        for number, strategy in enumerate(COMPARED):
            bar.show(f"comparing strategies: {strategy}", number, len(COMPARED))
            others.append(measure(feed, run, strategy))
    return _Result(start_up_s, run, (*others, traffic_of(run, _MAIN_IDEA)))


def _summary(feed: DemoFeed, result: _Result, bar: Bar, *, seed: int) -> DemoSummary:
    tables = Path(result.run.out)
    bar.show("looking for a near miss", 0, None)
    file = read_subscriptions(feed.subscriptions)
    held = Counter(one.subscriber or "" for one in file.subscriptions)
    tally = read_tally(tables, feed, held)
    sample = _sample(feed)
    near_miss = find_near_miss(file.subscriptions, sample, tally.by_subscription)
    bar.show("matching one by one, to compare", 0, None)
    comparison = compare(file, [document.content for document in sample])
    return DemoSummary(
        feed=feed,
        topology=country(),
        start_up_s=result.start_up_s,
        run=result.run,
        tally=tally,
        links=carried_by_link(tables),
        traffic=result.traffic,
        near_miss=near_miss,
        comparison=comparison,
        commands=tuple(_commands(feed, near_miss)),
        spark_version=version("pyspark"),
        seed=seed,
    )


def _sample(feed: DemoFeed) -> list[Document]:
    """Documents from all over the feed."""
    every = max(1, feed.document_count // _SAMPLE)
    return [
        Document.parse(content, name=name)
        for name, content in islice(read_documents(feed.documents), 0, None, every)
        if not isinstance(content, DocumentError)
    ][:_SAMPLE]


def program_name() -> str:
    """How this program can be called again from here: by its name where the shell knows it."""
    if shutil.which("twigcast"):
        return "twigcast"
    called = Path(sys.argv[0])
    return shlex.quote(str(called)) if called.name == "twigcast" else "twigcast"


def _commands(feed: DemoFeed, miss: NearMiss | None) -> Iterator[str]:
    """What to try next, ready to be typed."""
    program = program_name()
    subscriptions, documents, topology = (
        shell_quoted(str(path)) for path in (feed.subscriptions, feed.documents, feed.topology)
    )
    again = shell_quoted(str(feed.documents.parent / "again"))
    yield (
        f"{program} run --topology {topology} --strategy prefix --subscriptions {subscriptions} "
        f"--publications {documents} --out {again}"
    )
    yield f"{program} match {subscriptions} {documents} | head"
    if miss is not None:
        xpath = shell_quoted(miss.subscription.xpath)
        yield f"{program} explain {xpath} {shell_quoted(miss.document)}"
    yield f"{program} check {subscriptions} | head"
    yield f"{program} --help"


def shell_quoted(text: str) -> str:
    """A text as one word of a shell, in the quotes that read best.

    >>> print(*map(shell_quoted, ("//a[. = 'b']", "feed.zip!a.xml", "feed.zip")))
    "//a[. = 'b']" 'feed.zip!a.xml' feed.zip
    """
    if "'" in text and not set(text) & set('"$`\\!'):
        return f'"{text}"'
    return shlex.quote(text)
