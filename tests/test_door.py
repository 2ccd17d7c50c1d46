"""Nothing but our own errors gets through a door."""

from __future__ import annotations

import pytest

from twigcast.door import door
from twigcast.errors import FloodingWarning, InternalError, TwigcastError, UsageError


class _Untold(Exception):  # noqa: N818  # whatever it is called, it is not ours
    def __str__(self) -> str:
        raise ValueError


@pytest.mark.parametrize(
    "foreign",
    [
        KeyError("b"),
        RecursionError(),
        UnicodeDecodeError("utf-8", b"\xff", 0, 1, "invalid start byte"),
        MemoryError(),
        AssertionError("a broken promise"),
        StopIteration(),
        OSError(28, "No space left on device"),
        _Untold(),
    ],
    ids=lambda error: type(error).__name__,
)
def test_what_nobody_foresaw_leaves_a_door_as_an_internal_error(foreign: Exception) -> None:
    with pytest.raises(InternalError) as caught, door("matching a document"):
        raise foreign
    assert caught.value.__cause__ is foreign
    assert str(caught.value).startswith(f"matching a document failed: {type(foreign).__name__}")
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("kind", [TwigcastError, UsageError, InternalError])
def test_our_own_errors_leave_a_door_as_they_are(kind: type[TwigcastError]) -> None:
    error = kind("reading", KeyError("b")) if kind is InternalError else kind("no such thing")
    with pytest.raises(TwigcastError) as caught, door("matching a document"):
        raise error
    assert caught.value is error


@pytest.mark.parametrize("stop", [KeyboardInterrupt(), SystemExit(3), GeneratorExit()])
def test_a_door_lets_interrupts_pass(stop: BaseException) -> None:
    with pytest.raises(type(stop)) as caught, door("matching a document"):
        raise stop
    assert caught.value is stop


def test_a_door_lets_warnings_pass_that_the_caller_made_errors_of() -> None:
    with pytest.raises(FloodingWarning), door("publishing a document"):
        raise FloodingWarning


def test_a_door_can_stand_at_a_function() -> None:
    @door("dividing")
    def divide(number: int) -> float:
        return number / 0

    for _ in range(2):
        with pytest.raises(InternalError, match="dividing failed: ZeroDivisionError"):
            divide(1)
