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
from twigcast.language.records.context import Frame, Frames, size_of
from twigcast.language.records.lexer import ATTRIBUTE
from twigcast.language.records.prolog import Prolog
from twigcast.language.records.selector import RecordSelector

_KEPT_MAX: Final = 4_096
"""Verdicts that are kept, each for one kind of start tag at one place in the tree."""

_KEPT_BYTES_MAX: Final = 1 << 22
"""Of the tags that these are for, and of what records inherit by them."""


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
        self._kept_bytes = 0
        self._bases: list[tuple[Frame, str]] = []
        """The frames that were asked for last, each with the base inside of it."""
        self._entities = prolog.entities
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
            verdict = self._verdict(frames, frame)
            size = size_of(frames) + frame.size + len(verdict.inherited)
            if len(self._kept) >= _KEPT_MAX or self._kept_bytes + size > _KEPT_BYTES_MAX:
                self._kept.clear()
                self._kept_bytes = 0
            self._kept[frames, frame] = verdict
            self._kept_bytes += size
        return verdict

    def hides_records(self, reference: bytes) -> bool:
        """Whether an entity stands for elements that may be records, where nobody looks."""
        hides = self._hiding.get(reference)
        if hides is None and reference in self._entities:
            names, local = self._prolog.elements_of(reference), self._selector.local
            hides = self._hiding[reference] = bool(names) if local is None else local in names
        return bool(hides)

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
        bases = self._bases
        pairs = zip(bases, frames, strict=False)
        same = next((n for n, ((kept, _), one) in enumerate(pairs) if kept is not one), len(frames))
        del bases[same:]
        for frame in frames[len(bases) :]:
            base = bases[-1][1] if bases else ""
            if frame.base is not None:
                base = _resolved(base, self._value(frame.base))
            bases.append((frame, base))
        return bases[-1][1] if bases else ""

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
