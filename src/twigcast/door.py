"""Where errors leave Twigcast.

One :class:`door` stands at each public entrance: of the library, a router, a worker, the command
line. None stands further in, so that what failed is told once, and nothing that a caller inside
could have handled is hidden from it.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import ContextDecorator
from functools import wraps
from types import TracebackType
from typing import Any, Final, Self, TypeVar, cast

from twigcast.errors import InternalError, TwigcastError

__all__ = ["door"]

_Function = TypeVar("_Function", bound=Callable[..., Any])


class door(ContextDecorator):  # noqa: N801  # a verb's manners: it stands behind `with` and `@`
    """Where errors leave Twigcast: nothing but a :class:`TwigcastError` gets through.

    Whatever else was raised inside becomes an :class:`InternalError` with its cause. ``doing`` is
    the beginning of the sentence: what failed. Warnings that the caller made errors of stay what
    they are, and interrupts are none of our business.

    >>> with door("matching a document"):
    ...     {}["b"]
    Traceback (most recent call last):
    twigcast.errors.InternalError: matching a document failed: KeyError: 'b'; this is a bug in \
Twigcast: please report it, with the input

    A generator is guarded by ``with`` inside it: ``@`` would guard its making only.
    """

    __slots__ = ("_doing",)

    def __init__(self, doing: str) -> None:
        self._doing = doing

    def __call__(self, function: _Function) -> _Function:
        """The function with a door around it."""

        @wraps(function)
        def guarded(*args: object, **named: object) -> object:
            try:
                return function(*args, **named)
            except _MAY_LEAVE:
                raise
            except Exception as error:
                trace = error.__traceback__
                if isinstance(error, TypeError) and (trace is None or trace.tb_next is None):
                    raise  # The function was never entered: the call does not fit it.
                raise InternalError(self._doing, error) from error

        return cast("_Function", guarded)

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
