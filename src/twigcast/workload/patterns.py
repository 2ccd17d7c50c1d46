"""Patterns drawn from a schema: random walks over the graph of elements, written as XPath.

A walk begins above the root. Each step goes to a child of the element it is at; with probability
``descendant`` it is written ``//`` and goes one, two, three or more levels down (each level with
half the chance of the one before); with probability ``wildcard`` the name it arrives at is written
``*``. The number of steps is drawn evenly from 1 to ``depth_max``, and a walk ends early at an
element without children. On the way it may pick up branches and value predicates::

    news → body → content → box      /news//content/*
    with a branch and a predicate    /news/body[opening//lead]/content[@words=7]/box

What the papers set:

====================  =====  ======  ======  =======  ========================================
paper                 depth  ``*``   ``//``  nested   skew, predicates
====================  =====  ======  ======  =======  ========================================
YAK 6.4               10     0.1     0.1     0        uniform; 1 value predicate on average
XNET (evaluation)     10     0.1     0.05    0.1      Zipf with θ = 1
Piggyback 6.1         8      0.1     0.1     0.2      θ = 0 or 0.5; ``//test`` added to each
Dissemination 1.6     10     varied  varied  0        distinct
YFilter's sets        6      0.2     0.2     0, 0.2   0 or 1 value predicate
====================  =====  ======  ======  =======  ========================================

``skew`` is θ: the child that a content model names at place r is chosen with a weight of 1/r^θ.

Distinct patterns are told apart by their text. Short walks are few, so the more distinct patterns
are asked for, the longer they get and the more ``*`` and ``//`` they have, here as in YFilter's
sets. Plain walks also keep falling into the same small corners of a schema (most walks over NITF
end in its head). So the more draws are repetitions, the more often a walk is *spread*: it prefers
children with many paths below them, as if drawn evenly from all paths, and once most draws are
repetitions, it also draws ``*`` and ``//`` more evenly. When even so hardly anything new turns up,
the iteration ends with an error that has the number of patterns there were.
Cost: 2 to 4 µs per draw; one draw per pattern where there are plenty, ten for the millionth
distinct pattern over NITF at depth 6.
"""

from __future__ import annotations

from bisect import bisect
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate
from math import inf
from random import Random
from typing import Final

from twigcast.errors import UsageError
from twigcast.language.dtd.schema import ElementDeclaration, Schema
from twigcast.workload.ranges import check_marker, check_whole
from twigcast.workload.vocabulary import Vocabulary

PREDICATE_KINDS: Final = ("equal", "unequal", "order", "exists", "contains", "starts")
"""The kinds of value predicates: ``@a=7``, ``@a!=7``, ``@a<7`` …, ``@a``, ``contains(@a,'riv')``,
``starts-with(@a,'riv')``. Those that do not suit the value (order of words, parts of numbers) are
replaced by ``equal``."""

_FRUITLESS_MAX: Final = 100_000
_DRAWS_PER_PATTERN_MAX: Final = 30
"""The patterns of a space are all found, for practical purposes, when 100,000 draws in a row bring
nothing new, or when it takes more than 30 draws for each pattern asked for."""

_LATEST_WEIGHT: Final = 1 / 64
"""How fast the measured share of repetitions follows the draws."""

_PATHS_MAX: Final = 1e100
"""Numbers of paths are not counted further; they grow with the depth as a power."""

_ANOTHER_LEVEL: Final = 0.5
"""The probability that ``//`` goes down one more level."""

PATTERNS_MAX: Final = 10_000_000
"""Of one call: to be distinct they are held, some 150 bytes each."""

STEPS_MAX: Final = 64
"""Steps of a pattern, and of a branch: an expression may have no more."""

LEVELS_MAX: Final = 8
"""Branches within branches: no expression may have predicates deeper inside each other."""

PREDICATES_MAX: Final = 32
"""Value predicates of a pattern: an expression may have no more."""

_ABOVE_ROOT: Final = ""
_PART_LENGTH: Final = 3
_ORDERS: Final = ("<", "<=", ">", ">=")


