"""Documents: bytes parsed to a checked tree, with the original bytes kept.

Bytes come from untrusted sources, so libxml2 reads them in the same hardened configuration as the
oracle of matching: nothing external is ever fetched, entities of the internal subset are expanded
within libxml2's bounds, no attribute comes from a DTD. In addition there are the checks that
libxml2 lacks: size, number of elements, attributes per element, length of names, size of the
internal subset, and the accepted encodings (libxml2 would read UTF-7, in which ``<`` can be spelled
in ways that filters in front of us do not expect).

    >>> Document.parse(b"<a><b/></a>").element_count
    2
    >>> Document.parse(b"<a><b></a>", name="bad.xml")
    Traceback (most recent call last):
    twigcast.errors.DocumentError: document bad.xml, line 1, column 11: Opening and ending tag \
mismatch: b line 1 and a

A document that cannot be read raises :class:`DocumentError` with line and column.
"""

from __future__ import annotations

import re
import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from hashlib import sha256
from typing import Final, cast

from lxml import etree
from lxml.etree import _Element, _ElementTree, _LogEntry

from twigcast.copies import Copied, as_kind
from twigcast.display import one_line
from twigcast.door import door
from twigcast.errors import DocumentError, DocumentLimitError, UsageError
from twigcast.language.condition.model import Label
from twigcast.language.document.content import Source, content_of, encoded
from twigcast.language.document.internal_subset import internal_subset_bytes
from twigcast.language.document.label_counts import label_counts, split_tag
from twigcast.language.document.name_lengths import attribute_name_over, tags_are_within
from twigcast.slips import check_fields

__all__ = [
    "LIBRARY_LIMITS",
    "LIVE_LIMITS",
    "Document",
    "DocumentLimits",
    "Source",
    "encoded",
    "new_parser",
    "split_tag",
]

_DEPTH_OF_LIBXML2 = 256
_NODES_OF_LIBXML2 = 10_000_000
"""The largest node-set, and thus the largest count."""

_GROWTH_FREE, _GROWTH_MAX = 1_000_000, 5
"""The bytes that libxml2 lets entities add to any document, and the multiple of its own size."""


@dataclass(frozen=True, slots=True)
class DocumentLimits:
    """How large a document may be.

    >>> from twigcast import Document, DocumentLimits
    >>> Document.parse("<a><b/></a>", limits=DocumentLimits(elements_max=1))
    Traceback (most recent call last):
    twigcast.errors.DocumentLimitError: document: too many elements: 2 where at most 1 are \
allowed (elements_max)

    Each default is that of libxml2, or a few times what the largest real documents of thirty
    kinds needed.
    """

    bytes_max: int = 10_000_000
    elements_max: int = 1_000_000
    depth_max: int = _DEPTH_OF_LIBXML2
    """Elements inside each other; libxml2 itself stops at 256."""
    attributes_max: int = 1_000
    """Attributes of one element."""
    name_length_max: int = 1_000
    """Characters of a name, a prefix or a namespace. Real ones stay under a few hundred; a
    namespace is written once and compared with every element."""
    internal_subset_bytes_max: int = 131_072
    """Bytes of declarations between the brackets of a DOCTYPE. Real ones have some hundreds, and
    whole DTDs mostly less than this; the time that libxml2 takes grows with the square of it, and
    is a fraction of a second here (:mod:`~twigcast.language.document.internal_subset`)."""

    def __post_init__(self) -> None:
        check_fields(self)
        if not 1 <= self.depth_max <= _DEPTH_OF_LIBXML2:
            raise UsageError(
                f"depth_max is {self.depth_max}; give 1 to {_DEPTH_OF_LIBXML2}, where libxml2 stops"
            )
        if self.elements_max > _NODES_OF_LIBXML2:
            raise UsageError(
                f"elements_max is {self.elements_max:,}; libxml2 counts to {_NODES_OF_LIBXML2:,}"
            )


LIBRARY_LIMITS: Final = DocumentLimits()
LIVE_LIMITS: Final = DocumentLimits(bytes_max=1_048_576, elements_max=200_000)
"""For documents that arrive over a network: a broker holds many at a time."""

_ENCODINGS: Final = re.compile(
    r"utf[-_]?8 | utf[-_]?16(?:[-_]?(?:le|be))? | iso-10646-ucs-2"
    r" | (?:us-)?ascii | iso[-_]?8859-?(?:[1-9]|1[013-6]) | latin-?[0-9]+"
    r" | (?:windows-|cp)125[0-8]",
    re.VERBOSE | re.IGNORECASE,
)
"""UTF-8, UTF-16 and the single-byte families in which ASCII means ASCII."""

