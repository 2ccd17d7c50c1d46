"""``twigcast simulate``: a network in simulated time, and what came of it.

The scenario describes the network and what happens. What is printed fits a screen: the figures, and
the busiest links; several strategies are played the same schedule, and make one table.
``--details`` adds all options, given or not, as a scenario that repeats the run (on standard error,
first), and the tables of links and brokers. ``--json`` is an object for each strategy, with all of
it.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from twigcast.cli.options.arguments import AsJson
from twigcast.cli.options.completion import complete_strategy
from twigcast.cli.output import (
    REFUSED,
    complain,
    complain_of_all,
    write,
    write_json,
    write_note,
)
from twigcast.cli.progress import Bar
from twigcast.display import counted, one_line
from twigcast.errors import UsageError

if TYPE_CHECKING:
    from twigcast.routing.strategy import Strategy
    from twigcast.simulator import Results, Scenario, Schedule
    from twigcast.simulator.results import Carried

EXAMPLES = (
    "twigcast simulate newsroom.toml",
    "twigcast simulate newsroom.toml --strategy flooding --strategy covering --seed 7",
    "twigcast simulate newsroom.toml --draw newsroom.svg --json",
)

_ROWS_MAX = 12
"""Links and brokers that the details show; who has more wants the busiest of them."""

_BUSIEST = 3
"""Links that fit on a screen of 24 lines, below the figures."""


def simulate(
    scenario: Annotated[
        str,
        typer.Argument(
            metavar="SCENARIO", help="A TOML file: topology, workload, changes.", show_default=False
        ),
    ],
    seed: Annotated[
        int | None, typer.Option(min=0, help="Instead of the seed in the scenario.")
    ] = None,
    strategy: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME",
            help="Instead of the one in the scenario, such as 'prefix(depth=3)' (repeatable).",
            autocompletion=complete_strategy,
        ),
    ] = None,
    draw: Annotated[
        str | None,
        typer.Option(metavar="FILE.svg", help="Draw the network; a picture for each strategy."),
    ] = None,
    details: Annotated[
        bool,
        typer.Option(
            "--details", help="All options, links and brokers as well.", show_default=False
        ),
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Play a scenario in simulated time, and tell what came of it.

    Deliveries, traffic by kind and by link, needless crossings, table sizes and response times.
    """
    from twigcast.routing.strategy import strategy as strategy_of
    from twigcast.simulator import generate_schedule, options_text, read_scenario

    read = read_scenario(scenario, seed=seed)
    strategies = [strategy_of(given) for given in strategy or ()] or [read.strategy]
    pictures = _picture_paths(draw, strategies)
    with Bar() as bar:
        bar.show("drawing the workload", 0, None)
        generated = generate_schedule(read)
        if details and not as_json:
            for line in options_text(read.options).split("\n"):
                write_note(line)
            _write_drawn(generated.drawn)
        _write_flooding(generated.schedule, strategies)
        runs = []
        for number, chosen in enumerate(strategies):
            bar.show(f"simulating {chosen}", number, len(strategies))
            runs.append(_run(read, chosen, generated.schedule))
    for results, path in zip(runs, pictures, strict=True):
        if as_json:
            options = {**read.options, "strategy": results.strategy}
            write_json({**results.to_json(), "options": options, "drawn": generated.drawn})
        if path is not None:
            _draw(path, read, generated.schedule, results)
    if not as_json:
        _write_tables(runs, details=details)
        _write_seconds(runs, details=details)
    if sum([_complain(results) for results in runs]):
        raise typer.Exit(REFUSED)


def _run(scenario: Scenario, strategy: Strategy, schedule: Schedule) -> Results:
    from twigcast.simulator import simulate as simulated

    return simulated(scenario, strategy, schedule=schedule)


# Beside the output.


def _write_drawn(drawn: object) -> None:
    assert isinstance(drawn, dict)
    for name, value in drawn.items():
        text = value
        if isinstance(value, dict):
            pairs = (
                f"{key} at {one}" if isinstance(one, str) else f"{key}: {', '.join(one)}"
                for key, one in list(value.items())[:_ROWS_MAX]
            )
            text = "; ".join(pairs) + ("; …" if len(value) > _ROWS_MAX else "")
        write_note(f"# {name.replace('_', ' ')}: {text}")
    write_note()


def _write_flooding(schedule: Schedule, strategies: Sequence[Strategy]) -> None:
    """Tell on one line whose documents go everywhere for want of an advertisement."""
    from twigcast.routing.strategy import flooding_notice
    from twigcast.simulator.schedule import unadvertised_publishers

    needing = [chosen for chosen in strategies if chosen.needs_advertisements]
    without = unadvertised_publishers(schedule) if needing and schedule.network.links else ()
    if without:
        (broker, publisher), more = without[0], len(without) - 1
        rest = f", like {counted(more, 'other')}," if more else ""
        remedy = 'set advertise = true in [workload], or add a [[change]] that does "advertise"'
        who = f"{publisher or 'whoever publishes'} at {broker}{rest}"
        write_note(flooding_notice(needing[0], who=who, remedy=remedy))


