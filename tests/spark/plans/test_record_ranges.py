"""Records of a dump are documents to Spark, shared out over many tasks."""

from __future__ import annotations

import gzip
from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

import pyarrow.parquet as pq
import pytest

from twigcast.errors import DocumentError, UsageError
from twigcast.files import PublicationLimits, list_documents, read_documents
from twigcast.language import DocumentLimits
from twigcast.language.records.selector import RecordSelector
from twigcast.matching import Matcher
from twigcast.spark import Pipeline, Publications, Run
from twigcast.spark.plans import record_ranges
from twigcast.spark.plans.record_ranges import with_ranges
from twigcast.spark.worker import chunks

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = [pytest.mark.spark, pytest.mark.xdist_group("spark")]

XPATHS = {"all": "//*", "odd": "//no[. mod 2 = 1]", "namespaced": "//*[namespace::p]", "en": "//en"}
TOPOLOGY = {"links": [["a", "b"], ["b", "c"]]}
PLANS: tuple[dict[str, Any], ...] = (
    {},
    {"shards": 2},
    {"plan": "hops", "topology": TOPOLOGY},
    {"plan": "hops", "topology": TOPOLOGY, "strategy": "piggyback(protocol=eager)"},
)


def _dump(path: Path, count: int = 3_000) -> Path:
    records = b"".join(
        b"<rec><no>%d</no><!-- </rec> --><![CDATA[<rec>]]>%s</rec>\n" % (n, b"x" * (n % 500))
        for n in range(count)
    )
    path.write_bytes(b"<dump xmlns:p='urn:p' xml:lang='en'>" + records + b"</dump>")
    return path


def _rows(out: str, table: str, *columns: str) -> list[tuple[Any, ...]]:
    found = pq.read_table(Path(out) / table, columns=list(columns)).to_pylist()
    return sorted(tuple(row.values()) for row in found)


def _expected(path: Path, record: str) -> list[tuple[str, str]]:
    matcher = Matcher(XPATHS)
    found = []
    for name, content in read_documents(path, record=record):
        assert isinstance(content, bytes)
        found += [(name, subscription) for subscription in matcher.match(content)]
    return sorted(found)


def _run(
    spark: SparkSession, publications: Publications, given: Mapping[str, Any] = MappingProxyType({})
) -> Run:
    rows = [{"id": name, "xpath": xpath} for name, xpath in XPATHS.items()]
    return Pipeline(spark, subscriptions=rows, **given).disseminate(publications)


