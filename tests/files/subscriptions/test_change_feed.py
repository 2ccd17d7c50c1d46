"""A change feed: what stands depends on its files alone, and what is no change is set aside."""

from __future__ import annotations

import json
from collections.abc import Sequence
from hashlib import sha256
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from twigcast.errors import UsageError
from twigcast.files import Rejected, Subscription, SubscriptionFile, SubscriptionLimits
from twigcast.files.subscriptions.change_feed import (
    NO_VERSION,
    ChangeFile,
    FeedRow,
    StandingSubscriptions,
    change_file,
    gather_changes,
    read_change_file,
    waiting_files,
)
from twigcast.files.subscriptions.row_formats import Row

FIRST = SubscriptionFile((Subscription("one", "//a"), Subscription(2, "//b", broker="north")))


def _add(version: int, name: int | str, xpath: str = "//x", **more: object) -> dict[str, object]:
    return {"op": "add", "version": version, "id": name, "xpath": xpath, **more}


def _remove(version: int, name: int | str) -> dict[str, object]:
    return {"op": "remove", "version": version, "id": name}


def _file(name: str, *rows: dict[str, object]) -> ChangeFile:
    numbered = (Row(line, json.dumps(row), row) for line, row in enumerate(rows, start=1))
    changes, rejected = gather_changes(numbered)
    return ChangeFile(name, "", tuple(changes), tuple(rejected))


def _texts(standing: StandingSubscriptions) -> dict[str, str]:
    return {str(item.id): item.xpath for item in standing.subscriptions}


def _reasons(rejected: Sequence[Rejected]) -> list[tuple[int, str]]:
    return [(item.line, item.reason) for item in rejected]


def test_before_the_first_change_the_first_ones_stand() -> None:
    standing = StandingSubscriptions(FIRST)
    assert standing.version == NO_VERSION
    assert standing.subscriptions is FIRST.subscriptions


def test_what_stands_is_the_same_tuple_until_it_changes() -> None:
    standing = StandingSubscriptions(FIRST)
    standing.take_up([_file("a.jsonl", _remove(1, "x"), _add(1, "bad", "//["))])
    assert standing.subscriptions is FIRST.subscriptions
    standing.take_up([_file("b.jsonl", _remove(2, "one"))])
    assert standing.subscriptions is standing.subscriptions
    assert len(standing.subscriptions) == 1


def test_adding_replacing_and_removing() -> None:
    standing = StandingSubscriptions(FIRST)
    rows = (_add(1, "new", "//n", subscriber="ann"), _add(1, "one", "//other"), _remove(3, "2"))
    assert standing.take_up([_file("a.jsonl", *rows)]) == ()
    assert _texts(standing) == {"one": "//other", "new": "//n"}
    assert standing.subscriptions[1].subscriber == "ann"
    assert standing.version == 3


def test_changes_count_in_the_order_of_version_file_and_line() -> None:
    standing = StandingSubscriptions(SubscriptionFile(()))
    late_in_file = _file("a.jsonl", _add(5, "x", "//last"), _add(2, "x", "//first"))
    between = _file("b.jsonl", _add(2, "x", "//second"), _remove(2, "x"), _add(3, "x", "//third"))
    assert standing.take_up([between, late_in_file]) == ()
    assert _texts(standing) == {"x": "//last"}


def test_what_comes_before_something_that_counts_is_late() -> None:
    standing = StandingSubscriptions(FIRST)
    standing.take_up([_file("b.jsonl", _add(4, "x"))])
    counted = "version 4 of b.jsonl, which counts already"
    aside = standing.take_up(
        [_file("a.jsonl", _add(4, "y"), _add(5, "z")), _file("c.jsonl", _remove(3, "x"))]
    )
    assert _reasons(aside) == [
        (1, "a.jsonl: late: version 4 of a.jsonl comes before " + counted),
        (1, "c.jsonl: late: version 3 of c.jsonl comes before " + counted),
    ]
    assert set(_texts(standing)) == {"one", "2", "x", "z"}
    assert standing.version == 5


def test_a_removal_in_vain_counts_for_what_is_late() -> None:
    standing = StandingSubscriptions(FIRST)
    assert _reasons(standing.take_up([_file("a.jsonl", _remove(9, "x"))])) == [
        (1, "a.jsonl: there is no 'x' to remove")
    ]
    (late,) = standing.take_up([_file("b.jsonl", _add(8, "x"))])
    assert "late" in late.reason
    assert "x" not in _texts(standing)