def _write_seconds(runs: Sequence[Results], *, details: bool) -> None:
    seconds = sum(results.real_seconds for results in runs)
    events = sum(results.events for results in runs)
    more = "" if details else "; --details has options, links and brokers"
    write_note(f"{counted(events, 'event')} in {seconds:.1f} s{more}")


def _complain(results: Results) -> bool:
    """Name what was refused; whether there was anything."""
    refused = [
        f"{results.strategy}: {each.broker} at {each.at:.3f} s refused {each.event}: {each.reason}"
        for each in results.refusals
    ]
    dead = [
        f"{results.strategy}: {each.publication} at {each.broker} is a dead letter: {each.reason}"
        for each in results.dead_letters
    ]
    complain_of_all(refused + dead, hint="--json has them all")
    if results.stopped:
        complain(f"{results.strategy}: stopped after {results.stopped}; the figures end there")
    return bool(refused or dead or results.stopped)


# Tables.


def _write_tables(runs: Sequence[Results], *, details: bool) -> None:
    if len(runs) > 1:
        if not details:
            _write_aligned([_COMPARED_BRIEFLY, *map(_compared_briefly, runs)])
            return
        rows = [_COMPARED, *map(_compared, runs)]
        if any(results.carried for results in runs):
            carried = [_COMPARED_CARRIED, *map(_compared_carried, runs)]
            rows = [(*left, *right) for left, right in zip(rows, carried, strict=True)]
        _write_aligned(rows)
        return
    (results,) = runs
    _write_aligned(_figures(results), numbers_from=2)
    write("")
    if not details:
        _write_aligned(_busiest_links(results), numbers_from=2)
        return
    _write_aligned(_by_link(results), numbers_from=2)
    write("")
    _write_aligned(_by_broker(results))


_KINDS = "subscribe", "unsubscribe", "advertise", "unadvertise", "publish"
_COMPARED_BRIEFLY = (
    "strategy",
    "deliveries",
    "missed",
    "crossings",
    "needless",
    "messages",
    "routes",
)
_COMPARED = (
    "strategy",
    "deliveries",
    "missed",
    "crossings",
    "needless",
    "flooded",
    "subscribe",
    "unsubscribe",
    "advertise",
    "kB",
    "routes",
    "ms/subscription",
    "ms/document",
    "response ms",
)
_COMPARED_CARRIED = ("annotations kB", "skipped", "sent unread")


def _compared_briefly(results: Results) -> tuple[str, ...]:
    """What fits in 80 columns; messages are those that brokers tell each other routes by."""
    numbers = (
        results.delivered,
        results.missed,
        results.crossings,
        results.needless,
        sum(results.total(kind) for kind in _KINDS if kind != "publish"),
        results.routes,
    )
    return results.strategy, *(f"{number:,}" for number in numbers)


def _compared(results: Results) -> tuple[str, ...]:
    """The figures of one strategy in a row."""
    return (
        results.strategy,
        f"{results.delivered:,}",
        f"{results.missed:,}",
        f"{results.crossings:,}",
        f"{results.needless:,}",
        f"{results.flooded:,}",
        f"{results.total('subscribe'):,}",
        f"{results.total('unsubscribe'):,}",
        f"{results.total('advertise'):,}",
        f"{sum(results.bytes.values()) / 1000:,.1f}",
        f"{results.routes:,}",
        f"{results.usage.per_subscription_ms:,.2f}",
        f"{results.usage.per_publication_ms:,.2f}",
        f"{results.response.mean * 1000:,.2f}",
    )


def _compared_carried(results: Results) -> tuple[str, ...]:
    """What annotations did, for the end of the row."""
    carried = results.carried
    if carried is None:
        return "", "", ""
    return f"{carried.bytes / 1000:,.1f}", f"{carried.skipped:,}", f"{carried.sent_unread:,}"


def _figures(results: Results) -> list[tuple[str, str]]:
    """The figures of the whole network."""
    response, usage = results.response, results.usage
    share = f"{100 * results.needless / results.crossings:.1f} %" if results.crossings else "none"
    times = (response.mean, response.median, response.percentile_95, response.longest)
    mean, median, late, longest = (f"{1000 * seconds:,.3f}" for seconds in times)
    messages = [f"{total:,} {kind}" for kind in _KINDS if (total := results.total(kind))]
    failed = f"{results.missed:,} missed, {results.unexpected:,} unexpected"
    per_subscription = f"{usage.per_subscription_ms:,.3f} ms per subscription"
    set_up = f"of these {results.set_up_seconds:,.3f} to set up"
    figures = {
        "strategy": results.strategy,
        "subscriptions": f"{results.subscriptions:,}",
        "documents": f"{results.publications:,}",
        "deliveries": f"{results.delivered:,} ({failed}, {results.repeated:,} repeated)",
        "crossings": f"{results.crossings:,} ({share} needless, {results.flooded:,} more flooded)",
        "messages": ", ".join(messages) or "none",
        "lost with links": f"{results.lost:,}",
        "bytes": f"{sum(results.bytes.values()):,}",
        "network usage": f"{per_subscription}, {usage.per_publication_ms:,.3f} ms per document",
        "routes": f"{results.routes:,} in all tables",
        "response": f"mean {mean} ms, median {median}, 95 % {late}, longest {longest}",
        "simulated": f"{results.simulated_seconds:,.3f} s, {set_up}",
    }
    if results.carried is not None:
        figures |= _carried(results.carried)
    return list(figures.items())


