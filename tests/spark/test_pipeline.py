"""The whole job: the same deliveries however the work is shared out and the documents packed."""

from __future__ import annotations

import io
import json
import tarfile
import zipfile
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet
import pytest

from twigcast.errors import DocumentError, TwigcastError, UsageError
from twigcast.files import compile_subscriptions, list_documents, read_subscriptions
from twigcast.matching import Matcher
from twigcast.spark import Progress, Publications, Run, read_table, run_batch
from twigcast.spark.plans.distribution import documents_in_chunks, share_labels, share_matcher
from twigcast.spark.plans.fused import FusedPlan
from twigcast.spark.storage.sources import load_subscriptions
from twigcast.spark.storage.tables import TABLES
from twigcast.spark.worker.chunks import cut
from twigcast.spark.worker.labels import labels_of

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = [pytest.mark.spark, pytest.mark.xdist_group("spark")]

SUBSCRIPTIONS = """id,xpath,subscriber,broker,namespaces
cheap,//item[price < 10],ann,north,
urgent,/feed[@urgent],bob,,
spaced,//n:note,,,n=urn:notes
bad,//[,eve,,
counted,count(//item) > 2,ann,south,
never,//nothing,,,
late,"//item[contains(., 'é')]",bob,,
cheap,//again,,,
"""

Tables = dict[str, list[dict[str, object]]]


class Mixed(NamedTuple):
    """A run, its tables, its folders of documents and of tables, and what it told."""

    run: Run
    tables: Tables
    folder: Path
    out: Path
    told: list[Progress]


def _document(number: int) -> bytes:
    items = "".join(
        f"<item><price>{(number * 7 + item) % 23}</price></item>" for item in range(number % 4)
    )
    urgent = " urgent='yes'" if number % 5 == 0 else ""
    note = "<note xmlns='urn:notes'>é</note><item>é</item>" if number % 6 == 0 else ""
    text = f"<feed{urgent}>{items}{note}</feed>"
    if number % 7 == 0:
        return f'<?xml version="1.0" encoding="ISO-8859-1"?>{text}'.encode("latin-1")
    return text.encode("utf-16" if number % 11 == 0 else "utf-8")


GOOD = {f"{number:03}.xml": _document(number) for number in range(60)}
BROKEN = {
    "broken.xml": b"<feed>\n<item></feed>",
    "encoding.xml": b'<?xml version="1.0" encoding="klingon"?><feed/>',
    "empty.xml": b"",
}


