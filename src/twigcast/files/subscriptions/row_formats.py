"""Lines of a subscriptions file into rows of named fields, in three forms.

Nothing here knows what a subscription is: a :class:`Row` has the number of its line, the line's
text, and either fields or the reason why there are none. The three readers differ only in how a
line becomes fields.

CSV has a trap. A quoted field may run over several lines, so a forgotten closing quote
could swallow the rest of a file. A record is therefore tried with at most ``_RECORD_LINES_MAX``
lines; if it does not end by then (or ends in a way that is no CSV), its first line alone is set
aside and reading goes on with the next.
"""

from __future__ import annotations

import codecs
import csv
import json
import re
from collections import Counter, deque
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import count, islice, takewhile
from typing import BinaryIO

from twigcast.display import shortened
from twigcast.errors import UsageError
from twigcast.files.limits import reason_of
from twigcast.files.notation import json_value

_RECORD_LINES_MAX = 50
"""Expressions are written over a few lines at most; more is a quote that was never closed."""

_UNCLOSED = "the line is not CSV: a quote is opened and never closed"

PREFIX = re.compile(r"[^\W\d][\w.\-]*")
"""A namespace prefix is a name without a colon."""

_NAMESPACE_LINE = re.compile(r"\s*#\s*namespace(?:\s+(?P<binding>.*))?", re.DOTALL)

_NAME = re.compile(r"[^\W\d][\w.\-]*:?")
"""A name in an expression, and the colon behind it if it is a prefix."""

_FEW_PREFIXES = 64
_FEW_CHARACTERS = 4000
"""As many bindings as all expressions share; of more, each gets those that it names."""


@dataclass(frozen=True, slots=True)
class Row:
    """A line, with its fields or with the problem that kept us from reading them."""

    line: int
    text: str
    fields: Mapping[str, object] | None = None
    problem: str | None = None


def decoded_lines(file: BinaryIO, *, line_bytes_max: int, file_bytes_max: int) -> Iterator[Row]:
    """Each line as text without its end; a line that is too long or not UTF-8 has a problem.

    A byte-order mark in front is passed over. No more than a line is held in memory. A file over
    its bound, in UTF-16, or on a disk that fails, is a :class:`UsageError`.
    """
    total = 0
    mark = codecs.BOM_UTF8
    for number in count(1):
        try:
            line, length = _bounded_line(file, line_bytes_max + len(mark), file_bytes_max - total)
        except OSError as error:
            raise UsageError(reason_of(error)) from error
        if not length:
            return
        if number == 1 and line.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
            raise UsageError("it is UTF-16; save it as UTF-8")
        line, mark = line.removeprefix(mark), b""
        total += length
        if total > file_bytes_max:
            raise UsageError(
                f"the file has more than {file_bytes_max:,} bytes (file_bytes_max): "
                "split it, or raise the limit"
            )
        yield _decoded(number, line, line_bytes_max)


def text_rows(lines: Iterator[Row]) -> Iterator[Row]:
    """One expression per line, whose number is its id; blank lines and comments are skipped.

    The comment ``# namespace p = uri`` binds a prefix for all lines below it, until another one
    binds the same prefix anew. One that binds nothing is a row with a problem.

    >>> lines = [Row(1, "# namespace s = urn:shop"), Row(2, ""), Row(3, "//s:price")]
    >>> [row.fields for row in text_rows(iter(lines))]
    [{'id': 3, 'xpath': '//s:price', 'namespaces': {'s': 'urn:shop'}}]
    """
    bindings = _Bindings()
    for row in lines:
        text = row.text
        if row.problem is not None:
            yield row
        elif (binding := _namespace_line(text)) is not None:
            prefix, equals, uri = (part.strip() for part in binding.partition("="))
            if equals and PREFIX.fullmatch(prefix) and uri and not uri.split()[1:]:
                bindings.bind(prefix, uri)
            else:
                yield Row(row.line, text, problem="write # namespace PREFIX = URI")
        elif text.strip() and not text.lstrip().startswith("#"):
            # Spaces in front stay, so that a column counts as an editor counts it.
            fields: dict[str, object] = {"id": row.line, "xpath": text.rstrip()}
            if bound := bindings.of(text):
                fields["namespaces"] = bound
            yield Row(row.line, text, fields)


class _Bindings:
    """The prefixes that are bound where a reader stands.

    As long as they are few, neighbours share one mapping of all. A file may have as many bindings
    as expressions, and with all of them for each it would be squared, in memory and whenever an
    expression is read.
    """

    def __init__(self) -> None:
        self._all: dict[str, str] = {}
        self._characters = 0
        self._shared: Mapping[str, str] | None = None

    def bind(self, prefix: str, uri: str) -> None:
        before = self._all.get(prefix)
        self._characters += len(uri) + (len(prefix) if before is None else -len(before))
        self._all[prefix] = uri
        self._shared = None

    def of(self, xpath: str) -> Mapping[str, str]:
        """The bindings that an expression may need, and more if they are few."""
        if len(self._all) <= _FEW_PREFIXES and self._characters <= _FEW_CHARACTERS:
            if self._shared is None:
                self._shared = dict(self._all)
            return self._shared
        named = (name[:-1] for name in _NAME.findall(xpath) if name.endswith(":"))
        return {prefix: self._all[prefix] for prefix in named if prefix in self._all}


