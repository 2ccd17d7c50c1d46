"""What a broker says to a batch of visits."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from types import SimpleNamespace

import pytest

from tests.routing.networks import line
from tests.spark.worker.hops.stage import (
    Document,
    Stage,
)
from twigcast.language import Pattern
from twigcast.matching import Matcher
from twigcast.routing.strategy import advertised, covering
from twigcast.spark.worker.hops import tables as hop_tables

ENCODINGS = ("UTF-16", "US-ASCII", "ISO-8859-1", "UTF-8")


@pytest.mark.parametrize("encoding", ENCODINGS)
def test_text_is_held_to_what_is_advertised_whatever_it_declares(
    encoding: str, tmp_path: Path
) -> None:
    asked = [("B2", Pattern.parse("/a[b = 'nobody has this']"))]
    stage = Stage(tmp_path, line(2), asked, advertised(), {"B1": 0})
    declared = f'<?xml version="1.0" encoding="{encoding}"?>'
    for plan in (stage.fused, stage.hops):
        assert plan([("kept", f"{declared}<a><b>é</b></a>", None)]).traffic == {}
        assert plan([("departs", f"{declared}<a><z>é</z></a>", None)]).traffic.keys() == {0}


def test_an_undecided_pair_is_a_dead_letter_and_its_document_goes_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    costly = Pattern.parse("count(//*[count(//*) > 1]) > 1")
    stage = Stage(tmp_path, line(3), [("B2", costly), ("B3", costly)], covering())
    stage.matcher = Matcher(residual_cost_max=10)
    for position, pattern in enumerate(stage.patterns):
        stage.matcher.add(position, pattern)
    frugal = partial(Matcher.from_buffer, residual_cost_max=10)
    monkeypatch.setattr(hop_tables, "Matcher", SimpleNamespace(from_buffer=frugal))
    document: Document = ("d", b"<a>" + b"<b/>" * 100 + b"</a>", None)
    expected = stage.fused([document])
    assert [row[1:3] for row in sorted(expected.dead_letters)] == [("0", "match"), ("1", "match")]
    assert len(expected.traffic) == 2
    assert stage.hops([document]) == expected
