"""Documents path by path: nothing is lost, numbers stay, and parts are enough for any pattern."""

from __future__ import annotations

from typing import Any, cast

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from tests.engines import EVERY_ENGINE
from tests.oracle import oracle, oracle_tree
from tests.routing.path_unit.path_documents import (
    ANY_DOCUMENT,
    ANY_PATTERN,
    matching,
    path_documents,
    some_paths,
)
from tests.strategies import NAMESPACES, ExpressionPair
from twigcast import DocumentError, Pattern, UsageError
from twigcast.language import Document, DocumentLimits
from twigcast.matching import Matcher
from twigcast.routing.path_unit.linear_parts import linear_parts
from twigcast.routing.path_unit.path_messages import (
    PathLimits,
    decide_paths,
    path_count,
    pruned,
)


def texts(content: bytes) -> list[str]:
    return [str(text) for text in found(oracle_tree(content), "//text()")]


def found(at: Any, xpath: str) -> list[Any]:  # noqa: ANN401 - elements, trees and texts of lxml
    return cast("list[Any]", at.xpath(xpath))


LEAVES = "//*[not(*)]"
WAY = "ancestor-or-self::*"


# Documents.


def test_text_before_an_element_goes_with_the_first_path_inside_and_text_behind_with_the_last() -> (
    None
):
    assert path_documents(b"<a>1<b>2<c/>3<d/>4</b>5<e>6</e>7</a>") == [
        b"<a>1<b>2<c></c></b></a>",
        b"<a><b>3<d></d>4</b></a>",
        b"<a>5<e>6</e>7</a>",
    ]


@given(ANY_DOCUMENT)
@example(b"<a><![CDATA[]]><b/><![CDATA[]]><!--1--><![CDATA[]]></a>")
def test_the_texts_of_all_paths_are_the_texts_of_the_document(content: bytes) -> None:
    assert [text for path in path_documents(content) for text in texts(path)] == texts(content)


@given(ANY_DOCUMENT)
def test_each_leaf_has_a_path_with_all_attributes_on_its_way(content: bytes) -> None:
    def way(leaf: Any) -> list[object]:  # noqa: ANN401 - an element of lxml
        return [(each.tag, dict(each.attrib)) for each in found(leaf, WAY)]

    leaves = found(oracle_tree(content), LEAVES)
    alone = [found(oracle_tree(path), LEAVES) for path in path_documents(content)]
    assert [way(leaf) for (leaf,) in alone] == [way(leaf) for leaf in leaves]
    assert path_count(content) == len(leaves)


@given(ANY_DOCUMENT)
def test_keeping_every_path_keeps_every_byte(content: bytes) -> None:
    assert pruned(content, range(path_count(content))) == content


@given(ANY_DOCUMENT, st.data())
def test_what_is_left_has_the_kept_paths_and_no_others(content: bytes, data: st.DataObject) -> None:
    kept = some_paths(data, content)
    paths = path_documents(content)
    assert path_documents(pruned(content, kept)) == [paths[number] for number in sorted(kept)]


@given(ANY_DOCUMENT, st.data())
def test_brokers_in_a_row_cut_more_and_more_away_and_speak_of_the_first_numbers(
    content: bytes, data: st.DataObject
) -> None:
    first = some_paths(data, content)
    second = data.draw(st.sets(st.sampled_from(sorted(first)), min_size=1))
    at_once = pruned(content, second)
    in_a_row = pruned(pruned(content, first), second, paths=sorted(first))
    if len(second) < len(first) < path_count(content):
        assert in_a_row == at_once
    assert path_documents(in_a_row) == path_documents(at_once)


@given(ANY_DOCUMENT, st.data())
def test_elements_that_paths_share_appear_once(content: bytes, data: st.DataObject) -> None:
    kept = some_paths(data, content)
    tree = oracle_tree(content)
    leaves = found(tree, LEAVES)
    wanted = {each for number in kept for each in found(leaves[number], WAY)}
    left = [element.tag for element in found(oracle_tree(pruned(content, kept)), "//*")]
    assert left == [element.tag for element in found(tree, "//*") if element in wanted]


def test_what_is_left_keeps_prefixes_and_comments_and_has_entities_expanded() -> None:
    content = (
        b'<!DOCTYPE a [<!ENTITY e "x">]>'
        b'<p:a xmlns:p="urn:p"><b/>&e;<!--1-->2<?t 3?><p:c t="p:q"/>4<!--5--><d/>6</p:a>'
    )
    assert pruned(content, {1}) == b'<p:a xmlns:p="urn:p">x<!--1-->2<?t 3?><p:c t="p:q"/></p:a>'
    assert pruned(content, {0, 2}) == b'<p:a xmlns:p="urn:p"><b/>4<!--5--><d/>6</p:a>'