@dataclass(frozen=True, slots=True)
class PatternShape:
    """What patterns look like.

    ``nested`` is the probability of a branch at each step, of up to ``nested_depth`` steps, with
    branches of its own down to ``nested_levels``. ``predicates`` is the mean number of value
    predicates per pattern; a pattern whose elements have neither attributes nor text gets none.
    ``attributes`` is the share of patterns that end in an attribute, where there is one.
    With ``distinct`` no two are written the same, and ``marker`` adds ``[//marker]`` to
    each pattern (Piggyback 6.1). UsageError if one of these is out of its range.
    """

    depth_max: int = 6
    wildcard: float = 0.2
    descendant: float = 0.2
    nested: float = 0.0
    nested_depth: int = 3
    nested_levels: int = 1
    predicates: float = 0.0
    predicate_kinds: Sequence[str] = ("equal",)
    attributes: float = 0.0
    skew: float = 0.0
    distinct: bool = True
    marker: str | None = None

    def __post_init__(self) -> None:
        for name in ("wildcard", "descendant", "nested", "attributes"):
            if not 0 <= getattr(self, name) <= 1:
                raise UsageError(f"{name} is a probability, not {getattr(self, name)}")
        for name in ("depth_max", "nested_depth"):
            check_whole(name, getattr(self, name), (1, STEPS_MAX), "STEPS_MAX")
        check_whole("nested_levels", self.nested_levels, (0, LEVELS_MAX), "LEVELS_MAX")
        if not 0 <= self.predicates <= PREDICATES_MAX:
            raise UsageError(
                f"predicates is a number from 0 to {PREDICATES_MAX} (PREDICATES_MAX), not "
                f"{self.predicates}"
            )
        if not 0 <= self.skew < inf:
            raise UsageError(f"skew is a number from 0 on, not {self.skew}")
        unknown = [kind for kind in self.predicate_kinds if kind not in PREDICATE_KINDS]
        if unknown or not self.predicate_kinds:
            raise UsageError(f"predicate_kinds are some of {', '.join(PREDICATE_KINDS)}")
        if self.marker is not None:
            check_marker(self.marker)


_USUAL: Final = PatternShape()


def generate_patterns(
    schema: Schema,
    *,
    rng: Random,
    count: int,
    shape: PatternShape = _USUAL,
    root: str | None = None,
    vocabulary: Vocabulary | None = None,
) -> Iterator[str]:
    """Draw ``count`` patterns of a shape, as texts.

    UsageError if the schema has no single root and none is given, or, in the middle of the
    iteration, if there are not as many distinct patterns.
    """
    check_whole("count", count, (0, PATTERNS_MAX), "PATTERNS_MAX")
    walker = _Walker(
        schema, schema.root_or(root), shape=shape, vocabulary=vocabulary or Vocabulary(), rng=rng
    )
    ending = "" if shape.marker is None else f"[//{shape.marker}]"
    if shape.distinct:
        return _distinct(walker, count, ending)
    return (walker.pattern() + ending for _ in range(count))


def _distinct(walker: _Walker, count: int, ending: str) -> Iterator[str]:
    """As many different patterns, in the order in which they are first drawn."""
    seen: set[str] = set()
    repeated = 0.0  # the share of repetitions among the last draws, older ones counting less
    fruitless = 0
    draws_left = _DRAWS_PER_PATTERN_MAX * count + _FRUITLESS_MAX
    while len(seen) < count:
        text = walker.pattern(spread=repeated)
        draws_left -= 1
        if text not in seen:
            seen.add(text)
            repeated -= repeated * _LATEST_WEIGHT
            fruitless = 0
            yield text + ending
            continue
        repeated += (1.0 - repeated) * _LATEST_WEIGHT
        fruitless += 1
        if fruitless > _FRUITLESS_MAX or not draws_left:
            raise UsageError(
                f"the schema has only about {len(seen):,} distinct patterns with these settings,"
                f" not {count:,}; ask for fewer, allow more depth, or do without distinct"
            )


