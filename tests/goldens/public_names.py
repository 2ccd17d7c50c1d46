"""The public names of each room: functions, classes, what they take and what they have.

Annotations are written without the modules that names come from, so that moving a class from one
file to another changes nothing here; renaming it, or an argument, does.
"""

from __future__ import annotations

import dataclasses
import inspect
import re
import typing
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import Any, Final

from tests.goldens.golden import Golden, Need

ROOMS: Final = (
    "language",
    "covering",
    "matching",
    "routing",
    "workload",
    "files",
    "simulator",
    "spark",
    "library",
)

DOCUMENTED: Final = (
    "twigcast.files.schemas",
    "twigcast.routing.annotations.annotations",
    "twigcast.routing.events",
    "twigcast.routing.strategy",
    "twigcast.routing.topology.model",
    "twigcast.routing.wire.frames",
)
"""Modules below the rooms that the documentation imports from."""

_PROTOCOLS: Final = {
    "__add__",
    "__call__",
    "__contains__",
    "__enter__",
    "__getitem__",
    "__iter__",
    "__len__",
    "__lt__",
    "__str__",
    "_repr_html_",
}
"""Methods that people use without writing their names."""

_MODULES = re.compile(r"\b(?:[a-z_]\w*\.)+(?=[A-Za-z_])")
_ADDRESS = re.compile(r" at 0x[0-9a-f]+")
_VALUE_SHOWN_MAX: Final = 300


def names_of(module: ModuleType) -> str:
    """All public names of a module, in the order of the alphabet."""
    names = _shown_by(module)
    lines = [f"# dir: {'as __all__' if sorted(dir(module)) == names else 'more than __all__'}"]
    for name in names:
        lines += ["", *_described(name, getattr(module, name))]
    return "\n".join(lines) + "\n"


def _shown_by(module: ModuleType) -> list[str]:
    """The names in ``__all__``; without one, those that are defined there."""
    own = (name for name, thing in vars(module).items() if _is_from(thing, module))
    return sorted(getattr(module, "__all__", None) or (name for name in own if name[0] != "_"))


def _is_from(thing: object, module: ModuleType) -> bool:
    return getattr(thing, "__module__", None) == module.__name__


def _described(name: str, thing: object) -> Iterator[str]:
    if inspect.isclass(thing):
        yield from _class_lines(name, thing)
    elif inspect.isfunction(thing):
        yield f"def {name}{_signature(thing)}"
    else:
        yield f"{name}: {type(thing).__name__} = {_shown(thing, name)}"


def _class_lines(name: str, kind: type) -> Iterator[str]:
    bases = ", ".join(base.__name__ for base in _public_bases(kind))
    yield f"class {name}({bases})" if bases else f"class {name}"
    if not issubclass(kind, Exception) or "__init__" in vars(kind):
        yield f"    {name}{_signature(kind)}"
    members = {**_fields(kind), **dict(_members(kind))}
    for _, line in sorted(members.items()):
        yield f"    {line}"


def _public_bases(kind: type) -> Iterator[type]:
    """What a class inherits from that is public, or not ours."""
    for base in kind.__mro__[1:]:
        if base is not object and not base.__name__.startswith("_"):
            own = base.__module__.startswith("twigcast")
            if not own or base.__name__ in _public():
                yield base


def _public() -> set[str]:
    """The names that some room shows."""
    rooms = [import_module("twigcast"), *(import_module(f"twigcast.{room}") for room in ROOMS)]
    return {name for room in rooms for name in room.__all__}


def _fields(kind: type) -> dict[str, str]:
    """Public attributes that are declared with their types."""
    found: dict[str, str] = {}
    for owner in reversed(_own_classes(kind)):
        for name, annotation in inspect.get_annotations(owner).items():
            if not name.startswith("_"):
                found[name] = f"{name}: {_annotation(annotation)}"
    if dataclasses.is_dataclass(kind):
        for number, field in enumerate(dataclasses.fields(kind)):
            if field.name in found:
                found[field.name] += f"  # field {number}"
    return found


def _members(kind: type) -> Iterator[tuple[str, str]]:
    """Methods and properties that a class or a base of ours has."""
    for name in dir(kind):
        if name.startswith("_") and name not in _PROTOCOLS:
            continue
        owner = next((one for one in kind.__mro__ if name in vars(one)), None)
        if owner is None or owner not in _own_classes(kind):
            continue
        if line := _member(name, inspect.getattr_static(kind, name)):
            yield name, line


