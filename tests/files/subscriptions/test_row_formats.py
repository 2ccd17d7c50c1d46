"""Rows of subscription files: what CSV and JSON lines say, and what is set aside."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from twigcast.errors import UsageError
from twigcast.files import (
    Subscription,
    SubscriptionFile,
    read_subscriptions,
)
from twigcast.files.subscriptions.row_formats import Row, csv_rows

if TYPE_CHECKING:
    from tests.files.subscriptions.conftest import Write


def _ids(file: SubscriptionFile) -> list[int | str]:
    return [subscription.id for subscription in file.subscriptions]


def _reasons(file: SubscriptionFile) -> dict[int, str]:
    return {rejected.line: rejected.reason for rejected in file.rejected}


def test_json_ids_keep_their_type(write: Write) -> None:
    lines = [{"id": 7, "xpath": "//a"}, {"id": "7", "xpath": "//b"}, {"id": "x", "xpath": "//c"}]
    file = read_subscriptions(write("s.jsonl", "\n".join(map(json.dumps, lines))))
    assert _ids(file) == [7, "7", "x"]
    assert [type(given) for given in _ids(file)] == [int, str, str]


def test_csv_ids_are_text(write: Write) -> None:
    assert _ids(read_subscriptions(write("s.csv", "id,xpath\n007,//a\n7,//b\n"))) == ["007", "7"]


def test_csv_and_json_carry_subscriber_broker_and_namespaces(write: Write) -> None:
    csv_file = read_subscriptions(
        write("s.csv", "xpath,id,namespaces,broker,subscriber\n//p:a,s1,p=urn:p  q=urn:q,b2,ann\n")
    )
    line = {"id": "s1", "xpath": "//p:a", "namespaces": {"p": "urn:p", "q": "urn:q"}}
    json_file = read_subscriptions(
        write("s.json", json.dumps({**line, "broker": "b2", "subscriber": "ann"}))
    )
    expected = Subscription("s1", "//p:a", "ann", "b2", {"p": "urn:p", "q": "urn:q"}, line=2)
    assert csv_file.subscriptions == (expected,)
    assert json_file.subscriptions[0].namespaces == expected.namespaces
    assert (json_file.subscriptions[0].subscriber, json_file.subscriptions[0].broker) == (
        "ann",
        "b2",
    )


def test_what_is_left_empty_was_not_given(write: Write) -> None:
    text = 'id,xpath,subscriber,broker,namespaces\n1,//a,,,\n2,//b\n3,"//c"\n'
    file = read_subscriptions(write("s.csv", text))
    assert [(s.subscriber, s.broker, dict(s.namespaces)) for s in file.subscriptions] == [
        (None, None, {})
    ] * 3
    line = '{"id": 1, "xpath": "//a", "subscriber": null, "broker": null, "namespaces": null}'
    assert read_subscriptions(write("s.jsonl", line)).subscriptions == (
        Subscription(1, "//a", line=1),
    )


def test_quoted_csv_fields_hold_commas_quotes_and_line_ends(write: Write) -> None:
    text = 'id,xpath\n1,"//a[contains(., ""x"")]"\n2,"//b\n/c"\n3,//d[@e="f"]\n'
    file = read_subscriptions(write("s.csv", text))
    assert [(s.line, s.xpath) for s in file.subscriptions] == [
        (2, '//a[contains(., "x")]'),
        (3, "//b\n/c"),
        (5, '//d[@e="f"]'),
    ]


def test_a_quote_that_is_never_closed_costs_one_line(write: Write) -> None:
    good = "".join(f"{number},//a\n" for number in range(200))
    file = read_subscriptions(write("s.csv", f'id,xpath\nx,"//a\n{good}'))
    assert len(file.subscriptions) == 200
    assert _reasons(file) == {2: "the line is not CSV: a quote is opened and never closed"}


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        ("1,//a[contains(b, 'c')]", "3 fields where the header names 2"),
        ("1", "no xpath"),
        (",//a", "no id"),
        ('1,"//a"b', "not CSV"),
    ],
)
def test_a_bad_csv_line_is_set_aside(write: Write, line: str, reason: str) -> None:
    file = read_subscriptions(write("s.csv", f"id,xpath\nbefore,//x\n{line}\nafter,//y\n"))
    assert _ids(file) == ["before", "after"]
    assert reason in _reasons(file)[3]


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        ("{", "not JSON"),
        ("[1]", "no object"),
        ('{"id": 1}', "no xpath"),
        ('{"id": 1, "xpath": "  "}', "no xpath"),
        ('{"id": 1, "xpath": 5}', "the xpath is a int"),
        ('{"xpath": "//a"}', "no id"),
        ('{"id": "", "xpath": "//a"}', "no id"),
        ('{"id": true, "xpath": "//a"}', "the id is true or false"),
        ('{"id": 1.5, "xpath": "//a"}', "the id is a fraction"),
        ('{"id": [1], "xpath": "//a"}', "the id is a list"),
        ('{"id": 1, "xpath": "//a", "subscriber": {}}', "the subscriber is an object"),
        ('{"id": 1, "xpath": "//a", "namespaces": [1]}', "the namespaces are a list"),
        ('{"id": 1, "xpath": "//a", "namespaces": {"": "u"}}', "'' is no prefix"),
        ('{"id": 1, "xpath": "//a", "namespaces": {"a b": "u"}}', "'a b' is no prefix"),
        ('{"id": 1, "xpath": "//a", "namespaces": {"p": 5}}', "the prefix 'p' has no URI"),
        (r'{"id": 1, "xpath": "\ud800"}', "the xpath is no valid Unicode"),
        (r'{"id": "\ud800", "xpath": "//a"}', "the id is no valid Unicode"),
        ('{"id": 1' + "0" * 5000 + "}", "not JSON that can be read"),
        ("[" * 100_000, "not JSON that can be read"),
    ],
)
def test_a_bad_json_line_is_set_aside(write: Write, line: str, reason: str) -> None:
    around = '{{"id": "{}", "xpath": "//x"}}'
    text = "\n".join([around.format("before"), line, around.format("after")])
    file = read_subscriptions(write("s.jsonl", text))
    assert _ids(file) == ["before", "after"]
    assert reason in _reasons(file)[2]
    # Rejections end in tables, which hold nothing but valid Unicode.
    json.dumps([file.rejected[0].xpath, file.rejected[0].reason]).encode()
    file.rejected[0].xpath.encode()


@pytest.mark.parametrize(
    ("namespaces", "reason"),
    [
        ("p", "the prefix 'p' has no URI"),
        ("=urn:p", "'' is no prefix"),
        ("p=urn:p p=urn:q", "bound twice"),
        ("1p=urn:p", "'1p' is no prefix"),
    ],
)
def test_bad_csv_namespaces_are_set_aside(write: Write, namespaces: str, reason: str) -> None:
    file = read_subscriptions(write("s.csv", f"id,xpath,namespaces\n1,//a,{namespaces}\n2,//b,\n"))
    assert _ids(file) == ["2"]
    assert reason in _reasons(file)[2]


def test_a_column_that_is_there_twice_is_refused(write: Write) -> None:
    with pytest.raises(UsageError, match="names the column 'xpath' twice"):
        read_subscriptions(write("s.csv", "id,xpath,xpath\n1,//a,//b\n"))
    file = read_subscriptions(write("s.csv", "id,xpath,,\n1,//a,,\n"))
    assert _ids(file) == ["1"]


@pytest.mark.parametrize("text", ["", "\n\n", "1,//a\n", "id;xpath\n1;//a\n", '"id,xpath\n'])
def test_csv_without_its_two_columns_is_the_callers_mistake(write: Write, text: str) -> None:
    with pytest.raises(UsageError, match="names its columns"):
        read_subscriptions(write("s.csv", text))


class _CountedText(str):
    """A line that counts how often it is put in front of the reader of CSV."""

    __slots__ = ()
    formatted = 0

    def __format__(self, spec: str) -> str:
        type(self).formatted += 1
        return str.__format__(self, spec)


def test_a_quote_that_is_never_closed_is_looked_for_once_in_each_line_ahead() -> None:
    lines = [Row(1, "id,xpath"), Row(2, _CountedText('1,"//a'))]
    lines += [Row(number, _CountedText("1,//a")) for number in range(3, 502)]
    rows = list(csv_rows(iter(lines)))
    assert ["never closed" in (row.problem or "") for row in rows] == [True] + [False] * 499
    # As many lines ahead as a field may have, one after the other, and then each by itself.
    assert _CountedText.formatted <= 50 + 500
