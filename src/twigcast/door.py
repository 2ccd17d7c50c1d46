"""Where errors leave Twigcast.

One :class:`door` stands at each public entrance: of the library, a router, a worker, the command
line. None stands further in, so that what failed is told once, and nothing that a caller inside
could have handled is hidden from it.
"""

from __future__ import annotations

from collections.abc import Callable, Generator
from contextlib import ContextDecorator
from functools import wraps
from inspect import isgeneratorfunction
from types import TracebackType
from typing import Any, Final, Self, TypeVar, cast

from twigcast.errors import InternalError, TwigcastError, UsageError
from twigcast.slips import first_slip

__all__ = ["door"]

_Function = TypeVar("_Function", bound=Callable[..., Any])


class door(ContextDecorator):  # noqa: N801  # a verb's manners: it stands behind `with` and `@`
    """Where errors leave Twigcast: nothing but a :class:`TwigcastError` gets through.

    Whatever else was raised inside becomes an :class:`InternalError` with its cause. ``doing`` is
    the beginning of the sentence: what failed. Warnings that the caller made errors of stay what
    they are, and interrupts are none of our business.

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
                except InternalError as error:  # of an entrance that this one has called
                    raise self._told(error, function, args, named) from error.__cause__
                except _MAY_LEAVE:
                    raise
                except Exception as error:
                    raise self._told(error, function, args, named) from error

            return cast("_Function", giving)

        @wraps(function)
        def guarded(*args: object, **named: object) -> object:
            try:
                # Most calls name nothing, and handing on an empty dictionary makes another one.
                return function(*args, **named) if named else function(*args)
            except InternalError as error:  # of an entrance that this one has called
                raise self._told(error, function, args, named) from error.__cause__
            except _MAY_LEAVE:
                raise
            except Exception as error:
                trace = error.__traceback__
                if isinstance(error, TypeError) and (trace is None or trace.tb_next is None):
                    raise  # The function was never entered: the call does not fit it.
                raise self._told(error, function, args, named) from error

        return cast("_Function", guarded)

    def _told(
        self,
        error: Exception,
        function: Callable[..., Any],
        args: tuple[object, ...],
        named: dict[str, object],
    ) -> TwigcastError:
        """What a caller is told of a failure: its own slip, or that it is ours."""
        cause = error.__cause__ if isinstance(error, InternalError) else error
        slip = None if isinstance(cause, _NO_SLIPS) else first_slip(function, args, named)
        if slip is not None:
            return UsageError(f"{self._doing}: {slip}")
        return error if isinstance(error, InternalError) else InternalError(self._doing, error)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if isinstance(error, Exception) and not isinstance(error, _MAY_LEAVE):
            raise InternalError(self._doing, error) from error


_MAY_LEAVE: Final = (TwigcastError, Warning)

_NO_SLIPS: Final = (OSError, MemoryError)
"""What is the machine's fault, whatever the arguments were."""
