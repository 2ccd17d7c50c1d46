"""Why a document matches, or the first thing that fails.

A subscription that stays silent is the hardest kind of mistake to find: nothing is wrong, nothing
comes. :func:`explain` follows the expression the way a person would: step by step from the left,
within a step predicate by predicate, until nothing is left, and then looks around at that place.

    >>> print(explain("//order[@state = 'open']", b"<feed><order state='new'/></feed>").text)
    no match: //order[@state = 'open']
    predicate [@state = 'open'] holds for none of 1 node reached by //order
    closest: /feed/order (line 1)
    @state is 'new' there

Every answer along the way is libxml2's own. The work is estimated first, as in
matching, so an explanation cannot run away either.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final

from twigcast.display import html_table, one_line
from twigcast.door import door
from twigcast.language.condition.model import Residual
from twigcast.language.condition.writer import Libxml2Writer, PrefixWriter
from twigcast.language.document.parse import Document, Source
from twigcast.language.pattern import CANONICAL_LIMITS, PATTERN_LIMITS, Pattern
from twigcast.language.translate.translate import as_path
from twigcast.language.xpath.absolute import rooted
from twigcast.language.xpath.parser import parse_expression
from twigcast.language.xpath.syntax import (
    ANYWHERE_BELOW,
    CONTEXT_NODE,
    Binary,
    Call,
    Chain,
    Expression,
    Filter,
    Literal,
    Negative,
    Number,
    Path,
    Step,
    Type,
    Union,
    is_positional,
    type_of,
)
from twigcast.matching.engines.lxml import LxmlEngine
from twigcast.matching.explain.probe import Found, Probe
from twigcast.matching.residual.cost import condition_cost
from twigcast.matching.residual.document_stats import sizes_of
from twigcast.matching.residual.libxml2 import COST_MAX, DOCUMENT_COST_MAX
from twigcast.slips import check_whole

_PATIENCE: Final = 5
"""A person asks rarely and can wait: so many times the work that matching may take."""

_OTHER_NODES: Final = re.compile(r"\b(?:text|comment|processing-instruction|node)\(")
"""How an expression asks for nodes that are neither elements nor attributes."""

_CONTEXT_NODE: Final = Path.relative((CONTEXT_NODE,))

_CANDIDATES_MAX = 200
"""Among so many nodes the closest is looked for."""

_VALUES_SHOWN_MAX = 3
_ALTERNATIVES_SHOWN_MAX = 8


@dataclass(frozen=True, slots=True)
class Explanation:
    """The verdict on one expression and one document, and how it came about.

    >>> from twigcast import explain
    >>> found = explain("//order/@id", "<feed><order/></feed>")
    >>> found.matches, found.failed, found.place
    (False, '@id', '/feed/order')
    """

    xpath: str
    matches: bool | None
    """None where deciding it would cost too much."""
    failed: str | None = None
    """The step or predicate that nothing passed, as written."""
    place: str | None = None
    """Where in the document it matched, or came closest: a path to one element."""
    line: int | None = None
    reasons: tuple[str, ...] = ()
    hints: tuple[str, ...] = ()

    @property
    def text(self) -> str:
        """The explanation as lines of plain English."""
        verdict = {True: "match", False: "no match", None: "undecided"}[self.matches]
        lines = [f"{verdict}: {self.xpath}", *self.reasons[:1]]
        if self.place is not None:
            word = "first" if self.matches else "closest"
            lines.append(f"{word}: {self.place}" + (f" (line {self.line})" if self.line else ""))
        lines += self.reasons[1:]
        lines += (f"hint: {hint}" for hint in self.hints)
        return "\n".join(map(one_line, lines))

    def __str__(self) -> str:
        return self.text

    def _repr_html_(self) -> str:
        rows = [
            ("expression", self.xpath),
            ("matches", {True: "yes", False: "no", None: "undecided"}[self.matches]),
            ("failed", self.failed),
            ("place", self.place),
            ("line", self.line),
            *(("reason", reason) for reason in self.reasons),
            *(("hint", hint) for hint in self.hints),
        ]
        return html_table(("", ""), [row for row in rows if row[1] is not None])

    @door("writing an explanation")
    def as_json(self) -> dict[str, object]:
        """The parts, for a program."""
        return {
            "xpath": self.xpath,
            "matches": self.matches,
            "failed": self.failed,
            "place": self.place,
            "line": self.line,
            "reasons": list(self.reasons),
            "hints": list(self.hints),
        }


@door("explaining a match")
def explain(
    xpath: str | Pattern,
    document: Source | Document,
    namespaces: Mapping[str, str] | None = None,
    *,
    residual_cost_max: int = COST_MAX,
) -> Explanation:
    """Why the document satisfies the expression, or what is the first thing that fails.

    ``residual_cost_max`` bounds the work as in a matcher. Raises :class:`PatternError` or
    :class:`DocumentError` if one of them cannot be read.
    """
    check_whole(residual_cost_max, "residual_cost_max")
    text = xpath.text if isinstance(xpath, Pattern) else xpath
    bound = namespaces or {}
    pattern = xpath if isinstance(xpath, Pattern) else Pattern.parse(text, bound)
    read = document if isinstance(document, Document) else Document.parse(document)
    # There is but one expression, so its bound is that of all together.
    engine = LxmlEngine(
        cost_max=residual_cost_max, document_cost_max=max(residual_cost_max, DOCUMENT_COST_MAX)
    )
    engine.add(0, pattern)
    decision = engine.decide(read, ())
    matches = None if decision.undecided else bool(decision.matches)
    if matches is None:
        reason = "the expression would cost too much on a document of this size"
        return Explanation(text, None, reasons=(reason,))
    limits = CANONICAL_LIMITS if isinstance(xpath, Pattern) else PATTERN_LIMITS
    expression = rooted(parse_expression(text, bound, limits))
    cost = condition_cost(Residual(expression), sizes_of(read)) + _order_cost(expression, read)
    if cost > _PATIENCE * residual_cost_max:
        reason = "the document is too large to follow the expression step by step"
        return Explanation(text, matches, reasons=(reason,))
    story = _Story(Probe(read, bound), bound)
    (story.success if matches else story.failure)(expression, None)
    return Explanation(
        text,
        matches,
        failed=story.failed,
        place=story.place.path if story.place else None,
        line=story.place.line if story.place else None,
        reasons=tuple(story.reasons),
        hints=tuple(dict.fromkeys(story.hints)),
    )


@dataclass
class _Story:
    """An explanation in the making. ``here`` is the node an expression is asked of."""

    probe: Probe
    namespaces: Mapping[str, str]
    reasons: list[str] = field(default_factory=list)
    hints: list[str] = field(default_factory=list)
    failed: str | None = None
    place: Found | None = None

    def success(self, expression: Expression, here: Found | None) -> None:
        """Tell where the expression is satisfied."""
        if type_of(expression) is Type.NODES:
            found = self.probe.nodes(expression, here)
            self.place = found[0] if found else None
            self.reasons.append(f"{_counted(found)} found" if found else "the document itself")
        elif isinstance(expression, Binary) and expression.operator in ("and", "or"):
            for side in (expression.left, expression.right):
                if self.probe.holds(side, here):
                    self.success(side, here)
        else:
            self.reasons.append(f"{self.written(expression)} holds")

    def failure(self, expression: Expression, here: Found | None) -> None:
        """Tell what the expression fails on."""
        match expression:
            case Path(absolute, steps):
                self._path(steps, here, absolute=absolute)
            case Union(parts):
                for part in parts:
                    self.failure(part, here)
            case Binary("or", left, right):
                self.failure(left, here)
                self.failure(right, here)
            case Binary("and", left, right):
                self.failure(right if self.probe.holds(left, here) else left, here)
            case Call("not", (argument,)):
                self._unwanted(argument, here)
            case Call("boolean", (argument,)):
                self.failure(argument, here)
            case Binary(_, left, right):
                self._values(expression, [left, right], here)
            case Call(_, arguments):
                self._values(expression, list(arguments), here)
            case Filter(base) | Chain(base) if not self.probe.holds(base, here):
                self.failure(base, here)
            case Filter() | Chain() if (plain := as_path(expression)) != expression:
                self.failure(plain, here)
            case _:
                self._told(expression, f"{self.written(expression)} finds nothing")

    # Paths.

    def _path(self, steps: tuple[Step, ...], here: Found | None, *, absolute: bool) -> None:
        """Follow the steps until nothing is left."""
        reached: list[Found] = [] if absolute or here is None else [here]
        for end in range(1, len(steps) + 1):
            step = steps[end - 1]
            if step == ANYWHERE_BELOW:
                continue
            before = steps[: end - 1]
            for kept in range(len(step.predicates) + 1):
                tried = Step(step.axis, step.test, step.predicates[:kept])
                path = Path(absolute, _with_step(before, tried))
                found = self.probe.nodes(path, here)
                # lxml has no object for the document node, so no nodes may still be that one.
                if not found and not self.probe.holds(path, here):
                    failed = self._no_node if kept else self._no_step
                    failed(Path(absolute, before), tried, reached)
                    return
                reached = found
        raise AssertionError("a path that fails has a step that fails")

    def _no_step(self, before: Path, step: Step, reached: list[Found]) -> None:
        """No node is where a step leads to."""
        below = before.steps[-1:] == (ANYWHERE_BELOW,)
        start = Path(before.absolute, before.steps[:-1] if below else before.steps)
        name = self.written(Path.relative((step,)))
        self.failed = self.failed or name
        if reached and not start.steps and not start.absolute:
            self.reasons.append(f"{name} is not there")
        elif reached:
            nodes = f"{_counted(reached)} reached by {self.written(start)}"
            self.reasons.append(f"step {name} leads nowhere from {nodes}")
        elif below:
            self.reasons.append(f"step {name} finds nothing anywhere in the document")
        else:
            self.reasons.append(f"step {name} does not fit: the root element is {self.probe.root}")
        around = self.probe.around(step, reached, below=below)
        self.place = self.place or around.place
        if around.beside and reached:
            shown = ", ".join(around.beside[:_ALTERNATIVES_SHOWN_MAX])
            self.reasons.append(f"there is only {shown}")
        self.hints += around.hints

    def _no_node(self, before: Path, tried: Step, reached: list[Found]) -> None:
        """The nodes are there, but a predicate holds for none of them."""
        *passed, predicate = tried.predicates
        written = f"[{self.written(predicate)}]"
        self.failed = self.failed or written
        last = Step(tried.axis, tried.test, tuple(passed))
        path = Path(before.absolute, _with_step(before.steps, last))
        self.reasons.append(
            f"predicate {written} holds for none of {_counted(reached)} "
            f"reached by {self.written(path)}"
        )
        if not reached or is_positional(predicate):
            self.place = self.place or (reached[0] if reached else None)
            return
        closest = self._closest(predicate, reached)
        self.place = self.place or closest
        if closest.element is not None:
            self.failure(predicate, closest)
        else:
            self.reasons.append(f"the value there is {_values(reached)}")

    def _closest(self, predicate: Expression, reached: list[Found]) -> Found:
        """The first node with which the predicate got furthest, part by part."""
        parts = _conjuncts(predicate)

        def passed(node: Found) -> int:
            held = (self.probe.holds(part, node) for part in parts)
            return next((place for place, holds in enumerate(held) if not holds), len(parts))

        candidates = [node for node in reached[:_CANDIDATES_MAX] if node.element is not None]
        return max(candidates, key=passed, default=reached[0])

    # Conditions.

    def _unwanted(self, argument: Expression, here: Found | None) -> None:
        sentence = f"{self.written(argument)} holds, though it must not"
        if type_of(argument) is Type.NODES:
            sentence = f"{self.written(argument)} is there, though it must not be"
            for found in self.probe.nodes(argument, here)[:1]:
                sentence += f": {found.path}" + (f" (line {found.line})" if found.line else "")
        self._told(Call("not", (argument,)), sentence)

    def _values(self, whole: Expression, parts: list[Expression], here: Found | None) -> None:
        """A comparison or call is false; show what its parts are here."""
        self.failed = self.failed or self.written(whole)
        parts = [part for part in parts if not isinstance(part, Literal | Number | Negative)]
        for part in parts:
            if type_of(part) is not Type.NODES:
                self._told(whole, f"{self.written(part)} is {self.probe.value(part, here)} there")
                continue
            found = self.probe.nodes(part, here)
            if found:
                name = "the value" if part == _CONTEXT_NODE else self.written(part)
                self._told(whole, f"{name} is {_values(found)} there")
            elif self.probe.holds(part, here):
                self._told(whole, f"{self.written(part)} is {self.probe.value(part, here)!r} there")
            else:
                self.failure(part, here)
        if not parts:
            self._told(whole, f"{self.written(whole)} is false there")

    def _told(self, expression: Expression, sentence: str) -> None:
        self.failed = self.failed or self.written(expression)
        self.reasons.append(sentence)

    def written(self, expression: Expression) -> str:
        """The expression with the subscriber's own prefixes."""
        return PrefixWriter(self.namespaces).expression(expression)[0]


