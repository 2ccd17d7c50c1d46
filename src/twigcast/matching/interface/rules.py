"""Rules as people have them at hand: a mapping, or a list.

    {"a": "//trade", "b": ("//x:note", {"x": "urn:x"})}     ids and expressions
    ["//trade", "//note"]                                   expressions, under the ids 1, 2, …
    [("a", "//trade"), ("b", "//x:note", {"x": "urn:x"})]   the same as rows

Wherever an expression stands, a pattern may stand as well.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from os import PathLike
from typing import Any, Final, NamedTuple, TypeAlias

from twigcast.display import shown
from twigcast.errors import UsageError
from twigcast.language.pattern import Pattern
from twigcast.matching.interface.ids import Id
from twigcast.slips import caller_items

Namespaces: TypeAlias = Mapping[str, str]
Expression: TypeAlias = str | Pattern
_Value: TypeAlias = Expression | tuple[Expression, Namespaces | None]
_Row: TypeAlias = (
    Expression | tuple[Id, Expression] | tuple[Id, Expression, Namespaces | None] | list[Any]
)
Rules: TypeAlias = (
    Mapping[int, _Value]
    | Mapping[str, _Value]
    | Mapping[Id, _Value]
    | Mapping[Any, Any]
    | Iterable[_Row]
)
"""What a matcher can be made from."""

_FILE_ENDINGS: Final = (".txt", ".csv", ".jsonl", ".ndjson", ".json")


class Rule(NamedTuple):
    """A subscription to be: its id, its expression, and what the prefixes stand for."""

    id: Id
    xpath: Expression
    namespaces: Namespaces | None = None


def rules_of(rules: Rules, engines: Iterable[str]) -> Iterator[Rule]:
    """The rules one by one; UsageError, with what to do, for anything else.

    ``engines`` are names that somebody may have given in place of rules.
    """
    if isinstance(rules, Mapping):
        for key, value in rules.items():
            if isinstance(value, str | Pattern):
                yield Rule(key, value)
            elif isinstance(value, tuple | list) and _is_expression(value):
                yield Rule(key, *value)
            else:
                raise UsageError(
                    f"the rule {shown(key)} is {shown(value)}; give an expression, or an "
                    "expression and its namespaces: ('//x:a', {'x': 'urn:x'})"
                )
        return
    if isinstance(rules, str | bytes | PathLike) or not isinstance(rules, Iterable):
        raise _no_rules(rules, engines)
    for number, row in enumerate(caller_items(rules), 1):
        if isinstance(row, str | Pattern):
            yield Rule(number, row)
        elif isinstance(row, tuple | list) and row and _is_expression(row[1:]):
            yield Rule(*row)
        else:
            raise UsageError(
                f"rule {number} of the list is {shown(row)}; give an expression, or an id and an "
                "expression, or these and the namespaces: ('a', '//x:a', {'x': 'urn:x'})"
            )


def _is_expression(given: tuple[object, ...] | list[object]) -> bool:
    """Whether it is an expression, perhaps followed by its namespaces."""
    match given:
        case [str() | Pattern()] | [str() | Pattern(), None]:
            return True
        case [str() | Pattern(), Mapping() as bound]:
            return all(isinstance(word, str) for pair in bound.items() for word in pair)
        case _:
            return False


def _no_rules(given: object, engines: Iterable[str]) -> UsageError:
    what = "rules are a mapping from ids to expressions, or a list of expressions"
    if given in tuple(engines):
        return UsageError(f"{what}; an engine is asked for by name: Matcher(engine={shown(given)})")
    name = str(given) if isinstance(given, str | PathLike) else ""
    if name.lower().endswith(_FILE_ENDINGS):
        return UsageError(f"{what}; those in a file are read by Matcher.from_file({name!r})")
    if isinstance(given, str):
        return UsageError(f"{what}; for a single one, write Matcher([{shown(given)}])")
    return UsageError(f"{what}, not {type(given).__name__}")
