"""A change feed: subscriptions that come and go, in files that appear in a folder.

A file of a feed is CSV or JSON lines with the columns of a subscriptions file and two more::

    {"op": "add", "version": 7, "id": "cheap", "xpath": "//item[price < 10]", "broker": "north"}
    {"op": "remove", "version": 8, "id": "urgent"}

``add`` of an id that is there replaces the subscription, which keeps its place in the order.
Ids are compared as text, as tables hold them. A *version* is a whole number of the writer's choice
that does not fall; several changes may share one.

Files appear whole, renamed into place, and never change. A name that begins with ``.`` or ``_`` or
ends in ``.tmp`` is not looked at, so whoever writes a file has names for it meanwhile.

Changes count in the order of version, name of the file, line. Files are taken up in groups,
whatever is there when somebody looks::

    looked at first     a.jsonl  versions 1 2 2 4
    then                b.jsonl  versions 3 4 5        3 is late: 4 was there already

A change is *late* if, in that order, it comes before one that counts already. It is set aside, for
what was answered in between cannot be taken back. So, as long as nothing is late, what stands at a
version depends on the files alone, and not on who looked when; and who keeps a record of the
groups can always repeat what happened. :class:`ChangeFile` has a digest for such records.

A row that is no change (no op, no version, no id, a bad expression, a broker that does not exist,
the removal of what is not there) is set aside with the name of its file, its line and the reason,
and the rest goes on: a replacement with a bad expression leaves the old subscription in place.
"""

from __future__ import annotations

import os
import re
from collections.abc import Collection, Iterable
from dataclasses import dataclass, replace
from hashlib import sha256
from io import BytesIO
from pathlib import Path
from typing import Final, TypeAlias, cast

from twigcast.display import one_line, printable
from twigcast.door import door
from twigcast.errors import PatternError, UsageError
from twigcast.files.opening import checked_path, read_regular
from twigcast.files.subscriptions.file import (
    DEFAULT_LIMITS,
    Rejected,
    Subscription,
    SubscriptionFile,
    SubscriptionId,
    SubscriptionLimits,
    file_rows,
    form_of,
    gather_subscriptions,
)
from twigcast.files.subscriptions.row_formats import Row
from twigcast.language import Pattern

NO_VERSION: Final = -1
"""The version of what stands before the first change."""

ENDINGS: Final = (".csv", ".jsonl", ".ndjson", ".json")
"""What a file of a feed is called."""

_VERSION_MAX = (1 << 63) - 1

_DIGITS = re.compile(r"\s*[0-9]{1,19}\s*")

_TEXT_KEPT_MAX = 1000
"""How much of a row its rejection repeats."""

_Mark: TypeAlias = tuple[int, str]
"""How far a feed was taken up: a version, and the name of a file."""


@dataclass(frozen=True, slots=True)
class FeedRow:
    """One row of a feed: a subscription that comes, or the id of one that goes."""

    version: int
    line: int
    id: SubscriptionId
    text: str
    subscription: Subscription | None = None
    """None where one goes."""


@dataclass(frozen=True, slots=True)
class ChangeFile:
    """A file of a feed: its changes, the rows that are none, and a digest of all its bytes."""

    name: str
    digest: str
    changes: tuple[FeedRow, ...]
    rejected: tuple[Rejected, ...] = ()
    highest: int = NO_VERSION
    """The highest version of any row, whether that is a change or not."""
    unversioned: frozenset[str] = frozenset()
    """The rows that have no version."""


