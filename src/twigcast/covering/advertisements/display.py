"""Advertisements shown as path expressions.

The shortest expressions come first, and no more than a limit of them: NITF has 6 million paths of
11 labels. Recursion is shown as ``( )+``:

    <!ELEMENT list (item*)>  <!ELEMENT item (#PCDATA | list)*>      /(list/item)+/text()

A search through the automaton visits no state twice; instead, at each state it reaches, the *loops*
(paths back to that state) are inserted as a repeated part. With L the set of loops, either nothing
or (L)+ may stand there:

    L = {x}        x+
    L = {x, y}     x+   y+   (x+ y+)+   (x+ y+)+ x+   (y+ x+)+   (y+ x+)+ y+
    more           x+   y+   z+   and so on, each alone: mixtures are left out, with a note

Loops are found in the same manner, without the states that were visited, so they may have repeated
parts themselves. The advertisement includes each expression; together they are all of it if nothing
was left out. Finally, ``/x/y`` and ``/x(y/x)+/y`` are joined to ``(x/y)+``.
"""

from __future__ import annotations

import heapq
from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import islice
from typing import Final

from twigcast.covering.advertisements.advertisement import Advertisement
from twigcast.covering.bits import reached_from
from twigcast.covering.paths.automaton import DOCUMENT_NODE, PathAutomaton, TextKind
from twigcast.covering.paths.expression import (
    EXPRESSION_NESTING_MAX,
    PathExpression,
    Repeated,
    label_text,
)
from twigcast.language.condition.model import TEXT, Label

EXPRESSIONS_MAX: Final = 1000
"""Path expressions that are shown: more than anybody reads."""

EXPRESSION_LABELS_MAX: Final = 64
"""Labels of one expression; documents are hardly ever deeper than 20 levels."""

SHOWING_STEPS_MAX: Final = 200_000
"""Prefixes of expressions that are visited before the search ends."""

_MIXED_MAX: Final = 2
"""Loops of one state whose mixtures can be written with ``( )+`` alone."""

_PLAIN_STEPS_MAX: Final = 500
"""Prefixes of loops that are visited for each state."""

_NAMED_MAX: Final = 8
"""Elements that a note names."""

_WHOLE: Final = -1
"""The state of a complete expression."""

_SHORT_LOOPS_MAX: Final = 32
"""Loops cached for each state, so that most lookups need no search."""

_NESTED_MAX: Final = EXPRESSION_NESTING_MAX // 4
"""Loops inside loops; mixtures put each into two more pairs of parentheses."""


@dataclass(frozen=True, slots=True)
class ShownPaths:
    """Expressions, the shortest first, and a note for each thing that was left out."""

    expressions: tuple[PathExpression, ...]
    left_out: tuple[str, ...]

    @property
    def complete(self) -> bool:
        """Whether the expressions have all label paths of the advertisement."""
        return not self.left_out


def path_expressions(
    advertisement: Advertisement,
    *,
    expressions_max: int = EXPRESSIONS_MAX,
    attributes: bool = True,
    text: bool = True,
) -> ShownPaths:
    """The shortest expressions of an advertisement, with what was left out.

    Values are not shown. Without ``attributes`` and ``text``, only elements are, as in the papers.

    >>> from twigcast.covering.advertisements.advertisement import Advertisement
    >>> from twigcast.covering.paths.expression import expression_text
    >>> advertisement = Advertisement.of_expressions(["/a/b/a", "/a(b)+/@x"])
    >>> [expression_text(one) for one in path_expressions(advertisement).expressions]
    ['/a(b)+/@x', '/a/b/a']
    """
    search = _ExpressionSearch(advertisement.paths, with_attributes=attributes, with_text=text)
    found: list[PathExpression] = []
    for expression in search.expressions():
        if len(found) == expressions_max:
            search.left_out["count"] = (
                f"there are more than {expressions_max:,} path expressions; the shortest are shown"
            )
            break
        found.append(expression)
    return ShownPaths(tuple(_join_loops(found)), tuple(search.notes()))


@dataclass(order=True, slots=True)
class _Prefix:
    """A prefix of an expression: ordered by the number of labels, then by arrival."""

    size: int
    number: int
    parts: PathExpression = field(compare=False)
    state: int = field(compare=False)
    """The state it has reached, or :data:`_WHOLE`."""
    visited: int = field(compare=False)
    has_loops: bool = field(compare=False)
    """Whether the loops of the state have been inserted."""


