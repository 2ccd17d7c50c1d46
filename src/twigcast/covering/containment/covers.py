"""Pattern containment: whether one pattern makes another redundant.

A pattern *covers* another if every document that matches the other matches it too. A broker that
receives the documents of the wider pattern receives those of the narrower one with them, so the
narrower one need not be forwarded.

    >>> covers(wider="//stock[price > 10]", narrower="/market/stock[price > 15][@id]")
    True
    >>> covers(wider="/*/a//*/c", narrower="/a/a/*//c/b/d")
    True
    >>> covers(wider="//a/b", narrower="//a//b")
    False

The answer "yes" is always right. The answer "no" is right for single paths over ``/ // *``, for
tree patterns that lack one of ``//``, ``*`` and branches, and for all other tree patterns whose
check fits the budget. With value tests, ``not`` and what only libxml2 can decide, a "no" may be
wrong.

For each alternative of the narrower pattern and each conjunct of the wider one
(:mod:`~twigcast.covering.containment.disjuncts`) these are tried, cheapest first:

1. a homomorphism, or for two paths the scan of :mod:`~twigcast.covering.containment.linear`: yes;
2. a case in which a covering implies a homomorphism: no;
3. the canonical models (:mod:`~twigcast.covering.containment.canonical_models`): yes, no, or out of
   steps.

Steps are counted, never time, so that two brokers with the same patterns decide alike.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Final, NamedTuple

from twigcast.covering.containment.canonical_models import OutOfSteps, Steps, covers_every_model
from twigcast.covering.containment.disjuncts import narrower_twigs, wider_twigs
from twigcast.covering.containment.homomorphism import (
    TargetTwig,
    lies_on,
    plainly_follows,
    target_twig,
    where,
    with_label,
)
from twigcast.covering.containment.linear import path_covers
from twigcast.covering.containment.schema_expansion import expansions
from twigcast.covering.containment.twig import CHILD, Twig
from twigcast.covering.containment.value_implication import (
    contradictory,
    value_facts,
    value_implies,
)
from twigcast.covering.containment.with_schema import (
    SchemaPaths,
    paths_cover_under,
    single_paths_of,
)
from twigcast.covering.paths.automaton import path_automaton
from twigcast.covering.paths.from_dtd import schema_sketch
from twigcast.door import door
from twigcast.language import Pattern, Schema
from twigcast.language.condition.model import (
    ANY_ELEMENT,
    AnyOf,
    Condition,
    Exists,
    FirstValue,
    Kind,
    Not,
    Reach,
    SelfIs,
    parts_of,
)

COVER_BUDGET: Final = 20_000
"""Steps for one decision: some hundred classes of models of patterns with ten nodes, which take up
to ten milliseconds. Random trees of up to seven nodes need a tenth of it, and of 132,000 pairs of
up to sixteen nine needed more. A broker compares many pairs, and short patterns can use up all of
it: forty of them would take more than a minute with ten times as much."""

COMPILED_FORMS_MAX: Final = 4_096
"""Compiled conditions that are cached, some 16 MB: enough for several brokers in one process."""

_INNER_BUDGET: Final = 10_000
"""Steps for a decision inside another, whether one negation implies another."""


class Verdict(NamedTuple):
    """An answer, with what it cost."""

    covers: bool
    within_budget: bool = True
    """Whether the budget sufficed; if not, the answer is no because it is unknown."""
    steps: int = 0
    """The steps that canonical models took; 0 where they were not needed."""


@dataclass(slots=True)
class Tally:
    """Counters of answers: pass one to :func:`covers` or :func:`decide`.

    >>> tally = Tally()
    >>> covers(wider="//a", narrower="//a/b", tally=tally)
    True
    >>> tally
    Tally(asked=1, covering=1, undecided=0)
    """

    asked: int = 0
    covering: int = 0
    undecided: int = 0
    """Decisions for which the budget did not suffice."""

    def count(self, verdict: Verdict) -> None:
        """Count one more answer."""
        self.asked += 1
        self.covering += verdict.covers
        self.undecided += not verdict.within_budget


@door("comparing two expressions")
def covers(
    wider: Pattern | str,
    narrower: Pattern | str,
    *,
    schema: Schema | SchemaPaths | None = None,
    budget: int = COVER_BUDGET,
    tally: Tally | None = None,
) -> bool:
    """Whether every document that matches ``narrower`` matches ``wider``; no where unknown.

    >>> covers("//price", "/stocks/stock/price")
    True

    With a ``schema``, whether every document does whose label paths are those of the schema
    (:mod:`~twigcast.covering.containment.with_schema`). For many calls, compile the schema once
    with :func:`paths_of`.

    >>> from twigcast import Schema
    >>> stocks = Schema.parse(b"<!ELEMENT stocks (stock*)> <!ELEMENT stock (price)>"
    ...                       b"<!ELEMENT price (#PCDATA)>")
    >>> covers(wider="/stocks/stock/price", narrower="//price", schema=stocks)
    True

    Raises :class:`~twigcast.errors.PatternError` for a text that is not a pattern.
    """
    return decide(wider=wider, narrower=narrower, schema=schema, budget=budget, tally=tally).covers


@door("comparing expressions")
def decide(
    *,
    wider: Pattern | str,
    narrower: Pattern | str,
    schema: Schema | SchemaPaths | None = None,
    budget: int = COVER_BUDGET,
    tally: Tally | None = None,
) -> Verdict:
    """The answer of :func:`covers`, and whether the budget sufficed.

    >>> decide(wider="//a[*/b]", narrower="//a/*/b[c]")
    Verdict(covers=True, within_budget=True, steps=0)
    """
    paths = paths_of(schema) if isinstance(schema, Schema) else schema
    verdict = decide_compiled(
        wider=_compiled(wider), narrower=_compiled(narrower), schema=paths, budget=budget
    )
    if tally is not None:
        tally.count(verdict)
    return verdict


class CompiledPattern(NamedTuple):
    """A condition compiled for both sides of a covering."""

    condition: Condition
    groups: tuple[tuple[Twig, ...], ...]
    """As the wider side: the condition holds where one twig of each group does."""
    targets: tuple[TargetTwig, ...]
    """As the narrower side: the condition holds where one of these does."""


@lru_cache(maxsize=COMPILED_FORMS_MAX)
def compiled_form(condition: Condition, *, of_document: bool = True) -> CompiledPattern:
    """The compiled form of a condition, cached.

    Without ``of_document`` it is a condition on any node.
    """
    twigs = narrower_twigs(condition, of_document=of_document)
    groups = wider_twigs(condition, of_document=of_document)
    return CompiledPattern(condition, groups, tuple(map(target_twig, twigs)))


def decide_compiled(
    *,
    wider: CompiledPattern,
    narrower: CompiledPattern,
    schema: SchemaPaths | None = None,
    budget: int = COVER_BUDGET,
) -> Verdict:
    """The verdict of :func:`decide` for compiled patterns."""
    if wider.condition is narrower.condition:
        return Verdict(covers=True)
    steps = Steps(budget)
    try:
        for target in narrower.targets:
            for group in wider.groups:
                if schema is None:
                    covered = covered_by_some(group, target, steps)
                else:
                    covered = _covered_under(schema, group, target, steps)
                if not covered:
                    return Verdict(covers=False, steps=steps.taken)
    except OutOfSteps:
        return Verdict(covers=False, within_budget=False, steps=steps.taken)
    return Verdict(covers=True, steps=steps.taken)


@door("reading a schema")
def paths_of(schema: Schema) -> SchemaPaths:
    """The label paths of a schema, compiled for :func:`covers`.

    Raises SchemaError if no document can be complete, SchemaLimitError if there are too many.
    """
    return SchemaPaths(path_automaton(schema_sketch(schema)))


def _compiled(pattern: Pattern | str) -> CompiledPattern:
    return compiled_form(Pattern(pattern).condition)


def covered_by_some(widers: Sequence[Twig], narrower: TargetTwig, steps: Steps) -> bool:
    """Whether the condensed wider twigs together cover the narrower one."""
    if _some_lies_on(widers, narrower):
        return True
    twig = narrower.twig
    if not twig.has_far_edges:
        # The twig itself is the only model.
        return False
    if len(widers) == 1 and widers[0].is_path and twig.is_path:
        return False
    left = [wider for wider in widers if _can_place_all(wider, narrower)]
    if not any(map(_needs_levels, left)):
        # No node of the wider twigs can lie on an unknown element, so a match of the model with one
        # such element in each // would be a homomorphism.
        return False
    return covers_every_model(left, twig, steps, follows)


def _some_lies_on(widers: Sequence[Twig], narrower: TargetTwig) -> bool:
    """Whether there is a homomorphism from one of the wider twigs to the narrower one."""
    is_path = narrower.twig.is_path
    for wider in widers:
        if is_path and wider.is_path:
            if path_covers(wider=wider, narrower=narrower, follows=follows):
                return True
        elif lies_on(wider, narrower, follows):
            return True
    return False


def _covered_under(
    schema: SchemaPaths, widers: Sequence[Twig], narrower: TargetTwig, steps: Steps
) -> bool:
    """The same, among documents of a schema."""
    if _some_lies_on(widers, narrower):
        return True
    if all(wider.is_path for wider in widers):
        paths = single_paths_of(narrower.twig)
        if any(
            paths_cover_under(schema, widers=widers, narrower=path, steps=steps, follows=follows)
            for path in paths
        ):
            return True
        if narrower.twig.is_path:
            return False
    return all(
        covered_by_some(widers, target_twig(twig), steps)
        for twig in expansions(narrower.twig, schema, steps)
    )


def _needs_levels(wider: Twig) -> bool:
    return ANY_ELEMENT in wider.labels or max(wider.reaches) > 1


def _can_place_all(wider: Twig, narrower: TargetTwig) -> bool:
    """Whether each node of the wider twig could lie on some node of a model."""
    for label, tests in zip(wider.labels, wider.tests, strict=True):
        here = with_label(narrower, label)
        for wanted in tests:
            here = where(narrower, here, wanted, follows)
        if not here and (label != ANY_ELEMENT or tests):
            return False
    return True


# Implications between tests beyond comparisons.


def follows(target: TargetTwig, node: int, wanted: Condition) -> bool:
    """Whether a test certainly passes at a node of the narrower twig."""
    if plainly_follows(target, node, wanted):
        return True
    tests = target.twig.tests[node]
    match wanted:
        case Not(part):
            if _is_ruled_out(target, node, part):
                return True
            return any(isinstance(test, Not) and _entails(part, test.part) for test in tests)
        case FirstValue(steps, wanted_test):
            return any(
                test.steps == steps and value_implies(stronger=test.test, weaker=wanted_test)
                for test in tests
                if isinstance(test, FirstValue)
            )
        case AnyOf(parts):
            return any(follows(target, node, part) for part in parts)
        case _:
            return False


@lru_cache(maxsize=16_384)
def _entails(stronger: Condition, weaker: Condition) -> bool:
    """Whether at every node the stronger condition implies the weaker one."""
    wider, narrower = (
        compiled_form(weaker, of_document=False),
        compiled_form(stronger, of_document=False),
    )
    return decide_compiled(wider=wider, narrower=narrower, budget=_INNER_BUDGET).covers


def _is_ruled_out(target: TargetTwig, node: int, condition: Condition) -> bool:
    """Whether the condition contradicts the label of the node or the value of its attribute."""
    twig = target.twig
    match condition:
        case SelfIs(label):
            here = twig.labels[node]
            return here is not None and here.meet(label) is None
        case Exists(Reach.CHILD, label, where_there) if (
            label.kind is Kind.ATTRIBUTE and None not in label
        ):
            required = value_facts(parts_of(where_there))
            return any(
                twig.labels[child] == label
                and twig.reaches[child] == CHILD
                and contradictory((*twig.tests[child], *required))
                for child in twig.children[node]
            )
        case _:
            return False
