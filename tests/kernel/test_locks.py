"""Locks of the kernel: none is waited for with the interpreter's lock held, none is taken twice.

A mistake here does not fail, it freezes. So each case runs in a process of its own, under a
watchdog that tells where its threads stood.
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from textwrap import dedent

import pytest

pytest.importorskip("twigcast_kernel", reason="the kernel is not built")

ROOT = Path(__file__).resolve().parents[2]
FROZEN_AFTER_S = 150
"""Far more than any case takes; a frozen one never ends."""

PREAMBLE = f"""
import faulthandler, itertools, sys, threading
faulthandler.dump_traceback_later({FROZEN_AFTER_S}, exit=True)
import twigcast_kernel as kernel
from twigcast import Matcher
from twigcast.language import Pattern

LIMITS = (100_000_000, 10_000_000, 256, 1_000, 1_000, 131_072)

def condition(xpath):
    return Pattern.parse(xpath).condition

def at_once(*jobs):
    problems = []
    def guarded(job):
        try:
            job()
        except BaseException as error:
            problems.append(error)
            raise
    threads = [threading.Thread(target=guarded, args=(job,)) for job in jobs]
    for one in threads:
        one.start()
    for one in threads:
        one.join()
    if problems:
        raise SystemExit(1)
"""


def run(program: str) -> str:
    """What a program prints; fails where it froze, or failed."""
    done = subprocess.run(
        [sys.executable, "-c", PREAMBLE + dedent(program)],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=2 * FROZEN_AFTER_S,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-5_000:]
    return done.stdout.strip()


def test_threads_add_expressions_whose_numbers_python_reads() -> None:
    assert (
        run("""
        matcher = Matcher(engine="native")
        def adder(first):
            for number in range(first, first + 4_000):
                matcher.add(number, f"//a[b > {number}.5]")
        at_once(*(lambda k=k: adder(k * 1_000_000) for k in range(3)))
        print(len(matcher))
    """)
        == "12000"
    )


def test_nothing_is_locked_while_python_reads_a_number() -> None:
    # The reading of one number ends only when all the rest was done meanwhile.
    assert (
        run("""
        asked, done = threading.Event(), threading.Event()
        def number(text):
            if text == "1.5":
                asked.set()
                done.wait()
            return float(text)
        index = kernel.Index(number, LIMITS)
        index.add(1, condition("//a"), residual=False)
        def rest():
            asked.wait()
            index.add(3, condition("//a[b > 2.5]"), residual=False)
            index.remove(3)
            index.match(b"<a/>", [])
            index.match_events([("", "a"), ()], [])
            links = index.links([[1]])
            index.match_links(b"<a/>", links, [])
            index.to_bytes(), index.ids(), index.condition(1), index.statistics()
            assert len(index) == 1 and 1 in index and 2 not in index
            done.set()
        at_once(lambda: index.add(2, condition("//a[b > 1.5]"), residual=False), rest)
        print(len(index))
    """)
        == "2"
    )


def test_a_number_that_cannot_be_read_leaves_nothing_locked() -> None:
    assert (
        run("""
        def number(text):
            if text == "1.5":
                raise ArithmeticError(text)
            index.add(int(float(text)), condition("//a"), residual=False)
            return float(text)
        index = kernel.Index(number, LIMITS)
        try:
            index.add(1, condition("//a[b > 1.5]"), residual=False)
        except ArithmeticError:
            index.add(2, condition("//a[b > 3.5]"), residual=False)
        print(sorted(index.ids()))
    """)
        == "[2, 3]"
    )


@pytest.mark.parametrize(
    "call",
    [
        "1 in index",
        "index.statistics()",
        "index.ids()",
        "index.condition(1)",
        "index.links([[1]])",
        "index.to_bytes()",
        "index.match(b'<a/>', [])",
        "index.match_links(b'<a/>', links, [])",
        "index.remove(77)",
    ],
)
def test_other_threads_go_on_while_one_waits_for_a_slow_match_and_a_change(call: str) -> None:
    # A match, a change that waits for it, and a call that waits for the change. Threads give the
    # interpreter's lock back only where they wait, so that the count stands still if the call keeps
    # it, and goes on if it does not.
    assert (
        run(f"""
        sys.setswitchinterval(1_000)
        index = kernel.Index(float, LIMITS)
        index.add(1, condition("//a[b > 3]"), residual=False)
        links = index.links([[1]])
        large = b"<r>" + b"<a><b>1</b><c>x</c></a>" * 600_000 + b"</r>"
        ticks, over = 0, threading.Event()
        def tick():
            global ticks
            while not over.wait(0.001):
                ticks += 1
        def once(number):
            begun, changing, counted = threading.Event(), threading.Event(), []
            added = condition(f"//z[y > {{number}}]")
            def match():
                begun.set()
                index.match(large, [])
            def change():
                begun.wait()
                changing.set()
                index.add(number, added, residual=False)
            def wait():
                changing.wait()
                before = ticks
                {call}
                counted.append(ticks - before)
            at_once(match, change, wait)
            return counted[0]
        ticker = threading.Thread(target=tick)
        ticker.start()
        # Where the call came first, or last, it did not wait.
        waited = sum(once(number) >= 5 for number in range(100, 120))
        over.set()
        ticker.join()
        print(waited >= 5 or waited)
    """)
        == "True"
    )


def test_a_length_is_known_while_a_match_and_a_change_are_under_way() -> None:
    assert (
        run("""
        index = kernel.Index(float, LIMITS)
        index.add(1, condition("//a"), residual=False)
        assert len(index) == 1
        index.remove(1)
        assert len(index) == 0
        index.add(2, condition("//b"), residual=True)
        print(len(index), len(kernel.Index.from_buffer(index.to_bytes(), float, LIMITS)))
    """)
        == "1 1"
    )


def test_every_call_at_once_with_slow_matches_among_them() -> None:
    assert (
        run("""
        import pyarrow as pa
        from collections import Counter
        sys.setswitchinterval(0.00001)
        matcher = Matcher({0: "//price", -1: "//price[last()]", "text": "//trade"}, engine="native")
        small = b"<feed><trade id='7'><price>120</price></trade><note/></feed>"
        large = b"<feed>" + b"<trade id='7'><price>120</price></trade><note/>" * 4_000 + b"</feed>"
        array = pa.array([small, b"<broken>", small] * 20)
        groups = matcher.groups({"always": [0, "text"], "never": [8], "sometimes": [7]})
        over, done = False, Counter()
        def while_changing(job):
            def loop():
                while not over:
                    job()
                    done[job] += 1
            return loop
        def churn(first):
            def job():
                for number in range(first, first + 20):
                    matcher.add(number, f"//trade[@id='{number}']/price[. > {number}.5]")
                    matcher.add(f"t{number}", f"//trade[@id='{number}'][2]")
                for number in range(first, first + 20):
                    matcher.remove(number)
                    matcher.remove(f"t{number}")
            return job
        def churns(first):
            global over
            try:
                for _ in range(20):
                    churn(first)()
            finally:
                over = True
        def match(content):
            def job():
                found = matcher.match(content)
                assert {0, -1, "text"} <= set(found) <= {0, -1, "text", 7, "t7"}, found
            return job
        def batch():
            rows = matcher.match_batch(array, threads=2).column("matches").to_pylist()
            assert rows[1] is None and {"0", "-1", "text"} <= set(rows[2]), rows
        def links():
            assert "always" in matcher.match_links(small, groups)
            assert "never" not in matcher.match_links(small, groups)
        def ask():
            assert len(matcher) >= 3 and 0 in matcher and "text" in matcher and "no" not in matcher
            assert matcher.statistics().subscriptions >= 3
            repr(matcher)
        def store():
            again = Matcher.from_buffer(matcher.to_bytes())
            assert {0, -1, "text"} <= set(again.match(small))
        jobs = [match(small), match(large), batch, links, ask, store, churn(1_000)]
        at_once(lambda: churns(1), *map(while_changing, jobs))
        print(matcher.match(small), len(matcher))
        assert len(done) == len(jobs)
    """)
        == "[-1, 0, 'text'] 3"
    )


# The cover index asks Python what follows from what, while it is locked.

COVER = """
    from twigcast.covering.containment.covers import compiled_form
    def twigs(xpath):
        made = compiled_form(condition(xpath))
        return made.groups, tuple(target.twig for target in made.targets)
