"""The document that a record becomes.

It is the record, byte for byte, and what it inherits from the elements around it and from the
dump's prolog::

    <!DOCTYPE dump [<!ENTITY co "Company">]>              where the record has an entity of its own
    <item xmlns:p="urn:p" xml:lang="en" no="7">&co;</item>
          ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^ added

- The namespaces in scope, for the record may have names in them in its values, too.
- ``xml:lang`` and ``xml:base``, if the record has none of its own. A base is resolved against those
  further out, that of the record included.
- The XML declaration if it names an encoding other than UTF-8, and the DOCTYPE if it declares
  attributes, or if the record has an entity. An external DTD is never fetched, as ever.
"""

from __future__ import annotations

from typing import Final, NamedTuple
from urllib.parse import urljoin
from xml.sax.saxutils import quoteattr

from twigcast.errors import DocumentError
from twigcast.language.records.context import Frame, Frames
from twigcast.language.records.lexer import ATTRIBUTE
from twigcast.language.records.prolog import Prolog
from twigcast.language.records.selector import RecordSelector

_KEPT_MAX: Final = 4_096
"""Verdicts that are kept, each for one kind of start tag at one place in the tree."""


class RecordVerdict(NamedTuple):
    """Whether an element is a record, and if so what it inherits."""

    is_record: bool
    inherited: bytes = b""
    base: bytes | None = None
    """What its own ``xml:base`` becomes, if it changes."""


class RecordWriter:
    """Records of one dump: which elements they are, and their documents."""

    def __init__(self, prolog: Prolog, selector: RecordSelector) -> None:
        self._prolog = prolog
        self._selector = selector
        self._kept: dict[tuple[Frames, Frame], RecordVerdict] = {}
        self._hiding: dict[bytes, bool] = {}
        self.local: bytes | None = None
        if selector.local is not None:
            # A name that the encoding cannot write is not in the dump.
            self.local = selector.local.encode(prolog.codec, "xmlcharrefreplace")

    def verdict(self, frames: Frames, frame: Frame) -> RecordVerdict:
        """What an element is, by the elements around it and its start tag."""
        if self.local is not None and frame.local != self.local:
            return _NO_RECORD
        verdict = self._kept.get((frames, frame))
        if verdict is None:
            if len(self._kept) >= _KEPT_MAX:
                self._kept.clear()
            verdict = self._kept[frames, frame] = self._verdict(frames, frame)
        return verdict

    def hides_records(self, reference: bytes) -> bool:
        """Whether an entity stands for elements that may be records, where nobody looks."""
        hides = self._hiding.get(reference)
        if hides is None:
            try:
                names = self._prolog.elements_of(reference)
            except DocumentError:
                names = []  # It is not declared, or stands for nothing that could be read.
            local = self._selector.local
            hides = bool(names) if local is None else local in names
            if len(self._hiding) < _KEPT_MAX:
                self._hiding[reference] = hides
        return hides

    def head(self, content: bytes) -> bytes:
        """What stands in front of a record."""
        return self._prolog.head(content)

    def _verdict(self, frames: Frames, frame: Frame) -> RecordVerdict:
        scope: dict[bytes, bytes] = {}
        path: list[tuple[str, str]] = []
        for one in (*frames, frame):
            scope.update(one.namespaces)
            namespace = self._value(scope.get(one.prefix, b'""'))
            path.append((namespace, one.local.decode(self._prolog.codec, "replace")))
        if not self._selector.selects(path):
            return _NO_RECORD
        own = {prefix for prefix, _ in frame.namespaces}
        inherited = [
            (b"xmlns:" + prefix if prefix else b"xmlns", value)
            for prefix, value in scope.items()
            if prefix not in own and len(value) > len('""')
        ]
        languages = [one.lang for one in frames if one.lang is not None]
        if languages and frame.lang is None:
            inherited.append((b"xml:lang", languages[-1]))
        base, changed = self._base(frames), None
        if base and frame.base is None:
            inherited.append((b"xml:base", self._quoted(base)))
        elif base and frame.base is not None:
            changed = self._quoted(_resolved(base, self._value(frame.base)))
        written = b"".join(b" " + name + b"=" + value for name, value in inherited)
        return RecordVerdict(is_record=True, inherited=written, base=changed)

    def _base(self, frames: Frames) -> str:
        base = ""
        for frame in frames:
            if frame.base is not None:
                base = _resolved(base, self._value(frame.base))
        return base

    def _value(self, quoted: bytes) -> str:
        try:
            return self._prolog.value(quoted)
        except DocumentError:
            # It goes into the record as it is written, which is then refused for it.
            return quoted[1:-1].decode(self._prolog.codec, "replace")

    def _quoted(self, value: str) -> bytes:
        return quoteattr(value).encode(self._prolog.codec, "xmlcharrefreplace")


def start_tag(name: bytes, attributes: bytes, verdict: RecordVerdict) -> bytes:
    """A record's start tag up to the last attribute, with what the record inherits."""
    if verdict.base is not None:
        for attribute in ATTRIBUTE.finditer(attributes):
            if attribute[1] == b"xml:base":
                start, end = attribute.span(2)
                attributes = attributes[:start] + verdict.base + attributes[end:]
                break
    return b"<" + name + verdict.inherited + attributes


_NO_RECORD = RecordVerdict(is_record=False)


def _resolved(base: str, reference: str) -> str:
    try:
        return urljoin(base, reference)
    except ValueError:  # an address that is none
        return reference
