"""Checks the sentences of an explanation one by one: libxml2 must find again what they claim."""

from __future__ import annotations

import ast
import re
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Final

from lxml import etree

from twigcast.language.condition.writer import Libxml2Writer
from twigcast.language.document.parse import Document
from twigcast.language.pattern import CANONICAL_LIMITS
from twigcast.language.xpath.absolute import rooted
from twigcast.language.xpath.parser import parse_expression
from twigcast.language.xpath.syntax import Expression, Type, is_positional, type_of
from twigcast.matching import Explanation

if TYPE_CHECKING:
    from lxml.etree import _Element

_AT: Final = r"(?: there| at (?P<at>/\S+)(?: \(line \d+\))?)"
_SENTENCES: Final = {
    name: re.compile(sentence, re.DOTALL)
    for name, sentence in {
        "found": r"(?P<number>[\d,]+) nodes? found",
        "itself": "the document itself",
        "more": "… and more of this kind",
        "costly": "the document is too large to follow .+|the expression would cost too much .+",
        "anywhere": "step (?P<step>.+) finds nothing anywhere in the document",
        "root": r"step (?P<step>.+) does not fit: the root element is (?P<root>\S+)",
        "top": "step (?P<step>.+) leads nowhere from the document node",
        "nowhere": r"step (?P<step>.+) leads nowhere from "
        rf"(?P<nodes>the document node|[\d,]+ nodes?) reached by (?P<path>.+?){_AT}?",
        "none": r"predicate \[(?P<predicate>.+)\] holds for none of "
        rf"(?P<nodes>the document node|[\d,]+ nodes?) reached by (?P<path>.+?){_AT}?",
        "only": rf"there is only (?P<names>.+?){_AT}?",
        "axis": rf"(?P<axis>[a-z-]+)::\* is only (?P<names>.+?){_AT}",
        "unwanted": r"(?P<what>.+) is there, though it must not be(?:: (?P<where>/\S+)"
        r"(?: \(line \d+\))?)?",
        "holds not": rf"(?P<what>.+) holds, though it must not{_AT}?",
        "holds": "(?P<what>.+) holds",
        "values": "of these nodes the values are .+",
        "missing": rf"(?P<what>.+) is not{_AT}",
        "false": rf"(?P<what>.+) is false{_AT}?",
        "empty": rf"(?P<what>.+) finds nothing{_AT}?",
        "is": r"(?P<what>.+?) is (?P<value>['\"].*['\"](?: and [\d,]+ others)?"
        rf"|-?[\d.]+(?:e[+-]\d+)?|NaN|-?Infinity|true|false){_AT}?",
    }.items()
}


_HINTS: Final = {
    name: re.compile(hint, re.DOTALL)
    for name, hint in {
        "elsewhere": r"(?P<what>\S+) occurs elsewhere: (?P<where>/\S+)(?: \(line \d+\))?",
        "near": r"(?P<what>\S+) is nowhere; did you mean (?P<near>\S+)\?",
        "nowhere": r"(?P<what>\S+) is nowhere in the document",
        "namespace": r"(?P<what>\S+) is there, in (?:no namespace|namespace (?P<uri>\S+)): "
        r"write (?P<near>\S+?)(?:, or bind a prefix to \S+)?",
        "dtd": r"the DTD \S+ is not read: if it supplies (?P<missing>@\S+), that is why .+",
        "caution": r"(?P<caution>.+) holds in XPath 1.0 .+",
    }.items()
}


def check_facts(
    explanation: Explanation, document: Document, namespaces: Mapping[str, str]
) -> list[str]:
    """The kinds of sentences that were found true; AssertionError at the first that is not."""
    facts = _Facts(explanation, document, namespaces)
    kinds = [facts.check(reason) for reason in explanation.reasons]
    return kinds + [facts.check_hint(hint) for hint in explanation.hints]


