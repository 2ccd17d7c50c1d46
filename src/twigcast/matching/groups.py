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
from twigcast.matching.ids import Id, IdCodes, are_own_codes

__all__ = ["Groups"]

_Key = TypeVar("_Key", bound=Hashable)


class Groups(Mapping[_Key, Collection[Id]], Generic[_Key]):
    """Groups of ids under keys, ready for one matcher. Made by :meth:`Matcher.groups`."""

    def __init__(
        self, engine: Engine, codes: IdCodes, members: Mapping[_Key, Collection[Id]]
    ) -> None:
        self._members = {key: tuple(ids) for key, ids in members.items()}
        self._engine = engine
        self._lasting = all(map(are_own_codes, self._members.values()))
        """Whether every id stands for itself, so that no change can make another of it."""
        self._ready = codes.changes, engine.prepared(self._coded(codes))

    def ready_for(self, engine: Engine, codes: IdCodes) -> Sequence[Collection[int]]:
        """The groups as the engine made them ready; as they are, if it was another engine."""
        if engine is not self._engine:
            return self._coded(codes)
        changes, ready = self._ready
        if self._lasting or changes == codes.changes:
            return ready
        changes = codes.changes
        ready = engine.prepared(self._coded(codes))
        self._ready = changes, ready
        return ready

    def _coded(self, codes: IdCodes) -> list[Collection[int]]:
        return [codes.codes(ids) for ids in self._members.values()]

    def __getitem__(self, key: _Key) -> Collection[Id]:
        return self._members[key]

    def __iter__(self) -> Iterator[_Key]:
        return iter(self._members)

    def __len__(self) -> int:
        return len(self._members)