_DECLARED: Final = re.compile(r"""^\s*<\?xml[^>]*?\sencoding\s*=\s*["']([^"'>]*)""")
_FOREIGN: Final = {
    b"\x00\x00\xfe\xff": "UTF-32",
    b"\xff\xfe\x00\x00": "UTF-32",
    b"\x00\x00\x00<": "UTF-32",
    b"<\x00\x00\x00": "UTF-32",
    b"\x4c\x6f\xa7\x94": "EBCDIC",
}


class Document(Copied):
    """A well-formed XML document within its limits. Make one with :meth:`parse`.

    >>> document = Document.parse("<feed><trade/></feed>")
    >>> document.element_count, document.content
    (2, b'<feed><trade/></feed>')
    """

    def __init__(self, content: bytes, tree: _ElementTree, name: str | None) -> None:
        self.content = content
        self.tree = tree
        self.name = name

    @classmethod
    @door("reading a document")
    def parse(
        cls,
        source: Source,
        *,
        name: str | None = None,
        limits: DocumentLimits = LIBRARY_LIMITS,
    ) -> Document:
        """The document of ``source``; ``name`` is its name in errors.

        A source is bytes, a text, an open file, or an element or tree of lxml
        (:mod:`~twigcast.language.document.content`). Raises :class:`DocumentError` if it is not
        well-formed or its encoding is not accepted, and :class:`DocumentLimitError` if it is too
        large.
        """
        content = source
        if not isinstance(content, bytes):
            content, name = content_of(content, name=name, bytes_max=limits.bytes_max)
        _check("bytes", "bytes_max", len(content), limits.bytes_max, document=name)
        _check_encoding(content, name)
        _check_internal_subset(content, name, limits.internal_subset_bytes_max)
        try:
            return cls._read(content, name, limits)
        except etree.XMLSyntaxError as error:
            raise _syntax_error(error, name) from None
        except _RAISED_BY_READERS as error:
            raise DocumentError(f"cannot be read: {error}", document=name) from error

    @classmethod
    def _read(cls, content: bytes, name: str | None, limits: DocumentLimits) -> Document:
        entities = _ENTITY_DECLARATION in content or _WIDE_ENTITY_DECLARATION in content
        long_names = _may_have_long_names(content, limits.name_length_max, entities=entities)
        if long_names or _elements_at_most(content, entities=entities) > limits.elements_max:
            _check_ahead(content, name, limits)
        document = cls(content, _parsed(content, name).getroottree(), name)
        document._check_limits(limits, long_names=long_names)
        return document

    @cached_property
    def sha256(self) -> str:
        """The SHA-256 digest of the original bytes, in hexadecimal."""
        return sha256(self.content).hexdigest()

    @cached_property
    def element_count(self) -> int:
        """The number of elements."""
        return int(_count_elements(self.tree))

    @cached_property
    def labels(self) -> Mapping[Label, int]:
        """The number of elements and attributes with each label.

        They count by their full name and also by their local name in any namespace.
        """
        return label_counts(self.tree)

    @cached_property
    def attributes_each(self) -> int:
        """The greatest number of attributes of one element."""
        return max(len(element.attrib) for element in _elements(self.tree))

    @property
    def grows(self) -> bool:
        """Whether entities can make the document larger than its text."""
        # docinfo.internalDTD would copy all declarations, in time that grows with their square.
        return bool(self.tree.docinfo.doctype)  # type: ignore[attr-defined]  # Unknown to the stubs.

    @cached_property
    def breadth(self) -> int:
        """The greatest number of child elements of one element."""
        return max(map(len, _elements(self.tree)))

    @cached_property
    def depth(self) -> int:
        """The greatest number of elements nested inside each other."""
        deepest, level = 0, 0
        for event, _ in etree.iterwalk(self.tree, events=("start", "end")):
            level += 1 if event == "start" else -1
            deepest = max(deepest, level)
        return deepest

    @door("copying a document")
    def __reduce__(self) -> tuple[object, ...]:
        """Copies, deep copies and pickles: the same bytes, read once more."""
        return _read_again, (type(self), self.content, self.name)

    def __repr__(self) -> str:
        name = f"{one_line(self.name)}, " if self.name else ""
        return f"<Document: {name}{len(self.content):,} bytes>"

    def _check_limits(self, limits: DocumentLimits, *, long_names: bool) -> None:
        grows = self.grows
        if grows or self.content.count(b"<") > limits.elements_max:
            self._check("elements", "elements_max", self.element_count, limits.elements_max)
        if grows or self.content.count(b"=") > limits.attributes_max:
            self._check("attributes", "attributes_max", self.attributes_each, limits.attributes_max)
        if long_names:
            longest = attribute_name_over(self.tree, limits.name_length_max)
            self._check(_LENGTH, "name_length_max", longest, limits.name_length_max)
        if limits.depth_max < _DEPTH_OF_LIBXML2:
            self._check("levels", "depth_max", self.depth, limits.depth_max)

    def _check(self, what: str, limit: str, given: int, allowed: int) -> None:
        _check(what, limit, given, allowed, document=self.name)


