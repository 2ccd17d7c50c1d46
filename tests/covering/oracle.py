"""The oracle of covering: canonical models as real documents, and libxml2 to match them.

Nothing of the room ``covering`` is used here. A pattern is a text; the narrower one is read by a
few lines of our own, which know branches, ``/``, ``//`` and ``*`` and nothing else. Every ``*`` is
replaced by a name that occurs nowhere, every ``//`` by a chain of such elements of each length from
none to one more than the longest row of stars in the wider text (Miklau and Suciu, 2004). The wider
pattern covers the narrower one just if libxml2 finds it in each of these documents.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import product

from lxml import etree

UNKNOWN = "z"
_TOKEN = re.compile(r"\.//|//|/|\[|\]|\*|[a-y]+")


@dataclass
class Node:
    """A step of a pattern, with what it leads to."""

    name: str
    far: bool
    below: list[Node] = field(default_factory=list)


def read(text: str) -> Node:
    """The first step of an absolute pattern over ``/ // *`` and branches."""
    tokens = _TOKEN.findall(text)
    assert "".join(tokens) == text
    top = Node("", far=False)
    stack: list[Node] = []
    here, far = top, False
    for place, token in enumerate(tokens):
        match token:
            case "[":
                stack.append(here)
                far = False
            case "]":
                here = stack.pop()
            case "/" | "//" | ".//":
                far = token.endswith("//")
            case _:
                assert place == 0 or tokens[place - 1] in {"/", "//", ".//", "["}
                node = Node(token, far)
                here.below.append(node)
                here, far = node, False
    return top.below[0]


def nodes(node: Node) -> Iterator[Node]:
    yield node
    for below in node.below:
        yield from nodes(below)


def row_of_stars(node: Node, above: int = 0) -> int:
    """The longest row of ``*`` joined by ``/``."""
    here = (1 if node.far else above + 1) if node.name == "*" else 0
    return max([here, *(row_of_stars(below, here) for below in node.below)])


def models(narrower: str, longest: int) -> Iterator[etree._Element]:
    """The canonical models, the longest and the shortest first: these refute most."""
    root = read(narrower)
    far = [node for node in nodes(root) if node.far]
    lengths = [longest, *range(longest)]
    for chosen in product(lengths, repeat=len(far)):
        chains = {id(node): length for node, length in zip(far, chosen, strict=True)}
        yield _built(None, root, chains)


def _built(parent: etree._Element | None, node: Node, chains: dict[int, int]) -> etree._Element:
    names = [UNKNOWN] * chains.get(id(node), 0)
    names.append(UNKNOWN if node.name == "*" else node.name)
    first: etree._Element | None = None
    for name in names:
        parent = etree.Element(name) if parent is None else etree.SubElement(parent, name)
        first = parent if first is None else first
    for below in node.below:
        _built(parent, below, chains)
    assert first is not None
    return first


def truly_covers(*, wider: str, narrower: str) -> bool:
    """Whether every document that matches the narrower pattern matches the wider one."""
    matches = etree.XPath(f"boolean({wider})", regexp=False)
    longest = row_of_stars(read(wider)) + 1
    return all(matches(model.getroottree()) for model in models(narrower, longest))


def model_count(*, wider: str, narrower: str) -> int:
    """How many canonical models there are."""
    far = sum(node.far for node in nodes(read(narrower)))
    return int((row_of_stars(read(wider)) + 2) ** far)
