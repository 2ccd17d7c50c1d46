"""Schemas from files: the shipped ten, real DTDs with their modules, and closed doors."""

from __future__ import annotations

import csv
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from twigcast.errors import SchemaError, SchemaLimitError, UsageError
from twigcast.files.schemas import read_schema, shipped_schema, shipped_schema_names
from twigcast.language.dtd.declarations import child_names
from twigcast.language.dtd.schema import Schema, SchemaLimits

TEN = (
    "auction",
    "bibliography",
    "clinic",
    "flights",
    "news",
    "parts",
    "payments",
    "protein",
    "transit",
    "treebank",
)


def test_ten_schemas_are_shipped() -> None:
    assert shipped_schema_names() == TEN


@pytest.mark.parametrize("name", TEN)
def test_a_shipped_schema_is_whole(name: str) -> None:
    schema = shipped_schema(name)
    assert schema.root is not None
    assert schema.undeclared == ()
    assert schema.heights.keys() == schema.elements.keys()
    assert schema.reachable() == tuple(schema.elements)


def test_the_news_are_as_broad_and_recursive_as_real_ones() -> None:
    news = shipped_schema("news")
    assert len(news.elements) >= 100
    assert sum(len(element.attributes) for element in news.declarations) >= 300
    assert len(news.recursive) >= 20


def test_proteins_do_not_recurse_and_trees_do() -> None:
    assert not shipped_schema("protein").recursive
    assert len(shipped_schema("treebank").recursive) >= 10


def test_shipped_schemas_share_few_names() -> None:
    names = [set(shipped_schema(name).elements) for name in TEN]
    for index, one in enumerate(names):
        for other in names[:index]:
            assert len(one & other) < 0.4 * min(len(one), len(other))


def test_an_unknown_name_is_answered_with_the_known_ones() -> None:
    with pytest.raises(UsageError, match=r"no schema 'sports' .* auction, bibliography"):
        shipped_schema("sports")


