"""Documents are shared out in runs of about equal work, and nothing is lost on the way."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from twigcast.errors import DocumentError, UsageError
from twigcast.files import Entry
from twigcast.files.documents.publications import EntryKind
from twigcast.files.writing.versioned_files import write_versioned
from twigcast.spark.worker.chunks import _mapped, chunk_count, cut, plan_bytes, read_chunk

entries = st.lists(
    st.builds(
        Entry,
        kind=st.sampled_from([EntryKind.FILE, EntryKind.ZIP_MEMBER, EntryKind.TAR]),
        name=st.text(max_size=5),
        path=st.just("x"),
        size=st.integers(0, 10_000_000),
    ),
    max_size=60,
)


def _file(size: int, name: str = "a.xml") -> Entry:
    return Entry(EntryKind.FILE, name, name, size=size)


@given(entries, st.integers(1, 20))
def test_chunks_are_the_listing_cut_into_runs(found: list[Entry], count: int) -> None:
    chunks = cut(found, count)
    assert [entry for chunk in chunks for entry in chunk] == found
    assert len(chunks) <= count
    assert all(chunks)


@given(st.lists(st.integers(0, 100_000), min_size=1, max_size=200), st.integers(1, 20))
def test_no_chunk_has_much_more_than_its_share(sizes: list[int], count: int) -> None:
    works = [size + 4096 for size in sizes]
    chunks = cut([_file(size) for size in sizes], count)
    heaviest = max(sum(entry.size + 4096 for entry in chunk) for chunk in chunks)
    assert heaviest <= sum(works) / count + max(works)


def test_documents_of_one_size_are_shared_out_evenly() -> None:
    assert [len(chunk) for chunk in cut([_file(500)] * 80, 8)] == [10] * 8


def test_a_tar_archive_is_one_piece_and_weighs_what_it_will_unpack_to() -> None:
    tar = Entry(EntryKind.TAR, "a.tar.gz", "a.tar.gz", size=1_000_000)
    chunks = cut([tar, *[_file(500_000)] * 10], 2)
    assert [len(chunk) for chunk in chunks] == [1, 10]


def test_the_number_of_chunks_follows_the_work() -> None:
    assert chunk_count([], cores=2) == 1
    assert chunk_count([_file(1)] * 3, cores=2) == 1
    assert chunk_count([_file(8_000)] * 1000, cores=2) == 2
    assert chunk_count([_file(8_000)] * 10_000, cores=2) == 8
    assert chunk_count([_file(9_000_000)] * 3, cores=2) == 3
    assert chunk_count([_file(10_000_000)] * 1000, cores=2) == 150


def test_a_plan_brings_back_every_chunk(tmp_path: Path) -> None:
    name = os.fsdecode(b"caf\xe9.xml")
    refused = Entry(
        EntryKind.REFUSED, "b.xml", "/b.xml", refusal=DocumentError("it is gone", document="b.xml")
    )
    chunks = [
        [Entry(EntryKind.FILE, "caf\\xe9.xml", f"/x/{name}", size=7)],
        [Entry(EntryKind.ZIP_MEMBER, "a.zip!c.xml", "/a.zip", member=3, size=9), refused],
    ]
    plan = write_versioned(tmp_path, stem="plan", ending="", content=plan_bytes(chunks)).path
    assert list(read_chunk(str(plan), 0)) == chunks[0]
    member, gone = read_chunk(str(plan), 1)
    assert member == chunks[1][0]
    assert gone.refusal is not None
    assert (gone.refusal.reason, gone.refusal.document) == ("it is gone", "b.xml")


def test_paths_in_a_plan_do_not_depend_on_the_current_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    content = plan_bytes([[_file(1, "feed/a.xml")]])
    plan = write_versioned(".", stem="plan", ending="", content=content)
    (entry,) = read_chunk(str(plan.path), 0)
    assert (entry.name, entry.path) == ("feed/a.xml", str(tmp_path / "feed" / "a.xml"))


def test_a_plan_that_is_damaged_is_refused_by_its_name(tmp_path: Path) -> None:
    content = plan_bytes([[_file(1, "feed/a.xml")]])
    for place in range(0, len(content), 7):
        for changed in (content[:place], content[:place] + b"~" * (len(content) - place)):
            plan = write_versioned(tmp_path, stem="plan", ending="", content=content)
            plan.path.write_bytes(changed)
            _mapped.cache_clear()
            with pytest.raises(UsageError, match=rf"cannot (use|read) .*{plan.path.name}"):
                list(read_chunk(str(plan.path), 0))
