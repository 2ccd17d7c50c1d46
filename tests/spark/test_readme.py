"""The README's lines for Spark users run as they stand."""

from __future__ import annotations

from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from tests.test_readme import blocks


@pytest.mark.spark
@pytest.mark.xdist_group("spark")
def test_the_lines_for_spark_show_who_asked(
    spark: SparkSession,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capfd: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    content = "<feed><trade urgent='1'><price>120</price></trade></feed>"
    rows = spark.createDataFrame([(1, content)], ["id", "content"])
    rows.write.parquet((tmp_path / "feed.parquet").as_uri())
    (lines,) = (block for block in blocks("python") if "twigcast.spark" in block)
    lines = lines.replace('"feed.parquet"', f'"{(tmp_path / "feed.parquet").as_uri()}"')
    exec(compile(lines, "README.md", "exec"), {})  # noqa: S102
    assert "[urgent, expensive]" in capfd.readouterr().out
