"""Content models prepared for growing documents: every part knows the least it needs.

A generator that must stop at a depth and at a number of elements asks of each part of a content
model: how many levels does its lowest realisation have, and how many elements? ``height`` and
``size`` answer that for one occurrence, assuming that in every choice the lowest part is taken
(of equally low ones the smallest)::

    (title, (chapter | letter)+, index?)     title and letter: text only; chapter: (title, p+)
    height 1, size 2                         title, letter
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal, TypeAlias

from twigcast.language.dtd.schema import (
    Anything,
    Child,
    Choice,
    Empty,
    Mixed,
    Occurs,
    Particle,
    Schema,
    Sequence,
)

Kind: TypeAlias = Literal["child", "all", "one"]

SIZE_MAX = 1_000_000_000
"""Sizes are not counted further: doubling rules can make them astronomic."""


@dataclass(frozen=True, slots=True)
class PlanPart:
    """A part of a content model: a child, all of its parts in order, or one of its parts."""

    kind: Kind
    name: str
    parts: tuple[PlanPart, ...]
    occurs: Occurs
    height: int
    size: int

    @property
    def least_height(self) -> int:
        """Levels that the part needs where it stands, which may be none."""
        return 0 if self.occurs.may_be_absent else self.height

    @property
    def least_size(self) -> int:
        """Elements that the part needs where it stands, which may be none."""
        return 0 if self.occurs.may_be_absent else self.size


def content_plans(schema: Schema) -> dict[str, PlanPart | None]:
    """For each element that can be completed, its content as a part; None if it has no children.

    Parts that can never be completed are left out, since no document can contain them.
    """
    sizes: dict[str, int] = {}
    for name in sorted(schema.heights, key=schema.heights.__getitem__):
        # Whatever a lowest tree contains is lower than the tree, so its size is known by now.
        content = schema.elements[name].content
        part = None
        if isinstance(content, Child | Sequence | Choice):
            part = _part(content, schema, sizes)
        sizes[name] = min(1 + (part.least_size if part else 0), SIZE_MAX)
    anything = _any_of(tuple(schema.elements), schema, sizes)
    plans: dict[str, PlanPart | None] = {}
    for name in schema.heights:
        match schema.elements[name].content:
            case Empty():
                plans[name] = None
            case Anything():
                plans[name] = anything
            case Mixed(names):
                plans[name] = _any_of(names, schema, sizes)
            case content:
                plans[name] = _part(content, schema, sizes)
    return plans


def _any_of(names: tuple[str, ...], schema: Schema, sizes: Mapping[str, int]) -> PlanPart | None:
    """Elements of these names, in any number and order; None if there can be none."""
    children = tuple(Child(name) for name in names)
    return _occurrence(Choice(children, Occurs.ANY), schema, sizes)


def _part(particle: Particle, schema: Schema, sizes: Mapping[str, int]) -> PlanPart | None:
    """A particle as a part, or None if there must be one and it can never be completed."""
    part = _occurrence(particle, schema, sizes)
    if part is None and particle.occurs.may_be_absent:
        return PlanPart("all", "", (), Occurs.ONCE, height=0, size=0)
    return part


def _occurrence(particle: Particle, schema: Schema, sizes: Mapping[str, int]) -> PlanPart | None:
    if isinstance(particle, Child):
        height = schema.heights.get(particle.name)
        if height is None:
            return None
        size = sizes.get(particle.name, SIZE_MAX)
        return PlanPart("child", particle.name, (), particle.occurs, height, size)
    built = [_part(inner, schema, sizes) for inner in particle.parts]
    parts = tuple(part for part in built if part is not None)
    if isinstance(particle, Choice):
        if not parts:
            return None
        lowest = min(parts, key=lambda part: (part.least_height, part.least_size))
        height, size = lowest.least_height, lowest.least_size
        return PlanPart("one", "", parts, particle.occurs, height, size)
    if len(parts) < len(built):
        return None
    height = max(part.least_height for part in parts)
    size = min(sum(part.least_size for part in parts), SIZE_MAX)
    return PlanPart("all", "", parts, particle.occurs, height, size)
