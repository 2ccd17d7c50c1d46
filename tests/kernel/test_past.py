"""The same document, the same answer, whatever was read before.

Readers remember names, namespaces and paths from document to document. Engines that are kept warm
with documents of all kinds (taken, refused, damaged, read by libxml2 and handed over) have to
answer as fresh ones do, and as libxml2 does.
"""

from __future__ import annotations

import random

import pytest

from twigcast.errors import DocumentError
from twigcast.matching import Matcher

pytest.importorskip("twigcast_kernel", reason="the kernel is not built")

RULES = [
    "//a",
    "//b[@x]",
    "//p:a",
    "//w:*/@x",
    "//p:a//q:*",
    "/*[namespace-uri() = 'u v']",
    "//a[. = 't']",
    "//*[@p:x = '1']",
    "//a[b[2]]",
    "//text()",
]
NAMESPACES = {"p": "u", "q": "rel", "w": "u v"}

# Names and namespaces are few, so that they meet again; every other piece is wrong somewhere.
PIECES = """
<a> </a> <a/> <p:a> </p:a> <p:a/> <q:b/> <b·x=''/> <a·p:x='1'·q:x=''/> <a·xmlns='u'> t &amp; &e; ]]>
<a·xmlns='u·v'> <a·xmlns:p='u'> <a·xmlns:p='u·v'> <a·xmlns=''> <b·xmlns='rel'/> <b·xmlns:q='1:2'/>
<a·xmlns:q='u'·xmlns:p='rel'> <a·xmlns:p='u'·xmlns:p='u'/> </b> <xml:a/> <a·xml:id='i'/> <xmlns:a/>
<a-name-of-more-than-sixteen-bytes> </a-name-of-more-than-sixteen-bytes> <a·xmlns:xml='u'/> <é/>
<a:b:c/> <a&/> <a·b/> <!----> <![CDATA[]]> <?x·y?> <q:b·xmlns:q='u·v'/> <b·q:x=''·xmlns:q='rel'/>
""".replace("\n", " ").split()
PROLOGS = [
    "",
    "",
    "",
    "<!DOCTYPE a>",
    "<!DOCTYPE a []>",
    "<!DOCTYPE a [<!ENTITY e 't'><!ATTLIST a x CDATA '1'>]>",
    "<?xml version='1.0' encoding='latin-1'?>",
]


def made_up(rng: random.Random) -> bytes:
    pieces = "".join(rng.choices(PIECES, k=rng.randrange(6)))
    start, end = rng.choice(
        [
            ("", ""),
            ("<a>", "</a>"),
            ("<a xmlns:p='u'>", "</a>"),
            ("<p:a xmlns:p='u v'>", "</p:a>"),
            ("<a xmlns:q='rel'>", "</a>"),
        ]
    )
    document = f"{rng.choice(PROLOGS)}{start}{pieces}{end}".replace("·", " ").encode()
    if rng.random() < 0.2:
        at = rng.randrange(len(document) + 1)
        document = (
            document[:at] + rng.choice([b"", b"<", b"&", b"\xff", b"\0"]) + document[at + 1 :]
        )
    return document


def answer(matcher: Matcher, document: bytes) -> list[int] | None:
    """The matches; None where the document is refused."""
    try:
        return matcher.match(document)
    except DocumentError:
        return None


def made(engine: str) -> Matcher:
    matcher = Matcher(engine=engine)
    for number, rule in enumerate(RULES):
        matcher.add(number, rule, NAMESPACES)
    return matcher


@pytest.mark.parametrize("seed", range(6))
def test_an_engine_with_any_past_answers_as_a_fresh_one_and_as_libxml2(seed: int) -> None:
    rng = random.Random(seed)
    warm, oracle = made("native"), made("lxml")
    fresh_index = made("native").to_bytes()
    outcomes = set()
    for _ in range(400):
        document = made_up(rng)
        expected = answer(oracle, document)
        outcomes.add(expected is None)
        assert answer(Matcher.from_buffer(fresh_index), document) == expected, document
        assert answer(warm, document) == expected, document
    assert outcomes == {True, False}


def test_a_namespace_that_only_libxml2_took_is_refused_where_it_refuses_it() -> None:
    matcher = made("native")
    bad = b"<a xmlns:p='u v'/>"
    assert answer(matcher, bad) is None
    answer(matcher, b"<a xmlns='u v'><b xmlns='rel'/></a>")
    assert answer(matcher, bad) is None
