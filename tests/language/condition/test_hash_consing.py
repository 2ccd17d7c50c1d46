"""Hash consing: values exist once, for as long as something refers to them."""

from __future__ import annotations

import gc
import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from threading import Barrier
from types import FrameType

import pytest

from twigcast.language.condition import hash_consing
from twigcast.language.condition.hash_consing import Interned
from twigcast.language.condition.model import FALSE, TRUE, AllOf, Condition, Not, Residual
from twigcast.language.pattern import PATTERN_LIMITS, Pattern, full_meaning
from twigcast.language.xpath.syntax import Literal


def interned_count() -> int:
    """The number of live values in the table."""
    hash_consing._remove_dead()
    return len(hash_consing._entries)


def test_equal_is_identical() -> None:
    assert AllOf((TRUE, FALSE)) is AllOf((TRUE, FALSE))
    assert Not(TRUE) is not Not(FALSE)


def test_what_nobody_holds_is_gone_down_to_its_deepest_part() -> None:
    gc.collect()
    before = interned_count()
    # The short way remembers predicates.
    condition = full_meaning("/held/for[@a = 'now']/by[nobody]//else", {}, PATTERN_LIMITS)
    pattern = Pattern(condition)
    assert interned_count() > before
    del pattern, condition
    assert interned_count() == before


def test_a_part_outlives_the_whole_if_it_is_held() -> None:
    part = Not(Residual(Literal("part")))
    whole = AllOf((part, TRUE))
    del whole
    assert Not(Residual(Literal("part"))) is part


def test_a_value_can_be_made_again_after_it_died() -> None:
    for _ in range(3):
        value = Not(Residual(Literal("again")))
        assert Not(Residual(Literal("again"))) is value
        del value


@dataclass(frozen=True, slots=True, eq=False, weakref_slot=True)
class Interrupted(metaclass=Interned):
    """While one is made something else runs, as when garbage is collected, and makes it, too."""

    name: str

    def __post_init__(self) -> None:
        if not MADE_MEANWHILE:
            MADE_MEANWHILE.append(self)
            MADE_MEANWHILE.append(Interrupted(self.name))


MADE_MEANWHILE: list[Interrupted] = []


def test_what_is_made_while_it_is_being_made_is_the_same() -> None:
    MADE_MEANWHILE.clear()
    made = Interrupted("n")
    assert made is MADE_MEANWHILE[1]
    assert Interrupted("n") is made


def test_threads_that_make_the_same_values_at_once_get_the_same() -> None:
    threads, values = 4, 2_000
    together = Barrier(threads)

    def make(_: int) -> list[Condition]:
        together.wait()
        found: list[Condition] = []
        for place in range(values):
            Not(Residual(Literal(f"dropped {place % 7}")))
            found.append(Not(Residual(Literal(f"kept {place}"))))
        return found

    with ThreadPoolExecutor(threads) as pool:
        first, *others = pool.map(make, range(threads))
    for other in others:
        assert all(mine is theirs for mine, theirs in zip(first, other, strict=True))


def _drop_interrupted_at(place: int) -> bool:
    """Drop a value, interrupted behind a call; whether there were so many."""
    seen = 0

    def behind_each_call(frame: FrameType, event: str, _: object) -> None:
        nonlocal seen
        if event == "c_return" and frame.f_code.co_filename == hash_consing.__file__:
            seen += 1
            if seen == place:
                raise KeyboardInterrupt

    dropped = [Not(Residual(Literal("interrupted")))]
    sys.setprofile(behind_each_call)
    try:
        dropped.clear()
    finally:
        sys.setprofile(None)
    return seen >= place


@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
def test_an_interrupt_while_a_value_dies_leaves_the_table_to_other_threads() -> None:
    place = 1
    while _drop_interrupted_at(place):
        with ThreadPoolExecutor(1) as pool:
            is_free = pool.submit(hash_consing._lock.acquire, blocking=False)
            assert is_free.result()
            pool.submit(hash_consing._lock.release).result()
        assert not hash_consing._is_changing
        place += 1
    assert place > 1


FORKING = """
import os, sys, threading
from twigcast.language.condition.hash_consing import _lock
from twigcast.language import Pattern

held, over = threading.Event(), threading.Event()

def hold():
    with _lock:
        held.set()
        over.wait(1)

thread = threading.Thread(target=hold)
thread.start()
held.wait()
child = os.fork()
if not child:
    Pattern.parse("//a[b = 'in the child']")
    os._exit(0)
over.set()
thread.join()
sys.exit(os.waitpid(child, 0)[1])
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="nothing forks here")
def test_a_process_forked_while_another_thread_changes_the_table_can_change_it() -> None:
    command = [sys.executable, "-W", "ignore", "-c", FORKING]
    assert subprocess.run(command, timeout=60, check=False).returncode == 0
