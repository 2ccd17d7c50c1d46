"""The engine ``native``: the kernel, where it is installed.

The kernel (the package ``twigcast-kernel``, written in Rust) reads documents, keeps the exact
patterns and decides them; nothing of them stays on this side, so that a million subscriptions take
no more memory than the kernel's arrays. Three things are done here:

- a document that the kernel's reader is not sure of (any mistake, and what is rare) is read by
  libxml2, which refuses it with the place of the mistake or makes a tree that
  is handed to the kernel event by event;
- of a pattern outside the exact fragment the kernel keeps the necessary condition, and evaluates
  the pattern where that holds; where it is not sure (:meth:`NativeEngine.verdicts`), libxml2
  decides (:mod:`~twigcast.matching.residual.libxml2`);
- conditions and numbers are translated.

In this room, this module alone imports the kernel; :data:`AVAILABLE` shows whether there is one.
Where it is, the other engines have one beside them, which finds what is undecided (:func:`beside`).
"""

from __future__ import annotations

import json
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, Final, Self, TypeAlias, overload

from lxml import etree
from lxml.etree import _Comment, _ProcessingInstruction

from twigcast.errors import PatternError, UsageError
from twigcast.language.condition.model import TRUE
from twigcast.language.condition.value_tests import constant_number
from twigcast.language.document.parse import LIBRARY_LIMITS, Document, DocumentLimits, split_tag
from twigcast.language.document.tree_walk import walk_texts
from twigcast.language.pattern import CANONICAL_LIMITS, Pattern
from twigcast.language.xpath.syntax import XML_NAMESPACE, Number
from twigcast.matching.engines.native_conditions import condition_of
from twigcast.matching.interface.engine import Decision, EngineStatistics, MakeKernel, Verdicts
from twigcast.matching.residual.libxml2 import (
    COMPILED_MAX,
    COST_MAX,
    DOCUMENT_COST_MAX,
    Residuals,
    picked,
)
from twigcast.matching.stored import check_sums, sums

try:
    import twigcast_kernel as kernel
except ModuleNotFoundError:  # optional: everything works without it, only slower
    AVAILABLE = False
else:
    AVAILABLE = True

from lxml.etree import _Element

REMEMBERED_BYTES_MAX: Final = 256 << 20
"""Bytes of label paths that one reader remembers: 100,000 patterns need a tenth of it on documents
of one kind. Above 250,000 patterns it grows in proportion to their number. Beyond, everything is
forgotten and learned anew."""

_HEADER: Final = b"twigcast compiled 2\n"
_ALIGNMENT: Final = 64
"""Where the kernel's part may begin, so that it can be used in place."""

_LOWEST: Final = -(1 << 63)
_HIGHEST: Final = (1 << 63) - 1


@dataclass(frozen=True, slots=True)
class NativeStatistics(EngineStatistics):
    """How the engine fares."""

    documents: int
    """Documents that were looked at."""
    read_by_libxml2: int
    """Those of them that the kernel's reader left to libxml2, which takes many times longer."""
    nodes: int
    """Nodes of the tries of paths."""
    index_bytes: int
    """Memory that the patterns take in the kernel."""
    verified: int
    """Candidates that had to be looked for in the document, over all documents."""
    evaluated: int
    """Pairs of document and residual expression that the kernel evaluated."""
    steps: int
    """Steps that looking and evaluating took."""
    abandoned: int
    """How often a document had too much to learn, so that patterns were looked for one by one."""
    learned_most: int
    """Nodes of a trie that the label paths of one document led to at most, of ``learned_max``."""
    learned_max: int
    remembered_paths: int
    """Label paths remembered, over all readers."""
    remembered_bytes: int
    """What the reader that remembers most has, of at most ``remembered_bytes_max``."""
    remembered_bytes_max: int
    forgotten: int
    """How often a reader had no more room and forgot everything."""
    evaluator_bytes: int
    """What the reader that has most keeps for evaluating: nodes of a document, lists of them."""
    answers_bytes_most: int
    """Answers and sets of nodes that were remembered of one document, of ``answers_bytes_max``."""
    answers_bytes_max: int


@dataclass(frozen=True, slots=True)
class KernelGroups(Sequence[Collection[int]]):
    """Groups of ids, with what the kernel made of them."""

    groups: Sequence[Collection[int]]
    links: kernel.Links

    @overload
    def __getitem__(self, at: int) -> Collection[int]: ...
    @overload
    def __getitem__(self, at: slice) -> Sequence[Collection[int]]: ...
    def __getitem__(self, at: int | slice) -> Collection[int] | Sequence[Collection[int]]:
        return self.groups[at]

    def __len__(self) -> int:
        return len(self.groups)