def _namespace_line(text: str) -> str | None:
    """What a comment binds, if it is meant to: a sentence about namespaces is a comment."""
    found = _NAMESPACE_LINE.fullmatch(text)
    if found is None:
        return None
    binding = found["binding"] or ""
    parts = binding.split()
    return binding if "=" in binding or len(parts) <= len(("PREFIX", "URI")) else None


def json_rows(lines: Iterator[Row]) -> Iterator[Row]:
    """An object per line; blank lines are skipped."""
    for row in lines:
        if row.problem is not None:
            yield row
        elif row.text.strip():
            yield _json_row(row)


def csv_rows(lines: Iterator[Row]) -> Iterator[Row]:
    """Records below a header, which must name ``id`` and ``xpath``; blank lines are skipped."""
    header: list[str] | None = None
    ahead: deque[Row] = deque()
    while True:
        ahead.extend(islice(lines, _RECORD_LINES_MAX - len(ahead)))
        if not ahead:
            break
        row = ahead[0]
        taken, record = _csv_record(ahead)
        for _ in range(taken):
            ahead.popleft()
        if header is None:
            header = _csv_header(record) if record else None
        elif isinstance(record, str):
            yield Row(row.line, row.text, problem=record)
        elif record:
            yield _csv_row(row, header, record)
    if header is None:
        _csv_header([])


def _bounded_line(file: BinaryIO, line_bytes_max: int, bytes_left: int) -> tuple[bytes, int]:
    """The next line, or just its beginning when it is too long, and its whole length.

    A device or pipe may have no end, so no more is read than the file may have.
    """
    line = file.readline(line_bytes_max + 2)  # as long as a line may be, and its end
    length = len(line)
    if length == line_bytes_max + 2 and not line.endswith(b"\n"):
        part = line
        while part and not part.endswith(b"\n") and length <= bytes_left:
            part = file.readline(1 << 16)
            length += len(part)
    return line.removesuffix(b"\n").removesuffix(b"\r"), length


def _decoded(number: int, line: bytes, line_bytes_max: int) -> Row:
    if len(line) > line_bytes_max:
        start = line[:line_bytes_max].decode("utf-8", "replace")
        problem = f"the line has more than {line_bytes_max:,} bytes (line_bytes_max)"
        return Row(number, start, problem=problem)
    try:
        return Row(number, line.decode("utf-8"))
    except UnicodeDecodeError as error:
        problem = f"the line is not UTF-8: byte {line[error.start]:#04x} at byte {error.start + 1}"
        return Row(number, line.decode("utf-8", "replace"), problem=problem)


def _json_row(row: Row) -> Row:
    try:
        fields = json_value(row.text)
    except json.JSONDecodeError as error:
        problem = f"the line is not JSON: {error.msg} at letter {error.colno}"
    except (ValueError, RecursionError) as error:
        # Numbers of thousands of digits, brackets nested by the thousand, a key twice.
        problem = f"the line is not JSON that can be read: {error}"
    else:
        if isinstance(fields, dict):
            return Row(row.line, row.text, fields)
        problem = "the line is JSON, but no object: write {…} with the names id and xpath"
    return Row(row.line, row.text, problem=problem)


def _csv_record(ahead: deque[Row]) -> tuple[int, list[str] | str]:
    """How many lines the first record takes, and its fields or what is wrong with it."""
    if ahead[0].problem is not None:
        return 1, ahead[0].problem
    readable = takewhile(lambda row: row.problem is None, ahead)
    # Without strict, a quote still open at the end of the text would pass unnoticed. The reader
    # takes one line after the other, and none behind the end of the record.
    reader = csv.reader((f"{row.text}\n" for row in readable), strict=True)
    try:
        record = next(reader, [])
    except csv.Error as error:
        unclosed = "unexpected end of data" in str(error)
        return 1, _UNCLOSED if unclosed else f"the line is not CSV: {error}"
    return reader.line_num, record


def _csv_header(record: list[str] | str) -> list[str]:
    names = [name.strip() for name in record] if isinstance(record, list) else []
    if not {"id", "xpath"} <= set(names):
        found = ", ".join(names) or str(record)
        raise UsageError(
            "the first line of a CSV file of subscriptions names its columns, "
            f"among them id and xpath; found: {found[:200]}"
            + ("; separate them by commas" if ";" in found or "\t" in found else "")
        )
    for name, times in Counter(names).items():
        if name and times > 1:
            raise UsageError(f"the first line names the column {shortened(name, 100)!r} twice")
    return names


def _csv_row(row: Row, header: list[str], record: list[str]) -> Row:
    if len(record) > len(header):
        count = f"{len(record)} fields where the header names {len(header)}"
        return Row(row.line, row.text, problem=f"{count}: quote an expression that has a comma")
    # What a short record lacks, and what is left empty, was not given.
    given = {name: value for name, value in zip(header, record, strict=False) if value}
    return Row(row.line, row.text, given)
