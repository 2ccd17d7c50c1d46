"""A batch is matched with the subscriptions on its record, however often it is begun."""

from __future__ import annotations

import json
from datetime import date
from decimal import Decimal
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from twigcast.errors import TwigcastError, UsageError
from twigcast.files import Rejected, Subscription, SubscriptionFile
from twigcast.spark.storage.batches import local_store
from twigcast.spark.storage.sealed import sealed
from twigcast.spark.stream import versions as stream_versions
from twigcast.spark.stream.versions import (
    BatchSubscriptions,
    Changes,
    VersionRecord,
    Versions,
    feed_of,
    forget_paths,
    kept_paths,
)

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from twigcast.spark.storage.batches import Store

FIRST = SubscriptionFile((Subscription("a", "//a"),), (Rejected(None, 2, "?", "no id"),))


class Place:
    """An output folder and a feed, and what a process makes of them that is started anew."""

    def __init__(self, folder: Path) -> None:
        self.out, self.feed = folder / "out", folder / "feed"
        self.feed.mkdir()

    def change(self, name: str, *rows: dict[str, object]) -> None:
        (self.feed / name).write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")

    def versions(self, changes: Changes | None = None, first: SubscriptionFile = FIRST) -> Versions:
        store = local_store(str(self.out))
        return Versions(store, first, feed_of(changes or self.feed, store), brokers=["north"])


@pytest.fixture
def place(tmp_path: Path) -> Place:
    return Place(tmp_path)


def _add(version: int, name: str, **more: object) -> dict[str, object]:
    return {"op": "add", "version": version, "id": name, "xpath": f"//{name}", **more}


def _ids(choice: BatchSubscriptions) -> list[str]:
    return [str(item.id) for item in choice.subscriptions.subscriptions]


def _settled(versions: Versions, batch: int) -> BatchSubscriptions:
    choice = versions.choose(batch)
    return versions.settle(choice, "v" + "".join(_ids(choice)))


def test_changes_count_from_the_first_batch_that_finds_them(place: Place) -> None:
    versions = place.versions()
    assert _ids(_settled(versions, 0)) == ["a"]
    place.change("1.jsonl", _add(1, "b"))
    assert _ids(_settled(versions, 1)) == ["a", "b"]
    assert _ids(_settled(versions, 2)) == ["a", "b"]
    place.change("2.jsonl", {"op": "remove", "version": 2, "id": "a"}, _add(2, "c"))
    last = _settled(versions, 3)
    assert _ids(last) == ["b", "c"]
    assert (last.record.version, last.record.before) == (2, 1)
    assert [versions.recorded(batch) is not None for batch in range(5)] == [True] * 4 + [False]


def test_only_the_first_batch_of_a_version_tells_what_was_set_aside(place: Place) -> None:
    versions = place.versions()
    first = _settled(versions, 0)
    assert (first.is_first, first.subscriptions.rejected) == (True, FIRST.rejected)
    place.change("1.jsonl", _add(1, "b", broker="nowhere"))
    second, third = _settled(versions, 1), _settled(versions, 2)
    (told,) = second.subscriptions.rejected
    assert "'nowhere'" in told.reason
    assert (second.is_first, third.is_first) == (True, False)
    assert third.subscriptions.rejected == ()


def test_a_stream_started_again_with_other_subscriptions_tells_what_it_sets_aside(
    place: Place,
) -> None:
    _settled(place.versions(), 0)
    place.change("1.jsonl", _add(1, "b", broker="nowhere"))
    edited = SubscriptionFile(
        (Subscription("other", "//o"),), (Rejected("bad", 3, "//[", "expected"),)
    )
    versions = place.versions(first=edited)
    second, third = _settled(versions, 1), _settled(versions, 2)
    assert (second.is_first, second.has_other_first) == (True, True)
    assert [item.id for item in second.subscriptions.rejected] == ["bad", "b"]
    assert (third.is_first, third.subscriptions.rejected) == (False, ())
    same = _settled(place.versions(first=edited), 3)
    assert (same.is_first, same.has_other_first) == (False, False)
    assert same.subscriptions.rejected == ()


