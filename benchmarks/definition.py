"""Definitions: one measurement each, with everything that must come out of it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from benchmarks.bars import Bar

TURNS = 5
"""Enough for a median that one disturbed run does not move."""

FEWER_TURNS = 3
"""For what takes minutes."""

SETS = {
    "paths": "d6_w20_s20",
    "values": "d6_w20_s20_p1",
    "branches": "d6_w20_s20_np20",
}
"""The shared sets, by what is in them."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Definition:
    """One measurement: the same documents and expressions for every engine.

    ``kind`` names the module that measures; ``workload`` is explained in ``workloads.py``.
    Engines in ``sampled`` get only the first documents, as many as stand there (where it is
    subscribing that is measured, the first subscriptions); the *sample* is what all engines have
    got. A ``heavy`` definition takes minutes, and ``--quick`` leaves it out. ``mapped`` has
    ``native`` leave its index in a file. One that ``stands_in`` runs where the shared corpus is
    absent, or when it is named. ``brokers`` is the size of the network, where there is one, and
    ``distinct`` how many different subscriptions there are in all of it, if all are chosen from so
    many.
    """

    name: str
    kind: str = "race"
    workload: str
    seed: int = 0
    subscriptions: int
    documents: int
    engines: tuple[str, ...]
    sampled: Mapping[str, int] = field(default_factory=dict)
    expected: Mapping[str, int] = field(default_factory=dict)
    bars: tuple[Bar, ...] = ()
    turns: int = TURNS
    heavy: bool = False
    mapped: bool = False
    stands_in: bool = False
    brokers: int = 0
    distinct: int = 0

    @property
    def is_matched(self) -> bool:
        """Whether documents are matched; else they stand for patterns to be searched for."""
        return self.kind not in {"covering", "tree_sizes"}

    @property
    def sample(self) -> int:
        """So many documents, the first ones, every engine gets."""
        return min(self.sampled.values(), default=self.documents)

    def documents_for(self, engine: str) -> int:
        """How many documents an engine gets."""
        return self.sampled.get(engine, self.documents)
