"""Callers' slips: arguments that do not fit the signature.

Mypy holds our own code to its signatures. A caller's program may have no such check, and then
something deep inside fails, with an exception that does not mention the call. So whoever has caught
one (:mod:`twigcast.door`) looks here whether an argument was the reason. As long as all goes well,
nothing is checked.

What a signature cannot express, such as how large a number may be, is checked at once: the checks
for numbers, and for the fields of limits and options, are here as well.

    >>> def added(id: int, names: Collection[str] = ()) -> None: ...
    >>> first_slip(added, (1,), {"names": ["a", None]})
    "names is Collection[str], not ['a', None]"
    >>> first_slip(added, (1,), {"names": ["a"]}) is None
    True
"""

from __future__ import annotations

import builtins
import inspect
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import fields
from math import inf, isfinite
from sys import modules
from types import NoneType, SimpleNamespace, UnionType
from typing import (
    IO,
    TYPE_CHECKING,
    Any,
    Final,
    Literal,
    NewType,
    ParamSpec,
    TypeGuard,
    TypeVar,
    Union,
    get_args,
    get_origin,
    get_type_hints,
)

from twigcast.display import shown
from twigcast.errors import UsageError

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

_Item = TypeVar("_Item")
_Taken = ParamSpec("_Taken")

_PACKAGE: Final = __name__.partition(".")[0]

_WHOLE_MAX: Final = 2**63 - 1
"""What 64 bits hold, as the kernel and Spark count."""


def first_slip(
    function: Callable[..., Any], given: tuple[object, ...], named: Mapping[str, object]
) -> str | None:
    """A sentence on the first argument that does not fit the function's signature."""
    signature = inspect.signature(function)
    names = _Names(getattr(function, "__globals__", {}))
    for name, value in signature.bind(*given, **named).arguments.items():
        parameter = signature.parameters[name]
        values = value if parameter.kind is parameter.VAR_POSITIONAL else (value,)
        if parameter.kind is parameter.VAR_KEYWORD or parameter.annotation is parameter.empty:
            continue
        hint = _hint(parameter.annotation, names)
        for one in values:
            if not _fits(one, hint):
                return f"{name} is {parameter.annotation}, not {shown(one)}"
    return None


class _Names(dict[str, object]):
    """What the names in annotations stand for; anything, if only type checkers know them."""

    def __init__(self, known: Mapping[str, object]) -> None:
        super().__init__({**vars(builtins), **known})

    def __missing__(self, name: str) -> object:
        return Any


def _hint(annotation: object, names: _Names) -> object:
    """The type that an annotation stands for; anything, if that cannot be found out."""
    holder = SimpleNamespace(__annotations__={"it": annotation})
    try:
        return get_type_hints(holder, {}, names)["it"]
    except (NameError, AttributeError, TypeError):  # such as pa.Array, where pa is no module here
        return Any


def _fits(value: object, hint: Any) -> bool:  # noqa: ANN401  # There is no type of types.
    """Whether a value is of a type, as far as can be seen without using it up."""
    if isinstance(hint, NewType):
        return _fits(value, hint.__supertype__)
    if isinstance(hint, TypeVar):
        return hint.__bound__ is None or _fits(value, hint.__bound__)
    origin, inside = get_origin(hint), get_args(hint)
    if origin in {Union, UnionType}:
        return any(_fits(value, one) for one in inside)
    if origin is Literal:
        return any(type(value) is type(one) and value == one for one in inside)
    kind = origin or (NoneType if hint is None else hint)
    if isinstance(kind, type) and issubclass(kind, IO):
        return hasattr(value, "read") or hasattr(value, "write")  # No open file is derived of it.
    if kind in {int, float} and isinstance(value, bool):
        return False  # To type checkers it is a number; to people it is not.
    if kind is float:
        kind = int | float
    try:
        if not isinstance(value, kind):
            return False
    except TypeError:  # a protocol, or no type at all: who knows
        return True
    return _holds(value, kind, inside)


def _holds(value: object, kind: object, inside: tuple[Any, ...]) -> bool:
    """Whether what a collection holds is of the types in brackets."""
    if not inside or not isinstance(value, Collection):
        return True  # An iterator can be read only once, and was.
    try:
        if isinstance(value, Mapping):
            return all(_fits(key, inside[0]) and _fits(value[key], inside[-1]) for key in value)
        if kind is tuple and inside[-1] is not ...:
            return len(value) == len(inside) and all(map(_fits, value, inside))
        return all(_fits(one, inside[0]) for one in value)
    except Exception:  # noqa: BLE001 (its iterator may be a stranger's code)
        return False  # What cannot be read is no collection: a view that was released, say.


def caller_items(given: Iterable[_Item]) -> Iterator[_Item]:
    """The items of a caller's iterator; what it raises is the caller's own (:func:`is_callers`)."""
    yield from given


def caller_result(
    function: Callable[_Taken, _Item], *given: _Taken.args, **named: _Taken.kwargs
) -> _Item:
    """The result of a caller's function; what it raises is the caller's own."""
    return function(*given, **named)


def is_callers(error: BaseException) -> bool:
    """Whether an exception was raised by code that the caller had handed in.

    Then our last frame draws from an iterator or calls a function. If these were our own after all,
    there are more of our frames behind.
    """
    last, trace = None, error.__traceback__
    while trace is not None:
        frame = trace.tb_frame
        if str(frame.f_globals.get("__name__")).partition(".")[0] == _PACKAGE:
            last = frame.f_code
        trace = trace.tb_next
    return last in {caller_items.__code__, caller_result.__code__}


def each_of(given: Iterable[_Item], kind: type | UnionType, what: str) -> Iterator[_Item]:
    """One by one, and :class:`UsageError` for what is of another kind: an iterator is read once.

    >>> list(each_of(iter(["a", 5]), str, "names are texts"))
    Traceback (most recent call last):
    twigcast.errors.UsageError: names are texts, and number 2 is 5
    """
    for number, one in enumerate(caller_items(given), 1):
        if not isinstance(one, kind):
            raise UsageError(f"{what}, and number {number:,} is {shown(one)}")
        yield one


def is_number(value: object) -> TypeGuard[float]:
    """Whether it is a finite number, and one that a float comes near to.

    >>> is_number(2), is_number(True), is_number(float("nan")), is_number(10**5000)
    (True, False, False, False)
    """
    if isinstance(value, bool) or not isinstance(value, int | float):
        return False
    try:
        return isfinite(value)
    except OverflowError:
        return False


def check_whole(value: object, name: str) -> None:
    """Raise :class:`UsageError` for what is no whole number from 0 on, or takes over 63 bits.

    Limits and budgets are such numbers: the kernel takes no others.
    """
    if isinstance(value, bool) or not isinstance(value, int) or not 0 <= value <= _WHOLE_MAX:
        raise UsageError(f"{name} is a whole number from 0 to 2**63 - 1, not {shown(value)}")


def check_fields(made: DataclassInstance) -> None:
    """Raise :class:`UsageError` if a field of a dataclass is not what its annotation says.

    Whole numbers are held to :func:`check_whole`; other numbers are not negative.
    """
    kind = type(made)
    for field in fields(made):
        name, value = f"{kind.__name__}: {field.name}", getattr(made, field.name)
        if field.type == "int":
            check_whole(value, name)
        elif field.type == "float":
            if value != inf and not (is_number(value) and value >= 0):
                raise UsageError(f"{name} is a number, 0 or more, not {shown(value)}")
        elif not _fits(value, _hint(field.type, _Names(vars(modules[kind.__module__])))):
            raise UsageError(f"{name} is {field.type}, not {shown(value)}")
