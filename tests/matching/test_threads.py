"""One matcher, many threads: adds, removes and matches at once, by any engine.

What one thread changes never makes another's answer wrong for the ids that nobody touches, and
nothing but the errors of a single thread comes up.
"""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable, Iterator

import pytest

from tests.engines import EVERY_ENGINE
from twigcast.errors import UsageError
from twigcast.matching import Matcher

DOCUMENT = b"<feed><trade id='7'><price>120</price></trade><trade/></feed>"


@pytest.fixture(autouse=True)
def _hasty_switching() -> Iterator[None]:
    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    yield
    sys.setswitchinterval(interval)


def at_once(*jobs: Callable[[], object]) -> None:
    """Runs jobs on a thread each, which begin together; raises what one of them raised."""
    problems: list[BaseException] = []
    start = threading.Barrier(len(jobs))

    def run(job: Callable[[], object]) -> None:
        start.wait()
        try:
            job()
        except BaseException as error:  # noqa: BLE001  # To be raised where the test sees it.
            problems.append(error)

    threads = [threading.Thread(target=run, args=(job,)) for job in jobs]
    for one in threads:
        one.start()
    for one in threads:
        one.join()
    if problems:
        raise problems[0]


@pytest.mark.parametrize("engine", EVERY_ENGINE)
@pytest.mark.parametrize("id", [5, "text"])
@pytest.mark.parametrize("xpath", ["//trade[price > 5]", "//trade[2]"])
def test_of_threads_that_add_one_id_one_does_and_the_others_are_told(
    engine: str, id: int | str, xpath: str
) -> None:
    for _ in range(30):
        matcher = Matcher(engine=engine)
        told: list[UsageError] = []

        def add(matcher: Matcher = matcher, told: list[UsageError] = told) -> None:
            try:
                matcher.add(id, xpath)
            except UsageError as error:
                told.append(error)

        at_once(*[add] * 4)
        assert len(told) == 3
        assert len(matcher) == 1
        assert matcher.match(DOCUMENT) == [id]
        matcher.remove(id)
        assert matcher.match(DOCUMENT) == []
        assert id not in matcher


@pytest.mark.parametrize("engine", EVERY_ENGINE)
@pytest.mark.parametrize("id", [5, "text"])
def test_of_threads_that_remove_one_id_one_does_and_the_others_are_told(
    engine: str, id: int | str
) -> None:
    for _ in range(30):
        matcher = Matcher({id: "//trade[2]", "kept": "//price"}, engine=engine)
        told: list[UsageError] = []

        def remove(matcher: Matcher = matcher, told: list[UsageError] = told) -> None:
            try:
                matcher.remove(id)
            except UsageError as error:
                told.append(error)

        at_once(*[remove] * 4)
        assert len(told) == 3
        assert matcher.match(DOCUMENT) == ["kept"]


@pytest.mark.parametrize("engine", EVERY_ENGINE)
def test_what_nobody_changes_is_answered_right_while_others_come_and_go(engine: str) -> None:
    matcher = Matcher({0: "//price", "kept": "//trade[2]"}, engine=engine)
    groups = matcher.groups({"kept": [0, "kept"], "other": ["t3", 3]})
    ends = threading.Event()

    def churn(first: int) -> Callable[[], None]:
        def job() -> None:
            try:
                for _ in range(8):
                    for number in range(first, first + 12):
                        matcher.add(number, f"//trade[@id='{number}'][price > {number}.5]")
                        matcher.add(f"t{number}", f"//trade[{number}]/price[last()]")
                    for number in range(first, first + 12):
                        matcher.remove(number)
                        matcher.remove(f"t{number}")
            finally:
                ends.set()

        return job

    def ask() -> None:
        while not ends.is_set():
            found = matcher.match(DOCUMENT)
            assert {0, "kept"} <= set(found) <= {0, "kept", 7, "t1"}
            assert matcher.match_links(DOCUMENT, groups) == ["kept"]
            assert {0, "kept"} <= set(matcher.find(DOCUMENT))
            assert 0 in matcher
            assert len(matcher) >= 2
            again = Matcher.from_buffer(matcher.to_bytes(), engine=engine)
            assert {0, "kept"} <= set(again.match(DOCUMENT))
            assert matcher.statistics().subscriptions >= 2

    at_once(churn(1), churn(101), ask, ask)
    assert matcher.match(DOCUMENT) == [0, "kept"]
    assert len(matcher) == 2
