"""The same events give the same effects: in another process, and whatever Python's hashes are."""

from __future__ import annotations

import hashlib
import os
import subprocess
import sys
from pathlib import Path
from random import Random

import pytest

from tests.routing.networks import random_play
from tests.routing.vocabulary import STRATEGIES
from twigcast.routing.broker.router import Router

pytestmark = pytest.mark.filterwarnings("ignore::twigcast.errors.FloodingWarning")
"""Networks are drawn with publishers who have advertised nothing, and flooding is right there."""

ROOT = Path(__file__).resolve().parents[2]


def digest(seed: int) -> str:
    """Of every event and every effect of a few plays, in order, as they print."""
    seen = hashlib.sha256()
    plain = Router.handle

    def watched(router: Router, event: object, *, now: float) -> object:
        effects = plain(router, event, now=now)  # type: ignore[arg-type]
        seen.update(repr((router.name, event, now, effects)).encode())
        return effects

    Router.handle = watched  # type: ignore[method-assign,assignment]
    try:
        for strategy in STRATEGIES:
            rng = Random(f"{seed}, {strategy}")
            random_play(rng, strategies=[strategy], moves=15, brokers_max=5)
    finally:
        Router.handle = plain  # type: ignore[method-assign]
    return seen.hexdigest()


def elsewhere(seed: int, hash_seed: str) -> str:
    """The digest as another process finds it."""
    script = f"from tests.routing.test_determinism import digest; print(digest({seed}))"
    done = subprocess.run(
        [sys.executable, "-c", script],
        cwd=ROOT,
        env={**os.environ, "PYTHONHASHSEED": hash_seed, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        check=True,
    )
    return done.stdout.strip()


def test_another_process_with_other_hashes_does_the_same() -> None:
    assert elsewhere(7, "1") == elsewhere(7, "2")


def test_a_second_life_is_like_the_first() -> None:
    assert digest(11) == digest(11)


def test_another_history_has_another_digest() -> None:
    assert digest(1) != digest(2)
