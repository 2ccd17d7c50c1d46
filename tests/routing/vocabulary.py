"""What is asked for, promised and published in tests of whole networks.

Few names and few values, so that subscriptions are often equal, cover each other, mean the same in
other words, or can be merged, and documents match some and not others. Each expression stands here
twice: as a subscriber writes it, and as plain XPath 1.0 for libxml2.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache
from io import BytesIO
from random import Random
from typing import Literal, NamedTuple

from lxml import etree

from tests.covering.drawn import drawn_document, drawn_pattern
from tests.oracle import oracle_tree
from tests.strategies import NAMESPACES
from twigcast.covering import Advertisement
from twigcast.language import Document, Pattern, Schema
from twigcast.routing.strategy import (
    Strategy,
    advertised,
    best,
    covering,
    flooding,
    identity,
    piggyback,
    prefix,
)
from twigcast.workload.documents import generate_document

STRATEGIES: tuple[Strategy, ...] = (
    flooding(),
    identity(),
    covering(),
    covering("producers"),
    prefix(),
    prefix(depth=1),
    prefix(depth=2),
    advertised(),
    advertised(covering=False),
    advertised(merging="perfect"),
    advertised(covering=False, merging="perfect"),
    advertised(merging="imperfect", degree=0.1),
    advertised(merging="imperfect", degree=0.6),
    advertised(covering=False, merging="imperfect", degree=1.0),
    advertised(unadvertised="refuse"),
    advertised(unadvertised="refuse", merging="perfect"),
    advertised(unit="path"),
    advertised(unit="path", covering=False),
    advertised(unit="path", merging="perfect"),
    advertised(unit="path", covering=False, merging="imperfect", degree=0.6),
    best(),
)

POSITIVE, NEGATIVE = ("", "+s", "+d", "+sd"), ("", "-s", "-d", "-sd")

WAYS: tuple[tuple[Literal["eager", "lazy", "adaptive"], str], ...] = (
    *(("eager", kinds) for kinds in POSITIVE),
    *(("lazy", one + other) for one in POSITIVE for other in NEGATIVE),
    *(("adaptive", kinds) for kinds in ("", "+s-sd", "+sd-sd")),
)
"""Protocols and kinds of annotations: all that Piggyback compares, and the adaptive one."""

_BASES: tuple[tuple[Strategy, float | None], ...] = (
    (identity(), None),
    (covering(), None),
    (covering(), 0.25),
    (covering(), 0.5),
    (covering("producers"), 0.25),
    (prefix(), None),
    (prefix(depth=2), 0.5),
    (advertised(), None),
    (advertised(), 0.25),
    (advertised(merging="perfect"), None),
    (advertised(covering=False, merging="imperfect", degree=0.6), None),
    (advertised(unadvertised="refuse"), 0.5),
)


def annotating(
    protocol: Literal["eager", "lazy", "adaptive"], kinds: str, *, audit: float = 0.0
) -> list[Strategy]:
    """Strategies that annotate in one way, on all that can be annotated."""
    return [piggyback(protocol, kinds, on=base, space=space, audit=audit) for base, space in _BASES]


# What is asked for.


@dataclass(frozen=True)
class Expression:
    """An expression as a subscriber writes it, and as libxml2 reads it."""

    text: str
    oracle: str
    prefixes: tuple[tuple[str, str], ...] = tuple(NAMESPACES.items())

    @property
    def namespaces(self) -> dict[str, str]:
        return dict(self.prefixes)

    @property
    def pattern(self) -> Pattern:
        return Pattern.parse(self.text, self.namespaces)

    def __repr__(self) -> str:
        return f"asked({self.text!r})"


def _same(text: str) -> Expression:
    return Expression(text, text)


PLAIN = (
    "/a", "//a", "/a/b", "/a//b", "//b", "/a/c", "/a/*", "/*/b", "//a/b", "//c", "/a/b/c", "/a/c/c",
    "/a//c", "/b/c", "/b/*", "/a/a/b", "/a/a", "//a//b", "/a/b/@x", "/d", "/d/e", "/d/c",
)  # fmt: skip
"""Single paths: covering, and merging by each of the rules, are at home here."""

ALIKE = (
    "/*", "//*", "/a/*//c", "/a//*/c", "//a/*//b", "//a//*/b", "//a[b or c]", "//a/b | //a/c",
    "/a/*", "/a//*", "//a/*", "//a//*", "/a/*/*", "/a//*/*", "/a/*//*", "/*//a", "//*/a",
    "/a/b and /a/c", "/a[b][c]", "//@x", "//*[@x]", "/a and /b", "false()", "//a[b]", "//b/..",
    "/a/b/*/c", "/a/c//*/c", "/a//c", "//b",
)  # fmt: skip
"""Different texts for one meaning: they cover each other in cycles, and others above and below."""

MERGEABLE = (
    "/m/b", "/m/c", "/m/d", "/m/b/e", "/m/b/f", "/m/c/e", "/m/c/f", "/m/d/e", "/m/d/f", "/m/*/e",
    "/m//e", "/m//f", "/m/b//e", "/m/c//e", "/m/b/*", "//b/e", "//c/e", "/m/b/@x", "/m/c/@x",
    "/m/b[e]/f", "/m/c[e]/f",
)  # fmt: skip
"""Each of the three rules merges some of them, perfectly or not, under the schemas of ``m``."""

WILD = (
    "/m/*", "/m/b", "/m/c", "/*/b", "/*/c", "/m/*/e", "/m/*/f", "/m/b/e", "/m/b/f", "/m/c/e",
    "/m/c/f", "/m/d/e", "/m/d/f", "/m/b/*", "/m/c/*", "/*/*/e", "/*/b/e", "/m//e", "/m//f", "//*/e",
    "//b/e", "//c/e", "/m/*[e]/f", "/m/b[e]/f", "/m/c[e]/f", "/m[*/e]/b", "/m[b/e]/b", "/m[c/e]/b",
    "/m/b/e and /m/c/f", "/m/*/e and /m/c/f", "/m/*/e and /m/*/f", "not(/m/*/e)", "/m/*[2]",
)  # fmt: skip
"""Patterns with wildcards, and what they are when something stands in their places."""

VALUED = (
    "//a[@x]", "//a[@x > 1]", "//a[@x > 2]", "//a[@x = '5']", "//a[@x != '5']", "/a[b = 'x']",
    "//b[. = 'xy']", "//b[starts-with(., 'x')]", "//b[contains(., 'y')]", "//*[@x]", "//b[@x]",
    "/a/b[@x = 1]", "/a/b[@x = 2]", "/a[b][c]", "/a[b[@x]]/c", "//a[b/c]/c", "//c[text()]",
)  # fmt: skip

CONNECTED = (
    "/a/b or /a/c", "/a/b and /a/c", "not(//c)", "//a[not(b)]", "//a[not(@x)]", "//a | //b",
    "not(//a) and //b", "//a[b and not(c)]",
)  # fmt: skip

RESIDUAL = (
    "//a/b[2]", "//a[count(b) > 1]", "/a[b = c]", "//b[last() = 2]", "//c/preceding-sibling::b",
    "//a[b[1] = 'x']", "/a[count(*) = 1]", "//b[position() = 1 and @x]", "//c/ancestor::a",
)  # fmt: skip
"""An index can only find candidates for these; libxml2 decides."""

QUALIFIED = (
    _same("//p:a"),
    _same("//p:*"),
    _same("/p:a/b"),
    _same("//q:b"),
    Expression("//*:a", "//*[local-name()='a']"),
    Expression("//{urn:p}a", "//p:a"),
    Expression("//other:a", "//other:a", (("other", "urn:p"),)),
    Expression("//p:a", "//p:a", (("p", "urn:q"),)),
    Expression("//{urn:p}a[@p:x]", "//p:a[@p:x]"),
)
"""One name under two prefixes, and one prefix for two names."""


@cache
def _drawn(seed: int) -> Expression:
    return Expression(
        drawn_pattern(Random(seed), for_oracle=False), drawn_pattern(Random(seed), for_oracle=True)
    )


DRAWN = tuple(map(_drawn, range(60)))

EXPRESSIONS: tuple[Expression, ...] = (
    *map(_same, dict.fromkeys((*PLAIN, *ALIKE, *MERGEABLE, *VALUED, *CONNECTED, *RESIDUAL))),
    *QUALIFIED,
    *DRAWN,
)
"""All that may be asked for, from the plainest to the strangest."""


# What is promised.

_DTDS = (
    """<!ELEMENT a (b*, c*)> <!ATTLIST a x (1|2|5) #IMPLIED>
       <!ELEMENT b (#PCDATA | c)*> <!ATTLIST b x (1|2) #IMPLIED>
       <!ELEMENT c (#PCDATA)>""",
    "<!ELEMENT a (b | c)> <!ELEMENT b EMPTY> <!ELEMENT c EMPTY>",
    "<!ELEMENT a (a | b)*> <!ATTLIST a x (1|5) #IMPLIED> <!ELEMENT b EMPTY>",
    "<!ELEMENT b (c+)> <!ELEMENT c (#PCDATA)>",
    "<!ELEMENT b (c | b)*> <!ATTLIST b x (1|2) #IMPLIED> <!ELEMENT c (#PCDATA)>",
    "<!ELEMENT d (e?, c?)> <!ELEMENT e EMPTY> <!ELEMENT c (c?)>",
    """<!ELEMENT p:a (b | p:a)*> <!ATTLIST p:a xmlns:p CDATA #FIXED "urn:p">
       <!ELEMENT b (#PCDATA)> <!ATTLIST b x (1|2) #IMPLIED>""",
    """<!ELEMENT m (b | c)*> <!ELEMENT b (e | f)*> <!ELEMENT c (e | f)*>
       <!ATTLIST b x (1|2) #IMPLIED> <!ATTLIST c x (1|2) #IMPLIED>
       <!ELEMENT e EMPTY> <!ELEMENT f EMPTY>""",
    """<!ELEMENT m (b | c | d)*> <!ELEMENT b (e | f)*> <!ELEMENT c (e?)> <!ELEMENT d (f | e)*>
       <!ELEMENT e EMPTY> <!ELEMENT f EMPTY>""",
)

SCHEMAS: tuple[Schema, ...] = tuple(
    Schema.parse(text.encode(), root=root)
    for text, root in zip(_DTDS, ("a", "a", "a", "b", "b", "d", "p:a", "m", "m"), strict=True)
)
"""Small ones: the second is part of the first, the fourth of the fifth, the third has no end."""


@cache
def advertisement_of(number: int) -> Advertisement:
    """What the schema of that number promises."""
    return Advertisement.of_schema(SCHEMAS[number])


# What is published.


def _of_schema(number: int) -> list[bytes]:
    """Documents of a schema, from the least to some with a dozen elements."""
    return [
        generate_document(SCHEMAS[number], rng=Random(size), elements=size, depth_max=5)
        for size in (1, 2, 3, 5, 8, 12)
    ]


DOCUMENTS: tuple[bytes, ...] = (
    *dict.fromkeys(document for number in range(len(SCHEMAS)) for document in _of_schema(number)),
    b"<a/>",
    b"<b/>",
    b"<c/>",
    b"<z/>",
    b"<a x='5'><b x='1'>xy</b><c>x</c></a>",
    b"<a x='2'><b>x</b><b>x</b><c>x</c></a>",
    b"<a><b><c/></b></a>",
    b"<a><b>y</b></a>",
    b"<a><d><c><b/></c></d></a>",
    b"<b xmlns='urn:p'><a/></b>",
    b"<q:b xmlns:q='urn:q'><q:a x='2'/></q:b>",
    b"<p:a xmlns:p='urn:p' p:x='1'><b x='2'/></p:a>",
    '<?xml version="1.0" encoding="UTF-16"?><a x="10"><b>é</b><c/></a>'.encode("utf-16"),
    *(drawn_document(Random(seed)) for seed in range(25)),
)
"""Documents that keep to a promise come first."""


class Theme(NamedTuple):
    """What a network may be about."""

    spoken: tuple[Expression, ...]
    schemas: tuple[int, ...]
    documents: tuple[bytes, ...]


def _theme(spoken: Iterable[Expression], *schemas: int) -> Theme:
    """Documents are those that keep to one of the schemas, and a few that keep to none."""
    about = [each for each in DOCUMENTS if any(keeps(number, each) for number in schemas)]
    return Theme(tuple(spoken), schemas, (*about, *DOCUMENTS[-25::5]))


@cache
def _valid(number: int, content: bytes) -> bool:
    dtd = etree.DTD(BytesIO(_DTDS[number].encode()))
    root = oracle_tree(content).getroot()
    return SCHEMAS[number].root == root.tag and bool(dtd.validate(root))


@cache
def keeps(number: int, content: bytes) -> bool:
    """Whether a document keeps to the promise of a schema; what libxml2 finds valid does."""
    kept = advertisement_of(number).includes(Document.parse(content))
    assert kept or not _valid(number, content), f"{content!r} is valid and breaks the promise"
    return kept


@cache
def _tree(content: bytes) -> etree._ElementTree:
    return oracle_tree(content)


@cache
def satisfied(asked: Expression, content: bytes) -> bool:
    """What libxml2 says, as in :func:`tests.oracle.oracle`, each pair once."""
    evaluate = etree.XPath(
        f"boolean(/self::node()[boolean({asked.oracle})])",
        namespaces=asked.namespaces,
        regexp=False,
    )
    return bool(evaluate(_tree(content)))


THEMES: dict[str, Theme] = {
    "everything": Theme(EXPRESSIONS, tuple(range(len(SCHEMAS))), DOCUMENTS),
    "plain": _theme(map(_same, PLAIN), 0, 1, 2, 3, 4, 5),
    "alike": _theme(map(_same, ALIKE), 0, 2),
    "mergeable": _theme(map(_same, MERGEABLE), 7, 8),
    "small": _theme(map(_same, PLAIN[:8]), 0, 1),
    "values": _theme(map(_same, (*VALUED, *CONNECTED)), 0, 2, 4),
    "strange": _theme((*map(_same, RESIDUAL), *QUALIFIED, *DRAWN), 0, 4, 6),
}
"""Words that meet, by what is interesting about them."""

WILDCARDS = _theme(map(_same, WILD), 7, 8)
"""For annotations that tell what a wildcard stood for."""
