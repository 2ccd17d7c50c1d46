"""The core of what is done on Spark holds with the oldest pyspark that we work with, too.

Python and all other packages stay as they are: the other pyspark lies in a folder of the user's
cache, which comes first on the path, also for whatever is started meanwhile. It is installed there
once; where it cannot be had, the test is skipped by name.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

import pytest

from twigcast.spark.session.java import cache_folder

OLDEST = "4.0.0"
PACKAGES = (f"pyspark=={OLDEST}", "py4j==0.10.9.9")

CORE = (
    "tests/spark/plans",
    "tests/spark/session/test_compatibility.py",
    "tests/spark/session/test_listing.py",
    "tests/spark/session/test_session.py",
    "tests/spark/storage",
    "tests/spark/stream",
    "tests/spark/test_cluster.py",
    "tests/spark/test_column.py",
    "tests/spark/test_connect.py",
    "tests/spark/test_pipeline.py",
    "tests/spark/test_same_answers.py",
)

INSTALL_SECONDS_MAX = 1800
"""It took 90 seconds; 430 MB have to be fetched."""

TESTS_SECONDS_MAX = 5400
"""They took 20 minutes on two cores that others used, too."""

ROOT = Path(__file__).resolve().parents[2]

pytestmark = [pytest.mark.spark, pytest.mark.xdist_group("java processes"), pytest.mark.deep]


@pytest.fixture(scope="module")
def with_oldest() -> Mapping[str, str]:
    """The environment in which Python finds the oldest pyspark."""
    folder = cache_folder() / "pyspark" / OLDEST
    if not folder.is_dir():
        unfinished = folder.with_name(f"{OLDEST}.{os.getpid()}.tmp")
        pip = [sys.executable, "-m", "pip", "install", "--quiet", "--no-deps"]
        try:
            subprocess.run(
                [*pip, "--target", unfinished, *PACKAGES],
                check=True,
                capture_output=True,
                timeout=INSTALL_SECONDS_MAX,
            )
            unfinished.rename(folder)
        except (subprocess.SubprocessError, OSError):
            shutil.rmtree(unfinished, ignore_errors=True)
            if not folder.is_dir():  # Another process may have been quicker.
                pytest.skip(f"cannot be had here: {' '.join(PACKAGES)}")
    path = os.pathsep.join([str(folder), os.environ["PYTHONPATH"]])
    return {**os.environ, "PYTHONPATH": path}


@pytest.mark.timeout(INSTALL_SECONDS_MAX + TESTS_SECONDS_MAX)
def test_the_core_holds_with_the_oldest_pyspark(with_oldest: Mapping[str, str]) -> None:
    asked = [sys.executable, "-c", "import pyspark; print(pyspark.__version__)"]
    assert subprocess.check_output(asked, env=with_oldest, text=True).strip() == OLDEST
    # pyspark 4.0 leaves it to Python to close its sockets.
    warnings = ["-W", "ignore:unclosed <socket:ResourceWarning"]
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-n", "0", *warnings, *CORE],
        check=False,
        capture_output=True,
        cwd=ROOT,
        env=with_oldest,
        text=True,
        timeout=TESTS_SECONDS_MAX,
    )
    assert done.returncode == 0, done.stdout[-20_000:]
