"""Documents filed into folders, one folder for each subscriber.

A folder is called after the subscriber, or after the id of a subscription that has none; a file is
called as the document was. Both names come from strangers, so they are made safe first:

- What is no letter, digit, space or one of ``._-+@,()`` is written as ``%`` and its bytes in
  hexadecimal, so different names stay different. A dot or a dash in front, a dot or space at the
  end, names that Windows keeps for devices, and letters that the locale cannot write in the name
  of a file (all but ASCII in the locale ``C``) are written like that as well.
- A long name is cut, and gets ``~`` and a digest of the whole name. Nobody else can write ``~``.
- Subscribers whose names differ in capitals alone get a digest too, for some disks tell no
  difference.

Nothing is ever overwritten. If a file of that name is there with other content, the new one gets
``~`` and a digest of its content; if it is there with the same content, it is the copy. So the
same work done twice leaves the same files.

A file is written under a hidden name, which no reader of documents looks at, and renamed when it is
complete. What a killed process has left under such a name is removed by the next process that puts
something into that folder (:mod:`twigcast.files.writing.unfinished`).
"""

from __future__ import annotations

import os
import re
import sys
import unicodedata
from collections import Counter
from collections.abc import Iterable, Mapping
from hashlib import sha256
from pathlib import Path
from typing import TypeAlias

from twigcast.errors import UsageError
from twigcast.files.limits import reason_of
from twigcast.files.subscriptions.file import Subscription
from twigcast.files.writing.unfinished import remove_left_behind, unfinished

NAME_BYTES_MAX = 150
"""A name with a digest behind it stays under the 255 bytes that disks allow."""

_ENDING_BYTES_MAX = 20
_DIGITS = 16

_PLAIN = set("._-+@,() ")
_DEVICES = re.compile(r"(?:CON|PRN|AUX|NUL|COM\d|LPT\d)(?=$|\.)", re.IGNORECASE)

_Owner: TypeAlias = tuple[str, str]


class SubscriberFolders:
    """Folders below ``root``, for the subscribers of a file of subscriptions.

    Raises :class:`UsageError` if ``root`` cannot be made.
    """

    def __init__(self, root: Path, subscriptions: Iterable[Subscription]) -> None:
        self.root = root
        self._folders = _folder_names({_owner(each) for each in subscriptions})
        self._synced: set[Path] = set()
        self._tidied: set[Path] = set()
        try:
            root.mkdir(parents=True, exist_ok=True)
        except (OSError, ValueError) as error:  # ValueError is for what no file can be called
            raise UsageError(f"cannot make the folder {root}: {reason_of(error)}") from error

    def folders_of(self, subscriptions: Iterable[Subscription]) -> list[Path]:
        """The folders of the subscribers of these, each once, in that order."""
        names = dict.fromkeys(self._folders[_owner(each)] for each in subscriptions)
        return [self.root / name for name in names]

    def put(
        self,
        name: str,
        content: bytes,
        folders: Iterable[Path],
        *,
        durable: bool = False,
        like: Path | None = None,
    ) -> list[Path]:
        """Put a document into folders; returns where it is now.

        ``durable`` waits until it is on the disk, for whoever deletes the original afterwards. A
        copy has the permissions of the file that it is ``like``, the document or its archive, so
        that nobody may read it who could not read that; if that is gone, its owner's alone.
        Raises OSError if it cannot be written; copies made before that stay.
        """
        mode = None if like is None else _permissions(like)
        return [self._put_one(name, content, folder, mode, durable=durable) for folder in folders]

    def _put_one(
        self, name: str, content: bytes, folder: Path, mode: int | None, *, durable: bool
    ) -> Path:
        folder.mkdir(exist_ok=True)
        if folder not in self._tidied:
            remove_left_behind(folder)
            self._tidied.add(folder)
        with unfinished(folder) as (path, held):
            # Some disks tell only when a file is closed that it did not fit.
            with os.fdopen(os.dup(held), "wb") as file:
                if mode is not None:
                    os.fchmod(file.fileno(), mode)
                file.write(content)
                if durable:
                    file.flush()
                    os.fsync(file.fileno())
            place = _take_place(path, folder, safe_name(name), content, durable=durable)
        if durable:
            self._sync_folder(folder)
        return place

    def _sync_folder(self, folder: Path) -> None:
        """Have the names in a folder written to the disk, and once the name of the folder."""
        folders = [folder] if folder in self._synced else [folder, self.root, self.root.parent]
        for each in folders:
            _sync(each)
        self._synced.add(folder)