def test_texts_without_a_character_are_texts() -> None:
    content = b"<a><b/><![CDATA[]]><!--1--><![CDATA[]]><c><![CDATA[]]></c><![CDATA[]]></a>"
    assert pruned(content, {1}) == content.replace(b"<b/>", b"")
    (path,) = path_documents(pruned(content, {1}))
    assert path == content.replace(b"<b/>", b"")


def test_names_in_the_namespace_of_xml_itself_can_be_written() -> None:
    content = b"<a xml:lang='en'><xml:b xml:id='i'/></a>"
    (path,) = path_documents(content)
    assert oracle("/a[@xml:lang]/xml:b[@xml:id = 'i']", path)


@pytest.mark.parametrize("paths", [(), (1,), (1, 2, 3), (2, 1), (-1, 0), (1, 1)])
def test_numbers_that_do_not_fit_the_document_are_refused(paths: tuple[int, ...]) -> None:
    with pytest.raises(DocumentError, match="2 paths"):
        pruned(b"<a><b/><c/></a>", {1}, paths=paths)


@pytest.mark.parametrize("kept", [(), (2,), (0, 7)])
def test_only_paths_that_are_there_can_be_kept_and_at_least_one(kept: tuple[int, ...]) -> None:
    with pytest.raises(UsageError, match="keep some"):
        pruned(b"<a><b/><c/></a>", kept)


def test_a_document_that_cannot_be_read_is_refused() -> None:
    for ask in (path_count, lambda content: pruned(content, {0})):
        with pytest.raises(DocumentError):
            ask(b"<a><b></a>")


def test_a_long_namespace_is_written_once_in_a_path() -> None:
    depth = 200
    inner = b"<p:b p:x='1'><c>" * (depth // 2) + b"</c></p:b>" * (depth // 2)
    content = b"<a xmlns:p='urn:%s'>%s</a>" % (b"p" * 900, inner)
    (path,) = path_documents(content)
    assert len(path) < len(content) + 10 * depth


def test_comments_without_number_are_written_in_one_go() -> None:
    comments = b"<!--1-->2" * 50_000
    assert path_documents(b"<a><b>" + comments + b"</b></a>") == [
        b"<a><b>" + comments + b"</b></a>"
    ]


# Deciding.


def decided(
    matcher: Matcher, links: dict[str, list[int]], content: bytes, **given: object
) -> dict[str, tuple[int, ...]]:
    return decide_paths(matcher, matcher.groups(links), Document.parse(content), **given)  # type: ignore[arg-type]


@pytest.mark.parametrize("engine", EVERY_ENGINE)
@given(st.lists(ANY_PATTERN, min_size=1, max_size=3), ANY_DOCUMENT, st.data())
def test_each_link_gets_the_paths_that_match_its_routes(
    engine: str, saids: list[ExpressionPair], content: bytes, data: st.DataObject
) -> None:
    kept = sorted(some_paths(data, content))
    matcher, links = Matcher(engine=engine), dict[str, list[int]]()
    expected = {}
    for place, said in enumerate(saids):
        parts = linear_parts(Pattern.parse(said.text, NAMESPACES))
        links[f"link {place}"] = list(range(len(matcher), len(matcher) + len(parts)))
        for part in parts:
            matcher.add(len(matcher), part)
        if wanted := sorted(matching(parts, content) & set(kept)):
            expected[f"link {place}"] = tuple(wanted)
    assert decided(matcher, links, pruned(content, kept), paths=kept) == expected


LISTED = b"<a><b>1</b><c>2</c><b>3</b></a>"


def listed() -> Matcher:
    matcher = Matcher()
    matcher.add(1, "/a/b")
    matcher.add(2, "//d")
    return matcher


@pytest.mark.parametrize("path_limits", [PathLimits(paths_max=2), PathLimits(bytes_max=40)])
def test_a_document_too_large_to_be_taken_apart_goes_whole_where_one_path_has_to(
    path_limits: PathLimits,
) -> None:
    links = {"north": [1], "south": [2]}
    assert decided(listed(), links, LISTED) == {"north": (0, 2)}
    whole = decided(listed(), links, LISTED, path_limits=path_limits)
    assert whole == {"north": (0, 1, 2)}


def test_a_document_that_would_outgrow_its_limit_when_written_anew_goes_whole() -> None:
    content = b"<a><b><![CDATA[%s]]></b><c/></a>" % (b"&" * 100)
    limits = DocumentLimits(bytes_max=len(content))
    assert decided(listed(), {"north": [1]}, content) == {"north": (0,)}
    assert decided(listed(), {"north": [1]}, content, limits=limits) == {"north": (0, 1)}


def test_numbers_that_do_not_fit_are_refused_when_deciding_too() -> None:
    with pytest.raises(DocumentError, match="3 paths"):
        decided(listed(), {"north": [1]}, LISTED, paths=(0, 1))


def test_a_link_without_routes_gets_nothing() -> None:
    assert decided(listed(), {"north": []}, LISTED) == {}
