"""Subscriptions are read line by line; a bad line is set aside by number and reason."""

from __future__ import annotations

import io
import json
import pickle
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from twigcast.errors import PatternError, UsageError
from twigcast.files import (
    Subscription,
    SubscriptionFile,
    SubscriptionLimits,
    compile_subscriptions,
    read_subscriptions,
)
from twigcast.files.subscriptions.file import file_rows
from twigcast.matching import Matcher

if TYPE_CHECKING:
    from _typeshed import WriteableBuffer

    from tests.files.subscriptions.conftest import Write


def _ids(file: SubscriptionFile) -> list[int | str]:
    return [subscription.id for subscription in file.subscriptions]


def _reasons(file: SubscriptionFile) -> dict[int, str]:
    return {rejected.line: rejected.reason for rejected in file.rejected}


def test_the_id_of_a_text_line_is_its_number_and_skipped_lines_count(write: Write) -> None:
    file = read_subscriptions(write("s.txt", "# news\n//a\n\n   \n//b[. = '#']\n  # more\n//c"))
    assert file.subscriptions == (
        Subscription(id=2, xpath="//a", line=2),
        Subscription(id=5, xpath="//b[. = '#']", line=5),
        Subscription(id=7, xpath="//c", line=7),
    )
    assert file.rejected == ()


@pytest.mark.parametrize("end", ["\n", "\r\n"])
@pytest.mark.parametrize("mark", ["", "\ufeff"])
@pytest.mark.parametrize(
    ("name", "lines"),
    [
        ("s.txt", ["//größe", "//b"]),
        ("s.csv", ["id,xpath", "1,//größe", "2,//b"]),
        ("s.jsonl", ['{"id": 1, "xpath": "//größe"}', '{"id": 2, "xpath": "//b"}']),
    ],
)
def test_line_ends_and_byte_order_marks_do_not_matter(
    write: Write, end: str, mark: str, name: str, lines: list[str]
) -> None:
    file = read_subscriptions(write(name, mark + end.join(lines) + end))
    assert [subscription.xpath for subscription in file.subscriptions] == ["//größe", "//b"]
    assert file.rejected == ()


def test_spaces_before_an_expression_are_kept_so_that_columns_fit_the_file(write: Write) -> None:
    file = read_subscriptions(write("s.txt", "  //a  \n"))
    assert file.subscriptions[0].xpath == "  //a"


def test_a_taken_id_names_the_line_that_has_it(write: Write) -> None:
    file = read_subscriptions(write("s.csv", "id,xpath\na,//x\nb,//y\na,//z\na,//w\n"))
    assert _ids(file) == ["a", "b"]
    assert _reasons(file) == {
        4: "the id 'a' is taken by line 2",
        5: "the id 'a' is taken by line 2",
    }
    assert (file.rejected[0].id, file.rejected[0].xpath) == ("a", "//z")


@pytest.mark.parametrize("name", ["s.txt", "s.csv", "s.jsonl"])
def test_a_line_that_is_not_utf8_is_set_aside(write: Write, name: str) -> None:
    lines = {
        "s.txt": [b"//a", b"//\xe9", b"//b"],
        "s.csv": [b"id,xpath", b"1,//\xe9", b"2,//b"],
        "s.jsonl": [
            b'{"id":1,"xpath":"//a"}',
            b'{"id":2,"xpath":"//\xe9"}',
            b'{"id":3,"xpath":"//b"}',
        ],
    }[name]
    file = read_subscriptions(write(name, b"\n".join(lines)))
    assert file.subscriptions[-1].xpath == "//b"
    assert "not UTF-8: byte 0xe9" in _reasons(file)[2]


class _ByteByByte(io.RawIOBase):
    """A pipe whose writer is slow."""

    def __init__(self, content: bytes) -> None:
        self._left = iter(content)

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: WriteableBuffer, /) -> int:
        for byte in self._left:
            memoryview(buffer)[0] = byte
            return 1
        return 0


def test_a_byte_order_mark_may_come_in_pieces() -> None:
    slow = io.BufferedReader(_ByteByByte(b"\xef\xbb\xbf//a\n//b\n"))
    assert [row.text for row in file_rows(slow, "text")] == ["//a", "//b"]


def test_utf16_is_refused_though_it_comes_in_pieces() -> None:
    slow = io.BufferedReader(_ByteByByte("//a\n".encode("utf-16")))
    with pytest.raises(UsageError, match="it is UTF-16"):
        list(file_rows(slow, "text"))


@pytest.mark.parametrize(("length", "ids"), [(10, [1, 2]), (11, [2]), (13, [2]), (14, [2])])
def test_a_byte_order_mark_is_no_part_of_the_line(
    write: Write, length: int, ids: list[int]
) -> None:
    limits = SubscriptionLimits(line_bytes_max=10)
    text = "\ufeff" + "a" * length + "\n//c\n"
    assert _ids(read_subscriptions(write("s.txt", text), limits=limits)) == ids


