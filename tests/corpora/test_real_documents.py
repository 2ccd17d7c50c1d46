"""Real documents of thirty kinds, real expressions, and hostile or broken ones."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from lxml import etree

from tests.engines import EVERY_ENGINE
from tests.oracle import oracle_tree
from twigcast.errors import DocumentError
from twigcast.language import Document
from twigcast.matching import Matcher, explain

Locate = Callable[[str], Path]

GENRES = (
    "docbook", "docbook4", "html", "jats", "newsml", "nitf", "pubmed", "tei", "ubl-cii", "xmark",
)  # fmt: skip

OTHER_ENCODINGS = {
    "feeds-encodings/encoding__big5.xml",
    "feeds-encodings/encoding__utf-32be.xml",
    "feeds-encodings/encoding__utf-32le-bom.xml",
}
"""Refused by design: only encodings in which ASCII means ASCII, and UTF-16, are read."""

UNREAD_DTD = {
    "cap/testdata__xee.cap.xml",
    "docbook/Belgian-HOWTO.xml",
    "docbook/CDServer-HOWTO.xml",
    "docbook/Cryptoloop-HOWTO.xml",
    "docbook/Disk-Encryption-HOWTO.xml",
    "docbook/DocBook-Demystification-HOWTO__DocBook-Demystification-HOWTO.xml",
    "docbook/Fedora-Multimedia-Installation-HOWTO.xml",
    "newsml/kyodo_newsml_1_2_belga.xml",
    "newsml/newsml-with-two-dtds.xml",
    "sigmod/SigmodRecord.xml",
}
"""Read by design: they use entities of a DTD that nobody fetches; those have no text."""


def oracle_reads(content: bytes) -> bool:
    try:
        oracle_tree(content)
    except etree.XMLSyntaxError:
        return False
    return True


def reads(content: bytes) -> bool:
    try:
        Document.parse(content)
    except DocumentError:
        return False
    return True


def real_documents(folder: Path) -> Iterator[tuple[str, bytes]]:
    for path in sorted(folder.glob("*/*")):
        if path.name != "SOURCE.md":
            yield path.relative_to(folder).as_posix(), path.read_bytes()


def test_real_documents_are_read_and_refused_as_the_oracle_does(shared_path: Locate) -> None:
    here: set[str] = set()
    there: set[str] = set()
    for name, content in real_documents(shared_path("data/docs")):
        if reads(content):
            here.add(name)
        if oracle_reads(content):
            there.add(name)
    assert len(here & there) > 600
    assert there - here == OTHER_ENCODINGS
    assert here - there == UNREAD_DTD


def test_references_to_an_unread_dtd_are_left_out(shared_path: Locate) -> None:
    folder = shared_path("data/docs")
    for name in sorted(UNREAD_DTD):
        document = Document.parse((folder / name).read_bytes())
        assert document.tree.docinfo.internalDTD is not None
        assert all(node.tag is not etree.Entity for node in document.tree.iter()), name


@pytest.mark.parametrize("engine", EVERY_ENGINE)
@pytest.mark.parametrize("genre", GENRES)
def test_real_expressions_match_the_documents_libxml2_says(
    shared_path: Locate, genre: str, engine: str
) -> None:
    folder = shared_path("data/xpath")
    lines = (folder / "sample.jsonl").read_text(encoding="utf-8").splitlines()
    rules = [rule for rule in map(json.loads, lines) if rule["genre"] == genre]
    expected: dict[str, set[str]] = {}
    for line in (folder / "sample-expected.tsv").read_text().splitlines()[1:]:
        rule, _, found = line.split("\t")
        expected[rule] = {one.rpartition("=")[0] for one in found.split()}
    matcher = Matcher(engine=engine)
    for number, rule in enumerate(rules):
        matcher.add(number, rule["sub"], rule["ns"])
    documents = (folder / f"docs-{genre}.txt").read_text().split()
    assert documents
    for name in documents:
        decision = matcher.decide((folder.parent / name).read_bytes())
        matches = {rules[number]["id"] for number in decision.matches}
        assert matches == {rule["id"] for rule in rules if name in expected[rule["id"]]}, name
        assert not decision.undecided


def test_real_misses_are_explained(shared_path: Locate) -> None:
    folder = shared_path("data/xpath")
    lines = (folder / "sample.jsonl").read_text(encoding="utf-8").splitlines()
    for rule in map(json.loads, lines):
        for name in (folder / f"docs-{rule['genre']}.txt").read_text().split()[:3]:
            document = Document.parse((folder.parent / name).read_bytes(), name=name)
            matcher = Matcher()
            matcher.add(0, rule["sub"], rule["ns"])
            explanation = explain(rule["sub"], document, rule["ns"])
            assert explanation.matches == bool(matcher.match(document)), (rule["id"], name)
            assert explanation.reasons


# Hostile and broken ones.

HOSTILE = {
    "dtd.xml": True,
    "external.xml": True,
    "external_file.xml": True,
    "simple-ns.xml": True,
    "simple.xml": True,
    "xmlbomb.xml": True,
}
"""Read or refused. What is read fetched nothing; the bomb is a small one, as libxml2 counts."""


def test_hostile_documents_stop_nothing(shared_path: Locate) -> None:
    folder = shared_path("data/hostile")
    paths = sorted(folder.glob("*.xml"))
    assert [path.name for path in paths] == sorted(HOSTILE)
    matcher = Matcher()
    matcher.add(1, "//root | //bomb | //html | //*:root")
    matcher.add(2, "//*[contains(., 'note') or contains(., 'Tove')]")
    for path in paths:
        assert matcher.match(path.read_bytes()) == [1], path.name


def conformance(folder: Path) -> list[tuple[str, str, bytes]]:
    rows = (folder / "catalog.tsv").read_text(encoding="utf-8").splitlines()[1:]
    parts = [row.split("\t") for row in rows]
    return [(kind, path, (folder / path).read_bytes()) for _, kind, path, *_ in parts]


def test_nothing_that_is_not_well_formed_is_answered(shared_path: Locate) -> None:
    tests = conformance(shared_path("data/conformance-sample"))
    broken = [(path, content) for kind, path, content in tests if kind == "not-wf"]
    assert len(broken) == 25
    for path, content in broken:
        assert not reads(content), path


def test_nothing_well_formed_is_refused_that_libxml2_reads(shared_path: Locate) -> None:
    tests = conformance(shared_path("data/conformance-sample"))
    well_formed = [(path, content) for kind, path, content in tests if kind != "not-wf"]
    assert len(well_formed) == 50
    for path, content in well_formed:
        assert reads(content) or not oracle_reads(content), path
