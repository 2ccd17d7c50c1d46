"""The text nodes of a document: the ones libxml2 has, found in one walk."""

from __future__ import annotations

import subprocess
import sys
from typing import TYPE_CHECKING, cast

import pytest
from hypothesis import given
from hypothesis import strategies as st
from lxml import etree

from tests.strategies import documents
from twigcast.errors import DocumentError
from twigcast.language import Document
from twigcast.matching.residual.string_values import own_texts

if TYPE_CHECKING:
    from collections.abc import Callable

    from lxml.etree import _Element

_by_oracle = cast("Callable[[_Element], list[str]]", etree.XPath("text()"))

PIECES = [
    "x", "\n", "&e;", "&f;", "&u;", "&lt;", "&#66;", "<![CDATA[]]>", "<![CDATA[c]]>", "<b/>",
    "<b>y</b>", "<!--c-->", "<?p?>",
]  # fmt: skip
ENTITIES = ["", "x", "<b/>", "x<b/>y", "x<!--c-->y", "<![CDATA[]]>", "&#65;", "<b>&g;</b>&g;"]


def _same_as_libxml2(content: bytes) -> bool:
    elements = Document.parse(content).tree.iter("*")
    return all(list(own_texts(element)) == _by_oracle(element) for element in elements)


@given(documents())
def test_the_texts_of_an_element_are_those_that_libxml2_has(content: bytes) -> None:
    assert _same_as_libxml2(content)


@given(
    st.lists(st.sampled_from(PIECES)).map("".join),
    st.sampled_from(ENTITIES),
    st.sampled_from(ENTITIES),
)
def test_nor_do_entities_and_sections_split_a_text(body: str, one: str, other: str) -> None:
    declared = f"<!ENTITY g 'z'><!ENTITY e '{one}'><!ENTITY f '{other}'>"
    try:
        Document.parse(content := f"<!DOCTYPE a SYSTEM 'x' [{declared}]><a>{body}</a>".encode())
    except DocumentError:
        return  # A reference to what grows, or the like, is not the question here.
    assert _same_as_libxml2(content)


CONTENT = """
n = 100_000
body, other = (b"<a>" + (b"x" + between) * n + b"</a>" for between in (b"<!---->", b"<?p?>"))
content = {
    "plain": other,
    "subset": b"<!DOCTYPE a []>" + body,
    "latin-1": b"<?xml version='1.0' encoding='iso-8859-1'?>" + body.replace(b"x", b"\\xe9"),
    "utf-16": other.decode().encode("utf-16"),
}
"""
MATCHING = """
from twigcast import Matcher
matcher = Matcher(engine=engine)
for number, xpath in enumerate(["//b", "//text()[. = 'y']", "/a[text() = 'y']", "//a[. = 'y']"]):
    matcher.add(number, xpath)
for document in content.values():
    matcher.{method}(document{more})
"""
PROGRAMS = {
    **{
        f"{method}, {engine}": f"engine = {engine!r}" + MATCHING.format(method=method, more=more)
        for engine in ("native", "streaming", "lxml")
        for method, more in (("decide", ""), ("find", ""), ("match_links", ", {1: [0, 1, 2]}"))
    },
    "found": """
from twigcast import Matcher
for document in content.values():
    Matcher(["/a/text()[1]", "/a/comment()[1] | /a/processing-instruction()[1]"]).find(document)
""",
    "walked": """
from twigcast import Document, Pattern
from twigcast.matching.residual.tree_walk import holds
for document in content.values():
    assert not holds(Pattern.parse("//a[text() = 'y']").condition, Document.parse(document))
""",
    "explained": """
from twigcast import explain
for document in content.values():
    for xpath in ("//b", "//text()[. = 'y']", "/a/text()[. = 'y']", "//comment()[. = 'y']"):
        explain(xpath, document)
""",
    "measured": """
from twigcast import Document
from twigcast.matching.residual.document_stats import scale, sizes_of
for document in content.values():
    read = Document.parse(document)
    scale(read), sizes_of(read).nodes
""",
    "advertised": """
from twigcast import Document
from twigcast.covering import Advertisement
Advertisement.of_documents([Document.parse(document) for document in content.values()])
""",
}


@pytest.mark.parametrize("program", PROGRAMS)
def test_texts_between_comments_are_read_in_time_that_grows_with_them(program: str) -> None:
    # libxml2 sorts nodes by walking over the comments in front of each: 100,000 take some minutes.
    text = CONTENT + PROGRAMS[program]
    done = subprocess.run([sys.executable, "-c", text], timeout=120, check=False)
    assert done.returncode == 0
