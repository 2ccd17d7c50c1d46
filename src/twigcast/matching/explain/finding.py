"""Findings: the nodes, operands and values that made a document match.

For each subscription that a document satisfies:

    a path              its nodes, each with its path, line and text; the first ten
    ``and``, ``or``     each operand that is true, described in the same way
    anything else       its value: a number, a text, or true

Which subscriptions match is what the matcher decides; here nothing is decided again. Nodes and
values are libxml2's own, evaluated on the same tree. The work is estimated first, by the estimate
that matching uses: what would cost more than an expression may is left out and marked as costly.
So is what is left once all of them together have cost as much as they may on one document. Reading
the texts of nodes counts as well: only their fronts are read, but one may begin behind much else.

A path names a node exactly: names have a number where siblings share one, a namespace is written
by the subscription's own prefix or in braces, and the whole is an expression of our language.
Nodes of the internal subset have none: no path leads to a comment there, or into the declaration
of an entity, though some axes do.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from decimal import Decimal
from functools import cached_property
from math import ceil, isinf
from typing import Any, Final, Literal, TypeAlias, cast

from lxml import etree
from lxml.etree import _Element

from twigcast.display import counted, html_table, one_line, shortened
from twigcast.door import door
from twigcast.language.condition.writer import Libxml2Writer, PrefixWriter
from twigcast.language.document.parse import Document, split_tag
from twigcast.language.pattern import CANONICAL_LIMITS, Pattern
from twigcast.language.translate.translate import document_meaning
from twigcast.language.xpath.absolute import rooted
from twigcast.language.xpath.parser import parse_expression
from twigcast.language.xpath.syntax import (
    Axis,
    Binary,
    Call,
    Chain,
    Expression,
    Filter,
    KindTest,
    NameTest,
    Number,
    Path,
    Step,
    Type,
    Union,
    in_document_order,
    type_of,
)
from twigcast.matching.interface.ids import AnyId
from twigcast.matching.residual.cost import expression_cost, expression_of
from twigcast.matching.residual.document_stats import sizes_of
from twigcast.matching.residual.libxml2 import Residuals

NODES_MAX: Final = 10
"""Nodes of one path that are described; whether there are more is noted."""

TEXT_CHARACTERS_MAX: Final = 200
"""Characters of a node's text, or of a value that is a text."""

_LOOKING: Final = 30_000
"""What a look at an expression costs whatever it is, in visits: reading it, estimating its cost,
compiling it, and describing ten nodes take some 300 microseconds."""

_WALKED: Final = 25
"""What coming by one tag on the way to a text costs, in visits; lxml takes 250 nanoseconds."""

_TAGS_MAX: Final = 1_000
"""So many tags are walked along to a text; then libxml2 had better read all of it."""

_COPIED: Final = 0.05
"""What a character of a text costs, in visits, where all of it has to be copied."""

_FIRST_NODES: Final = Binary("<=", Call("position", ()), Number(str(NODES_MAX + 1)))
"""One more than is described, to see whether there are more."""

_IS_DOCUMENT: Final = Call(
    "not",
    (
        Union(
            tuple(
                Path.relative((step,))
                for step in (
                    Step(Axis.PARENT, KindTest("node")),
                    Step(Axis.SELF, KindTest("comment")),
                    Step(Axis.SELF, KindTest("processing-instruction")),
                    Step(Axis.SELF, KindTest("text")),
                    Step(Axis.SELF, NameTest(None, None)),
                )
            )
        ),
    ),
)
"""What is true of the document node alone. Nodes of the internal subset have no parent either."""

_BELOW: Final = frozenset(
    {
        Axis.ATTRIBUTE, Axis.CHILD, Axis.DESCENDANT, Axis.FOLLOWING, Axis.FOLLOWING_SIBLING,
        Axis.NAMESPACE, Axis.PRECEDING, Axis.PRECEDING_SIBLING,
    }
)  # fmt: skip
"""The axes that never lead to the document node."""

_DECLARED: Final = "(in the DOCTYPE)"
"""What stands in the place of a path where there is none."""

Value: TypeAlias = bool | float | str


@dataclass(frozen=True, slots=True)
class FoundNode:
    """A node of the document."""

    path: str | None
    """The way from the root to it, as an expression; None for a node of the internal subset."""
    line: int | None
    """The line it is on, where that is known."""
    text: str
    """Its string-value, cut behind :data:`TEXT_CHARACTERS_MAX` characters."""

    def __str__(self) -> str:
        line = f" (line {self.line})" if self.line is not None else ""
        text = f": {_one_line(self.text)}" if self.text.strip() else ""
        return f"{one_line(self.path or _DECLARED)}{line}{text}"