@pytest.mark.parametrize("length", [11, 12, 70_000, 200_000])
def test_a_line_over_its_limit_is_set_aside_and_named(write: Write, length: int) -> None:
    limits = SubscriptionLimits(line_bytes_max=10)
    text = f"{'a' * 10}\n{'b' * length}\r\n//c\n"
    file = read_subscriptions(write("s.txt", text), limits=limits)
    assert _ids(file) == [1, 3]
    assert "line_bytes_max" in _reasons(file)[2]


def test_the_text_of_a_rejected_line_is_cut(write: Write) -> None:
    file = read_subscriptions(write("s.jsonl", "x" * 50_000))
    assert len(file.rejected[0].xpath) == 1000


def test_a_file_over_its_limit_is_refused_by_name(write: Write) -> None:
    with pytest.raises(UsageError, match=r"s\.txt.*file_bytes_max"):
        read_subscriptions(
            write("s.txt", "//a\n" * 10), limits=SubscriptionLimits(file_bytes_max=39)
        )
    path = write("s.txt", "//a\n" * 10)
    assert read_subscriptions(path, limits=SubscriptionLimits(file_bytes_max=40)).rejected == ()


def test_files_that_cannot_be_read_at_all_are_the_callers_mistake(
    write: Write, tmp_path: Path
) -> None:
    for path in (tmp_path / "absent", tmp_path):
        with pytest.raises(UsageError, match="cannot read the subscriptions in"):
            read_subscriptions(path)
    with pytest.raises(UsageError, match="save it as UTF-8"):
        read_subscriptions(write("s.txt", "//a".encode("utf-16")))


@pytest.mark.skipif(not Path("/proc/self/mem").exists(), reason="needs /proc/self/mem")
def test_a_disk_that_fails_while_a_file_is_read_is_told_with_the_name_of_the_file() -> None:
    with pytest.raises(UsageError, match="cannot read the subscriptions in /proc/self/mem: Input"):
        read_subscriptions("/proc/self/mem")


def test_the_form_can_be_given_against_the_name(write: Write) -> None:
    path = write("subscriptions.dat", '{"id": "a", "xpath": "//a"}')
    assert _ids(read_subscriptions(path, form="json")) == ["a"]


def test_an_empty_text_file_has_no_subscriptions(write: Write) -> None:
    assert read_subscriptions(write("s.txt", "")) == SubscriptionFile(())


def test_compiling_adds_by_position_and_collects_what_is_refused(write: Write) -> None:
    file = read_subscriptions(
        write("s.csv", "id,xpath,namespaces\nx,//a,\ny,//[,\nz,//p:b,p=urn:p\n")
    )
    added: dict[int, tuple[str, dict[str, str]]] = {}

    def add(id: int, xpath: str, namespaces: object) -> None:
        if "[" in xpath:
            raise PatternError(xpath, column=3, expected="a name")
        assert isinstance(namespaces, dict)
        added[id] = (xpath, namespaces)

    (rejected,) = compile_subscriptions(file, add)
    assert added == {0: ("//a", {}), 2: ("//p:b", {"p": "urn:p"})}
    assert (rejected.id, rejected.line, rejected.xpath) == ("y", 3, "//[")
    assert (rejected.reason, rejected.column) == ("expected a name", 3)


def test_subscriptions_survive_the_way_to_another_process() -> None:
    subscription = Subscription(1, "//a", namespaces={"p": "urn:p"}, line=1)
    assert pickle.loads(pickle.dumps(subscription)) == subscription


@given(
    st.lists(
        st.tuples(st.one_of(st.integers(), st.text(min_size=1)), st.text(min_size=1)),
        unique_by=lambda pair: pair[0],
    )
)
def test_what_json_can_say_comes_back_as_it_was(
    tmp_path_factory: pytest.TempPathFactory, pairs: list[tuple[int | str, str]]
) -> None:
    pairs = [pair for pair in pairs if pair[1].strip()]
    path = tmp_path_factory.mktemp("json") / "s.jsonl"
    lines = [json.dumps({"id": name, "xpath": xpath}) for name, xpath in pairs]
    path.write_text("\n".join(lines), encoding="utf-8")
    file = read_subscriptions(path)
    assert [(s.id, s.xpath) for s in file.subscriptions] == pairs


@given(st.binary(), st.sampled_from(["text", "csv", "json"]))
def test_any_bytes_give_an_answer_or_a_usage_error(
    tmp_path_factory: pytest.TempPathFactory, content: bytes, form: str
) -> None:
    path = tmp_path_factory.mktemp("any") / "s"
    path.write_bytes(content)
    try:
        file = read_subscriptions(path, form=form)  # type: ignore[arg-type]  # drawn as text
    except UsageError:
        return
    lines = [item.line for item in file.subscriptions]
    assert lines == sorted(lines)


