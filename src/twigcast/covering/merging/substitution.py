"""Substitutions: the names to put in place of wildcards to get a part back from its aggregate.

An aggregate is a *simple* one of a part if it becomes the part when some of its wildcards are
replaced, ``*`` by a name and ``//`` by a row of names, possibly empty (Piggyback, section 2):

    /a/*/c//d     1: b, 2: e       →   /a/b/c/e/d
    //a/*/c       2: x             →   //a/x/c       (the first wildcard stays as it is)
    /a/*/c//d     nothing          →   /a/b/c/e/d/m  (more than names cannot be restored)

Wildcards are numbered from 1, from left to right in the canonical text, as in the bindings of a
match. A broker that receives the names by which an aggregate was matched can infer, from these
bindings alone, which of its parts are matched, too (Piggyback, sections 4.1 and 5.1).

The conditions on a node are compared part by part. All but one must be equal on both sides, for an
aggregate differs from a part along one path only.
"""

from __future__ import annotations

from typing import NamedTuple, TypeAlias

from twigcast.door import door
from twigcast.language import Pattern
from twigcast.language.condition.model import AllOf, Condition, Exists, Kind, Label, Reach
from twigcast.language.condition.wildcards import is_wildcard, wildcards_in


class Bound(NamedTuple):
    """The path that one wildcard of an aggregate stands for in a part."""

    wildcard: int
    """Its number in the canonical text, from 1."""
    path: tuple[str, ...]
    """For ``*`` the one name, for ``//`` the names between; ``{uri}local`` in a namespace."""


_Bindings: TypeAlias = tuple[Bound, ...] | None
_BindingCache: TypeAlias = dict[tuple[Condition, Condition], _Bindings]


@door("finding nodes")
def simple_bindings(*, aggregate: Pattern, part: Pattern) -> tuple[Bound, ...] | None:
    """The bindings of the aggregate's wildcards in the part; None if it is not a simple one of it.

    Wildcards that the part has, too, are left out.

    >>> p = Pattern.parse
    >>> simple_bindings(aggregate=p("/a/*/c//d"), part=p("/a/b/c/e/d"))
    (Bound(wildcard=1, path=('b',)), Bound(wildcard=2, path=('e',)))
    >>> simple_bindings(aggregate=p("/a/*/c//d"), part=p("/a/b/c/e/d/m")) is None
    True
    """
    return _bound(aggregate.condition, part.condition, {})


def _bound(wide: Condition, narrow: Condition, cache: _BindingCache) -> _Bindings:
    """The bindings of one condition, its wildcards counted from 1."""
    if wide is narrow:
        return ()
    key = (wide, narrow)
    if key not in cache:
        found: _Bindings = None
        if isinstance(wide, Exists) and isinstance(narrow, Exists):
            found = _bound_path(wide, narrow, cache)
        elif isinstance(wide, AllOf) and isinstance(narrow, AllOf):
            found = _bound_parts(wide.parts, narrow.parts, cache)
        cache[key] = found
    return cache[key]


def _bound_path(wide: Exists, narrow: Exists, cache: _BindingCache) -> _Bindings:
    """The bindings of a path, its first step tried on each step of the other."""
    if wide.reach is Reach.CHILD:
        return None if narrow.reach is not Reach.CHILD else _bound_node(wide, narrow, cache, 0)
    between: list[str] = []
    here: Condition = narrow
    while isinstance(here, Exists):
        found = _bound_node(wide, here, cache, 1)
        if here.reach is Reach.DESCENDANT:
            # The // of the part can only be that of the aggregate.
            return None if between else found
        if found is not None:
            return (Bound(1, tuple(between)), *found)
        if here.label.kind is not Kind.ELEMENT or None in here.label:
            return None
        between.append(_name(here.label))
        here = here.where
    return None


def _bound_node(wide: Exists, narrow: Exists, cache: _BindingCache, before: int) -> _Bindings:
    """The bindings of a node's label and the nodes below it; ``before`` wildcards precede it."""
    own: tuple[Bound, ...] = ()
    starred = is_wildcard(wide.label)
    if wide.label != narrow.label:
        if not starred or None in narrow.label or not wide.label.includes(narrow.label):
            return None
        own = (Bound(before + 1, (_name(narrow.label),)),)
    below = _bound(wide.where, narrow.where, cache)
    return None if below is None else own + _shifted(below, before + starred)


def _bound_parts(
    wide: tuple[Condition, ...], narrow: tuple[Condition, ...], cache: _BindingCache
) -> _Bindings:
    """The bindings of the one part that is not on both sides."""
    own = [place for place, part in enumerate(wide) if part not in narrow]
    others = [part for part in narrow if part not in wide]
    if len(own) != 1 or len(others) != 1:
        return None
    found = _bound(wide[own[0]], others[0], cache)
    return None if found is None else _shifted(found, sum(map(wildcards_in, wide[: own[0]])))


def _shifted(bounds: tuple[Bound, ...], number: int) -> tuple[Bound, ...]:
    return tuple(Bound(wildcard + number, path) for wildcard, path in bounds) if number else bounds


def _name(label: Label) -> str:
    return f"{{{label.namespace}}}{label.local}" if label.namespace else str(label.local)
