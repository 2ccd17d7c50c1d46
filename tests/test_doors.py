"""Every public callable of every room has a door: what nobody foresaw leaves as an InternalError.

The names come from ``__all__``, so whoever adds an entrance without a door hears of it here.
"""

from __future__ import annotations

import dataclasses
import enum
import inspect
import typing
from collections.abc import Iterator
from importlib import import_module
from typing import Any

import pytest

from twigcast.door import door
from twigcast.errors import InternalError
from twigcast.language import Pattern
from twigcast.routing import Network, Router
from twigcast.routing.events import BrokerId, Change, LinkUp
from twigcast.routing.forwarding.forwarder import Forwarder
from twigcast.routing.wire import frames as wire

ROOMS = [
    "twigcast",
    "twigcast.covering",
    "twigcast.files",
    "twigcast.language",
    "twigcast.library",
    "twigcast.library.explaining",
    "twigcast.library.matcher",
    "twigcast.library.network",
    "twigcast.matching",
    "twigcast.routing",
    "twigcast.routing.strategy",
    "twigcast.routing.wire.frames",
    "twigcast.simulator",
]

WITHOUT_WORK = {
    "Assembler.__init__",
    "Assembler.clear",
    "Document.__init__",
    "Finding.rows",
    "Measured.__init__",
    "Pattern.for_libxml2",
    "PublicationLimits.unpacked_bytes_max",
    "Router.wake_at",
    "Tally.count",
    "Traffic.__init__",
}
"""What only sets fields, or tells what stands in a frozen value."""

CALLED_BY_US = {
    "CostModel.of_document",
    "CostModel.of_event",
    "Measured.of_document",
    "Measured.of_event",
}
"""What a simulation calls, behind its own door, with work that is the simulation's."""

WITHOUT_A_DOOR = WITHOUT_WORK | CALLED_BY_US


def is_plain_value(kind: type) -> bool:
    """Whether a class has the constructor that Python has written for it."""
    return (
        dataclasses.is_dataclass(kind)
        or issubclass(kind, tuple | enum.Enum | BaseException)
        or getattr(kind, "_is_protocol", False)
        or kind.__init__ is object.__init__
    )


def callables_of(kind: type) -> Iterator[tuple[str, Any]]:
    """The public methods of a class, those it has from a base class of ours among them."""
    seen: set[str] = set()
    for base in kind.__mro__:
        if not base.__module__.startswith("twigcast"):
            continue
        for name, given in vars(base).items():
            if name in seen:
                continue
            seen.add(name)
            made = given.__func__ if isinstance(given, classmethod | staticmethod) else given
            is_constructor = name == "__init__" and not is_plain_value(kind)
            if inspect.isfunction(made) and (is_constructor or not name.startswith("_")):
                yield f"{kind.__name__}.{name}", made


def entrances(room: str) -> Iterator[tuple[str, Any]]:
    module = import_module(room)
    for name in typing.cast("list[str]", module.__all__):
        given = getattr(module, name)
        if inspect.isclass(given):
            if not issubclass(given, BaseException) and given.__module__.startswith("twigcast"):
                yield from callables_of(given)
        elif inspect.isfunction(given):
            yield given.__name__, given


def has_door(made: Any) -> bool:  # noqa: ANN401
    """Whether a function is what a door has made of it."""
    cells = made.__closure__ or ()
    if any(isinstance(cell.cell_contents, door) for cell in cells):
        return True
    wrapped = getattr(made, "__wrapped__", None)
    return wrapped is not None and has_door(wrapped)


@pytest.mark.parametrize("room", ROOMS)
def test_every_public_callable_has_a_door(room: str) -> None:
    open_ones = {name for name, made in entrances(room) if not has_door(made)}
    assert open_ones - WITHOUT_A_DOOR == set()


def test_what_needs_no_door_is_still_there() -> None:
    open_ones = {name for room in ROOMS for name, made in entrances(room) if not has_door(made)}
    assert open_ones >= WITHOUT_WORK


def test_an_entrance_without_a_door_would_be_noticed() -> None:
    class Added:
        def __init__(self, given: int) -> None:
            self.given = given

        def entrance(self) -> int:
            return self.given

        @door("trying")
        def guarded(self) -> int:
            return self.given

        @classmethod
        def made(cls) -> int:
            return 1

    Added.__module__ = "twigcast.added"
    found = {name for name, made in callables_of(Added) if not has_door(made)}
    assert found == {"Added.__init__", "Added.entrance", "Added.made"}


def failing(*_: object, **__: object) -> None:
    raise ArithmeticError


def test_a_frame_that_fails_is_told_when_it_is_asked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    parts = wire.frames(Change(1, 1))
    monkeypatch.setattr(wire, "form_of", failing)
    with pytest.raises(InternalError) as caught:
        next(parts)
    assert isinstance(caught.value.__cause__, ArithmeticError)


def test_what_fails_in_reading_a_frame_is_told_and_forgets_what_is_held(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    limits = wire.WireLimits(part_routes_max=1)
    first, second = wire.frames(Change(1, 1, (Pattern("//a"), Pattern("//b"))), limits)
    assembler = wire.Assembler()
    assembler.take(first)
    with monkeypatch.context() as patched:
        patched.setattr("twigcast.routing.wire.messages.read_pattern", failing)
        for call in (
            lambda: assembler.take(second),
            lambda: wire.decode(wire.encode(Change(1, 1, (Pattern("//a"),)))),
            lambda: wire.received(BrokerId("b"), wire.encode(Change(1, 1, (Pattern("//a"),)))),
        ):
            with pytest.raises(InternalError) as caught:
                call()
            assert isinstance(caught.value.__cause__, ArithmeticError)
    assert (assembler.held_bytes, assembler.held_routes) == (0, 0)


def test_what_a_batch_raises_is_the_callers_and_what_settling_raises_is_ours(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    network = Network({"links": [["a", "b"]]})
    with pytest.raises(LookupError), network.batch():
        raise LookupError
    monkeypatch.setattr(Network, "_run", failing)
    with pytest.raises(InternalError), network.batch():
        pass


def test_whoever_is_reported_to_may_fail(monkeypatch: pytest.MonkeyPatch) -> None:
    router = Router("here", report=failing)
    monkeypatch.setattr(Forwarder, "add_link", failing)
    with pytest.raises(InternalError) as caught:
        router.handle(LinkUp(BrokerId("there")), now=0.0)
    assert isinstance(caught.value.__cause__, ArithmeticError)
