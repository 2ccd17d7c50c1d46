"""The notebook runs from top to bottom as it stands, and carries no outputs."""

from __future__ import annotations

import json
import tempfile
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from tests.docs.pages import ROOT

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

NOTEBOOK = ROOT / "examples" / "pipeline.ipynb"


def _cells(kind: str) -> list[dict[str, Any]]:
    cells = json.loads(NOTEBOOK.read_text(encoding="utf-8"))["cells"]
    return [cell for cell in cells if cell["cell_type"] == kind]


def test_it_is_a_notebook_without_outputs() -> None:
    notebook = json.loads(NOTEBOOK.read_text(encoding="utf-8"))
    assert (notebook["nbformat"], notebook["nbformat_minor"]) == (4, 5)
    assert notebook["metadata"]["kernelspec"]["name"] == "python3"
    assert len({cell["id"] for cell in notebook["cells"]}) == len(notebook["cells"])
    assert all(not cell["outputs"] and cell["execution_count"] is None for cell in _cells("code"))


def test_the_pages_it_names_are_there() -> None:
    words = "".join("".join(cell["source"]) for cell in _cells("markdown"))
    pages = [word.strip("`.,;:") for word in words.split() if "docs/" in word]
    assert "docs/cluster.md" in pages
    assert all((ROOT / page).exists() for page in pages)


@pytest.mark.spark
@pytest.mark.xdist_group("spark")
@pytest.mark.skipif(find_spec("pyspark") is None, reason="the extra spark is not installed")
def test_it_runs_from_top_to_bottom(
    request: pytest.FixtureRequest,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capfd: pytest.CaptureFixture[str],
) -> None:
    spark: SparkSession = request.getfixturevalue("spark")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    names: dict[str, Any] = {"__name__": "__main__"}
    for cell in _cells("code"):
        exec(compile("".join(cell["source"]), cell["id"], "exec"), names)  # noqa: S102
    assert names["spark"] is spark
    flooding, *others = names["compared"]
    assert {found[1] for found in others} == {flooding[1], names["run"].deliveries}
    assert all(found[2] <= flooding[2] for found in others)
    assert [row.documents for row in names["metrics"].orderBy("batch").collect()] == [20, 10]
    assert [row.error for row in names["table"].collect()] == [None] * 6
    assert "has a headline" in capfd.readouterr().out
    assert list(tmp_path.glob("twigcast-notebook-*"))
