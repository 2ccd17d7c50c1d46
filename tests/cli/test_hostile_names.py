"""Whatever strangers call their things: no line is forged, no control character comes through."""

from __future__ import annotations

import csv
import io
import json
import tarfile
import unicodedata
import warnings
import zipfile
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from lxml import etree

from tests.cli.executable import ALL_VERBS
from twigcast.cli.output import cell, complain, unspaced, write, write_json, write_note

if TYPE_CHECKING:
    from tests.cli.conftest import Twigcast

NAMES = (
    "a\t\nbank/order.xml\t1\nz",
    "\x1b]0;owned\x07\x1b[2Jx",
    "c1\x9b31m\x85y",
    "right\u202eleft\u2028line\u2029",
    "[red]rich[/red] {x} %s",
    'quoted"',
    "back\\tslash",
    "\x7f\r",
    "half\ud800",
)


def _is_control(letter: str) -> bool:
    kind = unicodedata.category(letter)
    return (kind == "Cc" and letter not in "\n\t") or kind in {"Zl", "Zp", "Cs", "Cf"}


@pytest.fixture
def hostile(tmp_path: Path) -> Path:
    """A folder of things with such names."""
    whole = [name for name in NAMES if "\ud800" not in name]
    with (tmp_path / "subs.csv").open("w", newline="", encoding="utf-8") as file:
        rows = csv.writer(file)
        rows.writerow(("id", "xpath", "subscriber", "broker"))
        for number, name in enumerate(whole):
            rows.writerow((f"{name} {number}", "//a", name, "north"))
            rows.writerow((f"bad {name} {number}", f"//a[. = '{name}' and", name, "north"))
            literal = name.replace("'", "")
            rows.writerow((f"text {name} {number}", f"//a[. = '{literal}']", name, "north"))
    lines = [{"id": name, "xpath": "//b["} for name in NAMES]
    (tmp_path / "bad.jsonl").write_text("\n".join(map(json.dumps, lines)))
    pairs = [f"//a[. = '{name}'\t//b{name}" for name in whole]
    (tmp_path / "pairs.tsv").write_text("\n".join(pairs), encoding="utf-8")
    with warnings.catch_warnings(), zipfile.ZipFile(tmp_path / "feed.zip", "w") as archive:
        warnings.simplefilter("ignore")
        for name in whole:
            archive.writestr(f"{name}.xml", "<a>x\x9by\u202e</a>")
            archive.writestr(f"{name}-broken.xml", f"<a><b{name}".encode())
            archive.writestr(f"../{name}.xml", b"<a/>")
    with tarfile.open(tmp_path / "feed.tar", "w") as tar:
        for name in (*whole, "caf\udce9"):
            member = tarfile.TarInfo(f"{name}.xml")
            member.size = 4
            tar.addfile(member, io.BytesIO(b"<a/>"))
    folder = tmp_path / "feed"
    folder.mkdir()
    for name in whole:
        (folder / f"{name.replace('/', '|')}.xml").write_text("<a/>")
    (tmp_path / "x\x1b[2J\n.xml").write_text("<a>x\x9b31my\u202e</a>")
    (tmp_path / "x\x1b.dtd").write_text("<!ELEMENT a (#PCDATA)><!ATTLIST a b CDATA '\x9b31m'>")
    (tmp_path / "bad\x1b.dtd").write_text("<!ELEMENT \x9b31m")
    bad = 'x = "\\u001b[2J"\n["\\u009b31m"]\n"a\\nb" = 1\n'
    (tmp_path / "bad\x1b.toml").write_text(bad)
    (tmp_path / "run\x1b.toml").write_text(
        '[topology]\nlinks = [["north", "south"]]\n[workload]\ndocuments = 1\nsubscriptions = 1\n'
    )
    _write_wild_scenario(tmp_path, whole)
    return tmp_path


