"""Faults planted into the bounding of work are found by the tests that are there to find them.

A test that no fault can fail says nothing. Each fault is put in by hand, for one test.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

import pytest

from tests.matching import test_bounded_work
from tests.matching.residual import test_libxml2, test_tree_walk
from tests.matching.streaming import test_run as test_reading
from twigcast.language.condition.model import Condition
from twigcast.language.document.parse import Document
from twigcast.language.pattern import Pattern
from twigcast.matching.residual import tree_walk as walk
from twigcast.matching.residual.libxml2 import Residuals
from twigcast.matching.streaming.engine import StreamingEngine
from twigcast.matching.streaming.lazy_dfa import LabelPath
from twigcast.matching.streaming.run import Reading

verdicts = Residuals._verdicts


def dearest_first(
    self: Residuals, costs: Mapping[Pattern, float], document: Document
) -> dict[Pattern, bool | None]:
    """The sum is spent on the dearest; cheap ones beside them are open."""
    left, found = float(self._document_cost_max), dict.fromkeys(costs, None)
    answers: dict[Pattern, bool | None] = {**found}
    for pattern in sorted(costs, key=lambda one: -costs[one]):
        if costs[pattern] <= left:
            left -= costs[pattern]
            answers[pattern] = self._evaluate(pattern, document)
    self._count(len(costs), costly=None in answers.values())
    return answers


def never_charged(
    self: Residuals, costs: Mapping[Pattern, float], document: Document
) -> dict[Pattern, bool | None]:
    """Everything is decided, whatever it costs."""
    return verdicts(self, dict.fromkeys(costs, 0.0), document)


def open_as_a_miss(
    self: Residuals, costs: Mapping[Pattern, float], document: Document
) -> dict[Pattern, bool | None]:
    """What is too dear is passed over in silence."""
    return {one: bool(answer) for one, answer in verdicts(self, costs, document).items()}


def in_order_of_arrival(
    self: Residuals, costs: Mapping[Pattern, float], document: Document
) -> dict[Pattern, bool | None]:
    """Who came first is decided, however dear."""
    left = float(self._document_cost_max)
    answers: dict[Pattern, bool | None] = dict.fromkeys(costs)
    for pattern, cost in costs.items():
        if cost <= left:
            left -= cost
            answers[pattern] = self._evaluate(pattern, document)
    self._count(len(costs), costly=None in answers.values())
    return answers


def beyond_the_sum() -> None:
    test_libxml2.test_beyond_the_sum_the_dearest_residuals_are_open_and_all_cheaper_ones_answered(
        "lxml"
    )


@pytest.mark.usefixtures("without_kernel")
@pytest.mark.parametrize(
    "fault", [dearest_first, never_charged, open_as_a_miss, in_order_of_arrival]
)
def test_a_sum_that_is_not_kept_or_spent_on_the_dearest_is_found(
    fault: Callable[..., object], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(test_libxml2, "SUM", test_libxml2.SUM_OF_VISITS)
    beyond_the_sum()
    monkeypatch.setattr(Residuals, "_verdicts", fault)
    with pytest.raises(AssertionError):
        beyond_the_sum()


@pytest.mark.usefixtures("without_kernel")
def test_an_answer_remembered_wrongly_by_the_walk_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    class Forgetful(walk.ConditionWalk):
        def _answer(self, condition: Condition, node: object) -> bool:
            super()._answer(condition, node)  # type: ignore[arg-type]
            return False

    xpath = test_bounded_work.chain(40)
    test_tree_walk.test_negations_inside_each_other_are_decided_on_nested_elements("lxml", xpath)
    monkeypatch.setattr("twigcast.matching.residual.libxml2.ConditionWalk", Forgetful)
    with pytest.raises(AssertionError):
        test_tree_walk.test_negations_inside_each_other_are_decided_on_nested_elements(
            "lxml", xpath
        )


def only_what_is_new(self: Reading, path: LabelPath) -> None:
    """Label paths cost steps only where they are not remembered."""
    if not path.children:
        self.steps += path.steps


def spends_nothing(_self: Reading, _more: int = 0) -> None:
    """Reading goes on whatever it costs."""


def prunes_all(self: Reading) -> None:
    """Leaves are left out that hold somewhere."""
    self._pruned = True
    self._idle.update(self._paths.automaton.conditional)


def nothing_open(_self: StreamingEngine, _reading: Reading) -> list[tuple[int, Pattern]]:
    """What was not found when the steps were spent counts as a miss."""
    return []


@pytest.mark.parametrize(
    ("owner", "name", "fault", "test"),
    [
        (
            Reading,
            "_visit",
            only_what_is_new,
            lambda: (
                test_reading.test_steps_depend_neither_on_what_was_read_before_nor_on_who_came_first(
                    "paths"
                )
            ),
        ),
        (
            Reading,
            "_look_up",
            spends_nothing,
            lambda: (
                test_reading.test_the_reading_ends_where_its_steps_are_spent_and_no_answer_is_wrong(
                    "paths"
                )
            ),
        ),
        (
            StreamingEngine,
            "_open",
            nothing_open,
            test_reading.test_what_may_have_matched_behind_the_end_of_the_steps_has_no_moment,
        ),
        (
            Reading,
            "_prune",
            prunes_all,
            test_reading.test_leaves_that_hold_somewhere_are_found_after_pruning,
        ),
    ],
)
def test_a_reading_that_miscounts_or_leaves_out_is_found(
    owner: type,
    name: str,
    fault: Callable[..., object],
    test: Callable[[], None],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    test()
    monkeypatch.setattr(owner, name, fault)
    with pytest.raises(AssertionError):
        test()
