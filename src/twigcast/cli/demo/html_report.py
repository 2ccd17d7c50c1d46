"""The demo as a page: one HTML file that needs nothing from anywhere else.

The text and the looks are in ``report.html``; here its gaps are filled. All that came from
documents or expressions is escaped.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from html import escape
from importlib.resources import files
from itertools import islice
from string import Template

from twigcast import __version__
from twigcast.cli.demo.baseline_timing import Comparison
from twigcast.cli.demo.charts import ChartBar, bars, histogram
from twigcast.cli.demo.delivery_counts import SUBSCRIBERS_SHOWN, DeliveryCounts
from twigcast.cli.demo.near_miss import NearMiss
from twigcast.cli.demo.network_drawing import network_drawing, network_list
from twigcast.cli.demo.strategy_traffic import StrategyTraffic
from twigcast.cli.demo.summary import DemoSummary
from twigcast.display import counted

_NEAR_MISS = """<section>
    <h2>Why one subscription did not match</h2>
    <p><b>$subscriber</b> has the subscription <code>$id</code>: <code>$xpath</code>. It had
    $received, but not of <code>$document</code>. Why?</p>
    <pre>$explanation</pre>
  </section>"""


def report(summary: DemoSummary) -> str:
    """The whole page."""
    run = summary.run
    gaps = {
        **_sums(summary),
        **_network(summary),
        **_traffic(summary),
        **_speeds(summary.comparison),
        "rows": "\n".join(_rows(summary.tally)),
        "plot": histogram(summary.tally.receivers, across="subscribers", upwards="documents"),
        "unwanted": escape(unwanted_sentence(summary.tally)),
        "near_miss": _near_miss(summary.near_miss, summary.tally),
        "engine": escape(run.engine),
        "commands": _lines(summary.commands),
        "version": __version__,
        "spark": escape(summary.spark_version),
        "seed": str(summary.seed),
        "run": escape(run.run),
    }
    page = files("twigcast.cli.demo").joinpath("report.html").read_text(encoding="utf-8")
    return Template(page).substitute(gaps)


def _sums(summary: DemoSummary) -> dict[str, str]:
    tally, run = summary.tally, summary.run
    share = summary.chosen.crossings / (summary.most.crossings or 1)
    return {
        "documents": f"{run.documents:,}",
        "megabytes": f"{run.bytes / 1e6:,.1f}",
        "subscriptions": f"{run.subscriptions:,}",
        "subscribers": f"{tally.subscribers:,}",
        "copies": f"{tally.copies:,}",
        "deliveries": f"{tally.deliveries:,}",
        "share": f"{share:.1%}",
        "most": escape(summary.most.strategy),
        "start_up": f"{summary.start_up_s:.1f}",
        "compiling": f"{summary.compiling_s:.1f}",
        "matching": f"{summary.matching_s:.1f}",
        "document_ms": f"{summary.document_ms:.2f}",
        "routes": f"{run.routes:,}",
        "workers": counted(run.workers, "worker process", "worker processes"),
        "dead_letters": _none_or(run.dead_letters, "dead letter"),
        "rejected": _none_or(run.rejected, "rejected subscription"),
    }


def _network(summary: DemoSummary) -> dict[str, str]:
    run = summary.run
    shown = summary.topology, summary.links, summary.tally.by_broker
    return {
        "network": network_drawing(*shown, documents=run.documents),
        "network_list": network_list(*shown, documents=run.documents),
        "newsroom": escape(summary.topology.brokers[0]),
        "brokers": f"{run.brokers:,}",
        "strategy": escape(run.strategy),
        "crossings": f"{run.crossings:,}",
        "needless": f"{run.needless:,} of them needless" if run.needless else "none needless",
    }


def _traffic(summary: DemoSummary) -> dict[str, str]:
    traffic = summary.traffic
    crossings = [ChartBar(one.strategy, one.crossings, one.needless) for one in traffic]
    routes = [ChartBar(one.strategy, one.routes) for one in traffic]
    return {
        "traffic_plot": bars(crossings, across="crossings by strategy"),
        "routes_plot": bars(routes, across="routes by strategy"),
        "traffic_rows": "\n".join(
            f'<tr class="{"chosen" if one is summary.chosen else "other"}">'
            f"<td><code>{escape(one.strategy)}</code></td><td>{escape(one.idea)}</td>"
            f'<td class="number" data-label="crossings">{one.crossings:,}</td>'
            f'<td class="number" data-label="needless">{needless_share_text(one)}</td>'
            f'<td class="number" data-label="MB">{one.bytes / 1e6:,.1f}</td>'
            f'<td class="number" data-label="routes">{one.routes:,}</td></tr>'
            for one in traffic
        ),
    }


def needless_share_text(traffic: StrategyTraffic) -> str:
    """The share of the crossings that nobody needed."""
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


def _none_or(number: int, noun: str) -> str:
    return counted(number, noun) if number else f"no {noun}"


def _lines(texts: Iterable[str]) -> str:
    """Lines that are indented where they run over."""
    return "".join(f"<span>{escape(text)}</span>" for text in texts)


def _rows(tally: DeliveryCounts) -> Iterator[str]:
    most = max(tally.received.values(), default=0) or 1
    for subscriber, number in islice(tally.received.items(), SUBSCRIBERS_SHOWN):
        meter = f'class="meter" style="--share:{number / most:.1%}"'
        yield f"<tr><td {meter}>{escape(subscriber)}</td>{_cells(tally, [subscriber])}</tr>"
    others = list(tally.received)[SUBSCRIBERS_SHOWN:]
    if others:
        name = counted(len(others), "other")
        yield f'<tr class="others"><td>{name}</td>{_cells(tally, others)}</tr>'
    everybody = list(tally.received)
    yield f'<tr class="all"><td>all {len(everybody):,}</td>{_cells(tally, everybody)}</tr>'


def _cells(tally: DeliveryCounts, subscribers: Sequence[str]) -> str:
    """What some subscribers have in all: subscriptions, deliveries, copies."""
    sums = (
        sum(numbers.get(one, 0) for one in subscribers)
        for numbers in (tally.held, tally.delivered, tally.received)
    )
    return "".join(f'<td class="number">{number:,}</td>' for number in sums)


def unwanted_sentence(tally: DeliveryCounts) -> str:
    """How many documents matched no subscription, as a sentence."""
    if not tally.unwanted:
        return "Every document matched a subscription."
    return f"{tally.unwanted:,} of the {tally.documents:,} documents matched no subscription."


def _near_miss(miss: NearMiss | None, tally: DeliveryCounts) -> str:
    if miss is None:
        return ""
    received = len(tally.by_subscription[str(miss.subscription.id)])
    return Template(_NEAR_MISS).substitute(
        subscriber=escape(miss.subscription.subscriber or "Somebody"),
        id=escape(str(miss.subscription.id)),
        xpath=escape(miss.subscription.xpath),
        received=counted(received, "delivery", "deliveries"),
        document=escape(miss.document),
        explanation=_lines(miss.explanation.text.splitlines()),
    )