def _write_wild_scenario(folder: Path, names: list[str]) -> None:
    """A scenario in which clients and documents have such names; half of these are refused."""
    brokers = [f"broker {number}" for number in range(len(names))]
    links = json.dumps([[one, other] for one, other in pairwise(brokers)])
    (folder / "wild\x1b.toml").write_text(
        f"[topology]\nlinks = {links}\n[workload]\nsubscriptions_file = 'wild.csv'\n"
        f"documents_from = 'wild'\npublishers_at = {json.dumps(brokers)}\n"
    )
    (folder / "wilder.toml").write_text(
        f"[topology]\nlinks = {json.dumps([names[:2]])}\n[workload]\nsubscriptions = 1\n"
    )
    with (folder / "wild.csv").open("w", newline="", encoding="utf-8") as file:
        rows = csv.writer(file)
        rows.writerow(("id", "xpath", "subscriber", "broker"))
        for number, name in enumerate(names):
            rows.writerow((f"{name} {number}", "//a[count(b) = count(c)]", name, brokers[number]))
    (folder / "wild").mkdir()
    for number, name in enumerate(names):
        content = "<a/>" if number % 2 else f"<a><{name}>"
        (folder / "wild" / f"{name.replace('/', '|')}.xml").write_text(content)


WORDS: dict[str, list[tuple[str, ...]]] = {
    "match": [
        ("subs.csv", "feed.zip", "feed.tar", "feed", "x\x1b[2J\n.xml", "no\x1b.xml"),
        ("subs.csv", "feed.zip", "--copy-to", "out", "--jobs", "2"),
        ("subs.csv", "feed.zip", "--residual-cost-max", "1"),
        ("bad.jsonl", "feed.zip"),
        ("no\x1b.csv", "feed"),
    ],
    "explain": [
        ("//a/c", "x\x1b[2J\n.xml"),
        ("//a[. = 'x']", "x\x1b[2J\n.xml"),
        ("//a[contains(., 'x')]", "x\x1b[2J\n.xml"),
        ("//a[\x9b", "x\x1b[2J\n.xml"),
        ("//a", "feed.zip"),
        ("//a", "feed.zip!no\x1b"),
        ("subs.csv", "x\x1b[2J\n.xml", "--rule", "no\x1b"),
    ],
    "check": [("subs.csv",), ("bad.jsonl",), ("subs.csv", "--errors")],
    "covers": [("--pairs", "pairs.tsv"), ("//a[\x9b", "//b"), ("//a", "//b", "--dtd", "no\x1b")],
    "aggregate": [("subs.csv",), ("bad.jsonl",)],
    "advertise": [
        ("x\x1b.dtd",),
        ("bad\x1b.dtd",),
        ("x\x1b.dtd", "--automaton"),
        ("x\x1b.dtd", "--overlaps", "subs.csv"),
        ("--from-documents", "feed.zip", "feed.tar", "x\x1b[2J\n.xml"),
    ],
    "generate patterns": [("--dtd", "x\x1b.dtd", "--count", "3", "--predicates", "1")],
    "generate documents": [("--dtd", "x\x1b.dtd", "--attributes", "1"), ("--dtd", "bad\x1b.dtd")],
    "generate topology": [("line", "--out", "x\x1b.txt"), ("x\x1b",)],
    "run": [
        ("--subscriptions", "no\x1b.csv", "--publications", "feed", "--out", "o\x1b"),
        ("--subscriptions", "subs.csv", "--publications", "f", "--out", "o", "--topology", "n\x1b"),
        ("--subscriptions", "s", "--publications", "f", "--out", "o", "--option", "\x1b"),
    ],
    "compact": [
        ("out\x1b",),
        ("out\x1b", "--setting", "\x1b"),
        ("out", "--keep-days", "x\x1b"),
        ("out\n/..\x1b", "--keep-batches", "3"),
    ],
    "simulate": [
        ("bad\x1b.toml",),
        ("run\x1b.toml", "--details"),
        ("run\x1b.toml", "--draw", "d\x1b.svg"),
        ("run\x1b.toml", "--strategy", "no\x1b"),
        ("wild\x1b.toml",),
        ("wilder.toml",),
        ("wild\x1b.toml", "--details", "--strategy", "advertised"),
        ("wild\x1b.toml", "--strategy", "flooding", "--strategy", "piggyback"),
    ],
    "demo": [("--documents", "x\x1b")],
    "about": [("x\x1b",)],
    "doctor": [("--x\x1b",)],
}
"""A new verb without hostile words fails below."""

CASES = [
    (verb, words)
    for verb in (" ".join(parts) for parts in ALL_VERBS if parts != ("generate",))
    for words in WORDS[verb]
]


@pytest.mark.usefixtures("hostile")
@pytest.mark.parametrize("as_json", ["", "--json"], ids=["text", "json"])
@pytest.mark.parametrize(("verb", "words"), CASES, ids=lambda each: ascii(each)[:60])
def test_no_control_character_comes_through(
    twigcast: Twigcast, verb: str, words: tuple[str, ...], as_json: str
) -> None:
    options = (as_json,) if as_json and verb != "generate topology" else ()
    result = twigcast(*verb.split(), *words, *options)
    assert result.exit_code in {0, 1, 2}, result.stderr
    assert "a bug in Twigcast" not in result.stderr
    for letter in result.stdout + result.stderr:
        assert not _is_control(letter), f"{letter!a} in {result.stdout + result.stderr!a}"


