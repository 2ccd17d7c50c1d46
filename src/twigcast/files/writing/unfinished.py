"""Files under hidden names, until they are complete.

No reader of documents looks at such a name. Whoever writes the file holds a lock on it, which ends
with the process however that ends. So what a killed process has left is known by its lock that
nobody holds, and may be removed; what a living process writes is left alone.
"""

from __future__ import annotations

import fcntl
import os
import re
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from secrets import token_hex

from twigcast.files.writing.locks import lock

_UNFINISHED = re.compile(r"\.twigcast-[0-9a-f]{16}\.tmp")


@contextmanager
def unfinished(folder: Path) -> Iterator[tuple[Path, int]]:
    """A new file with a hidden name, open and locked; the name goes, whatever happens.

    Between its making and its lock somebody may take it for left behind: then make another.
    """
    while True:
        # Numbers of processes are not unique: each container counts its own.
        path = folder / f".twigcast-{token_hex(8)}.tmp"
        held = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o666)
        try:
            lock(held)
            if path.exists():
                yield path, held
                return
        finally:
            with suppress(OSError):  # It may have taken its place.
                path.unlink()
            os.close(held)


def remove_left_behind(folder: Path) -> None:
    """Remove unfinished files that nobody writes any more.

    Where there are no locks, or others may not open the file, it stays: it is in nobody's way.
    """
    with os.scandir(folder) as found:
        left = [each.path for each in found if _UNFINISHED.fullmatch(each.name)]
    for path in left:
        with suppress(OSError):
            opened = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
            try:
                fcntl.flock(opened, fcntl.LOCK_SH | fcntl.LOCK_NB)
                Path(path).unlink()
            finally:
                os.close(opened)
