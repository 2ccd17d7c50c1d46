"""A stream: the rows of a run, batch by batch, each once, whatever happens in between."""

from __future__ import annotations

import json
import shutil
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.parquet
import pytest

from tests.spark.streams import (
    SUBSCRIPTIONS,
    TOPOLOGY,
    Place,
    Rows,
    made,
    pairs,
    plain,
    rows_of,
)
from twigcast.errors import TwigcastError, UsageError
from twigcast.files import PublicationLimits, Subscription, SubscriptionFile
from twigcast.spark import Pipeline, Publications, read_table
from twigcast.spark.plans.design import design_of
from twigcast.spark.plans.distribution import shared_folder
from twigcast.spark.plans.prepare import prepare
from twigcast.spark.plans.writers import ByWorkers
from twigcast.spark.storage.batches import BatchOutput, local_store
from twigcast.spark.storage.kafka import CONNECTOR, KafkaTopic
from twigcast.spark.storage.manifests import whole_batches
from twigcast.spark.storage.tables import TABLES
from twigcast.spark.stream.stream import Stream
from twigcast.spark.stream.versions import Versions

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = [pytest.mark.spark, pytest.mark.xdist_group("spark")]

FEW = {"maxFilesPerTrigger": "7"}


def crossings(rows: Rows) -> dict[tuple[str, str], Counter[str]]:
    """The traffic of all batches together."""
    found: dict[tuple[str, str], Counter[str]] = {}
    for row in rows:
        counted = {name: row[name] for name in ("documents", "bytes", "needless", "needless_bytes")}
        found.setdefault((row["broker"], row["neighbour"]), Counter()).update(counted)
    return found


@pytest.fixture
def place(tmp_path: Path, spark: SparkSession) -> Place:
    return Place(tmp_path, spark)


def test_a_stream_gives_the_rows_of_a_run(place: Place, tmp_path: Path) -> None:
    place.publish("x", *range(20))
    (place.documents / "broken.xml").write_text("<a>", encoding="utf-8")
    (place.documents / "below").mkdir()
    (place.documents / "below" / "Other.XML").write_text("<a><b>7</b></a>", encoding="utf-8")
    (place.documents / "notes.txt").write_text("no document", encoding="utf-8")
    place.run(Publications(place.documents, options=FEW))
    run = place.pipeline.disseminate(place.documents, tmp_path / "run")
    assert whole_batches(local_store(str(place.out))) == [0, 1, 2, 3]
    for table in ("deliveries", "dead_letters", "rejected", "routes"):
        assert plain(place.table(table)) == plain(rows_of(tmp_path / "run", table)), table
    traffic = crossings(place.table("traffic"))
    assert traffic == crossings(rows_of(tmp_path / "run", "traffic"))
    assert run.documents == 22 == sum(row["documents"] for row in place.table("metrics"))
    assert len(place.table("metrics")) == 4
    assert not (place.out / "_staging").exists() or not any((place.out / "_staging").iterdir())


@pytest.mark.parametrize("how", [{"plan": "hops"}, {"shards": 3}], ids=str)
def test_a_stream_of_another_plan_gives_the_same_rows(
    place: Place, spark: SparkSession, how: dict[str, Any]
) -> None:
    place.publish("x", *range(10))
    place.run(Publications(place.documents, options=FEW))
    other = Place(made(place.out / "_other"), spark)
    other.pipeline = Pipeline(spark, TOPOLOGY, SUBSCRIPTIONS, "covering", **how)
    other.run(Publications(place.documents, options=FEW))
    assert plain(other.table("deliveries")) == plain(place.table("deliveries"))
    assert crossings(other.table("traffic")) == crossings(place.table("traffic"))
    assert whole_batches(local_store(str(other.out))) == [0, 1]


