"""The kind ``rules``: expressions that people wrote, on real documents of their kind.

The rules and documents of ``../shared/bench/rules``, and what libxml2 answered before this project
looked at them. One process does this::

    read the expressions           compile
    add them                       those that the index does not decide are timed apart
    all documents                  first sight: the matcher has seen none before
    all, parsed by lxml            the floor     } in turns; each turn gets documents of its own,
    all, matched                   warm          } so that nobody can remember an answer

Every pass is compared with the known answers, pair by pair. A document is made another by the
declaration of a namespace in its root element, which no name of it has: a digit in a text or a
comment is something that one of thousands of rules may ask for, a prefix that is not used is not.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import count
from statistics import median
from typing import TYPE_CHECKING, Any, Final, NamedTuple, cast
from xml.parsers import expat

import pyarrow as pa
from lxml import etree

from benchmarks.definition import Definition
from benchmarks.measure import Measurement, digest, held_bytes, peak_bytes, timed
from benchmarks.workloads import RULES, require
from twigcast.language import PATTERN_LIMITS, Pattern
from twigcast.language.xpath.lexer import tokens
from twigcast.language.xpath.parser import parse_expression
from twigcast.language.xpath.syntax import Expression, Path, Union
from twigcast.matching import Matcher

if TYPE_CHECKING:
    from lxml.etree import _Element

NAIVE: Final = "one by one"
PASSES = 5
SECONDS_MAX = 6.0
"""No more passes after so many seconds."""


class Rule(NamedTuple):
    """An expression under its id, with the namespaces of its prefixes."""

    id: int
    xpath: str
    namespaces: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class RuleSet:
    """The rules of a genre, its documents, and for each of these the ids that match."""

    rules: Sequence[Rule]
    documents: Sequence[bytes]
    answers: Sequence[Sequence[int]]


class Row(NamedTuple):
    """The answer to one document."""

    matches: Sequence[int]
    undecided: Sequence[int]


Ask = Callable[[Sequence[bytes]], Sequence[Row]]


def measured(definition: Definition, engine: str) -> Measurement:
    """Measure one engine on a genre."""
    require(definition)
    return ruled(engine, rules_of(definition.workload.partition("/")[2]))


def rules_of(genre: str) -> RuleSet:
    """The shared rules and documents of a genre."""
    folder, corpus = RULES / genre, RULES.parents[1] / "data"
    lines = _lines((folder / "rules.jsonl").read_text(encoding="utf-8"))
    known = _lines((folder / "expected.jsonl").read_text(encoding="utf-8"))
    return RuleSet(
        [Rule(one["id"], one["xpath"], one["namespaces"]) for one in lines],
        [(corpus / one["document"]).read_bytes() for one in known],
        [one["matches"] for one in known],
    )


def ruled(engine: str, known: RuleSet) -> Measurement:
    """The same on rules that are there already."""
    # pyarrow loads pandas for the first array that it makes, which takes time and 50 MB.
    pa.array([b""], pa.binary())
    before = held_bytes()
    ask, figures = _one_by_one(known.rules) if engine == NAIVE else _twigcast(engine, known.rules)
    compiled = held_bytes()
    turns = count()
    rows, first_s = _timed(ask, known, next(turns))
    differences = _differences(rows, known)
    parsing: list[float] = []
    matching: list[float] = []
    begun = time.perf_counter()
    while not matching or (len(matching) < PASSES and time.perf_counter() - begun < SECONDS_MAX):
        turn = next(turns)
        parsing.append(_parsed(known, turn))
        rows, match_s = _timed(ask, known, turn)
        matching.append(match_s)
        differences += _differences(rows, known)
    number = len(known.documents)
    undecided = sum(len(row.undecided) for row in rows)
    matches = [row.matches for row in rows]
    found = {} if undecided else {"matches": sum(map(len, matches))}
    # Who leaves pairs undecided may have fewer matches; what it decides is compared all the same.
    return Measurement(
        engine=engine,
        counts={"differences": differences} | found,
        digests={} if undecided else {"matches": digest(matches)},
        figures={
            **figures,
            "first_sight_us": 1e6 * first_s / number,
            "warm_us": 1e6 * median(matching) / number,
            "parse_us": 1e6 * median(parsing) / number,
            "times_parse": median(matching) / median(parsing),
            "undecided": undecided,
            "documents": number,
            "bytes_per_subscription": max(0, compiled - before) / len(known.rules),
            "peak_mib": peak_bytes() / 2**20,
        },
    )


def varied(content: bytes, turn: int) -> bytes:
    """The document with one more namespace declared in its root element, and used nowhere."""
    end = _root_name_end(content)
    return b'%b xmlns:turn%d="urn:turn:%d"%b' % (content[:end], turn, turn, content[end:])


def for_lxml(rule: Rule) -> str:
    """The rule as libxml2 reads it: a path at top level may begin anywhere in the document."""
    expression = parse_expression(rule.xpath, rule.namespaces, PATTERN_LIMITS)
    parts: tuple[Expression, ...]
    if isinstance(expression, Path):
        parts, texts = (expression,), [_plain(rule.xpath)]
    elif isinstance(expression, Union):
        parts, texts = expression.parts, _branches(_plain(rule.xpath))
    else:
        return _plain(rule.xpath)
    return " | ".join(
        f"//{text}" if isinstance(part, Path) and not part.absolute else text
        for part, text in zip(parts, texts, strict=True)
    )


def _plain(text: str) -> str:
    """The expression without names in any namespace, which XPath 1.0 does not have."""
    for token in reversed(tokens(text)):
        if token.text.startswith("*:"):
            begin, local = token.column - 1, token.text[2:]
            behind = text[begin + len(token.text) :]
            text = f"{text[:begin]}*[local-name() = '{local}']{behind}"
    return text


def _branches(text: str) -> list[str]:
    """The branches of a union, as they are written."""
    depth, begin, found = 0, 0, []
    for token in tokens(text):
        depth += (token.text in ("(", "[")) - (token.text in (")", "]"))
        if not depth and (token.kind == "end" or token.text == "|"):
            found.append(text[begin : token.column - 1].strip())
            begin = token.column
    return found


def _lines(text: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in text.splitlines()]


def _root_name_end(content: bytes) -> int:
    """Where the name of the root element ends."""
    begun: list[int] = []
    reader = expat.ParserCreate()
    reader.UseForeignDTD(True)  # noqa: FBT003  # Else a reference to an unread entity is an error.
    reader.StartElementHandler = lambda *_: begun.append(reader.CurrentByteIndex)
    reader.Parse(content, True)  # noqa: FBT003
    place = begun[0]
    while content[place : place + 1] not in b" \t\r\n/>":
        place += 1
    return place


def _varied(known: RuleSet, turn: int) -> list[bytes]:
    return [varied(content, turn) for content in known.documents]


def _timed(ask: Ask, known: RuleSet, turn: int) -> tuple[Sequence[Row], float]:
    documents = _varied(known, turn)
    return timed(lambda: ask(documents), time.process_time)


def _parsed(known: RuleSet, turn: int) -> float:
    documents = _varied(known, turn)
    return timed(lambda: [_tree(content) for content in documents], time.process_time)[1]


def _tree(content: bytes) -> _Element:
    """The document as lxml reads it, without the entities of a DTD that nobody fetches."""
    return etree.fromstring(content, _LENIENT)


_LENIENT = etree.XMLParser(recover=True)


def _differences(rows: Sequence[Row], known: RuleSet) -> int:
    """On how many pairs that were decided the answer is another than libxml2's."""
    return sum(
        len((set(row.matches) ^ set(answer)) - set(row.undecided))
        for row, answer in zip(rows, known.answers, strict=True)
    )


