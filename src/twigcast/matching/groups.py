"""Groups of ids that a matcher has made ready, to ask about many documents.

Turning groups into what an engine works with takes time in proportion to their ids; a router has
the same links for thousands of documents. So it is done once::

    links = matcher.groups({"north": [1, 5], "south": [2]})
    for document in documents:
        matcher.match_links(document, links)

Subscriptions may come and go meanwhile; what an id stands for is looked up anew when they did.
"""

from __future__ import annotations

from collections.abc import Collection, Hashable, Iterator, Mapping, Sequence
from typing import Generic, TypeVar

from twigcast.matching.engine import Engine

__all__ = ["Groups"]

_Key = TypeVar("_Key", bound=Hashable)


class Groups(Mapping[_Key, Collection[int]], Generic[_Key]):
    """Groups of ids under keys, ready for one matcher. Made by :meth:`Matcher.groups`."""

    def __init__(self, engine: Engine, members: Mapping[_Key, Collection[int]]) -> None:
        self._members = {key: tuple(ids) for key, ids in members.items()}
        self._engine = engine
        self._ready = engine.prepared(list(self._members.values()))

    def ready_for(self, engine: Engine) -> Sequence[Collection[int]]:
        """The groups as the engine made them ready; as they are, if it was another engine."""
        return self._ready if engine is self._engine else list(self._members.values())

    def __getitem__(self, key: _Key) -> Collection[int]:
        return self._members[key]

    def __iter__(self) -> Iterator[_Key]:
        return iter(self._members)

    def __len__(self) -> int:
        return len(self._members)
