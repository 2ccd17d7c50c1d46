"""What the pages of ``docs`` show is what happens, and where they point there is something."""

from __future__ import annotations

import re
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.docs.pages import (
    DOCS,
    PAGES,
    ROOT,
    Block,
    Reader,
    blocks_of,
    commands_of,
    fits,
    prose_of,
)

if TYPE_CHECKING:
    from _pytest.mark import ParameterSet

_LINK = re.compile(r"(?<!!)\[[^\]]*\]\(([^)\s]+)\)")
_HEADING = re.compile(r"^#+ (.*)$", re.MULTILINE)


_SPARK = (
    pytest.mark.spark,
    pytest.mark.xdist_group("spark"),
    pytest.mark.skipif(find_spec("pyspark") is None, reason="the extra spark is not installed"),
)


def _with_marks(page: Path) -> ParameterSet:
    needs_spark = any(block.needs_spark for block in blocks_of(page))
    return pytest.param(page, id=page.stem, marks=_SPARK if needs_spark else ())


@pytest.mark.parametrize("page", [_with_marks(page) for page in PAGES])
def test_a_page_shows_what_happens(
    page: Path, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    reader = Reader(tmp_path)
    blocks = blocks_of(page)
    assert blocks or page.stem in {"README", "glossary"}
    for block in blocks:
        if block.needs_spark and block.language == "python":
            request.getfixturevalue("spark")
        reader.follow(block)


@pytest.mark.parametrize("page", [*PAGES, ROOT / "README.md"], ids=lambda page: page.stem)
def test_every_link_leads_somewhere(page: Path) -> None:
    broken = [link for link in _LINK.findall(prose_of(page)) if not _leads_somewhere(page, link)]
    assert not broken


def _leads_somewhere(page: Path, link: str) -> bool:
    if re.match(r"[a-z]+:", link):
        return True  # a place on the net, which no test visits
    path, _, anchor = link.partition("#")
    target = (page.parent / path).resolve() if path else page
    if not target.exists():
        return False
    return not anchor or anchor in {_anchor(title) for title in _HEADING.findall(prose_of(target))}


def _anchor(title: str) -> str:
    """The name that a heading can be reached by, made as most renderers make it."""
    return re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-")


def test_the_index_names_every_page() -> None:
    linked = set(_LINK.findall((DOCS / "README.md").read_text(encoding="utf-8")))
    assert {page.name for page in PAGES} - {"README.md"} <= linked


def test_an_ellipsis_is_part_of_a_line_or_any_number_of_lines() -> None:
    assert fits("a … c", "a b c")
    assert not fits("a … c", "a b\nc")
    assert fits("a\n…\nz", "a\nb\nc\nz")
    assert fits("a\n…\nz", "a\nz")
    assert fits("a\n…", "a\nb\nc")
    assert not fits("a\n…\nz", "a\nb\ny")


def test_commands_are_told_from_what_they_print() -> None:
    block = Block("here", ("console",), "$ a \\\n> b\nout\n> quoted\n$ c\n$ d\nx\n")
    assert list(commands_of(block)) == [("a \\\nb", "out\n> quoted\n"), ("c", ""), ("d", "x\n")]


@pytest.mark.parametrize(
    ("language", "text"),
    [
        ("console", "$ echo one\ntwo\n"),
        ("console", "$ exit 3\n$ echo $?\n0\n"),
        ("python", "raise AssertionError\n"),
        ("Python", "print(1)\n"),
    ],
)
def test_a_block_that_says_something_else_is_found(
    language: str, text: str, tmp_path: Path
) -> None:
    with pytest.raises(AssertionError):
        Reader(tmp_path).follow(Block("here", (language,), text))


def test_what_python_prints_is_compared_with_the_text_below(tmp_path: Path) -> None:
    reader = Reader(tmp_path)
    reader.follow(Block("here", ("text", "names.txt"), "Anna\n"))
    reader.follow(Block("here", ("python",), "from pathlib import Path\n"))
    reader.follow(Block("here", ("python",), "print(Path('names.txt').read_text())\n"))
    with pytest.raises(AssertionError, match="Ben"):
        reader.follow(Block("here", ("text",), "Ben\n"))
    reader.follow(Block("here", ("text",), "no Python block is just before this one\n"))
