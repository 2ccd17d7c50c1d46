"""Matchers that follow a document, and documents cut off where something was decided."""

from __future__ import annotations

from copy import deepcopy

from lxml import etree

from tests.oracle import oracle_tree
from tests.strategies import NAMESPACES
from twigcast.matching import Matcher

FEED = b"<feed><a><b/></a><a><b/><c>x</c></a><d/></feed>"


def matcher_of(*xpaths: str) -> Matcher:
    matcher = Matcher(engine="streaming")
    for number, xpath in enumerate(xpaths):
        matcher.add(number, xpath, NAMESPACES)
    return matcher


def tags(tree: etree._ElementTree) -> list[tuple[str, etree._Element]]:
    return list(etree.iterwalk(tree, events=("start", "end")))


def cut_off(content: bytes, seen: int) -> bytes:
    """The document as far as it is known behind so many tags, written; empty texts are lost."""
    return etree.tostring(cut_off_tree(content, seen), encoding="UTF-8")


def cut_off_tree(content: bytes, seen: int) -> etree._ElementTree:
    """The document as far as it is known behind so many tags, all open elements closed.

    The texts of an element are known with its end tag.
    """
    tree = deepcopy(oracle_tree(content))
    events = tags(tree)
    ended = {element for event, element in events[:seen] if event == "end"}
    for event, element in events[seen:]:
        parent = element.getparent()
        if event == "start" and parent is not None:
            parent.remove(element)
    for element in tree.iter("*"):
        if element not in ended:
            element.text = None
            for child in element:
                child.tail = None
    return tree
