"""What of a story is text, and what comes from files."""

from __future__ import annotations

import tomllib
from pathlib import Path

import pytest

from tests.simulator.stories import TREE, generated, published, subscribed
from twigcast.errors import UsageError
from twigcast.language import LIBRARY_LIMITS, Document
from twigcast.simulator import Scenario, simulate


def test_a_document_in_the_scenario_is_text_whatever_it_declares() -> None:
    document = "<?xml version='1.0' encoding='ISO-8859-1'?><a>é</a>"
    change = f'[[change]]\nat = 1\ndo = "publish"\nbroker = "b1"\ndocument = "{document}"\n'
    (_, _, event) = published(generated(TREE + "[workload]\ndocuments = 0\n" + change))[0]
    assert Document.parse(event.publication.content).tree.getroot().text == "é"


def test_a_file_that_is_too_large_for_a_document_is_not_read_to_its_end(tmp_path: Path) -> None:
    with (tmp_path / "large.xml").open("wb") as file:
        file.truncate(3 * LIBRARY_LIMITS.bytes_max)
    change = '[[change]]\nat = 1\ndo = "publish"\nbroker = "b1"\nfile = "large.xml"\n'
    (_, _, event) = published(generated(TREE + "[workload]\ndocuments = 0\n" + change, tmp_path))[0]
    assert len(event.publication.content) == LIBRARY_LIMITS.bytes_max + 1


def test_subscriptions_and_documents_come_from_files(tmp_path: Path) -> None:
    rows = ["id,subscriber,broker,xpath,namespaces", "x,ann,b3,//n:b,n=urn:n", "y,,,/a,"]
    (tmp_path / "subs.csv").write_text("\n".join(rows) + "\n")
    (tmp_path / "feed").mkdir()
    (tmp_path / "feed" / "one.xml").write_text("<a><b xmlns='urn:n'/></a>")
    (tmp_path / "feed" / "two.xml").write_text("<c>")
    text = TREE + (
        '[workload]\nsubscriptions_file = "subs.csv"\ndocuments_from = "feed"\n'
        'publishers_at = "b7"\n[[change]]\nat = 5\ndo = "unsubscribe"\nname = "x"\n'
    )
    schedule = generated(text, tmp_path)
    assert [(broker, event.subscriber) for broker, event in subscribed(schedule)] == [
        ("b3", "ann"),
        ("b1", "y"),
    ]
    names = [Path(event.publication.id).name for _, _, event in published(schedule)]
    assert names == ["one.xml", "two.xml"]
    results = simulate(
        Scenario.of(tomllib.loads(text), name="t", folder=tmp_path), schedule=schedule
    )
    assert sorted(each.subscriber for each in results.deliveries) == ["ann", "y"]
    assert [each.event for each in results.refusals] == ["Publish"]


def test_a_bad_line_of_a_subscriptions_file_is_named(tmp_path: Path) -> None:
    (tmp_path / "subs.txt").write_text("//a\n//[\n")
    with pytest.raises(UsageError, match=r"subs\.txt, line 2: pattern '//\['"):
        generated(TREE + '[workload]\nsubscriptions_file = "subs.txt"\n', tmp_path)
