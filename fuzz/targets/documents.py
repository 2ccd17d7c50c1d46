"""Documents, well-formed or not, to engines that have read thousands before, and to new ones.

libxml2 says which documents are taken and what holds in them. All engines must say the same, with
the same refusal, alone and in a batch, whatever they have read before.
"""

from __future__ import annotations

from functools import cache
from random import Random
from typing import Final

import msgspec
import pyarrow as pa

from fuzz.cases import as_bytes, as_text
from fuzz.matchers import Answer, answer, matchers
from fuzz.mutation import XML_PIECES, mutated, spliced
from fuzz.oracle import Question, holds, question, tree_of
from fuzz.shared import real_documents
from fuzz.target import ACCEPTED, REFUSED, UNDECIDED, Fault, Target
from fuzz.xml_text import random_document
from twigcast.language import Pattern
from twigcast.matching import Matcher

NAMESPACES: Final = {"p": "urn:p", "q": "urn:q", "x": "http://www.w3.org/XML/1998/namespace"}

EXPRESSIONS: Final = (
    *("//a", "//b", "/a", "/*/b", "//a//b", "//a/b/c", "//*[@x]", "//@y", "//@p:x", "//p:a"),
    *("//q:b", "//p:*", "//*[local-name()='a']", "//a[b][c]", "//a[@x = '1']"),
    *("//a[@x > 1]", "//b[. = '5']", "//b[. != '']", "//c[text()]", "//*[text() = 'x']"),
    *("not(//b)", "//*[contains(., 'x')]"),
    *("//*[starts-with(., '1')]", "//a[not(b)]", "//a[b or @y]", "//@x:lang", "//@x:id", "//é"),
    *("//comment()", "//processing-instruction('t')", "//a[2]", "count(//*) > 3", "//a/text()[2]"),
    *("//*[string-length(.) = 1]", "//b/following-sibling::*", "//*[name() = 'p:a']", "/comment()"),
    *("//*[namespace-uri() = 'urn:p']", "//text()[normalize-space() = '5']", "string(/) = '1'"),
    *("sum(//@x) > 1", "//*[lang('en')]", "id('x')", "//a[last()]", "/node()[2]"),
)  # fmt: skip
"""Whatever a reader might get wrong changes what one of these says."""

DOCUMENTS_MAX: Final = 4


class Case(msgspec.Struct):
    """Documents that come one after another."""

    documents: list[str]


@cache
def _patterns() -> tuple[Pattern, ...]:
    return tuple(Pattern.parse(text, NAMESPACES) for text in EXPRESSIONS)


@cache
def _questions() -> tuple[Question, ...]:
    return tuple(question(text, NAMESPACES) for text in EXPRESSIONS)


@cache
def _warm() -> dict[str, Matcher]:
    """The engines that stay for the life of the process."""
    return matchers(_patterns())


def generate(rng: Random) -> Case:
    """Some documents: new ones, real ones, and damaged ones of those before."""
    documents: list[bytes] = []
    for _ in range(rng.randint(1, DOCUMENTS_MAX)):
        draw = rng.random()
        if documents and draw < 0.35:
            content = mutated(rng, rng.choice(documents), XML_PIECES)
        elif draw < 0.4 and real_documents():
            content = mutated(rng, rng.choice(real_documents()), XML_PIECES)
        elif draw < 0.45 and documents:
            content = spliced(rng, rng.choice(documents), random_document(rng))
        elif draw < 0.55:
            content = mutated(rng, random_document(rng, errors=0.2), XML_PIECES)
        else:
            content = random_document(rng)
        documents.append(content)
    return Case([as_text(content) for content in documents])


def check(case: Case) -> str:
    """Each document, then all of them as a batch."""
    contents = [as_bytes(text) for text in case.documents]
    answers = [_checked(content) for content in contents]
    for name, matcher in _warm().items():
        _check_batch(name, matcher, contents, answers)
    if any(refusal for refusal, _, _ in answers):
        return REFUSED
    return UNDECIDED if any(undecided for _, _, undecided in answers) else ACCEPTED


def _checked(content: bytes) -> Answer:
    """The answer that all engines give, and libxml2."""
    fresh = {name: answer(matcher, content) for name, matcher in matchers(_patterns()).items()}
    for name, matcher in _warm().items():
        again = answer(matcher, content)
        if again != fresh[name]:
            raise Fault(
                "history decides",
                f"{name} says {again} after other documents, {fresh[name]} at first: {content!r}",
            )
    first, *others = fresh.items()
    for name, other in others:
        if (other[0], _decided(other)) != (first[1][0], _decided(first[1])):
            raise Fault("engines differ", f"{first}, {name} {other}: {content!r}")
    _check_truth(content, first[1])
    return first[1]


def _decided(given: Answer) -> tuple[object, ...]:
    """The matches; what is undecided may differ between engines."""
    return () if given[2] else given[1]


def _check_truth(content: bytes, given: Answer) -> None:
    refusal, matches, undecided = given
    tree = tree_of(content)
    if tree is None:
        if not refusal:
            raise Fault("taken", f"libxml2 refuses {content!r}")
        return
    if refusal:
        if not refusal.startswith("DocumentLimitError") and "is not read here" not in refusal:
            raise Fault("refused", f"libxml2 takes {content!r}; we: {refusal}")
        return
    for number, expression in enumerate(_questions()):
        if number not in undecided and holds(expression, tree) != (number in matches):
            raise Fault("wrong answer", f"{EXPRESSIONS[number]} on {content!r}")


def _check_batch(name: str, matcher: Matcher, contents: list[bytes], answers: list[Answer]) -> None:
    rows = matcher.match_batch(pa.array(contents, pa.binary()))
    found = rows.column("matches").to_pylist()
    for content, given, matches in zip(contents, answers, found, strict=True):
        expected = None if given[0] else list(given[1])
        if matches != expected and not given[2]:
            raise Fault("batch differs", f"{name}: {matches}, alone {expected}: {content!r}")


TARGET: Final = Target(
    name="documents",
    summary="documents by all engines, warm and new, against libxml2",
    kind=Case,
    generate=generate,
    check=check,
)