@dataclass(frozen=True, slots=True)
class Finding:
    """What made one expression true.

    >>> from twigcast import Matcher
    >>> found = Matcher({"dear": "//price[. > 100] or //rebate"}).find("<a><price>120</price></a>")
    >>> [(part.xpath, part.nodes[0].path) for part in found["dear"].parts]
    [('//price[. > 100]', '/a/price')]
    """

    xpath: str
    """The expression, or the part, written out."""
    kind: Literal["nodes", "and", "or", "value", "costly"]
    """``costly`` where it would have cost too much to find out more."""
    nodes: tuple[FoundNode, ...] = ()
    """The first nodes of a path, in document order; at most :data:`NODES_MAX`."""
    more: bool = False
    """Whether there are more nodes than these."""
    parts: tuple[Finding, ...] = ()
    """The operands of ``and`` and ``or`` that are true."""
    value: Value | None = None
    """The value of an expression that is no path."""

    @door("writing a finding")
    def as_json(self) -> dict[str, object]:
        """The parts, for a program; JSON has no infinite number, so that is a text."""
        fields: dict[str, object] = {"xpath": self.xpath, "kind": self.kind}
        if self.kind == "nodes":
            nodes = [{"path": one.path, "line": one.line, "text": one.text} for one in self.nodes]
            fields |= {"nodes": nodes, "more": self.more}
        elif self.parts:
            fields["parts"] = [part.as_json() for part in self.parts]
        elif self.kind == "value":
            infinite = isinstance(self.value, float) and isinf(self.value)
            fields["value"] = _value_text(self.value) if infinite else self.value
        return fields

    def rows(self) -> Iterator[tuple[str, str, int | None, str]]:
        """Rows of a table: expression, path or kind of value, line, text or value."""
        for node in self.nodes:
            yield self.xpath, node.path or _DECLARED, node.line, node.text
        if self.more:
            yield self.xpath, "… and more", None, ""
        for part in self.parts:
            yield from part.rows()
        if self.kind == "value":
            yield self.xpath, "value", None, _value_text(self.value)
        elif self.kind == "costly":
            yield self.xpath, "too costly to find out more", None, ""

    @door("finding what matched")
    def lines(self, indent: str = "") -> Iterator[str]:
        """The finding as lines of plain English."""
        shown = shortened(_one_line(self.xpath), TEXT_CHARACTERS_MAX)
        if self.kind == "value":
            yield f"{indent}{shown} is {_one_line(_value_text(self.value))}"
            return
        yield indent + shown + (" (too costly to find out more)" * (self.kind == "costly"))
        for node in self.nodes:
            yield f"{indent}  {node}"
        if self.more:
            yield f"{indent}  … and more"
        for part in self.parts:
            yield from part.lines(indent + "  ")

    def __str__(self) -> str:
        return "\n".join(self.lines())

    def _repr_html_(self) -> str:
        return html_table(("expression", "found", "line", "text"), self.rows())


class Findings(Mapping[AnyId, Finding]):
    """What made each matching subscription match, by their ids, in the order of ids.

    >>> from twigcast import Matcher
    >>> found = Matcher({"dear": "//price[. > 100]", "all": "/a"}).find("<a><price>120</price></a>")
    >>> list(found), found["dear"].nodes[0].path
    (['all', 'dear'], '/a/price')
    >>> print(found)
    all: /a
      /a (line 1): 120
    dear: //price[. > 100]
      /a/price (line 1): 120
    """

    @door("gathering findings")
    def __init__(
        self, findings: Mapping[AnyId, Finding], undecided: tuple[AnyId, ...] = ()
    ) -> None:
        self._findings = dict(findings)
        self.undecided = undecided
        """The subscriptions that were too costly to decide, as in :class:`Decision`."""

    def __getitem__(self, id: AnyId) -> Finding:
        return self._findings[id]

    def __iter__(self) -> Iterator[AnyId]:
        return iter(self._findings)

    def __len__(self) -> int:
        return len(self._findings)

    def __str__(self) -> str:
        lines: list[str] = []
        for one, finding in self._findings.items():
            first, *others = finding.lines()
            lines += [f"{one_line(str(one))}: {first}", *others]
        lines += [f"{one_line(str(one))}: undecided, too costly" for one in self.undecided]
        return "\n".join(lines)

    def __repr__(self) -> str:
        doubt = f", {len(self.undecided):,} undecided" if self.undecided else ""
        return f"<Findings: {counted(len(self), 'subscription')}{doubt}>"

    def _repr_html_(self) -> str:
        rows: Iterable[tuple[object, ...]] = (
            (str(one), *row) for one, finding in self._findings.items() for row in finding.rows()
        )
        return html_table(
            ("subscription", "expression", "found", "line", "text"), rows, caption=repr(self)[1:-1]
        )