def safe_name(name: str) -> str:
    """A name for a file or folder that no disk, shell or stranger can turn into another place.

    >>> safe_name("../../etc/passwd"), safe_name("Anna & Ben"), safe_name("nul.xml")
    ('%2E.%2F..%2Fetc%2Fpasswd', 'Anna %26 Ben', '%6Eul.xml')
    """
    safe = "".join(letter if _is_plain(letter) else _spelled(letter) for letter in name)
    if safe[:1] in {".", "-", " "} or _DEVICES.match(safe):
        safe = _spelled(safe[0]) + safe[1:]
    if safe[-1:] in {".", " "}:
        safe = safe[:-1] + _spelled(safe[-1])
    if not safe:
        return "%"
    if len(safe.encode()) <= NAME_BYTES_MAX:
        return safe
    return _cut(*_parted(safe), _digest(name.encode(*_ANY)))


_ANY = ("utf-8", "surrogatepass")
"""Names may hold halves of pairs: bytes that are no UTF-8 come as such."""


def _is_plain(letter: str) -> bool:
    if letter not in _PLAIN and unicodedata.category(letter)[0] not in "LMN":
        return False
    try:
        letter.encode(sys.getfilesystemencoding())
    except UnicodeEncodeError:
        return False
    return True


def _spelled(letter: str) -> str:
    return "".join(f"%{byte:02X}" for byte in letter.encode(*_ANY))


def _cut(stem: str, ending: str, digest: str) -> str:
    """A name with a digest in it, as long as a name may be."""
    room = NAME_BYTES_MAX - len(ending.encode()) - len(digest) - 1
    return f"{stem.encode()[:room].decode(errors='ignore')}~{digest}{ending}"


def _parted(name: str) -> tuple[str, str]:
    stem, dot, ending = name.rpartition(".")
    if not stem or len(ending.encode()) > _ENDING_BYTES_MAX:
        return name, ""
    return stem, dot + ending


def _digest(content: bytes) -> str:
    return sha256(content).hexdigest()[:_DIGITS]


def _owner(subscription: Subscription) -> _Owner:
    if subscription.subscriber is not None:
        return "subscriber", subscription.subscriber
    return type(subscription.id).__name__, str(subscription.id)


def _folder_names(owners: set[_Owner]) -> Mapping[_Owner, str]:
    """A folder for each; where a disk might take two names for one, all of these get a digest."""
    names = {owner: safe_name(owner[1]) for owner in owners}
    alike = Counter(map(_as_some_disks_see, names.values()))
    return {
        owner: _cut(name, "", _digest(repr(owner).encode(*_ANY)))
        if alike[_as_some_disks_see(name)] > 1
        else name
        for owner, name in names.items()
    }


def _as_some_disks_see(name: str) -> str:
    return unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", name).casefold())


def _take_place(
    unfinished: Path, folder: Path, name: str, content: bytes, *, durable: bool
) -> Path:
    """Give a complete file its name, or the next that is free."""
    digest = sha256(content).hexdigest()
    stem, ending = _parted(name)
    for candidate in (name, f"{stem}~{digest[:_DIGITS]}{ending}", f"{stem}~{digest}{ending}"):
        place = folder / candidate
        try:
            _rename_to_new(unfinished, place)
        except FileExistsError:
            if _holds(place, content):
                if durable:
                    _sync(place)  # Whoever wrote it may not have waited for the disk.
                return place
        else:
            return place
    raise FileExistsError(f"{folder / name} and all other names for it are taken")


def _rename_to_new(unfinished: Path, place: Path) -> None:
    """Rename a file unless there is one of that name: FileExistsError."""
    try:
        os.link(unfinished, place)
    except FileExistsError:
        raise
    except OSError:
        # Some disks have no links. The empty file keeps the name until the rename.
        os.close(os.open(place, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o666))
        try:
            unfinished.replace(place)
        except OSError:
            place.unlink()
            raise


def _permissions(path: Path) -> int:
    """Who may read a file; its owner alone if that cannot be known any more."""
    try:
        return path.stat().st_mode & 0o777
    except OSError:
        return 0o600


def _holds(place: Path, content: bytes) -> bool:
    """Whether a file is there, not a link to one, and has this content."""
    if place.is_symlink() or not place.is_file() or place.stat().st_size != len(content):
        return False
    return place.read_bytes() == content


def _sync(path: Path) -> None:
    """Have a file or the names in a folder written to the disk, where folders can be opened."""
    if hasattr(os, "O_DIRECTORY") or not path.is_dir():
        opened = os.open(path, os.O_RDONLY)
        try:
            os.fsync(opened)
        finally:
            os.close(opened)
