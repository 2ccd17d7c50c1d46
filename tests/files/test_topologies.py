"""Topology files: both forms say the same, and what is broken is refused with its place."""

from __future__ import annotations

import json
import tomllib
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from twigcast.errors import UsageError
from twigcast.files import read_topology, topologies, topology_text, write_topology
from twigcast.routing.topology.model import Client, Link, Topology, TopologyLimits

TOPOLOGY = Topology(
    ("north", "süd", 'the "west"', "\\east"),
    (
        Link(("north", "süd")),
        Link(("süd", 'the "west"'), 2.5),
        Link(("north", "\\east"), 0.0, 100.0),
    ),
    (Client("ann", "süd", 12.5),),
)

NAMES = st.text(min_size=1, max_size=8).filter(
    lambda name: name.isprintable() and name.strip() == name
)
AMOUNTS = st.floats(min_value=1e-9, max_value=1e18)


@st.composite
def topologies_of_any_name(draw: st.DrawFn) -> Topology:
    brokers = draw(st.lists(NAMES, min_size=2, max_size=5, unique=True))
    links = [
        Link((brokers[0], other), draw(AMOUNTS), draw(st.none() | AMOUNTS)) for other in brokers[1:]
    ]
    return Topology(tuple(brokers), tuple(links), (Client(draw(NAMES), brokers[0], draw(AMOUNTS)),))


@pytest.mark.parametrize("name", ["net.json", "net.toml", "new/folder/NET.TOML"])
def test_what_is_written_is_read_back(tmp_path: Path, name: str) -> None:
    write_topology(TOPOLOGY, tmp_path / name)
    assert read_topology(tmp_path / name) == TOPOLOGY
    assert [path.name for path in (tmp_path / name).parent.iterdir()] == [Path(name).name]


@given(topologies_of_any_name())
def test_both_forms_keep_every_name_and_number(topology: Topology) -> None:
    assert Topology.of(json.loads(topology_text(topology))) == topology
    assert Topology.of(tomllib.loads(topology_text(topology, "toml"))) == topology


def test_a_line_for_each_link_in_json() -> None:
    assert topology_text(TOPOLOGY).splitlines() == [
        "{",
        r'  "brokers": ["north", "süd", "the \"west\"", "\\east"],',
        '  "links": [',
        '    ["north", "süd"],',
        r'    {"between": ["süd", "the \"west\""], "latency_ms": 2.5},',
        r'    {"between": ["north", "\\east"], "latency_ms": 0.0, "bandwidth_mbps": 100.0}',
        "  ],",
        '  "clients": [',
        '    {"name": "ann", "broker": "süd", "latency_ms": 12.5}',
        "  ]",
        "}",
    ]


def test_a_topology_without_links_has_an_empty_list() -> None:
    alone = Topology(("only",))
    assert topology_text(alone) == '{\n  "brokers": ["only"],\n  "links": []\n}\n'
    assert topology_text(alone, "toml") == 'brokers = ["only"]\nlinks = []\n'


def test_toml_may_be_written_by_hand_in_its_own_ways(tmp_path: Path) -> None:
    text = (
        '# ours\n[[links]]\nbetween = ["a", "b"]\nlatency_ms = 3\n[[links]]\nbetween = ["b", "c"]'
    )
    (tmp_path / "net.toml").write_bytes(b"\xef\xbb\xbf" + text.encode())
    links = (Link(("a", "b"), 3.0), Link(("b", "c")))
    assert read_topology(tmp_path / "net.toml") == Topology(("a", "b", "c"), links)


@pytest.mark.parametrize(
    ("name", "content", "complaint"),
    [
        ("net.json", b'{"links":\n [["a", "b"],,]}', r"net\.json, line 2, column 14: not JSON: "),
        ("net.json", b"", r"net\.json, line 1, column 1: not JSON"),
        ("net.json", b'["a"]', r"net\.json: expected a table with 'brokers'"),
        ("net.json", b'{"brokers": ["a"], "brokers": ["b"]}', r"the key 'brokers' is there twice"),
        ("net.json", b"[" * 100_000, r"net\.json: too many brackets inside each other"),
        ("net.json", b'{"brokers": [' + b"9" * 5000 + b"]}", r"net\.json: not JSON: "),
        ("net.json", b'{"links": [["a", "b"]], "x": 1}', r"net\.json: nobody knows what 'x' means"),
        ("net.json", b'{"brokers": ["\xff"]}', r"net\.json, byte 15: not UTF-8"),
        ("net.toml", b"brokers = [", r"net\.toml: not TOML: .*"),
        ("net.toml", b'brokers = ["a"]\nlinks = 1 2', r"net\.toml: not TOML: .*line 2, column"),
        ("net.toml", b'links = [["a", "a"]]', r"net\.toml, link 1: it leads from broker 'a'"),
        ("net.yaml", b"brokers: [a]", r"net\.yaml: .* let its name end in \.json or \.toml"),
        ("net", b"", r"net: a topology file is JSON or TOML"),
    ],
)
def test_a_broken_file_is_refused_with_its_place(
    tmp_path: Path, name: str, content: bytes, complaint: str
) -> None:
    (tmp_path / name).write_bytes(content)
    with pytest.raises(UsageError, match=complaint):
        read_topology(tmp_path / name)


def test_a_missing_file_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"cannot read the topology .*net\.json: No such file"):
        read_topology(tmp_path / "net.json")


def test_a_file_over_a_limit_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write_topology(TOPOLOGY, tmp_path / "net.json")
    with pytest.raises(UsageError, match="brokers_max"):
        read_topology(tmp_path / "net.json", limits=TopologyLimits(brokers_max=3))
    monkeypatch.setattr(topologies, "FILE_BYTES_MAX", 20)
    with pytest.raises(UsageError, match="more than 20 bytes"):
        read_topology(tmp_path / "net.json")


def test_a_file_that_cannot_be_written_leaves_nothing(tmp_path: Path) -> None:
    (tmp_path / "net.json").mkdir()
    with pytest.raises(UsageError, match=r"cannot write .*net\.json"):
        write_topology(TOPOLOGY, tmp_path / "net.json")
    assert [path.name for path in tmp_path.iterdir()] == ["net.json"]
    with pytest.raises(UsageError, match="JSON or TOML"):
        write_topology(TOPOLOGY, tmp_path / "net.xml")


def test_no_toml_is_written_that_could_not_be_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(topologies, "TOML_CHARACTERS_MAX", 20)
    with pytest.raises(UsageError, match=r"TOML_CHARACTERS_MAX\); write it in JSON"):
        write_topology(TOPOLOGY, tmp_path / "net.toml")
    assert not list(tmp_path.iterdir())
    write_topology(TOPOLOGY, tmp_path / "net.json")