def test_a_namespace_line_binds_a_prefix_for_the_lines_below_it(write: Write) -> None:
    lines = ["//a", "# namespace p = urn:p", "//p:a", " #namespace q=urn:q?x=1", "//q:a", ""]
    lines += ["# namespace p = urn:other", "//p:b"]
    file = read_subscriptions(write("s.txt", "\n".join(lines)))
    assert file.rejected == ()
    assert [(one.id, dict(one.namespaces)) for one in file.subscriptions] == [
        (1, {}),
        (3, {"p": "urn:p"}),
        (5, {"p": "urn:p", "q": "urn:q?x=1"}),
        (8, {"p": "urn:other", "q": "urn:q?x=1"}),
    ]


@pytest.mark.parametrize(
    "line",
    ["", " p", " p urn:p", " = urn:p", " p =", " 1p = urn:p", " p = urn:p urn:q"],
)
def test_a_namespace_line_that_binds_nothing_is_named(write: Write, line: str) -> None:
    file = read_subscriptions(write("s.txt", f"//a\n# namespace{line}\n//b\n"))
    assert _reasons(file) == {2: "write # namespace PREFIX = URI"}
    assert _ids(file) == [1, 3]


@pytest.mark.parametrize(
    "line", ["# namespaces are told below", "# namespace of the feed is told below", "# p = urn:p"]
)
def test_a_sentence_about_namespaces_is_a_comment(write: Write, line: str) -> None:
    file = read_subscriptions(write("s.txt", f"{line}\n//b\n"))
    assert (_ids(file), file.rejected) == ([2], ())
    assert file.subscriptions[0].namespaces == {}


_OWN = '{"p":"urn:own","q":"urn:q"}'


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("s.csv", "id,xpath,namespaces\n1,//p:a,\n2,//p:a,p=urn:own q=urn:q\n"),
        ("s.jsonl", f'{{"id":1,"xpath":"//p:a"}}\n{{"id":2,"xpath":"//p:a","namespaces":{_OWN}}}'),
        ("s.txt", "//p:a\n# namespace p = urn:own\n# namespace q = urn:q\n//p:a"),
    ],
)
def test_prefixes_for_all_give_way_to_those_of_a_subscription(
    write: Write, name: str, text: str
) -> None:
    file = read_subscriptions(write(name, text), namespaces={"p": "urn:p", "r": "urn:r"})
    of_all, own = (one.namespaces for one in file.subscriptions)
    assert of_all == {"p": "urn:p", "r": "urn:r"}
    assert own == {"p": "urn:own", "q": "urn:q", "r": "urn:r"}


def test_subscriptions_that_write_the_same_namespaces_share_them(write: Write) -> None:
    file = read_subscriptions(write("s.txt", "# namespace p = urn:p\n//p:a\n//p:b\n"))
    first, second = file.subscriptions
    assert first.namespaces is second.namespaces


@pytest.mark.skipif(not Path("/dev/zero").exists(), reason="needs /dev/zero")
def test_a_line_without_end_stops_at_the_bound_of_the_file() -> None:
    limits = SubscriptionLimits(line_bytes_max=100, file_bytes_max=1_000_000)
    with pytest.raises(UsageError, match="file_bytes_max"):
        read_subscriptions("/dev/zero", limits=limits)


def test_of_many_namespaces_each_expression_gets_those_that_it_names(write: Write) -> None:
    lines = [f"# namespace p{number} = urn:{number}\n//p{number}:a\n" for number in range(500)]
    tail = ["# namespace p1 = urn:new\n", "/x[1-p1:a]/ancestor::p2.-_ü:b | id('p3:z')/p9x:a\n"]
    lines += ["# namespace p2.-_ü = urn:odd\n", *tail]
    file = read_subscriptions(write("s.txt", "".join(lines)))
    assert all(
        one.namespaces[f"p{number}"] == f"urn:{number}"
        for number, one in enumerate(file.subscriptions[:-1])
    )
    # With all of those above it, each would have 250 on average.
    assert sum(len(one.namespaces) for one in file.subscriptions) < 500 * 10
    assert file.subscriptions[-1].namespaces == {
        "p1": "urn:new",
        "p2.-_ü": "urn:odd",
        "p3": "urn:3",
    }
    (refused,) = compile_subscriptions(file, Matcher().add)
    assert "instead of 'p9x'" in refused.reason


def test_long_namespaces_are_not_handed_to_expressions_that_do_not_name_them(write: Write) -> None:
    lines = [f"# namespace p = urn:{'x' * 5000}\n", "//a\n", "//p:a\n"]
    short = ["# namespace p = urn:p\n", "//a\n"]
    file = read_subscriptions(write("s.txt", "".join(lines + short)))
    assert [list(one.namespaces) for one in file.subscriptions] == [[], ["p"], ["p"]]