def version() -> str | None:
    """The version of the kernel, if there is one."""
    return kernel.__version__ if AVAILABLE else None


def beside(*, cost_max: int, document_cost_max: int, limits: DocumentLimits) -> MakeKernel | None:
    """Makes the kernel beside another engine; None where it is not installed."""
    if not AVAILABLE:
        return None
    return partial(
        NativeEngine, cost_max=cost_max, document_cost_max=document_cost_max, limits=limits
    )


class NativeEngine:
    """The kernel behind the protocol of all engines.

    ``limits`` bound documents, ``remembered_bytes_max`` what a reader remembers of label paths;
    the others are those of :class:`~twigcast.matching.residual.libxml2.Residuals`. As many steps as
    ``document_cost_max`` says are for looking at a document in the kernel, too.
    """

    name = "native"

    def __init__(
        self,
        *,
        cost_max: int = COST_MAX,
        document_cost_max: int = DOCUMENT_COST_MAX,
        compiled_max: int = COMPILED_MAX,
        limits: DocumentLimits = LIBRARY_LIMITS,
        remembered_bytes_max: int = REMEMBERED_BYTES_MAX,
    ) -> None:
        if not AVAILABLE:
            raise UsageError(
                "the engine native needs the package twigcast-kernel, which is not installed; "
                "build it from kernel/ (make setup does, where there is Rust), or take another"
            )
        self._residuals = Residuals(
            cost_max=cost_max, document_cost_max=document_cost_max, compiled_max=compiled_max
        )
        self._patterns: dict[int, Pattern] = {}
        documents = (
            limits.bytes_max,
            limits.elements_max,
            limits.depth_max,
            limits.attributes_max,
            limits.name_length_max,
            limits.internal_subset_bytes_max,
        )
        self._bounds = (documents, remembered_bytes_max, document_cost_max, cost_max)
        self._use(kernel.Index(_number, *self._bounds))

    def add(self, id: int, pattern: Pattern) -> None:
        """Take in a pattern under an id that is not in use."""
        self._patterns.pop(id, None)  # An interrupted removal may have left it.
        if self._decides(id, pattern):
            return
        added = False
        try:
            # Before the kernel can make it a candidate somewhere.
            self._patterns[id] = pattern
            if not self._index.add_expression(id, pattern.text):
                self._add_for_libxml2(id, pattern)
            added = True
        finally:
            # Also where an interrupt came: another subscription may get this id.
            if not added:
                self._patterns.pop(id, None)
                self._index.remove(id)

    def remove(self, id: int) -> bool:
        """Forget the id and whatever only it needed; whether it was there."""
        there = self._index.remove(id)
        pattern = self._patterns.pop(id, None)
        if pattern is not None:
            # Should another id have the same pattern, it is compiled again.
            self._residuals.forget(pattern)
        return there

    @property
    def patterns(self) -> Mapping[int, Pattern]:
        """The pattern under each id; an exact one is rebuilt from the kernel's form."""
        return self._patterns_view

    def ids_before(self, end: int) -> Sequence[int]:
        """The ids before this one."""
        return self._index.ids_before(end)

    def decide(self, document: Document, skip: Collection[int]) -> Decision:
        """Which ids match; those in ``skip`` are not looked at."""
        matches, unsure, undecided = self.verdicts(document, skip)
        if not unsure:
            return Decision(tuple(matches), tuple(undecided))
        # Another thread may have removed one by now.
        held = picked(self._patterns, unsure)
        return self._residuals.completed(matches, held, document, undecided=undecided)

    def verdicts(self, document: Document, skip: Collection[int]) -> Verdicts:
        """The kernel's verdicts, without libxml2."""
        skipped = _ascending(skip)
        found = self._index.match(document.content, skipped)
        return Verdicts(*(found or self._index.match_events(list(_events(document)), skipped)))

    def prepared(self, groups: Sequence[Collection[int]]) -> KernelGroups:
        """Groups compiled once for many documents."""
        return KernelGroups(groups, self._index.links([list(group) for group in groups]))

    def decide_links(
        self, document: Document, groups: Sequence[Collection[int]], skip: Collection[int]
    ) -> tuple[list[bool], tuple[int, ...]]:
        """Whether each group has a match, and the undecided ids of the groups that have none."""
        ready = groups if isinstance(groups, KernelGroups) else self.prepared(groups)
        answers = self._index.match_links(document.content, ready.links, _ascending(skip))
        if answers is not None and None not in answers:
            return [answer is True for answer in answers], ()
        matches, unsure, undecided = self.verdicts(document, skip)
        sure = frozenset(matches)
        found = [not sure.isdisjoint(group) for group in groups]
        held = picked(self._patterns, unsure)
        return self._residuals.completed_links(groups, found, held, document, undecided=undecided)

    def to_bytes(self) -> bytes:
        """Everything as bytes that :meth:`from_buffer` uses where they lie."""
        # An interrupted removal may have left a pattern that the kernel does not have any more.
        held = [[one, self._patterns[one].text] for one in self._index.residual_ids()]
        texts = json.dumps(held, ensure_ascii=False, separators=(",", ":")).encode()
        index = self._index.to_bytes()
        head = _HEADER + len(texts).to_bytes(8, "little") + sums(texts, index) + texts
        return head + bytes(-len(head) % _ALIGNMENT) + index

    @staticmethod
    def has_written(buffer: bytes | memoryview) -> bool:
        """Whether bytes begin as those of :meth:`to_bytes` do."""
        return bytes(buffer[: len(_HEADER)]) == _HEADER

    @classmethod
    def from_buffer(
        cls,
        buffer: memoryview,
        *,
        cost_max: int = COST_MAX,
        document_cost_max: int = DOCUMENT_COST_MAX,
        limits: DocumentLimits = LIBRARY_LIMITS,
    ) -> Self:
        """The engine that was written.

        Raises :class:`UsageError` if the bytes are damaged, or if somebody can write to them.
        """
        if _can_change(buffer):
            raise UsageError(
                "these stored subscriptions can be written to, and are used where they lie; "
                "give bytes(buffer), or map the file for reading only"
            )
        engine = cls(cost_max=cost_max, document_cost_max=document_cost_max, limits=limits)
        sizes, start = len(_HEADER) + 8, len(_HEADER) + 16
        end = start + int.from_bytes(buffer[len(_HEADER) : sizes], "little")
        texts, rest = bytes(buffer[start:end]), buffer[end + -end % _ALIGNMENT :]
        check_sums(bytes(buffer[sizes:start]), texts, rest, "their texts")
        try:
            for one, text in json.loads(texts):
                engine._patterns[one] = Pattern.parse(text, None, CANONICAL_LIMITS)
            index = kernel.Index.from_buffer(rest, _number, *engine._bounds)
        except (ValueError, TypeError, PatternError, RecursionError) as error:
            raise UsageError(f"stored subscriptions are damaged: {error}") from None
        if list(engine._patterns) != index.residual_ids():
            raise UsageError(
                "stored subscriptions are damaged: there are texts without a subscription, or "
                "subscriptions without their text; write them again from the subscriptions"
            )
        for one, pattern in engine._patterns.items():
            index.evaluate(one, pattern.text)
        engine._use(index)
        return engine

    @property
    def costly_documents(self) -> int:
        """Documents on which all subscriptions together took too many steps for one round."""
        return self._index.statistics()["in_rounds"] + self._residuals.costly_documents

    def statistics(self) -> NativeStatistics:
        """The counters as they are now."""
        counts = self._index.statistics()
        return NativeStatistics(
            patterns=counts["patterns"],
            residual=counts["residual"],
            unfiltered=counts["unfiltered"],
            candidates=counts["candidates"],
            by_libxml2=self._residuals.by_libxml2,
            walked=self._residuals.walked,
            compiled=len(self._residuals),
            compiled_max=self._residuals.compiled_max,
            costly_documents=self.costly_documents,
            documents=counts["documents"],
            read_by_libxml2=counts["from_libxml2"],
            steps=counts["steps"],
            abandoned=counts["abandoned"],
            learned_most=counts["weight_most"],
            learned_max=counts["weight_max"],
            nodes=counts["nodes"],
            index_bytes=counts["bytes"],
            verified=counts["verified"],
            evaluated=counts["evaluated"],
            remembered_paths=counts["paths"],
            remembered_bytes=counts["path_bytes"],
            remembered_bytes_max=counts["path_bytes_max"],
            forgotten=counts["forgotten"],
            evaluator_bytes=counts["evaluator_bytes"],
            answers_bytes_most=counts["answers_most"],
            answers_bytes_max=counts["answers_max"],
        )

    def match_buffers(
        self,
        content: memoryview,
        offsets: memoryview,
        *,
        wide: bool,
        decoded: bool,
        first: int,
        count: int,
        skip: Collection[int],
        threads: int,
    ) -> tuple[kernel.Slab, kernel.Slab, kernel.Slab, kernel.Slab, list[int]]:
        """Many documents at once: the buffers of an Arrow array, as the kernel takes them.

        ``wide`` offsets have 64 bits; the array begins at the offset ``first``. What was
        ``decoded`` already is UTF-8, whatever it declares. Gives the offsets and ids of matches,
        those of libxml2's candidates, and the rows it had better read itself.
        """
        return self._index.match_batch(
            content,
            offsets,
            wide=wide,
            decoded=decoded,
            first=first,
            count=count,
            skip=_ascending(skip),
            threads=threads,
        )

    def _use(self, index: kernel.Index) -> None:
        self._index = index
        self._patterns_view = _Patterns(index, self._patterns)

    def _add_for_libxml2(self, id: int, pattern: Pattern) -> None:
        """Take in a pattern by its necessary condition alone."""
        necessary = TRUE if pattern.exact else pattern.necessary.condition
        if not self._index.add(id, necessary, residual=True):
            self._index.add(id, TRUE, residual=True)

    def _decides(self, id: int, pattern: Pattern) -> bool:
        """Whether the kernel took the pattern as one that it decides itself."""
        try:
            return self._index.add(id, pattern.condition, residual=False)
        except TypeError:
            # It has no word for residual parts. To look for them beforehand would take every exact
            # pattern, which most are, a quarter of the time that the kernel takes.
            return False


