"""A worker opens and matches documents batch by batch; no document can stop the others."""

from __future__ import annotations

import zipfile
from collections.abc import Callable, Iterable, Mapping
from hashlib import sha256
from pathlib import Path

import pyarrow as pa
import pytest

from twigcast.files import PublicationLimits, list_documents, write_index
from twigcast.files.writing.versioned_files import write_versioned
from twigcast.matching import Matcher
from twigcast.spark.worker import matching as worker
from twigcast.spark.worker.chunks import cut, plan_bytes
from twigcast.spark.worker.matching import (
    DOCUMENTS,
    OUTCOMES,
    REFUSAL,
    loaded_matcher,
    loads,
    match_batches,
    open_chunks,
    readable,
)

Row = Mapping[str, object]


def _matcher(*expressions: str) -> Matcher:
    matcher = Matcher()
    for position, expression in enumerate(expressions):
        matcher.add(position, expression)
    return matcher


def _documents(contents: Mapping[str, bytes | None]) -> pa.RecordBatch:
    rows = [{"document": name, "content": content} for name, content in contents.items()]
    return pa.RecordBatch.from_pylist(rows, schema=DOCUMENTS)


def _outcomes(batches: Iterable[pa.RecordBatch], matcher: Matcher) -> dict[str, Row]:
    found = list(match_batches(batches, matcher))
    assert all(batch.schema == OUTCOMES for batch in found)
    return {row["document"]: row for batch in found for row in batch.to_pylist()}


def test_an_outcome_has_the_positions_that_match_and_the_hash_of_the_bytes() -> None:
    content = "<a><b>ä</b></a>".encode("utf-16")
    (row,) = _outcomes([_documents({"x": content})], _matcher("//c", "//b", "/a[b]")).values()
    assert row["matches"] == [1, 2]
    assert row["undecided"] == []
    assert row["document_hash"] == sha256(content).hexdigest()
    assert row["bytes"] == len(content)
    assert (row["stage"], row["reason"], row["line"], row["column"]) == (None, None, None, None)


def test_a_refused_document_has_stage_reason_and_place_and_the_others_are_answered() -> None:
    rows = _outcomes(
        [
            _documents({"good": b"<a/>", "broken": b"<a>\n<b></a>", "empty": b""}),
            _documents({"klingon": b'<?xml version="1.0" encoding="klingon"?><a/>'}),
            _documents({"nothing": None, "also good": b"<a/>"}),
        ],
        _matcher("/a"),
    )
    assert rows["good"]["matches"] == rows["also good"]["matches"] == [0]
    broken = rows["broken"]
    assert (broken["matches"], broken["undecided"]) == (None, None)
    assert (broken["stage"], broken["line"]) == ("parse", 2)
    assert "mismatch" in str(broken["reason"])
    assert broken["document_hash"] == sha256(b"<a>\n<b></a>").hexdigest()
    assert rows["empty"]["stage"] == "parse"
    assert rows["empty"]["bytes"] == 0
    assert (rows["klingon"]["stage"], rows["klingon"]["matches"]) == ("parse", None)
    nothing = rows["nothing"]
    assert (nothing["stage"], nothing["reason"]) == ("read", "there is no content (null)")
    assert (nothing["document_hash"], nothing["bytes"]) == (None, None)


def test_every_hostile_document_costs_only_itself(shared_path: Callable[[str], Path]) -> None:
    folder = shared_path("data/hostile")
    contents: dict[str, bytes | None] = {
        path.name: path.read_bytes() for path in sorted(folder.glob("*.xml"))
    }
    rows = _outcomes([_documents({**contents, "good": b"<a/>"})], _matcher("/a"))
    assert rows["good"]["matches"] == [0]
    assert len(rows) == len(contents) + 1
    assert all((row["matches"] is None) == (row["reason"] is not None) for row in rows.values())


def test_undecided_pairs_are_kept_apart() -> None:
    matcher = Matcher(residual_cost_max=10)
    matcher.add(0, "//b")
    matcher.add(1, "count(//*[count(//*) > 1]) > 1")
    document = b"<a>" + b"<b/>" * 100 + b"</a>"
    (row,) = _outcomes([_documents({"x": document})], matcher).values()
    assert (row["matches"], row["undecided"], row["stage"]) == ([0], [1], None)


class _Poisoned:
    """A matcher that a certain document makes fail in a way nobody foresaw."""

    def __init__(self) -> None:
        self._matcher = _matcher("/a")

    def match_batch(self, contents: pa.Array) -> pa.RecordBatch:  # type: ignore[type-arg]
        if b"<poison/>" in contents.to_pylist():
            raise ZeroDivisionError("the sky fell")
        return self._matcher.match_batch(contents)


