"""What libxml2 is asked: each expression once, within a sum for each document."""

from __future__ import annotations

import sys
import threading
from collections.abc import Iterator

import pytest

from tests.engines import EVERY_ENGINE
from twigcast.language import Document, Pattern
from twigcast.matching import Matcher
from twigcast.matching.engines.lxml import LxmlEngine
from twigcast.matching.engines.native import AVAILABLE
from twigcast.matching.residual.libxml2 import Residuals
from twigcast.matching.residual.tree_walk import ConditionWalk

TRADES = b"<feed><trade id='7'><price>120</price></trade><note/></feed>"

SUM_OF_VISITS = 2_000_000
SUM = 100_000 if AVAILABLE else SUM_OF_VISITS
"""Less than a hundred expressions about 300 elements take, in steps of the kernel or in visits."""


@pytest.mark.parametrize("engine", EVERY_ENGINE)
def test_beyond_the_sum_the_dearest_residuals_are_open_and_all_cheaper_ones_answered(
    engine: str,
) -> None:
    dear = {n: f"//a[count(preceding-sibling::a) = {n + 5}]" for n in range(1, 101)}
    cheap = {n: f"/r/a[{n}]" for n in range(101, 151)}
    content = b"<r>" + b"<a/>" * 300 + b"</r>"
    matcher = Matcher({**dear, **cheap}, engine=engine, document_cost_max=SUM)
    decision = matcher.decide(content)
    assert set(cheap) <= set(decision.matches)
    assert 10 < len(decision.undecided) < 100
    assert set(decision.undecided) <= set(dear)
    assert matcher.statistics().details.costly_documents == 1
    # Who came first does not matter, nor what the matcher read before.
    turned = dict(reversed({**dear, **cheap}.items()))
    again = Matcher(turned, engine=engine, document_cost_max=SUM)
    again.match(b"<r><a/><a/></r>")
    assert again.decide(content) == matcher.decide(content) == decision


@pytest.mark.parametrize("engine", EVERY_ENGINE)
def test_equal_expressions_count_once(engine: str) -> None:
    same = dict.fromkeys(range(200), "//a[count(preceding-sibling::a) = 5]")
    content = b"<r>" + b"<a/>" * 300 + b"</r>"
    matcher = Matcher(same, engine=engine, document_cost_max=SUM)
    assert matcher.decide(content).matches == tuple(range(200))


def test_a_compiled_expression_makes_room_when_too_many_are_held() -> None:
    engine = LxmlEngine(compiled_max=2)
    for number, xpath in enumerate(("//trade", "//price", "//note", "//feed")):
        engine.add(number, Pattern.parse(xpath))
    document = Document.parse(TRADES)
    for _ in range(2):
        assert engine.decide(document, ()).matches == (0, 1, 2, 3)
    assert engine.statistics().compiled == 2


@pytest.fixture(autouse=True)
def _hasty_switching() -> Iterator[None]:
    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    yield
    sys.setswitchinterval(interval)


def test_no_count_is_lost_when_another_thread_counts_in_between() -> None:
    residuals = Residuals(document_cost_max=0)
    document = Document.parse(b"<r><a/><a/></r>")
    second = Pattern.parse("//a[2]")

    class Interrupted(dict[Pattern, float]):
        """Costs that another thread decides a document behind, whenever they are counted."""

        def __len__(self) -> int:
            other = threading.Thread(target=residuals.verdict, args=(second, document))
            other.start()
            other.join()
            return super().__len__()

    residuals._verdicts(Interrupted({second: 1.0}), document)
    decided = residuals.decided
    assert decided == residuals.costly_documents > 1


def test_a_step_of_walking_weighs_as_much_as_python_takes_for_it() -> None:
    pattern = Pattern.parse("//a[not(.//b)]/c")
    document = Document.parse(b"<r>" + b"<a><d/></a>" * 200 + b"</r>")
    verdict, steps = ConditionWalk(document).holds(pattern.condition, 1_000_000)
    assert verdict is False
    # About 1.5 microseconds each, where libxml2 makes a visit in 5 to 10 nanoseconds.
    short = Residuals(cost_max=1, document_cost_max=140 * steps)
    assert short.verdict(pattern, document) is None
    assert Residuals(cost_max=1, document_cost_max=300 * steps).verdict(pattern, document) is False