def _read_again(kind: type[Document], content: bytes, name: str | None) -> Document:
    """A copy of a document, which was within its limits when it was read first."""
    return as_kind(kind, Document(content, _parsed(content, name).getroottree(), name))


def new_parser(
    *, expand_entities: bool = True, lenient: bool = False, target: object = None
) -> etree.XMLParser:
    """A parser in the configuration of the oracle.

    Without ``expand_entities`` it leaves references to entities alone, and with ``lenient`` it
    continues after errors. With a ``target`` it builds no tree, but reports events to the target.
    """
    return etree.XMLParser(
        resolve_entities="internal" if expand_entities else False,  # type: ignore[arg-type]  # Newer than the stubs.
        load_dtd=False,
        no_network=True,
        attribute_defaults=False,
        strip_cdata=True,
        recover=lenient,
        target=target,  # type: ignore[arg-type]  # None is allowed.
    )


class _Parsers(threading.local):
    """The parsers of a thread: they are costly to make, and serve one document at a time."""

    def __init__(self) -> None:
        self.expanding = new_parser()
        self.opaque = new_parser(expand_entities=False)
        self.lenient = new_parser(lenient=True)


_parsers = _Parsers()


def _parsed(content: bytes, name: str | None) -> _Element:
    """The root element.

    lxml considers only the last report of libxml2; here all of them count: an error refuses the
    document whatever follows it, and a warning refuses none.

    A reference to an entity that only an external DTD declares, or that is in a file of its own, is
    not an error of the document; we fetch neither, so the reference is left out, as XML 1.0 (4.4.3)
    allows. To check that nothing else is wrong, libxml2 reads the document with references left
    alone: it reports a hundred errors at most, and then these are not among them. That tree is not
    used: where it has a reference, libxml2 loops for ever on the axis ``following``.
    """
    try:
        root = etree.fromstring(content, _parsers.expanding)
    except etree.XMLSyntaxError:
        if not _errors_of(_parsers.expanding):
            raise
    else:
        if not _errors_of(_parsers.expanding):
            return root
    _check_references(_errors_of(_parsers.expanding), name)
    etree.fromstring(content, _parsers.opaque)
    for one in _errors_of(_parsers.opaque):
        raise _logged_error(one, name)
    root = etree.fromstring(content, _parsers.lenient)
    _check_references(_errors_of(_parsers.lenient), name)
    return root


def _errors_of(parser: etree.XMLParser) -> list[_LogEntry]:
    """The errors, without warnings, that libxml2 reported for the last document."""
    log = parser.error_log
    # Nearly always it is empty, and a loop over nothing costs a small document more than this.
    return [one for one in log if one.level >= etree.ErrorLevels.ERROR] if log else []


def _check_references(errors: list[_LogEntry], name: str | None) -> None:
    """Refuse the document unless all its errors are references to entities we do not fetch."""
    for one in errors:
        if one.type not in _UNDECLARED:
            raise _logged_error(one, name)


def _check(what: str, limit: str, given: int, allowed: int, *, document: str | None) -> None:
    if given > allowed:
        raise DocumentLimitError(
            f"too many {what}", limit=limit, given=given, allowed=allowed, document=document
        )


class _LimitChecker:
    """A parser's target that raises where a document is over its limits.

    It counts elements where they end, since where they begin lxml builds all attribute names, each
    with its namespace.
    """

    def __init__(self, name: str | None, limits: DocumentLimits) -> None:
        self._name = name
        self._limits = limits
        self._count = 0

    def start_ns(self, prefix: str, namespace: str) -> None:
        self._check(_LENGTH, "name_length_max", max(len(prefix), len(namespace)))

    def end(self, tag: str) -> None:
        self._count += 1
        self._check("elements", "elements_max", self._count)
        self._check(_LENGTH, "name_length_max", len(split_tag(tag)[1]))

    def close(self) -> None:
        """There is no result."""

    def _check(self, what: str, limit: str, given: int) -> None:
        _check(what, limit, given, getattr(self._limits, limit), document=self._name)


