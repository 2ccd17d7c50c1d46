"""What is stored: compiled matchers by each engine, and the files they are written to.

What was stored by one version of the code must be read by the next, so the bytes are recorded: how
many, their hash, and how they begin. Matchers hold no name of a module or a class of ours. Pickles
do (of a Matcher, of errors, of patterns); they cross processes of one version, and are no form that
is kept, so they are not recorded.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import partial
from hashlib import sha256
from pathlib import Path
from typing import Final

from tests.goldens.golden import Golden, Need, hex_lines
from twigcast import CoverIndex, Matcher, Pattern
from twigcast.covering import Advertisement
from twigcast.files import (
    compile_subscriptions,
    read_index,
    read_subscriptions,
    topology_text,
    write_index,
)
from twigcast.language import Schema
from twigcast.routing import Topology

_BEGINNING: Final = 96
_PREFIXES: Final = {"n": "urn:n"}

_RULES: Final[Mapping[str, Mapping[int | str, str]]] = {
    "none": {},
    "exact": {
        1: "/news/body//price[. > 10]",
        2: "//item[@id = 'x' and not(note)]/title",
        7: "//a | //b[c][starts-with(., 'ab')]",
        -4: "//*/n:item/@*",
    },
    "residual": {1: "//item[2]", 2: "count(//item) > 3", 3: "//a/following-sibling::b"},
    "ids that are texts": {"ann": "//a", "bob": "/b[c]", 3: "//a[last()]"},
    "all alike": dict.fromkeys(range(20), "//price"),
}

_SUBSCRIPTIONS: Final = """id,xpath,subscriber,broker,namespaces
cheap,//item[price < 10],ann,north,
spaced,//n:note,,,n=urn:notes
bad,//[,eve,,
counted,count(//item) > 2,ann,south,
"""

_MIXED: Final = b"<!ELEMENT a (b*)> <!ELEMENT b (#PCDATA|a)*> <!ATTLIST b kind (x|y) 'x'>"


def _matchers(engine: str, _: Path) -> str:
    lines: list[str] = []
    for name, rules in _RULES.items():
        matcher = Matcher(engine=engine)
        for one, xpath in rules.items():
            matcher.add(one, xpath, _PREFIXES)
        content = matcher.to_bytes()
        read = Matcher.from_buffer(content, engine=engine)
        assert read.to_bytes() == content
        lines += [f"## {name}", "", *_content_lines(content), ""]
    return "\n".join(lines)


def _content_lines(content: bytes) -> Iterator[str]:
    yield f"bytes   {len(content)}"
    yield f"sha256  {sha256(content).hexdigest()}"
    yield f"names a module of ours: {'yes' if b'twigcast.' in content else 'no'}"
    yield from hex_lines(content[:_BEGINNING], width=32)


def _files(engine: str, folder: Path) -> str:
    """The file that workers load: its name tells its content."""
    (folder / "subscriptions.csv").write_text(_SUBSCRIPTIONS, encoding="utf-8")
    matcher = Matcher(engine=engine)
    rejected = compile_subscriptions(read_subscriptions(folder / "subscriptions.csv"), matcher.add)
    written = write_index(folder, matcher)
    assert sorted(read_index(written.path, engine=engine).match("<a><item/></a>")) == []
    lines = [f"file {written.path.name}, version {written.version}", ""]
    lines += [*_content_lines(written.path.read_bytes()), ""]
    lines += [f"rejected: {one}" for one in rejected]
    return "\n".join(lines) + "\n"


def _texts(_: Path) -> str:
    """Values that are stored and sent as texts, and no others."""
    patterns = [xpath for rules in _RULES.values() for xpath in dict.fromkeys(rules.values())]
    lines = ["## patterns: canonical text, whether it is exact", ""]
    for xpath in dict.fromkeys(patterns):
        pattern = Pattern.parse(xpath, _PREFIXES)
        lines.append(f"{xpath}  →  {pattern.text}  {'exact' if pattern.exact else 'residual'}")
    lines += ["", "## advertisements", ""]
    for expressions in (["/a/b"], ["/a(b)+/@x", "/a/*"], ["/c(a/b)+/text()"]):
        lines += [Advertisement.of_expressions(expressions).text, ""]
    lines += [Advertisement.of_schema(Schema.parse(_MIXED)).text, ""]
    topology = Topology.of({"links": [["a", "b"], {"between": ["b", "c"], "latency_ms": 3}]})
    lines += ["## topology, json", "", topology_text(topology).rstrip(), ""]
    lines += ["## topology, toml", "", topology_text(topology, "toml").rstrip(), ""]
    lines += ["## a cover index", "", f"stored forms: {_stored_forms(CoverIndex())}"]
    return "\n".join(lines) + "\n"


def _stored_forms(thing: object) -> str:
    found = [name for name in ("to_bytes", "from_buffer", "to_json") if hasattr(thing, name)]
    return ", ".join(found) or "none"


def _of(engine: str) -> Iterator[Golden]:
    need = Need.KERNEL if engine == "native" else Need.NOTHING
    yield Golden(f"stored-matcher-{engine}.txt", partial(_matchers, engine), need)
    yield Golden(f"stored-file-{engine}.txt", partial(_files, engine), need)


GOLDENS: Final = (
    *(golden for engine in ("native", "streaming", "lxml") for golden in _of(engine)),
    Golden("stored-texts.txt", _texts),
)