"""


def test_a_cover_index_that_is_asked_for_by_its_own_question_refuses() -> None:
    assert run(
        dedent(COVER)
        + dedent("""
        refused = []
        def follows(stronger, weaker):
            for call in (lambda: len(index), index.statistics, lambda: index.remove(1)):
                try:
                    call()
                except RuntimeError as error:
                    refused.append(str(error))
            return True
        index = kernel.Candidates(follows, lambda tests: None, 10_000)
        index.add(1, *twigs("//a[. = 1]"))
        print(index.covering(twigs("//a[. = 2]")[1]), len(index), len(refused) >= 3, {*refused})
    """)
    ) == ("([1], []) 1 True {'the index is being used by this very thread, further out'}")


def test_other_threads_go_on_while_one_waits_for_a_cover_index_that_asks() -> None:
    assert (
        run(
            dedent(COVER)
            + dedent("""
        asked, done, waiting = threading.Event(), threading.Event(), threading.Event()
        def follows(stronger, weaker):
            asked.set()
            done.wait()
            return True
        index = kernel.Candidates(follows, lambda tests: None, 10_000)
        index.add(1, *twigs("//a[. = 1]"))
        lengths = []
        def length():
            asked.wait()
            waiting.set()
            lengths.append(len(index))
        def rest():
            waiting.wait()
            done.set()
        at_once(lambda: index.covering(twigs("//a[. = 2]")[1]), length, rest)
        print(lengths)
    """)
        )
        == "[1]"
    )