class _Facts:
    def __init__(
        self, explanation: Explanation, document: Document, namespaces: Mapping[str, str]
    ) -> None:
        self._document = document
        self._namespaces = namespaces
        self._explanation = explanation
        place = explanation.place
        self._place = None if place is None else self._node(place)

    def check(self, reason: str) -> str:
        """Assert that a sentence is true; its kind."""
        for kind, sentence in _SENTENCES.items():
            found = sentence.fullmatch(reason)
            if found is not None:
                at = found.groupdict().get("at")
                here = self._place if at is None else self._node(at)
                assert self._is_true(kind, found.groupdict(), here), (reason, self._explanation)
                return kind
        raise AssertionError(f"what is this? {reason!r}")

    def _is_true(self, kind: str, said: dict[str, Any], here: _Element | None) -> bool:
        match kind:
            case "itself" | "more" | "values" | "costly":
                return True
            case "found":
                whole = rooted(self._parsed(self._explanation.xpath))
                # Otherwise it is what one side of an "and" has found.
                number = int(said["number"].replace(",", ""))
                return type_of(whole) is not Type.NODES or self._count(whole, here) == number
            case "anywhere" | "root" | "top" | "nowhere" | "none":
                return self._is_end(kind, said, here)
            case "only" | "axis":
                return self._are_all(said["names"], said.get("axis"), here)
            case "unwanted":
                return said["where"] is None or self._holds(said["where"], None)
            case "holds not" | "holds":
                return self._holds(said["what"], here)
            case "missing" | "false" | "empty":
                return not self._holds(said["what"], here)
            case _:
                return self._is_value(said["what"], said["value"], here)

    def _is_end(self, kind: str, said: dict[str, Any], here: _Element | None) -> bool:
        """Whether nothing is left of a path where it is said to end."""
        if kind == "none":
            path, predicate = said["path"], said["predicate"]
            if not is_positional(self._parsed(predicate)):
                path = f"({path})"
            else:  # What is short for a step takes no predicate.
                path = re.sub(r"(?<![^/])\.\.$", "parent::node()", path)
                path = re.sub(r"(?<![^/])\.$", "self::node()", path)
            started = self._is_number(said["nodes"], said["path"], here)
            return started and not self._holds(f"{path}[{predicate}]", here)
        step = said["step"]
        if kind == "nowhere":
            behind = step if step.startswith("//") else f"/{step}"
            started = self._is_number(said["nodes"], said["path"], here)
            return started and not self._holds(f"({said['path']}){behind}", here)
        if kind == "root":
            local = str(etree.QName(self._document.tree.getroot()).localname)
            return not self._holds(f"/{step}", here) and bool(said["root"].endswith(local))
        return not self._holds(f"//{step}" if kind == "anywhere" else f"/{step}", here)

    def _are_all(self, said: str, axis: str | None, here: _Element | None) -> bool:
        """Whether the names are those of all nodes on an axis."""
        shown, _, more = said.partition(" and ")
        names = shown.split(", ")
        axis = axis or ("attribute" if names[0].startswith("@") else "child")
        there = {each.rpartition("}")[2] for each in self._names(axis, here)}
        claimed = {each.lstrip("@").rpartition(":")[2] for each in names}
        return claimed <= there if more else claimed == there

    def check_hint(self, hint: str) -> str:
        """Assert that a hint is true; its kind."""
        for kind, form in _HINTS.items():
            found = form.fullmatch(hint)
            if found is not None:
                said = found.groupdict()
                for what in (said.get("where"), said.get("near")):
                    path = what if what is None or what.startswith("/") else f"//{what}"
                    assert path is None or self._holds(path, None), (hint, self._explanation)
                if kind in ("near", "nowhere"):
                    assert not self._holds(f"//{said['what']}", None), (hint, self._explanation)
                return kind
        raise AssertionError(f"what is this? {hint!r}")

    def _is_number(self, nodes: str, path: str, here: _Element | None) -> bool:
        number = self._count(self._parsed(path), here)
        return number == (1 if nodes.startswith("the") else int(re.sub(r"\D", "", nodes)))

    def _is_value(self, what: str, value: str, here: _Element | None) -> bool:
        expression = self._parsed("." if what == "the value" else what)
        if type_of(expression) in (Type.NUMBER, Type.BOOLEAN):
            return value == str(self._evaluated(expression, here, "string"))
        shown = re.sub(r" and [\d,]+ others$", "", value)
        texts = ast.literal_eval(f"[{shown}]")
        if type_of(expression) is Type.STRING:
            there = [str(self._evaluated(expression, here, "string"))]
        else:
            nodes = self._evaluated(expression, here)
            there = [_string(node) for node in nodes] or [
                str(self._evaluated(expression, here, "string"))
            ]
        distinct = list(dict.fromkeys(map(_shown, there)))
        return list(map(_shown, texts)) == distinct[: len(texts)]

    def _names(self, axis: str, here: _Element | None) -> list[str]:
        assert here is not None
        if axis == "attribute":
            return [str(name) for name in here.attrib]
        found: Any = here.xpath(f"{axis}::*")
        return [str(each.tag) for each in found]

    def _node(self, path: str) -> _Element | None:
        """The element at a path; None of other nodes, where nothing can be asked."""
        found = self._evaluated(self._parsed(path), None)
        assert found, path
        elements = [each for each in found if etree.iselement(each) and isinstance(each.tag, str)]
        # Other nodes may share a path.
        assert len(elements) < 2, path
        return elements[0] if elements else None

    def _parsed(self, text: str) -> Expression:
        return parse_expression(text, self._namespaces, CANONICAL_LIMITS)

    def _holds(self, text: str, here: _Element | None) -> bool:
        return self._evaluated(self._parsed(text), here, "boolean") is True

    def _count(self, expression: Expression, here: _Element | None) -> int:
        return int(self._evaluated(expression, here, "count"))

    def _evaluated(  # What libxml2 gives depends on the expression.
        self, expression: Expression, here: _Element | None, function: str = ""
    ) -> Any:  # noqa: ANN401
        writer = Libxml2Writer()
        text, _ = writer.expression(expression)
        xpath = etree.XPath(f"{function}({text})", namespaces=writer.namespaces)
        return xpath(self._document.tree if here is None else here)


def _shown(text: str) -> str:
    return text[:60]


def _string(node: object) -> str:
    if not etree.iselement(node):
        return str(node)
    tag: object = node.tag
    return str(node.xpath("string()")) if isinstance(tag, str) else str(node.text or "")
