"""``match --jobs``: the same answers in the same order, however many work at them."""

from __future__ import annotations

import faulthandler
import os
import signal
import zipfile
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from twigcast.cli.match import jobs as match_jobs
from twigcast.cli.match.jobs import Deciders, MatcherBounds, WorkerGoneError
from twigcast.errors import DocumentError, InternalError
from twigcast.files.documents.publications import Entry, EntryKind
from twigcast.language import DocumentLimits
from twigcast.matching import Decision, Matcher
from twigcast.matching.engines.native import AVAILABLE
from twigcast.matching.residual.libxml2 import COST_MAX, DOCUMENT_COST_MAX

if TYPE_CHECKING:
    from tests.cli.conftest import Twigcast

ENGINES = ["streaming", "lxml", *(["native"] if AVAILABLE else [])]


@pytest.fixture
def feed(shop: Path) -> Path:
    with zipfile.ZipFile(shop / "feed.zip", "w") as archive:
        for number in range(150):
            price = "" if number % 7 else "<price>11</price>"
            text = "<broken>" if number % 11 == 5 else f"<shop><item>{price}</item></shop>"
            archive.writestr(f"{number}.xml", text)
    return shop


@pytest.mark.usefixtures("feed")
@pytest.mark.parametrize("engine", ENGINES)
def test_answers_and_their_order_are_those_of_one_job(twigcast: Twigcast, engine: str) -> None:
    def told(jobs: str) -> tuple[int, str, list[str]]:
        words = ("match", "subs.csv", "feed.zip", "good.xml", "--engine", engine, "--jobs", jobs)
        result = twigcast(*words)
        return result.exit_code, result.stdout, result.stderr.splitlines()[:-1]

    assert told("2") == told("1")


@pytest.mark.usefixtures("feed")
def test_no_jobs_are_one(twigcast: Twigcast) -> None:
    assert twigcast("match", "subs.csv", "good.xml", "--jobs", "0").stdout == "good.xml\tb a\n"
    assert twigcast("match", "subs.csv", "good.xml", "--jobs", "-1").exit_code == 2


def test_chunks_are_bounded_in_documents_and_in_bytes() -> None:
    large = b"x" * (match_jobs.CHUNK_BYTES_MAX // 2)
    refused = DocumentError("gone")
    contents = [large] * 5 + [b"<a/>"] * 70 + [refused] * 3
    chunks = list(match_jobs._chunks((None, "", content) for content in contents))  # type: ignore[misc]
    assert [content for chunk in chunks for _, _, content in chunk] == contents
    assert max(map(len, chunks)) == match_jobs.CHUNK_DOCUMENTS_MAX
    assert all(
        sum(len(content) for _, _, content in chunk[:-1] if isinstance(content, bytes))
        < match_jobs.CHUNK_BYTES_MAX
        for chunk in chunks
    )


class _Deadly(bytes):
    """A document that ends the process it is sent to."""

    __slots__ = ()

    def __reduce__(self) -> tuple[object, ...]:
        return os._exit, (1,)


@pytest.fixture
def processes() -> Iterator[Deciders]:
    """Two processes that look for ``//a``, under a watchdog."""
    faulthandler.dump_traceback_later(300, exit=True)
    matcher = Matcher(engine="streaming")
    matcher.add(0, "//a")
    limits = MatcherBounds(DocumentLimits(), COST_MAX, DOCUMENT_COST_MAX)
    with Deciders(matcher, 2, (), limits) as deciders:
        yield deciders
    faulthandler.cancel_dump_traceback_later()


def _documents(contents: list[bytes]) -> list[tuple[Entry, str, bytes]]:
    entry = Entry(EntryKind.FILE, "x", "x")
    return [(entry, f"{number}.xml", content) for number, content in enumerate(contents)]


def test_a_document_that_ends_its_process_costs_itself_alone(processes: Deciders) -> None:
    contents = [b"<a/>", _Deadly(b"<a/>"), b"<b/>", *[b"<a/>"] * 100]
    found = list(processes.answers(_documents(contents)))
    assert [each.name for each in found] == [f"{number}.xml" for number in range(103)]
    deadly = found.pop(1).answer
    assert isinstance(deadly, DocumentError)
    assert "died" in deadly.reason
    matches = [list(each.answer.matches) for each in found if isinstance(each.answer, Decision)]
    assert matches == [[0], [], *[[0]] * 100]


def test_processes_that_are_killed_cost_nothing(processes: Deciders) -> None:
    answers = processes.answers(_documents([b"<a/>"] * 400))
    first = next(answers)
    pool = processes._pool
    assert isinstance(pool, ProcessPoolExecutor)
    for pid in list(pool._processes):
        os.kill(pid, signal.SIGKILL)
    found = [first, *answers]
    assert len(found) == 400
    assert all(isinstance(each.answer, Decision) for each in found)


def test_processes_that_cannot_start_are_one_error(processes: Deciders) -> None:
    processes._shown = (_Deadly(b""), *processes._shown[1:])
    processes._pool = processes._processes()
    with pytest.raises(WorkerGoneError, match="as soon as they start"):
        list(processes.answers(_documents([b"<a/>"])))


@pytest.mark.parametrize("jobs", ["1", "2"])
def test_what_nobody_foresaw_costs_its_document_alone(
    twigcast: Twigcast, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, jobs: str
) -> None:
    usual = Matcher.decide

    def failing(self: Matcher, content: bytes) -> Decision:
        if b"bad" in content:
            raise InternalError("matching a document", KeyError("b"))
        return usual(self, content)

    monkeypatch.setattr(Matcher, "decide", failing)
    (tmp_path / "s.txt").write_text("//a\n")
    for name in ("one", "bad", "two"):
        (tmp_path / f"{name}.xml").write_text(f"<a>{name}</a>")
    engine = "lxml" if jobs == "1" else "auto"
    words = ("match", "s.txt", "one.xml", "bad.xml", "two.xml", "--jobs", jobs)
    result = twigcast(*words, "--engine", engine)
    if engine == "auto" and Matcher().statistics().engine != "native":
        pytest.skip("processes have matchers of their own")
    assert result.stdout == "one.xml\t1\ntwo.xml\t1\n"
    assert "bad.xml: matching a document failed: KeyError" in result.stderr
    assert result.exit_code == 1
