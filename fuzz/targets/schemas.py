"""DTDs, random and damaged: a schema, or a :class:`SchemaError`, within bounds."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from random import Random
from typing import Final

import msgspec
from hypothesis import strategies as st

from fuzz.cases import as_bytes, as_text
from fuzz.drawing import drawer
from fuzz.mutation import XML_PIECES, mutated, spliced
from fuzz.shared import real_schemas
from fuzz.target import ACCEPTED, REFUSED, Fault, Target
from tests.language.schema_strategies import declarations, dressed
from twigcast.errors import InternalError, SchemaError
from twigcast.language.dtd.schema import Schema
from twigcast.language.dtd.writer import dtd_text

PIECES: Final = (
    *XML_PIECES,
    *(
        b"<!ELEMENT a EMPTY>",
        b"<!ELEMENT a (b|c)*>",
        b"<!ELEMENT ",
        b"<!ATTLIST a x CDATA #IMPLIED>",
    ),
    *(
        b"<!ENTITY % p '(b,c)'>",
        b"%p;",
        b"<![INCLUDE[",
        b"<![IGNORE[",
        b"]]>",
        b"(#PCDATA|b)*",
        b"ANY",
    ),
    *(
        b"(",
        b")",
        b"|",
        b",",
        b"*",
        b"+",
        b"?",
        b"#REQUIRED",
        b"#FIXED 'x'",
        b"NOTATION",
        b"SYSTEM 'x'",
    ),
    *(
        b"<!ENTITY % q '&#37;p;'>",
        b"%q;",
        b"<!ENTITY % p SYSTEM 'x.dtd'>",
        b"(" * 300,
        b"xmlns CDATA",
    ),
)


class Case(msgspec.Struct):
    """A DTD."""

    content: str


@cache
def _draw() -> Callable[[Random], str]:
    return drawer(st.one_of(declarations().map(dtd_text), declarations().flatmap(dressed)))


def generate(rng: Random) -> Case:
    """A small DTD or a real one, damaged in most cases."""
    if rng.randrange(4) == 0 and real_schemas():
        content = rng.choice(real_schemas())
    else:
        content = _draw()(rng).encode()
    if rng.randrange(6) == 0:
        content = spliced(rng, content, _draw()(rng).encode())
    if rng.randrange(8):
        content = mutated(rng, content, PIECES, times_max=4)
    return Case(as_text(content))


def check(case: Case) -> str:
    """Read it; what is written from a schema reads back as that schema."""
    try:
        schema = Schema.parse(as_bytes(case.content))
    except InternalError:
        raise
    except SchemaError:
        return REFUSED
    try:
        again = Schema.parse(schema.text.encode(), root=schema.root)
    except SchemaError as error:
        raise Fault("written schema refused", f"{error}: {schema.text}") from error
    if again.declarations != schema.declarations:
        raise Fault("written schema is another", schema.text)
    return ACCEPTED


TARGET: Final = Target(
    name="schemas",
    summary="random, real and damaged DTDs",
    kind=Case,
    generate=generate,
    check=check,
)
