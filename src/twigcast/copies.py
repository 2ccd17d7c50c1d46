"""Copies of what can be changed: what one of them changes, the other does not see.

Left to itself, ``copy.copy`` hands out an object with the same insides, and ``copy.deepcopy`` and
``pickle`` fail at the first lock. So whatever is public and can be changed is of one of two kinds:
:class:`Copied`, which says in ``__reduce__`` how it is made again, and that serves all three; or
:class:`Uncopied`, which says what to do instead.

A copy is made without the ``__init__`` of its class, for that of a subclass may take something
else. What a subclass keeps beside comes along.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import ClassVar, NoReturn, TypeVar

from twigcast.errors import UsageError

_Made = TypeVar("_Made")


class Copied:
    """Something that is copied by its ``__reduce__``."""

    __slots__ = ()

    def __setstate__(self, state: dict[str, object]) -> None:
        for name, value in state.items():
            setattr(self, name, value)


class Uncopied:
    """Something of which there is no copy.

    >>> class Wire(Uncopied, instead="open another"): ...
    >>> from copy import copy
    >>> copy(Wire())
    Traceback (most recent call last):
    twigcast.errors.UsageError: a Wire is not copied; open another
    """

    __slots__ = ()

    _instead: ClassVar[str]

    def __init_subclass__(cls, *, instead: str | None = None) -> None:
        super().__init_subclass__()
        if instead is not None:
            cls._instead = f"a {cls.__name__} is not copied; {instead}"

    def __reduce__(self) -> NoReturn:
        raise UsageError(self._instead)


def blank(kind: type[_Made]) -> _Made:
    """An object of a class, with nothing in it yet."""
    return kind.__new__(kind)


def as_kind(kind: type[_Made], made: _Made) -> _Made:
    """What was made of a class, as an object of a subclass of it."""
    copied = blank(kind)
    for name, value in attributes(made).items():
        setattr(copied, name, value)
    return copied


def attributes(made: object, *, but: Collection[str] = ()) -> dict[str, object]:
    """What an object holds by name, in slots or not, without some of it."""
    state = object.__getstate__(made)
    parts = state if isinstance(state, tuple) else (state,)
    return {
        name: value
        for part in parts
        if isinstance(part, dict)
        for name, value in part.items()
        if name not in but
    }
