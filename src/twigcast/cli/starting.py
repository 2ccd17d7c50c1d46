"""Ctrl-C and SIGTERM while the program starts.

Whatever is imported before they are taken is time in which they end the program by a traceback. So
this file, and what is imported on the way to it (:mod:`twigcast`, :mod:`twigcast.cli`), imports
nothing that Python has not loaded by then: ``signal`` would bring enumerations along, and is ten
times as long on its way.
"""

from __future__ import annotations

import _signal  # type: ignore[import-not-found]  # Python keeps it to itself.
import os

TYPE_CHECKING = False
if TYPE_CHECKING:
    from types import FrameType

SIGNALLED = 128
"""What a shell adds to the number of the signal that has ended a program."""


def end_while_starting() -> None:
    """Have SIGTERM and Ctrl-C end the program at once: nothing is there that could be left.

    Unless whoever started us has them ignored.
    """
    for number in (_signal.SIGINT, _signal.SIGTERM):
        if _signal.getsignal(number) in {_signal.SIG_DFL, _signal.default_int_handler}:
            _signal.signal(number, leave)


def leave(number: int, _frame: FrameType | None) -> None:
    """End here and now, with the exit code of a program that was interrupted."""
    os._exit(SIGNALLED + number)