def test_an_unforeseen_error_costs_the_document_that_raised_it() -> None:
    batch = _documents({"one": b"<a/>", "poison": b"<poison/>", "broken": b"<a", "two": b"<a/>"})
    rows = _outcomes([batch], _Poisoned())  # type: ignore[arg-type]
    assert rows["one"]["matches"] == rows["two"]["matches"] == [0]
    assert rows["poison"]["matches"] is None
    assert rows["poison"]["stage"] == "internal"
    assert str(rows["poison"]["reason"]).startswith(
        "matching a document failed: ZeroDivisionError: the sky fell; this is a bug in Twigcast"
    )
    assert rows["broken"]["stage"] == "parse"


@pytest.mark.parametrize("kind", [pa.string(), pa.large_string()])
def test_text_was_decoded_already_so_its_declared_encoding_does_not_count(kind: object) -> None:
    text = '<?xml version="1.0" encoding="ISO-8859-1"?><a>é</a>'
    batch = pa.RecordBatch.from_arrays(
        [pa.array(["x", "y", "z"]), pa.array([text, "<a>é</a>", None], kind)],
        ["document", "content"],
    )
    rows = _outcomes([batch], _matcher("/a[. = 'é']"))
    assert rows["x"]["matches"] == rows["y"]["matches"] == [0]
    assert rows["x"]["document_hash"] == sha256(text.encode()).hexdigest()
    assert rows["z"]["stage"] == "read"


@pytest.mark.parametrize("kind", [pa.string(), pa.large_string()])
@pytest.mark.parametrize("encoding", ["UTF-16", "US-ASCII", "ISO-8859-1", "klingon"])
def test_text_is_refused_where_its_mistake_is_whatever_it_declares(
    encoding: str, kind: object
) -> None:
    texts = [
        f'<?xml version="1.0" encoding="{encoding}"?>{rest}'
        for rest in ("<a>é\n\n<b></a>", "<a><b></a>")
    ]
    plain = [text.replace(f'encoding="{encoding}"', " " * (11 + len(encoding))) for text in texts]
    batch = pa.RecordBatch.from_arrays(
        [pa.array(["0", "1"]), pa.array(texts, kind)], ["document", "content"]
    )
    rows = _outcomes([batch], _matcher("/a"))
    expected = _outcomes(
        [_documents({str(n): text.encode() for n, text in enumerate(plain)})], _matcher("/a")
    )
    for name, text in enumerate(texts):
        row, other = rows[str(name)], expected[str(name)]
        assert [row[each] for each in REFUSAL.names] == [other[each] for each in REFUSAL.names]
        assert row["document_hash"] == sha256(text.encode()).hexdigest()
    assert (rows["0"]["stage"], rows["0"]["line"]) == ("parse", 3)


def test_text_that_is_no_unicode_is_refused_alone() -> None:
    contents = [b"<a>\xe9</a>", b"<?xml version='1.0' encoding='latin-1'?><a>\xe9</a>", b"<a/>"]
    text = pa.array(contents, pa.binary()).view(pa.string())
    batch = pa.RecordBatch.from_arrays([pa.array(["0", "1", "2"]), text], ["document", "content"])
    rows = _outcomes([batch], _matcher("/a"))
    assert [rows[name]["matches"] for name in "012"] == [None, None, [0]]
    assert readable(text).to_pylist() == contents


def test_bytes_keep_their_declared_encoding() -> None:
    content = '<?xml version="1.0" encoding="ISO-8859-1"?><a>é</a>'.encode("latin-1")
    assert _outcomes([_documents({"x": content})], _matcher("/a[. = 'é']"))["x"]["matches"] == [0]


def test_an_encoding_that_only_a_comment_mentions_is_left_alone() -> None:
    text = '<a><!-- <?xml version="1.0" encoding="x"?> --></a>'
    contents = pa.array([text])
    answer = _matcher("//comment()[contains(., 'encoding=\"x\"')]").match_batch(contents)
    assert answer.column("matches").to_pylist() == [[0]]


def test_a_document_without_a_name_is_called_by_its_hash() -> None:
    batch = pa.RecordBatch.from_pylist(
        [{"document": None, "content": b"<a/>"}, {"document": None, "content": None}],
        schema=DOCUMENTS,
    )
    names = set(_outcomes([batch], _matcher("/a")))
    assert names == {f"sha256:{sha256(b'<a/>').hexdigest()}", "unnamed"}


