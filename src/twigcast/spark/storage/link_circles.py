"""Circles of links in a watched folder, which Spark would list without end.

It follows every link, time and again: a folder with two links to itself has as many ways in as
there are rows of forty choices between two. So the folder is walked as Spark will walk it, and
given up when too much is found behind links.
"""

from __future__ import annotations

import os
from typing import Final

from twigcast.display import printable
from twigcast.errors import UsageError

FOLDERS_BEHIND_LINKS_MAX: Final = 10_000
"""Folders, each counted once for every way that leads there through a link."""


def check_links(root: str) -> None:
    """A :class:`UsageError` if links of a folder lead to too many others, or round in circles."""
    waiting, behind = [(root, False)], 0
    while waiting:
        folder, is_behind_link = waiting.pop()
        behind += is_behind_link
        if behind > FOLDERS_BEHIND_LINKS_MAX:
            raise UsageError(
                f"{printable(root)} cannot be watched: its links lead to more than "
                f"{FOLDERS_BEHIND_LINKS_MAX:,} folders, or round in circles, as in "
                f"{printable(folder)}; remove them"
            )
        waiting += [(path, is_behind_link or is_link) for path, is_link in _below(folder)]


def _below(folder: str) -> list[tuple[str, bool]]:
    """The folders in a folder, and whether each is a link."""
    try:
        with os.scandir(folder) as found:
            return [(each.path, each.is_symlink()) for each in found if each.is_dir()]
    except OSError:  # Where nothing can be read, or a circle has too many turns, Spark ends as well
        return []
