"""Record selectors: a name, or a path of names, of the elements that are records of a dump.

==================  ==========================================================================
``page``            elements ``page`` in no namespace, wherever they are
``{uri}page``       in that namespace; ``*:page`` in any, or in none
``/feed/entry``     a path, as in a subscription: ``/``, ``//`` and ``*``, without conditions
==================  ==========================================================================

A path is read as a subscription is, so it means the same: ``feed/entry`` is ``//feed/entry``.
Where one record lies inside another, the outermost is the record.

    >>> selector = RecordSelector.parse("feed/entry")
    >>> selector.selects([("", "feed"), ("", "entry")]), selector.selects([("", "entry")])
    (True, False)
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import NamedTuple, Self

from twigcast.display import shown
from twigcast.errors import PatternError, UsageError
from twigcast.language.condition.model import TRUE, Exists, Kind, Label, Reach
from twigcast.language.pattern import Pattern

_LETTER = r"[^\s/\[\]()@:|{}'\"=*]"
_NAME = rf"(?!\.){_LETTER}+"
_STEP = rf"(?:\{{[^{{}}]*\}}|{_NAME}:|\*:)?(?:{_NAME}|\*)"
_PATH = re.compile(rf"\s*/?/?{_STEP}(?://?{_STEP})*\s*")
"""Names and the slashes between them: where a path leads is what its last name selects."""


class RecordStep(NamedTuple):
    """One step of the path to a record."""

    reach: Reach
    label: Label


class RecordSelector(NamedTuple):
    """The path to the records, step by step. Make one with :meth:`parse`."""

    text: str
    steps: tuple[RecordStep, ...]

    @classmethod
    def parse(cls, text: str, namespaces: Mapping[str, str] | None = None) -> Self:
        """The selector in a text; UsageError if it is no name and no path of names."""
        if not isinstance(text, str):
            raise UsageError(f"a record is a name or a path, not {shown(text)}")
        if _PATH.fullmatch(text) is None:
            raise UsageError(
                "a record is an element, by its name or a path without conditions, such as "
                f"*:page or /feed/entry, not {shown(text)}"
            )
        try:
            condition = Pattern.parse(text, namespaces or {}).condition
        except PatternError as error:
            raise UsageError(f"a record is a name or a path, such as *:page: {error}") from error
        steps: list[RecordStep] = []
        while isinstance(condition, Exists):
            steps.append(RecordStep(condition.reach, condition.label))
            condition = condition.where
        assert condition is TRUE
        return cls(text, tuple(steps))

    @property
    def local(self) -> str | None:
        """The name that every record has; None if it may have any."""
        return self.steps[-1].label.local

    def selects(self, path: Iterable[tuple[str, str]]) -> bool:
        """Whether the element at the end of a path is a record, by namespaces and names."""
        here, above = {0}, {0}
        for namespace, local in path:
            label = Label(Kind.ELEMENT, namespace, local)
            here = {
                number + 1
                for number, step in enumerate(self.steps)
                if number in (here if step.reach is Reach.CHILD else above)
                and step.label.includes(label)
            }
            above |= here
        return len(self.steps) in here

    def __str__(self) -> str:
        return self.text
