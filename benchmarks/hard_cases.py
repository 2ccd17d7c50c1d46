"""The hardest expressions known, and the documents that suit them least."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

GROWTH: Final = 4
SIZES: Final = tuple(1_000 * GROWTH**power for power in range(4))
FEWER: Final = tuple(size // GROWTH**2 for size in SIZES)
"""For a thousand expressions at once."""

Make = Callable[[int], bytes]


def flat(items: int) -> bytes:
    """So many siblings, each with an attribute and a child that no other has."""
    return _all(f'<a id="i{n}"><b>{n}</b></a>' for n in range(items))


def repeated(items: int) -> bytes:
    """So many siblings that are all the same."""
    return _all('<a id="i"/>' for _ in range(items))


def deep(items: int) -> bytes:
    """So many elements in towers of a hundred, or in one."""
    height = min(items, 100)
    tower = "<a>" * height + "<b>t</b>" + "</a>" * height
    return _all(tower for _ in range(items // height))


def linked(items: int) -> bytes:
    """So many elements with identifiers, each of which names another one."""
    return _all(f'<a xml:id="i{n}"><b>i{n * 7919 % items}</b></a>' for n in range(items))


def long(items: int) -> bytes:
    """A text of 64 characters for each item, and a short one."""
    return _all(("<a>", "ab  c d " * 8 * items, "</a><a>z</a>"))


def _all(parts: Iterable[str]) -> bytes:
    return f"<r>{''.join(parts)}</r>".encode()


def _nested(innermost: str, around: str, times: int) -> str:
    """All ``a`` with a condition that stands in itself so many times."""
    text = innermost
    for _ in range(times):
        text = around.replace("…", text)
    return f"//a[{text}]"


@dataclass(frozen=True, slots=True)
class Case:
    """Expressions that are decided together, and what they are decided on."""

    expressions: Sequence[str]
    make: Make
    sizes: Sequence[int] = SIZES


def _one(expression: str, make: Make = flat) -> Case:
    return Case((expression,), make)


def _thousand(expression: str) -> Case:
    """One expression with a thousand numbers in it."""
    return Case([expression.replace("…", str(n)) for n in range(1_000)], flat, FEWER)


_NONE: Final = "b[. + 0 = -1]"
"""What no document has, and no index knows to be missing."""

_CUT: Final = ", 'a')"

CASES: Final[Mapping[str, Case]] = {
    "counts in counts": _one(_nested("b = -1", "count(preceding::*[…]) > 1", 4)),
    "counts of all in counts of all": _one("//*[count(//*[count(//*) > 3]) = 3]"),
    "counts before and behind": _one("//a[count(preceding::*) = count(following::*) + 0.5]"),
    "counts among siblings": _one("//a[count(../a[b = 5]) = 3]"),
    "sums among siblings": _one("//a[sum(../a/@id) = 1]"),
    "sums of what precedes": _one("//a[sum(preceding::a/b) = -1]"),
    "values before": _one("//a[@id = preceding::a/b]"),
    "values once": _one("count(//a[not(b = preceding::a/b)]) = 3"),
    "other values before": _one("//a[@id != preceding::a/@id]", repeated),
    "less than before": _one("//a[b > following::a/b]"),
    "sets in predicates": _one("//a[//a/@id = .//b]"),
    "sets in order": _one("//a[//a/b < .//@id]"),
    "last before": _one(f"//a[preceding::a[last()]/{_NONE}]"),
    "every second sibling before": _one(f"//a[preceding-sibling::a[position() mod 2 = 1]/{_NONE}]"),
    "seventh before, thrice": _one(f"//a[{'preceding::a[7]/' * 3}{_NONE}]"),
    "last of a union": _one(f"//a[(ancestor::*|preceding::a)[last()]/{_NONE}]"),
    "positions in towers": _one(f"//a[ancestor::a[position() mod 3 = 1]/{_NONE}]", deep),
    "not in not": _one(_nested("b = -1", "not(following::*[…])", 7)),
    "not in not in towers": _one(_nested(_NONE, "not(ancestor::*[…])", 6), deep),
    "long chain": _one(f"{'//a' * 30}//{_NONE}", deep),
    "chain there and back": _one(f"//*{'/following::*/preceding::*' * 5}/{_NONE}"),
    "chain of parents": _one(f"//*{'/..//*' * 10}/{_NONE}", deep),
    "forty comparisons": _one(
        f"//a[following::a[{' or '.join(f'. * 2 = {n}.5' for n in range(40))}]]"
    ),
    "texts of towers": _one("//*[string-length(normalize-space(.)) = 2]", deep),
    "long texts cut": _one(f"contains({'substring-after(' * 20}/r{_CUT * 20}, 'd c')", long),
    "long texts made": _one(
        "contains(translate(concat(/r, normalize-space(/r)), 'abcd', 'dcba'), 'a c')", long
    ),
    "long texts searched": _one("contains(/r, concat(substring(/r, 9, 4096), 'q'))", long),
    "identifiers": _one("//a[id(id(id(b)/b)/b)[2]]", linked),
    "all identifiers": _one("//a[count(id(//b)) = 3]", linked),
    "1,000 rules, each linear": _thousand("//a[b * 2 = … + 0.5]"),
    "1,000 rules, each quadratic": _thousand("//a[@id = preceding::a[b != …]/b]"),
}
