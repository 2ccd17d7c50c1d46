"""The command line: what each verb prints, and how it ends, on small inputs.

A golden is a row of commands in one folder, each with its exit code, its standard output and its
standard error. The program is run in this process, as other tests of the command line do.
"""

from __future__ import annotations

import json
import zipfile
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path
from shlex import join
from typing import Final

from typer.testing import CliRunner

from tests.goldens.golden import Golden, Need, normalised, working_in
from tests.goldens.simulations import SCENARIOS
from twigcast.cli import program

Words = tuple[str, ...]

_FILES: Final = {
    "subs.txt": "//price[. > 10]\n# a comment\n//item\n//a[\n//item[2]\n//item\n",
    "subs.csv": "id,xpath,subscriber,namespaces\nb,//item,ann,\na,//price[. > 10],bob,\n"
    "ns,//s:item,ann,s=urn:s\n",
    "subs.jsonl": '{"id": 7, "xpath": "//item"}\n{"id": "7", "xpath": "//price"}\n{"id": 8}\n',
    "late.txt": "//a[b eq 'x']\n'storm'\n//a[self::b]\n//s:a\n",
    "flags.txt": "//item[@new = true()]\n//item[price][@new = 'true']\n",
    "good.xml": "<shop><item/><item><price>12</price></item></shop>",
    "cheap.xml": "<shop><item><price>3</price></item></shop>",
    "broken.xml": "<shop>\n<item></shop>",
    "spaced.xml": '<item xmlns="urn:s"/>',
    "shop.dtd": "<!ELEMENT shop (item|gift)*> <!ELEMENT item (price?)> <!ELEMENT gift (price)>"
    "<!ELEMENT price (#PCDATA)> <!ATTLIST item state (new|old) #IMPLIED>",
    "recursive.dtd": "<!ELEMENT list (item+, note?)> <!ELEMENT item (#PCDATA | item)*> "
    "<!ELEMENT note EMPTY>",
    "bad.dtd": "<!ELEMENT a (b,>",
    "many.txt": "//item[price > 10]\n/shop/item[price > 15]\n/shop/item/price\n/shop/gift/price\n"
    "/shop/gift[price]\n//item[price > 10 and price < 20]\n",
    "pairs.tsv": "//a\t/a/b\n/a/b\t//a\n//a[\t//a\n//a[@x]\t//a[@x = '1']\n",
    "net.toml": 'brokers = ["north", "south"]\nlinks = [["north", "south"]]\n',
    "parted.toml": 'brokers = ["a", "b", "c"]\nlinks = [["a", "b"]]\n',
    "feed/a.xml": "<shop><item/></shop>",
    "feed/deep/b.xml": "<shop><price>99</price></shop>",
    "feed/notes.txt": "no document",
    "odd.toml": '[topology]\nlinks = [["a", "b"]]\n[workload]\nmany = 3\n',
    **{f"{name}.toml": text for name, text in SCENARIOS.items()},
}

_VERBS: Final[tuple[Words, ...]] = (
    (),
    ("match",),
    ("explain",),
    ("check",),
    ("covers",),
    ("aggregate",),
    ("advertise",),
    ("generate",),
    ("generate", "patterns"),
    ("generate", "documents"),
    ("generate", "topology"),
    ("run",),
    ("compact",),
    ("simulate",),
    ("demo",),
    ("about",),
    ("doctor",),
)


def _both(*words: str) -> tuple[Words, Words]:
    """The same as text and as JSON."""
    return words, (*words, "--json")


_MATCH: Final[tuple[Words, ...]] = (
    *_both("match", "subs.csv", "good.xml", "cheap.xml", "spaced.xml"),
    *_both("match", "subs.txt", "good.xml", "broken.xml", "nowhere.xml", "cheap.xml"),
    *_both("match", "subs.jsonl", "feed", "feed.zip"),
    ("match", "subs.csv", "feed", "--files", "*.txt"),
    ("match", "subs.csv", "feed/a.xml", "--copy-to", "sorted", "--json"),
    ("match", "subs.csv", "feed/a.xml", "--move-to", "sorted", "--json"),
    ("match", "subs.csv", "good.xml", "--document-elements-max", "2", "--json"),
    ("match", "subs.txt", "good.xml", "--residual-cost-max", "1", "--json"),
)

