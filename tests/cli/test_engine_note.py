"""What is said of a slow engine."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from tests.cli.conftest import Twigcast


pytestmark = pytest.mark.usefixtures("shop")


def test_without_the_kernel_one_line_says_how_much_slower_it_is_and_what_to_do(
    twigcast: Twigcast, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("twigcast.matching.engines.native.AVAILABLE", False)
    monkeypatch.setattr("twigcast.matching.matcher.AVAILABLE", False)
    told, summary = twigcast("match", "subs.csv", "good.xml").stderr.splitlines()
    assert told.startswith("engine streaming, 30 to 300 times slower")
    assert told.endswith("pip install ./kernel in a checkout of Twigcast")
    assert "1 document" in summary


def test_who_asks_for_an_engine_by_name_is_told_nothing(
    twigcast: Twigcast, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("twigcast.matching.engines.native.AVAILABLE", False)
    assert "slower" not in twigcast("match", "subs.csv", "good.xml", "--engine", "lxml").stderr
