"""Display of values: numbers for the eye, and tables for notebooks.

A notebook shows what ``_repr_html_`` returns. Names and values come from strangers, so every cell
is escaped here, in one place, and a table has a bounded number of rows.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape
from itertools import islice

HTML_ROWS_MAX = 100
"""Rows of a table in a notebook; more are counted below it."""

CELL_CHARACTERS_MAX = 500
"""Characters of one cell."""

_SHOWN_CHARACTERS_MAX = 80
_SOME_MAX, _SOME_SHOWN = 20, 10
_KILO, _MEGA = 1_000, 1_000_000


def counted(number: int, noun: str, plural: str | None = None) -> str:
    """A number with its noun.

    >>> counted(1, "pattern"), counted(1200, "pattern"), counted(2, "delivery", "deliveries")
    ('1 pattern', '1,200 patterns', '2 deliveries')
    """
    return f"{number:,} {noun if number == 1 else plural or noun + 's'}"


def size(number: int) -> str:
    """A number of bytes.

    >>> size(900), size(12_345), size(3_456_789)
    ('900 bytes', '12 KB', '3.5 MB')
    """
    if number < _KILO:
        return counted(number, "byte")
    return f"{number / _KILO:,.0f} KB" if number < _MEGA else f"{number / _MEGA:,.1f} MB"


def shortened(text: str, characters_max: int = CELL_CHARACTERS_MAX) -> str:
    """A text, cut where it is too long to be shown."""
    return text if len(text) <= characters_max else text[:characters_max] + "…"


def printable(name: str) -> str:
    r"""A name that any table can hold: bytes that are no UTF-8 are spelled out.

    >>> printable("caf\udce9.xml")
    'caf\\xe9.xml'
    """
    try:
        return name.encode("utf-8", "surrogateescape").decode("utf-8", "backslashreplace")
    except UnicodeEncodeError:  # half of a surrogate pair, which no file name can hold
        return name.encode("utf-8", "backslashreplace").decode()


def one_line(text: str) -> str:
    r"""A stranger's text as it may stand in a line, a table or a terminal.

    Control characters, line and paragraph separators, tabs, marks that turn the direction of
    writing and halves of surrogate pairs are spelled out; everything that can be seen stays.

    >>> one_line("a.xml\t\nb\x1b[2J"), one_line("Zürich 東京.xml")
    ('a.xml\\t\\nb\\x1b[2J', 'Zürich 東京.xml')
    """
    if text.isprintable():
        return text
    return "".join(each if each.isprintable() else ascii(each)[1:-1] for each in text)


def shown(value: object, characters_max: int = _SHOWN_CHARACTERS_MAX) -> str:
    """Any value as an error may repeat it: in one line, cut where it gets long.

    Some values cannot be written down: whole numbers of thousands of digits, and whatever has a
    ``repr`` that fails. Of these it tells the kind.

    >>> shown("a"), shown([1, None]), shown(10**5000)
    ("'a'", '[1, None]', 'a number of thousands of digits')
    """
    if isinstance(value, str | bytes):
        value = value[: characters_max + 1]
    try:
        text = repr(value)
    except Exception:  # noqa: BLE001 (a repr is a stranger's code)
        if isinstance(value, int):
            return "a number of thousands of digits"
        return f"a value of the type {type(value).__name__}"
    return shortened(one_line(text), characters_max)


def some_of(values: Sequence[object]) -> str:
    """A tuple as Python writes it; of a long one the front, and how many there are.

    >>> some_of((1, "a")), some_of(range(1_000))
    ("(1, 'a')", '(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, … 1,000 in all)')
    """
    if len(values) <= _SOME_MAX:
        return repr(tuple(values))
    front = ", ".join(map(repr, values[:_SOME_SHOWN]))
    return f"({front}, … {len(values):,} in all)"


def html_table(
    columns: Sequence[str], rows: Iterable[Sequence[object]], *, caption: str = ""
) -> str:
    """A table for a notebook; every cell is escaped.

    >>> html_table(["name"], [["<b>"]])
    '<table><thead><tr><th>name</th></tr></thead><tbody><tr><td>&lt;b&gt;</td></tr></tbody></table>'
    """
    waiting = iter(rows)
    shown = [_row("td", row) for row in islice(waiting, HTML_ROWS_MAX)]
    left = sum(1 for _ in waiting)
    if left:
        more = f"{left:,} more"
        shown.append(f'<tr><td colspan="{len(columns)}">{more}</td></tr>')
    title = f"<caption>{_cell(caption)}</caption>" if caption else ""
    head = f"<thead>{_row('th', columns)}</thead>"
    return f"<table>{title}{head}<tbody>{''.join(shown)}</tbody></table>"


def _row(kind: str, cells: Iterable[object]) -> str:
    return "<tr>" + "".join(f"<{kind}>{_cell(cell)}</{kind}>" for cell in cells) + "</tr>"


def _cell(value: object) -> str:
    if isinstance(value, int) and not isinstance(value, bool):
        return f"{value:,}"
    return escape(one_line(shortened("" if value is None else str(value))))
