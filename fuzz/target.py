"""Targets: how cases are made, and what must hold for each of them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module
from pkgutil import iter_modules
from random import Random
from typing import Any, Final

__all__ = ["ACCEPTED", "REFUSED", "UNDECIDED", "Fault", "Target", "find_target", "target_names"]

ACCEPTED: Final = "accepted"
REFUSED: Final = "refused"
UNDECIDED: Final = "undecided"

_PACKAGE: Final = "fuzz.targets"


class Fault(AssertionError):  # noqa: N818  # a finding, not an error of the fuzzer
    """Something that must hold does not: ``kind`` says what, in few words."""

    def __init__(self, kind: str, details: str) -> None:
        self.kind = kind
        super().__init__(f"{kind}: {details}")


@dataclass(frozen=True)
class Target:
    """A thing that is fuzzed.

    A case is a value that JSON can hold, of the type ``kind``: a msgspec struct of texts, numbers
    and lists. Bytes stand in it as texts (:func:`fuzz.cases.as_text`). ``check`` returns how the
    case ended (``accepted``, ``refused``, ``undecided``), and raises where something is wrong.
    Whatever it raises is a fault, so it lets only the errors pass that are allowed.
    """

    name: str
    summary: str
    kind: type
    generate: Callable[[Random], Any]
    check: Callable[[Any], str]
    prepare: Callable[[], str | None] = lambda: None
    """Run once before the first case. Returns why the target cannot run on this machine, if so."""


def target_names() -> list[str]:
    """The targets of this package, in the order of their names."""
    return sorted(module.name for module in iter_modules(import_module(_PACKAGE).__path__))


def find_target(name: str) -> Target:
    """The target of that name. A name with a dot is that of a module that has a ``TARGET``.

    Raises :class:`LookupError` if there is none.
    """
    module = name if "." in name else f"{_PACKAGE}.{name}"
    if "." not in name and name not in target_names():
        raise LookupError(f"no target {name!r}; there are: {', '.join(target_names())}")
    try:
        target = import_module(module).TARGET
    except (ModuleNotFoundError, AttributeError) as error:
        raise LookupError(f"{module} has no TARGET: {error}") from error
    assert isinstance(target, Target)
    return target
