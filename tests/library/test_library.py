"""The library as a short program takes hold of it: rules and documents from files."""

from __future__ import annotations

import gzip
import io
import os
from pathlib import Path
from typing import Any

import pytest
from lxml import etree

import twigcast
from tests.engines import EVERY_ENGINE
from twigcast import routing
from twigcast.errors import DocumentError, DocumentLimitError, UsageError
from twigcast.language import Document, DocumentLimits

FEED = b"<feed><trade id='7'><price>120</price></trade></feed>"


@pytest.fixture
def feed(tmp_path: Path) -> Path:
    path = tmp_path / "feed.xml"
    path.write_bytes(FEED)
    return path


def matcher(engine: str = "auto") -> twigcast.Matcher:
    return twigcast.Matcher({"price": "//price", 2: "//trade[last() = 1]"}, engine=engine)


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


def test_a_relative_path_is_a_path(feed: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(feed.parent)
    assert matcher().match("feed.xml") == [2, "price"]


def test_paths_serve_following_and_bindings_as_well(feed: Path) -> None:
    asked = twigcast.Matcher({"a": "/*/trade"}, engine="streaming")
    assert list(asked.follow(feed).decided) == ["a"]
    assert asked.bindings(feed, ["a"])["a"][0].path == ("feed",)


@pytest.mark.parametrize("name", ["missing.xml", "no <xml> here", "{'a': 1}", "x" * 5_000, "a\0b"])
def test_a_text_that_is_no_file_is_a_document_error_with_its_name(name: str) -> None:
    with pytest.raises(DocumentError) as caught:
        matcher().match(name)
    assert caught.value.document is not None
    assert name.startswith(caught.value.document[:190])
    assert len(str(caught.value)) < 400


def test_what_to_do_about_a_text_that_is_no_file_is_told() -> None:
    with pytest.raises(
        DocumentError, match=r"no such file; a text is the path of a document unless"
    ):
        matcher().match("hello")
    with pytest.raises(DocumentError, match=r"^document missing.xml: there is no such file$"):
        matcher().match(Path("missing.xml"))


def test_a_blank_text_is_an_empty_document() -> None:
    with pytest.raises(DocumentError, match=r"Document is empty|Start tag expected"):
        matcher().match("")
    with pytest.raises(DocumentError, match=r"Document is empty|Start tag expected"):
        matcher().match(" \n")


def test_a_folder_is_a_document_error(tmp_path: Path) -> None:
    with pytest.raises(DocumentError, match="it is a folder"):
        matcher().match(tmp_path)


@pytest.mark.skipif(os.geteuid() == 0, reason="the administrator may read everything")
def test_a_file_that_may_not_be_read_is_a_document_error(feed: Path) -> None:
    feed.chmod(0)
    with pytest.raises(DocumentError, match="Permission denied"):
        matcher().match(feed)


def test_errors_in_a_file_have_its_name(feed: Path) -> None:
    feed.write_bytes(b"<a>\n<b></a>")
    asked = matcher()
    with pytest.raises(DocumentError, match=r"feed\.xml, line 2"):
        asked.match(feed)
    assert asked.statistics().refused == 1


def test_a_file_is_held_to_the_limits(feed: Path) -> None:
    small = twigcast.Matcher(["//a"], limits=DocumentLimits(bytes_max=10))
    with pytest.raises(DocumentLimitError, match=r"feed\.xml: too many bytes"):
        small.match(feed)


def test_explaining_takes_paths_and_texts(feed: Path) -> None:
    assert twigcast.explain("//price", feed).matches
    assert twigcast.explain("//price", FEED.decode()).matches
    with pytest.raises(DocumentError, match="no such file"):
        twigcast.explain("//price", "missing.xml")


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


def test_a_network_is_made_from_a_topology_file(tmp_path: Path, feed: Path) -> None:
    path = tmp_path / "offices.toml"
    path.write_text('links = [["north", "hub"], ["hub", "south"]]')
    table = {"links": [["north", "hub"], ["hub", "south"]]}
    for given in (path, str(path), table, routing.Topology.of(table)):
        network = twigcast.Network(given)
        network.subscribe("south", "ann", "//price")
        for document in (feed, FEED, FEED.decode(), etree.fromstring(FEED)):
            (delivery,) = network.publish("north", document).deliveries
            assert delivery.subscriber == "ann"
        with pytest.raises(DocumentError, match="no such file"):
            network.publish("north", "missing.xml")
    with pytest.raises(UsageError, match="cannot read the topology"):
        twigcast.Network(str(tmp_path / "none.toml"))
    with pytest.raises(UsageError, match="JSON or TOML"):
        twigcast.Network("offices")


def test_the_public_names_are_those_of_the_library() -> None:
    assert twigcast.Matcher.__module__ == "twigcast.library.matcher"
    assert twigcast.Network.__module__ == "twigcast.library.network"
    assert issubclass(twigcast.Network, routing.Network)


@pytest.mark.parametrize("path", ["\ud800.xml", Path("\ud800.xml")], ids=["text", "path"])
def test_a_path_that_no_file_can_have_is_refused_with_its_name(path: str | Path) -> None:
    with pytest.raises(DocumentError, match=r"^document \\ud800\.xml: cannot be read"):
        twigcast.Matcher(["//a"]).match(path)


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


def test_a_refused_document_is_published_with_its_name_in_the_error(tmp_path: Path) -> None:
    document = tmp_path / "half.xml"
    document.write_text("<a>")
    network = twigcast.Network({"links": [["north", "south"]]})
    with pytest.raises(DocumentError, match=r"half\.xml, line 1"):
        network.publish("north", document)


def test_what_is_no_pattern_or_no_namespace_is_a_usage_error() -> None:
    nothing: Any = None
    with pytest.raises(UsageError, match="not NoneType"):
        twigcast.covers("//a", nothing)
    bad: Any = 5
    with pytest.raises(UsageError, match="namespaces map prefixes to URIs"):
        twigcast.Pattern("//p:a", bad)


def test_a_compressed_document_is_opened_by_its_path(tmp_path: Path) -> None:
    path = tmp_path / "a.xml.gz"
    path.write_bytes(gzip.compress(b"<a><b/></a>"))
    assert twigcast.Matcher(["//b", "//c"]).match(path) == [1]
    small = twigcast.Matcher(["//b"], limits=DocumentLimits(bytes_max=5))
    with pytest.raises(DocumentLimitError, match="too many bytes: 6 where at most 5 are allowed"):
        small.match(path)
    path.write_bytes(path.read_bytes()[:-4])
    with pytest.raises(DocumentError, match="it cannot be unpacked"):
        twigcast.Matcher(["//b"]).match(path)