def test_a_stream_may_begin_without_a_subscription(place: Place, spark: SparkSession) -> None:
    place.pipeline = Pipeline(spark, TOPOLOGY, [], "covering")
    place.publish("x", 1)
    place.run()
    assert place.table("deliveries") == []
    manifest = json.loads((place.out / "_manifest" / "batch=0.json").read_text(encoding="utf-8"))
    assert manifest["version"] is None
    place.change("1.jsonl", {"op": "add", "version": 1, "id": "new", "xpath": "//b"})
    place.publish("y", 1)
    place.run()
    assert pairs(place.table("deliveries")) == [("y-01.xml", "new")]


def test_what_stood_before_is_not_parsed_again(spark: SparkSession) -> None:
    first = Subscription("a", "//a"), Subscription("bad", "//["), Subscription("b", "//b")
    second = (*first[1:], Subscription("c", "//c"))
    design = design_of(None)
    before = prepare(spark, SubscriptionFile(first), design)
    after = prepare(spark, SubscriptionFile(second), design, before=before)
    assert after.patterns[1] is before.patterns[2]
    assert [pattern and pattern.text for pattern in after.patterns] == [None, "//b", "//c"]
    assert [item.id for item in after.rejected] == ["bad"]
    anew = prepare(spark, SubscriptionFile(second), design)
    assert anew.version == after.version


def test_a_worker_loads_a_version_once_however_many_batches(
    place: Place, spark: SparkSession
) -> None:
    # A version of its own: of those of other tests, a worker may have loaded and forgotten some.
    place.pipeline = Pipeline(spark, TOPOLOGY, {"own": "//b[. = 'loaded once']", "any": "//b"})
    place.publish("x", *range(21))
    place.run(Publications(place.documents, options=FEW))
    assert {row["matcher_loads"] == row["workers"] for row in place.table("metrics")} == {True}


def test_rows_of_a_table_stream_and_bad_ones_are_dead_letters(
    place: Place, tmp_path: Path, spark: SparkSession
) -> None:
    table = pa.table(
        {
            "document": ["fine", "empty", "broken", "astray", "elsewhere"],
            "content": ["<a><b>7</b></a>", None, "<a><b>", "<a><b>7</b></a>", "<a><b>2</b></a>"],
            "origin": ["south", None, None, "atlantis", "pole"],
        }
    )
    (tmp_path / "table").mkdir()
    pyarrow.parquet.write_table(table, tmp_path / "table" / "part-0.parquet")
    place.run(tmp_path / "table")
    assert pairs(place.table("deliveries")) == [
        ("elsewhere", "any"),
        ("elsewhere", "small"),
        ("fine", "any"),
        ("fine", "seven"),
    ]
    letters = {row["document"]: row["stage"] for row in place.table("dead_letters")}
    assert letters == {"empty": "read", "broken": "parse", "astray": "route"}
    frame = spark.readStream.schema("document string, content string").parquet(
        (tmp_path / "table").as_uri()
    )
    other = Place(made(tmp_path / "other"), spark)
    other.run(frame)
    assert {row["document"] for row in other.table("deliveries")} == {"fine", "astray", "elsewhere"}
    few = Place(made(tmp_path / "few"), spark)
    few.run(Publications(frame, limits=PublicationLimits(document_bytes_max=10)))
    letters = {row["document"]: row["reason"] for row in few.table("dead_letters")}
    assert letters["fine"] == "too many bytes: 15 where at most 10 are allowed (bytes_max)"


