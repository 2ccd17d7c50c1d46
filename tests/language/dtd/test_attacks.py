"""DTDs from untrusted sources: nothing is opened, nothing explodes, refusals have reasons."""

from __future__ import annotations

import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from twigcast.errors import LimitError, SchemaError, SchemaLimitError
from twigcast.language.dtd.schema import Schema, SchemaLimits

ADDRESSES = (
    "file:///etc/passwd",
    "/etc/passwd",
    "../../../../etc/passwd",
    "http://127.0.0.1:9/x.dtd",
    "ftp://127.0.0.1:9/x.dtd",
    "//127.0.0.1/x.dtd",
    "jar:file:///x!/y",
    "C:\\boot.ini",
    "\\\\host\\share",
    "-",
    "",
    "%2e%2e/x.dtd",
    "x.dtd.gz",
)

WATCHED = """
import sys
from twigcast.errors import SchemaError
from twigcast.language.dtd.schema import Schema

touched = []
watched = ("open", "os.listdir", "os.scandir", "socket.", "urllib.", "subprocess.", "ftplib.")

def watch(event, args):
    if event.startswith(watched):
        touched.append((event, args))

sys.addaudithook(watch)
refused = 0
for text in sys.argv[1:]:
    try:
        Schema.parse(text.encode())
    except SchemaError:
        refused += 1
assert not touched, touched
print(refused)
"""


@pytest.mark.parametrize("address", ADDRESSES)
def test_an_external_entity_is_requested_from_the_resolver_alone(address: str) -> None:
    requested: list[str] = []

    def resolve(_public_id: str | None, system_id: str) -> None:
        requested.append(system_id)

    dtd = f'<!ENTITY % x SYSTEM "{address}">%x;<!ELEMENT a EMPTY>'
    with pytest.raises(SchemaError, match="was not given; no other is opened"):
        Schema.parse(dtd.encode(), resolve=resolve)
    assert len(requested) == 1


def test_no_file_and_no_socket_is_touched(tmp_path: Path) -> None:
    canary = tmp_path / "canary.dtd"
    canary.write_text("<!ELEMENT canary EMPTY>")
    addresses = [*ADDRESSES, str(canary), canary.as_uri()]
    dtds = [f'<!ENTITY % x SYSTEM "{address}">%x;<!ELEMENT a EMPTY>' for address in addresses]
    dtds += [
        f'<!ENTITY x SYSTEM "{address}"><!ELEMENT a EMPTY><!ATTLIST a b CDATA "&x;">'
        for address in addresses
    ]
    finished = subprocess.run(
        [sys.executable, "-c", WATCHED, *dtds],
        capture_output=True,
        text=True,
        check=False,
        env={"XML_CATALOG_FILES": str(canary), "PYTHONDONTWRITEBYTECODE": "1"},
    )
    assert finished.stderr == ""
    assert finished.stdout == f"{len(dtds)}\n"


def nested(count: int, opening: str, middle: str, closing: str) -> str:
    return opening * count + middle + closing * count


def laughs(reference: str) -> str:
    lines = ["<!ENTITY % a0 '<!-- ha -->'>"]
    lines += [f"<!ENTITY % a{n} '{f'{reference}a{n - 1};' * 10}'>" for n in range(1, 12)]
    return "".join(lines) + "%a11;"


