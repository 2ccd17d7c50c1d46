"""Originals that go when all their copies are safe, and none that nobody has read.

Between a look at a file and its removal somebody may put a newer one in its place, and that would
be removed unread. So a file is first moved aside, into a hidden folder beside it where no writer
knows it; there it is compared with what was read, and only then removed. One that is something
else goes back to its place, unless there is an even newer one: then it stays aside, and the error
says where.

Whoever moves a file aside holds a lock on the hidden folder, which ends with the process however
that ends. So what a killed process has left is known by its lock that nobody holds, and
:func:`put_back_left_aside` puts it back. It is never removed: maybe nobody has read it.
"""

from __future__ import annotations

import fcntl
import os
import re
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from secrets import token_hex

from twigcast.errors import DocumentError
from twigcast.files.archives.members import BROKEN
from twigcast.files.archives.unpacking import decompressed
from twigcast.files.limits import reason_of
from twigcast.files.opening import open_regular
from twigcast.files.writing.locks import lock

_ASIDE = re.compile(r"\.twigcast-[0-9a-f]{16}\.aside")


class LeftAsideError(OSError):
    """A file that was moved aside cannot go back; the text has the place where it lies."""


def remove_original(path: Path, content: bytes) -> bool:
    """Remove a file with this content; False if it has another by now, and stays.

    Raises FileNotFoundError if it is not there any more, OSError if it cannot be removed, and
    LeftAsideError if it has changed, and there is an even newer one.
    """
    target = _target(path)
    if not _holds(path, content):
        return False
    with _moved_aside(path) as moved:
        # A link leads elsewhere from another folder. It never changes, and is not what was read.
        same = _target(moved) == target if target is not None else _holds(moved, content)
        if same:
            moved.unlink()
    return same


def put_back_left_aside(places: Iterable[Path]) -> Iterator[str]:
    """Put back what killed processes have left aside; gives a line on each file.

    Of a folder it is everything in it and below. Of a file it is that file: all others beside it
    are somebody else's.
    """
    for folder in _folders_aside(places):
        try:
            held = _opened(folder)
        except FileNotFoundError:
            continue  # Its process has come to its end.
        except OSError as error:
            yield _unreadable(folder, error)
            continue
        try:
            fcntl.flock(held, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            continue  # Its process is at work.
        except OSError:
            yield f"{folder} may be left by a killed process; if so, put back what is in it"
            continue
        else:
            yield from _put_back_all(folder)
        finally:
            os.close(held)


def _put_back_all(folder: Path) -> Iterator[str]:
    """Put back what is in a folder; its process may have taken it away before it was locked."""
    try:
        left = sorted(folder.iterdir())
    except FileNotFoundError:
        return
    except OSError as error:
        yield _unreadable(folder, error)
        return
    for moved in left:
        place = folder.parent / moved.name
        try:
            _put_back(moved, place)
        except LeftAsideError as error:
            if os.path.lexists(moved):
                yield str(error)
        else:
            yield f"{place}: it was left aside by a killed process, and is back"
    with suppress(OSError):
        folder.rmdir()


def _unreadable(folder: Path, error: OSError) -> str:
    return f"{folder} may be left by a killed process, and cannot be read: {reason_of(error)}"


def _folders_aside(places: Iterable[Path]) -> Iterator[Path]:
    """The hidden folders of this kind that hold what belongs to these places, each once."""
    yielded: set[Path] = set()
    for place in places:
        if os.path.isdir(place):  # noqa: PTH112 (of a name that cannot be, Path raises an error)
            found = _hidden_below(place)
        else:
            beside = filter(_is_hidden_folder, _folders_in(place.parent))
            found = (each for each in beside if os.path.lexists(each / place.name))
        for each in found:
            if each not in yielded:
                yielded.add(each)
                yield each


def _hidden_below(place: Path) -> Iterator[Path]:
    """Those in a folder and below, in a list, for a recursion would end before the folders do."""
    waiting = [place]
    while waiting:
        for each in _folders_in(waiting.pop()):
            if _is_hidden_folder(each):
                yield each
            elif not each.name.startswith("."):
                waiting.append(each)


def _folders_in(folder: Path) -> list[Path]:
    """The folders in a folder, as far as it can be read."""
    with suppress(OSError), os.scandir(folder) as found:
        return [Path(each.path) for each in found if each.is_dir(follow_symlinks=False)]
    return []


def _is_hidden_folder(folder: Path) -> bool:
    return _ASIDE.fullmatch(folder.name) is not None


@contextmanager
def _moved_aside(path: Path) -> Iterator[Path]:
    """A file where no writer knows it; whatever is there in the end goes back to its place."""
    with _hidden_folder(path.parent) as folder:
        moved = folder / path.name
        try:
            path.rename(moved)
            yield moved
        finally:
            if os.path.lexists(moved):
                _put_back(moved, path)


@contextmanager
def _hidden_folder(beside: Path) -> Iterator[Path]:
    """A new hidden folder, locked; it goes if nothing is left in it.

    Between its making and its lock somebody may take it for left behind: then make another.
    """
    while True:
        folder = beside / f".twigcast-{token_hex(8)}.aside"
        folder.mkdir(0o700)
        try:
            held = _opened(folder)
        except FileNotFoundError:
            continue
        try:
            lock(held)
            if folder.exists():
                yield folder
                return
        finally:
            with suppress(OSError):
                folder.rmdir()
            os.close(held)


def _put_back(moved: Path, place: Path) -> None:
    """Give a file its name again; LeftAsideError if there is another of that name.

    Or if the system says no: Linux has nobody link what belongs to somebody else.
    """
    try:
        try:
            # Unlike a rename, this replaces nothing.
            os.link(moved, place, follow_symlinks=False)
        except OSError:
            if not _is_one_file(moved, place):  # Somebody was killed behind the link.
                raise
        moved.unlink(missing_ok=True)
    except OSError as error:
        reason = reason_of(error)
        raise LeftAsideError(f"{moved} cannot be put back as {place}: {reason}") from error


def _is_one_file(one: Path, other: Path) -> bool:
    with suppress(OSError):
        return os.path.samestat(one.lstat(), other.lstat())
    return False


def _opened(folder: Path) -> int:
    return os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC)


def _target(path: Path) -> str | None:
    """Where a link leads; None if it is none."""
    return os.readlink(path) if path.is_symlink() else None  # noqa: PTH115 (compared as it is)


def _holds(path: Path, content: bytes) -> bool:
    """Whether a file has this content, or has it in it if it is compressed."""
    with open_regular(path) as file:
        try:
            return decompressed(file, path.name).read(len(content) + 1) == content
        except (DocumentError, *BROKEN) as error:
            if isinstance(error, OSError) and error.errno is not None:
                raise  # It is the disk that fails.
            return False