def test_subscriptions_come_and_go_between_batches_and_across_restarts(place: Place) -> None:
    stream = place.start(trigger=0)
    place.publish("x", 1, 7)
    stream.catch_up()
    place.change(
        "1.jsonl",
        {"op": "remove", "version": 1, "id": "any"},
        {"op": "add", "version": 1, "id": "new", "xpath": "//b[. > 6]", "broker": "pole"},
        {"op": "add", "version": 1, "id": "small", "xpath": "//["},
        {"op": "add", "version": 1, "id": "stray", "xpath": "//b", "broker": "atlantis"},
        {"op": "remove", "version": 1, "id": "unknown"},
    )
    place.publish("y", 1, 7)
    stream.catch_up()
    assert stream.last_run is not None
    assert stream.last_run.batch == 1
    stream.stop()
    assert not stream.is_active
    place.publish("z", 1, 7)
    place.run()
    expected = {
        0: [("any", 1), ("any", 7), ("seven", 7), ("small", 1)],
        1: [("new", 7), ("seven", 7), ("small", 1)],
        2: [("new", 7), ("seven", 7), ("small", 1)],
    }
    found: dict[int, list[tuple[str, int]]] = {}
    for row in place.table("deliveries"):
        number = int(Path(row["document"]).stem[-2:])
        found.setdefault(row["batch"], []).append((row["subscription"], number))
    assert {batch: sorted(rows) for batch, rows in found.items()} == expected
    rejected = [(row["batch"], row["id"]) for row in place.table("rejected")]
    assert sorted(rejected) == [
        (0, "bad"),
        (0, "lost"),
        (1, "small"),
        (1, "stray"),
        (1, "unknown"),
    ]
    routes = {
        batch: [row for row in place.table("routes") if row["batch"] == batch] for batch in range(3)
    }
    assert routes[0]
    assert any("6" in row["pattern"] for row in routes[1])
    assert routes[2] == [], "nothing has changed"
    manifest = json.loads((place.out / "_manifest" / "batch=1.json").read_text(encoding="utf-8"))
    assert (manifest["version"], manifest["changes"]) == (1, ["1.jsonl"])


def test_tables_without_rows_are_files_in_the_first_batch_alone(place: Place) -> None:
    for number in range(3):
        place.publish("x", number)
        place.run()
    (place.documents / "broken.xml").write_text("<a>", encoding="utf-8")
    place.run()
    batches = {
        table: sorted(
            int(path.name.removeprefix("batch=")) for path in (place.out / table).iterdir()
        )
        for table in TABLES
    }
    assert batches == {
        "deliveries": [0, 1, 2],
        "traffic": [0, 1, 2],
        "dead_letters": [0, 3],
        "rejected": [0],
        "routes": [0],
        "metrics": [0, 1, 2, 3],
    }
    counted = {name: read_table(place.pipeline.spark, place.out, name).count() for name in TABLES}
    assert counted == {name: len(place.table(name)) for name in TABLES}


def test_a_batch_that_is_in_the_manifests_is_not_done_again(place: Place) -> None:
    place.publish("x", 1, 7)
    place.run()
    before = place.table("metrics")
    place.forget_commit(0)
    place.run()
    assert place.table("metrics") == before


def test_a_repeated_batch_has_the_answer_of_its_record(place: Place) -> None:
    place.publish("x", 1, 7)
    place.run()
    before = plain(place.table("deliveries"))
    place.forget_commit(0)
    (place.out / "_manifest" / "batch=0.json").unlink()
    place.change("1.jsonl", {"op": "remove", "version": 1, "id": "any"})
    place.run()
    assert plain(place.table("deliveries")) == before
    place.publish("y", 1, 7)
    place.run()
    assert ("y-07.xml", "any") not in pairs(place.table("deliveries"))


def test_a_checkpoint_put_back_from_an_older_copy_is_refused(place: Place, tmp_path: Path) -> None:
    place.publish("x", 1, 7)
    place.run()
    shutil.copytree(place.checkpoint, tmp_path / "copy")
    place.publish("y", 1)
    place.run()
    shutil.rmtree(place.checkpoint)
    (tmp_path / "copy").rename(place.checkpoint)
    place.publish("z", 7)
    with pytest.raises(UsageError, match=r"batch 1 finished, of which the checkpoint .* older"):
        place.run()


def test_an_output_folder_put_back_from_an_older_copy_is_refused(
    place: Place, tmp_path: Path
) -> None:
    place.publish("x", 1, 7)
    place.run()
    shutil.copytree(place.out, tmp_path / "copy")
    place.publish("y", 1)
    place.run()
    shutil.rmtree(place.out)
    (tmp_path / "copy").rename(place.out)
    with pytest.raises(UsageError, match="has batch 1 done, and its manifest is not in"):
        place.run()


