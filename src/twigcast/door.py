"""Doors: the public entrances, which only errors of Twigcast leave.

One :class:`door` stands at each: of the library, a router, a worker, the command line. None stands
further in, so that a failure is reported once, and nothing that a caller inside could have handled
is hidden from it.
"""

from __future__ import annotations

from collections.abc import Callable, Generator
from contextlib import ContextDecorator
from functools import wraps
from inspect import isgeneratorfunction
from types import TracebackType
from typing import Any, Final, Self, TypeVar, cast

from twigcast.errors import InternalError, TwigcastError, UsageError
from twigcast.slips import first_slip, is_callers

_Function = TypeVar("_Function", bound=Callable[..., Any])


class door(ContextDecorator):  # noqa: N801  # a verb's manners: it stands behind `with` and `@`
    """A public entrance: nothing but a :class:`TwigcastError` gets out.

    Whatever else was raised inside becomes an :class:`InternalError` with its cause. ``doing`` is
    the beginning of the sentence: what failed. Warnings that the caller made errors of stay what
    they are, and interrupts are none of our business.

    What a caller's own code raises, in an iterator or a function that it has handed in, is its own
    as well, and passes as it is (:func:`twigcast.slips.is_callers`).

    A function that was given what its own signature does not allow has not failed: its caller has
    made a slip, which is a :class:`UsageError`. That is looked into only after something was
    raised, so a call that succeeds pays nothing for it (:mod:`twigcast.slips`).

    >>> @door("adding numbers")
    ... def total(numbers: list[int]) -> int:
    ...     return sum(numbers)
    >>> total("ab")
    Traceback (most recent call last):
    twigcast.errors.UsageError: adding numbers: numbers is list[int], not 'ab'

    >>> with door("matching a document"):
    ...     {}["b"]
    Traceback (most recent call last):
    twigcast.errors.InternalError: matching a document failed: KeyError: 'b'; this is a bug in \
Twigcast: please report it, with the input

    A generator is guarded as long as it gives something.
    """

    __slots__ = ("_doing",)

    def __init__(self, doing: str) -> None:
        self._doing = doing

    def __call__(self, function: _Function) -> _Function:
        """The function with a door around it."""
        if isgeneratorfunction(function):

            @wraps(function)
            def giving(*args: object, **named: object) -> Generator[object, Any, object]:
                try:
                    return (yield from function(*args, **named))
                except Exception as error:
                    outgoing = self._outgoing(error, function, args, named)
                    if outgoing is error:
                        raise
                    raise outgoing from _cause(error)

            return cast("_Function", giving)

        @wraps(function)
        def guarded(*args: object, **named: object) -> object:
            try:
                # Most calls name nothing, and handing on an empty dictionary makes another one.
                return function(*args, **named) if named else function(*args)
            except Exception as error:
                trace = error.__traceback__
                if isinstance(error, TypeError) and (trace is None or trace.tb_next is None):
                    raise  # The function was never entered: the call does not fit it.
                outgoing = self._outgoing(error, function, args, named)
                if outgoing is error:
                    raise
                raise outgoing from _cause(error)

        return cast("_Function", guarded)

    def _outgoing(
        self,
        error: Exception,
        function: Callable[..., Any],
        args: tuple[object, ...],
        named: dict[str, object],
    ) -> Exception:
        """The error that the caller gets: the same, its own slip, or one of ours."""
        if isinstance(error, _MAY_LEAVE) and not isinstance(error, InternalError):
            return error
        # An InternalError is of an entrance that this one has called.
        slip = None if isinstance(_cause(error), _NO_SLIPS) else first_slip(function, args, named)
        if slip is not None:
            return UsageError(f"{self._doing}: {slip}")
        if isinstance(error, InternalError) or is_callers(error):
            return error
        return InternalError(self._doing, error)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if error is None or not isinstance(error, Exception) or isinstance(error, _MAY_LEAVE):
            return
        if not is_callers(error):
            raise InternalError(self._doing, error) from error


_MAY_LEAVE: Final = (TwigcastError, Warning)

_NO_SLIPS: Final = (OSError, MemoryError)
"""What is the machine's fault, whatever the arguments were."""


def _cause(error: Exception) -> BaseException | None:
    """What failed in the first place."""
    return error.__cause__ if isinstance(error, InternalError) else error
