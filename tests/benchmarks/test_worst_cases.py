"""The kind about the hardest expressions, on documents as small as can be."""

from __future__ import annotations

import pytest
from lxml import etree

from benchmarks.hard_cases import CASES, Case, flat
from benchmarks.worst_cases import CHECKED, measured_case
from tests.engines import NATIVE

pytestmark = NATIVE

QUADRATIC = Case(("//a[count(preceding::*) = count(following::*) + 0.5]",), flat, (10, 40, 160))


def test_steps_tell_how_a_case_grows() -> None:
    run = measured_case("counts", QUADRATIC)
    assert run.counts == {"differences": 0, "counts": 0}
    assert run.figures["undecided"] == 0
    assert run.figures["size_3_steps"] > run.figures["size_2_steps"] > 0
    assert run.figures["growth"] == pytest.approx(2, abs=0.2)


def test_what_matches_is_counted() -> None:
    assert measured_case("all", Case(("//a", "//a[2 * b = 8]"), flat, (5,))).counts["all"] == 2


def test_another_answer_than_that_of_libxml2_is_a_difference(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    right = etree.fromstring
    monkeypatch.setattr(etree, "fromstring", lambda _: right(b"<r><a/></r>"))
    assert measured_case("none", Case(("//a/b",), flat, ())).counts == {"differences": 1, "none": 0}


@pytest.mark.parametrize("name", CASES)
def test_every_case_is_one_that_libxml2_can_be_asked_about(name: str) -> None:
    case = CASES[name]
    small = Case(case.expressions, case.make, (CHECKED,))
    run = measured_case(name, small)
    assert run.counts["differences"] == 0
    assert run.figures["undecided"] == 0
