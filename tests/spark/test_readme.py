"""The README's lines for Spark users run as they stand."""

from __future__ import annotations

from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from tests.test_readme import blocks

pytestmark = [pytest.mark.spark, pytest.mark.xdist_group("spark")]


@pytest.mark.usefixtures("spark")
def test_the_lines_for_a_network_tell_what_crossed_its_links(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "feed").mkdir()
    (tmp_path / "feed" / "dear.xml").write_text("<trade><price>120</price></trade>")
    (tmp_path / "feed" / "cheap.xml").write_text("<trade><price>80</price></trade>")
    (tmp_path / "subscriptions.csv").write_text(
        "id,broker,xpath\ndear,oslo,//trade[price > 100]\nany,rome,/trade\n"
    )
    (tmp_path / "offices.toml").write_text(
        'links = [["london", "berlin"], ["berlin", "oslo"], ["berlin", "rome"]]'
    )
    (lines,) = (block for block in blocks("python") if "import Pipeline" in block)
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
    content = "<feed><trade urgent='1'><price>120</price></trade></feed>"
    rows = spark.createDataFrame([(1, content)], ["id", "content"])
    rows.write.parquet((tmp_path / "feed.parquet").as_uri())
    (lines,) = (block for block in blocks("python") if "import matches" in block)
    lines = lines.replace('"feed.parquet"', f'"{(tmp_path / "feed.parquet").as_uri()}"')
    exec(compile(lines, "README.md", "exec"), {})  # noqa: S102
    assert "[urgent, expensive]" in capfd.readouterr().out
