"""Piggyback's performance study (6.2): response times by annotations and protocols.

    python -m twigcast.experiments.piggyback --dtd nitf-2-5.dtd

plays ten documents for each of the paper's combinations (4 eager, 16 lazy, and the adaptive one)
and each position *f* of the first match, on the stage of
:mod:`~twigcast.experiments.piggyback_stage`, and prints the mean time from publication to delivery.
``L+s-sd`` is the lazy protocol with PS, NS and ND annotations, the paper's best.

**Time** is computed and not measured: a broker takes :data:`PER_CHECK` seconds for each comparison
of a pattern with an element that it really makes, as the engine ``streaming`` counts them. 5,000
patterns on 129 elements then take 20 ms, which is of the order of what filters of 2007 took for so
many; the paper gives no figure. Beside that, annotations take 20 µs to read or to make. Response
times are so the same on every machine. ``--measured ENGINE`` measures the processor's time for each
answer instead, for a few combinations and beside strategies that do not annotate.
An engine that reads in order reads the whole document for the first answer, so eager protocols do
not gain there what they could.

**The stage is set once**, with every kind of hints, and all combinations are played on it. For
measured times, those that watch rows of names and those that do not have stages of their own, so
that nobody pays for what he does not use.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from time import process_time
from typing import Final, TypeVar

from twigcast.experiments.piggyback_stage import POSITIONS, Stage, towards_root
from twigcast.routing.annotations.kinds import Kinds
from twigcast.routing.events import Event
from twigcast.routing.strategy import Strategy, strategy
from twigcast.simulator import CostModel, Measured, Results, Simulation
from twigcast.simulator.cost_model import Costs

_T = TypeVar("_T")

PER_CHECK: Final = 0.020 / (5_000 * 129)
"""Seconds for one pattern and one element."""

_POSITIVE: Final = ("", "+s", "+d", "+sd")
_NEGATIVE: Final = ("", "-s", "-d", "-sd")

COMBINATIONS: Final = (
    *(f"ES{kinds}" for kinds in _POSITIVE),
    *(f"L{positive}{negative}" for negative in _NEGATIVE for positive in _POSITIVE),
    "A+s-sd",
)
"""The paper's combinations: eager, lazy, and the adaptive one."""

MEASURED: Final = ("covering", "ES", "L", "L-sd", "L+s-sd")
"""Combinations that are measured, beside a strategy that does not annotate."""

_PROTOCOLS: Final = {"ES": "eager", "L": "lazy", "A": "adaptive"}
_MEASURED_TIMES: Final = 3
"""How often documents are played where time is measured; the shortest time counts."""


@dataclass(frozen=True, slots=True)
class Play:
    """The figures of the documents with the marker at one position, under one combination."""

    position: float
    response_ms: float
    """From publication to delivery, the mean of all deliveries."""
    deliveries: int
    failures: int
    """Deliveries that are missing, unexpected or repeated: there may be none."""
    crossings: int
    needless: int
    annotation_bytes: float
    """For each document and link."""
    skipped: float
    """Of the patterns at the brokers that documents came to, the share that was skipped."""
    sent_unread: float
    """Of the documents that were sent on by these brokers, the share sent before they were read."""
    spared: float
    """Of the documents that came to these brokers, the share that was not read there at all."""


@dataclass(frozen=True, slots=True)
class Figures:
    """All plays of one combination."""

    name: str
    plays: tuple[Play, ...]


def combination(name: str) -> Strategy:
    """The strategy of a name such as ``L+s-sd``, or of any strategy, with patterns sent upwards.

    >>> best = combination("L+s-sd")
    >>> best.protocol, best.annotations, best.on, best.space
    ('lazy', '+s-sd', 'identity', 0.25)
    >>> combination("covering").towards
    'producers'
    """
    for short, protocol in _PROTOCOLS.items():
        kinds = name.removeprefix(short)
        if name.startswith(short) and set(kinds) <= set("+-sd"):
            options = f"protocol={protocol}, annotations={kinds or repr('')}"
            return towards_root(
                strategy(f"piggyback({options}, on=identity, space=0.25, merge_every=0)")
            )
    return towards_root(name)


def reckoned(
    stage: Stage,
    *,
    combinations: Sequence[str] = COMBINATIONS,
    positions: Sequence[float] = POSITIONS,
    per_check: float = PER_CHECK,
    report: Callable[[str], None] = lambda _: None,
) -> tuple[Figures, ...]:
    """Response times by the comparisons that are made; one stage for all combinations."""
    costs = CostModel(
        per_event=0,
        per_route=0,
        per_advertisement=0,
        per_document=0,
        per_byte=0,
        per_table_route=0,
        per_check=per_check,
    )
    simulation = _set(stage, combination("L+sd-sd"), costs, "streaming")
    report("the stage is set")
    figures = []
    for name in combinations:
        chosen = combination(name)
        plays = [
            _play(position, simulation.play(stage.documents_at(position), chosen))
            for position in positions
        ]
        figures.append(Figures(name, tuple(plays)))
        report(markdown(figures[-1:], heading=False))
    return tuple(figures)


