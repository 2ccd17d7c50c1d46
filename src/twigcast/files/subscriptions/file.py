"""Subscriptions from a file, one per line; a bad line is set aside and the rest goes on.

Three forms are read, chosen by the end of the file's name:

======================  ==================================================================
``.csv``                a header with ``id`` and ``xpath``, optionally ``subscriber``,
                        ``broker`` and ``namespaces`` (``p=uri q=uri2``); ids are text
``.jsonl`` ``.ndjson``  an object per line with the same names; ids are whole numbers or
``.json``               text and keep their type, ``namespaces`` is an object
anything else           one expression per line, whose id is the 1-based number of the line;
                        blank lines and lines beginning with ``#`` count but are skipped;
                        ``# namespace p = uri`` binds a prefix for the lines below it
======================  ==================================================================

Texts are UTF-8, with or without a byte-order mark. Reading does not look into the expressions:
:func:`compile_subscriptions` hands them to a matcher, and what the matcher refuses joins the
lines that could not be read::

    file = read_subscriptions("subscriptions.csv")
    rejected = file.rejected + compile_subscriptions(file, matcher.add)

A matcher knows subscriptions by whole numbers. Here these are the *positions* in
``file.subscriptions``, counted from 0, so that an answer is turned back into the users' ids by
an index and comes out in the order of the file.

Bounds: a line of at most 256 KiB (an expression may have 64 KiB, and JSON may need six letters
for one), a file of at most 2 GiB (ten million subscriptions of two hundred bytes); both are
fields of :class:`SubscriptionLimits`.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import BinaryIO, Literal, TypeAlias

from twigcast.display import counted, html_table
from twigcast.door import door
from twigcast.errors import PatternError, UsageError
from twigcast.files.opening import checked_path
from twigcast.files.subscriptions.row_formats import (
    PREFIX,
    Row,
    csv_rows,
    decoded_lines,
    json_rows,
    text_rows,
)
from twigcast.slips import caller_result, check_fields, each_of

SubscriptionId: TypeAlias = int | str
Form: TypeAlias = Literal["text", "csv", "json"]

_FORMS: Mapping[str, Form] = {".csv": "csv", ".jsonl": "json", ".ndjson": "json", ".json": "json"}

_NO_NAMESPACES: Mapping[str, str] = {}
"""Shared by the many subscriptions that have none."""

_TEXT_KEPT_MAX = 1000
"""How much of an unreadable line its rejection repeats."""


@dataclass(frozen=True, slots=True)
class Subscription:
    """An expression, its subscriber, and the line of the file it stands on."""

    id: SubscriptionId
    xpath: str
    subscriber: str | None = None
    broker: str | None = None
    namespaces: Mapping[str, str] = field(default_factory=lambda: _NO_NAMESPACES, hash=False)
    line: int = 0


@dataclass(frozen=True, slots=True)
class Rejected:
    """A line that is no subscription, and why; ``column`` is 1-based within the expression."""

    id: SubscriptionId | None
    line: int
    xpath: str
    reason: str
    column: int | None = None


@dataclass(frozen=True, slots=True)
class SubscriptionFile:
    """What a file holds: the subscriptions, and the lines that are none, both in file order."""

    subscriptions: tuple[Subscription, ...]
    rejected: tuple[Rejected, ...] = ()

    def __repr__(self) -> str:
        found = counted(len(self.subscriptions), "subscription")
        return f"<SubscriptionFile: {found}, {len(self.rejected):,} rejected>"

    def _repr_html_(self) -> str:
        rows = ((str(one.id), one.subscriber, one.xpath, one.line) for one in self.subscriptions)
        columns = ("id", "subscriber", "xpath", "line")
        return html_table(columns, rows, caption=repr(self)[1:-1])


@dataclass(frozen=True, slots=True)
class SubscriptionLimits:
    """How long a line and how large a file may be, in bytes."""

    line_bytes_max: int = 256 * 1024
    file_bytes_max: int = 2 * 1024**3

    def __post_init__(self) -> None:
        check_fields(self)


DEFAULT_LIMITS = SubscriptionLimits()


Add: TypeAlias = Callable[[int, str, Mapping[str, str]], object]
"""What takes a subscription by its position: ``Matcher.add``, or anything shaped like it."""


@door("reading subscriptions")
def read_subscriptions(
    path: str | os.PathLike[str],
    *,
    form: Form | None = None,
    limits: SubscriptionLimits = DEFAULT_LIMITS,
    namespaces: Mapping[str, str] = _NO_NAMESPACES,
) -> SubscriptionFile:
    """The subscriptions of a file, in file order, and the lines that could not be read.

    ``form`` overrides the end of the name. ``namespaces`` are prefixes that every
    expression may use; what the file itself binds goes before. A file that cannot be read at all
    (absent, over the size limit, UTF-16, CSV without its two columns) is a :class:`UsageError`.

    >>> import os
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     path = Path(folder, "rules.txt")
    ...     _ = path.write_text(os.linesep.join(["//price", "//cost"]))
    ...     file = read_subscriptions(path)
    >>> [(one.id, one.xpath) for one in file.subscriptions]
    [(1, '//price'), (2, '//cost')]
    """
    path = checked_path(path, "a file of subscriptions")
    try:
        file = Path(path).open("rb")  # noqa: SIM115  # It is closed below.
    except OSError as error:
        raise _cannot_read(path, error.strerror or str(error)) from error
    with file:
        return subscriptions_in(file, path, form=form, limits=limits, namespaces=namespaces)


@door("reading subscriptions")
def subscriptions_in(
    file: BinaryIO,
    name: str,
    *,
    form: Form | None = None,
    limits: SubscriptionLimits = DEFAULT_LIMITS,
    namespaces: Mapping[str, str] = _NO_NAMESPACES,
) -> SubscriptionFile:
    """The same for a file that is open, from where it stands; errors call it by the name."""
    try:
        return gather_subscriptions(file_rows(file, form or form_of(name), limits), namespaces)
    except UsageError as error:
        raise _cannot_read(name, str(error)) from error


def _cannot_read(name: str, reason: str) -> UsageError:
    return UsageError(f"cannot read the subscriptions in {name}: {reason}")


def form_of(path: str | os.PathLike[str]) -> Form:
    """The form of a file by the end of its name."""
    return _FORMS.get(Path(path).suffix.lower(), "text")


def file_rows(
    file: BinaryIO, form: Form, limits: SubscriptionLimits = DEFAULT_LIMITS
) -> Iterator[Row]:
    """The rows of an open file, not looked into; a :class:`UsageError` if it has none to read."""
    lines = decoded_lines(
        file, line_bytes_max=limits.line_bytes_max, file_bytes_max=limits.file_bytes_max
    )
    return _rows(form, lines)


@door("reading subscriptions")
def gather_subscriptions(
    rows: Iterable[Row], namespaces: Mapping[str, str] = _NO_NAMESPACES
) -> SubscriptionFile:
    """Subscriptions out of rows of fields; a row whose id is taken names the line that has it."""
    subscriptions: list[Subscription] = []
    rejected: list[Rejected] = []
    first_lines: dict[SubscriptionId, int] = {}
    prefixes = _Prefixes(namespaces)
    for row in each_of(rows, Row, "rows are of the type Row"):
        try:
            subscription = _subscription(row, first_lines, prefixes)
        except _RowError as error:
            rejected.append(_rejected(row, str(error)))
        else:
            first_lines[subscription.id] = subscription.line
            subscriptions.append(subscription)
    return SubscriptionFile(tuple(subscriptions), tuple(rejected))


@door("adding subscriptions")
def compile_subscriptions(file: SubscriptionFile, add: Add) -> tuple[Rejected, ...]:
    """Hand every expression to ``add`` under its position; returns those that it refused."""
    rejected: list[Rejected] = []
    for position, subscription in enumerate(file.subscriptions):
        try:
            caller_result(add, position, subscription.xpath, subscription.namespaces)
        except PatternError as error:
            rejected.append(
                Rejected(
                    subscription.id,
                    subscription.line,
                    subscription.xpath,
                    error.reason,
                    error.column,
                )
            )
    return tuple(rejected)


class _RowError(Exception):
    """What is wrong with one row; never leaves this file."""


class _Prefixes:
    """The namespaces of subscriptions: those of all, and in front of them those of each.

    Neighbours mostly write the same, and then share one mapping.
    """

    def __init__(self, of_all: Mapping[str, str]) -> None:
        self._of_all = of_all
        self._last: tuple[object, Mapping[str, str]] = (None, of_all)

    def of(self, given: object) -> Mapping[str, str]:
        if not given:
            return self._of_all
        if given is not self._last[0] and given != self._last[0]:
            own = _namespaces(given)
            self._last = (given, {**self._of_all, **own} if self._of_all else own)
        return self._last[1]


def _rows(form: Form, lines: Iterator[Row]) -> Iterator[Row]:
    match form:
        case "text":
            return text_rows(lines)
        case "csv":
            return csv_rows(lines)
        case "json":
            return json_rows(lines)


def _subscription(
    row: Row, first_lines: Mapping[SubscriptionId, int], prefixes: _Prefixes
) -> Subscription:
    if row.fields is None:
        raise _RowError(row.problem or "the line is empty")
    subscription = Subscription(
        id=_id(row.fields.get("id")),
        xpath=_xpath(row.fields.get("xpath")),
        subscriber=_name("subscriber", row.fields.get("subscriber")),
        broker=_name("broker", row.fields.get("broker")),
        namespaces=prefixes.of(row.fields.get("namespaces")),
        line=row.line,
    )
    if subscription.id in first_lines:
        raise _RowError(
            f"the id {subscription.id!r} is taken by line {first_lines[subscription.id]}"
        )
    return subscription


def _rejected(row: Row, reason: str) -> Rejected:
    """A rejection that repeats the id and the expression as far as they can be read."""
    fields = row.fields or {}
    xpath = fields.get("xpath")
    try:
        id_read = _id(fields.get("id"))
    except _RowError:
        id_read = None
    return Rejected(
        id=id_read,
        line=row.line,
        xpath=_printable(xpath if isinstance(xpath, str) else row.text)[:_TEXT_KEPT_MAX],
        reason=reason,
    )


def _id(given: object) -> SubscriptionId:
    if given is None or given == "":
        raise _RowError("no id: a subscription needs id and xpath")
    # True and False are whole numbers to Python, and never meant as ids.
    if not isinstance(given, int | str) or isinstance(given, bool):
        raise _RowError(f"the id is {_kind(given)}: an id is a whole number or text")
    return given if isinstance(given, int) else _text("id", given)


def _xpath(given: object) -> str:
    if given is None or (isinstance(given, str) and not given.strip()):
        raise _RowError("no xpath: a subscription needs id and xpath")
    if not isinstance(given, str):
        raise _RowError(f"the xpath is {_kind(given)}: it must be text")
    return _text("xpath", given)


def _name(what: str, given: object) -> str | None:
    if given is None or given == "":
        return None
    if isinstance(given, int) and not isinstance(given, bool):
        return str(given)
    if not isinstance(given, str):
        raise _RowError(f"the {what} is {_kind(given)}: it must be text")
    return _text(what, given)


def _namespaces(given: object) -> Mapping[str, str]:
    """Prefixes and what they stand for, from ``p=uri q=uri2`` or from an object."""
    if not given:
        return _NO_NAMESPACES
    if not isinstance(given, str | Mapping):
        raise _RowError(f"the namespaces are {_kind(given)}: write prefixes and their URIs")
    bindings: Iterable[tuple[object, object]] = (
        (binding.partition("=")[::2] for binding in given.split())
        if isinstance(given, str)
        else given.items()
    )
    namespaces: dict[str, str] = {}
    for prefix, uri in bindings:
        if not isinstance(prefix, str) or not PREFIX.fullmatch(prefix):
            raise _RowError(f"bad namespaces: {prefix!r} is no prefix")
        if not isinstance(uri, str) or not uri:
            raise _RowError(f"bad namespaces: the prefix {prefix!r} has no URI")
        if prefix in namespaces:
            raise _RowError(f"bad namespaces: the prefix {prefix!r} is bound twice")
        namespaces[prefix] = _text("namespaces", uri)
    return namespaces


def _text(what: str, given: str) -> str:
    """The text itself, unless it holds half of a surrogate pair, which no file can store."""
    try:
        given.encode("utf-8")
    except UnicodeEncodeError:
        raise _RowError(f"the {what} is no valid Unicode: it has half of a pair") from None
    return given


def _printable(text: str) -> str:
    return text.encode("utf-8", "replace").decode("utf-8")


def _kind(given: object) -> str:
    names = {bool: "true or false", float: "a fraction", list: "a list", dict: "an object"}
    return names.get(type(given), f"a {type(given).__name__}")
