"""Published workloads: who matches what was worked out by libxml2 before us."""

from __future__ import annotations

import gzip
import tarfile
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.engines import EVERY_ENGINE
from twigcast.matching import Matcher

Locate = Callable[[str], Path]

SETS = (
    "d6_w10_s10", "d6_w20_s20", "d6_w20_s20_p1", "d6_w20_s20_p1_n1", "d6_w20_s20_np20",
    "d10_w10_s10",
)  # fmt: skip


def nitf_documents(shared_path: Locate) -> Iterator[tuple[str, bytes]]:
    with tarfile.open(shared_path("bench/nitf/documents.tar.gz")) as archive:
        for member in archive:
            content = archive.extractfile(member)
            if content is not None:
                yield Path(member.name).name, content.read()


def matcher_of(expressions: list[str], engine: str) -> Matcher:
    matcher = Matcher(engine=engine)
    for number, xpath in enumerate(expressions):
        matcher.add(number, xpath)
    return matcher


def check_nitf(shared_path: Locate, name: str, size: int, engine: str, *, each: int = 1) -> None:
    """Whether every so many documents are matched as the truth says."""
    queries = gzip.decompress(shared_path(f"bench/nitf/queries/{name}.txt.gz").read_bytes())
    truth = gzip.decompress(shared_path(f"bench/nitf/expected/{name}.{size}.txt.gz").read_bytes())
    expected = {
        document: [int(number) for number in numbers]
        for document, *numbers in map(str.split, truth.decode().splitlines())
    }
    matcher = matcher_of(queries.decode().splitlines()[:size], engine)
    documents = list(nitf_documents(shared_path))
    assert len(documents) == len(expected) == 500
    for document, content in documents[::each]:
        decision = matcher.decide(content)
        assert not decision.undecided
        assert list(decision.matches) == expected[document], document


@pytest.mark.parametrize("engine", EVERY_ENGINE)
@pytest.mark.parametrize("name", SETS)
def test_a_thousand_nitf_subscriptions(shared_path: Locate, name: str, engine: str) -> None:
    check_nitf(shared_path, name, 1_000, engine, each=1 if engine == "lxml" else 5)


@pytest.mark.deep
@pytest.mark.parametrize("name", SETS[:-1])  # Of the last set the truth ends at a thousand.
@pytest.mark.parametrize("engine", EVERY_ENGINE)
def test_ten_thousand_nitf_subscriptions(shared_path: Locate, name: str, engine: str) -> None:
    check_nitf(shared_path, name, 10_000, engine)


@pytest.mark.parametrize("engine", EVERY_ENGINE)
@pytest.mark.parametrize("queries", ["simple_paths", "simple_predicates"])
def test_the_queries_that_yfilter_ships(shared_path: Locate, queries: str, engine: str) -> None:
    folder = shared_path("data/yfilter-nitf")
    matcher = matcher_of((folder / f"queries/{queries}.txt").read_text().splitlines(), engine)
    truth = (folder / f"expected/{queries}.tsv").read_text().splitlines()[1:]
    assert len(truth) == 100
    for line in truth:
        name, _, numbers = line.partition("\t")
        found = matcher.match((folder / "docs" / name).read_bytes())
        assert [number + 1 for number in found] == [int(one) for one in numbers.split()], name


@pytest.mark.parametrize("engine", EVERY_ENGINE)
@pytest.mark.parametrize("name", ["conj", "multiple", "namespaces", "simple"])
def test_the_patterns_of_libxml2s_own_tests(shared_path: Locate, name: str, engine: str) -> None:
    folder = shared_path("data/xpath-suite-sample/libxml2-pattern")
    namespaces = {"a": "http://a", "b": "http://b", "c": "http://a"}
    patterns = (folder / f"test/pattern/{name}.pat").read_text().split()
    result = (folder / f"result/pattern/{name}").read_text().splitlines()
    hit = {line.partition(" matches pattern ")[2] for line in result}
    matcher = Matcher(engine=engine)
    for number, xpath in enumerate(patterns):
        matcher.add(number, xpath, namespaces)
    found = matcher.match((folder / f"test/pattern/{name}.xml").read_bytes())
    assert [patterns[number] for number in found] == [one for one in patterns if one in hit]
    assert hit
