"""``match --jobs``: the same answers in the same order, however many work at them."""

from __future__ import annotations

import zipfile
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from twigcast.cli import match_jobs
from twigcast.errors import DocumentError
from twigcast.matching.native import AVAILABLE

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