class Finder:
    """Finds what made expressions true on one document; equal expressions are looked at once.

    ``cost_max`` bounds the work that one expression may make, as in matching, and
    ``document_cost_max`` that of all of them, in the order in which they are asked for.
    """

    def __init__(self, document: Document, *, cost_max: int, document_cost_max: int) -> None:
        self._document = document
        self._cost_max = cost_max
        self._left: float = document_cost_max
        """What all that is still to be found may cost."""
        self._done: dict[tuple[str, tuple[tuple[str, str], ...]], Finding] = {}
        self._numbers: dict[_Element, tuple[int, bool]] = {}
        """Of an element its number among the siblings of its name, and whether it is the only."""
        self._text_numbers: dict[_Element, dict[tuple[_Element, bool], int]] = {}
        """Of an element the numbers of its texts, each by its neighbour and the side of that."""
        self._texts: dict[_Element, str] = {}
        self._reading: float = 0
        """What the texts of the nodes that were found last may still cost."""

    def finding(self, text: str, namespaces: Mapping[str, str]) -> Finding:
        """What made an expression true, which the document is known to satisfy."""
        key = text, tuple(sorted(namespaces.items()))
        done = self._done.get(key)
        if done is None:
            if self._left < _LOOKING:
                return Finding(text, "costly")
            self._left -= _LOOKING
            expression = rooted(parse_expression(text, namespaces, CANONICAL_LIMITS))
            done = self._done[key] = _Look(self, namespaces).at(expression, text)
        return done

    def evaluated(self, expression: Expression) -> Any | None:  # noqa: ANN401
        """What libxml2 makes of a rooted expression; None if it would cost too much."""
        cost = expression_cost(expression, sizes_of(self._document))
        if cost > min(self._cost_max, self._left):
            return None
        self._left -= cost
        self._reading = self._cost_max
        writer = Libxml2Writer()
        text, _ = writer.expression(expression)
        try:
            xpath = etree.XPath(text, namespaces=writer.namespaces, regexp=False)
            return xpath(self._document.tree)
        except etree.XPathError:
            return None  # libxml2 has bounds of its own.

    def holds(self, expression: Expression) -> bool | None:
        """Whether a rooted expression is true; None if it would cost too much to decide."""
        pattern = Pattern(document_meaning(expression))
        # Of the expression as libxml2 is given it, which can be dearer than as it was written.
        cost = expression_cost(expression_of(pattern), sizes_of(self._document))
        # What is over the bound may still be decided by walking, for no more than the bound.
        needed = ceil(min(cost, self._cost_max))
        if needed > self._left:
            return None
        self._left -= needed
        residuals = Residuals(cost_max=self._cost_max, document_cost_max=needed)
        return residuals.verdict(pattern, self._document)

    def affords(self, cost: float) -> bool:
        """Count what reading a text costs; whether that is still allowed."""
        self._left -= cost
        self._reading -= cost
        return min(self._left, self._reading) >= 0

    def text(self, element: _Element) -> str | None:
        """The front of an element's string-value; None if it would cost too much to come to it."""
        known = self._texts.get(element)
        if known is None:
            known = self._front(element)
            if known is not None:
                self._texts[element] = known
        return known

    def _front(self, element: _Element) -> str | None:
        tag: object = element.tag
        if not isinstance(tag, str):
            # A comment or an instruction has a text; lxml would give it the string-value "".
            whole = element.text or ""
            return _shown_text(whole) if self.affords(len(whole) * _COPIED) else None
        # Only libxml2 follows references to entities.
        simple = self._is_in_tree(element) and not self._has_references
        front, tags, copied = _walked(element) if simple else (None, 0, 0)
        affordable = self.affords(tags * _WALKED + copied * _COPIED)
        if front is None and affordable:
            sizes = sizes_of(self._document)
            affordable = self.affords(sizes.nodes + sizes.characters * _COPIED)
            front = str(_whole_read(element)) if affordable else None
        return _shown_text(front) if front is not None and affordable else None

    def _is_in_tree(self, element: _Element) -> bool:
        """Whether it is below the document node, and not in the declaration of an entity."""
        top = element
        for top in element.iterancestors():  # noqa: B007  # The last of them.
            pass
        return top in self.tops

    @cached_property
    def _has_references(self) -> bool:
        """Whether references to entities stand in the tree, of which lxml's walk knows nothing."""
        return next(self._document.tree.iter(etree.Entity), None) is not None

    @cached_property
    def tops(self) -> Mapping[_Element, None]:
        """The root element, and the comments and instructions beside it, in their order."""
        root = self._document.tree.getroot()
        before = list(root.itersiblings(preceding=True))
        return dict.fromkeys((*reversed(before), root, *root.itersiblings()))

    def number(self, element: _Element) -> tuple[int, bool]:
        """The number of an element among the siblings of its name, and whether it is the only."""
        known = self._numbers.get(element)
        if known is None:
            # All siblings at once: they would be walked along for each of them.
            parent = element.getparent()
            siblings = self.tops if parent is None else list(parent)
            counts: Counter[object] = Counter()
            for one in siblings:
                counts[one.tag] += 1
                self._numbers[one] = counts[one.tag], False
            for one in siblings:
                if counts[one.tag] == 1:
                    self._numbers[one] = 1, True
            known = self._numbers[element]
        return known

    def text_numbers(self, element: _Element) -> Mapping[tuple[_Element, bool], int]:
        """The numbers of an element's texts, by the neighbour and whether they stand behind it."""
        known = self._text_numbers.get(element)
        if known is None:
            places = [(element, False)] if element.text is not None else []
            places += [(child, True) for child in element if child.tail is not None]
            known = {place: number for number, place in enumerate(places, 1)}
            self._text_numbers[element] = known
        return known


