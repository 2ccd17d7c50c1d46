"""A file of subscriptions as a user names it on the command line.

``-`` is standard input, and ``--namespace`` gives prefixes to all expressions of the file. People
hand over the wrong file now and then: an XML document or an archive is refused, and a list of
file names, which could be meant as expressions (``news.xml`` is a name in XPath), is pointed out.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Mapping, Sequence
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING

from twigcast.cli.output import quoted, write_note
from twigcast.errors import UsageError

if TYPE_CHECKING:
    from twigcast.files import SubscriptionFile

_LOOKED_AT = 100
"""So many lines show what a file is."""

_FILE_NAME = re.compile(
    r"[^\[\]()@|'\"=<>*{}:]+\.(?:xml|nitf|xhtml|rss|zip|tar|tgz|gz|bz2|xz|7z)", re.IGNORECASE
)
_ARCHIVE = re.compile(r"PK[\x03\x05]|\x1f|BZh\d1AY&SY|\ufffd7zXZ|7z\ufffd|[^\n]{257}ustar")
"""How archives begin, read as UTF-8 as far as that goes."""


def read_rules(path: str, namespaces: Mapping[str, str] | None = None) -> SubscriptionFile:
    """The subscriptions of a file; a UsageError if it is a document or an archive."""
    from twigcast.files import read_subscriptions
    from twigcast.files.opening import standard_input
    from twigcast.files.subscriptions.file import subscriptions_in

    if path == "-":
        file = subscriptions_in(standard_input(), "standard input", namespaces=namespaces or {})
    else:
        file = read_subscriptions(path, namespaces=namespaces or {})
    _refuse_documents(path, file)
    lines = [one.xpath.strip() for one in islice(file.subscriptions, _LOOKED_AT)]
    if _are_file_names(lines):
        write_note(
            f"{path} looks like a list of files, not of expressions: {quoted(lines[0])} asks for "
            f"elements of that name (to match the files: {_match_listed(path)})"
        )
    return file


def _match_listed(path: str) -> str:
    """A command that matches the files of a list, whatever letters their names have."""
    command = "xargs -d '\\n' twigcast match RULES"
    return command if path == "-" else f"{command} < {shlex.quote(path)}"


def _refuse_documents(path: str, file: SubscriptionFile) -> None:
    lines = [(one.line, one.xpath) for one in file.subscriptions[:1]]
    lines += [(one.line, one.xpath) for one in file.rejected[:1]]
    _, start = min(lines, default=(0, ""))
    kind = "an XML document" if start.lstrip().startswith("<") else None
    if _ARCHIVE.match(start):
        kind = "an archive"
    if kind is not None:
        raise UsageError(
            f"{path} is {kind}, not a file of subscriptions; subscriptions come first, "
            "documents after them"
        )


def _are_file_names(lines: Sequence[str]) -> bool:
    """Whether most lines are called like files, or are files."""
    names = sum(1 for line in lines if _is_file_name(line))
    return names * 2 > len(lines)


def _is_file_name(line: str) -> bool:
    if line.startswith("//"):
        return False
    return _FILE_NAME.fullmatch(line) is not None or _exists(line)


def _exists(line: str) -> bool:
    try:
        return Path(line).is_file()
    except (OSError, ValueError):
        return False
