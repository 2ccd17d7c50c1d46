"""A bar for work that takes long, and only for that.

The bar is on standard error, and only when that is a terminal. Nothing is drawn in the first
second, so that quick work leaves no flicker, and nothing remains of it at the end. It also stays
away when the output scrolls by on the same screen, for that shows well enough how far things are.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from contextlib import AbstractContextManager
from itertools import count
from threading import Lock, Timer
from types import TracebackType
from typing import TYPE_CHECKING, Self

from twigcast.display import one_line

if TYPE_CHECKING:
    from rich.progress import Progress, TaskID

_QUIET_SECONDS = 1.0
"""Work that is done sooner needs no bar."""


class Bar(AbstractContextManager["Bar"]):
    """The progress of work, stage by stage; use it in a ``with``.

    With ``beside_output`` the work writes to standard output all the time.
    """

    def __init__(
        self,
        *,
        beside_output: bool = False,
        after_seconds: float = _QUIET_SECONDS,
    ) -> None:
        self._wanted = sys.stderr.isatty() and not (beside_output and sys.stdout.isatty())
        self._after_seconds = after_seconds
        self._lock = Lock()  # The clock's thread begins what the work's thread goes on with.
        self._clock: Timer | None = None
        self._last_shown: tuple[str, int, int | None] = ("", 0, None)
        self._progress: Progress | None = None
        self._task: TaskID | None = None

    def show(self, stage: str, done: int, total: int | None) -> None:
        """What is being done now, and how much of it is behind us."""
        if not self._wanted:
            return
        with self._lock:
            stage = one_line(stage)
            fresh = stage != self._last_shown[0]
            self._last_shown = (stage, done, total)
            if self._progress is not None:
                self._draw(fresh=fresh)

    def steps(self, stage: str, total: int | None) -> Callable[[], None]:
        """A function to be called whenever one more piece of a stage is done."""
        numbers = count(1)
        self.show(stage, 0, total)
        return lambda: self.show(stage, next(numbers), total)

    def __enter__(self) -> Self:
        if self._wanted:
            self._clock = Timer(self._after_seconds, self.begin)
            self._clock.daemon = True
            self._clock.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        with self._lock:
            self._wanted = False
            if self._clock is not None:
                self._clock.cancel()
            if self._progress is not None:
                self._progress.stop()
                self._progress = None

    def begin(self) -> None:
        """Draw from now on; the clock calls this when the work turns out to be long."""
        with self._lock:
            if self._wanted and self._progress is None:
                self._progress = _new_progress()
                self._progress.start()
                self._draw(fresh=True)

    def _draw(self, *, fresh: bool) -> None:
        assert self._progress is not None
        stage, done, total = self._last_shown
        if fresh or self._task is None:
            if self._task is not None:
                self._progress.remove_task(self._task)
            self._task = self._progress.add_task(stage, total=total)
        self._progress.update(self._task, completed=done, total=total)


def _new_progress() -> Progress:
    from rich.console import Console
    from rich.progress import (
        BarColumn,
        MofNCompleteColumn,
        Progress,
        SpinnerColumn,
        TextColumn,
        TimeElapsedColumn,
    )

    return Progress(
        SpinnerColumn(),
        TextColumn("{task.description}", markup=False),
        BarColumn(),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
        console=Console(stderr=True),
        transient=True,
        redirect_stdout=False,  # or the output would end up on standard error
        redirect_stderr=True,
    )
