"""Limits of DTDs, with the reasons for their defaults.

A DTD can come from an untrusted source: a publisher advertises what it is going to send. The work
for a DTD grows with its bytes and with the expansion of its parameter entities, and both are
bounded before the work is done.
"""

from __future__ import annotations

from dataclasses import dataclass

from twigcast.slips import check_fields


@dataclass(frozen=True, slots=True)
class SchemaLimits:
    """The limits of a DTD; each bound is inclusive.

    ``bytes_max``
        All modules together. DocBook 4.5 has 0.35 MB, the journal articles of JATS 3.0 have 1 MB.
    ``modules_max``
        Files that make up the DTD. DocBook has 27, JATS 57.
    ``declarations_max``
        Declarations of every kind. DocBook has 3,100, JATS 4,000.
    ``elements_max``
        Declared elements. DocBook has 406, JATS 423.
    ``attributes_max``
        Attributes of one element; a document with more is refused as well.
    ``names_max``
        Names and groups in all content models together, repetitions counted. DocBook has 15,000.
    ``name_length_max``
        Characters in one name.
    ``expanded_max``
        Characters that references to entities are replaced with, and 50 more for each reference.
        JATS needs 1.5 million; a "billion laughs" attack exceeds any bound.
    ``references_deep_max``
        Entities inside entities; libxml2 has the same limit of 40.
    """

    bytes_max: int = 4 * 1024 * 1024
    modules_max: int = 100
    declarations_max: int = 20_000
    elements_max: int = 10_000
    attributes_max: int = 1_000
    names_max: int = 200_000
    name_length_max: int = 1_000
    expanded_max: int = 3_000_000
    references_deep_max: int = 40

    def __post_init__(self) -> None:
        check_fields(self)
