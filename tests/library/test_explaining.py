"""Explaining takes documents by their paths."""

from __future__ import annotations

from pathlib import Path

import pytest

import twigcast
from tests.library.prices import FEED
from twigcast.errors import DocumentError


def test_explaining_takes_paths_and_texts(feed: Path) -> None:
    assert twigcast.explain("//price", feed).matches
    assert twigcast.explain("//price", FEED.decode()).matches
    with pytest.raises(DocumentError, match="no such file"):
        twigcast.explain("//price", "missing.xml")