def test_an_empty_batch_has_no_outcomes() -> None:
    (batch,) = match_batches([_documents({})], _matcher("/a"))
    assert (len(batch), batch.schema) == (0, OUTCOMES)
    assert list(match_batches([], _matcher("/a"))) == []


def _opened(plan: Path, numbers: list[int]) -> list[pa.RecordBatch]:
    asked = pa.RecordBatch.from_arrays([pa.array(numbers, pa.int64())], ["id"])
    return list(open_chunks([asked], str(plan), patterns=["*.xml"], limits=PublicationLimits()))


@pytest.fixture
def feed(tmp_path: Path) -> Path:
    folder = tmp_path / "feed"
    folder.mkdir()
    for number in range(20):
        (folder / f"{number:02}.xml").write_text(f"<a><b{number}/></a>")
    (folder / "gone.xml").symlink_to("nowhere")
    with zipfile.ZipFile(folder / "more.zip", "w") as archive:
        archive.writestr("in.xml", "<a/>")
    return folder


def test_chunks_are_opened_by_their_numbers(feed: Path, tmp_path: Path) -> None:
    found = list(list_documents([feed, feed / "more.zip"]))
    chunks = cut(found, 4)
    plan = write_versioned(tmp_path, stem="plan", ending="", content=plan_bytes(chunks)).path
    (second,) = _opened(plan, [1])
    assert second.column("document").to_pylist() == [entry.name for entry in chunks[1]]
    everything = [row for batch in _opened(plan, [0, 1, 2, 3]) for row in batch.to_pylist()]
    assert [row["document"] for row in everything] == [entry.name for entry in found]
    by_name = {Path(row["document"]).name: row for row in everything}
    assert by_name["00.xml"]["content"] == b"<a><b0/></a>"
    assert by_name["more.zip!in.xml"]["content"] == b"<a/>"
    assert by_name["gone.xml"]["content"] is None
    assert by_name["gone.xml"]["refusal"] == "it cannot be read: No such file or directory"


def test_what_cannot_be_opened_is_refused_at_the_stage_read(feed: Path, tmp_path: Path) -> None:
    content = plan_bytes([list(list_documents(feed))])
    plan = write_versioned(tmp_path, stem="plan", ending="", content=content).path
    (feed / "00.xml").unlink()
    rows = _outcomes(_opened(plan, [0]), _matcher("/a"))
    for name in ("00.xml", "gone.xml"):
        row = rows[str(feed / name)]
        assert row["stage"] == "read"
        assert row["reason"] == "it cannot be read: No such file or directory"
    assert rows[str(feed / "01.xml")]["matches"] == [0]


def test_batches_are_bounded_in_documents_and_bytes(
    feed: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    content = plan_bytes([list(list_documents(feed))])
    plan = write_versioned(tmp_path, stem="plan", ending="", content=content).path
    monkeypatch.setattr(worker, "BATCH_DOCUMENTS_MAX", 5)
    assert [len(batch) for batch in _opened(plan, [0])] == [5, 5, 5, 5, 1]
    monkeypatch.setattr(worker, "BATCH_DOCUMENTS_MAX", 1000)
    monkeypatch.setattr(worker, "BATCH_BYTES_MAX", 30)
    assert max(len(batch) for batch in _opened(plan, [0])) == 3


def test_a_matcher_is_loaded_once_per_version(tmp_path: Path) -> None:
    one = write_index(tmp_path, _matcher("//one"))
    two = write_index(tmp_path, _matcher("//two"))
    for _ in range(3):
        for file in (one, two):
            loaded_matcher(str(file.path), file.version)
    assert (loads(one.version), loads(two.version)) == (1, 1)
    (batch,) = match_batches(
        [_documents({"x": b"<one/>"})],
        loaded_matcher(str(one.path), one.version),
        version=one.version,
    )
    assert batch.column("loads").to_pylist() == [1]
    assert batch.column("matches").to_pylist() == [[0]]


def test_a_compiled_matcher_answers_as_the_one_it_was_made_from(tmp_path: Path) -> None:
    matcher = _matcher("//a[@b = 'x']", "count(//a) = 2", "/a | /c")
    file = write_index(tmp_path, matcher)
    twin = loaded_matcher(str(file.path), file.version)
    for document in (b"<a b='x'/>", b"<c><a/><a/></c>", b"<d/>"):
        assert twin.match(document) == matcher.match(document)
