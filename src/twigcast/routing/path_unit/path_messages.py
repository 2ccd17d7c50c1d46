"""Documents that travel path by path (Dissemination, 1.4.1).

Not a document is routed there but each of its root-to-leaf paths, and the edge puts together what
arrives. A *leaf* is an element without elements inside; paths are numbered from 0 in the order of
their leaves, and keep their numbers however much is cut away on the way::

    <a x="1">so <b>it</b> <c><d/>is</c></a>

    path 0   <a x="1">so <b>it</b></a>
    path 1   <a x="1"> <c><d/>is</c></a>

Every path has the attributes of all its elements. Text that stands among elements would grow with
their number if each path had it, so it goes with one: **what stands before an element goes with the
first path inside that element; what stands behind the last element goes with the last path of its
parent**; comments and processing instructions likewise. Three things follow. The texts of all paths
are, one after the other, the texts of the document. Two texts never become one, since what stands
between them goes with one of them. And a path is the same whether it is taken from the whole
document or from what is left of it.

What is sent to neighbours are then not patterns but their *linear parts*, which one path can
decide: :mod:`twigcast.routing.path_unit.linear_parts`.

**Costs.** Taking a document apart takes time and space in proportion to the length of all its
paths, which can grow with the square of the document. Beyond :class:`PathLimits` a document is
decided as a whole: all its paths go where one of them has to.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Hashable, Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate, pairwise
from typing import Final, NamedTuple, TypeVar, cast
from xml.sax.saxutils import escape

from lxml import etree
from lxml.etree import _Element, _ElementTree

from twigcast.errors import DocumentError, UsageError
from twigcast.language.document.parse import LIBRARY_LIMITS, Document, DocumentLimits, split_tag
from twigcast.matching import Matcher
from twigcast.matching.interface.groups import Groups
from twigcast.slips import check_fields

_Key = TypeVar("_Key", bound=Hashable)


@dataclass(frozen=True, slots=True)
class PathLimits:
    """Up to where a document is taken apart; a larger one travels as a whole.

    Writing and deciding a path takes some 50 µs, so the defaults keep a document to about a second.
    """

    paths_max: int = 20_000
    bytes_max: int = 20_000_000
    """Of all paths together."""

    def __post_init__(self) -> None:
        check_fields(self)


PATH_LIMITS: Final = PathLimits()

# Documents.


def path_count(document: bytes | Document) -> int:
    """How many paths a document has. Raises DocumentError if it cannot be read.

    >>> path_count(b"<a><b/><c><d/></c></a>")
    2
    """
    return _leaf_count(
        document
        if isinstance(document, Document)
        else Document.parse(document, limits=LIBRARY_LIMITS)
    )


def path_numbers(count: int, paths: Sequence[int] | None) -> tuple[int, ...]:
    """The original numbers of the ``count`` paths in a document that has come with ``paths``.

    Without numbers nothing has been cut away yet. Raises DocumentError if they do not fit.
    """
    if paths is None:
        return tuple(range(count))
    numbers = tuple(paths)
    rising = all(before < after for before, after in pairwise(numbers))
    if len(numbers) != count or not rising or numbers[0] < 0:
        raise DocumentError(
            f"it has {count:,} paths, and came with {len(numbers):,} numbers; there should be "
            "one for each, rising from 0 or more"
        )
    return numbers


def pruned(
    content: bytes,
    kept: Collection[int],
    paths: Sequence[int] | None = None,
    *,
    limits: DocumentLimits = LIBRARY_LIMITS,
) -> bytes:
    """The document with some of its paths alone; the very same bytes if all are kept.

    ``paths`` are the original numbers of those that are there, if some have been cut away already;
    ``kept`` are original numbers, too, and those of the paths in the result, in rising order.
    Raises DocumentError if the document cannot be read or ``paths`` do not fit, UsageError for a
    path that is not there, or if none is kept: such a document does not travel.

    >>> first = pruned(b"<a><b/><c/><d/>!</a>", {1, 2})
    >>> first, pruned(first, {2}, paths=(1, 2))
    (b'<a><c/><d/>!</a>', b'<a><d/>!</a>')
    """
    document = Document.parse(content, limits=limits)
    numbers = path_numbers(_leaf_count(document), paths)
    wanted = frozenset(kept)
    if not wanted or not wanted.issubset(numbers):
        raise UsageError(f"of the {len(numbers):,} paths there are, keep some; others cannot be")
    if len(wanted) == len(numbers):
        return content
    root = document.tree.getroot()
    _prune(root, 0, list(accumulate((number in wanted for number in numbers), initial=0)))
    return etree.tostring(root, encoding="UTF-8")


def decide_paths(
    matcher: Matcher,
    groups: Groups[_Key],
    document: Document,
    paths: Sequence[int] | None = None,
    *,
    limits: DocumentLimits = LIBRARY_LIMITS,
    path_limits: PathLimits = PATH_LIMITS,
) -> dict[_Key, tuple[int, ...]]:
    """Which paths have to travel over which link: original numbers, rising; links without are out.

    ``groups`` are the routes of each link, made ready by the matcher, and the routes linear parts;
    ``paths`` are the original numbers of what is there. Raises DocumentError if the document cannot
    be read or the numbers do not fit. What is found is never too large for :func:`pruned`.
    """
    numbers = path_numbers(_leaf_count(document), paths)
    if not any(groups.values()):
        return {}
    matches: dict[_Key, list[int]] = {key: [] for key in groups}
    length = 0
    whole = len(numbers) > path_limits.paths_max or _length_anew(document) > limits.bytes_max
    documents = () if whole else zip(numbers, _written(document), strict=True)
    for number, path in documents:
        length += len(path)
        if length > path_limits.bytes_max or len(path) > limits.bytes_max:
            whole = True
            break
        for key in matcher.match_links(path, groups):
            matches[key].append(number)
    if whole:
        return dict.fromkeys(matcher.match_links(document, groups), numbers)
    return {key: tuple(wanted) for key, wanted in matches.items() if wanted}


def _leaf_count(document: Document) -> int:
    return int(_count_leaves(document.tree))


_count_leaves = cast("Callable[[_ElementTree], float]", etree.XPath("count(//*[not(*)])"))

_count_empty = cast("Callable[[_ElementTree], float]", etree.XPath("count(//text()[. = ''])"))


def _length_anew(document: Document) -> float:
    """Bytes of the document as libxml2 writes it, and of texts without a character, as we do.

    What is left when paths are cut away is shorter. The original may have been shorter, too: by
    entities, escapes, another encoding.
    """
    anew = etree.tostring(document.tree.getroot(), encoding="UTF-8")
    return len(anew) + len(_EMPTY) * _count_empty(document.tree)


def _is_element(node: _Element) -> bool:
    """Not a comment or a processing instruction, which lxml has among an element's children."""
    return isinstance(node.tag, str)


