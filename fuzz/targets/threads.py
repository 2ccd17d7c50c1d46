"""One matcher and several threads that add, remove, match and look, all at once.

Each thread has ids of its own. Some ids belong to nobody, and stay: whatever happens, answers about
them are right. In the end the matcher answers as one that is built afresh. A deadlock is noticed by
the runner, which says where each thread stood.
"""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable
from random import Random
from typing import Final

import msgspec
import pyarrow as pa

from fuzz.matchers import ENGINE_NAMES, answer, matchers
from fuzz.target import ACCEPTED, Fault, Target
from twigcast.language import Pattern
from twigcast.matching import Matcher

TEXTS: Final = (
    *("//a", "/a/b", "//b[@x > 1.5]", "//a[b][c]", "//c[. = 'x']", "not(//d)", "//a//b//c", "//*"),
    *("//*[@y]", "//a[b > 2.5]", "//b[1]", "count(//b) > 1", "//a[contains(., 'x')]"),
    *("//p:a", "//a[not(b = c)]", "//a[not(.//b//c)]", "//b/following-sibling::c"),
    *("//comment()", "sum(//@x) > 2"),
)  # fmt: skip
DOCUMENTS: Final = (
    b"<a><b x='2'>x</b><c>x</c></a>",
    b"<a><a><b><c/></b></a><b/><b/></a>",
    b"<d y='1'/>",
    b"<a xmlns='urn:p'><b/></a>",
    b"<a><b>3</b><!--x--><c>3</c></a>",
    b"<a>" * 60 + b"<b/>" * 40 + b"</a>" * 60,
    b"<a><b></a>",
    b"<!DOCTYPE a [<!ENTITY e 'x'>]><a>&e;<b x='2'/></a>",
)
NAMES: Final = {"p": "urn:p"}
STANDING: Final = 6
"""So many subscriptions are there from the start, and nobody touches them."""

_SWITCH_SECONDS: Final = 1e-5
"""How often the interpreter changes threads: much more often than usual."""

Answer = tuple[object, ...] | None


class Step(msgspec.Struct):
    """What a thread does, with an id of its own and a text or document, by their place."""

    do: str
    id: int
    place: int


class Case(msgspec.Struct):
    """An engine, and what each thread does."""

    engine: str
    scripts: list[list[Step]]


def generate(rng: Random) -> Case:
    """Two to four threads; in some cases all of them write, in others one does."""
    kinds = (
        "add",
        "add",
        "add",
        "remove",
        "match",
        "match",
        "batch",
        "len",
        "in",
        "statistics",
        "bytes",
    )
    count = rng.randint(2, 4)
    writers = rng.choice((1, count, count))
    scripts = []
    for thread in range(count):
        allowed = kinds if thread < writers else kinds[4:]
        steps = [
            Step(rng.choice(allowed), rng.randrange(20), rng.randrange(1_000))
            for _ in range(rng.randint(5, 60))
        ]
        scripts.append(steps)
    return Case(rng.choice(ENGINE_NAMES), scripts)


def check(case: Case) -> str:
    """Let the threads go, wait for all of them, compare."""
    standing = {number: Pattern.parse(TEXTS[number], NAMES) for number in range(STANDING)}
    engine = case.engine if case.engine in ENGINE_NAMES else ENGINE_NAMES[0]
    expected = [_answer(matchers(standing)[engine], content) for content in DOCUMENTS]
    matcher = Matcher(standing, engine=engine)
    workers = [
        _Worker(matcher, steps, first=100 * (number + 1), expected=expected)
        for number, steps in enumerate(case.scripts)
    ]
    before = sys.getswitchinterval()
    sys.setswitchinterval(_SWITCH_SECONDS)
    try:
        threads = [threading.Thread(target=worker.run, daemon=True) for worker in workers]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    finally:
        sys.setswitchinterval(before)
    for worker in workers:
        if worker.error is not None:
            raise worker.error
    _check_end(matcher, engine, {**standing, **{k: v for w in workers for k, v in w.held.items()}})
    return ACCEPTED


class _Worker:
    """A thread: what it does, what it holds, and what went wrong."""

    def __init__(
        self, matcher: Matcher, steps: list[Step], *, first: int, expected: list[Answer]
    ) -> None:
        self._matcher = matcher
        self._steps = steps
        self._first = first
        self._expected = expected
        self.held: dict[int, Pattern] = {}
        self.error: Exception | None = None

    def run(self) -> None:
        actions: dict[str, Callable[[int, int], None]] = {
            "add": self._add,
            "remove": self._remove,
            "match": self._match,
            "batch": self._batch,
            "len": lambda _id, _place: self._require(len(self._matcher) >= STANDING, "len"),
            "in": self._look,
            "statistics": self._statistics,
            "bytes": self._bytes,
        }
        try:
            for step in self._steps:
                actions[step.do](self._first + step.id, step.place)
        except Exception as error:  # noqa: BLE001  # told by the thread that waits for this one
            self.error = error

    def _add(self, id: int, place: int) -> None:
        if id not in self.held:
            text = TEXTS[place % len(TEXTS)] if place % 2 else f"//a[b > {place}.5]"
            self._matcher.add(id, text, NAMES)
            self.held[id] = Pattern.parse(text, NAMES)

    def _remove(self, id: int, _place: int) -> None:
        if id in self.held:
            self._matcher.remove(id)
            del self.held[id]

    def _match(self, _id: int, place: int) -> None:
        number = place % len(DOCUMENTS)
        given = _answer(self._matcher, DOCUMENTS[number])
        self._require(_standing(given) == self._expected[number], f"match of {DOCUMENTS[number]!r}")

    def _batch(self, _id: int, place: int) -> None:
        rows = self._matcher.match_batch(pa.array(DOCUMENTS, pa.binary()), threads=1 + place % 2)
        found = [None if row is None else tuple(row) for row in rows.column("matches").to_pylist()]
        self._require([_standing(row) for row in found] == self._expected, "match_batch")

    def _look(self, id: int, _place: int) -> None:
        self._require((id in self._matcher) == (id in self.held), "in")

    def _statistics(self, _id: int, _place: int) -> None:
        self._require(self._matcher.statistics().subscriptions >= STANDING, "statistics")

    def _bytes(self, _id: int, _place: int) -> None:
        again = Matcher.from_buffer(self._matcher.to_bytes())
        given = _standing(_answer(again, DOCUMENTS[0]))
        self._require(given == self._expected[0], "to_bytes")

    def _require(self, holds: bool, what: str) -> None:  # noqa: FBT001  # reads well enough
        if not holds:
            raise Fault("wrong beside other threads", what)


def _answer(matcher: Matcher, content: bytes) -> Answer:
    """The matches, or None where the document is refused."""
    refusal, matches, _ = answer(matcher, content)
    return None if refusal else matches


def _standing(given: Answer) -> Answer:
    """What an answer says about the subscriptions that nobody touches."""
    if given is None:
        return None
    return tuple(one for one in given if isinstance(one, int) and one < STANDING)


def _check_end(matcher: Matcher, engine: str, held: dict[int, Pattern]) -> None:
    afresh = matchers(held)[engine]
    if len(matcher) != len(afresh):
        raise Fault("wrong in the end", f"{len(matcher)} subscriptions, not {len(afresh)}")
    for content in DOCUMENTS:
        given, due = _answer(matcher, content), _answer(afresh, content)
        if given != due:
            raise Fault("wrong in the end", f"{given}, not {due}: {content!r}")


TARGET: Final = Target(
    name="threads",
    summary="adds, removes, matches and looks from several threads on one matcher",
    kind=Case,
    generate=generate,
    check=check,
)
