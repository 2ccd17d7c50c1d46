"""What makes a run impossible is said before Spark is started."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from tests.spark.sessions import hide_session
from twigcast.errors import FloodingWarning, UsageError
from twigcast.files import Subscription, SubscriptionFile
from twigcast.spark import Pipeline, Publications, Run, pipeline, run_batch


@pytest.fixture
def no_spark(monkeypatch: pytest.MonkeyPatch) -> None:
    """A start of Spark that fails, for mistakes that must be found before it."""

    def refuse() -> None:
        pytest.fail("Spark was started for nothing")

    monkeypatch.setattr(pipeline, "start_session", refuse)
    hide_session(monkeypatch)


Mistake = Callable[[Path], Run]


@pytest.mark.usefixtures("no_spark")
@pytest.mark.parametrize(
    ("mistake", "complaint"),
    [
        (lambda at: run_batch(at / "absent", at, at / "out"), "cannot read the subscriptions"),
        (lambda at: run_batch(["//a"], at / "absent", at / "out"), "no publications at"),
        (lambda at: run_batch(["//a"], "-", at / "out"), "standard input"),
        (lambda at: run_batch(["//a"], [at, "s3a://b/x"], at / "out"), "in another file system"),
        (lambda at: run_batch(["//a"], at, at / "file"), "cannot make the output folder"),
        (lambda at: run_batch(["//a"], at, at / "out", partitions=0), "0 partitions"),
        (lambda at: run_batch(["//a"], at, at / "out", partitions=10**10), "give 1 to 100,000"),
        (lambda at: run_batch(["//a"], at, at / "out", partitions="5"), "partitions are a whole"),  # type: ignore[arg-type]
        (lambda at: run_batch(["//a"], at, at / "out", partitions=2.5), "partitions are a whole"),  # type: ignore[arg-type]
        (lambda at: run_batch(["//a"], at, "a\0b"), "it has a zero byte"),
        (lambda at: run_batch(["//a"], at, "a\ud800b"), "it has half of a pair"),
        (lambda at: run_batch(["//a"], at, "caf\udce9"), "is no UTF-8"),
        (lambda at: run_batch(["//a"], at, ""), "is empty"),
        (lambda at: run_batch(["//a"], at, "file:out"), "is no address of a file"),
        (lambda at: run_batch(["//a"], 5, at / "out"), "source is .*, not 5"),  # type: ignore[arg-type]
        (lambda at: run_batch(["//a"], [5], at / "out"), r"source is .*, not \[5\]"),  # type: ignore[list-item]
        (lambda at: run_batch(["//a"], at, at / "done"), "holds a finished run"),
    ],
)
def test_a_mistake_is_found_before_spark_is_started(
    tmp_path: Path, mistake: Mistake, complaint: str
) -> None:
    (tmp_path / "file").write_text("")
    (tmp_path / "done").mkdir()
    (tmp_path / "done" / "_manifest").mkdir()
    (tmp_path / "done" / "_manifest" / "batch=0.json").write_text("{}")
    with pytest.raises(UsageError, match=complaint):
        mistake(tmp_path)


LINE = {"links": [["north", "south"]]}


@pytest.mark.usefixtures("no_spark")
@pytest.mark.parametrize(
    ("advertisements", "who"),
    [
        ({}, "who publishes at 'north' has advertised nothing, so under advertised"),
        ({"south": b"<!ELEMENT a EMPTY>"}, "who publishes at 'north' has advertised nothing"),
    ],
)
def test_documents_that_nobody_has_advertised_are_warned_of(
    tmp_path: Path, advertisements: dict[str, bytes], who: str
) -> None:
    given = Pipeline(None, LINE, ["//a"], "advertised", advertisements=advertisements)
    with pytest.raises(FloodingWarning, match=who):  # as a warning is an error in tests
        given.disseminate(tmp_path, tmp_path / "out")
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize(
    ("topology", "strategy", "advertisements"),
    [
        (LINE, "best", {}),
        (LINE, "advertised", {"north": b"<!ELEMENT a EMPTY>"}),
        ({"brokers": ["north"]}, "advertised", {}),
        (None, "advertised", {}),
    ],
)
def test_other_runs_flood_nothing(
    topology: dict[str, object] | None, strategy: str, advertisements: dict[str, bytes]
) -> None:
    given = Pipeline(None, topology, ["//a"], strategy, advertisements=advertisements)
    assert given.flooding_notice(Publications("feed"), remedy="advertise") is None


def test_a_table_may_say_where_its_documents_are_published() -> None:
    promised = {"south": b"<!ELEMENT a EMPTY>"}
    given = Pipeline(None, LINE, ["//a"], "advertised", advertisements=promised)
    assert given.flooding_notice(Publications("feed.parquet"), remedy="advertise") is None
    alone = Pipeline(None, LINE, ["//a"], "advertised")
    told = alone.flooding_notice(Publications("feed.parquet"), remedy="advertise")
    assert told is not None
    assert told.startswith("every publisher has advertised nothing")


def test_ids_that_differ_only_by_type_cannot_share_a_table() -> None:
    given = (Subscription(7, "//a", line=1), Subscription("7", "//b", line=2))
    file = pipeline.reject_duplicate_ids(SubscriptionFile(given))
    assert file.subscriptions == given[:1]
    assert (file.rejected[0].id, file.rejected[0].line) == ("7", 2)
    assert file.rejected[0].reason == (
        "as text the id is that of line 1, and tables hold ids as text"
    )


def test_ids_are_compared_whatever_their_lines() -> None:
    given = (Subscription(7, "//a"), Subscription("7", "//b"), Subscription(7, "//c"))
    file = pipeline.reject_duplicate_ids(SubscriptionFile(given))
    assert [item.xpath for item in file.subscriptions] == ["//a"]
    assert len(file.rejected) == 2