def measured(
    stage: Stage,
    engine: str,
    *,
    combinations: Sequence[str] = MEASURED,
    positions: Sequence[float] = POSITIONS,
    report: Callable[[str], None] = lambda _: None,
) -> tuple[Figures, ...]:
    """Response times as answers take their time here."""
    alike: dict[Strategy, list[str]] = {}
    for name in combinations:
        alike.setdefault(_widest(combination(name)), []).append(name)
    figures: dict[str, Figures] = {}
    for widest, names in alike.items():
        simulation = _set(stage, widest, _AnswersMeasured(process_time), engine)
        report("a stage is set")
        for name in names:
            chosen = combination(name) if widest.protocol != "none" else None
            plays = [_shortest(simulation, stage, position, chosen) for position in positions]
            figures[name] = Figures(name, tuple(plays))
            report(markdown([figures[name]], heading=False))
    return tuple(figures[name] for name in combinations)


def _widest(chosen: Strategy) -> Strategy:
    """The combination with most kinds of annotations that can be played on the same stage."""
    if chosen.protocol == "none":
        return chosen
    kinds = Kinds.parse(chosen.annotations)
    return replace(chosen, protocol="lazy", annotations="+sd-sd" if kinds.has_rows else "+s-s")


class _AnswersMeasured(Measured):
    """Only what is done for documents takes time; setting the stage takes none."""

    def of_event(self, event: Event, work: Callable[[], _T]) -> tuple[_T, float]:
        """What comes of an event, at once."""
        del event
        return work(), 0.0


def _set(stage: Stage, chosen: Strategy, costs: Costs, engine: str) -> Simulation:
    simulation = Simulation(
        stage.schedule(), chosen, costs=costs, router_limits=stage.router_limits, engine=engine
    )
    simulation.set_stage()
    return simulation


def _shortest(
    simulation: Simulation, stage: Stage, position: float, chosen: Strategy | None
) -> Play:
    """The quickest of several plays; the first has to get everything ready."""
    documents = stage.documents_at(position)
    plays = [
        _play(position, simulation.play(documents, chosen)) for _ in range(1 + _MEASURED_TIMES)
    ]
    return min(plays[1:], key=lambda play: play.response_ms)


def _play(position: float, results: Results) -> Play:
    carried, crossings = results.carried, results.crossings
    tables = {str(broker): there for broker, there in results.tables.items()}
    reached = {to for (_, to), each in results.documents.items() if each.crossings}
    offered = onward = 0
    for (sender, to), each in results.documents.items():
        offered += each.crossings * (tables[to].routes + tables[to].subscriptions)
        onward += each.crossings if sender in reached else 0
    return Play(
        position=position,
        response_ms=round(1000 * results.response.mean, 6),
        deliveries=results.delivered,
        failures=results.missed + results.unexpected + results.repeated,
        crossings=crossings,
        needless=results.needless,
        annotation_bytes=_share(carried.bytes if carried else 0, crossings),
        skipped=_share(carried.skipped if carried else 0, offered),
        sent_unread=_share(carried.sent_unread if carried else 0, onward),
        spared=_share(carried.spared if carried else 0, crossings),
    )


def _share(part: float, whole: float) -> float:
    return part / whole if whole else 0.0


def markdown(figures: Sequence[Figures], *, heading: bool = True) -> str:
    """One row for each combination: response times by position, and what annotations did."""
    rows = []
    if heading and figures:
        at = [f"f = {play.position:g}" for play in figures[0].plays]
        rows = [_row(["", *at, "bytes", "skipped", "sent unread", "not read", "needless"])]
        rows.append(_row(["---"] + ["---:"] * (len(at) + 5)))
    for each in figures:
        last = each.plays[-1]
        rows.append(
            _row(
                [
                    each.name,
                    *(f"{play.response_ms:.2f}" for play in each.plays),
                    f"{last.annotation_bytes:.0f}",
                    f"{last.skipped:.0%}",
                    f"{last.sent_unread:.0%}",
                    f"{last.spared:.0%}",
                    f"{_share(last.needless, last.crossings):.0%}",
                ]
            )
        )
    return "\n".join(rows)


def _row(cells: Iterable[str]) -> str:
    return "| " + " | ".join(cells) + " |"


def main(arguments: Sequence[str] | None = None) -> None:
    """Play the experiment with the arguments of a command line, and print its table."""
    options = _argument_parser().parse_args(arguments)
    stage = Stage(
        levels=options.levels,
        patterns=options.patterns,
        documents=options.documents,
        dtd=options.dtd,
    )
    chosen = options.combination or (MEASURED if options.measured else COMBINATIONS)
    positions = options.at or POSITIONS
    figures = (
        measured(stage, options.measured, combinations=chosen, positions=positions, report=_report)
        if options.measured
        else reckoned(stage, combinations=chosen, positions=positions, report=_report)
    )
    table = [asdict(each) for each in figures]
    sys.stdout.write((json.dumps(table) if options.json else markdown(figures)) + "\n")


def _argument_parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m twigcast.experiments.piggyback")
    parser.add_argument("--levels", type=int, default=4, help="of the tree: 4 are 15 brokers")
    parser.add_argument("--patterns", type=int, default=5_000, help="of each broker")
    parser.add_argument("--documents", type=int, default=10)
    parser.add_argument("--dtd", type=Path, help="such as NITF; by default our news vocabulary")
    parser.add_argument("--measured", metavar="ENGINE", help="take times here, with an engine")
    parser.add_argument("--combination", action="append", help="such as L+s-sd (repeatable)")
    parser.add_argument("--at", type=float, action="append", help="such as 0.25 (repeatable)")
    parser.add_argument("--json", action="store_true")
    return parser


def _report(line: str) -> None:
    sys.stderr.write(line + "\n")
    sys.stderr.flush()


if __name__ == "__main__":
    main()
