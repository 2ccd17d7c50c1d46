"""A golden: a text of what people can see of one part of Twigcast, and a file with it.

The file was recorded when the behaviour was right (:mod:`tests.goldens.record`), and is read by
people: a change of it in a commit is a change that users notice.
"""

from __future__ import annotations

import difflib
import os
import re
from collections.abc import Callable, Iterator
from contextlib import chdir, contextmanager
from dataclasses import dataclass
from enum import Enum, auto
from pathlib import Path
from typing import Final

import twigcast

RECORDED: Final = Path(__file__).with_name("recorded")

RECORDED_BYTES_MAX: Final = 400_000
"""All files together: more than that nobody reads when they change."""


class Need(Enum):
    """What a golden needs."""

    NOTHING = auto()
    KERNEL = auto()
    PYSPARK = auto()
    SESSION = auto()
    """A Spark that runs, and so Java."""


@dataclass(frozen=True)
class Golden:
    """What is recorded under a name, and the function that produces it anew.

    The function is given an empty folder to work in. No line of it depends on the
    machine, the time, or the order in which tests run.
    """

    name: str
    produce: Callable[[Path], str]
    need: Need = Need.NOTHING
    is_long: bool = False
    """Whether it takes so long that it is compared with ``--deep`` only."""

    @property
    def path(self) -> Path:
        """Where the recorded text is."""
        return RECORDED / self.name


def difference(golden: Golden, told: str) -> str:
    """The lines in which a text departs from what is recorded; empty if there are none."""
    recorded = golden.path.read_text(encoding="utf-8") if golden.path.exists() else ""
    lines = difflib.unified_diff(
        recorded.splitlines(),
        told.splitlines(),
        fromfile=f"recorded/{golden.name}",
        tofile="as it is now",
        lineterm="",
        n=2,
    )
    return "\n".join(lines)


def normalised(text: str, folder: Path) -> str:
    """A text without what differs from run to run: times, places, versions.

    >>> normalised("2 documents in 0.3 s; see /tmp/x/out", Path("/tmp/x"))
    '2 documents in # s; see FOLDER/out'

    Simulated seconds do not differ, and stay.
    """
    text = text.replace(str(folder), "FOLDER").replace(os.fspath(folder.resolve()), "FOLDER")
    text = re.sub(r"\bin \d[\d,]*\.\d+ s\b", "in # s", text)
    text = re.sub(r"\(\d[\d,]*\.\d documents/s, [^)]*/s\)", "(# documents/s, # B/s)", text)
    return text.replace(f'"{twigcast.__version__}"', '"VERSION"')


def hex_lines(content: bytes, *, width: int = 48) -> Iterator[str]:
    """Bytes as lines of hexadecimal digits."""
    for start in range(0, len(content), width):
        yield content[start : start + width].hex()


@contextmanager
def working_in(folder: Path) -> Iterator[Path]:
    """A folder as the current one, and a screen of 80 columns without colour."""
    before = {name: os.environ.get(name) for name in _SCREEN}
    os.environ.update(_SCREEN)
    try:
        with chdir(folder):
            yield folder
    finally:
        for name, value in before.items():
            os.environ.pop(name, None)
            if value is not None:
                os.environ[name] = value


_SCREEN: Final = {"COLUMNS": "80", "NO_COLOR": "1"}
