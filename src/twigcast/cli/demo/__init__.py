"""``twigcast demo``: a news feed and its subscribers at many brokers, on Spark, in a minute or two.

In reading order:

    regions                 the brokers, who lives there, and what is written about
    feed                    an invented news feed and its subscribers, the same for the same seed
    steps                   make them, run the pipeline over them, report
    strategy_traffic        what each strategy of the papers takes to do the same
    delivery_counts         sums over the deliveries
    near_miss               a subscription that nearly matched, and why it did not
    baseline_timing         the speed beside one expression after the other
    summary                 all of that in one value
    text_report             all of that as lines
    html_report             all of that as a page
    charts, network_drawing its pictures
"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from twigcast.cli.options.arguments import AsJson

__all__ = ["EXAMPLES", "demo"]

EXAMPLES = ("twigcast demo", "twigcast demo --out /tmp/demo --documents 500")

_MOST = 1_000_000
"""Documents, or subscriptions: all of them are made first, and kept."""


def demo(
    out: Annotated[
        str, typer.Option(metavar="FOLDER", help="Where everything goes that the demo makes.")
    ] = "demo",
    documents: Annotated[
        int, typer.Option(min=20, max=_MOST, help="Documents of the feed.")
    ] = 2000,
    subscriptions: Annotated[
        int, typer.Option(min=20, max=_MOST, help="Subscriptions to it.")
    ] = 3000,
    seed: Annotated[int, typer.Option(help="Equal seeds give equal feeds.")] = 1,
    as_json: AsJson = False,
) -> None:
    """A news feed and its subscribers at a tree of brokers, end to end on Spark.

    Makes a feed, subscriptions and a topology, runs the pipeline, prints who received what, how
    much traffic each strategy needed and why one subscription did not match, and writes
    report.html.
    """
    # The steps need Spark and lxml; naming the verb must not.
    from twigcast.cli.demo.steps import run_demo

    run_demo(
        Path(out), documents=documents, subscriptions=subscriptions, seed=seed, as_json=as_json
    )