def _check_ahead(content: bytes, name: str | None, limits: DocumentLimits) -> None:
    """Refuse a document of too many elements or too long names before there is a tree of it.

    A tree takes some 150 bytes an element, and entities can make it five times larger than the
    text: 10 MB come to 2 GB. Reading alone takes no memory, and only what could be over the limits
    is read twice. Reading stops at an error: what libxml2 has there need not be text.
    """
    try:
        etree.fromstring(content, new_parser(target=_LimitChecker(name, limits)))
    except etree.XMLSyntaxError:
        return  # The actual parse reports the error.


def _elements_at_most(content: bytes, *, entities: bool) -> int:
    """An upper bound of the number of elements."""
    written = content.count(b"<")
    grown = _GROWTH_FREE + _GROWTH_MAX * len(content)
    return max(written, grown // len("<a/>")) if entities else written


def _may_have_long_names(content: bytes, length: int, *, entities: bool) -> bool:
    return entities or _is_wide(content) or not tags_are_within(content, length)


def _check_encoding(content: bytes, name: str | None) -> None:
    """Refuse encodings in which our limits and libxml2 might see different documents."""
    foreign = _FOREIGN.get(content[:4])
    if foreign is None:
        declared = _DECLARED.match(_head(content))
        if declared is None or _ENCODINGS.fullmatch(declared.group(1)):
            return
        foreign = repr(declared.group(1))
    raise DocumentError(
        f"encoding {foreign} is not read here; send the document as UTF-8, UTF-16, ASCII, "
        "ISO-8859-x or Windows-125x",
        document=name,
        line=1,
        column=1,
    )


def _check_internal_subset(content: bytes, name: str | None, bytes_max: int) -> None:
    """Refuse more declarations than libxml2 can read in reasonable time."""
    if len(content) > bytes_max:
        given = internal_subset_bytes(content, wide=_is_wide(content))
        what = "bytes in the internal subset"
        _check(what, "internal_subset_bytes_max", given, bytes_max, document=name)


def _head(content: bytes) -> str:
    """The beginning of the document as text, enough to find an encoding declaration.

    However long the declaration, it ends at the first ``>``.
    """
    head = content[: content.find(b">") + 1]
    if _is_wide(content):
        head = head.replace(b"\x00", b"")
    return head.decode("latin-1").lstrip("\xef\xbb\xbf\xfe\xff")


def _is_wide(content: bytes) -> bool:
    """Whether characters have two bytes each."""
    return content[:2] in (b"\xfe\xff", b"\xff\xfe") or b"\x00" in content[:4]


def _syntax_error(error: etree.XMLSyntaxError, name: str | None) -> DocumentError:
    """The error that lxml raised."""
    return _error(_PLACE.sub("", str(error.msg)), name, *error.position)


def _logged_error(entry: _LogEntry, name: str | None) -> DocumentError:
    """The error that libxml2 reported."""
    return _error(str(entry.message), name, entry.line, entry.column)


def _error(reason: str, name: str | None, line: int, column: int) -> DocumentError:
    reason = reason.strip()
    if reason.startswith("Excessive depth"):
        return DocumentLimitError(
            "too many levels",
            limit="depth_max",
            given=_DEPTH_OF_LIBXML2 + 1,
            allowed=_DEPTH_OF_LIBXML2,
            document=name,
            line=line,
        )
    return DocumentError(reason, document=name, line=line, column=column)


_LENGTH: Final = "characters in a name or namespace"
_PLACE: Final = re.compile(r",? line \d+, column \d+.*$", re.DOTALL)
_ENTITY_DECLARATION: Final = b"<!ENTITY"
_WIDE_ENTITY_DECLARATION: Final = "<!ENTITY".encode("utf-16-le")
"""In the accepted encodings; big-endian UTF-16 has the same bytes, one further on."""
_UNDECLARED: Final = (
    etree.ErrorTypes.ERR_UNDECLARED_ENTITY,
    etree.ErrorTypes.WAR_UNDECLARED_ENTITY,
)
_RAISED_BY_READERS: Final = (
    etree.LxmlError,
    AssertionError,
    LookupError,
    TypeError,
    ValueError,  # also texts that cannot be decoded
)
"""The exceptions of lxml, besides syntax errors, where it cannot read a document."""
_count_elements = cast("Callable[[_ElementTree], float]", etree.XPath("count(//*)"))
_elements = cast("Callable[[_ElementTree], list[_Element]]", etree.XPath("//*"))
