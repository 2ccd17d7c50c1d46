"""Progress is reported now and then, and at the end of each stage."""

from __future__ import annotations

from twigcast.spark.session.progress import REPORT_EVERY, Progress, reporter


def test_a_stage_is_reported_now_and_then_and_at_its_end() -> None:
    heard: list[Progress] = []
    report = reporter(heard.append)
    total = 2 * REPORT_EVERY + 7
    for done in range(1, total + 1):
        report("documents", done, total)
    assert heard == [
        Progress("documents", done, total) for done in (REPORT_EVERY, 2 * REPORT_EVERY, total)
    ]


def test_a_total_may_be_unknown_and_nobody_has_to_listen() -> None:
    heard: list[Progress] = []
    for report in (reporter(heard.append), reporter(None)):
        for done in range(REPORT_EVERY + 1):
            report("documents", done, None)
    assert heard == [Progress("documents", done, None) for done in (0, REPORT_EVERY)]
