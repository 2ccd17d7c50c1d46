"""Tables of a scenario: what is read of a key, and what is refused."""

from __future__ import annotations

import tomllib
from collections.abc import Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any, TypeAlias

import pytest

from twigcast.errors import UsageError
from twigcast.simulator import (
    Scenario,
    generate_schedule,
)

NETWORK = '[topology]\nlinks = [["a", "b"], ["b", "c"]]\n'


def scenario(text: str, folder: Path = Path()) -> Scenario:
    return Scenario.of(tomllib.loads(text), name="t.toml", folder=folder)


def refusal(text: str, folder: Path = Path()) -> str:
    """What is said about a scenario that cannot be meant."""
    with pytest.raises(UsageError) as caught:
        generate_schedule(scenario(text, folder))
    return str(caught.value)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("[topology]\n", "t.toml, [topology]: there is no network; give brokers and links"),
        ("", "t.toml, [topology]: there is no network"),
        ("topology = 3", "t.toml, [topology]: expected a table, not 3"),
        ('[topology]\ngenerate = "ring"', "generate is one of line, star, binary-tree"),
        ('[topology]\ngenerate = "line"\nfile = "x"', "file and generate exclude each other"),
        ('[topology]\ngenerate = "line"\nlevels = 3', "unknown key 'levels'; there are generate"),
        ('[topology]\ngenerate = "line"\nlatency_ms = [3, 1]', "the least and the most"),
        ('[topology]\ngenerate = "line"\nbrokers = "x"', "a whole number from 1 on, not 'x'"),
        ('[topology]\nlinks = [["a"]]', "t.toml, [topology], link 1"),
        (NETWORK + "[workloads]\n", "t.toml: unknown key 'workloads'; do you mean 'workload'?"),
        (NETWORK + "[workload]\ndocument = 3", "[workload.document]: expected a table"),
        (NETWORK + "[workload]\ndocumets = 3", "do you mean 'documents'?"),
        (NETWORK + "[workload]\ndocuments = 1.5", "documents is a whole number from 0 on, not 1.5"),
        (NETWORK + "[workload]\ndocuments = true", "documents is a whole number"),
        (NETWORK + "[workload]\npublish_every = -1", "publish_every is a number from 0 on, not -1"),
        (NETWORK + "[workload]\npublish_every = nan", "publish_every is a number from 0 on"),
        (NETWORK + "[workload]\npublish_times = [1, 'x']", "a list of numbers from 0 on"),
        (NETWORK + "[workload]\npublish_times = [1]", "1 times for 10 documents"),
        (NETWORK + "[workload]\ndtds = [3]", "dtds is a text, or a list of texts, not [3]"),
        (NETWORK + "[workload]\ndtds = []", "dtds names at least one DTD"),
        (NETWORK + "[workload]\ndtds = 'no.dtd'", "no DTD 'no.dtd' comes along"),
        (NETWORK + "[workload]\nper = 'x'", "per is one of broker, client, not 'x'"),
        (NETWORK + "[workload]\nper = 'client'", "the topology has no clients"),
        (NETWORK + "[workload]\nadvertise = 1", "advertise is true or false, not 1"),
        (NETWORK + "[workload]\nsubscribers_at = 'x'", "there is no broker 'x' in the topology"),
        (NETWORK + "[workload]\nsubscribers_at = []", "subscribers_at names no broker"),
        (NETWORK + "[workload]\nsubscriptions_file = 'no.txt'", "no.txt"),
        (NETWORK + "[workload]\ndocuments_from = 'no'", "documents_from"),
        (NETWORK + "[workload.patterns]\nskw = 1", "[workload.patterns]: unknown key 'skw'"),
        (NETWORK + "[workload.patterns]\nwildcard = 2", "wildcard is a probability"),
        ("strategy = 3\n" + NETWORK, "t.toml, [strategy]: expected a table, not 3"),
        ("strategy = 'x'\n" + NETWORK, "t.toml, [strategy]: no strategy 'x'"),
        (NETWORK + "[strategy]\nname = 'prefix'\ndeph = 3", "[strategy]: unknown key 'deph'"),
        (NETWORK + "[strategy]\nname = 'prefix'\ndepth = 0", "[strategy]: depth is a whole number"),
        (NETWORK + "[strategy]\nname = 'prefix'\nreturn = 1", "[strategy]: unknown key 'return'"),
        (NETWORK + "[strategy]\nname = 'prefix'\ndepth = 'x'", "depth is a whole number of steps"),
        (NETWORK + "[strategy]\nname = 'prefix'\ndepth = [1]", "1 or more, not [1]"),
        (NETWORK + "[cost]\nmodel = 'measured'\nper_event = 1", "unknown key 'per_event'"),
        (NETWORK + "[cost]\nper_evnt = 1", "do you mean 'per_event'?"),
        (NETWORK + "[churn]\nsubscribe = 'x'", "[churn]: subscribe is a number from 0 on"),
        (NETWORK + "[run]\nseed = -1", "[run]: seed is a whole number from 0 on, not -1"),
        (NETWORK + "[run]\nengine = 'x'", "[run]: engine is one of"),
        (NETWORK + "[run]\nsed = 1", "[run]: unknown key 'sed'; do you mean 'seed'?"),
        (NETWORK + "[change]\nat = 1", "changes are tables, each begun by [[change]]"),
        (NETWORK + "[[change]]\nat = 1", "[[change]] 1: do is one of subscribe"),
        (NETWORK + "[[change]]\ndo = 'publish'", "[[change]] 1: 'at' is missing"),
        (NETWORK + "[[change]]\nat = 1\ndo = 'subscribe'", "'broker' is missing"),
        (
            NETWORK + "[[change]]\nat = 1\ndo = 'subscribe'\nbroker = 'a'\nxpath = '//['",
            "[[change]] 1: pattern '//[', column 3",
        ),
        (
            NETWORK + "[[change]]\nat = 1\ndo = 'unsubscribe'\nname = 'x'",
            "[[change]] 1: no subscription was given the name 'x' before",
        ),
        (
            NETWORK + "[[change]]\nat = 1\ndo = 'link_up'\nbetween = ['a', 'c']",
            "no link of the tree is between 'a' and 'c'",
        ),
        (
            NETWORK + "[[change]]\nat = 1\ndo = 'link_up'\nbetween = 'a'",
            "the two brokers of a link",
        ),
        (
            NETWORK + "[[change]]\nat = 1\ndo = 'publish'\nbroker = 'a'\nfile = 'no.xml'",
            "cannot read no.xml",
        ),
        (
            NETWORK + "[[change]]\nat = 1\ndo = 'publish'\nbroker = 'a'\nfile = \"no\\u0000xml\"",
            "it has a zero byte",
        ),
        pytest.param(
            NETWORK + "[[change]]\nat = 1\ndo = 'publish'\nbroker = 'a'\nfile = '/dev/zero'",
            "cannot read /dev/zero: it is no regular file",
            marks=pytest.mark.skipif(not Path("/dev/zero").exists(), reason="needs /dev/zero"),
        ),
        (
            NETWORK + "[[change]]\nat = 1\ndo = 'publish'\nbroker = 'a'\ndocument = ''\nx = 1",
            "[[change]] 1: unknown key 'x'",
        ),
    ],
)
def test_what_cannot_be_meant_is_refused_with_the_place(text: str, said: str) -> None:
    assert said in refusal(text)