def test_what_is_compiled_to_something_else_is_a_version_of_its_own(place: Place) -> None:
    _settled(place.versions(), 0)
    versions = place.versions()
    other = versions.settle(versions.choose(1), "with another strategy")
    assert (other.is_first, other.has_other_first) == (True, False)
    again = place.versions()
    assert again.settle(again.choose(1), "with another strategy").is_first
    assert not versions.settle(versions.choose(2), "with another strategy").is_first


def test_paths_of_a_batch_are_on_record_until_it_is_finished(tmp_path: Path) -> None:
    store = local_store(str(tmp_path))
    odd = "/a/\udce9.xml"
    assert kept_paths(store, 3, ["/a/1.xml", odd]) == ["/a/1.xml", odd]
    assert kept_paths(store, 3, ["/a/1.xml"]) == ["/a/1.xml", odd]
    assert kept_paths(store, 4, []) == []
    assert len(store.names("_versions")) == 1
    forget_paths(store, 3)
    forget_paths(store, 3)
    assert kept_paths(store, 3, []) == []


@pytest.mark.parametrize("anew", [True, False])
def test_a_repeated_batch_has_the_subscriptions_on_record(place: Place, anew: bool) -> None:  # noqa: FBT001
    versions = place.versions()
    _settled(versions, 0)
    place.change("1.jsonl", _add(1, "b"), {"op": "remove", "version": 1, "id": "x"})
    begun = _settled(versions, 1)
    place.change("2.jsonl", _add(2, "c"))
    versions = place.versions() if anew else versions
    again = _settled(versions, 1)
    assert _ids(again) == _ids(begun) == ["a", "b"]
    assert again.subscriptions == begun.subscriptions
    assert (again.is_recorded, again.is_first) == (True, True)
    assert _ids(_settled(versions, 2)) == ["a", "b", "c"]


def test_what_was_not_on_record_is_chosen_anew(place: Place) -> None:
    versions = place.versions()
    place.change("1.jsonl", _add(1, "b"))
    versions.choose(0)
    place.change("2.jsonl", _add(2, "c"))
    again = place.versions().choose(0)
    assert _ids(again) == ["a", "b", "c"]
    assert not again.is_recorded


