"""Tree patterns drawn at random, from alphabets so small that many cover each other.

The same generator serves Hypothesis and plain seeded runs: it asks for nothing but a source of
random choices.
"""

from __future__ import annotations

from random import Random

from hypothesis import strategies as st

from twigcast.covering.containment.twig import Twig
from twigcast.language.condition.model import Condition, Reach
from twigcast.language.condition.normal_form import all_of, exists


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


# The whole language.

_VALUES = ("1", "2", "5", "x", "xy", "")
_STEPS = ("a", "b", "*", "@x", "@*", "text()", "p:a", "*:a", "p:*", "@p:x")
ORACLE_NAMES = {"*:a": "*[local-name()='a']"}
"""How a step reads in plain XPath 1.0, where it is not the same."""


def drawn_pattern(rng: Random, *, for_oracle: bool, depth: int = 2) -> str:  # noqa: C901
    """An expression with values, connectives, namespaces and residual parts.

    The same ``rng`` draws the same one as a subscriber writes it and as libxml2 reads it.
    """

    def step(*, last: bool) -> str:
        name = rng.choice(_STEPS if last else ("a", "b", "*", "p:a", "*:a"))
        return ORACLE_NAMES.get(name, name) if for_oracle else name

    def path(levels: int) -> str:
        count = rng.choice((1, 1, 2))
        steps = [step(last=place == count - 1) for place in range(count)]
        if levels and not steps[-1].startswith(("@", "text")) and rng.random() < 0.5:
            steps[-1] += f"[{condition(levels - 1)}]"
        return rng.choice(("/", "//")).join(steps)

    def constant() -> str:
        value = rng.choice(_VALUES)
        return value if value.isdigit() and rng.random() < 0.5 else f"'{value}'"

    def condition(levels: int) -> str:
        subject = rng.choice(("", "", ".//")) + path(levels)
        match rng.choice(
            ("exists", "exists", "compare", "compare", "own", "part", "first", "rest", "join")
        ):
            case "exists":
                return subject
            case "compare":
                return f"{subject} {rng.choice(('=', '!=', '<', '<=', '>', '>='))} {constant()}"
            case "own":
                return f". {rng.choice(('=', '!=', '<', '>='))} {constant()}"
            case "part":
                return f"{rng.choice(('contains', 'starts-with'))}(., '{rng.choice('xy1')}')"
            case "first":
                return f"contains({subject}, '{rng.choice(('x', 'xy'))}')"
            case "rest":
                return rng.choice(("*[2]", "count(a) > 1", "/a/b = a", "/*/b", "../@x", "self::a"))
            case _:
                inner = condition(levels - 1) if levels else subject
                other = condition(levels - 1) if levels else "b"
                return rng.choice(
                    (f"not({inner})", f"({inner} and {other})", f"({inner} or {other})")
                )

    text = rng.choice(("/", "//")) + path(depth)
    if rng.random() < 0.2:
        text = f"{text} {rng.choice(('and', 'or', '|'))} {rng.choice(('/', '//'))}{path(1)}"
    return text


def drawn_document(rng: Random, *, depth: int = 4) -> bytes:
    """A small document in the vocabulary of :func:`drawn_pattern`."""

    def element(levels: int, scope: str = "") -> str:
        name = rng.choice(("a", "a", "b", "p:a", "c"))
        attributes = "".join(
            f' {name}="{rng.choice(_VALUES)}"' for name in ("x", "y", "p:x") if rng.random() < 0.3
        )
        inside = "".join(
            element(levels - 1) if levels and rng.random() < 0.6 else rng.choice(_VALUES)
            for _ in range(rng.randint(0, 3))
        )
        return f"<{name}{scope}{attributes}>{inside}</{name}>"

    return element(depth, ' xmlns:p="urn:p"').encode()
