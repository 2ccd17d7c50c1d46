"""Files of subscriptions, changes, topologies, scenarios: read, or refused by an error of ours."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from random import Random
from typing import Final

import msgspec

from fuzz.cases import as_bytes, as_text
from fuzz.mutation import mutated, spliced
from fuzz.scratch import scratch_file
from fuzz.target import ACCEPTED, REFUSED, Target
from twigcast.errors import InternalError, TwigcastError
from twigcast.files import read_subscriptions
from twigcast.files.subscriptions.change_feed import read_change_file
from twigcast.files.topologies import read_topology
from twigcast.simulator.scenario.model import read_scenario

_ROOT: Final = Path(__file__).resolve().parents[2]

TEXTS: Final[dict[str, tuple[bytes, ...]]] = {
    "subscriptions.txt": (
        b"# news\n@namespace p urn:p\n//a\n//p:b[@x > 1]\n\n/a[b = 'x']\n",
        b"\xef\xbb\xbf//a\r\n//b\r\n",
    ),
    "subscriptions.jsonl": (
        b"""{"id": 1, "xpath": "//a", "subscriber": "ann", "broker": "B1"}
{"id": "two", "xpath": "//p:b", "namespaces": {"p": "urn:p"}}
""",
    ),
    "subscriptions.csv": (b'id,xpath,subscriber\n1,//a,ann\n2,"//b[. = ""x""]",bob\n',),
    "changes.jsonl": (
        b"""{"version": 1, "op": "add", "id": 1, "xpath": "//a"}
{"version": 2, "op": "remove", "id": 1}
""",
    ),
    "topology.json": (
        b'{"brokers": ["B1", "B2", "B3"], "links": [["B1", "B2"], ["B2", "B3", 5.0]]}',
        b'{"brokers": [{"name": "B1"}], "links": []}',
    ),
    "topology.toml": (
        b'brokers = ["B1", "B2"]\nlinks = [["B1", "B2"]]\n',
        b'[[links]]\nfrom = "B1"\nto = "B2"\nlatency_ms = 2.5\n',
    ),
    "scenario.toml": tuple(
        (_ROOT / "examples" / name).read_bytes() for name in ("newsroom.toml", "wide_area.toml")
    ),
}
"""Decent files of each kind, by the name that they are read under."""

PIECES: Final = (
    *(
        b"[",
        b"]",
        b"{",
        b"}",
        b'"',
        b"'",
        b",",
        b":",
        b"=",
        b".",
        b"#",
        b"\n",
        b"\r",
        b"\x00",
        b"\xff",
    ),
    *(b"null", b"true", b"1e999", b"-0", b"NaN", b"9" * 5_000, b"0x1", b"1979-05-27T07:32:00Z"),
    *(
        b'"id": 1',
        b'"""',
        b"a.b.c.d = 1\n",
        b"[[a]]\n",
        b"\\u0000",
        b"\\ud800",
        b"\\",
        b"\xe2\x80\xa8",
    ),
    *(b"[" * 3_000, b'{"a":' * 3_000, b"a." * 400, b"inf", b"//a", b"-1", b"99999999999999999999"),
)


class Case(msgspec.Struct):
    """A file and the name it has."""

    name: str
    content: str


def _read(path: Path) -> object:
    readers: dict[str, Callable[[Path], object]] = {
        "subscriptions": read_subscriptions,
        "changes": lambda path: read_change_file(path.parent, path.name),
        "topology": read_topology,
        "scenario": read_scenario,
    }
    return readers[path.stem](path)


def generate(rng: Random) -> Case:
    """A decent file, damaged."""
    name = rng.choice(list(TEXTS))
    content = rng.choice(TEXTS[name])
    if rng.randrange(6) == 0:
        content = spliced(rng, content, rng.choice(TEXTS[rng.choice(list(TEXTS))]))
    return Case(name, as_text(mutated(rng, content, PIECES, times_max=4)))


def check(case: Case) -> str:
    """Read it."""
    path = scratch_file(case.name, as_bytes(case.content))
    try:
        read = _read(path)
    except InternalError:
        raise
    except TwigcastError:
        return REFUSED
    return REFUSED if getattr(read, "rejected", ()) else ACCEPTED


TARGET: Final = Target(
    name="files",
    summary="damaged files of subscriptions, changes, topologies and scenarios",
    kind=Case,
    generate=generate,
    check=check,
)