def _member(name: str, member: object) -> str | None:
    match member:
        case classmethod():
            return f"classmethod {name}{_signature(member.__func__)}"
        case staticmethod():
            return f"staticmethod {name}{_signature(member.__func__)}"
        case property():
            settable = " (settable)" if member.fset else ""
            return f"property {name}{_returned(member.fget)}{settable}"
        case _ if inspect.isfunction(member):
            return f"def {name}{_signature(member)}"
        case _ if hasattr(member, "func"):  # a cached property
            return f"property {name}{_returned(member.func)}"
        case _:
            return None  # a field, told by its annotation


def _own_classes(kind: type) -> list[type]:
    return [one for one in kind.__mro__ if one.__module__.split(".")[0] == "twigcast"]


def _signature(called: Any) -> str:  # noqa: ANN401 (whatever can be called)
    try:
        signature = inspect.signature(called)
    except ValueError:
        return "(…)"
    parts: list[str] = []
    has_star = False
    for each in signature.parameters.values():
        if each.kind is each.KEYWORD_ONLY and not has_star:
            parts.append("*")
        has_star = has_star or each.kind in {each.KEYWORD_ONLY, each.VAR_POSITIONAL}
        parts.append(_parameter(each))
    told = f"({', '.join(parts)})"
    if signature.return_annotation is not signature.empty and not inspect.isclass(called):
        told += f" -> {_annotation(signature.return_annotation)}"
    return told


def _parameter(each: inspect.Parameter) -> str:
    text = each.name
    if each.kind is each.VAR_POSITIONAL:
        text = f"*{text}"
    elif each.kind is each.VAR_KEYWORD:
        text = f"**{text}"
    if each.annotation is not each.empty:
        text += f": {_annotation(each.annotation)}"
    if each.default is not each.empty:
        text += f" = {_shown(each.default)}"
    return text


def _returned(function: Any) -> str:  # noqa: ANN401 (a property's function)
    annotation = inspect.signature(function).return_annotation
    return "" if annotation is inspect.Signature.empty else f": {_annotation(annotation)}"


def _annotation(annotation: object) -> str:
    if isinstance(annotation, typing.ForwardRef):
        annotation = annotation.__forward_arg__
    text = annotation if isinstance(annotation, str) else inspect.formatannotation(annotation)
    return _MODULES.sub("", text)


def _shown(value: object, name: str = "") -> str:
    """A value as far as it says something to whoever calls."""
    if name == "__version__":
        return "VERSION"
    if isinstance(value, dict):
        return "{" + ", ".join(map(repr, value)) + "}"
    text = value.__name__ if inspect.isfunction(value) else repr(value)
    text = _ADDRESS.sub("", text)
    if not isinstance(value, str):
        text = _MODULES.sub("", text)
    return text if len(text) <= _VALUE_SHOWN_MAX else f"{text[:_VALUE_SHOWN_MAX]}…"


def _golden(room: str) -> Golden:
    module = f"twigcast.{room}" if room else "twigcast"

    def told(_: Path) -> str:
        return names_of(import_module(module))

    need = Need.PYSPARK if room == "spark" else Need.NOTHING
    return Golden(f"names-{room or 'twigcast'}.txt", told, need)


def _documented(_: Path) -> str:
    return "\n".join(f"## {name}\n\n{names_of(import_module(name))}" for name in DOCUMENTED)


def _kept_by_instances(_: Path) -> str:
    """What is no property, and stands in no annotation: attributes that constructors set."""
    import twigcast
    from twigcast.covering import CoverIndex, FactorizationTree, SubscriptionTree
    from twigcast.routing import Router, Topology, Traffic

    made = (
        twigcast.Matcher(["//a"]),
        twigcast.Network({"links": [["a", "b"]]}),
        twigcast.Document.parse(b"<a/>"),
        twigcast.Pattern.parse("//a"),
        twigcast.Schema.parse(b"<!ELEMENT a EMPTY>"),
        CoverIndex(),
        FactorizationTree(),
        SubscriptionTree(),
        Router("a"),
        Topology.of({"links": [["a", "b"]]}),
        Traffic(),
    )
    lines = []
    for one in made:
        names = sorted(name for name in getattr(one, "__dict__", {}) if not name.startswith("_"))
        lines.append(f"{type(one).__name__}: {', '.join(names) or '–'}")
    return "\n".join(lines) + "\n"


GOLDENS: Final = (
    *(_golden(room) for room in ("", *ROOMS)),
    Golden("names-documented-modules.txt", _documented),
    Golden("names-of-instances.txt", _kept_by_instances),
)
