"""What makes a run impossible is said before Spark is started."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from tests.spark.sessions import hide_session
from twigcast.errors import UsageError
from twigcast.files import Subscription, SubscriptionFile
from twigcast.spark import Run, pipeline, run_batch


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
        (lambda at: run_batch(["//a"], "s3a://bucket/x", at / "out"), "binaryFile"),
        (lambda at: run_batch(["//a"], at, at / "file"), "cannot make the output folder"),
        (lambda at: run_batch(["//a"], at, at / "out", partitions=0), "0 partitions"),
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


def test_ids_that_differ_only_by_type_cannot_share_a_table() -> None:
    given = (Subscription(7, "//a", line=1), Subscription("7", "//b", line=2))
    file = pipeline.unambiguous(SubscriptionFile(given))
    assert file.subscriptions == given[:1]
    assert (file.rejected[0].id, file.rejected[0].line) == ("7", 2)
    assert file.rejected[0].reason == (
        "as text the id is that of line 1, and tables hold ids as text"
    )


def test_ids_are_compared_whatever_their_lines() -> None:
    given = (Subscription(7, "//a"), Subscription("7", "//b"), Subscription(7, "//c"))
    file = pipeline.unambiguous(SubscriptionFile(given))
    assert [item.xpath for item in file.subscriptions] == ["//a"]
    assert len(file.rejected) == 2
