"""Subscriptions compiled for a design: patterns, labels, routes. Plans are prepared from it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import pyarrow as pa

from twigcast.language import Pattern
from twigcast.spark.plans.design import Design

if TYPE_CHECKING:
    from twigcast.spark.worker.crossings import CrossingModel


@dataclass(frozen=True)
class Compilation:
    """What all plans begin with."""

    design: Design
    patterns: Sequence[Pattern | None]
    """By position, that is, by place in the file; None for what is rejected."""
    labels: pa.RecordBatch
    """Who stands behind each position."""
    routes: pa.Table
    """The rows of the table of that name."""
    crossings: CrossingModel | None
    """How links follow from answers; None for one broker."""
    behind: Sequence[Pattern]
    """The routes that stand behind the subscriptions, as the crossing model counts them."""

    def positioned(self) -> Iterator[tuple[int, Pattern]]:
        """The patterns that take part, with their positions."""
        return ((place, one) for place, one in enumerate(self.patterns) if one is not None)
