"""The size of an internal subset, found without reading it."""

from __future__ import annotations

import subprocess
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st
from lxml import etree

from twigcast.errors import DocumentLimitError
from twigcast.language import Document
from twigcast.language.document.internal_subset import internal_subset_bytes

DECLARATIONS = [
    "<!ELEMENT a (b | (c, d)*)>",
    "<!ATTLIST a b CDATA ']>' c (d | e) \"]>\">",
    "<!ENTITY e ']><f>'>",
    '<!ENTITY f "it\'s">',
    "<!NOTATION n SYSTEM ']'>",
    "<!-- it's ]> \" -->",
    "<?p it's ]> \" ?>",
    " \n",
    "%p;",
]
FRONTS = ["", "<?xml version='1.0'?>", "<!-- <!DOCTYPE a [ -->\n<?p ]> ?>", "\n"]
NAMES = ["a", "a SYSTEM ']>['", 'a PUBLIC "x" "it\'s ["', "é"]


@given(
    st.sampled_from(FRONTS),
    st.sampled_from(NAMES),
    st.lists(st.sampled_from(DECLARATIONS)).map("".join),
    st.sampled_from(["", " ", "\n"]),
    st.sampled_from(["<a/>", "<a>]><!DOCTYPE a [ x ]></a>", ""]),
)
def test_the_subset_ends_at_its_own_bracket(
    front: str, name: str, subset: str, blank: str, body: str
) -> None:
    text = f"{front}<!DOCTYPE {name} [{subset}]{blank}>{body}"
    size = len(subset.encode())
    assert internal_subset_bytes(text.encode()) == size
    assert internal_subset_bytes(b"\xef\xbb\xbf" + text.encode()) == size
    for encoding in ("utf-16", "utf-16-le", "utf-16-be"):
        assert internal_subset_bytes(text.encode(encoding), wide=True) == size


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"<a/>",
        b"<!DOCTYPE a><a>[x]</a>",
        b"<!DOCTYPE a SYSTEM '['><a>]</a>",
        b"<a><!DOCTYPE a [x]></a>",
        b"<!-- <!DOCTYPE a [x]> --><a/>",
        b"<!-- <!DOCTYPE a [x]><a/>",
        b"<? <!DOCTYPE a [x]><a/>",
    ],
)
def test_where_there_is_no_subset_it_has_no_size(content: bytes) -> None:
    assert internal_subset_bytes(content) == 0
    assert internal_subset_bytes(content.decode().encode("utf-16"), wide=True) == 0


@pytest.mark.parametrize("end", ["", "'", "<!-- ]>", "<?p ]>", "<!ENTITY e ']>"])
def test_a_subset_that_never_ends_is_all_that_follows(end: str) -> None:
    assert internal_subset_bytes(f"<!DOCTYPE a [{end}<!ELEMENT a ANY>".encode()) == len(end) + 16


KINDS = {
    "IDs": lambda n: " ".join(f"b{i} ID #IMPLIED" for i in range(n)),
    "IDs behind others": lambda n: " ".join(
        [*(f"c{i} CDATA #IMPLIED" for i in range(n)), *(f"b{i} ID #IMPLIED" for i in range(n))]
    ),
    "xmlns": lambda n: " ".join(
        [*(f"p{i}:xmlns CDATA ''" for i in range(n)), *(f"b{i} CDATA ''" for i in range(n))]
    ),
    "CDATA": lambda n: " ".join(f"b{i} CDATA 'x'" for i in range(n)),
}


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("encoding", ["utf-8", "utf-16", "utf-16-be", "iso-8859-1"])
@pytest.mark.parametrize("form", ["one declaration", "many"])
def test_more_declarations_than_allowed_never_reach_libxml2(
    kind: str, encoding: str, form: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    attributes = KINDS[kind](20_000)
    declared = f"<!ATTLIST a {attributes}>"
    if form == "many":
        fields = attributes.split()
        declared = "".join(
            f"<!ATTLIST a {' '.join(fields[at : at + 3])}>" for at in range(0, len(fields), 3)
        )
    text = f"<?xml version='1.0' encoding='{encoding[:6]}'?><!DOCTYPE a [{declared}]><a/>"
    if encoding == "iso-8859-1":
        text = text.replace("iso-88", encoding)

    def read(*_: object) -> None:
        pytest.fail("libxml2 was called")

    monkeypatch.setattr(etree, "fromstring", read)
    with pytest.raises(DocumentLimitError) as caught:
        Document.parse(text.encode(encoding))
    assert caught.value.limit == "internal_subset_bytes_max"


def test_declarations_are_never_copied() -> None:
    program = """
from twigcast import Document, DocumentLimits
declared = b" ".join(b"b%d CDATA 'x'" % number for number in range(200_000))
content = b"<!DOCTYPE a [<!ATTLIST a " + declared + b">]><a/>"
print(Document.parse(content, limits=DocumentLimits(internal_subset_bytes_max=10**7)).grows)
"""
    # A copy takes many minutes, which grow with the square of the number; reading takes no second.
    done = subprocess.run(
        [sys.executable, "-c", program], timeout=120, check=True, capture_output=True, text=True
    )
    assert done.stdout == "True\n"


@pytest.mark.parametrize("content", [b"<!DOCTYPE a><a/>", b"<!DOCTYPE a []><a/>"])
def test_a_document_with_a_doctype_may_grow(content: bytes) -> None:
    assert Document.parse(content).grows
    assert not Document.parse(b"<a/>").grows
