"""The README's lines for Spark users run as they stand."""

from __future__ import annotations

from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from tools.readme import FEED_TABLE, examples, write_files

pytestmark = [pytest.mark.spark, pytest.mark.xdist_group("spark")]


@pytest.mark.usefixtures("spark")
def test_the_lines_for_a_network_tell_what_crossed_its_links(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    write_files(tmp_path)
    (lines,) = (one.code for one in examples() if "import Pipeline" in one.code)
    exec(compile(lines, "README.md", "exec"), {})  # noqa: S102
    printed = capfd.readouterr().out
    assert "3 deliveries, 5 crossings of links, 0 needless" in printed
    rows = {tuple(line.split()) for line in printed.replace("|", " ").splitlines()}
    assert {("oslo", "2", "1"), ("rome", "2", "2")} <= rows


def test_the_lines_for_a_column_show_who_asked(
    spark: SparkSession,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capfd: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    exec(FEED_TABLE, {})  # noqa: S102
    (lines,) = (one.code for one in examples() if "import matches" in one.code)
    lines = lines.replace('"feed.parquet"', f'"{(tmp_path / "feed.parquet").as_uri()}"')
    exec(compile(lines, "README.md", "exec"), {})  # noqa: S102
    assert "[urgent, expensive]" in capfd.readouterr().out