def test_a_stream_that_is_started_anew_reads_only_records_that_took_up_something(
    place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    versions = place.versions()
    for batch in range(30):
        if batch % 10 == 5:
            place.change(f"{batch}.jsonl", _add(batch, f"n{batch}"))
        _settled(versions, batch)
    read: list[int] = []
    plain = stream_versions._recorded

    def noting(store: Store, batch: int) -> VersionRecord | None:
        read.append(batch)
        return plain(store, batch)

    monkeypatch.setattr(stream_versions, "_recorded", noting)
    choice = place.versions().choose(30)
    assert _ids(choice) == ["a", "n5", "n15", "n25"]
    assert read == [29, 25, 15, 5, 30]


def test_batches_that_were_finished_elsewhere_count(place: Place) -> None:
    ahead, behind = place.versions(), place.versions()
    _settled(behind, 0)
    place.change("1.jsonl", _add(1, "b"))
    _settled(ahead, 1)
    assert _ids(_settled(behind, 2)) == ["a", "b"]


def test_a_file_that_has_changed_or_is_gone_is_an_error(place: Place) -> None:
    place.change("1.jsonl", _add(1, "b"))
    _settled(place.versions(), 0)
    place.change("1.jsonl", _add(1, "c"))
    with pytest.raises(TwigcastError, match=r"1\.jsonl of the change feed is not what it was"):
        place.versions().choose(1)
    (place.feed / "1.jsonl").unlink()
    with pytest.raises(UsageError, match=r"cannot read .*1\.jsonl of the change feed"):
        place.versions().choose(1)


def test_a_feed_that_was_taken_up_must_be_named_again(place: Place) -> None:
    place.change("1.jsonl", _add(1, "b"))
    _settled(place.versions(), 0)
    store = local_store(str(place.out))
    with pytest.raises(UsageError, match="name the feed again"):
        Versions(store, FIRST, None).choose(1)


def test_a_batch_that_was_begun_with_other_subscriptions_is_an_error(place: Place) -> None:
    _settled(place.versions(), 0)
    choice = place.versions().choose(0)
    begun = "begun with other subscriptions, or in another network"
    with pytest.raises(UsageError, match=begun) as told:
        place.versions().settle(choice, "another")
    assert f"{place.out}/_versions/batch=0.json" in str(told.value)
    (place.out / "_versions" / "batch=0.json").unlink()
    versions = place.versions()
    assert versions.settle(versions.choose(0), "another").record.matcher_version == "another"


@pytest.mark.spark
@pytest.mark.xdist_group("spark")
def test_a_feed_that_is_not_there_is_one_sentence(tmp_path: Path, spark: SparkSession) -> None:
    store = local_store(str(tmp_path))
    with pytest.raises(UsageError, match=r"cannot read the change feed in bogus://\S+: .*bog"):
        feed_of("bogus://host/feed", store, spark)
    with pytest.raises(UsageError, match="cannot read the change feed"):
        feed_of(tmp_path / "nowhere", store)


@pytest.mark.spark
@pytest.mark.xdist_group("spark")
def test_a_table_is_a_feed_as_well(place: Place, spark: SparkSession) -> None:
    rows: list[tuple[object, ...]] = [("add", 1, "b", "//b"), ("remove", 2, "a", None)]

    def table() -> object:
        return spark.createDataFrame(rows, "op string, version long, id string, xpath string")

    versions = place.versions(table)  # type: ignore[arg-type]
    assert _ids(_settled(versions, 0)) == ["b"]
    # Removals come first at one version, and what comes at a version that counts is not seen.
    rows += [("add", 3, "b", "//new"), ("remove", 3, "b", None), ("add", 2, "late", "//l")]
    changed = _settled(versions, 1)
    assert [item.xpath for item in changed.subscriptions.subscriptions] == ["//new"]
    rows.clear()
    again = _settled(place.versions(table), 2)  # type: ignore[arg-type]
    assert again.subscriptions.subscriptions == changed.subscriptions.subscriptions
    assert not again.is_first


@pytest.mark.spark
@pytest.mark.xdist_group("spark")
def test_a_table_with_two_columns_of_one_name_is_no_feed(place: Place, spark: SparkSession) -> None:
    change = spark.sql("SELECT 'add' op, 1 version, 'n' id, '/a' xpath, '/b' xpath")
    with pytest.raises(UsageError, match="several columns 'xpath'"):
        place.versions(changes=change).choose(0)


@pytest.mark.spark
@pytest.mark.xdist_group("spark")
def test_rows_of_a_table_that_are_no_changes_are_set_aside_once(
    place: Place, spark: SparkSession
) -> None:
    rows = [
        ("add", "1", "b", "//b"),
        ("add", "2", "bad", "//["),
        ("put", "3", "neither", "//n"),
        ("add", "two", "word", "//w"),
        ("add", None, "nothing", "//n"),
        ("add", "-4", "below", "//n"),
    ]

    def table() -> object:
        return spark.createDataFrame(rows, "op string, version string, id string, xpath string")

    versions = place.versions(table)  # type: ignore[arg-type]
    first = _settled(versions, 0)
    assert (_ids(first), first.record.version) == (["a", "b"], 1)
    aside = {str(item.id): item.reason for item in first.subscriptions.rejected[1:]}
    assert set(aside) == {"bad", "neither", "word", "nothing", "below"}
    assert aside["word"] == "batch=0.jsonl: 'two' is no version: a version is a whole number"
    for again in (versions, place.versions(table)):  # type: ignore[arg-type]
        second = _settled(again, 1)
        assert (second.is_first, second.subscriptions.rejected) == (False, ())
    rows += [("add", "three", "another", "//x"), ("add", "4", "c", "//c")]
    third = _settled(versions, 2)
    assert _ids(third) == ["a", "b", "c"]
    assert [item.id for item in third.subscriptions.rejected] == ["another"]


RECORD = {
    "batch": 0,
    "version": 0,
    "files": {},
    "before": None,
    "matcher_version": "",
    "first": "",
}


def _on_record(place: Place, batch: int, content: bytes) -> Path:
    path = place.out / "_versions" / f"batch={batch}.json"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content)
    return path


