"""The tables of a scenario, read key by key.

People write scenarios, so nothing is passed over in silence: a key that nobody asked for, a text in
the place of a number, a probability of 3 are errors that say where. And everything that was asked
for is remembered with the value it has, given or not, so that a run can print all of its options.

    >>> keys = Keys({"documents": 5}, "tiny.toml", "workload")
    >>> keys.whole("documents", 10), keys.number("publish_every", 1.0)
    (5, 1.0)
    >>> keys.end()
    >>> keys.taken
    {'documents': 5, 'publish_every': 1.0}
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from difflib import get_close_matches
from typing import Final

from twigcast.display import shown
from twigcast.errors import UsageError
from twigcast.slips import is_number

WHOLE_MAX: Final = 9_000_000_000_000_000_000
"""The largest whole number of a scenario: it fits into 64 bits, which is what TOML promises."""


class Keys:
    """One table: what was given, and what has been taken from it."""

    def __init__(self, given: object, file: str, heading: str = "") -> None:
        self.where = f"{file}, [{heading}]" if heading else file
        if not isinstance(given, Mapping):
            raise UsageError(f"{self.where}: expected a table, not {shown(given)}")
        self._file, self._heading = file, heading
        self.taken: dict[str, object] = {}
        self._given: dict[str, object] = {str(key): value for key, value in given.items()}

    def __contains__(self, key: str) -> bool:
        return key in self._given

    def __iter__(self) -> Iterator[str]:
        return iter(self._given)

    def raw(self, key: str, default: object = None) -> object:
        """Whatever is given."""
        value = self.taken[key] = self._given.get(key, default)
        return value

    def text(self, key: str, default: str | None = None) -> str | None:
        """A text."""
        value = self.raw(key, default)
        if value is not None and not isinstance(value, str):
            raise self.fault(key, "a text", value)
        return value

    def one_of(self, key: str, allowed: Sequence[str], default: str) -> str:
        """One of a few words."""
        value = self.raw(key, default)
        if not isinstance(value, str) or value not in allowed:
            raise self.fault(key, f"one of {', '.join(allowed)}", value)
        return value

    def needed(self, key: str) -> str:
        """A text that must be there."""
        value = self.text(key)
        if value is None:
            raise UsageError(f"{self.where}: {key!r} is missing; it is a text")
        return value

    def flag(self, key: str, *, default: bool) -> bool:
        """True or false."""
        value = self.raw(key, default)
        if not isinstance(value, bool):
            raise self.fault(key, "true or false", value)
        return value

    def whole(
        self, key: str, default: int, *, least: int = 0, most: int = WHOLE_MAX, limit: str = ""
    ) -> int:
        """A whole number in a range; ``limit`` is what the upper end is called."""
        value = self.raw(key, default)
        if isinstance(value, bool) or not isinstance(value, int) or value < least:
            raise self.fault(key, f"a whole number from {least} on", value)
        if value > most:
            raise self.fault(key, f"{most:,} at most ({limit or 'WHOLE_MAX'})", value)
        return value

    def whole_or_none(
        self, key: str, *, least: int = 1, most: int = WHOLE_MAX, limit: str = ""
    ) -> int | None:
        """Likewise, where nothing need be given."""
        if key in self:
            return self.whole(key, 0, least=least, most=most, limit=limit)
        self.taken[key] = None
        return None

    def number(self, key: str, default: float, *, least: float = 0.0) -> float:
        """A number, which is not less than another."""
        value = self.raw(key, default)
        if not is_number(value) or value < least:
            raise self.fault(key, f"a number from {least:g} on", value)
        return float(value)

    def number_or_none(self, key: str, *, least: float = 0.0) -> float | None:
        """Likewise, where nothing need be given."""
        if key in self:
            return self.number(key, 0.0, least=least)
        self.taken[key] = None
        return None

    def numbers(self, key: str) -> tuple[float, ...] | None:
        """A list of numbers from 0 on, if there is one."""
        value = self.raw(key)
        if value is None:
            return None
        if not isinstance(value, list) or not all(is_number(one) and one >= 0 for one in value):
            raise self.fault(key, "a list of numbers from 0 on", value)
        return tuple(map(float, value))

    def texts(self, key: str, default: Sequence[str] = ()) -> tuple[str, ...]:
        """A list of texts; a single one may stand without brackets."""
        value = self.raw(key, list(default))
        listed = [value] if isinstance(value, str) else value
        if not isinstance(listed, list) or not all(isinstance(one, str) for one in listed):
            raise self.fault(key, "a text, or a list of texts", value)
        return tuple(listed)

    def table(self, key: str) -> Keys:
        """A table within, empty if it is not there."""
        heading = f"{self._heading}.{key}" if self._heading else key
        inner = Keys(self._given.get(key, {}), self._file, heading)
        self.taken[key] = inner.taken
        return inner

    def end(self) -> None:
        """Nothing may be left that nobody asked for."""
        for key in self._given:
            if key not in self.taken:
                near = get_close_matches(key, self.taken, n=1)
                hint = f"do you mean {near[0]!r}?" if near else f"there are {', '.join(self.taken)}"
                raise UsageError(f"{self.where}: unknown key {key!r}; {hint}")

    def fault(self, key: str, expected: str, value: object) -> UsageError:
        """The error for a value that cannot be meant."""
        return UsageError(f"{self.where}: {key} is {expected}, not {shown(value)}")