def test_a_dump_is_read_by_many_tasks(
    spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(record_ranges, "RANGE_BYTES_MIN", 10_000)
    monkeypatch.setattr(chunks, "CHUNK_BYTES_MIN", 10_000)
    path = _dump(tmp_path / "dump.xml")
    run = _run(spark, Publications(path, record="rec"))
    assert run.documents == 3_000
    assert run.dead_letters == 0
    assert run.partitions > 4
    assert _rows(run.out, "deliveries", "document", "subscription") == _expected(path, "rec")


def test_all_plans_deliver_the_same_records(
    spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(record_ranges, "RANGE_BYTES_MIN", 10_000)
    path = _dump(tmp_path / "dump.xml", 300)
    (tmp_path / "packed.xml.gz").write_bytes(gzip.compress(path.read_bytes()))
    expected = sorted(_expected(path, "*:rec") + _expected(tmp_path / "packed.xml.gz", "*:rec"))
    for given in PLANS:
        run = _run(spark, Publications([path, tmp_path / "packed.xml.gz"], record="*:rec"), given)
        assert run.dead_letters == 0
        assert _rows(run.out, "deliveries", "document", "subscription") == expected


def test_damage_is_one_dead_letter_with_its_place(
    spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(record_ranges, "RANGE_BYTES_MIN", 10_000)
    path = _dump(tmp_path / "dump.xml", 300)
    content = path.read_bytes()
    place = content.index(b"<rec><no>150<")
    path.write_bytes(content[:place] + b"</oops>" + content[place:])
    run = _run(spark, Publications(path, record="rec"))
    assert run.documents == 151
    ((name, stage, reason),) = _rows(run.out, "dead_letters", "document", "stage", "reason")
    assert (name, stage) == (f"{path}#151@{place}", "read")
    assert f"the dump is damaged at byte {place:,}" in reason


def test_entries_that_cannot_be_cut_stay_as_they_are(
    spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(record_ranges, "RANGE_BYTES_MIN", 1_000)
    path = _dump(tmp_path / "dump.xml", 100)
    (tmp_path / "small.xml").write_bytes(b"<rec/>")
    (tmp_path / "packed.xml.gz").write_bytes(gzip.compress(path.read_bytes()))
    entries = list(list_documents(tmp_path))
    selector = RecordSelector.parse("rec")
    shared = with_ranges(spark, entries, selector, cores=1)
    names = [Path(entry.name).name for entry in shared]
    assert names == [*["dump.xml"] * (len(names) - 2), "packed.xml.gz", "small.xml"]
    assert len(names) > 5
    assert [entry.part is None for entry in shared[-2:]] == [True, True]

    def gone(*_: object) -> None:
        raise OSError

    monkeypatch.setattr(record_ranges, "record_ranges", gone)
    assert with_ranges(spark, entries, selector, cores=1) == entries


def test_the_limits_of_documents_can_be_raised(spark: SparkSession, tmp_path: Path) -> None:
    large = b"<a>" + b"x" * 10_000_000 + b"</a>"
    (tmp_path / "a.xml").write_bytes(large)
    limits = PublicationLimits(document_bytes_max=20_000_000)
    frame = spark.createDataFrame([("a", bytearray(large))], "document string, content binary")
    reasons = set()
    for source in (tmp_path, frame):
        for given in PLANS:
            run = _run(spark, Publications(source), given)
            ((reason,),) = _rows(run.out, "dead_letters", "reason")
            reasons.add(reason)
            run = _run(spark, Publications(source, limits=limits), given)
            assert (run.dead_letters, run.deliveries) == (0, 1)
    assert reasons == {
        "too many bytes: 10,000,007 where at most 10,000,000 are allowed (bytes_max)"
    }


def test_other_limits_hold_where_they_are_given(spark: SparkSession, tmp_path: Path) -> None:
    (tmp_path / "a.xml").write_bytes(b"<a><b/><c/></a>")
    limits = DocumentLimits(elements_max=2)
    for given in PLANS:
        run = _run(spark, Publications(tmp_path, document_limits=limits), given)
        ((reason,),) = _rows(run.out, "dead_letters", "reason")
        assert "too many elements: 3 where at most 2 are allowed" in reason


def test_records_are_those_of_files(spark: SparkSession) -> None:
    frame = spark.createDataFrame([("<a/>",)], "content string")
    for source, given in ((frame, {}), ("a.parquet", {}), ("a", {"format": "binaryFile"})):
        with pytest.raises(UsageError, match="record is for files"):
            Publications(source, record="rec", **given)  # type: ignore[arg-type]
    with pytest.raises(UsageError, match="a record is "):
        Publications("a.xml", record="rec[1]")


def test_a_stream_takes_records_and_limits(spark: SparkSession, tmp_path: Path) -> None:
    feed = tmp_path / "feed"
    feed.mkdir()
    path = _dump(feed / "dump.xml", 50)
    limits = PublicationLimits(document_bytes_max=300)
    publications = Publications(feed, record="rec", limits=limits)
    rows = [{"id": name, "xpath": xpath} for name, xpath in XPATHS.items()]
    stream = Pipeline(spark, subscriptions=rows).stream(
        publications, tmp_path / "out", checkpoint=tmp_path / "checkpoint"
    )
    stream.wait()
    expected = dict(read_documents(path, record="rec", limits=limits))
    refused = {name for name, content in expected.items() if isinstance(content, DocumentError)}
    found = _rows(str(tmp_path / "out"), "dead_letters", "document")
    assert {name for (name,) in found} == refused
    assert len(expected) == 50


def test_a_streaming_table_is_held_to_its_limits(spark: SparkSession, tmp_path: Path) -> None:
    frame = spark.createDataFrame(
        [("a", "<a>" + "x" * 500 + "</a>")], "document string, content string"
    )
    frame.write.parquet(str(tmp_path / "table.parquet"))
    publications = Publications(
        tmp_path / "table.parquet", limits=PublicationLimits(document_bytes_max=300)
    )
    stream = Pipeline(spark, subscriptions=["//a"]).stream(
        publications, tmp_path / "out", checkpoint=tmp_path / "checkpoint"
    )
    stream.wait()
    ((reason,),) = _rows(str(tmp_path / "out"), "dead_letters", "reason")
    assert reason == "too many bytes: 507 where at most 300 are allowed (bytes_max)"
