"""Every engine, for tests that hold for all; one that is not installed is skipped by name."""

from __future__ import annotations

from typing import Final

import pytest

from twigcast.matching import ENGINES
from twigcast.matching.engines.native import AVAILABLE

NATIVE: Final = pytest.mark.skipif(
    not AVAILABLE, reason="the kernel (the package twigcast-kernel) is not built"
)

EVERY_ENGINE: Final = [
    pytest.param(name, marks=NATIVE) if name == "native" else pytest.param(name)
    for name in ENGINES
    if name != "auto"
]
