"""Checks for names and namespaces that are too long.

A namespace is written once and is then part of every name in it: 5,000 elements in a namespace of
a megabyte have 5 GB of names if they are read one by one. So lengths are checked before any name is
read.

Ordinary documents should not pay for that. A name, and a declaration with all of its namespace,
stands in one tag, and no ``<`` stands inside a tag. Where the next ``<`` is never far, nothing can
be long, and a thousand bytes are skipped at a time. Only a document with a long tag, or where
bytes are not conclusive (UTF-16, entities), is read once more, for its lengths alone.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Final, cast

from lxml import etree
from lxml.etree import _ElementTree

_TAG: Final = re.compile(rb"""<(?:[^"'>]++|"[^"]*+"|'[^']*+')*+>""")
_NO_TAGS: Final = (b"<!--", b"<![CDATA[", b"<?")


def tags_are_within(content: bytes, length: int) -> bool:
    """Whether no tag or declaration of a DTD is longer than ``length`` bytes between its brackets.

    The document is well-formed, and in an encoding in which ASCII means ASCII. False may be
    wrong, true is certain.

    >>> tags_are_within(b"<a>a long text</a>", 9), tags_are_within(b"<a b='1234567'/>", 9)
    (True, False)
    """
    if len(content) <= length + len("<>"):
        return True
    at = content.find(b"<")
    while at >= 0:
        ahead = content.rfind(b"<", at + 1, at + length + 2)
        if ahead < 0:
            ahead = content.find(b"<", at + 1)
            if not _is_within(content, at, ahead if ahead >= 0 else len(content), length):
                return False
        at = ahead
    return True


def attribute_name_over(tree: _ElementTree, length: int) -> int:
    """The length of the first attribute name of more than ``length`` characters, or 0.

    Its namespace, which libxml2 does not read here, is not counted.
    """
    return int(_name_length_over(tree, length=length))


def _is_within(content: bytes, start: int, end: int, length: int) -> bool:
    if content.startswith(_NO_TAGS, start):
        return True
    tag = _TAG.match(content, start, end)
    return tag is not None and tag.end() - start <= length + len("<>")


_name_length_over = cast(
    "Callable[..., float]",
    etree.XPath("string-length(local-name((//@*[string-length(local-name()) > $length])[1]))"),
)
