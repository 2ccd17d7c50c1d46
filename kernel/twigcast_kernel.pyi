"""The kernel: documents read into arrays, patterns kept in an index, coverings looked up.

Conditions, twigs and tests arrive as nested tuples, as Twigcast's modules ``native`` make them.
Several threads may use one object: the interpreter's lock is released while the kernel works, and
no lock of the kernel is waited for while it is held.
"""

from collections.abc import Callable, Sequence
from typing import Any, TypeAlias, final

__all__ = [
    "Candidates",
    "Expressions",
    "Index",
    "Links",
    "Slab",
    "__version__",
    "find_markup",
    "number",
    "outline",
    "records_alike",
]

__version__: str
"""The version of the package; Twigcast wants its own."""

_Limits: TypeAlias = tuple[int, int, int, int, int, int]
"""Of a document: bytes, elements, depth, attributes of an element, length of a name, bytes of its
internal subset."""

_Verdicts: TypeAlias = tuple[list[int], list[int], list[int]]
"""Expressions that hold, those for libxml2, and those that would take too many steps."""

_Ids: TypeAlias = tuple[list[int], list[int], list[int]]
"""Ids that match, those that libxml2 has to decide, and those that would take too many steps."""

@final
class Slab:
    """An array of whole numbers, read through the buffer protocol."""

    def __len__(self) -> int:
        """Its length in bytes."""

    def __buffer__(self, flags: int, /) -> memoryview:
        """The numbers where they lie."""

@final
class Links:
    """Groups of ids, made ready for many documents by :meth:`Index.links`."""

@final
class Candidates:
    """A changing set of patterns, looked up by what they cover."""

    def __new__(
        cls,
        follows: Callable[[tuple[Any, ...], tuple[Any, ...]], bool | None],
        value: Callable[[tuple[Any, ...]], str | None],
        budget: int,
    ) -> Candidates:
        """An empty set.

        ``follows(stronger, weaker)`` is asked of two tuples of tests whether the second follow from
        the first, or None if that depends on the node; ``value(tests)`` the only value that they
        leave, if there is one. ``budget`` bounds a comparison, in steps.
        """

    def add(
        self,
        number: int,
        groups: tuple[tuple[tuple[Any, ...], ...], ...],
        grounds: tuple[tuple[Any, ...], ...],
    ) -> None:
        """Add a pattern: the groups of its wider side, the twigs of its narrower one."""

    def remove(self, number: int) -> bool:
        """Remove a pattern; whether it was there."""

    def covering(self, grounds: tuple[tuple[Any, ...], ...]) -> tuple[list[int], list[int]]:
        """The patterns that surely cover a narrower one, and those that are left to decide."""

    def covered(
        self, groups: tuple[tuple[tuple[Any, ...], ...], ...]
    ) -> tuple[list[int], list[int]]:
        """The patterns that a wider one surely covers, and those that are left to decide."""

    def __len__(self) -> int:
        """How many patterns there are."""

    def __contains__(self, key: int, /) -> bool:
        """Whether a pattern with this number is there."""

    def statistics(self) -> dict[str, int]:
        """The counters now."""

@final
class Expressions:
    """Expressions of XPath 1.0 under numbers, what they have in common kept and evaluated once."""

    def __new__(
        cls, limits: _Limits, cost_max: int = ..., document_cost_max: int = ...
    ) -> Expressions:
        """No expressions.

        ``limits`` are those of documents. ``cost_max`` is how many steps one expression may take on
        a document, ``document_cost_max`` how many all may; with every 65,536 nodes as many again.
        """

    def add(self, text: str) -> int | None:
        """Take in a canonical text; its number, or None if it is for libxml2.

        Expressions that are kept as one have one number, and are removed as often as added.
        """

    def remove(self, number: int) -> None:
        """Remove an expression; KeyError if there is none of this number."""

    def decide(self, content: bytes, numbers: Sequence[int]) -> _Verdicts | None:
        """What a document says to expressions; None if libxml2 has to read it."""

    def decide_events(
        self, events: list[tuple[str | None, ...]], numbers: Sequence[int]
    ) -> _Verdicts:
        """The same for a document that libxml2 has read, see :meth:`Index.match_events`."""

    def __len__(self) -> int:
        """How many expressions there are."""

    def statistics(self) -> dict[str, int]:
        """The counters now: expressions, their distinct parts, steps, documents in rounds."""