class _Patterns(Mapping[int, Pattern]):
    """The patterns of an index: exact ones are in the kernel, the others here."""

    def __init__(self, index: kernel.Index, held: Mapping[int, Pattern]) -> None:
        self._index = index
        self._held = held

    def __getitem__(self, id: int) -> Pattern:
        return self._held.get(id) or Pattern(condition_of(self._index.condition(id)))

    def __contains__(self, id: object) -> bool:
        return isinstance(id, int) and -(1 << 63) <= id < 1 << 63 and id in self._index

    def __iter__(self) -> Iterator[int]:
        return iter(self._index.ids())

    def __len__(self) -> int:
        return len(self._index)


def _can_change(view: memoryview) -> bool:
    """Whether somebody can write to a buffer: through this view, or through what it shows."""
    if not view.readonly:
        return True
    try:
        return not memoryview(view.obj).readonly
    except TypeError:
        return False


def _ascending(skip: Collection[int]) -> list[int]:
    """Ids as the kernel takes them. Others, which no subscription can have, are left out."""
    if not skip:
        return []
    try:
        ids: list[Any] = sorted(skip)
    except TypeError:  # texts among integers
        pass
    else:
        if isinstance(ids[0], int) and ids[0] >= _LOWEST and ids[-1] <= _HIGHEST:
            return ids
    given: Collection[Any] = skip
    return sorted(one for one in given if isinstance(one, int) and _LOWEST <= one <= _HIGHEST)


