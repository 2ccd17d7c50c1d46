"""Counts of the labels in a document.

Every element and attribute counts twice: by its full name, and by its local name in any namespace.

    <a xmlns="u"><b/></a>      {u}a, *:a, {u}b, *:b      once each

A vocabulary has some hundreds of names, seen within a few documents; their labels are constructed
once and cached. A document with more names than any vocabulary does not come from an ordinary feed:
for it no labels are constructed, and a label is looked up by its text.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import lru_cache
from itertools import chain
from typing import Final, cast

from lxml.etree import _ElementTree

from twigcast.language.condition.model import Kind, Label

_VOCABULARY_MAX: Final = 4096
"""More names than any vocabulary has, so ordinary feeds never miss the cache."""


def label_counts(tree: _ElementTree) -> Mapping[Label, int]:
    """The number of elements and attributes with each label."""
    tags: dict[str, int] = {}
    keys: dict[str, int] = {}
    # One element at a time: lxml spells out the namespace of each anew, and keeps it.
    for element in tree.iter("*"):
        tag = str(element.tag)
        tags[tag] = tags.get(tag, 0) + 1
        for key in cast("list[str]", element.keys()):
            keys[key] = keys.get(key, 0) + 1
    if len(tags) + len(keys) > _VOCABULARY_MAX:
        return _ManyNames(tags, keys)
    totals: dict[Label, int] = {}
    for kind, counts in ((Kind.ELEMENT, tags), (Kind.ATTRIBUTE, keys)):
        for tag, count in counts.items():
            full, anywhere = _labels_of(kind, tag)
            totals[full] = count
            totals[anywhere] = totals.get(anywhere, 0) + count
    return totals


def split_tag(tag: str) -> tuple[str, str]:
    """Namespace and local name of a tag as lxml writes it.

    >>> split_tag("{urn:x}a"), split_tag("a")
    (('urn:x', 'a'), ('', 'a'))
    """
    namespace, _, local = tag[1:].rpartition("}") if tag.startswith("{") else ("", "", tag)
    return namespace, local


@lru_cache(maxsize=_VOCABULARY_MAX)
def _labels_of(kind: Kind, tag: str) -> tuple[Label, Label]:
    namespace, local = split_tag(tag)
    return Label(kind, namespace, local), Label(kind, None, local)


class _ManyNames(Mapping[Label, int]):
    """Counts by label, with labels constructed only when they are iterated over."""

    def __init__(self, tags: Mapping[str, int], keys: Mapping[str, int]) -> None:
        self._full = {Kind.ELEMENT: tags, Kind.ATTRIBUTE: keys}
        self._anywhere = {kind: _by_local_name(counts) for kind, counts in self._full.items()}

    def __getitem__(self, label: Label) -> int:
        kind, namespace, local = label
        if namespace is None:
            return self._anywhere[kind][local or ""]
        return self._full[kind][f"{{{namespace}}}{local}" if namespace else local or ""]

    def __iter__(self) -> Iterator[Label]:
        for kind, counts in self._full.items():
            yield from (Label(kind, *split_tag(tag)) for tag in counts)
        for kind, counts in self._anywhere.items():
            yield from (Label(kind, None, local) for local in counts)

    def __len__(self) -> int:
        return sum(map(len, chain(self._full.values(), self._anywhere.values())))


def _by_local_name(counts: Mapping[str, int]) -> Mapping[str, int]:
    if not any(tag.startswith("{") for tag in counts):
        return counts
    totals: dict[str, int] = {}
    for tag, count in counts.items():
        local = split_tag(tag)[1]
        totals[local] = totals.get(local, 0) + count
    return totals
