"""Kinds of annotations, by the paper's names.

=====  ======  =================================================================
name   letter  what a broker sends with a document
=====  ======  =================================================================
PS     ``+s``  what wildcards of matched patterns stood for
PD     ``+d``  where rows of names occurred last
NS     ``-s``  which patterns did not match
ND     ``-d``  which rows of names do not occur
=====  ======  =================================================================

Piggyback (3.3) writes a combination as a sign and its letters: ``+s-sd`` is PS, NS and ND.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final, Self

from twigcast.errors import UsageError

_WRITTEN: Final = re.compile(r"(?:\+(?P<positive>sd?|d))?(?:-(?P<negative>sd?|d))?")


@dataclass(frozen=True, slots=True)
class Kinds:
    """A choice among the four kinds."""

    ps: bool = False
    pd: bool = False
    ns: bool = False
    nd: bool = False

    @classmethod
    def parse(cls, text: str) -> Self:
        """The choice that is written so; UsageError if it is not written as the paper does.

        >>> Kinds.parse("+s-sd")
        Kinds(ps=True, pd=False, ns=True, nd=True)
        >>> Kinds.parse("")
        Kinds(ps=False, pd=False, ns=False, nd=False)
        """
        written = _WRITTEN.fullmatch(text)
        if written is None:
            raise UsageError(
                f"annotations are '+s', '+d' or '+sd', then '-s', '-d' or '-sd', not {text!r}"
            )
        positive, negative = written["positive"] or "", written["negative"] or ""
        return cls("s" in positive, "d" in positive, "s" in negative, "d" in negative)

    def __str__(self) -> str:
        positive = "s" * self.ps + "d" * self.pd
        negative = "s" * self.ns + "d" * self.nd
        return (f"+{positive}" if positive else "") + (f"-{negative}" if negative else "")

    def __bool__(self) -> bool:
        return self.ps or self.pd or self.ns or self.nd

    @property
    def has_rows(self) -> bool:
        """Whether any kind is about rows of names."""
        return self.pd or self.nd
