"""Options in groups: a verb takes a frozen dataclass, and typer sees an option for each field.

    @dataclass(frozen=True)
    class Size:
        width: Annotated[int, typer.Option(help="In columns.")] = 80
        height: Annotated[int, typer.Option(help="In lines.")] = 25

    @grouped
    def draw(file: str, size: Size) -> None: ...

So ``draw FILE --width 100`` calls ``draw`` with ``Size(width=100)``.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator
from dataclasses import MISSING, fields, is_dataclass
from functools import wraps
from typing import Any, get_type_hints


def grouped(verb: Callable[..., None]) -> Callable[..., None]:
    """A verb with an option for each field of its groups, which itself takes these whole."""
    signature = inspect.signature(verb, eval_str=True)
    groups: dict[str, Any] = {
        each.name: each.annotation
        for each in signature.parameters.values()
        if is_dataclass(each.annotation)
    }

    @wraps(verb)
    def called(**given: Any) -> None:  # noqa: ANN401 (what typer has read)
        for name, group in groups.items():
            given[name] = group(**{each.name: given.pop(each.name) for each in fields(group)})
        verb(**given)

    parameters = [one for each in signature.parameters.values() for one in _options(each)]
    called.__annotations__ = {each.name: each.annotation for each in parameters}
    vars(called)["__signature__"] = signature.replace(parameters=parameters)
    return called


def _options(parameter: inspect.Parameter) -> Iterator[inspect.Parameter]:
    """The parameters that typer sees in place of this one."""
    keyword = parameter.replace(kind=inspect.Parameter.KEYWORD_ONLY)
    group = parameter.annotation
    if not is_dataclass(group):
        yield keyword
        return
    hints = get_type_hints(group, include_extras=True)
    for each in fields(group):
        default = each.default_factory() if each.default_factory is not MISSING else each.default
        yield keyword.replace(name=each.name, annotation=hints[each.name], default=default)