ATTACKS = {
    "an entity that is itself": '<!ENTITY % a "&#37;a;">%a;',
    "two entities that are each other": '<!ENTITY % a "&#37;b;"><!ENTITY % b "&#37;a;">%a;',
    "a value made of itself": '<!ENTITY % a "&#37;a;"><!ENTITY % b "%a;">',
    "a billion laughs, early": laughs("%"),
    "a billion laughs, late": laughs("&#37;"),
    "a chain of entities": "<!ENTITY % a0 ''>"
    + "".join(f"<!ENTITY % a{n} '&#37;a{n - 1};'>" for n in range(1, 1000))
    + "%a999;",
    "a million empty references": "<!ENTITY % a ''>" + "%a;" * 1_000_000,
    "one large entity, many times": f"<!ENTITY % a '{'x' * 100_000}'>"
    + "".join(f"<!ENTITY % b{n} '%a;'>" for n in range(1000)),
    "a default value that explodes": "<!ENTITY a0 'x'>"
    + "".join(f"<!ENTITY a{n} '{f'&a{n - 1};' * 10}'>" for n in range(1, 10))
    + "<!ATTLIST e a CDATA '&a9;'>",
    "ten thousand parentheses": f"<!ELEMENT a {nested(10_000, '(', 'b', ')')}>",
    "parentheses that never close": "<!ELEMENT a " + "(" * 1_000_000 + ">",
    "sections that never close": "<![INCLUDE[" * 100_000,
    "many attributes": "<!ATTLIST a "
    + " ".join(f"x{n} CDATA #IMPLIED" for n in range(40_000))
    + ">",
    "many elements": "".join(f"<!ELEMENT x{n} EMPTY>" for n in range(150_000)),
    "many declarations": "<!ATTLIST a x CDATA ''>" * 150_000,
    "many names": f"<!ELEMENT a ({'b|' * 1_900_000}b)>",
    "a long name": f"<!ELEMENT {'x' * 1_000_000} EMPTY>",
    "a long number": f"<!ENTITY % a '&#{'9' * 1_000_000};'>",
    "spaces": f"<!ELEMENT a (b{' ' * 3_000_000}c)>",
    "spaces in a list": f"<!ATTLIST a x (b{' ' * 3_000_000}c) #IMPLIED>",
    "a list that goes wrong late": f"<!ATTLIST a x ({'b|' * 1_000_000}) #IMPLIED>",
    "comments in comments": "<!--" * 1_000_000,
    "quotes": "<!ELEMENT a '" + "x" * 3_000_000,
    "bytes": "<!-- " + "x" * 5_000_000 + " -->",
}


@pytest.mark.parametrize("attack", ATTACKS)
def test_an_attack_is_refused_in_one_clear_line(attack: str) -> None:
    with pytest.raises(SchemaError) as refused:
        Schema.parse(ATTACKS[attack].encode())
    assert len(str(refused.value)) < 300


@pytest.mark.parametrize(
    ("dtd", "limit"),
    [
        ("<!ELEMENT a EMPTY>", "bytes_max"),
        ("<!ENTITY % x SYSTEM 'x'><!ENTITY % y SYSTEM 'y'>%x;%y;", "modules_max"),
        ("<!NOTATION a SYSTEM ''><!NOTATION b SYSTEM ''>", "declarations_max"),
        ("<!ELEMENT a EMPTY><!ELEMENT b EMPTY>", "elements_max"),
        ("<!ATTLIST a x CDATA '' y CDATA ''>", "attributes_max"),
        ("<!ELEMENT a (b, c)>", "names_max"),
        ("<!ELEMENT long-name EMPTY>", "name_length_max"),
        ("<!ENTITY % a 'x'><!ENTITY % b '%a;'>", "expanded_max"),
        ("<!ENTITY % a ''><!ENTITY % b '&#37;a;'>%b;", "references_deep_max"),
    ],
)
def test_each_limit_is_named_with_what_was_given_and_what_is_allowed(dtd: str, limit: str) -> None:
    allowed = {"modules_max": 2, "bytes_max": 10, "name_length_max": 4}.get(limit, 1)
    limits = replace(SchemaLimits(), **{limit: allowed})
    with pytest.raises(SchemaLimitError) as refused:
        Schema.parse(dtd.encode(), limits=limits, resolve=lambda *_: b"")
    assert isinstance(refused.value, LimitError)
    assert refused.value.limit == limit
    assert refused.value.allowed == allowed < refused.value.given


def test_what_is_just_within_the_limits_is_read() -> None:
    attributes = " ".join(f"x{number} CDATA #IMPLIED" for number in range(1000))
    depth = 256
    dtd = f"<!ELEMENT a {nested(depth, '(', 'b', ')')}><!ATTLIST a {attributes}>"
    schema = Schema.parse(dtd.encode())
    assert len(schema.elements["a"].attributes) == 1000
    assert schema.undeclared == ("b",)
