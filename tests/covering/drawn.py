"""Tree patterns drawn at random, from alphabets so small that many cover each other.

The same generator serves Hypothesis and plain seeded runs: it asks for nothing but a source of
random choices.
"""

from __future__ import annotations

from random import Random

from hypothesis import strategies as st

from twigcast.covering.twig import Twig
from twigcast.language.build import all_of, exists
from twigcast.language.condition import Condition, Reach


def drawn_tree(rng: Random, *, nodes_max: int = 7, names: str = "ab", stars: float = 0.35) -> str:
    """A tree pattern over ``/ // *`` and branches, as text."""
    count = rng.randint(1, nodes_max)
    parents = [rng.randrange(max(0, node - 2), node) if node else -1 for node in range(count)]
    below: dict[int, list[int]] = {}
    for node, parent in enumerate(parents):
        below.setdefault(parent, []).append(node)

    def written(node: int) -> str:
        name = "*" if rng.random() < stars else rng.choice(names)
        branches = [
            (".//" if rng.random() < 0.4 else "") + written(child) for child in below.get(node, ())
        ]
        return name + "".join(f"[{branch}]" for branch in branches)

    return rng.choice(["/", "//"]) + written(0)


def drawn_path(rng: Random, *, steps_max: int = 7, names: str = "ab", stars: float = 0.4) -> str:
    """A single path over ``/ // *``."""
    return "".join(
        rng.choice(["/", "/", "//"]) + ("*" if rng.random() < stars else rng.choice(names))
        for _ in range(rng.randint(1, steps_max))
    )


@st.composite
def trees(draw: st.DrawFn, nodes_max: int = 7) -> str:
    """A tree pattern as text."""
    return drawn_tree(draw(st.randoms(use_true_random=False)), nodes_max=nodes_max)


@st.composite
def paths(draw: st.DrawFn, steps_max: int = 7) -> str:
    """A single path as text."""
    return drawn_path(draw(st.randoms(use_true_random=False)), steps_max=steps_max)


def condition_of(twig: Twig) -> Condition:
    """The condition that a twig as written stands for."""
    wheres: list[Condition] = [all_of(tests) for tests in twig.tests]
    for node in range(twig.size - 1, 0, -1):
        label = twig.labels[node]
        assert label is not None
        reach = Reach.DESCENDANT if twig.reaches[node] else Reach.CHILD
        parent = twig.parents[node]
        wheres[parent] = all_of([exists(reach, label, wheres[node]), wheres[parent]])
    return wheres[0]