def test_a_bad_replacement_leaves_the_old_one_in_place() -> None:
    standing = StandingSubscriptions(FIRST, brokers=["north"])
    rows = (
        _add(1, "one", "//["),
        _add(2, 2, "//b", broker="nowhere"),
        _add(1, "fine", broker="north"),
    )
    bad, homeless = standing.take_up([_file("a.jsonl", *rows)])
    assert (bad.id, bad.line, bad.xpath, bad.column) == ("one", 1, "//[", 3)
    assert bad.reason == "a.jsonl: expected a name or '*' after '//'"
    assert homeless.reason == "a.jsonl: there is no broker 'nowhere' in the topology"
    assert _texts(standing) == {"one": "//a", "2": "//b", "fine": "//x"}
    assert standing.version == 1, "what is set aside is no version"


@pytest.mark.parametrize(
    ("row", "reason"),
    [
        ({"version": 1, "id": 1, "xpath": "/a"}, "there is no op"),
        ({"op": "put", "version": 1, "id": 1}, "'put' is neither add nor remove"),
        ({"op": ["add"], "version": 1, "id": 1}, "['add'] is neither add nor remove"),
        ({"op": "add", "id": 1, "xpath": "/a"}, "no version: a version is a whole number"),
        ({"op": "add", "version": 1.5, "id": 1, "xpath": "/a"}, "1.5 is no version"),
        ({"op": "add", "version": True, "id": 1, "xpath": "/a"}, "True is no version"),
        ({"op": "add", "version": -1, "id": 1, "xpath": "/a"}, "-1 is no version"),
        ({"op": "add", "version": 1 << 63, "id": 1, "xpath": "/a"}, "is no version"),
        ({"op": "add", "version": 1, "xpath": "/a"}, "no id"),
        ({"op": "add", "version": 1, "id": 1}, "no xpath"),
        ({"op": "remove", "version": 1}, "no id: a removal needs the id of a subscription"),
        ({"op": "remove", "version": 1, "id": [1]}, "no id"),
        ({"op": "remove", "version": 1, "id": True}, "no id"),
    ],
)
def test_a_row_that_is_no_change_is_set_aside(row: dict[str, object], reason: str) -> None:
    file = _file("a.jsonl", row, _add(1, "fine"))
    ((line, told),) = _reasons(file.rejected)
    assert line == 1
    assert reason in told
    assert [change.id for change in file.changes] == ["fine"]


def test_versions_of_rows_that_were_set_aside_were_seen() -> None:
    rows = (_add(1, "fine"), _add(2, "bad", "//["), {"op": "put", "version": "7"}, {"op": "add"})
    standing = StandingSubscriptions(FIRST)
    standing.take_up([change_file("a.jsonl", "\n".join(map(json.dumps, rows)).encode())])
    assert (standing.version, standing.highest) == (1, 7)
    assert standing.unversioned == {'{"op": "add"}'}
    standing.take_up([change_file("b.jsonl", json.dumps(_add(3, "new")).encode())])
    assert (standing.version, standing.highest) == (3, 7)


def test_half_a_letter_in_an_id_can_still_be_written_down() -> None:
    standing = StandingSubscriptions(FIRST)
    (told,) = standing.take_up([_file("a.jsonl", _remove(1, "\ud800"))])
    assert str(told.id).encode() == b"?"
    assert told.reason.encode()


_names = st.sampled_from(["x", "y", "one", 2])
_rows = st.lists(
    st.one_of(
        st.builds(_add, st.integers(0, 3), _names, st.sampled_from(["//a", "//b", "//["])),
        st.builds(_remove, st.integers(0, 3), _names),
    ),
    max_size=4,
)


@given(st.lists(_rows, max_size=5), st.lists(st.booleans(), min_size=5, max_size=5))
def test_as_long_as_nothing_is_late_it_does_not_matter_who_looked_when(
    files: list[list[dict[str, object]]], cuts: list[bool]
) -> None:
    named = [_file(f"{number}.jsonl", *rows) for number, rows in enumerate(files)]
    together = StandingSubscriptions(FIRST)
    aside = together.take_up(named)
    apart = StandingSubscriptions(FIRST)
    aside_apart: list[Rejected] = []
    group: list[ChangeFile] = []
    for file, cut in zip(named, cuts, strict=False):
        group.append(file)
        if cut:
            aside_apart += apart.take_up(group)
            group = []
    aside_apart += apart.take_up(group)
    if not any("late" in item.reason for item in aside_apart):
        assert apart.subscriptions == together.subscriptions
        assert apart.version == together.version
        assert tuple(aside_apart) == aside


