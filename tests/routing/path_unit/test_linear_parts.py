"""Linear parts are enough to decide a pattern from the paths that match them."""

from __future__ import annotations

import gzip
import tarfile
from collections.abc import Callable
from itertools import islice
from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from tests.routing.path_unit.path_documents import (
    ANY_DOCUMENT,
    ANY_PATTERN,
    by_oracle,
    matching,
    path_documents,
    some_paths,
)
from tests.strategies import NAMESPACES, THOROUGH, ExpressionPair, tangles
from twigcast import Pattern, covers
from twigcast.language import Document
from twigcast.matching import Matcher
from twigcast.routing.path_unit.linear_parts import linear_parts
from twigcast.routing.path_unit.path_messages import (
    decide_paths,
    pruned,
)


@pytest.mark.parametrize(
    ("pattern", "parts"),
    [
        ("/a//b/*", ["/a//b/*"]),
        ("/a[b/c]//d", ["/a//d", "/a/b/c"]),
        ("/a[@x = 1][b]/c[@y]", ["/a[@x = 1]/b", "/a[@x = 1]/c/@y"]),
        ("/a[not(@x)]/b", ["/a[not(@x)]/b"]),
        ("/a/b[text() = 'x']/c", ["/a/b/c", "/a/b[text() = 'x']"]),
        ("/a/b[. = 'x']", ["/a/b/*", "/a[b = 'x']"]),
        ("/a/b[. = 'x'][c]", ["/a/b/*"]),
        ("//a[not(b)]/c", ["//a"]),
        ("//a[contains(b/c, 'x')]", ["//a/b/c"]),
        ("//a[@x or b]", ["//a/@x", "//a/b"]),
        ("//a | /b/c", ["//a", "/b/c"]),
        ("//a[/b or c]", ["//a", "/b"]),
        ("//@x[. = 1]", ["//@x[. = 1]"]),
        ("not(//a)", ["/*"]),
        ("//a[2]/b", ["/*"]),
        ("//a[count(b) > 2]", ["/*"]),
        ("true()", ["/*"]),
        ("//*[b]/c[not(d)]", ["//*/b", "//*/c"]),
        ("false()", []),
    ],
)
def test_the_parts_of_a_pattern(pattern: str, parts: list[str]) -> None:
    assert [part.text for part in linear_parts(Pattern.parse(pattern))] == [
        Pattern.parse(part).text for part in parts
    ]


@THOROUGH
@given(ANY_PATTERN, ANY_DOCUMENT, st.data())
@example(ExpressionPair("//a[. = 'x']", "//a[. = 'x']"), b"<a><b>x</b><c/></a>", None)
@example(ExpressionPair("//a[not(b)]/c", ""), b"<a><b/><c/></a>", None)
@example(ExpressionPair("//a[contains(b, 'x')]", ""), b"<a><b>y</b><b>x</b></a>", None)
@example(ExpressionPair("//a[text() = 'x']/b", ""), b"<a><b/>x<c/></a>", None)
def test_what_matching_paths_make_up_is_enough_to_decide_the_pattern(
    said: ExpressionPair, content: bytes, data: st.DataObject | None
) -> None:
    pattern = Pattern.parse(said.text, NAMESPACES)
    kept = matching(linear_parts(pattern), content)
    truth = by_oracle(pattern, content)
    assert truth == (bool(kept) and by_oracle(pattern, pruned(content, kept)))
    if data is not None:
        more = kept | some_paths(data, content)
        assert truth == by_oracle(pattern, pruned(content, more))


@given(ANY_PATTERN, ANY_DOCUMENT)
def test_a_document_satisfies_a_part_if_and_only_if_one_of_its_paths_does(
    said: ExpressionPair, content: bytes
) -> None:
    paths = path_documents(content)
    for part in linear_parts(Pattern.parse(said.text, NAMESPACES)):
        assert part.exact
        assert by_oracle(part, content) == any(by_oracle(part, path) for path in paths)


@given(tangles(), tangles(), ANY_DOCUMENT)
def test_paths_wanted_for_a_part_travel_for_one_that_covers_it(
    one: ExpressionPair, other: ExpressionPair, content: bytes
) -> None:
    parts = [*linear_parts(Pattern.parse(one.text)), *linear_parts(Pattern.parse(other.text))]
    for wider in parts:
        for narrower in parts:
            if covers(wider=wider, narrower=narrower):
                assert matching([narrower], content) <= matching([wider], content)


def test_paths_of_news_articles_decide_the_patterns_of_the_benchmark(
    shared_path: Callable[[str], Path],
) -> None:
    archive = shared_path("bench/nitf/documents.tar.gz")
    queries = shared_path("bench/nitf/queries/d6_w20_s20_p1_n1.txt.gz")
    with gzip.open(queries, "rt") as lines:
        patterns = [Pattern.parse(line) for line in islice(lines, 200)]
    whole, parts = Matcher(), Matcher()
    links: dict[int, list[int]] = {}
    for number, pattern in enumerate(patterns):
        whole.add(number, pattern)
        links[number] = []
        for part in linear_parts(pattern):
            links[number].append(len(parts))
            parts.add(len(parts), part)
    groups = parts.groups(links)
    for content in _first_files(archive, 3):
        wanted = decide_paths(parts, groups, Document.parse(content))
        for number, kept in wanted.items():
            left = whole.match(pruned(content, kept))
            assert (number in left) == (number in whole.match(content))
        assert set(whole.match(content)) <= set(wanted)


def _first_files(archive: Path, count: int) -> list[bytes]:
    contents: list[bytes] = []
    with tarfile.open(archive) as files:
        for member in files:
            opened = files.extractfile(member)
            if opened is not None and len(contents) < count:
                contents.append(opened.read())
    return contents