def _carried(carried: Carried) -> dict[str, str]:
    """The figures of annotations."""
    bytes_told = f"{carried.bytes:,} bytes with {carried.documents:,} documents"
    unread = f"{carried.sent_unread:,} documents sent on, {carried.spared:,} not read at all"
    return {
        "annotations": f"{bytes_told}, {carried.ignored:,} ignored",
        "patterns skipped": f"{carried.skipped:,}",
        "before reading": unread,
    }


def _busiest_links(results: Results) -> list[tuple[str, ...]]:
    """The few links that carry most."""
    header = "busiest from", "to", "documents", "needless", "messages", "bytes"
    busiest = sorted(results.documents, key=lambda link: -results.bytes[link])
    rows = [
        (
            *link,
            f"{results.documents[link].crossings:,}",
            f"{results.documents[link].needless:,}",
            f"{sum(results.messages[link][kind] for kind in _KINDS if kind != 'publish'):,}",
            f"{results.bytes[link]:,}",
        )
        for link in busiest[:_BUSIEST]
    ]
    return [header, *rows]


def _by_link(results: Results) -> list[tuple[str, ...]]:
    """The busiest links, each direction in a row."""
    header = "from", "to", "documents", "needless", "subscribe", "unsubscribe", "advertise", "bytes"
    busiest = sorted(results.documents, key=lambda link: -results.bytes[link])
    rows = [
        (
            *link,
            f"{results.documents[link].crossings:,}",
            f"{results.documents[link].needless:,}",
            f"{results.messages[link]['subscribe']:,}",
            f"{results.messages[link]['unsubscribe']:,}",
            f"{results.messages[link]['advertise']:,}",
            f"{results.bytes[link]:,}",
        )
        for link in busiest[:_ROWS_MAX]
    ]
    return [header, *rows, *_rest(busiest, len(header))]


def _by_broker(results: Results) -> list[tuple[str, ...]]:
    """The brokers with the largest tables."""
    header = "broker", "routes", "subscriptions", "advertisements", "forwarded", "busy ms"
    largest = sorted(results.tables, key=lambda broker: -results.tables[broker].routes)
    rows = [
        (
            broker,
            f"{tables.routes:,}",
            f"{tables.subscriptions:,}",
            f"{tables.advertisements:,}",
            f"{tables.forwarded:,}",
            f"{results.busy[broker] * 1000:,.3f}",
        )
        for broker, tables in ((broker, results.tables[broker]) for broker in largest[:_ROWS_MAX])
    ]
    return [header, *rows, *_rest(largest, len(header))]


def _rest(listed: Sequence[object], columns: int) -> Iterable[tuple[str, ...]]:
    left_out = len(listed) - _ROWS_MAX
    return [(f"… {left_out:,} more", *[""] * (columns - 1))] if left_out > 0 else []


def _write_aligned(rows: Sequence[Sequence[str]], *, numbers_from: int = 1) -> None:
    """Write rows in columns: names to the left, and from one column on numbers to the right."""
    shown = [list(map(one_line, row)) for row in rows]
    widths = [max(map(len, column)) for column in zip(*shown, strict=True)]
    for row in shown:
        cells = [
            cell.rjust(width) if place >= numbers_from else cell.ljust(width)
            for place, (cell, width) in enumerate(zip(row, widths, strict=True))
        ]
        write("  ".join(cells).rstrip())


# Pictures.


def _picture_paths(draw: str | None, strategies: Sequence[Strategy]) -> list[Path | None]:
    """Where each picture goes: with several strategies, their names become part of the file's."""
    if draw is None:
        return [None] * len(strategies)
    path = Path(draw)
    if path.suffix.lower() != ".svg":
        raise UsageError(f"--draw writes SVG; let the name of {draw} end in .svg")
    if not os.path.isdir(path.parent):  # noqa: PTH112 (of an endless name, Path raises an error)
        raise UsageError(f"--draw {draw}: there is no folder {path.parent}; make it first")
    if len(strategies) == 1:
        return [path]
    names = [re.sub(r"[^\w.]+", "-", str(one)).strip("-") for one in strategies]
    return [path.with_name(f"{path.stem}-{name}{path.suffix}") for name in names]


def _draw(path: Path, scenario: Scenario, schedule: Schedule, results: Results) -> None:
    from twigcast.files.writing.new_files import new_file
    from twigcast.simulator import drawn_network

    with new_file(path) as file:
        file.write(drawn_network(schedule.network, results, title=one_line(scenario.name)).encode())
    write_note(f"the network is drawn in {path}")
