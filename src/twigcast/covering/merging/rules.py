"""The merging rules: several patterns become one that covers them (Dissemination, section 1.5.3).

    1   they differ in one element                    /a/b/d    /a/c/d      →   /a/*/d
    2   they differ in one element and one operator   /a/b/d    /a/c//d     →   /a/*//d
    3   they differ in a longer part                  /a/b/c/d  /a/e/f/g/d  →   /a//d

The rules are for paths. Here they apply to all patterns with the same branches at the steps that
stay (:mod:`~twigcast.covering.merging.spine`); where a part is replaced by ``//``, its branches are
dropped. Attributes are treated like elements: ``/a/@x`` and ``/a/@y`` make ``/a/@*``.

Rule 3 needs a step behind the differing part for the ``//`` to lead to. In the paper it needs a
step before it, too; ``/a/b/z`` and ``/c/d/z`` make ``//z`` here. One of the parts may be empty:
``/a/z`` and ``/a/b/z`` make ``/a//z``.
"""

from __future__ import annotations

from enum import IntEnum
from typing import NamedTuple

from twigcast.covering.merging.spine import Spine, SpineStep, pattern_of, spine_of
from twigcast.language import Pattern
from twigcast.language.condition.model import Kind, Label, Reach


class MergeRule(IntEnum):
    """The three rules."""

    ELEMENT = 1
    ELEMENT_AND_OPERATOR = 2
    PART = 3


class RuledMerger(NamedTuple):
    """The merger of two patterns, with its rule."""

    pattern: Pattern
    rule: MergeRule


def merger_of(one: Pattern, other: Pattern) -> RuledMerger | None:
    """The merger of two different patterns by the first rule that fits; None if none does.

    >>> p = Pattern.parse
    >>> merger_of(p("/a/*/c/d"), p("/a/*/c/e")).pattern.text
    '/a/*/c/*'
    >>> merger_of(p("//a/b/d[x]"), p("//a/c//d[x]")).pattern.text
    '//a/*//d/x'
    >>> merger_of(p("/a/b/c/d"), p("/a/e/f/g/d"))
    RuledMerger(pattern=Pattern('/a//d'), rule=<MergeRule.PART: 3>)
    >>> merger_of(p("/a/b/c"), p("/d/e/f")) is None
    True
    """
    first, second = spine_of(one), spine_of(other)
    if first is None or second is None or first == second:
        return None
    found = _by_element(first, second) if len(first) == len(second) else None
    found = found or _by_part(first, second)
    # Without a spine, the merger matches nothing, and so do the parts.
    return found if found is not None and spine_of(found.pattern) is not None else None


def is_open(label: Label) -> bool:
    """Whether a label cannot be more general, like ``*`` and ``@*``."""
    return label == Label(label.kind)


def opened(spine: Spine, place: int) -> Spine:
    """The spine with a ``*`` at this place."""
    step = spine[place]
    wider = SpineStep(step.reach, Label(step.label.kind), step.branches)
    return (*spine[:place], wider, *spine[place + 1 :])


def shortened(spine: Spine, *, kept_before: int, kept_behind: int) -> Spine:
    """The spine with ``//`` in place of all but a number of steps before and behind."""
    behind = spine[len(spine) - kept_behind :]
    return (*spine[:kept_before], behind[0]._replace(reach=Reach.DESCENDANT), *behind[1:])


def _by_element(first: Spine, second: Spine) -> RuledMerger | None:
    """Rules 1 and 2, for spines of one length."""
    pairs = list(zip(first, second, strict=True))
    if any(one.branches != other.branches for one, other in pairs):
        return None
    names = [place for place, (one, other) in enumerate(pairs) if one.label != other.label]
    reaches = [place for place, (one, other) in enumerate(pairs) if one.reach is not other.reach]
    if len(names) != 1 or len(reaches) > 1:
        return None
    place = names[0]
    kind = first[place].label.kind
    if kind is not second[place].label.kind or kind is Kind.TEXT:
        return None
    merged = opened(first, place)
    for far in reaches:
        wider = merged[far]._replace(reach=Reach.DESCENDANT)
        merged = (*merged[:far], wider, *merged[far + 1 :])
    rule = MergeRule.ELEMENT_AND_OPERATOR if reaches else MergeRule.ELEMENT
    return RuledMerger(pattern_of(merged), rule)


def _by_part(first: Spine, second: Spine) -> RuledMerger | None:
    """Rule 3: the longest equal parts before and behind stay."""
    most = min(len(first), len(second))
    behind = 0
    while behind < most and _same_end(first[-behind - 1], second[-behind - 1]):
        behind += 1
        if first[-behind].reach is not second[-behind].reach:
            break
    before = 0
    while before < most - behind and first[before] == second[before]:
        before += 1
    if not behind:
        return None
    return RuledMerger(
        pattern_of(shortened(first, kept_before=before, kept_behind=behind)), MergeRule.PART
    )


def _same_end(one: SpineStep, other: SpineStep) -> bool:
    """Whether two steps are equal except for their reach."""
    return one.label == other.label and one.branches == other.branches
