"""The graph of elements of a schema: recursion, and heights of the lowest complete trees.

An edge leads from an element to each element it may contain. Two properties are computed.

*Recursive elements* are those on a cycle, that is, in a strongly connected component with an edge
inside (Tarjan 1972). Only names count: ``ANY`` does not determine what will be there, and an edge
to every element would make most of a schema recursive.

*The height of the lowest complete tree below an element* is needed by a generator that has to stop
at some depth. An empty element has height 1; ``<!ELEMENT a (b, c?)>`` has one more than ``b``; and
``<!ELEMENT a (a)>`` has none, no document can contain it. A content model is a tree of "all of" and
"one of"; completed elements are propagated level by level, to each part once, so the cost is linear
in the size of all models (a special case of Knuth 1977).
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass

from twigcast.language.dtd.declarations import (
    Anything,
    Child,
    Choice,
    ElementDeclaration,
    Empty,
    Mixed,
    Particle,
    child_names,
)


def recursive_elements(elements: Mapping[str, ElementDeclaration]) -> frozenset[str]:
    """The elements that can occur inside themselves, by the names in the content models."""
    edges: dict[str, Collection[str]] = {
        name: [child for child in child_names(declaration.content) if child in elements]
        for name, declaration in elements.items()
    }
    found: set[str] = set()
    for component in _components(edges):
        if len(component) > 1 or component[0] in edges[component[0]]:
            found.update(component)
    return frozenset(found)


def lowest_heights(elements: Mapping[str, ElementDeclaration]) -> dict[str, int]:
    """The height of the lowest complete tree below each element that has one.

    An element that is missing here cannot be completed: it needs itself, or something undeclared.
    """
    waiting: dict[str, list[_Need]] = {}
    heights: dict[str, int] = {}
    for name, declaration in elements.items():
        content = declaration.content
        need = None if isinstance(content, Empty | Anything | Mixed) else _need(content, waiting)
        if need is None:
            heights[name] = 1
        else:
            need.element = name
    level = list(heights)
    height = 1
    while level:
        height += 1
        completed = [need.complete_part() for name in level for need in waiting.get(name, ())]
        level = [name for name in completed if name is not None]
        heights.update(dict.fromkeys(level, height))
    return heights


@dataclass(slots=True, eq=False)
class _Need:
    """A part of a content model that cannot be empty, and the number of its missing parts.

    A choice needs one part, a sequence needs all. The outermost part has its element.
    """

    missing: int
    above: _Need | None = None
    element: str | None = None

    def complete_part(self) -> str | None:
        """Count one completed part; returns the element if it is complete now, too."""
        need: _Need | None = self
        while need is not None:
            need.missing -= 1
            if need.missing != 0:
                return None
            if need.above is None:
                return need.element
            need = need.above
        return None


def _need(particle: Particle, waiting: dict[str, list[_Need]]) -> _Need | None:
    """The requirement of a particle, entered in ``waiting`` by name; None if it has none."""
    if particle.occurs.may_be_absent:
        return None
    if isinstance(particle, Child):
        need = _Need(missing=1)
        waiting.setdefault(particle.name, []).append(need)
        return need
    parts = [_need(part, waiting) for part in particle.parts]
    needed = [part for part in parts if part is not None]
    is_choice = isinstance(particle, Choice)
    if not needed or (is_choice and len(needed) < len(parts)):
        return None
    need = _Need(missing=1 if is_choice else len(needed))
    for part in needed:
        part.above = need
    return need


def _components(edges: Mapping[str, Collection[str]]) -> Iterator[list[str]]:
    """The strongly connected components (Tarjan), without recursion: graphs may be deep."""
    order: dict[str, int] = {}
    lowest: dict[str, int] = {}
    path: list[str] = []
    on_path: set[str] = set()
    for start in edges:
        if start in order:
            continue
        work = [(start, iter(edges[start]))]
        order[start] = lowest[start] = len(order)
        path.append(start)
        on_path.add(start)
        while work:
            vertex, successors = work[-1]
            for successor in successors:
                if successor not in order:
                    order[successor] = lowest[successor] = len(order)
                    path.append(successor)
                    on_path.add(successor)
                    work.append((successor, iter(edges[successor])))
                    break
                if successor in on_path:
                    lowest[vertex] = min(lowest[vertex], order[successor])
            else:
                work.pop()
                if work:
                    above = work[-1][0]
                    lowest[above] = min(lowest[above], lowest[vertex])
                if lowest[vertex] == order[vertex]:
                    component = [path.pop()]
                    while component[-1] != vertex:
                        component.append(path.pop())
                    on_path.difference_update(component)
                    yield component
