"""The matcher of the library: rules from files, and documents in any form."""

from __future__ import annotations

import io
from pathlib import Path
from typing import Any

import pytest
from lxml import etree

import twigcast
from tests.engines import EVERY_ENGINE
from tests.library.prices import FEED, matcher
from twigcast import routing
from twigcast.errors import UsageError
from twigcast.language import Document

# Documents.


@pytest.mark.parametrize("engine", EVERY_ENGINE)
def test_a_document_comes_in_any_form(engine: str, feed: Path) -> None:
    asked = matcher(engine)
    tree = etree.fromstring(FEED)
    forms: list[Any] = [
        FEED,
        bytearray(FEED),
        FEED.decode(),
        "\ufeff\n" + FEED.decode(),
        feed,
        str(feed),
    ]
    forms += [tree, tree.getroottree(), Document.parse(FEED)]
    for form in forms:
        assert asked.match(form) == [2, "price"]
        assert asked.decide(form).matches == (2, "price")
        assert asked.match_links(form, {"a": ["price"], "b": [3]}) == ["a"]
    assert asked.match(io.StringIO(FEED.decode())) == [2, "price"]
    with feed.open("rb") as file:
        assert asked.match(file) == [2, "price"]
    with feed.open() as file:
        assert asked.match(file) == [2, "price"]


def test_paths_serve_following_and_bindings_as_well(feed: Path) -> None:
    asked = twigcast.Matcher({"a": "/*/trade"}, engine="streaming")
    assert list(asked.follow(feed).decided) == ["a"]
    assert asked.bindings(feed, ["a"])["a"][0].path == ("feed",)


# Rules.


def test_rules_come_from_a_csv_file_with_their_ids(tmp_path: Path) -> None:
    path = tmp_path / "rules.csv"
    path.write_text("id,xpath,namespaces\na,//price,\n7,//x:b,x=urn:x\n", encoding="utf-8")
    asked = twigcast.Matcher.from_file(path)
    assert (asked.match(FEED), asked.match("<b xmlns='urn:x'/>")) == (["a"], ["7"])
    assert asked.rejected == ()
    assert "a" in twigcast.Matcher.from_file(str(path), engine="lxml")


def test_rules_come_from_json_lines_with_their_types(tmp_path: Path) -> None:
    path = tmp_path / "rules.jsonl"
    path.write_text('{"id": 7, "xpath": "//price"}\n{"id": "7", "xpath": "//trade"}\n')
    assert twigcast.Matcher.from_file(path).match(FEED) == [7, "7"]


def test_rules_come_from_lines_under_their_numbers(tmp_path: Path) -> None:
    path = tmp_path / "rules.txt"
    path.write_text("# prices\n//price\n\n//trade\n")
    assert twigcast.Matcher.from_file(path).match(FEED) == [2, 4]


def test_refused_lines_are_told_in_one_error(tmp_path: Path) -> None:
    path = tmp_path / "rules.jsonl"
    lines = [
        '{"id": 1, "xpath": "//a["}',
        '{"id": 1, "xpath": "//b"}',
        "no json",
        '{"id": 2}',
        f'{{"id": {1 << 70}, "xpath": "//a"}}',
        '{"id": "good", "xpath": "//price"}',
    ]
    path.write_text("\n".join(lines))
    with pytest.raises(UsageError) as caught:
        twigcast.Matcher.from_file(path)
    told = str(caught.value)
    assert "rules.jsonl: 5 of 6 lines refused: line 1, column 5: expected" in told
    assert "and 2 more; mend them, or leave them out with errors='skip'" in told
    asked = twigcast.Matcher.from_file(path, errors="skip")
    assert asked.match(FEED) == ["good"]
    assert [one.line for one in asked.rejected] == [1, 2, 3, 4, 5]
    assert "64 bits" in asked.rejected[4].reason


def test_a_file_of_rules_that_is_not_there_is_a_usage_error(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="cannot read the subscriptions"):
        twigcast.Matcher.from_file(tmp_path / "none.csv")
    with pytest.raises(UsageError, match="errors is 'raise' or 'skip'"):
        twigcast.Matcher.from_file(tmp_path / "none.csv", errors="ignore")  # type: ignore[arg-type]


def test_stored_rules_come_back_as_a_matcher_that_opens_files(feed: Path) -> None:
    again = twigcast.Matcher.from_buffer(matcher().to_bytes())
    assert again.match(feed) == [2, "price"]


# Networks.


def test_the_public_names_are_those_of_the_library() -> None:
    assert twigcast.Matcher.__module__ == "twigcast.library.matcher"
    assert twigcast.Network.__module__ == "twigcast.library.network"
    assert issubclass(twigcast.Network, routing.Network)


def test_a_refused_rule_of_a_file_is_told_with_what_to_write(tmp_path: Path) -> None:
    rules = tmp_path / "rules.txt"
    rules.write_text("//a[b eq 'x']\n")
    with pytest.raises(UsageError, match=r"of XPath 2\.0; write //a\[b = 'x'\]"):
        twigcast.Matcher.from_file(rules)


@pytest.mark.parametrize("name", ["a\0.{}", "\ud800.{}"], ids=["zero byte", "surrogate"])
def test_a_name_that_no_file_can_have_is_a_usage_error(name: str) -> None:
    with pytest.raises(UsageError, match="no file can have the name"):
        twigcast.Matcher.from_file(name.format("csv"))
    with pytest.raises(UsageError, match="no file can have the name"):
        twigcast.Network(name.format("toml"))


def test_what_is_no_pattern_or_no_namespace_is_a_usage_error() -> None:
    nothing: Any = None
    with pytest.raises(UsageError, match="not NoneType"):
        twigcast.covers("//a", nothing)
    bad: Any = 5
    with pytest.raises(UsageError, match="namespaces map prefixes to URIs"):
        twigcast.Pattern("//p:a", bad)
