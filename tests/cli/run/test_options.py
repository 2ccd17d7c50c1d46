"""Every option of ``twigcast run`` reaches the pipeline, or is refused in a sentence."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.cli.run.runs import NEEDED

if TYPE_CHECKING:
    from tests.cli.conftest import Twigcast
    from tests.cli.run.conftest import Asked


pytest.importorskip("pyspark")


def test_every_option_reaches_the_pipeline(
    twigcast: Twigcast, asked: Asked, tmp_path: Path
) -> None:
    (tmp_path / "other").mkdir()
    options = "--format csv --option sep=; --content-column xml --document-column name"
    more = "--files *.nitf --partitions 3 --overwrite --engine lxml --publications other"
    assert twigcast("run", *NEEDED, *options.split(), *more.split()).exit_code == 0
    assert list(asked.source.source) == ["feed", "other"]
    assert (asked.source.format, asked.source.options) == ("csv", {"sep": ";"})
    assert (asked.source.content_column, asked.source.document_column) == ("xml", "name")
    assert list(asked.source.patterns) == ["*.nitf"]
    assert asked.how == {"partitions": 3, "overwrite": True}
    assert asked.made == (None, None, "subs.csv", "best")
    assert (asked.chosen["engine"], asked.chosen["plan"], asked.sessions) == ("lxml", "fused", [])


def test_every_option_of_the_network_reaches_the_pipeline(
    twigcast: Twigcast, asked: Asked, tmp_path: Path
) -> None:
    (tmp_path / "line.toml").write_text('links = [["north", "hub"], ["hub", "south"]]')
    network = "--topology line.toml --strategy advertised --plan hops --origin hub --shards 1"
    promises = "--advertise north=a.dtd --advertise hub=b.dtd --advertise north=c.dtd"
    words = (*network.split(), *promises.split(), "--origin-column at")
    assert twigcast("run", *NEEDED, *words[:-1], *words[-1].split()).exit_code == 0
    _, tree, _, strategy = asked.made
    assert (tree.brokers, strategy) == (("north", "hub", "south"), "advertised")
    assert asked.chosen["advertisements"] == {"north": ["a.dtd", "c.dtd"], "hub": ["b.dtd"]}
    assert (asked.chosen["plan"], asked.chosen["origin"]) == ("hops", "hub")
    assert asked.source.origin_column == "at"


def test_a_master_and_settings_are_where_the_session_starts(
    twigcast: Twigcast, asked: Asked
) -> None:
    words = ("--master", "spark://there:7077", "--setting", "spark.executor.memory=8g")
    assert twigcast("run", *NEEDED, *words).exit_code == 0
    assert asked.sessions == [("spark://there:7077", {"spark.executor.memory": "8g"})]


@pytest.mark.parametrize("missing", [0, 2, 4])
def test_the_three_places_must_be_given(twigcast: Twigcast, missing: int) -> None:
    assert twigcast("run", *NEEDED[:missing], *NEEDED[missing + 2 :]).exit_code == 2


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        ("--option sep", "--option takes KEY=VALUE, such as header=true, not 'sep'"),
        ("--setting memory", "--setting takes KEY=VALUE, not 'memory'"),
        ("--strategy covering", "--strategy is about a network of brokers: add --topology FILE"),
        ("--plan hops", "--plan hops is about a network of brokers: add --topology FILE"),
        ("--origin hub", "--origin is about a network of brokers: add --topology FILE"),
        ("--advertise a=b", "--advertise is about a network of brokers: add --topology FILE"),
        ("--checkpoint c", "--checkpoint is for streams: add --stream"),
        ("--topic-out t", "--topic-out is for streams: add --stream"),
        ("--every 0", "--every is for streams: add --stream"),
        ("--stream", "--stream needs --checkpoint FOLDER, to know how far it has come"),
        ("--stream --checkpoint c --topic-out t", "topics need --kafka SERVERS, such as localhost"),
        (
            "--stream --checkpoint c --kafka k",
            "--kafka needs --topic-in NAME, --topic-out NAME, or",
        ),
        ("--stream --checkpoint c --overwrite", "--overwrite is not for streams, which go on"),
        ("--topic-in t", "documents come from --publications or from --topic-in, not from both"),
    ],
)
@pytest.mark.usefixtures("asked")
def test_what_does_not_go_together_is_one_sentence(
    twigcast: Twigcast, words: str, sentence: str
) -> None:
    result = twigcast("run", *NEEDED, *words.split())
    assert result.exit_code == 2
    assert result.stderr.startswith(f"twigcast: {sentence}")
    assert result.stderr.count("\n") == 1
