"""Patterns: XPath 1.0 expressions as conditions on documents.

A pattern is an XPath 1.0 expression that is true or false of a document. Patterns are immutable and
unique: two expressions with the same canonical meaning are the same object.

    >>> Pattern("a[c][b]") is Pattern("//a[b and c]")
    True
    >>> Pattern("a[c][b]").text
    '//a[b]/c'
    >>> Pattern("//x:a", namespaces={"x": "urn:x"}).text
    '//{urn:x}a'

An *exact* pattern can be decided by an index alone. Any other has an exact *necessary* condition
that an index can use to find candidates, and libxml2 decides on those.

    >>> p = Pattern("//a[b = c]/d[2]")
    >>> p.exact, p.necessary.text
    (False, '//a[b][c]/d')

Libraries differ on what a relative path means at top level; here ``a/b`` is ``//a/b``, as in
Dissemination, section 1.3.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Final, Self, TypeVar

from twigcast.door import door
from twigcast.errors import PatternError, PatternLimitError, UsageError
from twigcast.language.condition.hash_consing import Interned, rebuilt
from twigcast.language.condition.model import Condition, is_exact
from twigcast.language.condition.writer import Libxml2Writer, canonical_text
from twigcast.language.translate.fast_path import fast_meaning
from twigcast.language.translate.relaxation import necessary
from twigcast.language.translate.translate import document_meaning
from twigcast.language.xpath.absolute import rooted
from twigcast.language.xpath.parser import PatternLimits, first_foreign_character, parse_expression

__all__ = ["CANONICAL_LIMITS", "PATTERN_LIMITS", "Pattern", "PatternLimits"]

PATTERN_LIMITS: Final = PatternLimits()

CANONICAL_LIMITS: Final = PatternLimits(*[1 << 30] * len(fields(PatternLimits)))
"""For canonical texts: their originals were within limits before, but with namespaces in full the
text can be longer than the original."""


_P = TypeVar("_P")


class _PatternType(Interned):
    """Makes patterns from texts, and interns them by their conditions."""

    def __call__(  # type: ignore[override]  # Its parent takes fields, this a text.
        cls: type[_P],  # noqa: N805  # A metaclass by its parent.
        text: str | Pattern | Condition,
        namespaces: Mapping[str, str] | None = None,
        limits: PatternLimits = PATTERN_LIMITS,
    ) -> _P | Pattern:
        """The pattern of a text, or of a condition."""
        if isinstance(text, str):
            return cls.parse(text, namespaces, limits)  # type: ignore[attr-defined,no-any-return]
        if isinstance(text, Pattern):
            return text
        if not isinstance(text, Condition):
            raise _no_text(text)
        return Interned.__call__(cls, text)


@dataclass(frozen=True, slots=True, eq=False, weakref_slot=True, init=False)
class Pattern(metaclass=_PatternType):
    """A canonical condition on documents, made from an expression.

    ``Pattern(text)`` reads an expression, as :meth:`parse` does; prefixes are resolved by
    ``namespaces``. A pattern is given back as it is.

    >>> Pattern("//order[@state = 'open']").exact
    True
    >>> Pattern("//p:order", namespaces={"p": "urn:shop"})
    Pattern('//{urn:shop}order')
    """

    condition: Condition

    def __init__(
        self,
        text: str | Pattern | Condition,
        namespaces: Mapping[str, str] | None = None,  # noqa: ARG002
        limits: PatternLimits = PATTERN_LIMITS,  # noqa: ARG002
    ) -> None:
        # The metaclass has already replaced texts by conditions.
        object.__setattr__(self, "condition", text)

    __reduce__ = rebuilt

    @classmethod
    @door("reading an expression")
    def parse(
        cls,
        text: str,
        namespaces: Mapping[str, str] | None = None,
        limits: PatternLimits = PATTERN_LIMITS,
    ) -> Self:
        """The pattern of an expression; prefixes are resolved by ``namespaces``.

        Raises :class:`PatternError`, with the column and what was expected there, if the text
        is not an expression of XPath 1.0 or is over a limit.
        """
        if not isinstance(text, str):
            raise _no_text(text)
        bound = namespaces or {}
        if bound:
            _check_namespaces(text, bound, limits)
        condition = fast_meaning(text, limits) or full_meaning(text, bound, limits)
        return Interned.__call__(cls, condition)

    @property
    def text(self) -> str:
        """The canonical text.

        It parses to this very pattern without a prefix map, under :data:`CANONICAL_LIMITS`.
        """
        return canonical_text(self.condition)

    @property
    def exact(self) -> bool:
        """Whether an index can decide it without libxml2."""
        return is_exact(self.condition)

    @property
    def necessary(self) -> Pattern:
        """An exact pattern that every document matching this one matches too."""
        return self if self.exact else Pattern(necessary(self.condition))

    def for_libxml2(self) -> tuple[str, dict[str, str]]:
        """The pattern as plain XPath 1.0, and the prefixes that text uses."""
        writer = Libxml2Writer()
        text, _ = writer.condition(self.condition, "/")
        return text, writer.namespaces

    def __str__(self) -> str:
        return self.text

    def __repr__(self) -> str:
        return f"Pattern({self.text!r})"


def full_meaning(text: str, namespaces: Mapping[str, str], limits: PatternLimits) -> Condition:
    """The condition of any expression on the document node; raises :class:`PatternError`."""
    return document_meaning(rooted(parse_expression(text, namespaces, limits)))


def _no_text(given: object) -> UsageError:
    return UsageError(
        "a pattern is made from the text of an expression, such as Pattern('//a'), "
        f"not {type(given).__name__}"
    )


def _check_namespaces(text: str, namespaces: object, limits: PatternLimits) -> None:
    if not isinstance(namespaces, Mapping):
        raise UsageError(
            f"namespaces map prefixes to URIs, such as {{'p': 'urn:p'}}; this is {namespaces!r}"
        )
    # The entries may come from a row of a table, so a wrong one is an error of that row.
    for prefix, namespace in namespaces.items():
        if prefix and not isinstance(prefix, str):
            raise PatternError(
                text, column=1, expected=f"a namespace for a prefix that is a text, not {prefix!r}"
            )
        if not prefix:
            raise PatternError(
                text,
                column=1,
                expected="no namespace for the empty prefix: XPath 1.0 reads a name without a "
                "prefix as in no namespace; bind a prefix, or write *:name",
            )
        if (
            not isinstance(namespace, str)
            or not namespace
            or {"{", "}"} & set(namespace)
            or first_foreign_character(namespace) is not None
        ):
            raise PatternError(
                text,
                column=1,
                expected=f"a namespace URI for the prefix {prefix!r}, not {namespace!r}",
            )
        if len(namespace) > limits.characters_max:
            raise PatternLimitError(
                text,
                column=1,
                limit="characters_max",
                given=len(namespace),
                allowed=limits.characters_max,
            )
