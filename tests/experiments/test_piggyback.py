"""Piggyback's study, scaled down: all combinations deliver the same, annotations spare work."""

from __future__ import annotations

import json

import pytest

from twigcast.experiments.piggyback import (
    COMBINATIONS,
    Figures,
    combination,
    main,
    markdown,
    measured,
    reckoned,
)
from twigcast.experiments.piggyback_stage import Stage
from twigcast.routing.strategy import strategy

SMALL = Stage(levels=3, patterns=120, documents=3)
PLAYED = ("ES", "ES+s", "L", "L+s", "L-s", "L-d", "L+d", "L+s-sd", "A+s-sd")


@pytest.fixture(scope="module")
def figures() -> dict[str, Figures]:
    """What came of the small stage."""
    played = reckoned(SMALL, combinations=PLAYED, positions=(0.25, 1.0))
    return {each.name: each for each in played}


def improvement(of: Figures, over: Figures) -> list[float]:
    """By which share one combination is quicker than another, at each position."""
    pairs = zip(of.plays, over.plays, strict=True)
    return [1 - one.response_ms / other.response_ms for one, other in pairs]


def test_there_are_four_eager_and_sixteen_lazy_combinations_and_an_adaptive_one() -> None:
    assert len(set(COMBINATIONS)) == len({combination(name) for name in COMBINATIONS}) == 21
    protocols = [combination(name).protocol for name in COMBINATIONS]
    assert [protocols.count(one) for one in ("eager", "lazy", "adaptive")] == [4, 16, 1]


def test_any_strategy_is_a_combination_that_says_patterns_upwards() -> None:
    chosen = combination("piggyback(annotations=-s, on=identity)")
    assert (chosen.towards, chosen.annotations, chosen.merging) == ("producers", "-s", "none")
    assert combination("covering") == strategy("covering(towards=producers)")


def test_every_combination_delivers_the_same(figures: dict[str, Figures]) -> None:
    plays = [play for each in figures.values() for play in each.plays]
    assert {play.failures for play in plays} == {0}
    assert len({play.deliveries for play in plays}) == 1
    assert plays[0].deliveries > 0


def test_only_what_is_annotated_takes_bytes_and_skips(figures: dict[str, Figures]) -> None:
    for name in ("ES", "L"):
        assert {(play.annotation_bytes, play.skipped) for play in figures[name].plays} == {(0, 0)}
    for name in ("L+s", "L-s", "L-d", "L+s-sd"):
        assert all(play.annotation_bytes > 0 < play.skipped for play in figures[name].plays)
    alone = max(figures["L-s"].plays[1].skipped, figures["L-d"].plays[1].skipped)
    assert figures["L+s-sd"].plays[1].skipped >= alone


def test_annotations_make_lazy_brokers_quicker(figures: dict[str, Figures]) -> None:
    for name in ("L+s", "L-s", "L-d", "L+s-sd"):
        assert all(share > 0 for share in improvement(figures[name], figures["L"])), name


def test_a_late_first_match_is_to_the_advantage_of_lazy_brokers(
    figures: dict[str, Figures],
) -> None:
    early, late = improvement(figures["L+s-sd"], figures["ES"])
    assert early < late


def test_the_adaptive_protocol_is_no_worse_than_the_worse_of_both(
    figures: dict[str, Figures],
) -> None:
    for place in (0, 1):
        adaptive, *others = (
            figures[name].plays[place].response_ms for name in ("A+s-sd", "ES+s", "L+s-sd")
        )
        assert adaptive <= max(others) * 1.001


def test_the_same_stage_gives_the_same_figures(figures: dict[str, Figures]) -> None:
    (again,) = reckoned(SMALL, combinations=("L+s-sd",), positions=(0.25, 1.0))
    assert again == figures["L+s-sd"]


@pytest.mark.parametrize("engine", ["auto", "streaming"])
def test_times_can_be_measured(engine: str) -> None:
    stage = Stage(levels=2, patterns=30, documents=2)
    names = ("covering", "L-sd")
    plain, lazy = measured(stage, engine, combinations=names, positions=(0.5,))
    assert plain.plays[0].deliveries == lazy.plays[0].deliveries
    assert plain.plays[0].failures == lazy.plays[0].failures == 0
    assert plain.plays[0].response_ms > 0 == plain.plays[0].annotation_bytes


def test_the_table_has_a_row_for_each_combination(figures: dict[str, Figures]) -> None:
    header, rule, *rows = markdown([figures["ES"], figures["L+s-sd"]]).splitlines()
    assert header.startswith("|  | f = 0.25 | f = 1 | bytes |")
    assert {line.count("|") for line in (header, rule, *rows)} == {9}
    assert [row.split(" | ")[0] for row in rows] == ["| ES", "| L+s-sd"]


def test_the_experiment_is_a_command(capsys: pytest.CaptureFixture[str]) -> None:
    small = ("--levels", "2", "--patterns", "20", "--documents", "1", "--combination", "L-s")
    main([*small, "--json"])
    (only,) = json.loads(capsys.readouterr().out)
    assert (only["name"], len(only["plays"])) == ("L-s", 4)
    main([*small, "--measured", "auto"])
    assert capsys.readouterr().out.splitlines()[2].startswith("| L-s | ")
