"""Scenarios: what may be written, what is refused and where, and that options repeat a run."""

from __future__ import annotations

import tomllib
from collections.abc import Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any, TypeAlias

import pytest

from twigcast.errors import UsageError
from twigcast.routing.strategy import advertised, prefix
from twigcast.simulator import (
    CostModel,
    Scenario,
    generate_schedule,
    options_text,
    read_scenario,
    simulate,
)

NETWORK = '[topology]\nlinks = [["a", "b"], ["b", "c"]]\n'


def scenario(text: str, folder: Path = Path()) -> Scenario:
    return Scenario.of(tomllib.loads(text), name="t.toml", folder=folder)


def refusal(text: str, folder: Path = Path()) -> str:
    """What is said about a scenario that cannot be meant."""
    with pytest.raises(UsageError) as caught:
        generate_schedule(scenario(text, folder))
    return str(caught.value)


def test_a_topology_alone_is_a_scenario() -> None:
    read = scenario(NETWORK)
    assert (str(read.strategy), read.seed, read.cost) == ("best", 1, CostModel())
    results = simulate(read)
    assert (results.publications, results.subscriptions, results.missed) == (10, 30, 0)


def test_strategies_are_texts_or_tables() -> None:
    assert scenario('strategy = "prefix(depth=3)"\n' + NETWORK).strategy == prefix(3)
    table = '[strategy]\nname = "advertised"\nmerging = "imperfect"\ndegree = 0.2\n'
    assert scenario(NETWORK + table).strategy == advertised(merging="imperfect", degree=0.2)


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


def test_options_are_a_scenario_that_repeats_the_run() -> None:
    text = (
        'strategy = "prefix(depth=2)"\n[topology]\ngenerate = "random-tree"\nbrokers = 4\n'
        "latency_ms = [1, 30]\n[workload]\ninterests = 1\ndtds = ['news', 'parts']\n"
        "[churn]\nseconds = 3\nsubscribe = 2\nunsubscribe = 2\nlink_loss = 0.5\n"
        "[[change]]\nat = 1\ndo = 'publish'\nbroker = 'b1'\ndocument = '<news/>'\n"
        "[run]\nseed = 5\nbatch_delay = 0.01\n"
    )
    first = scenario(text)
    again = scenario(options_text(first.options))
    assert again.options == first.options
    assert simulate(again) == simulate(first)


def test_a_seed_from_outside_takes_the_place_of_that_inside(tmp_path: Path) -> None:
    path = tmp_path / "t.toml"
    path.write_text(NETWORK + "[run]\nseed = 3\n", encoding="utf-8-sig")
    assert read_scenario(path).seed == 3
    other = read_scenario(path, seed=9)
    assert other.seed == 9
    assert "seed = 9" in options_text(other.options)


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (None, "cannot read the scenario"),
        (b"[", "t.toml: not TOML: "),
        (b"\xff", "t.toml, byte 1: not UTF-8"),
        (b"#" * (4 * 1024**2 + 1), "SCENARIO_BYTES_MAX"),
    ],
)
def test_a_file_that_is_no_scenario_is_refused(
    tmp_path: Path, content: bytes | None, said: str
) -> None:
    path = tmp_path / "t.toml"
    if content is not None:
        path.write_bytes(content)
    with pytest.raises(UsageError) as caught:
        read_scenario(path)
    assert said in str(caught.value)


@pytest.mark.parametrize(
    ("asked", "told"),
    [
        ({"churn": {"seconds": 1e9, "subscribe": 1e9}}, r"\[churn\].*CHURN_MAX"),
        ({"workload": {"publish_every": 10**400}}, "publish_every"),
    ],
)
def test_what_nobody_can_mean_is_told_before_anything_is_drawn(
    asked: dict[str, object], told: str
) -> None:
    with pytest.raises(UsageError, match=told):
        Scenario.of({"topology": {"links": [["a", "b"]]}, **asked}, name="odd.toml", folder=Path())


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


def test_what_is_drawn_before_a_run_is_bounded_together() -> None:
    asked = {"topology": {"generate": "line", "brokers": 100}}
    for workload, told in (
        ({"subscriptions": 2_000_000}, "SUBSCRIPTIONS_MAX"),
        ({"documents": 1_000_000}, "DRAWN_ELEMENTS_MAX"),
        ({"documents": 1_000, "document": {"bytes": 10_000_000}}, "DRAWN_ELEMENTS_MAX"),
    ):
        with pytest.raises(UsageError, match=told):
            generate_schedule(
                Scenario.of({**asked, "workload": workload}, name="odd.toml", folder=Path())
            )


def test_two_documents_of_one_name_are_told() -> None:
    change = {"at": 1, "do": "publish", "broker": "a", "document": "<a/>", "name": "d"}
    asked = {"topology": {"links": [["a", "b"]]}, "change": [change, {**change, "at": 2}]}
    with pytest.raises(UsageError, match="two documents are called 'd'"):
        generate_schedule(Scenario.of(asked, name="twice.toml", folder=Path()))