def _order_cost(expression: Expression, document: Document) -> int:
    """What it can cost to bring all nodes of a step into order, which matching never does.

    libxml2 places a text, comment or processing instruction by the element before it, and walks
    over all that stands between.
    """
    text, _ = Libxml2Writer().expression(expression)
    sizes = sizes_of(document)
    return sizes.nodes * sizes.between if _OTHER_NODES.search(text) else 0


def _conjuncts(expression: Expression) -> list[Expression]:
    if isinstance(expression, Binary) and expression.operator == "and":
        return _conjuncts(expression.left) + _conjuncts(expression.right)
    return [expression]


def _with_step(steps: tuple[Step, ...], last: Step) -> tuple[Step, ...]:
    """The steps and one more; ``//`` behind ``//`` says nothing, and cannot be written."""
    idle = last == ANYWHERE_BELOW and steps[-1:] == (ANYWHERE_BELOW,)
    return steps if idle else (*steps, last)


def _counted(found: list[Found]) -> str:
    return f"{len(found):,} node" + "s" * (len(found) != 1)


def _values(found: list[Found]) -> str:
    shown = list(dict.fromkeys(repr(node.value) for node in found))
    more = len(shown) - _VALUES_SHOWN_MAX
    return ", ".join(shown[:_VALUES_SHOWN_MAX]) + (f" and {more:,} others" if more > 0 else "")