class StandingSubscriptions:
    """The subscriptions that stand after the changes taken up so far.

    ``first`` are those that stand before the first change. With ``brokers``, a subscription that
    comes must be at one of them, or at none.
    """

    def __init__(self, first: SubscriptionFile, brokers: Collection[str] | None = None) -> None:
        self._standing = {str(item.id): item for item in first.subscriptions}
        self._brokers = brokers
        self._listed: tuple[Subscription, ...] | None = first.subscriptions
        self._mark: _Mark = (NO_VERSION, "")
        self.taken: dict[str, str] = {}
        """The files taken up, in order, and their digests."""
        self.highest = NO_VERSION
        """The highest version seen, in rows that were set aside, too."""
        self.unversioned: set[str] = set()
        """The rows seen that have no version."""

    @property
    def version(self) -> int:
        """The highest version that counts, :data:`NO_VERSION` before the first change."""
        return self._mark[0]

    @property
    def subscriptions(self) -> tuple[Subscription, ...]:
        """What stands, in the order in which it came; what replaces another takes its place.

        As long as nothing changes, it is the same tuple.
        """
        if self._listed is None:
            self._listed = tuple(self._standing.values())
        return self._listed

    def take_up(self, files: Iterable[ChangeFile]) -> tuple[Rejected, ...]:
        """Let the changes of some new files count; what is set aside, by file and line."""
        group = {file.name: file for file in files}
        aside = [(file.name, item) for file in group.values() for item in file.rejected]
        rows = [(file.name, change) for file in group.values() for change in file.changes]
        rows.sort(key=lambda row: (row[1].version, row[0], row[1].line))
        before = self._mark
        for name, change in rows:
            if (change.version, name) < before:
                problem: Rejected | None = _late(change, name, before)
            else:
                problem = self._problem(change) or self._apply(change, name)
            if problem is not None:
                aside.append((name, problem))
        self.taken.update((name, group[name].digest) for name in sorted(group))
        for file in group.values():
            self.highest = max(self.highest, file.highest)
            self.unversioned |= file.unversioned
        aside.sort(key=lambda pair: (pair[0], pair[1].line))
        return tuple(
            replace(item, reason=f"{_shown_name(name)}: {item.reason}") for name, item in aside
        )

    def _problem(self, change: FeedRow) -> Rejected | None:
        """What is wrong with a change by itself, whatever stands."""
        item = change.subscription
        if item is None:
            return None
        if self._brokers is not None and item.broker not in {None, *self._brokers}:
            return _aside(change, f"there is no broker {item.broker!r} in the topology")
        try:
            Pattern.parse(item.xpath, item.namespaces)
        except PatternError as error:
            return _aside(change, error.reason, error.column)
        return None

    def _apply(self, change: FeedRow, name: str) -> Rejected | None:
        # A removal in vain counts as well: with what comes before it later it would not be in vain.
        self._mark = max(self._mark, (change.version, name))
        if change.subscription is not None:
            self._standing[str(change.id)] = change.subscription
        elif self._standing.pop(str(change.id), None) is None:
            return _aside(change, f"there is no {change.id!r} to remove")
        self._listed = None
        return None


@door("looking for changes of subscriptions")
def waiting_files(folder: str | os.PathLike[str], taken: Collection[str] = ()) -> list[str]:
    """The names of whole files in a folder that were not taken up yet, in order.

    Other files than those of a feed are passed over.
    """
    folder = checked_path(folder, "a change feed")
    try:
        with os.scandir(folder) as entries:
            names = [entry.name for entry in entries if entry.is_file()]
    except OSError as error:
        reason = error.strerror or str(error)
        raise UsageError(f"cannot read the change feed in {folder}: {reason}") from error
    return files_of_feed(names, taken)


def files_of_feed(names: Iterable[str], taken: Collection[str] = ()) -> list[str]:
    """The names of files that are those of a feed, and were not taken up yet, in order."""
    return sorted(name for name in names if _is_whole(name) and name not in taken)


@door("reading changes of subscriptions")
def read_change_file(
    folder: str | os.PathLike[str], name: str, *, limits: SubscriptionLimits = DEFAULT_LIMITS
) -> ChangeFile:
    """A file of a feed; one that cannot be made sense of at all is one rejected row.

    A file that is not there (any more) or that we may not read is a :class:`UsageError`.
    """
    path = Path(checked_path(folder, "a change feed")) / checked_path(name, "a change file")
    try:
        content = read_regular(path, limits.file_bytes_max)
    except OSError as error:
        reason = error.strerror or str(error)
        raise UsageError(f"cannot read {path} of the change feed: {reason}") from error
    return change_file(name, content, limits=limits)


