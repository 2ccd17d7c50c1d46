"""``match --copy-to`` and ``--move-to``: documents into the folders of those who asked for them.

A document is moved only when every copy of it is safe on the disk, it is the file that was read,
and nothing about it is undecided. Otherwise it stays where it is, and so does a document that
matches nothing or is refused. Members of archives and standard input can only be copied.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from twigcast.cli.speaking import complain, say
from twigcast.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from twigcast.files import Entry, Subscription, SubscriptionFile
    from twigcast.files.subscriber_folders import SubscriberFolders

__all__ = ["Filing", "filing_into"]


def filing_into(
    copy_to: str | None,
    move_to: str | None,
    documents: Sequence[str],
    file: SubscriptionFile,
    *,
    watched: bool,
) -> Filing | None:
    """What the options ask for; None if documents are to stay, UsageError if it cannot be meant."""
    if copy_to is not None and move_to is not None:
        raise UsageError("give --copy-to or --move-to, not both")
    target = copy_to if move_to is None else move_to
    if target is None:
        return None
    from twigcast.files.subscriber_folders import SubscriberFolders

    _check_apart(Path(target), documents, watched=watched)
    folders = SubscriberFolders(Path(target), file.subscriptions)
    return Filing(folders, moving=move_to is not None)


def _check_apart(target: Path, documents: Sequence[str], *, watched: bool) -> None:
    """Refuse folders of which one would be read again where the other is written."""
    inside = target.resolve()
    for each in documents:
        folder = Path(each).resolve()
        if not folder.is_dir():
            continue
        if inside.is_relative_to(folder) or (watched and folder.is_relative_to(inside)):
            raise UsageError(
                f"{target} and {each} lie inside each other, so what is put there would be read "
                "as new documents; choose a folder beside it"
            )


@dataclass
class Filing:
    """Where documents go, and how many went."""

    folders: SubscriberFolders
    moving: bool
    copies: int = 0
    moved: int = 0
    _told_of_archives: bool = False

    def put(
        self,
        entry: Entry,
        name: str,
        content: bytes,
        asked: Iterable[Subscription],
        *,
        undecided: bool,
    ) -> dict[str, object] | None:
        """Put one document where it belongs; None, and a complaint, if that went wrong."""
        from twigcast.files.publications import Kind, file_name

        folders = self.folders.folders_of(asked)
        movable = self.moving and entry.kind is Kind.FILE and not undecided
        moved = False
        try:
            places = self.folders.put(file_name(entry, name), content, folders, durable=movable)
            self.copies += len(places)
            if places and movable:
                moved = self._remove(Path(entry.path), name, content)
        except OSError as error:
            complain(f"{name}: it stays, for it cannot be filed: {error}")
            return None
        if places and self.moving and entry.kind is not Kind.FILE:
            self._tell_of_archives()
        self.moved += moved
        told: dict[str, object] = {"copies": [str(place) for place in places]}
        return {**told, "moved": moved} if self.moving else told

    def _remove(self, path: Path, name: str, content: bytes) -> bool:
        """Delete the original, if it is still what was read."""
        if path.stat().st_size != len(content) or path.read_bytes() != content:
            say(f"{name}: it has changed since it was read, and stays")
            return False
        path.unlink()
        return True

    def _tell_of_archives(self) -> None:
        if not self._told_of_archives:
            say("documents in archives and on standard input are copied, not moved")
            self._told_of_archives = True

    @property
    def sums(self) -> str:
        """What was done, for the last line."""
        return f"{self.moved:,} moved" if self.moving else f"{self.copies:,} copied"
