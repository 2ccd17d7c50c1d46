"""The structure of a pattern: a bare path of elements that is in every document that matches.

YAK (4.2 and 4.3) forwards no subscription as it is, but what is left of it without its value tests
and nested paths, and of that the first steps alone, as many as its InterestedDepth says:

    /product[book]/electronics//camera[@brand = 'canon']

    structure            /product/electronics//camera
    to the depth 2       /product/electronics

A document that has a path has each beginning of it, so whoever asks for the beginning receives all
that matches the whole, and more. That is the relation *structure prefix*: much weaker than
covering (``//b`` covers ``/a/b``, and is no structure prefix of it), but a look along one path
of a trie finds all of them.

**Which path?** A subscription asks whether nodes exist, never which, so a pattern has no main path:
``/a/b[c]/d``, ``/a/b[d]/c`` and ``/a/b[c and d]`` are one pattern. We take its longest path of
elements; of several, the one whose steps come last in the order of texts, which also puts names
behind ``*`` and ``/`` behind ``//``. Here that is ``/a/b/d``, and above the one that YAK takes.
Values have no say in the choice, so that subscriptions that differ in their constants share a
structure. A path with a comparison at its end is a path like any other, since
``/stock[price > 10]`` and ``/stock/price[. > 10]`` are one pattern too: their structure is
``/stock/price``. Attributes and texts end a path and are no part of it.

**More than one path, or none.** Of an ``or`` every choice has a structure of its own; a document
that matches has at least one of them. Of an ``and`` one part is taken: the one whose shortest
choice is longest, then the one with fewest choices. ``not(//a)`` and ``//@x`` say nothing of
elements; their structure is the path without steps, which every document has. It is written
``/*``, and is a structure prefix of all others. What no document matches has no structure. What
only libxml2 decides counts for its necessary condition.

Taking the structure takes time in proportion to the size of the pattern, once for all brokers of
one process.
"""

from __future__ import annotations

from functools import lru_cache
from itertools import takewhile
from typing import Final, NamedTuple, TypeAlias

from twigcast.covering.paths.linear import LinearPath, PathStep
from twigcast.language import Pattern
from twigcast.language.condition.model import (
    ANY_ELEMENT,
    TRUE,
    AllOf,
    AnyOf,
    Condition,
    Exists,
    FirstValue,
    Kind,
    Reach,
)
from twigcast.language.condition.writer import step_text

STRUCTURES_KEPT: Final = 1 << 16
"""Structures remembered, so that the routers of a simulated network, which hand each other the same
prefixes, take each only once. With the pattern it was taken of, one takes 1.5 to 2.6 KB on NITF."""

_Rank: TypeAlias = tuple[int, list[str]]
"""Of a path: its length, then the texts of its steps."""

EVERYTHING: Final = Pattern(Exists(Reach.CHILD, ANY_ELEMENT, TRUE))
"""``/*``, which every document matches: the path without steps, as a pattern."""


def structure_prefixes(pattern: Pattern, depth: int | None = None) -> tuple[Pattern, ...]:
    """The structure of a pattern, its first ``depth`` steps: every document it matches has one.

    None is a structure prefix of another; they come in the order of texts. Each is its own
    structure prefix, to that depth or a greater one.

    >>> structure_prefixes(Pattern.parse("/a/b[c]/d[@x = 1] | //e[. > 5]"))
    (Pattern('//e'), Pattern('/a/b/d'))
    >>> structure_prefixes(Pattern.parse("/a/b[c]/d[@x = 1] | /a/b//e"), depth=2)
    (Pattern('/a/b'),)
    >>> structure_prefixes(Pattern.parse("not(//a)"))
    (Pattern('/*'),)
    """
    found = (structure.pattern for structure in structures(pattern, depth))
    return tuple(sorted(found, key=lambda prefix: prefix.text))


class Structure(NamedTuple):
    """A structure prefix, as steps and as a pattern; without any step it is everything."""

    path: LinearPath
    pattern: Pattern


@lru_cache(maxsize=STRUCTURES_KEPT)
def structures(pattern: Pattern, depth: int | None = None) -> tuple[Structure, ...]:
    """The same as :func:`structure_prefixes`, each with its steps, in no particular order."""
    found = _structures(pattern.necessary.condition)
    paths = dict.fromkeys(_without_idle_star(path[:depth]) for path in found)
    return tuple(
        Structure(path, _pattern(path))
        for path in paths
        if not any(path[:end] in paths for end in range(len(path)))
    )


def _pattern(path: LinearPath) -> Pattern:
    if not path:
        return EVERYTHING
    condition: Condition = TRUE
    for reach, label in reversed(path):
        condition = Exists(reach, label, condition)
    return Pattern(condition)


def _without_idle_star(path: LinearPath) -> LinearPath:
    """The path, but none at all for ``/*`` and ``//*``, which say nothing."""
    return () if len(path) == 1 and path[0].label == ANY_ELEMENT else path


def _structures(condition: Condition) -> tuple[LinearPath, ...]:
    """Paths of elements from the document node, of which a document that matches has one."""
    match condition:
        case AnyOf(parts):
            return tuple(path for part in parts for path in _structures(part))
        case AllOf((_, *_) as parts):
            return max(map(_structures, parts), key=_selectivity)
        case _:
            return (_longest_path(condition),)


def _selectivity(choices: tuple[LinearPath, ...]) -> tuple[int, int, list[_Rank]]:
    ranks = sorted(map(_rank, choices))
    return ranks[0][0], -len(ranks), ranks


def _longest_path(condition: Condition) -> LinearPath:
    """The longest row of elements, one below the other, that a condition asks for below a node."""
    steps: list[PathStep] = []
    while isinstance(condition, Exists) and condition.label.kind is Kind.ELEMENT:
        steps.append(PathStep(condition.reach, condition.label))
        condition = condition.where
    match condition:
        case AllOf((_, *_) as parts):
            longest: LinearPath = max(map(_longest_path, parts), key=_rank)
            steps += longest
        case FirstValue(first):
            # Nothing is found in the value of no node at all, so there is one.
            elements = takewhile(lambda step: step.label.kind is Kind.ELEMENT, first)
            steps += [PathStep(step.reach, step.label) for step in elements]
    return tuple(steps)


def _rank(path: LinearPath) -> _Rank:
    return len(path), [step_text(reach, label) for reach, label in path]
