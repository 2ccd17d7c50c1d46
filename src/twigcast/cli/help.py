"""Help as people read it: whole sentences, placeholders instead of types, nothing cut off.

Typer shows the type of each value as Python has it (``<int range>``, ``<list[str]>``) and cuts
the sentences in a list of commands to one line. Here values have names, and sentences are wrapped.
"""

from __future__ import annotations

import re
from typing import Any

from typer.core import TyperCommand, TyperGroup

from twigcast.errors import UsageError

_PLACEHOLDERS = {"<int>": "N", "<int range>": "N", "<float>": "X", "<float range>": "X"}
_TYPE = re.compile(r" ?<[^<>]*>(?:\.\.\.)?")


class _SentenceHelp:
    """The help of verbs and of groups of verbs."""

    help: str | None

    def get_short_help_str(self, limit: int = 45) -> str:  # noqa: ARG002 (theirs to call)
        """The first paragraph of the help, all of it."""
        first, _, _ = (self.help or "").partition("\n\n")
        return " ".join(first.split())


_MAY_BE_EMPTY = {"xpath", "wider", "narrower"}
"""Expressions: an empty one is refused as an expression."""


class Verb(_SentenceHelp, TyperCommand):
    """A verb whose help shows no types, and whose arguments are not empty."""

    def invoke(self, ctx: Any) -> Any:  # noqa: ANN401 (typer keeps the type)
        """Do what the verb does, unless an argument is empty: a variable was never set, then."""
        for each in self.get_params(ctx):
            value = ctx.params.get(each.name)
            values = value if isinstance(value, list | tuple) else (value,)
            if "" in values and each.name not in _MAY_BE_EMPTY:
                spelled = each.opts[0] if each.param_type_name == "option" else each.metavar
                raise UsageError(f"{spelled} is empty; was a variable never set?")
        return super().invoke(ctx)

    def collect_usage_pieces(self, ctx: Any) -> list[str]:  # noqa: ANN401 (typer keeps the type)
        """The arguments behind the verb, without the braces around those that are needed."""
        return [re.sub(r"[{}]", "", piece) for piece in super().collect_usage_pieces(ctx)]

    def format_options(self, ctx: Any, formatter: Any) -> None:  # noqa: ANN401 (likewise)
        """The arguments, then the options."""
        for title, kind in (("Arguments", "argument"), ("Options", "option")):
            params = [each for each in self.get_params(ctx) if each.param_type_name == kind]
            rows = [row for each in params if (row := each.get_help_record(ctx)) is not None]
            if rows:
                with formatter.section(title):
                    formatter.write_dl([(_without_type(names), text) for names, text in rows])


class VerbGroup(_SentenceHelp, TyperGroup):
    """A verb that has verbs of its own."""


def _without_type(names: str) -> str:
    """What a value is called, where typer names its type.

    >>> _without_type("--count <int range>"), _without_type("SOURCE <list[str]>")
    ('--count N', 'SOURCE')
    """
    for written, placeholder in _PLACEHOLDERS.items():
        names = names.replace(written, placeholder)
    return _TYPE.sub("", names)