_SESSIONS: Final[dict[str, tuple[Words, ...]]] = {
    "explain": (
        *_both("explain", "//price[. > 10]", "good.xml"),
        *_both("explain", "/shop/item/price[. > 10]", "cheap.xml"),
        *_both("explain", "//item", "spaced.xml"),
        ("explain", "//s:item", "spaced.xml", "--namespace", "s=urn:s", "--json"),
        ("explain", "--rule", "a", "subs.csv", "good.xml", "--json"),
        ("explain", "--rule", "zzz", "subs.csv", "good.xml"),
        ("explain", "//offer", "good.xml", "--exit-code"),
        ("explain", "/stock//[1]", "good.xml"),
        ("explain", "//a", "nowhere.xml"),
        ("explain", "//a"),
        ("explain", "//a", "good.xml", "--namespace", "s"),
    ),
    "check": (
        *_both("check", "subs.txt"),
        *_both("check", "late.txt"),
        *_both("check", "flags.txt"),
        ("check", "subs.csv", "--json"),
        ("check", "subs.jsonl", "--errors", "--json"),
        ("check", "late.txt", "--namespace", "s=urn:s", "--errors"),
        ("check", "nowhere.txt"),
        ("check",),
    ),
    "covers": (
        *_both("covers", "//a", "/a/b"),
        *_both("covers", "/a/b", "//a"),
        *_both("covers", "--pairs", "pairs.tsv"),
        ("covers", "/shop/item/price", "//item/price", "--dtd", "shop.dtd", "--json"),
        ("covers", "//a", "//b", "--exit-code"),
        ("covers", "//a[", "//a"),
        ("covers", "//a"),
        ("covers", "//a", "//b", "--dtd", "bad.dtd"),
    ),
    "aggregate": (
        *_both("aggregate", "many.txt"),
        *_both("aggregate", "many.txt", "--merge", "--dtd", "shop.dtd"),
        ("aggregate", "many.txt", "--merge", "--degree", "0.5", "--dtd", "shop.dtd", "--json"),
        *_both("aggregate", "many.txt", "--budget", "40"),
        ("aggregate", "subs.txt", "--json"),
        ("aggregate", "many.txt", "--merge"),
        ("aggregate", "many.txt", "--degree", "2"),
    ),
    "advertise": (
        *_both("advertise", "shop.dtd"),
        *_both("advertise", "recursive.dtd", "--limit", "3"),
        ("advertise", "recursive.dtd", "--automaton"),
        ("advertise", "shop.dtd", "--elements", "--root", "item"),
        *_both("advertise", "--from-documents", "good.xml", "broken.xml", "feed"),
        *_both("advertise", "shop.dtd", "--overlaps", "subs.txt"),
        ("advertise", "bad.dtd"),
        ("advertise", "nowhere.dtd"),
    ),
    "generate": (
        *_both("generate", "patterns", "--count", "8", "--predicates", "1", "--nested", "0.2"),
        ("generate", "patterns", "--dtd", "shop.dtd", "--count", "5", "--seed", "3"),
        ("generate", "patterns", "--count", "3", "--out", "drawn.csv"),
        *_both("generate", "documents", "--elements", "12", "--seed", "2"),
        ("generate", "documents", "--dtd", "shop.dtd", "--count", "2", "--out", "drawn"),
        ("generate", "documents", "--count", "2"),
        ("generate", "topology", "binary-tree", "--levels", "2"),
        ("generate", "topology", "random-tree", "--brokers", "4", "--latency-ms", "1", "9"),
        ("generate", "topology", "line", "--brokers", "3", "--out", "line.toml"),
        ("generate", "topology", "circle"),
        ("generate", "patterns", "--dtd", "shop.dtd", "--count", "100000"),
    ),
    "simulate": (
        ("simulate", "drawn.toml"),
        ("simulate", "drawn.toml", "--seed", "2", "--details"),
        ("simulate", "newsroom.toml", "--strategy", "flooding", "--strategy", "covering"),
        ("simulate", "newsroom.toml", "--strategy", "advertised", "--json"),
        ("simulate", "drawn.toml", "--strategy", "magic"),
        ("simulate", "odd.toml"),
        ("simulate", "nowhere.toml"),
        ("simulate", "drawn.toml", "--draw", "picture.png"),
    ),
    "usage": (
        ("--version",),
        (),
        ("nothing",),
        ("match",),
        ("match", "subs.csv", "good.xml", "--engine", "magic"),
        ("match", "subs.csv", "good.xml", "--strange"),
        ("match", "nowhere.txt", "good.xml"),
        ("match", "-", "-"),
        ("match", "subs.csv", ""),
        ("match", "subs.csv", "good.xml", "--document-bytes-max", "many"),
        ("match", "subs.csv", "good.xml", "--jobs", "-1"),
        ("about", "more"),
        ("doctor", "--magic"),
        ("demo", "--documents", "1"),
    ),
}

_RUN: Final[Words] = ("run", "--subscriptions", "subs.csv", "--publications", "feed", "--out", "o")

_RUN_REFUSED: Final[tuple[Words, ...]] = (
    ("run",),
    _RUN[:3],
    (*_RUN, "--plan", "hops"),
    (*_RUN, "--strategy", "covering"),
    (*_RUN, "--checkpoint", "c"),
    (*_RUN, "--stream"),
    (*_RUN, "--stream", "--checkpoint", "c", "--overwrite"),
    (*_RUN, "--topology", "parted.toml"),
    (*_RUN, "--topology", "net.toml", "--plan", "magic"),
    (*_RUN, "--engine", "magic"),
    (*_RUN, "--setting", "memory"),
    (*_RUN, "--shards", "0"),
    ("run", "--subscriptions", "nowhere.csv", *_RUN[3:]),
    ("run", "--subscriptions", "subs.csv", "--publications", "nowhere", "--out", "o"),
)
"""All are refused before Spark starts."""

