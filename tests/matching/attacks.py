"""Documents made to hurt: each small to write down, and large, deep or curious to read.

``ATTACKS`` maps a name to a function that makes the document and to what must become of it: a
piece of the error, or ``None`` where it is answered like any other. They are functions because
some are 10 MB, and no test should hold them all. The last name of a path, ``canary``, is where a
test puts a file that nobody may read.
"""

from __future__ import annotations

import gzip
from collections.abc import Callable
from typing import Final

__all__ = ["ATTACKS", "CANARY_TEXT"]

CANARY_TEXT: Final = "the canary was fetched"

Maker = Callable[[str], bytes]


def _laughs(ten: int, reference: str, doctype: str = "a") -> bytes:
    entities = '<!ENTITY l0 "lol">' + "".join(
        f'<!ENTITY l{n} "{f"&l{n - 1};" * 10}">' for n in range(1, ten)
    )
    return f"<!DOCTYPE {doctype} [{entities}]><a>{reference}</a>".encode()


def _chain(length: int) -> bytes:
    entities = "".join(f'<!ENTITY e{n} "&e{n - 1};">' for n in range(1, length))
    return f'<!DOCTYPE a [<!ENTITY e0 "x">{entities}]><a>&e{length - 1};</a>'.encode()


def _parameter_laughs() -> bytes:
    entities = "".join(f'<!ENTITY % p{n} "{f"&#37;p{n - 1};" * 10}">' for n in range(1, 10))
    return f'<!DOCTYPE a [<!ENTITY % p0 "x">{entities} %p9;]><a/>'.encode()


def _nested_entities(levels: int) -> bytes:
    entities = "".join(
        f'<!ENTITY e{n} "{"<b>" * 100}{f"&e{n - 1};" if n else ""}{"</b>" * 100}">'
        for n in range(levels)
    )
    return f"<!DOCTYPE a [{entities}]><a>&e{levels - 1};</a>".encode()


def _padded(entity: bytes, references: int) -> bytes:
    """Entities that stay below five times the document, which a comment in front makes large."""
    padding = 9_900_000 - len(entity) - 3 * references
    return b'<!--%s--><!DOCTYPE a [<!ENTITY e "%s">]><a>%s</a>' % (
        b"x" * padding, entity, b"&e;" * references,
    )  # fmt: skip


