"""A document in a file."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.library.prices import FEED


@pytest.fixture
def feed(tmp_path: Path) -> Path:
    path = tmp_path / "feed.xml"
    path.write_bytes(FEED)
    return path