_RUN_WHOLE: Final[tuple[Words, ...]] = (
    (*_RUN, "--json", "--partitions", "1"),
    (*_RUN,),
    (*_RUN, "--overwrite", "--topology", "net.toml", "--json", "--partitions", "1"),
    (*_RUN[:-1], "streamed", "--stream", "--checkpoint", "c", "--json"),
    (*_RUN[:-1], "streamed", "--stream", "--checkpoint", "c"),
)


def _session(commands: Sequence[Words], folder: Path) -> str:
    """All that people see who type these commands one after the other."""
    _write_files(folder)
    lines: list[str] = []
    for words in commands:
        lines += [f"$ twigcast {join(words)}", *_outcome(words, folder), ""]
    return "\n".join(lines)


def _outcome(words: Words, folder: Path) -> Iterator[str]:
    with working_in(folder):
        result = CliRunner().invoke(program.app, list(words), prog_name="twigcast")
    yield f"exit {result.exit_code}"
    for name, text in (("out", result.stdout), ("err", result.stderr)):
        for line in normalised(text, folder).splitlines():
            yield from (f"{name} {shown}".rstrip() for shown in _readable(line))


def _readable(line: str) -> Iterator[str]:
    """A line; one that is a large object, field by field."""
    if not line.startswith("{") or len(line) < _LONG:
        yield line
        return
    yield "{"
    for key, value in json.loads(line).items():
        if key in _UNSTEADY:
            yield f'  "{key}": # {type(value).__name__}'
        elif isinstance(value, list) and value:
            yield f'  "{key}": ['
            yield from (f"    {json.dumps(one, ensure_ascii=False)}" for one in value)
            yield "  ]"
        else:
            yield f'  "{key}": {json.dumps(value, ensure_ascii=False)}'
    yield "}"


_LONG: Final = 300

_UNSTEADY: Final = {
    "bytes_per_second", "documents_per_second", "engine", "matcher_loads", "matcher_version",
    "partitions", "real_seconds", "run", "seconds", "started", "workers",
}  # fmt: skip
"""Fields of large objects that differ from run to run, or from machine to machine."""


def _write_files(folder: Path) -> None:
    for name, text in _FILES.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    with zipfile.ZipFile(folder / "feed.zip", "w") as archive:
        archive.writestr("c.xml", "<item/>")


def _match(engine: str, folder: Path) -> str:
    return _session([(*words, "--engine", engine) for words in _MATCH], folder)


def _parts(folder: Path) -> str:
    """``about`` and ``doctor`` tell of this machine: here only what they tell about."""
    lines: list[str] = []
    for verb in ("about", "doctor"):
        result = CliRunner().invoke(program.app, [verb, "--json"])
        for line in result.stdout.splitlines():
            told = json.loads(line)
            lines.append(f"{verb}: {next(iter(told.values()))}: {', '.join(told)}")
    return normalised("\n".join(lines) + "\n", folder)


def _run_whole(folder: Path) -> str:
    from twigcast.spark import start_session

    start_session("local[2,2]", quick=True)  # which the verb finds, and leaves as it is
    text = _session(_RUN_WHOLE, folder)
    return "\n".join(_steady(line) for line in text.split("\n"))


def _demo(folder: Path) -> str:
    from twigcast.spark import start_session

    start_session("local[2,2]", quick=True)
    return _session([("demo", "--documents", "20", "--subscriptions", "20", "--json")], folder)


def _steady(line: str) -> str:
    """A line of the summary without times, and without what an engine or a machine decides."""
    if line.startswith("out seconds"):
        return "out seconds #"
    return line.partition("  engine ")[0]


def _golden(name: str, told: Callable[[Path], str], need: Need = Need.NOTHING) -> Golden:
    return Golden(f"command-{name}.txt", told, need)


GOLDENS: Final = (
    *(_golden(name, partial(_session, commands)) for name, commands in _SESSIONS.items()),
    _golden("match-native", partial(_match, "native"), Need.KERNEL),
    _golden("match-streaming", partial(_match, "streaming")),
    _golden("match-lxml", partial(_match, "lxml")),
    _golden("run-refused", partial(_session, _RUN_REFUSED), Need.PYSPARK),
    _golden("run", _run_whole, Need.SESSION),
    Golden("command-demo.txt", _demo, Need.SESSION, is_long=True),
    _golden("about-and-doctor", _parts, Need.PYSPARK),
    _golden("help", partial(_session, [(*words, "--help") for words in _VERBS])),
)