def test_a_manifest_that_was_deleted_is_told_and_the_batch_can_be_done_again(place: Place) -> None:
    place.publish("x", 1, 7)
    place.run()
    before = plain(place.table("deliveries"))
    (place.out / "_manifest" / "batch=0.json").unlink()
    with pytest.raises(UsageError, match=r"delete .*/commits/0 as well, and \.0\.crc"):
        place.run()
    place.forget_commit(0)
    place.run()
    assert plain(place.table("deliveries")) == before


FAILURES: dict[str, tuple[type, str, bool]] = {
    "before the record": (Versions, "settle", True),
    "behind the record": (Versions, "settle", False),
    "before matching": (ByWorkers, "match", True),
    "behind matching": (ByWorkers, "match", False),
    "before tables are in place": (BatchOutput, "finish", True),
    "behind the manifest": (BatchOutput, "finish", False),
}


@pytest.mark.parametrize("point", FAILURES)
def test_whatever_fails_on_the_way_the_next_start_makes_good(
    place: Place, monkeypatch: pytest.MonkeyPatch, point: str
) -> None:
    home, name, is_before = FAILURES[point]
    whole = getattr(home, name)

    def failing(*arguments: object) -> None:
        if not is_before:
            whole(*arguments)
        raise OSError(28, "No space left on device")

    place.publish("x", 1, 7)
    with monkeypatch.context() as patched:
        patched.setattr(home, name, failing)
        with pytest.raises(TwigcastError, match=r"stopped: .*No space left on device"):
            place.run()
    place.publish("y", 1)
    place.run()
    expected = [("any", 3), ("seven", 1), ("small", 2)]
    assert (
        sorted(Counter(row["subscription"] for row in place.table("deliveries")).items())
        == expected
    )
    assert sorted(path.name for path in place.documents.iterdir()) == [
        "x-01.xml",
        "x-07.xml",
        "y-01.xml",
    ]


