"""What a broker's time is spent on, by constants or by the clock."""

from __future__ import annotations

from itertools import count

from tests.simulator.four_brokers import arrivals, play
from tests.simulator.schedules import (
    publishes,
    schedule,
    subscribes,
)
from twigcast.routing.strategy import piggyback
from twigcast.simulator import CostModel, Measured, Simulation


def test_measured_time_comes_from_the_clock_that_was_handed_in() -> None:
    ticks = count()
    costs = Measured(clock=lambda: float(next(ticks)))
    told = schedule([["a", "b"]], [subscribes("a", 1, "//b")], [publishes("a", "d")])
    (delivery,) = Simulation(told, "covering", costs=costs).run().deliveries
    assert delivery.seconds == 2.0  # a second to take it in, and one to decide it


def test_what_annotations_decide_is_not_read() -> None:
    costs = CostModel(0, 0, 0, 0, 0, 0, per_check=1.0, per_annotation=0.25)
    results = play(piggyback("lazy", "-s", on="identity"), ("b", "//x"), ("b", "//q"), costs=costs)
    # At a, both are compared, and annotations are made; at b these are looked at, and that is all.
    assert results.busy == {"a": 2 + 4 + 0.25, "b": 0.25, "c": 0}
    assert results.carried is not None
    assert (results.carried.documents, results.carried.spared, results.carried.skipped) == (1, 1, 2)
    assert results.carried.checks == 6


def test_only_the_first_answer_that_reads_a_document_pays_for_reading() -> None:
    costs = CostModel(0, 0, 0, per_document=1.0, per_byte=0, per_table_route=0, per_annotation=0)
    results = play(piggyback("eager", "", on="identity"), ("b", "//x"), ("c", "//z"), costs=costs)
    assert results.busy == {"a": 1.0, "b": 1.0, "c": 1.0}


def test_each_answer_is_measured_by_itself() -> None:
    ticks = count()
    costs = Measured(clock=lambda: float(next(ticks)))
    results = play(piggyback("eager", "", on="identity"), ("b", "//x"), ("a", "//z"), costs=costs)
    # A second to take it in, one until it leaves, one for what a's own clients ask for.
    assert arrivals(results) == {"a": 3, "b": 2 + 2}
