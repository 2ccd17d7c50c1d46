"""Explanations: why a document matches, or the first thing that fails.

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
from dataclasses import dataclass
from typing import Final

from twigcast.display import html_table, one_line
from twigcast.door import door
from twigcast.language.condition.writer import Libxml2Writer
from twigcast.language.document.parse import LIBRARY_LIMITS, Document, Source
from twigcast.language.pattern import CANONICAL_LIMITS, PATTERN_LIMITS, Pattern
from twigcast.language.xpath.absolute import rooted
from twigcast.language.xpath.parser import parse_expression
from twigcast.language.xpath.syntax import (
    CONTEXT_NODE,
    Expression,
    Path,
)
from twigcast.matching.engines.lxml import LxmlEngine
from twigcast.matching.engines.native import beside
from twigcast.matching.explain.probe import Probe
from twigcast.matching.explain.story import Explainer
from twigcast.matching.residual.cost import expression_cost
from twigcast.matching.residual.document_stats import sizes_of
from twigcast.matching.residual.libxml2 import COST_MAX, DOCUMENT_COST_MAX
from twigcast.slips import check_whole

_PATIENCE: Final = 5
"""Explanations are rare and may take longer: so many times the work that matching may take."""

_OTHER_NODES: Final = re.compile(r"\b(?:text|comment|processing-instruction|node)\(")
"""Steps of expressions to nodes that are neither elements nor attributes."""

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
            label = "first" if self.matches else "closest"
            lines.append(f"{label}: {self.place}" + (f" (line {self.line})" if self.line else ""))
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
    cost_max, document_cost_max = residual_cost_max, max(residual_cost_max, DOCUMENT_COST_MAX)
    kernel = beside(cost_max=cost_max, document_cost_max=document_cost_max, limits=LIBRARY_LIMITS)
    engine = LxmlEngine(cost_max=cost_max, document_cost_max=document_cost_max, kernel=kernel)
    engine.add(0, pattern)
    decision = engine.decide(read, ())
    matches = None if decision.undecided else bool(decision.matches)
    if matches is None:
        reason = "the expression would cost too much on a document of this size"
        return Explanation(text, None, reasons=(reason,))
    limits = CANONICAL_LIMITS if isinstance(xpath, Pattern) else PATTERN_LIMITS
    expression = rooted(parse_expression(text, bound, limits))
    cost = expression_cost(expression, sizes_of(read)) + _order_cost(expression, read)
    if cost > _PATIENCE * residual_cost_max:
        reason = "the document is too large to follow the expression step by step"
        return Explanation(text, matches, reasons=(reason,))
    explainer = Explainer(Probe(read, bound), bound)
    (explainer.success if matches else explainer.failure)(expression, None)
    return Explanation(
        text,
        matches,
        failed=explainer.failed,
        place=explainer.place.path if explainer.place else None,
        line=explainer.place.line if explainer.place else None,
        reasons=tuple(explainer.reasons),
        hints=tuple(dict.fromkeys(explainer.hints)),
    )


def _order_cost(expression: Expression, document: Document) -> int:
    """What it can cost to bring all nodes of a step into order, which matching never does.

    libxml2 places a text, comment or processing instruction by the element before it, and walks
    over all that stands between.
    """
    text, _ = Libxml2Writer().expression(expression)
    sizes = sizes_of(document)
    return sizes.nodes * sizes.between if _OTHER_NODES.search(text) else 0
