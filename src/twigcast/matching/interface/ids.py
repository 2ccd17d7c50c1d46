"""The caller's own ids: integers and texts, on top of engines that know 64-bit integers only.

An integer stands for itself. A text is given a *code*, an integer from the lowest 2^40 that 64 bits
can hold, and answers are translated back. An integer of the caller's that lies in that range is
treated like a text, so no id can be mistaken for a code. A matcher that has never seen such an id
translates nothing.

Codes are not used twice. So a thread that has an answer in hand while another removes a
subscription finds no name for its code, and leaves it out; it never finds a wrong one. For the
same reason a code has its name before an engine learns of it.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from itertools import count
from typing import Any, Final, TypeAlias, TypeGuard

from twigcast.display import shown
from twigcast.errors import UsageError
from twigcast.matching.interface.engine import Decision

Id: TypeAlias = int | str
"""What a subscription is known by."""

AnyId: TypeAlias = Any
"""An id in an answer: an integer or a text, whichever the caller gave."""

_LOWEST: Final = -(1 << 63)
_HIGHEST: Final = (1 << 63) - 1
FIRST_OWN: Final = _LOWEST + (1 << 40)
"""Integers from here on stand for themselves; those below are codes."""


def check_id(id: object) -> None:
    """Raise :class:`UsageError` for what cannot be an id."""
    if isinstance(id, bool) or not isinstance(id, int | str):
        raise UsageError(f"an id is an integer or a text, not {shown(id)}")
    if isinstance(id, int):
        if not _LOWEST <= id <= _HIGHEST:
            raise UsageError(f"the id {shown(id)} does not fit into 64 bits")
        return
    try:
        id.encode()
    except UnicodeEncodeError:
        raise UsageError(
            f"the id {shown(id)} is no valid Unicode, so no file could hold it"
        ) from None


def is_own_code(id: object) -> TypeGuard[int]:
    """Whether an id is an integer that stands for itself."""
    if type(id) is int:
        return FIRST_OWN <= id <= _HIGHEST
    return isinstance(id, int) and not isinstance(id, bool) and FIRST_OWN <= id <= _HIGHEST


def are_own_codes(ids: Collection[Id]) -> bool:
    """Whether all ids are integers that stand for themselves; quick, for there can be many."""
    return not ids or (
        set(map(type, ids)) == {int} and min(ids) >= FIRST_OWN and max(ids) <= _HIGHEST  # type: ignore[operator]
    )


def in_order(ids: Iterable[Id]) -> list[AnyId]:
    """Integers first, then texts in text order.

    >>> in_order(["b", 10, "a", 2])
    [2, 10, 'a', 'b']
    """
    found: tuple[list[int], list[str]] = ([], [])
    for one in ids:
        found[isinstance(one, str)].append(one)  # type: ignore[arg-type]
    return [*sorted(found[0]), *sorted(found[1])]


def _is_text(id: Id) -> bool:
    return isinstance(id, str)


class IdCodes:
    """Which code stands for which id, in one matcher."""

    def __init__(self, stored: Mapping[int, Id] | None = None) -> None:
        self._ids: dict[int, Id] = dict(stored or {})
        self._codes: dict[Id, int] = {one: code for code, one in self._ids.items()}
        self._next: Iterator[int] = count(max(self._ids, default=_LOWEST - 1) + 1)
        self.in_use = bool(self._ids)
        """Whether an answer may have to be translated; once true, it stays true."""
        self.changes = 0
        """Grows with each id that comes or goes."""

    def assign(self, id: Id) -> int:
        """The code under which an engine may take in a new id."""
        if is_own_code(id):
            return id
        code = next(self._next)
        assert code < FIRST_OWN
        self.in_use = True
        self._ids[code] = id
        self._codes[id] = code
        self.changes += 1
        return code

    def release(self, id: Id) -> None:
        """Forget an id that no engine holds any more."""
        code = self._codes.pop(id, None)
        if code is not None:
            del self._ids[code]
            self.changes += 1

    def code(self, id: object) -> int | None:
        """The code of an id; None if there can be no subscription under it."""
        if is_own_code(id):
            return id
        return self._codes.get(id) if isinstance(id, int | str) else None

    def codes(self, ids: Iterable[Id]) -> Collection[int]:
        """The codes of those ids that may have subscriptions."""
        ids = ids if isinstance(ids, Collection) else tuple(ids)  # An iterator is read once.
        if are_own_codes(ids):
            return ids  # type: ignore[return-value]
        found = (self.code(one) for one in ids)
        return [code for code in found if code is not None]

    def skipped(self, skip: Collection[Id]) -> Collection[int]:
        """Ids to be skipped, in the form in which engines look them up quickly."""
        if not skip:
            return ()
        if not isinstance(skip, Iterable):
            raise UsageError(f"ids to skip are a collection, such as {{1, 2}}, not {shown(skip)}")
        if self.in_use:
            return frozenset(self.codes(skip))
        if isinstance(skip, set | frozenset | dict):
            return skip  # Engines pass over what is no integer.
        return frozenset(skip)  # type: ignore[arg-type]

    def ids(self, codes: Sequence[int]) -> tuple[AnyId, ...]:
        """The ids of ascending codes, in the order of ids."""
        if not self.in_use or not codes or codes[0] >= FIRST_OWN:
            return tuple(codes)
        at = bisect_left(codes, FIRST_OWN)
        known = in_order(one for one in map(self._ids.get, codes[:at]) if one is not None)
        texts = bisect_left(known, True, key=_is_text)  # noqa: FBT003
        return (*known[:texts], *codes[at:], *known[texts:])

    def decision(self, decision: Decision) -> Decision:
        """A decision on codes, with ids."""
        if not self.in_use:
            return decision
        return Decision(self.ids(decision.matches), self.ids(decision.undecided))

    @property
    def has_texts(self) -> bool:
        """Whether a text is among the ids now."""
        return any(isinstance(one, str) for one in tuple(self._codes))

    @property
    def stored(self) -> list[tuple[int, Id]]:
        """Codes and their ids, to be stored."""
        return sorted(self._ids.items())