class _Walker:
    """Draws patterns; everything that does not depend on chance is computed once.

    The loops below are plain on purpose: they run some ten million times for a million patterns.
    """

    def __init__(
        self,
        schema: Schema,
        root: str,
        *,
        shape: PatternShape,
        vocabulary: Vocabulary,
        rng: Random,
    ) -> None:
        self._shape = shape
        self._random = rng.random
        self._steps_left = 0
        """Of the pattern that is being drawn, for branches: else these grow as a power."""
        self._children: dict[str, tuple[str, ...]] = {_ABOVE_ROOT: (root,)}
        self._weights: dict[str, list[float]] = {}
        self._attributes: dict[str, list[str]] = {}
        self._tests: dict[str, list[tuple[str, tuple[str, ...]]]] = {}
        for name in schema.reachable(root):
            declaration = schema.elements[name]
            children = schema.children(name)
            if children:
                self._children[name] = children
                weights = (place**-shape.skew for place in range(1, len(children) + 1))
                self._weights[name] = list(accumulate(weights))
            self._attributes[name] = _attributes(declaration)
            self._tests[name] = _tests(declaration, vocabulary)
        self._spread_weights = self._weigh_by_paths()

    def _weigh_by_paths(self) -> list[dict[str, list[float]]]:
        """For each number of steps still to go, the weights of the children in a spread walk.

        A child weighs as much as there are paths of that many steps that begin with it (times its
        weight by the skew), so that with all weights equal every path is equally likely.
        """
        paths = dict.fromkeys(self._attributes, 1.0)
        by_steps: list[dict[str, list[float]]] = [{}]
        for _ in range(self._shape.depth_max):
            weights: dict[str, list[float]] = {}
            for name, children in self._children.items():
                skewed = (place**-self._shape.skew for place in range(1, len(children) + 1))
                pairs = zip(children, skewed, strict=True)
                weights[name] = list(accumulate(paths[child] * weight for child, weight in pairs))
            by_steps.append(weights)
            for name in paths:
                if name in weights:
                    paths[name] = min(1.0 + weights[name][-1], _PATHS_MAX)
        return by_steps

    def pattern(self, spread: float = 0.0) -> str:
        """One pattern that begins at the root; ``spread`` is the probability of a spread walk."""
        shape = self._shape
        random = self._random
        if spread and random() < spread:
            steps, elements = self._spread_walk(max(0.0, 2.0 * spread - 1.0))
        else:
            steps, elements = self._walk(_ABOVE_ROOT, shape.depth_max)
        if shape.predicates:
            self._add_predicates(steps, elements)
        if shape.nested and shape.nested_levels:
            self._steps_left = STEPS_MAX - len(steps)
            self._add_branches(steps, elements, shape.nested_levels)
        if shape.attributes and random() < shape.attributes:
            names = self._attributes[elements[-1]]
            if names:
                steps.append("/@" + names[int(random() * len(names))])
        return "".join(steps)

    def _walk(self, element: str, steps_max: int) -> tuple[list[str], list[str]]:
        """The steps of a walk, each with its slashes, and the elements it came by."""
        random = self._random
        wildcard, descendant = self._shape.wildcard, self._shape.descendant
        all_children, choose = self._children, self._choose
        steps: list[str] = []
        elements: list[str] = []
        for _ in range(1 + int(random() * steps_max)):
            children = all_children.get(element)
            if children is None:
                break
            element = choose(element, children)
            slashes = "/"
            if random() < descendant:
                slashes = "//"
                while random() < _ANOTHER_LEVEL and (deeper := all_children.get(element)):
                    element = choose(element, deeper)
            steps.append(slashes + "*" if random() < wildcard else slashes + element)
            elements.append(element)
        return steps, elements

    def _spread_walk(self, pressure: float) -> tuple[list[str], list[str]]:
        """Like a walk from above the root, but rather longer and to where most paths are.

        Under pressure it has full length, and ``*`` and ``//`` become more even as well, since new
        patterns differ in these.
        """
        random = self._random
        steps_max = self._shape.depth_max
        if random() >= pressure:
            steps_max = 1 + int(max(random(), random()) * steps_max)
        wildcard = _more_even(self._shape.wildcard, pressure)
        descendant = _more_even(self._shape.descendant, pressure)
        all_children, all_weights = self._children, self._spread_weights
        element = _ABOVE_ROOT
        steps: list[str] = []
        elements: list[str] = []
        slashes = "/"
        for steps_left in range(steps_max, 0, -1):
            weights = all_weights[steps_left].get(element)
            if weights is None:
                break
            element = all_children[element][bisect(weights, random() * weights[-1])]
            if random() < descendant:
                slashes = "//"
                if steps_left > 1 and element in all_children and random() < _ANOTHER_LEVEL:
                    continue
            steps.append(slashes + "*" if random() < wildcard else slashes + element)
            elements.append(element)
            slashes = "/"
        return steps, elements

    def _choose(self, here: str, children: tuple[str, ...]) -> str:
        if self._shape.skew and len(children) > 1:
            weights = self._weights[here]
            return children[bisect(weights, self._random() * weights[-1])]
        return children[int(self._random() * len(children))]

    def _add_predicates(self, steps: list[str], elements: list[str]) -> None:
        """Append value predicates to steps whose elements can have values."""
        random = self._random
        number = self._shape.predicates
        count = int(number) + (random() < number - int(number))
        able = [place for place, element in enumerate(elements) if self._tests[element]]
        for _ in range(count if able else 0):
            place = able[int(random() * len(able))]
            tests = self._tests[elements[place]]
            path, values = tests[int(random() * len(tests))]
            steps[place] += f"[{self._test(path, values[int(random() * len(values))])}]"

    def _test(self, path: str, value: str) -> str:
        """A predicate of one of the kinds asked for."""
        random = self._random
        kinds = self._shape.predicate_kinds
        kind = kinds[int(random() * len(kinds))] if len(kinds) > 1 else kinds[0]
        is_number = value.isdigit()
        literal = value if is_number else f'"{value}"' if "'" in value else f"'{value}'"
        match kind:
            case "exists":
                return path
            case "unequal":
                return f"{path}!={literal}"
            case "order" if is_number:
                return f"{path}{_ORDERS[int(random() * len(_ORDERS))]}{value}"
            case "contains" | "starts" if not is_number and value.isalpha():
                function = "contains" if kind == "contains" else "starts-with"
                return f"{function}({path},'{value[:_PART_LENGTH]}')"
            case _:
                return f"{path}={literal}"

    def _add_branches(self, steps: list[str], elements: list[str], levels: int) -> None:
        """Append nested paths, as predicates, to steps whose elements can have children."""
        random = self._random
        shape = self._shape
        for place, element in enumerate(elements):
            if random() < shape.nested and element in self._children:
                branch, passed = self._walk(element, shape.nested_depth)
                if len(branch) > self._steps_left:
                    continue
                self._steps_left -= len(branch)
                if levels > 1:
                    self._add_branches(branch, passed, levels - 1)
                path = "".join(branch)
                path = "." + path if path.startswith("//") else path[1:]
                steps[place] += f"[{path}]"


def _more_even(probability: float, pressure: float) -> float:
    """A probability moved towards one half; what never or always happens stays as it is."""
    return probability + (0.5 - probability) * pressure if 0.0 < probability < 1.0 else probability


def _attributes(declaration: ElementDeclaration) -> list[str]:
    """The attributes that a pattern can name; to XPath, namespace declarations are none."""
    names = [attribute.name for attribute in declaration.attributes]
    return [name for name in names if name != "xmlns" and not name.startswith("xmlns:")]


def _tests(
    declaration: ElementDeclaration, vocabulary: Vocabulary
) -> list[tuple[str, tuple[str, ...]]]:
    """What of an element can be compared, and with which values."""
    able = _attributes(declaration)
    tests = [
        ("@" + attribute.name, vocabulary.attribute_values(attribute))
        for attribute in declaration.attributes
        if attribute.name in able
    ]
    if declaration.holds_text:
        tests.append(("text()", vocabulary.values(declaration.name)))
    return tests
