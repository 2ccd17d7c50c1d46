"""Documents, their paths, and the patterns that match them."""

from __future__ import annotations

from collections.abc import Collection

from hypothesis import strategies as st

from tests.oracle import oracle
from tests.strategies import documents, subscriptions, tangles, thickets
from twigcast import Pattern
from twigcast.language import Document
from twigcast.routing.path_unit.path_messages import (
    _written,
    path_count,
)

ANY_DOCUMENT = st.one_of(documents(), documents(), thickets())
ANY_PATTERN = st.one_of(
    subscriptions(exact=True), subscriptions(exact=True), subscriptions(), tangles()
)


def path_documents(content: bytes) -> list[bytes]:
    """The paths of a document in their order, each a document of its own."""
    return list(_written(Document.parse(content)))


def matching(parts: Collection[Pattern], content: bytes) -> set[int]:
    """The paths that match one of the parts, by libxml2."""
    return {
        number
        for number, path in enumerate(path_documents(content))
        if any(by_oracle(part, path) for part in parts)
    }


def by_oracle(pattern: Pattern, content: bytes) -> bool:
    text, namespaces = pattern.for_libxml2()
    return oracle(text, content, namespaces)


def some_paths(draw: st.DataObject, content: bytes) -> set[int]:
    numbers = st.integers(0, path_count(content) - 1)
    return draw.draw(st.sets(numbers, min_size=1), label="kept")
