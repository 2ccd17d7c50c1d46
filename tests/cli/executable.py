"""The program as an executable, and its verbs."""

from __future__ import annotations

import sys
from pathlib import Path

VERBS = (
    "match",
    "explain",
    "check",
    "covers",
    "aggregate",
    "advertise",
    "generate",
    "run",
    "compact",
    "simulate",
    "demo",
    "about",
    "doctor",
)
ALL_VERBS = [(verb,) for verb in VERBS] + [
    ("generate", what) for what in ("patterns", "documents", "topology")
]
EXECUTABLE = Path(sys.executable).with_name("twigcast")
