"""The markup that counts inside a record, and the search for it.

Inside a record only tags of its local name count, and what changes the lexical state::

    <entry> … <b>text</b> … <!-- </entry> --> … <entry/> … </entry>
                            |                   |          |

Nearly all bytes of a dump are passed over by this search. It is made by regular expressions or,
where it is installed, by the kernel, which takes whole records at a time as long as each is like
the one in front of it (:meth:`Markup.alike`).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import TypeAlias

from twigcast.language.records import native

Search: TypeAlias = Callable[[int], int]
"""From a place to the next markup that counts; -1 if there is none."""


class Markup:
    """Where to look inside records of a local name; None stands for any name.

    The alternatives of the patterns begin with what they are, not with what they have in common,
    which makes the search three times as fast. Where there is no prefix in front of the name, and
    that is found out faster still, it need not try any.
    """

    def __init__(self, local: bytes | None) -> None:
        self.local = local
        self._is_native = native.AVAILABLE
        name, end = re.escape(local or b""), rb"(?=[ \t\r\n/>])"
        plain = rb"/%(name)s%(end)s|%(name)s%(end)s|!|\?" % {b"name": name, b"end": end}
        prefixed = rb"/?+[^ \t\r\n<>/!?:]++:" + name + end
        self._plain = re.compile(rb"<(?:%s)" % plain if local else b"<")
        self._prefixed = re.compile(rb"<(?:%s|%s)" % (plain, prefixed) if local else b"<")

    def search(self, text: bytes, start: int, end: int) -> Search:
        """The search in a part of a text."""
        if self._is_native:
            return lambda place: native.find_markup(text, place, end, self.local)
        has_prefix = self.local is None or text.find(b":" + self.local, start, end) >= 0
        pattern = self._prefixed if has_prefix else self._plain

        def search(place: int) -> int:
            found = pattern.search(text, place, end)
            return found.start() if found else -1

        return search

    def alike(self, text: bytes, start: int, end: int, tag: bytes) -> tuple[Sequence[int], int]:
        """Where each of some records in a row begins and ends, and how far the row reaches.

        The row begins outside of records, with nothing but text, comments and the like between
        them. They begin like one with the start tag ``tag``, with its name and its attributes that
        declare something (``xmlns``, ``xml:lang`` …), so that they are records as it is. There may
        be more behind them; without the kernel, none is found.
        """
        if self._is_native:
            return native.records_alike(text, start, end, tag=tag, local=self.local)
        return (), start