def test_a_dtd_is_read_with_the_modules_in_its_folder(tmp_path: Path) -> None:
    (tmp_path / "sub").mkdir()
    (tmp_path / "main.dtd").write_text('<!ENTITY % a SYSTEM "sub/a b.mod">%a;<!ELEMENT r (a)>')
    (tmp_path / "sub" / "a b.mod").write_text('<!ENTITY % b SYSTEM "../b%20c.mod">%b;')
    (tmp_path / "b c.mod").write_text("<!ELEMENT a EMPTY>")
    schema = read_schema(tmp_path / "main.dtd")
    assert tuple(schema.elements) == ("a", "r")
    assert read_schema(str(tmp_path / "main.dtd"), root="a").root == "a"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder with a secret beside it, and links that lead there."""
    (tmp_path / "secret.dtd").write_text("<!ELEMENT secret EMPTY>")
    inner = tmp_path / "dtd"
    inner.mkdir()
    (inner / "link.mod").symlink_to(tmp_path / "secret.dtd")
    (inner / "up").symlink_to(tmp_path)
    (inner / "loop").symlink_to(inner / "loop")
    (inner / "here.mod").write_text("<!ELEMENT here EMPTY>")
    (inner / "alias.mod").symlink_to(inner / "here.mod")
    os.mkfifo(inner / "pipe")
    return inner


def asking(folder: Path, system_id: str) -> Path:
    main = folder / "main.dtd"
    main.write_text(f'<!ENTITY % x SYSTEM "{system_id}">\n%x;<!ELEMENT r EMPTY>')
    return main


@pytest.mark.parametrize(
    "system_id",
    [
        "../secret.dtd",
        "sub/../../secret.dtd",
        "%2e%2e/secret.dtd",
        "..%2fsecret.dtd",
        "link.mod",
        "up/secret.dtd",
        "loop",
        "pipe",
        ".",
        "missing.mod",
        "here.mod%00",
        "/etc/passwd",
        "file:///etc/passwd",
        "http://127.0.0.1:9/x",
    ],
)
def test_nothing_outside_of_the_folder_is_read(folder: Path, system_id: str) -> None:
    with pytest.raises(SchemaError, match="was not given") as refused:
        read_schema(asking(folder, system_id))
    assert (refused.value.module, refused.value.line) == ("main.dtd", 2)


def test_absolute_paths_are_refused_even_into_the_folder(folder: Path) -> None:
    with pytest.raises(SchemaError):
        read_schema(asking(folder, str(folder / "here.mod")))
    with pytest.raises(SchemaError):
        read_schema(asking(folder, (folder / "here.mod").as_uri()))


def test_links_inside_of_the_folder_are_followed(folder: Path) -> None:
    assert tuple(read_schema(asking(folder, "alias.mod")).elements) == ("here", "r")


def test_missing_modules_can_be_left_out_but_not_strange_ones(folder: Path) -> None:
    schema = read_schema(asking(folder, "missing.mod"), skip_missing=True)
    assert tuple(schema.elements) == ("r",)
    with pytest.raises(SchemaError):
        read_schema(asking(folder, "../secret.dtd"), skip_missing=True)


def test_a_path_that_leads_out_is_not_even_looked_at(folder: Path) -> None:
    program = (
        "import sys; from twigcast.files.schemas import read_schema\n"
        "from twigcast.errors import SchemaError\n"
        "touched = []\n"
        "sys.addaudithook(lambda event, args: touched.append(str(args[0]))"
        " if event in {'open', 'os.listdir', 'socket.connect'} else None)\n"
        "try:\n    read_schema(sys.argv[1])\nexcept SchemaError:\n    print(touched)\n"
    )
    main = asking(folder, "../secret.dtd")
    finished = subprocess.run(
        [sys.executable, "-c", program, str(main)], capture_output=True, text=True, check=True
    )
    assert finished.stdout == f"{[str(main)]}\n"


def test_a_file_that_is_not_there_or_too_large_is_said(tmp_path: Path) -> None:
    with pytest.raises(SchemaError, match=r"none\.dtd: there is no such file"):
        read_schema(tmp_path / "none.dtd")
    (tmp_path / "large.dtd").write_text("<!-- " + "x" * 100 + " -->")
    with pytest.raises(SchemaLimitError, match="bytes_max"):
        read_schema(tmp_path / "large.dtd", limits=SchemaLimits(bytes_max=50))


def test_real_dtds_have_the_counts_of_their_index(shared_path: Callable[[str], Path]) -> None:
    folder = shared_path("data/dtd").parent
    lines = (folder / "dtd/INDEX.tsv").read_text().splitlines()
    rows = list(csv.DictReader(lines, delimiter="\t"))
    assert rows
    for row in rows:
        path = folder / row["path"]
        if row["elements"] == "-":
            with pytest.raises(SchemaError):
                read_schema(path)
            continue
        # A copy of this one goes about without its module for formulas.
        schema = read_schema(path, skip_missing=path.name == "pubmed_190101.dtd")
        attributes = sum(len(element.attributes) for element in schema.declarations)
        found = (len(schema.elements), attributes, _recursive_without_prefixes(schema))
        expected = tuple(int(row[key]) for key in ("elements", "attributes", "recursive_elements"))
        assert found == expected, row["path"]


def _recursive_without_prefixes(schema: Schema) -> int:
    """How many elements are recursive if ``mml:list`` and ``list`` are taken for the same.

    The index was made with lxml, which does not tell prefixes in content models. Only the journal
    articles, which mix formulas into text, come out differently: 166 elements are recursive, not
    164.
    """
    children: dict[str, set[str]] = {}
    for element in schema.declarations:
        names = (name.rpartition(":")[2] for name in child_names(element.content))
        children.setdefault(element.name.rpartition(":")[2], set()).update(names)
    below = {name: set(found) for name, found in children.items()}
    changed = True
    while changed:
        changed = False
        for found in below.values():
            more = set().union(*(below.get(name, set()) for name in found)) - found
            found.update(more)
            changed = changed or bool(more)
    return sum(name in found for name, found in below.items())


def test_a_dtd_behind_links_that_lead_to_each_other_cannot_be_read(tmp_path: Path) -> None:
    (tmp_path / "circle").symlink_to("circle")
    with pytest.raises(SchemaError, match="cannot be read"):
        read_schema(tmp_path / "circle" / "a.dtd")