class _Look:
    """A look at one expression, with the prefixes that it was written with."""

    def __init__(self, finder: Finder, namespaces: Mapping[str, str]) -> None:
        self._finder = finder
        self._writer = PrefixWriter(namespaces)
        self._prefixes = {uri: prefix for prefix, uri in namespaces.items()}

    def at(self, expression: Expression, written: str) -> Finding:
        """What made an expression true."""
        match expression:
            case Binary("and" | "or" as operator):
                parts = list(self._parts(expression, operator))
                return Finding(written, "and" if operator == "and" else "or", parts=tuple(parts))
            case _ if type_of(expression) is Type.NODES:
                return self._nodes(expression, written)
            case _:
                value = self._finder.evaluated(expression)
                if value is None:
                    return Finding(written, "costly")
                if isinstance(value, str):
                    value = _shown_text(str(value))
                return Finding(written, "value", value=value)

    def _parts(self, expression: Binary, operator: str) -> Iterator[Finding]:
        """The operands that are true; those of ``and`` all are."""
        for side in (expression.left, expression.right):
            if isinstance(side, Binary) and side.operator == operator:
                yield from self._parts(side, operator)
                continue
            holds = True if operator == "and" else self._finder.holds(side)
            if holds is None:
                yield Finding(self._written(side), "costly")
            elif holds:
                yield self.at(side, self._written(side))

    def _nodes(self, expression: Expression, written: str) -> Finding:
        found = self._finder.evaluated(Filter(in_document_order(expression), (_FIRST_NODES,)))
        if found is None:
            return Finding(written, "costly")
        nodes: list[FoundNode] = []
        for one in found[:NODES_MAX]:
            node = self._described(one)
            if node is None:
                return Finding(written, "costly")
            nodes.append(node)
        if _may_give_document(expression) and self._gives_document(expression):
            nodes.insert(0, self._whole())
        more = len(found) > NODES_MAX or len(nodes) > NODES_MAX
        return Finding(written, "nodes", nodes=tuple(nodes[:NODES_MAX]), more=more)

    def _gives_document(self, expression: Expression) -> bool:
        """Whether the document node is among the nodes; lxml has no object for it."""
        alone = Filter(expression, (_IS_DOCUMENT,))
        return bool(self._finder.evaluated(Call("boolean", (alone,))))

    def _whole(self) -> FoundNode:
        text = self._finder.evaluated(Call("string", (Path.rooted(()),)))
        return FoundNode("/", 1, _shown_text(str(text or "")))

    def _described(self, node: Any) -> FoundNode | None:  # noqa: ANN401
        """An element, or for any other kind of node what lxml makes of it; None if costly."""
        if isinstance(node, tuple):  # a namespace: lxml does not know where it was found
            prefix, uri = node
            affordable = self._finder.affords(len(uri or "") * _COPIED)
            return FoundNode(f"namespace::{prefix or '*'}", None, uri or "") if affordable else None
        if isinstance(node, etree._Element):  # noqa: SLF001  # It has no public name.
            text = self._finder.text(node)
            if text is None:
                return None
            return FoundNode(self._path(node), cast("int | None", node.sourceline), text)
        if not self._finder.affords(len(node) * _COPIED):
            return None
        owner = node.getparent()
        text = _shown_text(str(node))
        line = None if owner is None else owner.sourceline
        if node.is_attribute:
            path = self._path(owner)
            return FoundNode(path and f"{path}/@{self._name(node.attrname)}", line, text)
        above = owner.getparent() if node.is_tail and owner is not None else owner
        path = self._path(above)
        if path is None:
            return FoundNode(None, line, text)
        numbers = self._finder.text_numbers(above)
        step = f"text()[{numbers.get((owner, node.is_tail), 1)}]" if len(numbers) > 1 else "text()"
        return FoundNode(f"{path}/{step}", line, text)

    def _path(self, element: _Element | None) -> str | None:
        """The path of an element, a comment or an instruction; None if no path leads there.

        Texts of what an entity stands for may have no element around.
        """
        if element is None:
            return None
        steps: list[str] = []
        while element is not None:
            above = element.getparent()
            if above is None and element not in self._finder.tops:
                return None
            number, alone = self._finder.number(element)
            name = self._step(element)
            steps.append(name if alone else f"{name}[{number}]")
            element = above
        return "/" + "/".join(reversed(steps))

    def _step(self, element: _Element) -> str:
        tag: object = element.tag
        if isinstance(tag, str):
            return self._name(tag)
        return "comment()" if tag is etree.Comment else "processing-instruction()"

    def _name(self, tag: str) -> str:
        namespace, local = split_tag(tag)
        if not namespace:
            return local
        prefix = "xml" if namespace == _XML else self._prefixes.get(namespace)
        return f"{prefix}:{local}" if prefix else f"{{{namespace}}}{local}"

    def _written(self, expression: Expression) -> str:
        return self._writer.expression(expression)[0]


