"""Groups of ids, prepared by a matcher for many documents.

Turning groups into what an engine works with takes time in proportion to their ids; a router has
the same links for thousands of documents. So it is done once::

    links = matcher.groups({"north": [1, 5], "south": [2]})
    for document in documents:
        matcher.match_links(document, links)

Subscriptions may come and go meanwhile; what an id stands for is looked up anew when they did.
"""

from __future__ import annotations

from collections.abc import Collection, Hashable, Iterator, Mapping, Sequence
from typing import Any, Generic, TypeVar

from twigcast.display import counted
from twigcast.matching.interface.engine import Engine
from twigcast.matching.interface.ids import Id, IdCodes, are_own_codes

_Key = TypeVar("_Key", bound=Hashable)


class Groups(Mapping[_Key, Collection[Id]], Generic[_Key]):
    """Groups of ids under keys, ready for one matcher. Made by :meth:`Matcher.groups`."""

    def __init__(
        self, engine: Engine, codes: IdCodes, members: Mapping[_Key, Collection[Id]]
    ) -> None:
        self._members = {key: tuple(ids) for key, ids in members.items()}
        self._engine = engine
        self._lasting: bool | None = None
        """Whether every id stands for itself, so that no change can make another of it; worked
        out when there is a change."""
        self._ready = codes.changes, self._made_for(engine, codes)

    def ready_for(self, engine: Engine, codes: IdCodes) -> Sequence[Collection[int]]:
        """The groups as the engine takes them; made anew only where texts have come or gone."""
        if engine is not self._engine:
            return self._made_for(engine, codes)
        changes, ready = self._ready
        if changes == codes.changes or self._is_lasting():
            return ready
        changes = codes.changes
        ready = self._made_for(engine, codes)
        self._ready = changes, ready
        return ready

    def _is_lasting(self) -> bool:
        if self._lasting is None:
            self._lasting = all(map(are_own_codes, self._members.values()))
        return self._lasting

    def _made_for(self, engine: Engine, codes: IdCodes) -> Sequence[Collection[int]]:
        members: list[Any] = list(self._members.values())
        if not codes.in_use:
            try:
                return engine.prepared(members)
            except (TypeError, OverflowError):
                pass  # There are ids that no subscription has, and that the engine cannot take.
        return engine.prepared([codes.codes(ids) for ids in members])

    def __repr__(self) -> str:
        ids = sum(map(len, self._members.values()))
        return f"<Groups: {counted(len(self), 'group')}, {counted(ids, 'id')}>"

    def __getitem__(self, key: _Key) -> Collection[Id]:
        return self._members[key]

    def __iter__(self) -> Iterator[_Key]:
        return iter(self._members)

    def __len__(self) -> int:
        return len(self._members)