# Cutting away.


def _prune(element: _Element, number: int, kept_before: Sequence[int]) -> int:
    """Cut away what goes with paths that are not kept; the number of the first path behind.

    ``number`` is that of the first path inside, and ``kept_before`` has for each number how many
    paths before it are kept. What stands in front of an element stays only with the element, so
    each text that stays finds its place behind a node that stays.
    """
    before: _Element | None = None  # The last element that stays, so far.
    waiting: list[_Element] = []  # Comments and the like since the last element.
    text, is_leaf = element.text, True
    element.text = None

    def place(path: int) -> None:
        """Text and comments since the last element go with a path: leave them, or take them out."""
        if kept_before[path] == kept_before[path + 1]:
            for node in waiting:
                element.remove(node)
        elif before is None:
            element.text = _to_be_written(text)
        else:
            before.tail = _to_be_written(text)
        for node in waiting:
            node.tail = _to_be_written(node.tail)
        waiting.clear()

    for child in list(element):
        if not _is_element(child):
            waiting.append(child)
            continue
        is_leaf, first = False, number
        number = _prune(child, first, kept_before)
        place(first)
        text, child.tail = child.tail, None
        if kept_before[first] < kept_before[number]:
            before = child
        else:
            element.remove(child)
    number += is_leaf
    place(number - 1)
    return number


