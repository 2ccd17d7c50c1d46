"""Hash consing: values that exist once, so that equal means identical.

A million subscriptions have many parts in common: ``//news/head``, ``@lang='en'``. Parts of
patterns are therefore *hash-consed*: making a value that already exists returns the existing one.
Equality is then a comparison of addresses, hashing costs nothing, and a part shared by a thousand
patterns is stored once.

    >>> from twigcast.language.condition.model import Not, TRUE
    >>> Not(TRUE) is Not(TRUE)
    True

The table holds its values weakly, so it is no larger than what is in use. When a value dies, its
entry is only appended to a list, since that can happen at any time and on any thread; entries are
removed under the lock under which they are inserted. The standard library's weak dictionary is more
general, and three times as slow: parsing spends its time here.
"""

from __future__ import annotations

import os
from collections import deque
from dataclasses import fields
from threading import RLock
from typing import TypeVar
from weakref import ref

_T = TypeVar("_T")


class _WeakEntry(ref[object]):
    """A weak reference to a value, with its key in the table."""

    __slots__ = ("key",)

    key: tuple[object, ...]


_entries: dict[tuple[object, ...], _WeakEntry] = {}
_dead: deque[_WeakEntry] = deque()
_lock = RLock()
"""Taken by ``with`` alone: Ctrl-C can come between any other call and what gives it back."""
_is_changing = False
"""Whether somebody who has the lock changes the table, perhaps this very thread further out."""

if hasattr(os, "register_at_fork"):
    # A process is forked only between two changes of the table: a lock held by another thread
    # during the fork would stay locked in the new process for ever.
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
        return _inserted(cls, key) if value is None else value  # type: ignore[return-value]


def rebuilt(value: object) -> tuple[object, tuple[object, ...]]:
    """What ``__reduce__`` returns, so that copying and unpickling intern again."""
    names = fields(value)  # type: ignore[arg-type]  # Interned values are dataclasses.
    return type(value), tuple(getattr(value, field.name) for field in names)


def _inserted(cls: type[_T], key: tuple[object, ...]) -> _T:
    """The value of a key that was not in the table.

    Two threads may have missed it at once; only one of their values may enter the table. Nor is
    this thread safe from itself: while the value is built, garbage may be collected, and code that
    runs then may build it too. So the table is looked up again once the value is ready.
    """
    with _lock:
        if _dead:
            _remove_dead()
        return _put(cls, key)


def _put(cls: type[_T], key: tuple[object, ...]) -> _T:
    global _is_changing  # noqa: PLW0603 - one table, one flag
    before, _is_changing = _is_changing, True
    try:
        value: _T = type.__call__(cls, *key[1:])
        entry = _WeakEntry(value, _on_death)
        entry.key = key
        while (there := _entries.setdefault(key, entry)) is not entry:
            other = there()
            if other is not None:
                return other  # type: ignore[return-value]  # The key begins with the class itself.
            if _entries.get(key) is there:
                del _entries[key]  # It died, and was not yet taken out.
        return value
    finally:
        _is_changing = before


def _on_death(entry: ref[object]) -> None:
    _dead.append(entry)  # type: ignore[arg-type]  # Only entries have this callback.
    if not _is_changing:
        # Otherwise nobody waits here, where garbage is collected: whoever is next removes it.
        with _lock:
            _remove_dead()


def _remove_dead() -> None:
    """Remove the entries of dead values, and of those that die with them; needs the lock."""
    global _is_changing  # noqa: PLW0603 - one table, one flag
    before, _is_changing = _is_changing, True
    try:
        while _dead:
            entry = _dead.popleft()
            # The value may have been made anew in the meantime, under an entry of its own.
            if _entries.get(entry.key) is entry:
                del _entries[entry.key]
            del entry  # This also frees its key, and parts that only the key still held.
    finally:
        _is_changing = before