@pytest.mark.usefixtures("hostile")
def test_each_document_has_its_line_and_its_name(twigcast: Twigcast) -> None:
    words = ("match", "subs.csv", "feed.zip", "feed.tar")
    lines = twigcast(*words).stdout.splitlines()
    records = [json.loads(line) for line in twigcast(*words, "--json").stdout.splitlines()]
    answered = [record for record in records if "matches" in record]
    assert len(lines) == len(answered) > len(NAMES)
    for line, record in zip(lines, answered, strict=True):
        name, ids = line.split("\t")
        assert _read_cell(name) == record["document"]
        assert [_read_cell(each) for each in ids.split(" ") if each] == record["matches"]
    assert any("\x1b" in record["document"] for record in answered), "JSON keeps names"


def _read_cell(text: str) -> object:
    return json.loads(text) if text.startswith('"') else text


def test_no_two_names_look_the_same() -> None:
    names = ("a\tb", "a\\tb", '"a\\tb"', '"a\tb"', "a b", "a\\u0020b", "", '""')
    assert len({cell(name) for name in names}) == len(names)
    assert len({unspaced(name) for name in names}) == len(names)
    assert all(" " not in unspaced(name) for name in names)
    for name in names:
        assert _read_cell(cell(name)) == name == _read_cell(unspaced(name))


@pytest.mark.parametrize("write_line", [write, write_note, complain])
def test_whatever_is_written_is_escaped(
    write_line: object, capsys: pytest.CaptureFixture[str]
) -> None:
    assert callable(write_line)
    for name in NAMES:
        write_line(name)
    told = capsys.readouterr()
    assert len((told.out + told.err).splitlines()) == len(NAMES)
    assert not any(map(_is_control, told.out + told.err))


def test_json_keeps_every_name(capsys: pytest.CaptureFixture[str]) -> None:
    for name in (*NAMES, "\U000e0001", "東京 Zürich"):
        write_json({"name": name})
        told = capsys.readouterr().out
        assert json.loads(told) == {"name": name}
        assert not any(map(_is_control, told))


@pytest.mark.usefixtures("hostile")
def test_a_scenario_of_wild_names_is_played_and_told(twigcast: Twigcast, hostile: Path) -> None:
    words = ("simulate", "wild\x1b.toml", "--draw", "wild.svg")
    result = twigcast(*words)
    assert result.exit_code == 1, result.stderr  # half of the documents are refused
    (record,) = map(json.loads, twigcast(*words, "--json").stdout.splitlines())
    number = len([name for name in NAMES if "\ud800" not in name])
    assert record["deliveries"] == number * (number // 2)
    assert len(record["refusals"]) == number - number // 2
    drawing = etree.parse(hostile / "wild.svg")
    texts = "".join(map(str, drawing.getroot().itertext()))
    assert not any(map(_is_control, texts))
    assert "wild\\x1b.toml" in texts


LONG = "n" * 300
SCENARIO = str(Path(__file__).parents[2] / "examples" / "newsroom.toml")


@pytest.mark.parametrize(
    ("words", "code"),
    [
        (("match", "rules.txt", LONG, "--watch"), 2),
        (("generate", "patterns", "--dtd", LONG), 2),
        (("generate", "patterns", "--dtd", "loop/my.dtd"), 2),
        (("simulate", SCENARIO, "--draw", f"{LONG}/a.svg"), 2),
        (("explain", "//a", f"{LONG}!a.xml"), 1),
        (("explain", "//a", f"loop/{LONG}!a.xml"), 1),
    ],
    ids=["watch", "dtd", "dtd in a circle", "picture", "member", "member in a circle"],
)
def test_a_path_that_no_disk_can_have_is_a_sentence_of_ours(
    twigcast: Twigcast, tmp_path: Path, words: tuple[str, ...], code: int
) -> None:
    (tmp_path / "loop").symlink_to("loop")
    (tmp_path / "rules.txt").write_text("//a\n")
    result = twigcast(*words)
    assert result.exit_code == code
    assert "[Errno" not in result.stderr
    assert "bug" not in result.stderr