@pytest.mark.parametrize(
    "content",
    [
        b"",
        json.dumps(RECORD).encode()[:30],
        b"[]",
        b"{}",
        b"\xff\xfe",
        json.dumps(RECORD).encode(),
        json.dumps({**RECORD, "x": 1}).encode(),
        json.dumps({**RECORD, "files": None}).encode(),
        json.dumps({**RECORD, "before": "../x"}).encode(),
        json.dumps({**RECORD, "before": 0}).encode(),
        sealed("version record", {**RECORD, "files": None}),
        sealed("version record", {**RECORD, "before": "../x"}),
        sealed("version record", {**RECORD, "batch": 1}),
        sealed("version record", {}),
        sealed("manifest", RECORD),
    ],
)
def test_a_record_that_is_damaged_is_refused_by_its_name(place: Place, content: bytes) -> None:
    _on_record(place, 0, content)
    for batch in (0, 1):
        with pytest.raises(UsageError, match=r"cannot use .*_versions/batch=0\.json: .*put back"):
            place.versions().choose(batch)


@pytest.mark.parametrize(
    "leads",
    [
        {2: 2},  # to itself
        {2: 5},  # ahead
        {2: -1},
        {1: 2, 2: 1},  # in circles
        {0: 0, 1: 0, 2: 1},
    ],
)
def test_a_record_that_does_not_lead_back_is_refused(place: Place, leads: dict[int, int]) -> None:
    for batch, before in leads.items():
        content = sealed("version record", {**RECORD, "batch": batch, "before": before})
        _on_record(place, batch, content)
    with pytest.raises(UsageError, match="which does not come before it"):
        place.versions().choose(3)


def test_a_record_that_leads_to_none_is_refused(place: Place) -> None:
    _on_record(place, 2, sealed("version record", {**RECORD, "batch": 2, "before": 1}))
    with pytest.raises(UsageError, match=r"_versions/batch=1\.json is gone"):
        place.versions().choose(3)


@pytest.mark.parametrize("name", ["../secret.jsonl", "/etc/passwd", "", ".."])
def test_a_record_that_names_a_file_outside_the_feed_is_refused(place: Place, name: str) -> None:
    _on_record(place, 0, sealed("version record", {**RECORD, "files": {name: "5e"}}))
    with pytest.raises(UsageError, match="no file of a change feed"):
        place.versions().choose(0)


def test_every_bit_of_a_record_counts(place: Place) -> None:
    place.change("1.jsonl", _add(1, "b"))
    _settled(place.versions(), 0)
    path = place.out / "_versions" / "batch=0.json"
    content = path.read_bytes()
    for number in range(len(content)):
        for changed in (
            content[:number],
            content[:number] + bytes([content[number] ^ 4]) + content[number + 1 :],
        ):
            path.write_bytes(changed)
            try:
                assert _ids(place.versions().choose(1)) == ["a", "b"], (number, changed)
            except UsageError as error:
                assert "_versions/batch=0.json" in str(error)  # noqa: PT017


@pytest.mark.parametrize("content", [b"", b"[]", b'["/etc/passwd"]', b"7", b"{}", b"\xff"])
def test_paths_on_record_that_are_damaged_are_refused(tmp_path: Path, content: bytes) -> None:
    store = local_store(str(tmp_path))
    store.write("_versions/batch=3.paths.json", content)
    with pytest.raises(UsageError, match=r"cannot use .*batch=3\.paths\.json: .*delete it"):
        kept_paths(store, 3, ["a.xml"])


