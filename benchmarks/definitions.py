"""What is measured: engines, workload, sizes, and the number of matches that must come out.

The expected numbers are part of a definition, not computed by the run: those of the ``nitf``
sets were found by libxml2 long before this project, those of ``news`` by lxml one by one when the
definition was written. A run whose engines find another number fails.
"""

from __future__ import annotations

from dataclasses import dataclass

FLOOR = "parse"
"""The engine that only parses the documents: nobody who matches with lxml can be faster."""

IN_PROCESS = (FLOOR, "one by one", "twigcast lxml")
ON_SPARK = (
    "spark parse",
    "spark xpath_boolean",
    "spark one by one",
    "spark twigcast_match",
    "spark twigcast run",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Definition:
    """One race: the same documents and expressions for every engine.

    ``workload`` is ``news`` (our own, drawn with ``seed``) or ``nitf/SET``, a set of the shared
    corpus of which the first ``subscriptions`` expressions and ``documents`` documents are taken.
    """

    name: str
    workload: str
    seed: int = 0
    subscriptions: int
    documents: int
    engines: tuple[str, ...] = IN_PROCESS
    expected: int

    @property
    def floor(self) -> str:
        """The engine the others are held against."""
        return self.engines[0]


DEFINITIONS = (
    Definition(
        name="news-1k",
        workload="news",
        seed=1,
        subscriptions=1_000,
        documents=100,
        expected=15_990,
    ),
    Definition(
        name="nitf-paths-1k",
        workload="nitf/d6_w20_s20",
        subscriptions=1_000,
        documents=100,
        expected=26_907,
    ),
    Definition(
        name="nitf-values-1k",
        workload="nitf/d6_w20_s20_p1",
        subscriptions=1_000,
        documents=100,
        expected=990,
    ),
    Definition(
        name="nitf-branches-1k",
        workload="nitf/d6_w20_s20_np20",
        subscriptions=1_000,
        documents=100,
        expected=22_137,
    ),
    Definition(
        name="nitf-paths-10k",
        workload="nitf/d6_w20_s20",
        subscriptions=10_000,
        documents=50,
        expected=91_914,
    ),
    Definition(
        name="news-spark-100",
        workload="news",
        seed=1,
        subscriptions=100,
        documents=100,
        engines=ON_SPARK,
        expected=2_664,
    ),
)


def by_name(name: str) -> Definition:
    """The definition of that name; a KeyError that lists the names when there is none."""
    for definition in DEFINITIONS:
        if definition.name == name:
            return definition
    names = ", ".join(definition.name for definition in DEFINITIONS)
    raise KeyError(f"no benchmark is called {name!r}; there are {names}")
