"""Questions about each axis, function, operator and rewrite of XPath 1.0, with libxml2's answers.

Drawn expressions meet what is rare by chance only. These are listed: each axis from nodes of every
kind, each operator between values of every type, each function where it is easily wrong, and what
evaluators keep in another form than it was written in (``xpath_cases.txt``). A question asks for
the value that libxml2 gives.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from itertools import product
from pathlib import Path
from typing import Final

from lxml import etree

from tests.oracle import by_oracle, oracle_tree

__all__ = ["DOCUMENTS", "NAMESPACES", "questions"]

NAMESPACES: Final = {"p": "urn:p"}

_OF_ALL_KINDS: Final = """\
<!--0--><?t 0?><a n='1' x='1' y='b c' xml:lang='en-GB' xmlns:p='urn:p'>t\
<b n='2' x='2' xml:id='i' class=' x  y '>5</b><!--c1--><c n='4'><b n='8'>x</b><d n='16'/>\
<b n='32' class='x'>y<e n='64' xml:lang='de' xml:id='k'/></b><?t c?>z</c><?q r q?> u \
<p:f n='128' p:x='3' x='-1.5' y=''><p:b n='256'>10</p:b><b n='512' xml:id='j' y='i j'> 5 \
</b><![CDATA[<7]]></p:f><c n='1024' class='xy'>5</c></a><!--9--><?u 9?>"""
"""Nodes before and behind the root as well; ``n`` tells elements apart, also by its sums."""

_ROOT_FIRST: Final = """\
<a n='1'><a n='2' x='5'><b n='4'>1</b><b n='8'>3</b></a><a n='16'><b n='32'>2</b><c n='64'>2</c>\
</a></a><!--x-->"""
"""libxml2 does not find such a root from behind."""

_FEW_AMONG_MANY: Final = f"""\
<a n='1'>{"<b n='0'><c n='0'>y</c> <d n='0' i='1'/></b>" * 60}\
<b n='2'><c n='4'>x</c><e n='8' j='2'><f n='16'/></e></b><g n='32'><h n='64'/>z</g></a>"""
"""Searches begin at the few."""

_NUMBERS: Final = """\
<r n='1'><v n='2'>1e2</v><v n='4'>-</v><v n='8'>-5</v><v n='16'>.5</v><v n='32'>5.</v>\
<v n='64'>+1</v><v n='128'> 7\n</v><v n='256'/><v n='512'>éx\U0001f600</v></r><!--x-->"""

DOCUMENTS: Final = tuple(
    text.encode() for text in (_OF_ALL_KINDS, _ROOT_FIRST, _FEW_AMONG_MANY, _NUMBERS)
)

_AXES: Final = (
    "ancestor", "ancestor-or-self", "attribute", "child", "descendant", "descendant-or-self",
    "following", "following-sibling", "parent", "preceding", "preceding-sibling", "self",
)  # fmt: skip
_TESTS: Final = ("node()", "*", "b", "text()", "comment()", "processing-instruction()")
_STARTS: Final = ("//*", "//@*", "//text()", "//comment()", "//processing-instruction()")
_VALUES: Final = (
    "1", "2.5", "-1", "0 div 0", "1 div 0", "'x'", "'5'", "''", "true()", "false()", "//b", "//@x",
    "//zz", "//v", "string(//b)", "number(//c)", "//a/b", "count(//b)", "count(//zz)",
)  # fmt: skip


def _steps() -> Iterator[str]:
    """Each axis from nodes of every kind, as a path and as a condition, and with positions."""
    for axis, test in product(_AXES, _TESTS):
        step = f"{axis}::{'y' if (axis, test) == ('attribute', 'b') else test}"
        yield from (f"/{step}", f"//node()[{step}]", f"//@*[{step}]", f"(//b | //text())/{step}")
        yield from (f"{start}/{step}" for start in _STARTS)
        yield from (f"//*[count({step}) = 2]", f"//*[string({step}) = '5']", f"(//*/{step})[2]")
        for position in ("[1]", "[2]", "[last()]"):
            yield from (f"{start}/{step}{position}" for start in _STARTS[:3])
            yield f"//node()[{step}{position}/..]"


def _operations() -> Iterator[str]:
    """Each operator between values of every type."""
    for left, operator, right in product(_VALUES, ("=", "!=", "<", "<=", ">", ">="), _VALUES):
        yield f"{left} {operator} {right}"
    numbers = ("7", "-7", "2.5", "0", "'3'", "//b", "1 div 0", "0 div 0")
    divisors = ("2", "-4", "0", "1.5", "//b[2]", "1 div 0")
    for left, operator, right in product(numbers, ("+", "-", "*", "div", "mod"), divisors):
        yield f"{left} {operator} {right}"


def _listed() -> Iterator[str]:
    text = Path(__file__).with_suffix(".txt").read_text(encoding="utf-8")
    for line in text.splitlines():
        if line and not line.startswith("#"):
            yield line.replace(r"\t", "\t").replace(r"\n", "\n")


@cache
def questions(content: bytes) -> dict[str, bool]:
    """Questions about a document, with libxml2's answers; only some that compare do not hold."""
    tree = oracle_tree(content)
    found: dict[str, bool] = {}
    for expression in dict.fromkeys((*_steps(), *_operations(), *_listed())):
        for question in _asked(expression, tree):
            found[question] = by_oracle(question, tree, NAMESPACES)
    return found


def _asked(expression: str, tree: etree._ElementTree) -> Iterator[str]:
    value: object = tree.xpath(expression, namespaces=NAMESPACES)
    match value:
        case bool():
            yield expression
        case float():
            printed: object = tree.xpath(f"string({expression})", namespaces=NAMESPACES)
            yield f"string({expression}) = '{printed}'"
        case str():
            yield f'{expression} = "{value}"'
        case list():
            yield f"boolean({expression})"
            yield f"count({expression}) = {len(value)}"
            numbers = f"sum(({expression})/ancestor-or-self::*[1]/@n)"
            total: object = tree.xpath(f"string({numbers})", namespaces=NAMESPACES)
            yield f"{numbers} = {total}"
