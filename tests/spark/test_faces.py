"""``run_batch`` and ``Pipeline.disseminate``: the same words and results; how results look."""

from __future__ import annotations

import inspect
from dataclasses import asdict
from inspect import Parameter
from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING, cast

import pytest
from lxml import etree
from pyspark.sql import SparkSession

from tests.spark.sessions import hide_session
from twigcast.spark import Pipeline, Run, Stream, pipeline, run_batch

if TYPE_CHECKING:
    from pyspark.sql.streaming.query import StreamingQuery

    from twigcast.spark.stream.stream import BatchStep

TOPOLOGY = {"links": [["hub", "east"], ["hub", "west"]]}
SUBSCRIPTIONS = [
    {"id": "dear", "xpath": "//trade[price > 100]", "broker": "east"},
    {"id": "any", "xpath": "/trade", "broker": "west"},
    {"id": "<wrong>", "xpath": "//trade[", "broker": "west"},
]
DOCUMENTS = ("<trade><price>120</price></trade>", "<trade><price>80</price></trade>")

DIFFERS = {"run", "out", "started", "seconds", "matcher_loads", "workers"}
"""What two runs over the same documents need not have in common."""


def parameters(function: object) -> dict[str, Parameter]:
    """Those of a function or method, without ``self``."""
    found = dict(inspect.signature(function).parameters)  # type: ignore[arg-type]
    found.pop("self", None)
    return found


@pytest.fixture
def feed(tmp_path: Path) -> Path:
    folder = tmp_path / "feed"
    folder.mkdir()
    for number, content in enumerate(DOCUMENTS):
        (folder / f"{number}.xml").write_text(content)
    return folder


def test_run_batch_takes_what_disseminate_takes_with_the_subscriptions_in_front() -> None:
    taken = parameters(run_batch)
    disseminate = parameters(Pipeline.disseminate)
    assert list(taken)[: 1 + len(disseminate)] == ["subscriptions", *disseminate]
    assert [taken[name] for name in disseminate] == list(disseminate.values())


def test_what_describes_a_pipeline_follows_by_name_in_its_own_order() -> None:
    taken = parameters(run_batch)
    described = parameters(Pipeline)
    assert taken["subscriptions"].annotation == described.pop("subscriptions").annotation
    assert list(taken)[-len(described) :] == list(described)
    for name, parameter in described.items():
        assert taken[name].kind is Parameter.KEYWORD_ONLY
        assert taken[name].default == parameter.default, name
        assert taken[name].annotation == parameter.annotation, name


def test_run_batch_takes_nothing_else() -> None:
    known = {*parameters(Pipeline), *parameters(Pipeline.disseminate)}
    assert set(parameters(run_batch)) == known


@pytest.mark.spark
@pytest.mark.xdist_group("spark")
def test_both_come_to_the_same_result(spark: SparkSession, feed: Path, tmp_path: Path) -> None:
    one = Pipeline(spark, TOPOLOGY, SUBSCRIPTIONS, "covering").disseminate(feed, tmp_path / "one")
    other = run_batch(
        SUBSCRIPTIONS, feed, tmp_path / "other", spark=spark, topology=TOPOLOGY, strategy="covering"
    )
    assert type(one) is type(other) is Run
    found, expected = asdict(other), asdict(one)
    assert {name: found[name] for name in found if name not in DIFFERS} == {
        name: expected[name] for name in expected if name not in DIFFERS
    }
    for name in ("deliveries", "traffic", "routes", "rejected", "dead_letters"):
        rows = [sorted(map(repr, run.table(name).collect())) for run in (one, other)]
        assert rows[0] == rows[1], name


@pytest.mark.spark
@pytest.mark.xdist_group("spark")
def test_run_batch_without_a_folder_writes_where_disseminate_would(
    spark: SparkSession, feed: Path
) -> None:
    run = run_batch(["/trade"], feed, spark=spark)
    assert Path(run.out).name.startswith("twigcast-run-")
    assert run.table("deliveries").count() == 2


@pytest.mark.spark
@pytest.mark.xdist_group("spark")
def test_a_session_that_run_batch_started_is_there_to_read_the_tables(
    spark: SparkSession, feed: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    stopped: list[SparkSession] = []
    monkeypatch.setattr(SparkSession, "stop", stopped.append)
    with monkeypatch.context() as patched:
        hide_session(patched)

        def start() -> SparkSession:
            patched.undo()
            return spark

        patched.setattr(pipeline, "start_session", start)
        run = run_batch(["/trade"], feed, tmp_path / "out")
    assert stopped == []
    assert run.table("deliveries").count() == 2


def test_a_pipeline_needs_no_more_than_subscriptions(monkeypatch: pytest.MonkeyPatch) -> None:
    hide_session(monkeypatch)
    made = Pipeline(subscriptions={"any": "/trade"})
    assert repr(made) == "<Pipeline: 1 subscription, one broker, best, plan fused, not compiled>"


@pytest.mark.spark
@pytest.mark.xdist_group("spark")
def test_a_pipeline_and_its_run_tell_what_they_are(
    spark: SparkSession, feed: Path, tmp_path: Path
) -> None:
    made = Pipeline(spark, TOPOLOGY, SUBSCRIPTIONS, "covering")
    run = made.disseminate(feed, tmp_path / "out")
    engine = run.engine
    assert repr(made) == (
        f"<Pipeline: 3 subscriptions, 3 brokers, covering, plan fused, compiled, engine {engine}>"
    )
    assert repr(run) == (
        "<Run: 2 documents, 3 deliveries, 3 crossings, 0 dead letters, 1 rejected, "
        f"tables in {tmp_path / 'out'}>"
    )
    rows = table_of(run._repr_html_())
    assert rows["documents"] == "2"
    assert rows["deliveries"] == "3"
    assert rows["rejected"] == "1"
    assert rows["out"] == str(tmp_path / "out")
    assert rows["seconds"].startswith("subscriptions 0.")
    assert table_of(made._repr_html_())["strategy"] == "covering"


@pytest.mark.parametrize(("is_active", "state"), [(True, "running"), (False, "ended")])
def test_a_stream_tells_whether_it_runs(is_active: bool, state: str) -> None:  # noqa: FBT001
    query, step = SimpleNamespace(isActive=is_active), SimpleNamespace(out="tables/")
    stream = Stream(cast("StreamingQuery", query), cast("BatchStep", step))
    assert repr(stream) == f"<Stream: {state}, tables in tables/>"


def table_of(html: str) -> dict[str, str]:
    """A table of two columns; its texts are escaped, or this is no XML."""
    return {row[0].text or "": row[1].text or "" for row in etree.fromstring(html).iter("tr")}
