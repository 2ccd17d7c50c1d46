"""Features of patterns: what a covering requires, as numbers to look up and to compare as bits.

If a wider pattern covers a narrower one, then whatever the wider one *requires* the narrower one
must *have*. Features are such requirements, each cheap to see on either side alone:

    a name               //a                 an element, attribute … with that name
    a rigid chain        a/*/b               b exactly two levels below a, all steps ``/``
    a rigid beginning    /*/b                the same with the document node above
    a loose chain        a//b                b somewhere below a
    a depth              /*//*               so many levels at least
    a tested name        a[. > 3]            a with some test of its value
    an equality          a[. = 'x']          a with just this test

Each is required even where no homomorphism shows the covering. Consider the model in which every
``//`` of the narrower pattern is longer than any row of ``*`` of the wider one, all elements in it
unknown (:mod:`~twigcast.covering.containment.canonical_models`). Names and tests of the wider
pattern then lie on nodes of the narrower one, in the same order from above, and a rigid chain on
``/`` alone; for depths, consider the model in which every ``//`` is one level. A ``*`` alone
requires no more than its depth; ``not``, residuals and other tests require nothing; a choice
requires what all its alternatives require, and has what all of them have.

A feature is a hash. Two that share a hash are taken for one: then a pattern seems to have what it
has not, which costs a decision and cannot lose a covering.

Features that patterns are looked up by are *keys*; the others only count among the bits of the
*signature*. Chains from a name to each name below would be too many keys.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Final, NamedTuple
from zlib import crc32

from twigcast.covering.containment.homomorphism import TargetTwig
from twigcast.covering.containment.twig import CHILD, Twig
from twigcast.language.condition.model import Condition, Kind, Label, Operator, ValueTest
from twigcast.language.xpath.syntax import Literal

_SIGNATURE_BITS: Final = 509
"""Five times the features of a pattern of ten steps; a prime, to spread features evenly."""

_EVERY_BIT: Final = (1 << _SIGNATURE_BITS) - 1

_CHAINS_NODES_MAX: Final = 100
"""Chains grow with the square of the nodes; a larger pattern is taken to have all of them."""


def _number_of(text: str) -> int:
    """A number for a text, the same in every process, where that of ``hash`` depends on its seed.

    Where two texts have one number, a candidate more is found.
    """
    return crc32(text.encode())


_DOCUMENT: Final = _number_of("the document node")
_NEVER: Final = _number_of("what no document has")
_DEPTH: Final = _number_of("so many levels")
_TESTED: Final = _number_of("its value is tested")


class Features(NamedTuple):
    """Keys to look up, and all features as bits."""

    keys: frozenset[int]
    signature: int


def required_features(groups: Sequence[Sequence[Twig]]) -> Features:
    """The features that a narrower pattern must have to be covered by this wider one."""
    keys, signature = {_depth(0)}, 0
    for group in groups:
        required = [_required_of_twig(twig) for twig in group]
        keys |= set.intersection(*(each for each, _ in required)) if required else {_NEVER}
        signature |= _bits(set.intersection(*(each for _, each in required))) if required else 0
    return Features(frozenset(keys), signature | _bits(keys))


def present_features(targets: Sequence[TargetTwig]) -> Features | None:
    """The features of each alternative of a narrower pattern; None if no document matches it."""
    if not targets:
        return None
    keys = frozenset.intersection(*(frozenset(_present_keys(target.twig)) for target in targets))
    signature = _EVERY_BIT
    for target in targets:
        signature &= _bits(keys) | _chain_bits(target.twig)
    return Features(keys, signature)


def _bits(features: Iterable[int]) -> int:
    signature = 0
    for feature in features:
        signature |= 1 << feature % _SIGNATURE_BITS
    return signature


def _depth(levels: int) -> int:
    return hash((_DEPTH, levels))


def _names(twig: Twig) -> list[int]:
    """The number of each node's name; 0 where it may have several."""
    return [_DOCUMENT, *map(_name, twig.labels[1:])]


def _name(label: Label | None) -> int:
    if label is None or (label.kind is not Kind.TEXT and None in label):
        return 0
    return _number_of(f"{label.kind.value} {label.local} {label.namespace}")


