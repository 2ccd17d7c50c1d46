"""Linear patterns: those without branches, as a row of steps, such as ``/news//para/@lang``.

A linear pattern *selects* the label paths that end at a node of its last step, and *accepts* those
that pass such a node:

    /a/*/c selects /a/b/c; it accepts /a/b/c, /a/b/c/d, /a/b/c/@x, …

A document matches exactly if it has a path that is accepted. So linear patterns can be compared by
the paths of a schema (:mod:`~twigcast.covering.merging.degree`).
"""

from __future__ import annotations

from typing import NamedTuple, TypeAlias

from twigcast.language.condition.model import TRUE, Condition, Exists, Label, Reach


class PathStep(NamedTuple):
    """One step of a linear pattern."""

    reach: Reach
    label: Label


LinearPath: TypeAlias = tuple[PathStep, ...]


def linear_path(condition: Condition) -> LinearPath | None:
    """The steps of a condition on the document node, or None if it is no linear pattern.

    >>> from twigcast.language import Pattern
    >>> len(linear_path(Pattern.parse("/a//b/@c").condition))
    3
    >>> linear_path(Pattern.parse("/a[b]/c").condition)
    """
    steps: list[PathStep] = []
    while isinstance(condition, Exists):
        steps.append(PathStep(condition.reach, condition.label))
        condition = condition.where
    return tuple(steps) if steps and condition is TRUE else None