class _ExpressionSearch:
    """A search through the automaton, shortest paths first."""

    def __init__(self, paths: PathAutomaton, *, with_attributes: bool, with_text: bool) -> None:
        self._paths = paths
        self._with_attributes = with_attributes
        self._with_text = with_text
        self._steps_left = SHOWING_STEPS_MAX
        self._next, self._before = paths.targets(), paths.sources()
        self._short_by_state: dict[int, list[tuple[PathExpression, int]]] = {}
        self._known: dict[tuple[int, int], tuple[PathExpression, ...]] = {}
        self._mixed: dict[int, None] = {}
        self.left_out: dict[str, str] = {}

    def notes(self) -> Iterator[str]:
        """A note for each thing that was left out."""
        yield from self.left_out.values()
        if self._mixed:
            names = ", ".join(map(self._name, islice(self._mixed, _NAMED_MAX)))
            names += ", …" if len(self._mixed) > _NAMED_MAX else ""
            yield f"three or more recursions mix freely at {names}; each is shown alone"

    def expressions(self) -> Iterator[PathExpression]:
        """All expressions as far as the steps suffice, those with the fewest labels first."""
        heap = [self._prefix((), DOCUMENT_NODE, 0)]
        while heap:
            here = heapq.heappop(heap)
            # A whole expression waits in the heap like any other, so that shorter ones come first.
            if here.state == _WHOLE:
                yield here.parts
                continue
            if self._steps_left < 0:
                self.left_out["steps"] = f"the search ended after {SHOWING_STEPS_MAX:,} steps"
                continue
            for prefix in self._continued(here):
                heapq.heappush(heap, prefix)

    def _continued(self, here: _Prefix) -> Iterator[_Prefix]:
        """The continuations of a prefix; those with loops are queued first as prefixes."""
        parts = here.parts
        if not here.has_loops:
            parts, *others = self._with_loops(here)
            for other in others:
                yield self._prefix(other, here.state, here.visited, has_loops=True)
        leaves = [*self._leaves(here.state)]
        for leaf in leaves:
            yield self._prefix((*parts, leaf), _WHOLE, 0)
        visited = here.visited | 1 << here.state
        followers = [
            (label, target)
            for label, target in self._paths.states[here.state].edges
            if not visited >> target & 1
        ]
        is_end = not followers or (self._may_end(here.state) and not self._with_text)
        if parts and is_end and not leaves:
            yield self._prefix(parts, _WHOLE, 0)
        if _size(parts) < EXPRESSION_LABELS_MAX:
            for label, target in followers:
                yield self._prefix((*parts, label), target, visited)
        elif followers:
            self.left_out["labels"] = (
                f"expressions of more than {EXPRESSION_LABELS_MAX} labels are not shown"
            )

    def _prefix(
        self, parts: PathExpression, state: int, visited: int, *, has_loops: bool = False
    ) -> _Prefix:
        self._steps_left -= 1
        return _Prefix(_size(parts), -self._steps_left, parts, state, visited, has_loops)

    def _may_end(self, state: int) -> bool:
        """Whether many paths end at an element: it has text."""
        return self._paths.states[state].text is TextKind.ANY

    def _leaves(self, state: int) -> Iterator[Label]:
        if self._with_text and self._may_end(state):
            yield TEXT
        if self._with_attributes:
            for label, _values in self._paths.states[state].attributes:
                yield label

    def _with_loops(self, here: _Prefix, nesting: int = 0) -> Iterator[PathExpression]:
        """The prefix as it is, and with each repetition that may stand at its end."""
        loops = self._loops(here.state, here.visited, nesting)
        if len(loops) == 1 and here.parts[-len(loops[0]) :] == loops[0]:
            yield (*here.parts[: -len(loops[0])], Repeated(loops[0]))
            return
        yield here.parts
        for repeated in _repetitions(loops):
            yield here.parts + repeated

    def _loops(self, state: int, visited: int, nesting: int) -> tuple[PathExpression, ...]:
        """The loops of a state past no visited state; at most one more than can be mixed."""
        short = self._short_loops(state)
        open_loops = [loop for loop, passed in short if not passed & visited]
        if len(open_loops) > _MIXED_MAX:
            self._mixed[state] = None
        if not short or state in self._mixed:
            # Something is left out here anyway, so the known loops will do.
            return tuple(open_loops[: _MIXED_MAX + 1])
        key = (state, self._around(state, visited))
        if key not in self._known:
            self._known[key] = self._find_loops(*key, nesting) if key[1] else ()
        return self._known[key]

    def _short_loops(self, state: int) -> list[tuple[PathExpression, int]]:
        """Some of the shortest loops with the states they pass, whatever was visited."""
        if state not in self._short_by_state:
            loops = self._plain_loops(state, self._around(state, 0))
            self._short_by_state[state] = list(islice(loops, _SHORT_LOOPS_MAX))
        return self._short_by_state[state]

    def _find_loops(self, state: int, around: int, nesting: int) -> tuple[PathExpression, ...]:
        """The loops; the state is noted if there are more than can be mixed.

        Loops without repetitions, of which there are fewer, show this soonest.
        """
        found = tuple(loop for loop, _ in islice(self._plain_loops(state, around), _MIXED_MAX + 1))
        if len(found) <= _MIXED_MAX and nesting < _NESTED_MAX and state not in self._mixed:
            found = tuple(islice(self._all_loops(state, around, nesting), _MIXED_MAX + 1))
        if len(found) > _MIXED_MAX or nesting == _NESTED_MAX:
            self._mixed[state] = None
        return found

    def _plain_loops(self, home: int, around: int) -> Iterator[tuple[PathExpression, int]]:
        """Loops without repetitions, the shortest first; only some of them if there are many."""
        waiting: deque[tuple[PathExpression, int, int]] = deque([((), home, 0)])
        for _ in range(_PLAIN_STEPS_MAX):
            if not waiting:
                return
            parts, state, passed = waiting.popleft()
            for label, target in self._paths.states[state].edges:
                if target == home:
                    yield (*parts, label), passed
                elif around >> target & 1 and not passed >> target & 1:
                    waiting.append(((*parts, label), target, passed | 1 << target))
        self._mixed[home] = None

    def _all_loops(self, home: int, around: int, nesting: int) -> Iterator[PathExpression]:
        heap = [self._prefix((), home, ~around | 1 << home)]
        while heap and self._steps_left >= 0:
            here = heapq.heappop(heap)
            if here.state == _WHOLE:
                yield here.parts
                continue
            is_start = not here.parts
            visited = here.visited | 1 << here.state
            for parts in [()] if is_start else self._with_loops(here, nesting + 1):
                for label, target in self._paths.states[here.state].edges:
                    if target == home:
                        heapq.heappush(heap, self._prefix((*parts, label), _WHOLE, 0))
                    elif not visited >> target & 1:
                        heapq.heappush(heap, self._prefix((*parts, label), target, visited))

    def _around(self, state: int, visited: int) -> int:
        """The states on loops of a state, itself included; 0 if there is no loop."""
        home = 1 << state
        allowed = ~visited | home
        below = reached_from(home, self._next, allowed)
        return below & reached_from(home, self._before, allowed) if below & home else 0

    def _name(self, state: int) -> str:
        return next(
            label_text(label) for _, label, target in self._paths.edges() if target == state
        )