@pytest.fixture(scope="module")
def work(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with subscriptions, and the same good documents packed in many ways."""
    folder = tmp_path_factory.mktemp("work")
    (folder / "subscriptions.csv").write_text(SUBSCRIPTIONS, encoding="utf-8")
    for name, content in GOOD.items():
        path = folder / "good" / f"part{int(name[:3]) % 3}" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
    with zipfile.ZipFile(folder / "good.zip", "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in GOOD.items():
            archive.writestr(f"in/{name}", content)
    with tarfile.open(folder / "good.tar.gz", "w:gz") as tar:
        for name, content in GOOD.items():
            header = tarfile.TarInfo(f"in/{name}")
            header.size = len(content)
            tar.addfile(header, io.BytesIO(content))
    _write_tables(folder)
    return folder


def _write_tables(folder: Path) -> None:
    table = pa.table({"document": list(GOOD), "content": list(GOOD.values())})
    pyarrow.parquet.write_table(table, folder / "good.parquet")
    texts = {name: _text(content) for name, content in GOOD.items()}
    lines = [json.dumps({"name": name, "xml": text}) for name, text in texts.items()]
    (folder / "good.jsonl").write_text("\n".join(lines), encoding="utf-8")
    table = pa.table({"document": list(texts), "content": [f"{text}\n" for text in texts.values()]})
    pyarrow.csv.write_csv(table, folder / "good.csv")


def _text(content: bytes) -> str:
    if content.startswith(b"\xff\xfe"):
        return content.decode("utf-16")
    return content.decode("latin-1" if b"8859" in content else "utf-8")


@pytest.fixture(scope="module")
def expected(work: Path) -> list[tuple[str, str]]:
    """Base name and subscription of every delivery, by the matcher in this process."""
    matcher = Matcher()
    ids: list[str] = []
    for item in read_subscriptions(work / "subscriptions.csv").subscriptions:
        if item.id != "bad":
            matcher.add(len(ids), item.xpath, item.namespaces)
            ids.append(str(item.id))
    pairs = [(name, ids[found]) for name in GOOD for found in matcher.match(GOOD[name])]
    assert len({who for _, who in pairs}) == 5, "each subscription but one is served"
    return sorted(pairs)


def _tables(out: Path) -> Tables:
    return {
        name: pyarrow.parquet.read_table(out / name / "batch=0", partitioning=None).to_pylist()
        for name in TABLES
    }


def _pairs(tables: Tables) -> list[tuple[str, str]]:
    """Base name and subscription of every delivery."""
    return sorted(
        (str(row["document"]).replace("!", "/").rsplit("/", 1)[-1], str(row["subscription"]))
        for row in tables["deliveries"]
    )


@pytest.fixture(scope="module")
def mixed(work: Path, spark: SparkSession) -> Mixed:
    """A run over a folder with good and bad documents."""
    folder = work / "mixed"
    folder.mkdir()
    for name, content in {**GOOD, **BROKEN}.items():
        (folder / name).write_bytes(content)
    (folder / "gone.xml").symlink_to("nowhere")
    costly = b"<feed>" + b"<deep>" * 60 + b"</deep>" * 60 + b"<x/>" * 9_000 + b"</feed>"
    (folder / "costly.xml").write_bytes(costly)
    subscriptions = work / "with-a-costly-one.csv"
    line = "costly,//x[count(preceding::*) = count(following::*)],ann,north,\n"
    subscriptions.write_text(SUBSCRIPTIONS + line, encoding="utf-8")
    out = work / "out-mixed"
    told: list[Progress] = []
    run = run_batch(subscriptions, folder, out, spark=spark, progress=told.append)
    return Mixed(run, _tables(out), folder, out, told)


@pytest.mark.parametrize("partitions", [1, 2, 8])
def test_deliveries_do_not_depend_on_partitions_and_equal_the_matcher(
    work: Path,
    spark: SparkSession,
    expected: list[tuple[str, str]],
    partitions: int,
) -> None:
    out = work / f"out-{partitions}"
    run = run_batch(
        work / "subscriptions.csv", work / "good", out, spark=spark, partitions=partitions
    )
    tables = _tables(out)
    assert _pairs(tables) == expected
    assert tables["dead_letters"] == []
    assert (run.partitions, run.documents, run.deliveries) == (partitions, 60, len(expected))


@pytest.mark.parametrize(
    "publications",
    [
        Publications("good.zip"),
        Publications("good.tar.gz"),
        Publications("good.parquet"),
        Publications("good.jsonl", content_column="xml", document_column="name"),
        Publications("good.csv"),
        Publications("good", format="binaryFile", options={"recursiveFileLookup": "true"}),
    ],
    ids=lambda publications: f"{publications.source}-{publications.format}",
)
def test_deliveries_do_not_depend_on_how_documents_are_packed(
    work: Path,
    spark: SparkSession,
    expected: list[tuple[str, str]],
    publications: Publications,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.chdir(work)
    out = work / f"out-{publications.source}-{publications.format}"
    run = run_batch("subscriptions.csv", publications, out, spark=spark, partitions=2)
    tables = _tables(out)
    assert _pairs(tables) == expected
    assert (run.documents, run.dead_letters) == (60, 0)


def test_a_dataframe_is_read_as_it_is_and_hashes_are_those_of_the_bytes(
    work: Path, spark: SparkSession, expected: list[tuple[str, str]]
) -> None:
    frame = spark.createDataFrame(
        [(name, bytearray(content)) for name, content in GOOD.items()],
        "document string, content binary",
    )
    run_batch(work / "subscriptions.csv", frame, work / "out-frame", spark=spark)
    tables = _tables(work / "out-frame")
    assert _pairs(tables) == expected
    for row in tables["deliveries"]:
        assert row["document_hash"] == sha256(GOOD[str(row["document"])]).hexdigest()


def test_deliveries_say_who_receives_what(mixed: Mixed, expected: list[tuple[str, str]]) -> None:
    tables, folder = mixed.tables, mixed.folder
    assert _pairs(tables) == expected
    by_subscription = {str(row["subscription"]): row for row in tables["deliveries"]}
    people = {name: (row["subscriber"], row["broker"]) for name, row in by_subscription.items()}
    assert people == {
        "cheap": ("ann", "north"),
        "urgent": ("bob", "north"),
        "spaced": (None, "north"),
        "counted": ("ann", "south"),
        "late": ("bob", "north"),
    }
    first = tables["deliveries"][0]
    name = Path(str(first["document"]))
    assert name.parent == folder
    assert first["document_hash"] == sha256(GOOD[name.name]).hexdigest()


def test_a_folder_is_never_read_with_a_task_for_each_file(mixed: Mixed) -> None:
    assert mixed.run.documents == 65
    assert mixed.run.partitions == 1, "a task costs more than all of them"


def test_what_could_not_be_decided_is_a_dead_letter(mixed: Mixed) -> None:
    tables, folder = mixed.tables, mixed.folder
    letters = {Path(str(row["document"])).name: row for row in tables["dead_letters"]}
    assert set(letters) == {*BROKEN, "gone.xml", "costly.xml"}
    stages = {name: (row["stage"], row["subscription"]) for name, row in letters.items()}
    assert stages == {
        "broken.xml": ("parse", None),
        "encoding.xml": ("parse", None),
        "empty.xml": ("parse", None),
        "gone.xml": ("read", None),
        "costly.xml": ("match", "costly"),
    }
    assert letters["broken.xml"]["line"] == 2
    with pytest.raises(DocumentError) as told:
        Matcher().match(BROKEN["broken.xml"])
    assert letters["broken.xml"]["reason"] == told.value.reason
    assert letters["gone.xml"]["reason"] == "it cannot be read: No such file or directory"
    assert "residual_cost_max" in str(letters["costly.xml"]["reason"])
    assert str(letters["gone.xml"]["document"]) == str(folder / "gone.xml")


def test_what_is_no_subscription_is_rejected(mixed: Mixed) -> None:
    assert sorted(mixed.tables["rejected"], key=lambda row: str(row["line"])) == [
        {
            "id": "bad",
            "line": 5,
            "xpath": "//[",
            "reason": "expected a name or '*' after '//'",
            "column": 3,
        },
        {
            "id": "cheap",
            "line": 9,
            "xpath": "//again",
            "reason": "the id 'cheap' is taken by line 2",
            "column": None,
        },
    ]


def test_metrics_and_manifest_agree_with_the_tables(mixed: Mixed) -> None:
    run, tables, folder = mixed.run, mixed.tables, mixed.folder
    (metrics,) = tables["metrics"]
    for name in ("deliveries", "dead_letters", "rejected"):
        assert metrics[name] == getattr(run, name) == len(tables[name])
    assert metrics["subscriptions"] == 7
    assert metrics["documents"] == run.documents == 65
    assert metrics["bytes"] == sum(
        path.stat().st_size for path in folder.iterdir() if path.exists()
    )
    assert metrics["run"] == run.run
    assert metrics["engine"] == run.engine == Matcher().statistics().engine
    assert all(float(str(metrics[f"seconds_{step}"])) >= 0 for step in run.seconds)
    assert not run.all_accepted
    manifest = json.loads((mixed.out / "_manifest/batch=0.json").read_text())
    assert manifest["run"] == run.run
    assert manifest["matcher_version"] == run.matcher_version
    assert manifest["rows"] == {name: len(rows) for name, rows in tables.items()}


def test_tables_have_their_schemas_comments_included(mixed: Mixed, spark: SparkSession) -> None:
    for name, schema in TABLES.items():
        assert spark.read.parquet(str(mixed.out / name / "batch=0")).schema == schema
        assert read_table(spark, mixed.out, name).drop("batch").schema == schema


def test_a_matcher_is_loaded_once_per_worker_and_version(work: Path, spark: SparkSession) -> None:
    chunks = cut(list(list_documents(work / "good")), 8)
    assert len(chunks) == 8
    seen: dict[str, set[str]] = {}
    for name in ("a", "a", "b"):
        file = load_subscriptions([f"//{name}", "//load"])
        matcher = Matcher()
        assert compile_subscriptions(file, matcher.add) == ()
        shared = share_matcher(spark, matcher)
        plan = FusedPlan(None, share_labels(spark, labels_of(file)), shared)
        documents = documents_in_chunks(spark, chunks, Publications(work / "good"))
        rows = plan.receipts(documents, None).where("table is null").collect()
        assert sum(row.documents for row in rows) == 60
        assert {row.loads for row in rows} == {1}
        seen.setdefault(shared.file.version, set()).update(row.worker for row in rows)
    assert len(seen) == 2
    assert all(len(workers) < 8 for workers in seen.values()), "eight tasks share few workers"


def test_progress_is_told_stage_by_stage(mixed: Mixed) -> None:
    assert list(dict.fromkeys(step.stage for step in mixed.told)) == [
        "subscriptions",
        "documents",
        "matching",
        "writing",
    ]
    last = {step.stage: step for step in mixed.told}
    assert (last["subscriptions"].done, last["documents"].done) == (8, 65)
    tasks = mixed.run.partitions
    assert last["matching"] == Progress("matching", tasks, tasks)
    assert all(step.total is None or step.done <= step.total for step in mixed.told)


def test_nothing_to_match_gives_empty_tables(work: Path, spark: SparkSession) -> None:
    (work / "nothing").mkdir()
    run = run_batch([], work / "nothing", work / "out-nothing", spark=spark)
    assert (run.documents, run.deliveries, run.subscriptions) == (0, 0, 0)
    assert run.all_accepted
    tables = _tables(work / "out-nothing")
    assert tables["deliveries"] == tables["dead_letters"] == tables["rejected"] == []


def test_a_run_that_fails_leaves_no_table_and_a_clear_error(
    work: Path, spark: SparkSession, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fails(*_: object) -> object:
        return spark.range(1).selectExpr("raise_error('the disk is full') AS document")

    monkeypatch.setattr(FusedPlan, "receipts", fails)
    out = work / "out-fails"
    with pytest.raises(TwigcastError, match=r"did not finish.*the disk is full") as caught:
        run_batch(["//item"], work / "good.zip", out, spark=spark)
    assert "\n" not in str(caught.value)
    assert [item.name for item in out.iterdir()] == ["_staging"]
    monkeypatch.undo()
    assert run_batch(["//item"], work / "good.zip", out, spark=spark).documents == 60
    assert {item.name for item in out.iterdir()} == {"_manifest", *TABLES}


@pytest.mark.parametrize(
    ("publications", "complaint"),
    [
        (Publications("good.parquet", content_column="xml"), "no column 'xml'.*document, con"),
        (Publications("good.parquet", document_column="name"), "no column 'name'"),
        (Publications("good.jsonl"), "no column 'content'.*the table has name, xml"),
        (Publications("good.parquet", format="nonsense"), "cannot read the publications as n"),
        (Publications("absent.parquet", format="parquet"), "Path does not exist"),
    ],
)
def test_a_table_that_cannot_be_read_is_the_callers_mistake(
    work: Path, spark: SparkSession, publications: Publications, complaint: str,
    monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    monkeypatch.chdir(work)
    with pytest.raises(UsageError, match=complaint):
        run_batch(["//a"], publications, work / "out-mistake", spark=spark, overwrite=True)


@pytest.mark.parametrize("name", ["o[1]", "b{x,y}", "q*?", "two words"])
def test_a_folder_may_be_called_anything(tmp_path: Path, spark: SparkSession, name: str) -> None:
    frame = spark.createDataFrame([("1", "<a/>")], "document string, content string")
    run = run_batch(["/a"], frame, tmp_path / name, spark=spark)
    assert run.table("deliveries").count() == 1


def test_a_table_that_was_never_written_cannot_be_read(tmp_path: Path, spark: SparkSession) -> None:
    with pytest.raises(UsageError, match="holds no finished run"):
        read_table(spark, tmp_path / "absent", "deliveries")
    assert not (tmp_path / "absent").exists()
    with pytest.raises(UsageError, match="no table 'nonsense'; there are deliveries, traffic"):
        read_table(spark, tmp_path, "nonsense")
