"""One line for users of the slower engine: how much slower it is, and what to do."""

from __future__ import annotations

from typing import Final

SLOWER: Final = "30 to 300 times slower than with the kernel (1,000 to 100,000 subscriptions)"
"""CPU time per document of ``streaming`` over that of ``native``, by the table in README.md."""

ADVICE: Final = "to have it, where Rust is: pip install ./kernel in a checkout of Twigcast"


def slow_engine() -> str | None:
    """The note to write if the engine that ``auto`` takes is the slow one."""
    from twigcast.matching.engines.native import AVAILABLE

    return None if AVAILABLE else f"engine streaming, {SLOWER}; {ADVICE}"