def _one_by_one(rules: Sequence[Rule]) -> tuple[Ask, dict[str, float]]:
    """Every expression compiled by lxml, every one evaluated on every document."""

    def compile_all() -> list[tuple[int, Callable[[_Element], bool]]]:
        found = []
        for rule in rules:
            # The detour makes the document node the context: lxml begins at the root element.
            whole = f"boolean(/self::node()[boolean({for_lxml(rule)})])"
            xpath = etree.XPath(whole, namespaces=dict(rule.namespaces), regexp=False)
            found.append((rule.id, cast("Callable[[_Element], bool]", xpath)))
        return found

    compiled, compile_s = timed(compile_all, time.process_time)

    def ask(documents: Sequence[bytes]) -> list[Row]:
        rows = []
        for content in documents:
            tree = _tree(content)
            rows.append(Row([number for number, holds in compiled if holds(tree)], ()))
        return rows

    return ask, {"compile_s": compile_s}


def _twigcast(engine: str, rules: Sequence[Rule]) -> tuple[Ask, dict[str, float]]:
    """Our matcher, asked for all documents at once."""
    matcher = Matcher(engine=engine, keep_texts=False)
    patterns, parse_s = timed(
        lambda: [Pattern.parse(rule.xpath, rule.namespaces) for rule in rules], time.process_time
    )
    spent = {True: 0.0, False: 0.0}
    for rule, pattern in zip(rules, patterns, strict=True):
        exact = pattern.exact
        _, add_s = timed(lambda r=rule, p=pattern: matcher.add(r.id, p), time.process_time)  # type: ignore[misc]
        spent[exact] += add_s
    residual = sum(not pattern.exact for pattern in patterns)

    def ask(documents: Sequence[bytes]) -> list[Row]:
        return _listed(matcher.match_batch(pa.array(documents, pa.binary())))

    return ask, {
        "compile_s": parse_s + sum(spent.values()),
        "residual": residual,
        "residual_add_us": 1e6 * spent[False] / max(1, residual),
    }


def _listed(rows: pa.RecordBatch) -> list[Row]:
    """The rows of a batch; an error is the fault of whoever made the documents other ones."""
    refused = [error for error in rows.column("error").to_pylist() if error is not None]
    assert not refused, refused
    matches, undecided = (rows.column(name).to_pylist() for name in ("matches", "undecided"))
    return [Row(m or (), u or ()) for m, u in zip(matches, undecided, strict=True)]
