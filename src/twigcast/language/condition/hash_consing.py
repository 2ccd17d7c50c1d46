"""Values that exist once: equal means identical.

A million subscriptions say much the same things: ``//news/head``, ``@lang='en'``. Parts of
patterns are therefore *hash-consed*: making a value that already exists returns the existing one.
Equality is then a comparison of addresses, hashing costs nothing, and a part shared by a thousand
patterns is stored once.

    >>> from twigcast.language.condition.model import Not, TRUE
    >>> Not(TRUE) is Not(TRUE)
    True

The table holds its values weakly, so it is no larger than what is in use. When a value dies, its
entry is only put on a list, since that can happen at any moment and on any thread; entries are
taken out under the lock under which they are put in. The standard library's weak dictionary does
the same in more general, and three times as slow: parsing spends its time here.
"""

from __future__ import annotations

import os
from collections import deque
from dataclasses import fields
from threading import RLock
from typing import TypeVar
from weakref import ref

__all__ = ["Interned", "interned_count"]

_T = TypeVar("_T")


class _Entry(ref[object]):
    """A weak hold on a value, and the key it is filed under."""

    __slots__ = ("key",)

    key: tuple[object, ...]


_entries: dict[tuple[object, ...], _Entry] = {}
_dead: deque[_Entry] = deque()
_lock = RLock()
if hasattr(os, "register_at_fork"):
    # A process is forked between two changes of the table: the lock that another thread holds in
    # that moment would be held in the new process for ever.
    os.register_at_fork(
        before=_lock.acquire, after_in_parent=_lock.release, after_in_child=_lock.release
    )


class Interned(type):
    """Metaclass of the hash-consed values: frozen dataclasses without an ``__eq__`` of their own.

    Arguments are positional and hashable, in the order of the fields.
    """

    def __call__(cls: type[_T], *arguments: object) -> _T:
        """The one value of the class with these fields."""
        key = (cls, *arguments)
        entry = _entries.get(key)
        value = None if entry is None else entry()
        return _made(cls, key) if value is None else value  # type: ignore[return-value]


def rebuilt(value: object) -> tuple[object, tuple[object, ...]]:
    """What ``__reduce__`` returns, so that copying and unpickling intern again."""
    names = fields(value)  # type: ignore[arg-type]  # Interned values are dataclasses.
    return type(value), tuple(getattr(value, field.name) for field in names)


def interned_count() -> int:
    """How many values are alive in the table."""
    with _lock:
        _clear_away()
        return len(_entries)


def _made(cls: type[_T], key: tuple[object, ...]) -> _T:
    """A value that was not there a moment ago.

    Two threads may have missed it at once; only one of theirs may become *the* value. And while it
    is being made garbage may be collected on this very thread, and whatever runs then may make it,
    too: so it is looked for only when it is ready to be put in.
    """
    with _lock:
        if _dead:
            _clear_away()
        value: _T = type.__call__(cls, *key[1:])
        entry = _Entry(value, _died)
        entry.key = key
        while (there := _entries.setdefault(key, entry)) is not entry:
            other = there()
            if other is not None:
                return other  # type: ignore[return-value]  # The key begins with the class itself.
            if _entries.get(key) is there:
                del _entries[key]  # It died, and was not yet taken out.
        return value


def _died(entry: ref[object]) -> None:
    _dead.append(entry)  # type: ignore[arg-type]  # Only entries are given this to call.
    # Whoever holds the lock may be ourselves, further up; then the next to take it clears away.
    if _lock.acquire(blocking=False):
        try:
            _clear_away()
        finally:
            _lock.release()


def _clear_away() -> None:
    """Take out the entries of dead values, and of those that die with them; the lock is held."""
    while _dead:
        entry = _dead.popleft()
        # The value may have been made anew in the meantime, under an entry of its own.
        if _entries.get(entry.key) is entry:
            del _entries[entry.key]
        del entry  # With it goes its key, and parts that only the key still held.