def test_paths_of_another_batch_are_refused(tmp_path: Path) -> None:
    store = local_store(str(tmp_path))
    kept_paths(store, 3, ["a.xml"])
    (tmp_path / "_versions/batch=3.paths.json").rename(tmp_path / "_versions/batch=4.paths.json")
    with pytest.raises(UsageError, match="it is that of batch 3"):
        kept_paths(store, 4, ["b.xml"])


def test_a_copy_of_a_table_that_is_gone_is_an_error(place: Place, spark: SparkSession) -> None:
    table = spark.createDataFrame([_add(1, "b")])
    _settled(place.versions(table), 0)
    (place.out / "_changes" / "batch=0.jsonl").unlink()
    with pytest.raises(UsageError, match=r"cannot read .*_changes/batch=0\.jsonl"):
        place.versions(table).choose(1)


@pytest.mark.spark
@pytest.mark.xdist_group("spark")
def test_a_version_of_a_table_that_is_no_whole_number_is_set_aside_once(
    place: Place, spark: SparkSession
) -> None:
    schema = "op string, version {}, id string, xpath string"

    def table(kind: str, *rows: tuple[object, ...]) -> Changes:
        return spark.createDataFrame(rows, schema.format(kind))

    _settled(place.versions(table("int", ("add", 3, "b", "//b"))), 0)
    for batch, (kind, given) in enumerate(
        {
            "double": 3.7,
            "decimal(5,1)": Decimal("2.5"),
            "binary": b"3",
            "date": date(2020, 1, 1),
            "array<int>": [1],
            "string": "1.5",
        }.items()
    ):
        changes = table(kind, ("add", given, "c", "//c"))
        told = _settled(place.versions(changes), 2 * batch + 1)
        (aside,) = told.subscriptions.rejected
        assert "is no version: a version is a whole number" in aside.reason, kind
        again = _settled(place.versions(changes), 2 * batch + 2)
        assert (again.is_first, again.subscriptions.rejected) == (False, ()), kind
    for kind, seen in {"string": " 3\u00a0", "decimal(5,0)": Decimal(3), "long": 2}.items():
        versions = place.versions(table(kind, ("add", seen, "c", "//c")))
        assert not _settled(versions, 13).is_first, kind


@pytest.mark.spark
@pytest.mark.xdist_group("spark")
def test_rows_of_a_table_that_are_too_long_are_set_aside_once(
    place: Place, spark: SparkSession
) -> None:
    schema = "xpath string, op string, version int, id string"
    long = f"//a[. = '{'y' * 300_000}']"
    rows = [(long, "add", 3, "b"), (long, "add", 3, "c")]
    for batch in range(4):
        choice = _settled(place.versions(spark.createDataFrame(rows, schema)), batch)
        told = [item for item in choice.subscriptions.rejected if item not in FIRST.rejected]
        assert len(told) == {0: 2, 2: 1}.get(batch, 0), batch
        if batch == 1:
            rows.append((long, "add", 3, "d"))
    assert sorted(path.name for path in (place.out / "_changes").iterdir()) == [
        "batch=0.jsonl",
        "batch=2.jsonl",
    ]


@pytest.mark.spark
@pytest.mark.xdist_group("spark")
def test_values_of_a_table_that_json_has_not_are_set_aside(
    place: Place, spark: SparkSession
) -> None:
    schema = (
        "op string, version int, id string, xpath string, subscriber binary, "
        "namespaces map<date,string>"
    )
    rows = [
        ("add", 1, "bytes", "//b", b"ann", None),
        ("add", 1, "dates", "//b", None, {date(2020, 1, 1): "urn:u"}),
        ("add", 1, "fine", "//b", None, None),
    ]
    choice = _settled(place.versions(spark.createDataFrame(rows, schema)), 0)
    assert _ids(choice) == ["a", "fine"]
    told = {str(item.id): item.reason for item in choice.subscriptions.rejected[1:]}
    assert "the subscriber is" in told["bytes"]
    assert "is no prefix" in told["dates"]