def test_only_whole_files_of_a_feed_are_looked_at(tmp_path: Path) -> None:
    for name in ("b.csv", "a.JSONL", ".c.jsonl", "_d.csv", "e.jsonl.tmp", "f.txt", "g.ndjson"):
        (tmp_path / name).touch()
    (tmp_path / "folder.csv").mkdir()
    assert waiting_files(tmp_path) == ["a.JSONL", "b.csv", "g.ndjson"]
    assert waiting_files(tmp_path, taken={"b.csv": "…"}) == ["a.JSONL", "g.ndjson"]


def test_a_feed_that_is_not_there_is_one_sentence(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"cannot read the change feed in .*: No such file"):
        waiting_files(tmp_path / "nowhere")
    with pytest.raises(UsageError, match=r"cannot read .*x\.csv of the change feed: No such file"):
        read_change_file(tmp_path, "x.csv")


def test_csv_and_json_lines_say_the_same(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text(
        "version,op,id,xpath,subscriber,broker,namespaces\n"
        "1,add,x,//p:a,ann,north,p=urn:p\n"
        " 2 ,remove,x,,,,\n",
        encoding="utf-8-sig",
    )
    lines = [
        _add(1, "x", "//p:a", subscriber="ann", broker="north", namespaces={"p": "urn:p"}),
        _remove(2, "x"),
    ]
    (tmp_path / "a.jsonl").write_text("\n".join(map(json.dumps, lines)), encoding="utf-8")

    def told(name: str) -> list[object]:
        changes = read_change_file(tmp_path, name).changes
        return [(c.version, c.id, c.subscription and c.subscription.namespaces) for c in changes]

    assert told("a.csv") == told("a.jsonl") == [(1, "x", {"p": "urn:p"}), (2, "x", None)]
    content = (tmp_path / "a.csv").read_bytes()
    assert read_change_file(tmp_path, "a.csv").digest == sha256(content).hexdigest()


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (b"op;version\n", "among them id and xpath"),
        (b"\xff\xfei\0d\0", "UTF-16"),
        (b"id,xpath,op,version\n" + b"1,/a,add,1\n" * 50, "file_bytes_max"),
    ],
)
def test_a_file_without_sense_is_one_rejected_row(
    tmp_path: Path, content: bytes, reason: str
) -> None:
    (tmp_path / "a.csv").write_bytes(content)
    file = read_change_file(tmp_path, "a.csv", limits=SubscriptionLimits(file_bytes_max=100))
    assert file.changes == ()
    ((line, told),) = _reasons(file.rejected)
    assert line == 1
    assert reason in told


def test_a_line_without_sense_costs_only_itself(tmp_path: Path) -> None:
    lines = [b'{"op": "add", "version": 1,', b"\xff", json.dumps(_add(1, "fine")).encode(), b"[1]"]
    (tmp_path / "a.jsonl").write_bytes(b"\n".join(lines))
    file = read_change_file(tmp_path, "a.jsonl")
    assert [item.line for item in file.rejected] == [1, 2, 4]
    assert [(type(change), change.id) for change in file.changes] == [(FeedRow, "fine")]


def test_what_was_taken_up_is_known_by_name_and_digest() -> None:
    standing = StandingSubscriptions(FIRST)
    standing.take_up([ChangeFile("b.csv", "22", ()), ChangeFile("a.csv", "11", ())])
    standing.take_up([ChangeFile("0.csv", "00", ())])
    assert list(standing.taken.items()) == [("a.csv", "11"), ("b.csv", "22"), ("0.csv", "00")]


@pytest.mark.parametrize(
    ("name", "told"),
    {"\udcff.jsonl": "\\xff.jsonl", "a\n\x1b[2J.jsonl": "a\\n\\x1b[2J.jsonl"}.items(),
)
def test_a_reason_names_a_file_in_one_line_that_can_be_written(name: str, told: str) -> None:
    standing = StandingSubscriptions(FIRST)
    (aside,) = standing.take_up([_file(name, {"op": "add"}, _add(7, "fine"))])
    assert aside.reason == f"{told}: no version: a version is a whole number"
    (late,) = standing.take_up([_file("b.jsonl", _add(1, "late"))])
    assert late.reason.endswith(f"comes before version 7 of {told}, which counts already")
