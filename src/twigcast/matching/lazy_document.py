"""A document that is parsed when its tree is first needed.

The kernel reads bytes by itself, many times faster than a tree can be built; only what it is not
sure of, and what only libxml2 can decide, needs the tree. The other engines need it at once.
"""

from __future__ import annotations

from functools import cached_property

from lxml.etree import _ElementTree

from twigcast.language.document.parse import Document, DocumentLimits


class Unread(Document):
    """Bytes that are a document once they are read: then every :class:`DocumentError` comes up."""

    def __init__(self, content: bytes, limits: DocumentLimits, name: str | None = None) -> None:
        self.content = content
        self.name = name
        self._limits = limits

    def __reduce__(self) -> tuple[object, ...]:
        return type(self), (self.content, self._limits, self.name)

    @cached_property
    def tree(self) -> _ElementTree:  # type: ignore[override]  # read later than its parent's
        """The tree, read at the first question."""
        return Document.parse(self.content, name=self.name, limits=self._limits).tree
