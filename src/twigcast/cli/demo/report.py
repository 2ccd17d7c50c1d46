"""The demo as a page: one HTML file that needs nothing from anywhere else.

The words and the looks are in ``report.html``; here its gaps are filled. All that came from
documents or expressions is escaped.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from html import escape
from importlib.resources import files
from itertools import islice
from string import Template

from twigcast import __version__
from twigcast.cli.demo.comparison import Comparison
from twigcast.cli.demo.near_miss import NearMiss
from twigcast.cli.demo.network_drawing import network_drawing
from twigcast.cli.demo.plot import Bar, bars, histogram
from twigcast.cli.demo.story import Story
from twigcast.cli.demo.tally import Tally
from twigcast.cli.demo.traffic import Traffic
from twigcast.cli.speaking import counted

__all__ = ["needless_words", "report", "unwanted_words"]

_ROWS_SHOWN = 10

_NEAR_MISS = """<section>
    <h2>Why one subscription did not match</h2>
    <p><b>$subscriber</b> has the subscription <code>$id</code>: <code>$xpath</code>. It received
    $received, but not <code>$document</code>. Why?</p>
    <pre>$explanation</pre>
  </section>"""


def report(story: Story) -> str:
    """The whole page."""
    run = story.run
    gaps = {
        **_sums(story),
        **_network(story),
        **_traffic(story),
        **_speeds(story.comparison),
        "rows": "\n".join(_rows(story.tally)),
        "plot": histogram(story.tally.receivers, across="receivers", upwards="documents"),
        "unwanted": escape(unwanted_words(story.tally)),
        "near_miss": _near_miss(story.near_miss, story.tally),
        "engine": escape(run.engine),
        "commands": _lines(story.commands),
        "version": __version__,
        "spark": escape(story.spark_version),
        "seed": str(story.seed),
        "run": escape(run.run),
    }
    page = files("twigcast.cli.demo").joinpath("report.html").read_text(encoding="utf-8")
    return Template(page).substitute(gaps)


def _sums(story: Story) -> dict[str, str]:
    tally, run = story.tally, story.run
    share = story.chosen.crossings / (story.most.crossings or 1)
    return {
        "documents": f"{run.documents:,}",
        "megabytes": f"{run.bytes / 1e6:,.1f}",
        "subscriptions": f"{run.subscriptions:,}",
        "subscribers": f"{tally.subscribers:,}",
        "copies": f"{tally.copies:,}",
        "deliveries": counted(tally.deliveries, "delivery", "deliveries"),
        "share": f"{share:.1%}",
        "seconds": f"{run.seconds['matching']:.1f}",
        "workers": counted(run.workers, "worker process", "worker processes"),
        "dead_letters": _none_or(run.dead_letters, "dead letter"),
        "rejected": _none_or(run.rejected, "rejected subscription"),
    }


def _network(story: Story) -> dict[str, str]:
    run = story.run
    drawing = network_drawing(
        story.topology, story.links, story.tally.by_broker, documents=run.documents
    )
    return {
        "network": drawing,
        "newsroom": escape(story.topology.brokers[0]),
        "brokers": f"{run.brokers:,}",
        "strategy": escape(run.strategy),
        "crossings": f"{run.crossings:,}",
        "needless": f"{run.needless:,} needlessly" if run.needless else "none needlessly",
    }


def _traffic(story: Story) -> dict[str, str]:
    traffic = story.traffic
    documents = [Bar(one.strategy, one.crossings, one.needless) for one in traffic]
    routes = [Bar(one.strategy, one.routes) for one in traffic]
    return {
        "traffic_plot": bars(documents, across="documents over links by strategy"),
        "routes_plot": bars(routes, across="routes by strategy"),
        "traffic_rows": "\n".join(
            f'<tr class="{"chosen" if one is story.chosen else "other"}">'
            f"<td><code>{escape(one.strategy)}</code></td><td>{escape(one.idea)}</td>"
            f'<td class="number">{one.crossings:,}</td>'
            f'<td class="number">{needless_words(one)}</td>'
            f'<td class="number">{one.bytes / 1e6:,.1f}</td>'
            f'<td class="number">{one.routes:,}</td></tr>'
            for one in traffic
        ),
    }


def needless_words(traffic: Traffic) -> str:
    """Which share of the crossings nobody needed."""
    return f"{traffic.needless_share:.1%}" if traffic.needless else "none"


def _speeds(comparison: Comparison) -> dict[str, str]:
    fastest = max(comparison.one_by_one, comparison.matcher)
    return {
        "slow": f"{comparison.one_by_one:,.0f}",
        "slow_width": f"{comparison.one_by_one / fastest:.2%}",
        "fast": f"{comparison.matcher:,.0f}",
        "fast_width": f"{comparison.matcher / fastest:.2%}",
        "sampled": f"{comparison.documents:,}",
    }


def _none_or(number: int, word: str) -> str:
    return counted(number, word) if number else f"no {word}"


def _lines(texts: Iterable[str]) -> str:
    """Lines that are indented where they run over."""
    return "".join(f"<span>{escape(text)}</span>" for text in texts)


def _rows(tally: Tally) -> Iterator[str]:
    most = max(tally.received.values(), default=0) or 1
    for subscriber, number in islice(tally.received.items(), _ROWS_SHOWN):
        meter = f'class="meter" style="--share:{number / most:.1%}"'
        yield (
            f"<tr><td {meter}>{escape(subscriber)}</td>"
            f'<td class="number">{tally.held[subscriber]:,}</td>'
            f'<td class="number">{number:,}</td></tr>'
        )
    others = list(tally.received)[_ROWS_SHOWN:]
    if others:
        held = sum(tally.held[subscriber] for subscriber in others)
        received = sum(tally.received[subscriber] for subscriber in others)
        yield (
            f'<tr class="others"><td>{counted(len(others), "other")}</td>'
            f'<td class="number">{held:,}</td><td class="number">{received:,}</td></tr>'
        )


def unwanted_words(tally: Tally) -> str:
    """How many documents nobody asked for, as a sentence."""
    if not tally.unwanted:
        return "Every document found a reader."
    return f"{counted(tally.unwanted, 'document')} interested nobody."


def _near_miss(miss: NearMiss | None, tally: Tally) -> str:
    if miss is None:
        return ""
    received = len(tally.by_subscription[str(miss.subscription.id)])
    return Template(_NEAR_MISS).substitute(
        subscriber=escape(miss.subscription.subscriber or "Somebody"),
        id=escape(str(miss.subscription.id)),
        xpath=escape(miss.subscription.xpath),
        received=counted(received, "document"),
        document=escape(miss.document),
        explanation=_lines(miss.explanation.text.splitlines()),
    )
