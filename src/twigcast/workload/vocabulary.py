"""The values in generated documents, and in generated predicates.

A predicate is of use in an experiment only if some documents satisfy it, so both sides draw from
one vocabulary: small numbers (as YFilter's generators do) and a few dozen words. Whether a name
stands for numbers or for words is decided by the name alone, by a checksum: ``@width`` has numbers
in every document and in every pattern, and comparing it with ``<`` makes sense.

Enumerations have the values that the schema lists, and fixed attributes the one it fixes. IDs are
``i1``, ``i2``, … in the order in which they are drawn.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from random import Random
from typing import Final
from zlib import crc32

from twigcast.errors import UsageError
from twigcast.language.dtd.schema import AttributeDeclaration, AttributeType, Presence

_WORDS = (  # noqa: SIM905 - fifty words on fifty lines say no more
    "amber anchor autumn basalt beacon bridge candle canyon cedar cobalt copper coral dawn delta"
    " ember fable falcon fjord garnet glacier grove harbour hazel indigo island jasper juniper"
    " lagoon lantern lichen maple marble meadow mistral nectar oasis opal orchid pebble prairie"
    " quartz raven ridge river saffron silver summit thistle timber tundra velvet violet walnut"
    " willow winter zephyr"
).split()

NUMBERS_MAX: Final = 1_000_000
"""The largest number of a vocabulary. All are held as texts, some 60 MB of them."""

_IDS_ASKED_FOR = 20
"""Predicates have one of the first IDs: most documents have these."""


@dataclass(frozen=True, slots=True)
class Vocabulary:
    """Numbers from 1 to ``numbers``, and ``words``. More of either makes predicates more selective.

    Words must be free of spaces and quotes, so that they can be tokens and stand in a predicate.
    """

    numbers: int = 20
    words: tuple[str, ...] = tuple(_WORDS)

    def __post_init__(self) -> None:
        if self.numbers < 1 or not self.words:
            raise UsageError("a vocabulary needs at least one number and one word")
        if self.numbers > NUMBERS_MAX:
            raise UsageError(
                f"the numbers of a vocabulary run to {NUMBERS_MAX:,} at most (NUMBERS_MAX), not "
                f"to {self.numbers:,}"
            )
        if any(not word.replace("-", "").isalnum() for word in self.words):
            raise UsageError("the words of a vocabulary consist of letters, digits and '-'")

    def is_numeric(self, name: str) -> bool:
        """Whether an element or attribute of this name has numbers for values."""
        return crc32(name.encode()) % 2 == 0

    def values(self, name: str) -> tuple[str, ...]:
        """The values that an element or attribute of this name can have."""
        if self.is_numeric(name):
            return _numbers(self.numbers)
        return self.words

    def attribute_values(self, attribute: AttributeDeclaration) -> tuple[str, ...]:
        """The values that an attribute can have; for an ID, those that predicates have."""
        if attribute.presence is Presence.FIXED and attribute.default is not None:
            return (attribute.default,)
        if attribute.values:
            return attribute.values
        if attribute.type in _IDENTIFIERS:
            return tuple(f"i{number}" for number in range(1, _IDS_ASKED_FOR + 1))
        return self.values(attribute.name)

    def phrase(self, rng: Random) -> str:
        """One to eight words of running text."""
        words = self.words
        count = 1 + int(rng.random() * 8)
        return " ".join([words[int(rng.random() * len(words))] for _ in range(count)])


@lru_cache(maxsize=1)
def _numbers(most: int) -> tuple[str, ...]:
    """Numbers as texts, once for all names that have them."""
    return tuple(str(number) for number in range(1, most + 1))


_IDENTIFIERS = {AttributeType.ID, AttributeType.IDREF, AttributeType.IDREFS}