_Way: TypeAlias = tuple[str, ...]


def _whole_keys(table: Mapping[str, object], way: _Way = ()) -> Iterator[_Way]:
    """The ways to all keys of a scenario that hold whole numbers."""
    for key, value in table.items():
        if isinstance(value, Mapping):
            yield from _whole_keys(value, (*way, key))
        elif (isinstance(value, int) and not isinstance(value, bool)) or key in LEFT_OPEN:
            yield *way, key


COSTS_NOTHING = {"seed", "events_max", "queue_max", "interests", "publishes", "clients_each"}
"""Keys whose numbers may be large."""
LEFT_OPEN = {"interests", "pool", "publishers", "publishes", "bytes"}
"""Whole numbers that need not be given."""
NETWORKS: dict[str, dict[str, dict[str, object]]] = {
    kind: {"topology": {"generate": kind}} for kind in ("line", "binary-tree", "transit-stub")
}
WHOLE_KEYS = sorted(
    {
        (kind, way)
        for kind, network in NETWORKS.items()
        for way in _whole_keys(
            {**Scenario.of(network, name="t.toml", folder=Path()).options},
        )
        if kind == "line" or way[0] == "topology"
    }
    | {("line", ("workload", "document", "bytes"))}
)


@pytest.mark.parametrize(("kind", "way"), WHOLE_KEYS)
@pytest.mark.parametrize("value", [2**63, 2**31, -1, 0, 1.5, float("nan")])
def test_whole_numbers_are_bounded(kind: str, way: _Way, value: float) -> None:
    asked: dict[str, Any] = {key: dict(table) for key, table in NETWORKS[kind].items()}
    table = asked
    for step in way[:-1]:
        table = table.setdefault(step, {})
    table[way[-1]] = value
    if value == 0 or (value == 2**31 and way[-1] in COSTS_NOTHING):
        with suppress(UsageError):
            generate_schedule(Scenario.of(asked, name="odd.toml", folder=Path()))
        return
    with pytest.raises(UsageError) as caught:
        generate_schedule(Scenario.of(asked, name="odd.toml", folder=Path()))
    assert "\n" not in str(caught.value)