@final
class Index:
    """A changing set of patterns under ids, and the documents that satisfy them."""

    def __new__(
        cls,
        number: Callable[[str], float],
        limits: _Limits,
        budget: int = ...,
        steps_max: int = ...,
        cost_max: int = ...,
    ) -> Index:
        """An empty index.

        ``number`` reads a number as libxml2 does. ``budget`` is how many bytes of label paths a
        reader remembers, ``steps_max`` what looking at one document may take.
        """

    @staticmethod
    def from_buffer(
        buffer: bytes | memoryview,
        number: Callable[[str], float],
        limits: _Limits,
        budget: int = ...,
        steps_max: int = ...,
        cost_max: int = ...,
    ) -> Index:
        """The index that :meth:`to_bytes` wrote; it points into the buffer.

        ValueError if the bytes are damaged, or the buffer is not read-only.
        """

    def add(
        self, id: int, condition: object, *, residual: bool, expression: str | None = None
    ) -> bool:
        """Add a pattern; with ``residual`` a match only makes it a candidate.

        Of a candidate the canonical text ``expression`` is evaluated; without one, or where that
        cannot be, libxml2 has to decide it. False if the index cannot decide the condition, since
        it asks for the document node's own value.
        """

    def evaluate(self, id: int, text: str) -> bool:
        """Have a candidate evaluated, by its canonical text; False if it is for libxml2."""

    def remove(self, id: int) -> bool:
        """Remove a pattern; whether it was there."""

    def add_expression(self, id: int, text: str) -> bool:
        """Add a pattern by its canonical text, which is evaluated where it may hold.

        False if it is one for libxml2: then it has to be added by a condition.
        """

    def __len__(self) -> int:
        """How many patterns there are."""

    def __contains__(self, key: int, /) -> bool:
        """Whether a pattern with this id is there."""

    def ids(self) -> list[int]:
        """All ids, in no order."""

    def residual_ids(self) -> list[int]:
        """The ids whose matches are candidates only, ascending."""

    def ids_before(self, end: int) -> list[int]:
        """The ids before this one, ascending."""

    def condition(self, id: int) -> tuple[Any, ...]:
        """What was added under an id, as nested tuples."""

    def match(self, content: bytes, skip: Sequence[int]) -> _Ids | None:
        """The ids a document satisfies; None if libxml2 has to read it. ``skip`` is ascending."""

    def match_events(self, events: list[tuple[str | None, ...]], skip: Sequence[int]) -> _Ids:
        """The same for a document that libxml2 has read, in document order.

        An empty tuple ends an element; one string is a text; two are the namespace and name of an
        element that begins; three those of an attribute, and its value. Names have their prefixes.
        A comment is its content and None; a processing instruction its target, its content and
        None; None alone tells that the document has declarations.
        """

    def links(self, groups: Sequence[Sequence[int]]) -> Links:
        """Groups of ids made ready for :meth:`match_links`."""

    def match_links(
        self, content: bytes, links: Links, skip: Sequence[int]
    ) -> list[bool | None] | None:
        """For each group whether it has a match, None where libxml2 or more steps must decide.

        None for all if libxml2 has to read the document.
        """

    def match_batch(
        self,
        content: memoryview,
        offsets: memoryview,
        *,
        wide: bool,
        decoded: bool,
        first: int,
        count: int,
        skip: Sequence[int],
        threads: int,
    ) -> tuple[Slab, Slab, Slab, Slab, list[int]]:
        """Many documents: the buffers of an Arrow array of binaries, or of strings (``decoded``).

        ``wide`` offsets have 64 bits; the array begins at the offset ``first``. Offsets and ids of
        matches, offsets and ids of candidates for libxml2, and the rows that it has to read.
        """

    def to_bytes(self) -> bytes:
        """The index as bytes."""

    def statistics(self) -> dict[str, int]:
        """The counters now."""

def outline(content: bytes) -> list[tuple[Any, ...]] | str:
    """The nodes of a document in document order, or why libxml2 has to read it.

    Each is a tuple that begins with its kind; then come, for an *element* its namespace, local name
    and prefix, and the number of its parent; for an *attribute* the number of its element, the same
    three, its value, and whether the document declares it to be an ID; for a *text* the number of
    its element and what it says; for a *remark* (a comment, or an instruction) that of the element
    around it, its target if it is an instruction, and what it says.
    """

def number(text: str) -> float:
    """The number that a string-value stands for, as the kernel reads it."""

def find_markup(text: bytes, start: int, end: int, local: bytes | None) -> int:
    """Where the first ``<`` stands that counts inside a record of a dump; -1 if none does.

    Tags of the local name ``local`` count, or all where there is none, and ``<!`` and ``<?``.
    """

def records_alike(
    text: bytes, start: int, end: int, tag: bytes, local: bytes | None
) -> tuple[Slab, int]:
    """Records of a dump that follow each other: where each begins and ends, how far they reach.

    They begin like one whose start tag is ``tag``, perhaps without its end. ``start`` is outside of
    all records; the first thing that is not plain, or not whole at ``end``, ends the row.
    """