ATTACKS: Final[dict[str, tuple[Maker, str | None]]] = {
    "billion laughs": (lambda _: _laughs(10, "&l9;"), "amplification"),
    "billion laughs in an attribute": (
        lambda _: _laughs(10, "").replace(b"<a>", b"<a x='&l9;'>"),
        "amplification",
    ),
    "billion laughs beside an unread DTD": (
        lambda _: _laughs(10, "&unknown;&l9;", 'a SYSTEM "a.dtd"'),
        "amplification",
    ),
    "quadratic blow-up": (
        lambda _: b'<!DOCTYPE a [<!ENTITY e "%s">]><a>%s</a>' % (b"x" * 5_000, b"&e;" * 1_200),
        "amplification",
    ),
    "parameter entities in entities": (lambda _: _parameter_laughs(), "internal subset"),
    "chain of 100,000 entities": (lambda _: _chain(100_000), "internal_subset_bytes_max"),
    "chain of 3,000 entities": (lambda _: _chain(3_000), "nesting depth"),
    "elements from entities beside an unread DTD": (
        lambda _: (
            _padded(b"<a/>" * 25_000, 480)
            .replace(b"<!DOCTYPE a [", b"<!DOCTYPE a SYSTEM 'a.dtd' [")
            .replace(b"<a>&e;", b"<a>&unknown;&e;")
        ),
        "elements_max",
    ),
    "entity that is itself": (
        lambda _: b'<!DOCTYPE a [<!ENTITY e "&f;"><!ENTITY f "&e;">]><a>&e;</a>',
        "loop",
    ),
    "levels from entities": (lambda _: _nested_entities(30), "depth_max"),
    "elements from entities": (lambda _: _padded(b"<a/>" * 25_000, 480), "elements_max"),
    "elements with attributes from entities": (
        lambda _: _padded(b"<a b=''/>" * 10_000, 480),
        "elements_max",
    ),
    "attribute defaults": (
        lambda _: (
            b'<!DOCTYPE a [<!ATTLIST b x CDATA "%s">]><a>%s</a>' % (b"y" * 50_000, b"<b/>" * 10_000)
        ),
        "amplification",
    ),
    "11 MB attribute": (lambda _: b'<a x="%s"/>' % (b"x" * 11_000_000), "bytes_max"),
    "11 MB comment": (lambda _: b"<a><!--%s--></a>" % (b"x" * 11_000_000), "bytes_max"),
    "9.9 MB attribute": (lambda _: b'<a x="%s"/>' % (b"x" * 9_900_000), None),
    "9.9 MB comment": (lambda _: b"<a><!--%s--></a>" % (b"x" * 9_900_000), None),
    "9.9 MB name": (lambda _: b"<%s/>" % (b"x" * 9_900_000), "Name too long"),
    "a million levels": (lambda _: b"<a>" * 1_000_000 + b"</a>" * 1_000_000, "depth_max"),
    "a million open elements": (lambda _: b"<a>" * 1_000_000, "depth_max"),
    "2,500,000 elements": (lambda _: b"<a>%s</a>" % (b"<a/>" * 2_499_990), "elements_max"),
    "100,000 attributes": (
        lambda _: b"<a %s/>" % b" ".join(b"a%d=''" % n for n in range(100_000)),
        "attributes_max",
    ),
    "100,000 equal attributes": (lambda _: b"<a %s/>" % (b"x='' " * 100_000), "redefined"),
    "100,000 namespaces": (
        lambda _: b"<a %s/>" % b" ".join(b"xmlns:a%d='u'" % n for n in range(100_000)),
        None,
    ),
    "100,000 elements in a namespace of 1,000 characters": (
        lambda _: b"<a xmlns:p='%s'>%s</a>" % (b"u" * 1_000, b"<p:b/>" * 100_000),
        None,
    ),
    "5,000 elements in a namespace of 1 MB": (
        lambda _: b"<a xmlns:p='%s'>%s</a>" % (b"u" * 1_000_000, b"<p:b/>" * 5_000),
        "name_length_max",
    ),
    "5,000 attributes in a namespace of 1 MB": (
        lambda _: b"<a xmlns:p='%s'>%s</a>" % (b"u" * 1_000_000, b"<b p:c=''/>" * 5_000),
        "name_length_max",
    ),
    "1,000 attributes of one element in a namespace of 9 MB": (
        lambda _: (
            b"<!DOCTYPE a [<!ENTITY e ''>]><a xmlns:p='%s' %s/>"
            % (b"u" * 9_000_000, b" ".join(b"p:a%d=''" % n for n in range(1_000)))
        ),
        "name_length_max",
    ),
    "1,000,001 elements in a namespace of 5 MB": (
        lambda _: b"<a xmlns='%s'>%s</a>" % (b"u" * 5_000_000, b"<a/>" * 1_000_000),
        "name_length_max",
    ),
    "1,000 namespaces of 2,000 characters from a DTD": (
        lambda _: (
            b"<!DOCTYPE a [<!ATTLIST b xmlns CDATA '%s'>]><a>%s</a>"
            % (b"u" * 2_000, b"<b/>" * 1_000)
        ),
        "name_length_max",
    ),
    "25 names of 40,000 characters": (
        lambda _: b"<a>%s</a>" % (b"<%s/>" % (b"n" * 40_000) * 25),
        "name_length_max",
    ),
    "a million processing instructions in front": (lambda _: b"<?p?>" * 1_000_000 + b"<a/>", None),
    "200,000 names": (
        lambda _: b"<a>%s</a>" % b"".join(b"<n%d/>" % n for n in range(200_000)),
        None,
    ),
    "a million processing instructions": (lambda _: b"<a>%s</a>" % (b"<?p?>" * 1_000_000), None),
    "200,000 wrong end tags": (lambda _: b"<a>" + b"</b>" * 200_000, "tag mismatch"),
    "external entity, a file": (
        lambda canary: b'<!DOCTYPE a [<!ENTITY e SYSTEM "file://%s">]><a>&e;</a>' % canary.encode(),
        None,
    ),
    "external entity, a path": (
        lambda canary: b'<!DOCTYPE a [<!ENTITY e SYSTEM "%s">]><a>&e;</a>' % canary.encode(),
        None,
    ),
    "external entity in an attribute": (
        lambda canary: b"<!DOCTYPE a [<!ENTITY e SYSTEM '%s'>]><a x='&e;'/>" % canary.encode(),
        "external",
    ),
    "external DTD": (
        lambda canary: b'<!DOCTYPE a SYSTEM "file://%s"><a>&eacute;</a>' % canary.encode(),
        None,
    ),
    "external parameter entity": (
        lambda canary: b'<!DOCTYPE a [<!ENTITY %% e SYSTEM "%s"> %%e;]><a/>' % canary.encode(),
        None,
    ),
    "XInclude": (
        lambda canary: (
            b'<a xmlns:xi="http://www.w3.org/2001/XInclude">'
            b'<xi:include href="%s" parse="text"/></a>' % canary.encode()
        ),
        None,
    ),
    "stylesheet": (
        lambda canary: b'<?xml-stylesheet href="%s" type="text/xsl"?><a/>' % canary.encode(),
        None,
    ),
    "schema location": (
        lambda canary: (
            b'<a xmlns:x="http://www.w3.org/2001/XMLSchema-instance" '
            b'x:noNamespaceSchemaLocation="%s"/>' % canary.encode()
        ),
        None,
    ),
    "UTF-7": (lambda _: b"<?xml version='1.0' encoding='UTF-7'?>+ADw-a/+AD4-", "UTF-7"),
    "UTF-7 far to the right": (
        lambda _: b"<?xml version='1.0'%sencoding='UTF-7'?>+ADw-a/+AD4-" % (b" " * 5_000),
        "UTF-7",
    ),
    "gzip": (lambda _: gzip.compress(b"<a>%s</a>" % (b"x" * 8_000_000)), "Start tag expected"),
    "a binary file": (lambda _: bytes(range(256)) * 4_000, "line 1"),
    "nothing": (lambda _: b"", "empty"),
}
