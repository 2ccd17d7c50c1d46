"""The matcher, with files in its reach."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, Literal, Self

from twigcast.display import counted
from twigcast.door import door
from twigcast.errors import PatternError, UsageError
from twigcast.language import LIBRARY_LIMITS, PATTERN_LIMITS, DocumentLimits, PatternLimits
from twigcast.language.document.content import Source
from twigcast.library.documents import opened
from twigcast.matching import Matcher as CoreMatcher
from twigcast.matching.lazy_document import Unread
from twigcast.matching.residual.libxml2 import COST_MAX, DOCUMENT_COST_MAX
from twigcast.slips import caller_result

if TYPE_CHECKING:
    import os

    from twigcast.files import Rejected, SubscriptionFile

__all__ = ["Matcher"]

_REJECTED_SHOWN_MAX: Final = 3
"""How many refused lines an error tells in full."""


class Matcher(CoreMatcher):
    """Standing subscriptions, and the documents that satisfy them.

    ``rules`` are the subscriptions to begin with: a mapping from ids to expressions, or a list of
    expressions, whose ids are then 1, 2, …. An id is an integer or a text of your own. A value
    may also be an expression and its namespaces: ``("//x:a", {"x": "urn:x"})``.

    >>> from twigcast import Matcher
    >>> matcher = Matcher({"dear": "//trade[price > 100]", "notes": "/feed/note"})
    >>> matcher.match("<feed><trade><price>120</price></trade></feed>")
    ['dear']
    >>> matcher.add(7, "//price")
    >>> matcher.match(b"<feed><price/><note/></feed>")
    [7, 'notes']

    A document is bytes, a text with XML in it, the path of a file, an open file, an element or
    tree of lxml, or a :class:`~twigcast.Document`. A text that does not begin with ``<`` is a
    path. A file that cannot be read is a :class:`DocumentError` with its name.

    ``engine`` is one of :data:`twigcast.matching.ENGINES`; ``limits`` bound documents,
    ``pattern_limits`` expressions, ``residual_cost_max`` the work that one expression may make on
    one document, and ``document_cost_max`` that of all together. ``keep_texts`` keeps expressions
    as they were written, for :meth:`find`.
    """

    rejected: tuple[Rejected, ...] = ()
    """Lines of the file that :meth:`from_file` left out."""

    @classmethod
    @door("reading subscriptions")
    def from_file(
        cls,
        path: str | os.PathLike[str],
        *,
        errors: Literal["raise", "skip"] = "raise",
        engine: str = "auto",
        limits: DocumentLimits = LIBRARY_LIMITS,
        pattern_limits: PatternLimits = PATTERN_LIMITS,
        residual_cost_max: int = COST_MAX,
        document_cost_max: int = DOCUMENT_COST_MAX,
        keep_texts: bool = True,
    ) -> Self:
        """The subscriptions of a file, under the ids that they have there.

        The end of its name says what it is: ``.csv`` and ``.jsonl`` have ids of their own (those
        of CSV are texts), in any other file each line is an expression whose id is its number.

        Raises :class:`UsageError` if the file cannot be read, or if lines of it are refused: the
        first few are told. With ``errors="skip"`` these are left out, and :attr:`rejected` has
        them all.
        """
        from twigcast.files import read_subscriptions  # only here, since it takes its time to load

        if errors not in ("raise", "skip"):
            raise UsageError(f"errors is 'raise' or 'skip', not {errors!r}")
        matcher = caller_result(
            cls,
            engine=engine,
            limits=limits,
            pattern_limits=pattern_limits,
            residual_cost_max=residual_cost_max,
            document_cost_max=document_cost_max,
            keep_texts=keep_texts,
        )
        file = read_subscriptions(path)
        rejected = sorted((*file.rejected, *_refused(matcher, file)), key=lambda one: one.line)
        if rejected and errors == "raise":
            raise _rejection(path, file, rejected)
        matcher.rejected = tuple(rejected)
        return matcher

    def _unread(self, source: Source) -> Unread:
        if isinstance(source, bytes):
            return Unread(source, self._limits)
        content, name = opened(source, bytes_max=self._limits.bytes_max)
        return Unread(content, self._limits, name)


def _refused(matcher: Matcher, file: SubscriptionFile) -> list[Rejected]:
    """Add what the file holds; those that the matcher refuses."""
    from twigcast.files import Rejected

    refused: list[Rejected] = []
    for one in file.subscriptions:
        try:
            matcher.add(one.id, one.xpath, one.namespaces)
        except PatternError as error:
            refused.append(Rejected(one.id, one.line, one.xpath, error.reason, error.column))
        except UsageError as error:
            refused.append(Rejected(one.id, one.line, one.xpath, str(error)))
    return refused


def _rejection(
    path: str | os.PathLike[str], file: SubscriptionFile, rejected: list[Rejected]
) -> UsageError:
    total = len(file.subscriptions) + len(file.rejected)
    lines = [
        f"line {one.line}"
        + (f", column {one.column}" if one.column is not None else "")
        + f": {one.reason}"
        for one in rejected[:_REJECTED_SHOWN_MAX]
    ]
    more = len(rejected) - len(lines)
    if more:
        lines.append(f"and {more:,} more")
    return UsageError(
        f"{path}: {len(rejected):,} of {counted(total, 'line')} refused: {'; '.join(lines)}; mend "
        "them, or leave them out with errors='skip'"
    )
