"""``match --copy-to`` and ``--move-to``: documents into the folders of their subscribers.

A document is moved only when every copy of it is safe on the disk, it is the file that was read
and none of the copies itself, and nothing about it is undecided. Otherwise it stays where it is,
and so does a document that matches nothing or is refused. Members of archives and standard input
can only be copied.
"""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from twigcast.cli.output import complain, write_note
from twigcast.display import counted
from twigcast.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from twigcast.files import Entry, Subscription, SubscriptionFile
    from twigcast.files.documents.subscriber_folders import SubscriberFolders


def filing_into(
    copy_to: str | None,
    move_to: str | None,
    documents: Sequence[str],
    file: SubscriptionFile,
    *,
    watched: bool,
) -> Filing | None:
    """The filing of the options; None if documents are to stay, UsageError if it makes no sense."""
    if copy_to is not None and move_to is not None:
        raise UsageError("give --copy-to or --move-to, not both")
    target = copy_to if move_to is None else move_to
    if target is None:
        return None
    if not target:
        raise UsageError("--copy-to and --move-to take a folder, not an empty name")
    from twigcast.files.documents.subscriber_folders import SubscriberFolders

    _check_apart(Path(target), documents, watched=watched)
    if move_to is not None:
        _restore_left_aside(documents)
    folders = SubscriberFolders(Path(target), file.subscriptions)
    return Filing(folders, moving=move_to is not None)


def _check_apart(target: Path, documents: Sequence[str], *, watched: bool) -> None:
    """Refuse folders of which one would be read again where the other is written.

    What leads nowhere is no folder. Of links in a circle and of endless names, a Path would raise
    an error; whoever reads the document says what is wrong with it.
    """
    inside = _real(target)
    for each in documents:
        folder = _real(each)
        if not os.path.isdir(folder):  # noqa: PTH112 (see above)
            continue
        if inside.is_relative_to(folder) or (watched and folder.is_relative_to(inside)):
            raise UsageError(
                f"{target} and {each} lie inside each other, so what is put there would be read "
                "as new documents; choose a folder beside it"
            )


def _real(path: str | Path) -> Path:
    """Where a path leads; UsageError if we stand in a folder that is gone, and nobody knows."""
    try:
        return Path(os.path.realpath(path))
    except OSError as error:
        raise UsageError(f"cannot use {path}: {error.strerror or error}") from error


def _restore_left_aside(documents: Sequence[str]) -> None:
    """Make a document again of what a killed process was about to delete."""
    from twigcast.files.documents.originals import put_back_left_aside

    for note in put_back_left_aside(Path(each) for each in documents if each != "-"):
        write_note(note)


@dataclass(frozen=True)
class Filed:
    """The fields of a document in ``--json``, and whether all of it could be done."""

    fields: Mapping[str, object] = field(default_factory=dict)
    complete: bool = True


@dataclass
class Filing:
    """Where documents go, and how many went."""

    folders: SubscriberFolders
    moving: bool
    copies: int = 0
    moved: int = 0
    _archives_noted: bool = False

    def put(
        self,
        entry: Entry,
        name: str,
        content: bytes,
        subscriptions: Iterable[Subscription],
        *,
        undecided: bool,
    ) -> Filed:
        """Put one document where it belongs; complains if that went wrong."""
        from twigcast.files.documents.publications import EntryKind

        folders = self.folders.folders_of(subscriptions)
        movable = self.moving and entry.kind is EntryKind.FILE and not undecided
        if movable and not os.path.lexists(entry.path):
            complain(f"{name}: somebody else has taken it away since it was read; it is not copied")
            return Filed({"copies": [], "moved": False}, complete=False)
        places = self._copy(entry, name, content, folders, durable=movable)
        complete = len(places) == len(folders)
        fields: dict[str, object] = {"copies": [str(place) for place in places]}
        if not self.moving:
            return Filed(fields, complete)
        if entry.kind is not EntryKind.FILE:
            self._note_archives()
        moved = False
        if movable and complete:
            moved, complete = self._move(Path(entry.path), name, content, places)
        self.moved += moved
        return Filed({**fields, "moved": moved}, complete)

    def _copy(
        self, entry: Entry, name: str, content: bytes, folders: Sequence[Path], *, durable: bool
    ) -> list[Path]:
        """Put copies where they belong, as far as that can be done: one folder is not another's."""
        from twigcast.files.documents.publications import EntryKind, file_name

        like = None if entry.kind is EntryKind.STDIN else Path(entry.path)
        called = file_name(entry, name)
        places: list[Path] = []
        errors: list[OSError] = []
        for folder in folders:
            try:
                places += self.folders.put(called, content, [folder], durable=durable, like=like)
            except OSError as error:
                errors.append(error)
        self.copies += len(places)
        if errors:
            stays = "it stays, for it" if self.moving else "it"
            share = f"{len(errors):,} of {counted(len(folders), 'folder')}"
            complain(f"{name}: {stays} cannot be filed in {share}: {errors[0]}")
        return places

    def _move(
        self, path: Path, name: str, content: bytes, places: Sequence[Path]
    ) -> tuple[bool, bool]:
        """Whether the original went, and whether nothing is wrong."""
        from twigcast.files.documents.originals import LeftAsideError

        try:
            return self._remove(path, name, content, places), True
        except LeftAsideError as error:
            complain(f"{name}: it was copied, and has changed since it was read: {error}")
        except OSError as error:
            complain(f"{name}: it was copied and stays, for it cannot be deleted: {error}")
        return False, False

    def _remove(self, path: Path, name: str, content: bytes, places: Sequence[Path]) -> bool:
        """Delete the original, if it is still what was read, and none of its own copies."""
        from twigcast.files.documents.originals import remove_original

        try:
            if any(_is_entry(path, place) for place in places):
                write_note(f"{name}: it is in the folder of a subscriber already, and stays")
                return False
            removed = remove_original(path, content)
        except FileNotFoundError:
            write_note(f"{name}: it was copied, and somebody else has deleted it")
            return False
        if not removed:
            write_note(f"{name}: it has changed since it was read, and stays")
        return removed

    def _note_archives(self) -> None:
        if not self._archives_noted:
            write_note("documents in archives and on standard input are copied, not moved")
            self._archives_noted = True

    @property
    def sums(self) -> str:
        """What was done, for the last line."""
        return f"{self.moved:,} moved" if self.moving else f"{self.copies:,} copied"


def _is_entry(path: Path, place: Path) -> bool:
    """Whether two paths are one name in one folder, however they are written.

    Links lead to the same file from another folder; of these, one can go.
    """
    return path.samefile(place) and path.parent.samefile(place.parent)