def _number(text: str) -> float:
    """A number as libxml2 reads it in an expression."""
    return constant_number(Number(text))


_Event: TypeAlias = tuple[str | None, ...]


def _events(document: Document) -> Iterator[_Event]:
    """A document that libxml2 has read, as the kernel takes it.

    Text nodes are what libxml2 says they are, empty ones included.
    """
    # A long namespace is not to be there for every element.
    names: dict[tuple[str, str | None], tuple[str, str]] = {}
    root = document.tree.getroot()
    if document.grows:
        yield (None,)
    yield from map(_remark, reversed([*root.itersiblings(preceding=True)]))
    for one in walk_texts(root, remarks=True):
        if one is None:
            yield ()
        elif isinstance(one, str):
            yield (one,)
        elif isinstance(one, _Comment | _ProcessingInstruction):
            yield _remark(one)
        else:
            yield _named(str(one.tag), one.prefix, names)
            for name, value in one.items():
                key = str(name)
                prefix = _prefix_of(key, one) if key.startswith("{") else None
                yield (*_named(key, prefix, names), str(value))
    yield from map(_remark, root.itersiblings())


def _remark(node: _Element) -> _Event:
    if isinstance(node, _ProcessingInstruction):
        return str(node.target), node.text or "", None
    return node.text or "", None


def _named(
    tag: str, prefix: str | None, names: dict[tuple[str, str | None], tuple[str, str]]
) -> tuple[str, str]:
    """The namespace and name of a tag, the latter with the prefix."""
    known = names.get((tag, prefix))
    if known is None:
        namespace, local = split_tag(tag)
        known = names[tag, prefix] = namespace, f"{prefix}:{local}" if prefix else local
    return known


def _prefix_of(attribute: str, element: _Element) -> str | None:
    """The prefix of an attribute, which lxml does not give where a namespace has several."""
    namespace, local = split_tag(attribute)
    if namespace == XML_NAMESPACE:
        return "xml"
    found = [one for one, bound in element.nsmap.items() if one and bound == namespace]
    if len(found) == 1:
        return str(found[0])
    name = _name_of(element, local=local, namespace=namespace)
    return str(name).partition(":")[0]


_name_of: Final = etree.XPath(
    "name(@*[local-name() = $local and namespace-uri() = $namespace])", regexp=False
)
