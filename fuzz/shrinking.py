"""A smaller case that fails in the same way: parts are left out as long as it still fails.

A case is taken apart as JSON. From each list some items are left out, from each text some
characters: first halves, then quarters, down to single ones. Nothing is known about what they
mean, so this works for every target.

One thing must be known: an expression may stand in a case twice, as a subscriber writes it
(``text``) and as libxml2 reads it (``oracle``). With one of the two shortened, they would ask for
different things, and the case would fail for that reason. Where both are the same text they are
shortened together, and where they differ both stay whole.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import msgspec

__all__ = ["shrunk"]

_Key = str | int

_TEXT, _ORACLE = "text", "oracle"


def shrunk(
    case: Any,  # noqa: ANN401  # of any kind
    kind: type,
    still_fails: Callable[[Any], bool],
    *,
    is_over: Callable[[], bool],
) -> Any:  # noqa: ANN401  # of the same kind
    """A case of that kind that still fails, as small as could be found before it is over."""
    value = msgspec.to_builtins(case)
    progress = True
    while progress and not is_over():
        progress = False
        for smaller in _smaller(value):
            if is_over():
                break
            try:
                tried: Any = msgspec.convert(smaller, kind)
            except msgspec.ValidationError:
                continue
            if still_fails(tried):
                value, progress = smaller, True
                break
    return msgspec.convert(value, kind)


def _smaller(value: Any) -> Iterator[Any]:  # noqa: ANN401  # whatever JSON holds
    """The value with one part left out, large parts first."""
    places = sorted(_places(value), key=lambda place: -len(_at(value, place)))
    longest = max((len(_at(value, place)) for place in places), default=0)
    size = longest // 2
    while size:
        for place in places:
            whole = _at(value, place)
            if len(whole) >= size:
                for start in range(0, len(whole), size):
                    yield _replaced(value, place, whole[:start] + whole[start + size :])
        size //= 2
    for place in places:
        if len(_at(value, place)) == 1:
            yield _replaced(value, place, _at(value, place)[:0])


def _places(value: Any, place: tuple[_Key, ...] = ()) -> Iterator[tuple[_Key, ...]]:  # noqa: ANN401
    """Where lists and texts stand that are not empty."""
    if isinstance(value, str | list) and value:
        yield place
    if isinstance(value, dict):
        left_alone = (_ORACLE,) if value.get(_TEXT) == value.get(_ORACLE) else (_TEXT, _ORACLE)
        for key, item in value.items():
            if not (value.get(_ORACLE) and key in left_alone):
                yield from _places(item, (*place, key))
    elif isinstance(value, list):
        for number, item in enumerate(value):
            yield from _places(item, (*place, number))


def _at(value: Any, place: tuple[_Key, ...]) -> Any:  # noqa: ANN401
    for key in place:
        value = value[key]
    return value


def _replaced(value: Any, place: tuple[_Key, ...], part: Any) -> Any:  # noqa: ANN401
    """The value with another part in that place, and in that of the oracle if it said the same."""
    copy = _with(value, place, part)
    if place and place[-1] == _TEXT and _at(value, place[:-1]).get(_ORACLE):
        copy = _with(copy, (*place[:-1], _ORACLE), part)
    return copy


def _with(value: Any, place: tuple[_Key, ...], part: Any) -> Any:  # noqa: ANN401
    """The value with another part in that place."""
    if not place:
        return part
    copy = value.copy()
    copy[place[0]] = _with(value[place[0]], place[1:], part)
    return copy
