"""Completion in shells: names that Twigcast gives to things.

It runs when somebody presses the tab key; nothing of it is imported before.
"""

from __future__ import annotations


def complete_engine(incomplete: str) -> list[str]:
    """The engines by name."""
    from twigcast.matching.matcher import ENGINES

    return [name for name in ENGINES if name.startswith(incomplete)]


def complete_strategy(incomplete: str) -> list[str]:
    """The routing strategies by name."""
    from twigcast.routing.strategy import STRATEGIES

    return [name for name in STRATEGIES if name.startswith(incomplete)]


def complete_plan(incomplete: str) -> list[str]:
    """The plans of a run by name."""
    return [name for name in ("fused", "hops") if name.startswith(incomplete)]
