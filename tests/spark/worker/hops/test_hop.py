"""Workers bring documents from broker to broker, and the tables are those of the plan ``fused``.

Here the hops are made in this process, one task after the other, shared out as the driver does.
"""

from __future__ import annotations

from collections.abc import Iterator
from hashlib import sha256
from pathlib import Path
from random import Random
from typing import Any

import pyarrow as pa
import pytest

from tests.routing.networks import line
from tests.routing.vocabulary import STRATEGIES, annotating
from tests.spark.worker.hops.stage import (
    SCHEMAS,
    Document,
    Stage,
    batches,
    drawn_stage,
)
from twigcast.language import Pattern
from twigcast.routing.strategy import Strategy, covering, flooding, piggyback
from twigcast.spark.worker.hops import hop as hop_worker
from twigcast.spark.worker.hops.decisions import BatchDecision, Visited, answers_to
from twigcast.spark.worker.hops.hop import (
    HopTaskOutput,
)

ANNOTATING = [
    *annotating("lazy", "+s-sd"),
    *annotating("eager", "+s"),
    piggyback("adaptive", "+sd-sd"),
]


@pytest.mark.parametrize("strategy", [*STRATEGIES, *ANNOTATING], ids=str)
def test_both_plans_give_the_same_under(strategy: Strategy, tmp_path: Path) -> None:
    rng = Random(f"hops, {strategy}")
    stage, documents = drawn_stage(tmp_path, strategy, rng)
    expected = stage.fused(documents)
    assert expected.deliveries
    assert expected.dead_letters
    for tasks in (1, 3):
        assert stage.hops(documents, tasks) == expected


ENCODINGS = ("UTF-16", "US-ASCII", "ISO-8859-1", "UTF-8")


@pytest.mark.parametrize("strategy", [covering(), *ANNOTATING], ids=str)
def test_text_was_decoded_already_whatever_it_declares(strategy: Strategy, tmp_path: Path) -> None:
    asked = [("B3", Pattern.parse(each)) for each in ("/a[b = 'é']", "//b", "/a[b = 'Ã©']")]
    stage = Stage(tmp_path, line(3), asked, strategy)
    documents: list[Document] = []
    for encoding in ENCODINGS:
        text = f'<?xml version="1.0" encoding="{encoding}"?><a><b>é</b></a>'
        encoded = text.encode(encoding, "xmlcharrefreplace")
        documents += [(f"{encoding}, decoded", text, None), (encoding, encoded, None)]
    documents.sort(key=lambda document: isinstance(document[1], str))
    expected = stage.fused(documents, 2)
    assert not expected.dead_letters
    received = {(row[0], row[2]) for row in expected.deliveries}
    assert received == {(name, which) for name, _, _ in documents for which in ("0", "1")}
    hashes = {row[0]: row[1] for row in expected.deliveries}
    for name, content, _ in documents:
        published = content.encode() if isinstance(content, str) else content
        assert hashes[name] == sha256(published or b"").hexdigest()
    assert stage.hops(documents, 2) == expected


def test_what_nobody_foresaw_costs_a_document_the_rest_of_its_way(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked = [(f"B{number}", Pattern.parse("//a")) for number in (1, 2, 3)]
    stage = Stage(tmp_path, line(3), asked, covering())
    good: list[Document] = [(f"d{number}", b"<a/>", None) for number in range(5)]
    expected = stage.hops(good)

    def fails(visited: Visited, broker: Any) -> BatchDecision:  # noqa: ANN401
        if visited.broker == 1 and b"<a>poison</a>" in visited.documents["content"].to_pylist():
            raise KeyError("poison")
        return answers_to(visited, broker)

    monkeypatch.setattr(hop_worker, "answers_to", fails)
    found = stage.hops([*good[:3], ("poison", b"<a>poison</a>", None), *good[3:]])
    ((letter, count),) = found.dead_letters.items()
    assert (letter[0], letter[2], count) == ("poison", "internal", 1)
    assert "KeyError: 'poison'" in letter[3]
    assert sum(found.deliveries.values()) == sum(expected.deliveries.values()) + 1
    assert found.documents == 6


def test_what_a_task_that_fails_has_written_is_removed(tmp_path: Path) -> None:
    stage = Stage(tmp_path, line(2), [("B1", Pattern.parse("//a"))], flooding())

    def failing(hop: HopTaskOutput) -> Iterator[pa.RecordBatch]:
        for outcomes in stage._spooled(batches([("d", b"<a/>", None)], 1)[0], hop):
            yield outcomes
            raise OSError("no space left on the device")

    before = sorted(tmp_path.rglob("*.arrow"))
    with pytest.raises(OSError, match="no space left"):
        stage._hop(failing)
    left = set(tmp_path.rglob("*")) - {tmp_path / table for table in SCHEMAS} - set(before)
    assert {path.name.partition("-")[0] for path in left} <= {"spool"}, "nothing that counts"
