"""What every test may count on: corpora, deep tests, Hypothesis' profiles, one Spark session.

Corpora too large or too foreign for this repository lie beside it, in ``../shared``. A test asks
for one by ``shared_path("data/xpath")`` and is skipped, by name, on a machine without it.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from hypothesis import HealthCheck, settings
from hypothesis.configuration import set_hypothesis_home_dir

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

ROOT = Path(__file__).resolve().parents[1]
SHARED = ROOT.parent / "shared"

# A slow example means a busy machine, not a wrong program: no deadline, no complaint.
_PATIENT = settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])

# On CI one commit must have one verdict, so the examples there are fixed; at a desk each run
# draws new ones, and what fails is remembered below .pytest_cache and tried first next time.
settings.register_profile("quick", _PATIENT, max_examples=80, derandomize="CI" in os.environ)
settings.register_profile("deep", _PATIENT, max_examples=2_000, print_blob=True)


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--deep", action="store_true", help="run the long tests too, and draw many more examples"
    )


def pytest_configure(config: pytest.Config) -> None:
    # Spark's workers import what tests share, whichever test starts the session and wherever.
    found = os.environ.get("PYTHONPATH")
    os.environ["PYTHONPATH"] = os.pathsep.join([str(ROOT), *([found] if found else [])])
    set_hypothesis_home_dir(ROOT / ".pytest_cache" / "hypothesis")
    if config.getoption("--hypothesis-profile", None) is None:
        settings.load_profile("deep" if config.getoption("--deep") else "quick")


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    if config.getoption("--deep"):
        return
    for item in items:
        if item.get_closest_marker("deep"):
            item.add_marker(pytest.mark.skip(reason="deep test: runs with --deep"))


@pytest.fixture(scope="session")
def shared_path() -> Callable[[str], Path]:
    """A function from a path below ``../shared`` to where it lies; skips the test when absent."""

    def locate(relative: str) -> Path:
        path = SHARED / relative
        if not path.exists():
            pytest.skip(f"shared corpus not found: ../shared/{relative}")
        return path

    return locate


@pytest.fixture
def without_kernel(monkeypatch: pytest.MonkeyPatch) -> None:
    """Matchers as on a machine without the kernel."""
    monkeypatch.setattr("twigcast.matching.engines.native.AVAILABLE", False)
    monkeypatch.setattr("twigcast.matching.matcher.AVAILABLE", False)


@pytest.fixture(scope="session")
def shared() -> Path:
    """The folder of shared corpora itself."""
    if not SHARED.is_dir():
        pytest.skip("shared corpus not found: ../shared")
    return SHARED


@pytest.fixture(scope="session")
def spark() -> Iterator[SparkSession]:
    """An embedded session with two cores and two tries for a task, quick to start.

    It is made when the first test asks for it, and ``start_session`` hands it out again.
    """
    from twigcast.spark import start_session

    session = start_session("local[2,2]", quick=True)
    yield session
    session.stop()
