"""The plug-in of strategies that annotate documents."""

from __future__ import annotations

import pytest

from twigcast import UsageError
from twigcast.routing import STRATEGIES, Router, piggyback
from twigcast.routing.piggyback.plug_in import Piggybacking, plug_in_for
from twigcast.routing.plug_in import PlugIn
from twigcast.routing.strategy import strategy


@pytest.mark.parametrize("name", STRATEGIES)
def test_only_what_annotates_has_a_plug_in_of_its_own(name: str) -> None:
    made = plug_in_for(strategy(name), engine="lxml")
    annotates = strategy(name).protocol != "none"
    assert type(made) is (Piggybacking if annotates else PlugIn)


def test_there_is_nothing_to_turn_from_without_annotations() -> None:
    with pytest.raises(UsageError, match="there is nothing to turn from"):
        Router("b", "covering", engine="lxml").switch_to(piggyback("eager"))