def test_deliveries_are_sent_when_tables_are_in_place_and_before_the_manifest(
    place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    sent: list[tuple[int, int, bool]] = []

    def send(deliveries: Any, topic: KafkaTopic, *, batch: int) -> None:  # noqa: ANN401
        is_whole = (place.out / "_manifest" / f"batch={batch}.json").exists()
        sent.append((batch, deliveries.count(), is_whole))

    monkeypatch.setattr("twigcast.spark.stream.stream.send_deliveries", send)
    place.publish("x", 1, 7)
    place.run(deliveries_to=KafkaTopic("nowhere:9092", "out"))
    assert sent == [(0, 4, False)]


def _foreign(place: Place) -> Stream:
    place.publish("x", 1)
    place.run()
    return place.start(checkpoint=place.checkpoint.with_name("another"))


def _finished_run(place: Place) -> Stream:
    place.publish("x", 1)
    place.pipeline.disseminate(place.documents, place.out)
    return place.start()


MISTAKES: dict[str, tuple[Callable[[Place], object], str]] = {
    "no folder": (lambda place: place.start(place.documents / "x"), "there are no publications at"),
    "a file": (lambda place: place.start(__file__), "is no folder that could be watched"),
    "a trigger": (lambda place: place.start(trigger=-1), "a trigger of -1 s cannot be meant"),
    "no feed": (lambda place: place.start(changes="nowhere"), "cannot read the change feed"),
    "another checkpoint": (_foreign, "are not of one stream"),
    "a finished run": (_finished_run, "are not of one stream"),
    "partitions": (lambda place: place.start(partitions=0), "to 0 partitions"),
    "no schema": (
        lambda place: place.start(Publications(place.documents, format="json")),
        "say the schema if there is no file yet",
    ),
    "no Kafka": (
        lambda place: place.start(KafkaTopic("localhost:9", "x")),
        f"spark.jars.packages={CONNECTOR}",
    ),
    "no stream": (
        lambda place: place.start(
            place.pipeline.spark.createDataFrame([("<a/>",)], "content string")
        ),
        "does not stream: read it with spark.readStream",
    ),
}


@pytest.mark.parametrize("mistake", MISTAKES)
def test_what_makes_a_stream_impossible_is_one_sentence(place: Place, mistake: str) -> None:
    act, told = MISTAKES[mistake]
    with pytest.raises(UsageError) as refused:
        act(place)
    assert told in str(refused.value)
    assert "\n" not in str(refused.value)


def test_a_name_given_before_the_first_batch_is_kept(place: Place) -> None:
    place.run()
    name = (place.out / "_stream.json").read_text(encoding="utf-8")
    (place.out / "_stream.json").unlink()
    place.publish("x", 1)
    place.run()
    assert (place.out / "_stream.json").read_text(encoding="utf-8") == name
    assert set(TABLES) <= {path.name for path in place.out.iterdir()}


def test_a_stream_started_again_with_edited_subscriptions_tells_routes_and_rejected(
    place: Place, spark: SparkSession
) -> None:
    place.publish("x", 1)
    place.run()
    edited = [{"id": "any", "xpath": "//other", "broker": "pole"}, {"id": "worse", "xpath": "/a["}]
    place.pipeline = Pipeline(spark, TOPOLOGY, edited, "covering")
    place.change("1.jsonl", {"op": "remove", "version": 1, "id": "unknown"})
    place.publish("y", 1)
    place.run()
    told = [row["id"] for row in place.table("rejected") if row["batch"] == 1]
    assert sorted(told) == ["unknown", "worse"]
    routes = {row["pattern"] for row in place.table("routes") if row["batch"] == 1}
    assert routes == {"//other"}


def test_a_stream_started_again_with_another_strategy_tells_its_routes(
    place: Place, spark: SparkSession
) -> None:
    subscriptions = [
        {"id": "wide", "xpath": "//b", "broker": "pole"},
        {"id": "narrow", "xpath": "/a/b", "broker": "pole"},
    ]
    for batch, strategy in enumerate(("covering", "identity", "identity")):
        place.pipeline = Pipeline(spark, TOPOLOGY, subscriptions, strategy)
        place.publish("x", batch)
        place.run()
    told = Counter(row["batch"] for row in place.table("routes"))
    counted = {row["batch"]: row["routes"] for row in place.table("metrics")}
    assert told == {0: counted[0], 1: counted[1]}
    assert counted[0] < counted[1]


def test_files_of_a_repeated_batch_that_are_gone_are_dead_letters(place: Place) -> None:
    def broken() -> Any:  # noqa: ANN401
        raise OSError("the table of changes cannot be read now")

    place.publish("x", 1, 7)
    with pytest.raises(TwigcastError, match="cannot be read now"):
        place.run(changes=broken)
    (place.documents / "x-01.xml").unlink()
    place.run()
    (letter,) = place.table("dead_letters")
    assert letter["document"] == str(place.documents / "x-01.xml")
    assert letter["stage"] == "read"
    assert pairs(place.table("deliveries")) == [("x-07.xml", "any"), ("x-07.xml", "seven")]
    assert [path.name for path in (place.out / "_versions").iterdir()] == ["batch=0.json"]


@pytest.mark.parametrize("name", ["metadata", "offsets/0", "commits/0", "sources/0/0"])
def test_a_damaged_note_of_sparks_is_named_with_what_to_do(place: Place, name: str) -> None:
    place.publish("x", 1)
    place.run()
    note = place.checkpoint / name
    note.write_bytes(note.read_bytes()[:-3])
    (note.parent / f".{note.name}.crc").unlink()
    place.publish("y", 1)
    with pytest.raises(TwigcastError, match="put it back from a copy, or start a new") as told:
        place.run()
    assert str(note) in str(told.value)


def test_a_change_feed_that_gives_no_table_is_told(place: Place) -> None:
    place.publish("x", 1)
    with pytest.raises(UsageError, match="a function that gives None; let it return a DataFrame"):
        place.run(changes=lambda: None)


def test_files_of_subscriptions_that_no_longer_stand_are_removed(
    spark: SparkSession, tmp_path: Path
) -> None:
    place, folder = Place(tmp_path, spark), shared_folder()
    before = set(folder.iterdir())
    stream: Stream | None = None
    sizes = []
    for number in range(1, 5):
        place.publish(f"d{number}", number)
        place.change(
            f"{number}.jsonl",
            {"op": "add", "version": number, "id": number, "xpath": f"//b{number}"},
        )
        stream = stream or place.start(trigger=0)
        stream.catch_up()
        sizes.append(len(set(folder.iterdir()) - before))
    assert stream is not None
    stream.stop()
    assert len(whole_batches(local_store(str(place.out)))) == 4
    assert sizes == [sizes[0]] * 4, "what one version needs, whatever came before"


def test_a_run_that_takes_the_place_of_a_stream_leaves_nothing_of_it(
    spark: SparkSession, tmp_path: Path
) -> None:
    place = Place(tmp_path, spark)
    place.publish("d", 1, 2)
    place.run()
    place.pipeline.disseminate(place.documents, place.out, overwrite=True)
    assert {path.name for path in place.out.iterdir()} == {"_manifest", *TABLES}
    with pytest.raises(UsageError, match="not of one stream"):
        place.start()


@pytest.mark.parametrize("replaced", [False, True])
def test_an_output_folder_that_is_taken_away_stops_the_stream(
    place: Place, spark: SparkSession, *, replaced: bool
) -> None:
    place.publish("a", 1)
    stream = place.pipeline.stream(
        place.documents, place.out, checkpoint=place.checkpoint, trigger=0
    )
    try:
        stream.catch_up()
        shutil.rmtree(place.out)
        if replaced:
            place.pipeline.disseminate(place.documents, place.out)
        place.publish("b", 2)
        with pytest.raises(TwigcastError, match="is no longer that of this stream"):
            stream.catch_up()
    finally:
        stream.stop()
    assert whole_batches(local_store(str(place.out))) == ([0] if replaced else [])


def test_a_stream_started_again_without_a_broker_tells_who_was_there(
    place: Place, spark: SparkSession
) -> None:
    place.change(
        "1.jsonl",
        {"op": "add", "version": 1, "id": "cold", "xpath": "//b", "broker": "pole"},
        {"op": "add", "version": 1, "id": "warm", "xpath": "//b", "broker": "south"},
    )
    place.publish("x", 1)
    place.run()
    smaller = {"links": [["hub", "north"], ["hub", "south"]]}
    for name in ("y", "z"):
        place.pipeline = Pipeline(spark, smaller, SUBSCRIPTIONS, "covering")
        place.publish(name, 1)
        place.run()
    told: dict[int, set[str]] = {}
    for row in place.table("rejected"):
        told.setdefault(row["batch"], set()).add(row["id"])
    assert told == {0: {"bad", "lost"}, 1: {"bad", "lost", "small", "cold"}}
    served = {row["subscription"] for row in place.table("deliveries") if row["batch"] == 1}
    assert served == {"any", "warm"}


def test_a_file_that_goes_before_it_is_on_record_is_a_dead_letter(
    place: Place, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: object) -> None:
        raise OSError("no space left")

    beside = made(tmp_path / "beside")
    places = [place.documents, beside]
    for number in range(3):
        place.publish("x", number)
        place.run(places)
    place.publish("y", 1, 7)
    for name in ("gone ü%.xml", "notes.txt", "empty.xml"):
        (beside / name).write_text("" if name == "empty.xml" else "<a/>", encoding="utf-8")
    with monkeypatch.context() as patched:
        patched.setattr("twigcast.spark.stream.stream.kept_paths", full)
        with pytest.raises(TwigcastError, match="no space left"):
            place.run(places)
    for path in (place.documents / "y-01.xml", beside / "gone ü%.xml", beside / "notes.txt"):
        path.unlink()
    place.run(places)
    letters = {row["document"]: row["stage"] for row in place.table("dead_letters")}
    assert letters == {
        str(place.documents / "y-01.xml"): "read",
        str(beside / "gone ü%.xml"): "read",
    }
    last = [row for row in place.table("deliveries") if row["batch"] == 3]
    assert pairs(last) == [("y-07.xml", "any"), ("y-07.xml", "seven")]