def _rigid_depths(twig: Twig) -> list[int]:
    """How many ``/`` lead to each node from the document node; -1 where a ``//`` does."""
    depths = [0] * twig.size
    for node in range(1, twig.size):
        above = depths[twig.parents[node]]
        depths[node] = above + 1 if above >= 0 and twig.reaches[node] == CHILD else -1
    return depths


# The wider side.


def _required_of_twig(twig: Twig) -> tuple[set[int], set[int]]:
    """The keys of a condensed wider twig, and its other features."""
    names, parents, reaches = _names(twig), twig.parents, twig.reaches
    keys, others = {_depth(_levels(twig))}, set()
    above: list[tuple[int, int]] = [(0, 0)]
    """The next name above each node, and how many ``/`` lead there, or -1."""
    for node, rigid_depth in enumerate(_rigid_depths(twig)):
        if not node:
            continue
        name, parent, is_child = names[node], parents[node], reaches[node] == CHILD
        named, levels = (names[parent], 0) if names[parent] else above[parent]
        levels = levels + 1 if is_child and levels >= 0 else -1
        above.append((named, levels))
        keys.update(_required_of_tests(twig.tests[node], name))
        if not name:
            continue
        keys.add(name)
        if rigid_depth > 0:
            keys.add(hash((_DOCUMENT, rigid_depth, name)))
        if levels == 1:
            keys.add(hash((named, 1, name)))
        elif named != _DOCUMENT:
            others.add(hash((named, max(levels, 0), name)))
    return keys, others


def _levels(twig: Twig) -> int:
    """The least number of levels of a document that matches the twig."""
    depths = [0] * twig.size
    for node in range(1, twig.size):
        depths[node] = depths[twig.parents[node]] + (twig.reaches[node] or 1)
    return max(depths)


def _required_of_tests(tests: Sequence[Condition], name: int) -> Iterator[int]:
    for test in tests:
        if isinstance(test, ValueTest):
            yield hash((name, _TESTED))
            if (text := _equal_to(test)) is not None:
                yield hash((name, text))


def _equal_to(test: Condition) -> int | None:
    """The number of the text that a value is to be equal to, if no other test implies that.

    A number can be written in many ways.
    """
    match test:
        case ValueTest(operator=Operator.EQUAL, constant=Literal(text)):
            return _number_of(text)
        case _:
            return None


# The narrower side.


def _present_keys(twig: Twig) -> Iterator[int]:
    names = _names(twig)
    for levels in range(_levels(twig) + 1):
        yield _depth(levels)
    for node, rigid_depth in enumerate(_rigid_depths(twig)):
        name = names[node]
        yield from _present_of_tests(twig.tests[node], name)
        if not node or not name:
            continue
        yield name
        if rigid_depth > 0:
            yield hash((_DOCUMENT, rigid_depth, name))
        parent = twig.parents[node]
        if twig.reaches[node] == CHILD and names[parent]:
            yield hash((names[parent], 1, name))


def _present_of_tests(tests: Sequence[Condition], name: int) -> Iterator[int]:
    for known in {name, 0} if tests else ():
        yield hash((known, _TESTED))
        for test in tests:
            if (text := _equal_to(test)) is not None:
                yield hash((known, text))


def _chain_bits(twig: Twig) -> int:
    """The loose and rigid chains from each name to each name below it, as bits."""
    if twig.size > _CHAINS_NODES_MAX:
        return _EVERY_BIT
    names = _names(twig)
    signature = 0
    above: list[list[tuple[int, int]]] = [[]]
    """The names above each node, and how many ``/`` lead there, or a very small number."""
    for node in range(1, twig.size):
        parent = twig.parents[node]
        here = [*above[parent], (names[parent], 0)] if parent and names[parent] else above[parent]
        step = 1 if twig.reaches[node] == CHILD else -_CHAINS_NODES_MAX
        above.append([(name, levels + step) for name, levels in here])
        name = names[node]
        for named, levels in above[node] if name else ():
            signature |= 1 << hash((named, 0, name)) % _SIGNATURE_BITS
            if levels > 1:
                signature |= 1 << hash((named, levels, name)) % _SIGNATURE_BITS
    return signature
