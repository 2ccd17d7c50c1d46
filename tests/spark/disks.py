"""What a disk would have kept, for tests of what is forced to it."""

from __future__ import annotations

import os
from pathlib import Path

import pytest


class Disk:
    """What of a folder would be there after a power cut: what was forced to disk, in order."""

    def __init__(self, root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        self.root = root
        self.unsafe: list[str] = []
        """What a manifest stood for that was not on disk when the manifest got its name."""
        self.manifests = 0
        self._contents: set[int] = set()
        """Files whose content is on disk."""
        self._names: set[tuple[int, str]] = set()
        """Names that are on disk, each with the folder that it is in."""
        fsync, replace = os.fsync, os.replace

        def recorded_fsync(number: int) -> None:
            fsync(number)
            found = os.fstat(number).st_ino
            self._contents.add(found)
            path = Path(f"/proc/self/fd/{number}").readlink()
            if path.is_dir():
                self._names -= {pair for pair in self._names if pair[0] == found}
                self._names |= {(found, each.name) for each in path.iterdir()}

        def recorded_replace(source: Path, target: Path) -> None:
            if Path(target).parent.name == "_manifest":
                self.manifests += 1
                self.unsafe += self._missing(self.root)
                if Path(source).stat().st_ino not in self._contents:
                    self.unsafe.append("the manifest itself")
            replace(source, target)

        monkeypatch.setattr(os, "fsync", recorded_fsync)
        monkeypatch.setattr(os, "replace", recorded_replace)

    def has_name(self, path: Path) -> bool:
        return (path.parent.stat().st_ino, path.name) in self._names

    def _missing(self, folder: Path) -> list[str]:
        missing = []
        for each in folder.iterdir():
            if each.name.startswith("_"):
                continue
            if not self.has_name(each):
                missing.append(f"the name of {each.name}")
            if each.is_dir():
                missing += self._missing(each)
            elif each.stat().st_ino not in self._contents:
                missing.append(f"the content of {each.name}")
        return missing