def _size(parts: PathExpression) -> int:
    return sum(_size(part.parts) if isinstance(part, Repeated) else 1 for part in parts)


def _repetitions(loops: tuple[PathExpression, ...]) -> Iterator[PathExpression]:
    """Repetitions of one or more loops, as far as ``( )+`` alone can express them."""
    for loop in loops:
        yield (_repeated(loop),)
    if len(loops) == _MIXED_MAX:
        x, y = map(_repeated, loops)
        for first, second in ((x, y), (y, x)):
            both = Repeated((first, second))
            yield (both,)
            yield (both, first)


def _repeated(loop: PathExpression) -> Repeated:
    """A repeated loop, without double repetition: ``((x)+)+`` is ``(x)+``."""
    only = loop[0] if len(loop) == 1 else None
    return only if isinstance(only, Repeated) else Repeated(loop)


def _join_loops(found: list[PathExpression]) -> list[PathExpression]:
    """The same paths with ``/x/y`` and ``/x(y/x)+/y`` joined to ``(x/y)+``."""
    kept = dict.fromkeys(found)
    for expression in found:
        for place, part in enumerate(expression):
            if not isinstance(part, Repeated) or expression not in kept:
                continue
            shorter = expression[:place] + expression[place + 1 :]
            start = _loop_start(expression, place, part.parts)
            if start is not None and shorter in kept:
                length = len(part.parts)
                repeated = Repeated(shorter[start : start + length])
                joined = (*shorter[:start], repeated, *shorter[start + length :])
                kept = {
                    (joined if one == shorter else one): None for one in kept if one != expression
                }
    return list(kept)


def _loop_start(expression: PathExpression, place: int, inside: PathExpression) -> int | None:
    """Where ``x/y`` begins if the part at the place is ``(y/x)+`` between an x and a y."""
    for ahead in range(len(inside) + 1):
        back = len(inside) - ahead
        start = place - back
        if (
            start >= 0
            and expression[start:place] == inside[ahead:]
            and expression[place + 1 : place + 1 + ahead] == inside[:ahead]
        ):
            return start
    return None