def _may_give_document(expression: Expression) -> bool:
    """Whether the document node can be among the nodes of a rooted expression."""
    match expression:
        case Path(_, steps) | Chain(_, steps):
            if not steps:
                return True
            return steps[-1].axis not in _BELOW and isinstance(steps[-1].test, KindTest)
        case Filter(base):
            return _may_give_document(base)
        case Union(parts):
            return any(map(_may_give_document, parts))
        case _:
            return False


def _walked(element: _Element) -> tuple[str | None, int, int]:
    """The front of a string-value, the tags before its end, and the characters of the texts.

    No text if that is not the end of it.
    """
    texts: list[str] = []
    tags = length = 0
    for event, one in etree.iterwalk(element, events=("start", "end", "comment", "pi")):
        if event == "end" and one is element:
            break
        if tags == _TAGS_MAX:
            return None, tags, length
        text = (one.text if event == "start" else one.tail) or ""
        texts.append(text)
        tags += 1
        length += len(text)
        if length > TEXT_CHARACTERS_MAX:
            break
    return "".join(texts), tags, length


def _shown_text(text: str) -> str:
    """The front of a text."""
    return shortened(text, TEXT_CHARACTERS_MAX)


def _value_text(value: Value | None) -> str:
    """A value as XPath would print it.

    >>> _value_text(3.0), _value_text(1e-7), _value_text(True), _value_text("a")
    ('3', '0.0000001', 'true', "'a'")
    """
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float):
        return _number_text(value)
    return repr(value)


def _number_text(number: float) -> str:
    if isinf(number):
        return "Infinity" if number > 0 else "-Infinity"
    return str(int(number)) if number.is_integer() else f"{Decimal(str(number)):f}"


def _one_line(text: str) -> str:
    return one_line(" ".join(text.split()))


_XML: Final = "http://www.w3.org/XML/1998/namespace"
_whole_read: Final = etree.XPath(
    f"substring(string(), 1, {TEXT_CHARACTERS_MAX + 1})", smart_strings=False
)