def _to_be_written(text: str | None) -> str | etree.CDATA | None:
    """The text as lxml has to have it so that it writes it, even if it is empty."""
    return etree.CDATA("") if text == "" else text


# Writing paths.


class _Level(NamedTuple):
    """An open element: what closes it, and what goes with its last path."""

    end: str
    trail: str
    last: bool
    """Whether the child that is open is its last."""


def _written(document: Document) -> Iterator[bytes]:
    """The paths in their order, each written as a document."""
    opened: list[str] = []  # Start tags, each behind what stands before it.
    once: list[int] = []  # The places there of what goes with the next path alone.
    levels: list[_Level] = []
    prefixes = {_XML: "xml:"}  # Of the namespaces that are declared, none twice.

    def visit(element: _Element, stands_before: str) -> Iterator[bytes]:
        known = len(prefixes)
        start, end = _tags(element, prefixes)
        children, standing = _inside(element)
        once.append(len(opened))
        opened.extend((stands_before, start))
        for child, stands in zip(children, standing, strict=False):
            levels.append(_Level(end, standing[-1], child is children[-1]))
            yield from visit(child, stands)
            levels.pop()
        if not children:
            yield "".join((*opened, standing[0], end, *_endings(levels))).encode()
            for place in once:
                opened[place] = ""
            once.clear()
        del opened[-2:]
        while len(prefixes) > known:
            prefixes.popitem()

    return visit(document.tree.getroot(), "")


def _endings(levels: Sequence[_Level]) -> Iterator[str]:
    """What closes the elements around a leaf."""
    is_last = True
    for level in reversed(levels):
        is_last = is_last and level.last
        if is_last:
            yield level.trail
        yield level.end


def _inside(element: _Element) -> tuple[list[_Element], list[str]]:
    """The elements in an element, and what stands before each and behind the last, written."""
    children: list[_Element] = []
    standing: list[str] = []
    pieces = [_text(element.text)]
    for child in element:
        if _is_element(child):
            children.append(child)
            standing.append("".join(pieces))
            pieces.clear()
        else:
            pieces.append(etree.tostring(child, encoding="unicode", with_tail=False))
        pieces.append(_text(child.tail))
    return children, [*standing, "".join(pieces)]


_EMPTY: Final = "<![CDATA[]]>"
"""A text that is there without a character; lxml has None where there is none."""
_XML: Final = "http://www.w3.org/XML/1998/namespace"
_SPECIAL: Final = re.compile(r'[&<>"\t\n\r]')
_IN_TEXT: Final = {"\r": "&#13;"}
_IN_VALUE: Final = {'"': "&quot;", "\t": "&#9;", "\n": "&#10;", "\r": "&#13;"}


def _text(text: str | None) -> str:
    if not text:
        return "" if text is None else _EMPTY
    return escape(text, _IN_TEXT) if _SPECIAL.search(text) else text


def _value(value: str) -> str:
    return escape(value, _IN_VALUE) if _SPECIAL.search(value) else value


def _tags(element: _Element, prefixes: dict[str, str]) -> tuple[str, str]:
    """The start tag and the end tag; namespaces that are new are declared, and added."""
    declared: list[str] = []

    def named(tag: str) -> str:
        if tag[0] != "{":
            return tag
        namespace, local = split_tag(tag)
        if namespace not in prefixes:
            prefix = f"n{len(prefixes)}"
            prefixes[namespace] = f"{prefix}:"
            declared.append(f' xmlns:{prefix}="{_value(namespace)}"')
        return prefixes[namespace] + local

    name = named(str(element.tag))
    attributes = [f' {named(str(key))}="{_value(str(value))}"' for key, value in element.items()]
    return f"<{name}{''.join(declared)}{''.join(attributes)}>", f"</{name}>"
