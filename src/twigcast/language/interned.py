"""Values that exist once: equal means identical.

A million subscriptions say much the same things: ``//news/head``, ``@lang='en'``. Parts of
patterns are therefore *hash-consed*: making a value that already exists returns the existing one.
Equality is then a comparison of addresses, hashing costs nothing, and a part shared by a thousand
patterns is stored once.

    >>> from twigcast.language.condition import Not, TRUE
    >>> Not(TRUE) is Not(TRUE)
    True

The table holds its values weakly, so it is no larger than what is in use.
"""

from __future__ import annotations

from dataclasses import fields
from threading import Lock
from typing import TypeVar
from weakref import WeakValueDictionary

__all__ = ["Interned", "interned_count"]

_T = TypeVar("_T")
_values: WeakValueDictionary[tuple[object, ...], object] = WeakValueDictionary()
_lock = Lock()


class Interned(type):
    """Metaclass of the hash-consed values: frozen dataclasses without an ``__eq__`` of their own.

    Arguments are positional and hashable, in the order of the fields.
    """

    def __call__(cls: type[_T], *arguments: object) -> _T:
        """The one value of the class with these fields."""
        key = (cls, *arguments)
        value = _values.get(key)
        if value is None:
            # Two threads may miss at once; only one of their values may become *the* value.
            with _lock:
                value = _values.get(key)
                if value is None:
                    value = type.__call__(cls, *arguments)
                    _values[key] = value
        return value  # type: ignore[return-value]  # The key begins with the class itself.


def rebuilt(value: object) -> tuple[object, tuple[object, ...]]:
    """What ``__reduce__`` returns, so that copying and unpickling intern again."""
    names = fields(value)  # type: ignore[arg-type]  # Interned values are dataclasses.
    return type(value), tuple(getattr(value, field.name) for field in names)


def interned_count() -> int:
    """How many values are alive in the table."""
    return len(_values)
