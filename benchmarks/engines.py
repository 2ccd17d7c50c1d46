"""The ways to match, in process. An engine compiles expressions into a function over a document.

``parse`` answers nothing and is the floor: it only builds the tree that every engine here needs.
``one by one`` is what one would write without Twigcast, and always runs.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from lxml import etree

Match = Callable[[bytes], Sequence[int]]
Engine = Callable[[Sequence[str]], Match]


def parse(expressions: Sequence[str]) -> Match:
    """Build the tree, ask nothing."""
    del expressions

    def match(document: bytes) -> Sequence[int]:
        etree.fromstring(document)
        return ()

    return match


def one_by_one(expressions: Sequence[str]) -> Match:
    """Every expression compiled by lxml, every one evaluated on every document."""
    compiled = [etree.XPath(f"boolean({expression})", regexp=False) for expression in expressions]

    def match(document: bytes) -> Sequence[int]:
        tree = etree.fromstring(document)
        return [number for number, holds in enumerate(compiled) if holds(tree)]

    return match


def twigcast_lxml(expressions: Sequence[str]) -> Match:
    """Our engine ``lxml``: the same judge, behind a label prefilter."""
    from twigcast import Matcher

    matcher = Matcher(engine="lxml")
    for number, expression in enumerate(expressions):
        matcher.add(number, expression)
    return matcher.match


ENGINES: dict[str, Engine] = {
    "parse": parse,
    "one by one": one_by_one,
    "twigcast lxml": twigcast_lxml,
}
