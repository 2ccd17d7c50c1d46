"""An interrupt may come at any call inside; what was to be changed is then changed or it is not.

Each change is interrupted before and behind the first call in the room, the second, and so on until
it gets through. Afterwards the matcher must answer as one made afresh from the subscriptions that
it names.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path
from types import FrameType
from typing import Final

import pytest

import twigcast.matching
from tests.engines import EVERY_ENGINE
from twigcast.matching import Matcher

# What is raised while Python lets go of an object it drops, and tells.
pytestmark = pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")

_ROOM: Final = str(Path(twigcast.matching.__file__).parent)
_DOCUMENT: Final = b"<r><a k='1'><b>x</b><b>y</b></a><c/><d>7</d></r>"
_RULES: Final[dict[int | str, str]] = {
    1: "//a/b", 2: "//a[b = 'x']", "t": "//a/b[2]", 4: "//c or //z", 5: "//d[. > 5]",
    "u": "//a[contains(b, 'y')]", 7: "//a/b",
}  # fmt: skip
_CHANGES: Final[list[tuple[str, Callable[[Matcher], object]]]] = [
    ("add exact", lambda it: it.add(20, "//d")),
    ("add alike", lambda it: it.add(21, "//a/b")),
    ("add residual", lambda it: it.add("v", "//a/*[2]")),
    ("remove exact", lambda it: it.remove(5)),
    ("remove alike", lambda it: it.remove(7)),
    ("remove residual", lambda it: it.remove("t")),
    ("match", lambda it: it.match(_DOCUMENT)),
]
_ASKED: Final[dict[int | str, str]] = {20: "//d", 21: "//a/b", "v": "//a/*[2]"}

_EVER: Final = _RULES | _ASKED
_LOCKING: Final = frozenset({"__enter__", "__exit__"})


class _Interrupted(BaseException):
    """What Ctrl-C raises, but not pytest's own."""


def _interrupted_at(place: int, call: Callable[[], object]) -> bool:
    """Whether the call had so many places."""
    seen = 0

    def at_each_call(frame: FrameType, event: str, called: object) -> None:
        nonlocal seen
        # Python lets no interrupt in between the end of a `with` and the lock it gives back.
        is_lock = event.startswith("c_") and getattr(called, "__name__", None) in _LOCKING
        if frame.f_code.co_filename.startswith(_ROOM) and not is_lock:
            seen += 1
            if seen == place:
                raise _Interrupted

    before = sys.getprofile()
    sys.setprofile(at_each_call)
    try:
        call()
    except _Interrupted:
        return True
    finally:
        sys.setprofile(before)
    return False


@pytest.mark.parametrize("engine", EVERY_ENGINE)
@pytest.mark.parametrize("change", [it[1] for it in _CHANGES], ids=[it[0] for it in _CHANGES])
def test_an_interrupted_matcher_is_as_one_made_afresh(
    engine: str, change: Callable[[Matcher], object]
) -> None:
    place, was_interrupted = 0, True
    while was_interrupted:
        place += 1
        matcher = Matcher(_RULES, engine=engine)
        was_interrupted = _interrupted_at(place, partial(change, matcher))
        there = {one: xpath for one, xpath in _EVER.items() if one in matcher}
        right = Matcher(there, engine="lxml").match(_DOCUMENT)
        assert len(matcher) == len(there), place
        assert matcher.match(_DOCUMENT) == right, place
        assert matcher.match_links(_DOCUMENT, {0: list(right), 1: ["w"]}) == [0] * bool(right)
        again = Matcher.from_buffer(matcher.to_bytes(), engine=engine)
        assert again.match(_DOCUMENT) == right, place
        for one in there:
            matcher.remove(one)
        for one, xpath in _RULES.items():
            matcher.add(one, xpath)
        assert matcher.match(_DOCUMENT) == Matcher(_RULES).match(_DOCUMENT), place
    assert place > 1