@door("reading changes of subscriptions")
def change_file(
    name: str, content: bytes, *, limits: SubscriptionLimits = DEFAULT_LIMITS
) -> ChangeFile:
    """The same for bytes that are here."""
    digest = sha256(content).hexdigest()
    try:
        rows = list(file_rows(BytesIO(content), form_of(name), limits))
    except UsageError as error:
        return ChangeFile(name, digest, (), (Rejected(None, 1, "", str(error)),))
    changes, rejected = gather_changes(rows)
    versions = [version_of((row.fields or {}).get("version")) for row in rows]
    return ChangeFile(
        name,
        digest,
        tuple(changes),
        tuple(rejected),
        highest=max((each for each in versions if each is not None), default=NO_VERSION),
        unversioned=frozenset(
            row.text for row, each in zip(rows, versions, strict=True) if each is None
        ),
    )


@door("reading changes of subscriptions")
def gather_changes(rows: Iterable[Row]) -> tuple[list[FeedRow], list[Rejected]]:
    """Changes out of rows of fields, and the rows that are none."""
    changes: list[FeedRow] = []
    rejected: list[Rejected] = []
    for row in rows:
        found = _change(row)
        if isinstance(found, FeedRow):
            changes.append(found)
        else:
            rejected.append(found)
    return changes, rejected


def _is_whole(name: str) -> bool:
    return not name.startswith((".", "_")) and name.lower().endswith(ENDINGS)


def _change(row: Row) -> FeedRow | Rejected:
    fields = row.fields
    if fields is None:
        return _rejected(row, row.problem or "the line is empty")
    op, version, name = fields.get("op"), version_of(fields.get("version")), fields.get("id")
    if not isinstance(op, str) or op not in {"add", "remove"}:
        reason = f"{op!r} is neither add nor remove" if op else "there is no op"
        return _rejected(row, reason)
    if version is None:
        given = fields.get("version")
        reason = "no version" if given is None else f"{given!r} is no version"
        return _rejected(row, f"{reason}: a version is a whole number")
    if op == "add":
        read = gather_subscriptions([row])
        if read.rejected:
            return read.rejected[0]
        item = read.subscriptions[0]
        return FeedRow(version, row.line, item.id, item.xpath, item)
    if isinstance(name, bool) or not isinstance(name, int | str) or name == "":
        return _rejected(row, "no id: a removal needs the id of a subscription")
    return FeedRow(version, row.line, name, row.text)


def version_of(given: object) -> int | None:
    """What a row gives as its version, if it is one."""
    if isinstance(given, str) and _DIGITS.fullmatch(given):
        given = int(given)
    fits = isinstance(given, int) and not isinstance(given, bool) and 0 <= given <= _VERSION_MAX
    return cast("int", given) if fits else None


def _late(change: FeedRow, name: str, mark: _Mark) -> Rejected:
    reason = f"late: version {change.version} of {_shown_name(name)} comes before "
    return _aside(
        change, f"{reason}version {mark[0]} of {_shown_name(mark[1])}, which counts already"
    )


def _rejected(row: Row, reason: str) -> Rejected:
    fields = row.fields or {}
    name, xpath = fields.get("id"), fields.get("xpath")
    return Rejected(
        id=_named(name) if isinstance(name, int | str) and not isinstance(name, bool) else None,
        line=row.line,
        xpath=_printable(xpath if isinstance(xpath, str) else row.text),
        reason=_printable(reason),
    )


def _aside(change: FeedRow, reason: str, column: int | None = None) -> Rejected:
    text = _printable(change.text)
    return Rejected(_named(change.id), change.line, text, _printable(reason), column)


def _shown_name(name: str) -> str:
    """The name of a file as a reason has it: files may be called anything."""
    return one_line(printable(name))


def _named(name: SubscriptionId) -> SubscriptionId:
    return _printable(name) if isinstance(name, str) else name


def _printable(text: str) -> str:
    """A text that any file can hold, and not endless."""
    return text[:_TEXT_KEPT_MAX].encode("utf-8", "replace").decode("utf-8")
