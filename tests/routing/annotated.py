"""Two brokers without routers: one reads a document and annotates it, the other learns.

What is said over the link is made from the listener's patterns in one of the ways in which brokers
do it; what the teller finds out comes from the engine ``streaming``; what is true, from libxml2.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from itertools import product
from random import Random

from hypothesis import strategies as st

from tests.covering.drawn import drawn_document, drawn_path, drawn_pattern, drawn_tree
from tests.oracle import oracle
from tests.strategies import NAMESPACES, documents, subscriptions, thickets
from twigcast.covering import aggregate, covers, space_budget
from twigcast.language import Pattern
from twigcast.matching import Matcher
from twigcast.routing.annotations.annotations import Kinds, LinkFindings
from twigcast.routing.annotations.hints import HintLimits, Hints, HintTable, hint_table

EVERY_KIND = [Kinds(*chosen) for chosen in product((False, True), repeat=4)]
ALL = Kinds.parse("+sd-sd")
EAGER_TO_ASK = HintLimits(row_patterns_min=1)
"""Sets in tests are small, so a row is of interest for a single pattern."""


def parsed(*texts: str) -> list[Pattern]:
    return [Pattern.parse(text, NAMESPACES) for text in texts]


def matches(pattern: Pattern, content: bytes) -> bool:
    text, namespaces = pattern.for_libxml2()
    return oracle(text, content, namespaces)


def covered_among(patterns: Iterable[Pattern]) -> Callable[[Pattern], list[Pattern]]:
    own = list(patterns)
    return lambda wider: [one for one in own if covers(wider=wider, narrower=one)]


def table_of(
    sent: Iterable[Pattern],
    patterns: Sequence[Pattern],
    kinds: Kinds = ALL,
    limits: HintLimits = EAGER_TO_ASK,
) -> HintTable:
    return hint_table(sent, patterns, covered_among(patterns), kinds, limits=limits)


def roots(patterns: Iterable[Pattern]) -> list[Pattern]:
    """The patterns that no other covers, of equal ones the first."""
    kept: list[Pattern] = []
    for pattern in sorted(set(patterns), key=lambda one: one.text):
        if not any(covers(wider=one, narrower=pattern) for one in kept):
            kept = [one for one in kept if not covers(wider=pattern, narrower=one)]
            kept.append(pattern)
    return kept


def findings_of(sent: Sequence[Pattern], hints: Hints, content: bytes) -> LinkFindings:
    """What a broker finds out that reads all of a document."""
    matcher = Matcher(engine="streaming")
    for place, pattern in enumerate(sent):
        matcher.add(place, pattern)
    for row, (pattern, _) in enumerate(hints.rows):
        matcher.watch(row, pattern)
    account = matcher.follow(content)
    assert not account.undecided

    def bindings(place: int) -> tuple[tuple[int, tuple[str, ...]], ...] | None:
        return matcher.bindings(content, [place])[place] if sent[place].exact else None

    return LinkFindings(
        matched=frozenset(account.decided),
        is_complete=True,
        bindings=bindings,
        last={row: seen.ends for row, seen in account.last.items()},
        absent=frozenset(account.never),
        ends=account.end.ends,
    )


# Drawn at random.


@st.composite
def pattern_sets(draw: st.DrawFn, *, size_max: int = 6) -> list[Pattern]:
    """Patterns of one sort: small paths or trees that cover each other, or all of the language."""
    rng = draw(st.randoms(use_true_random=False))
    sort: Callable[[], str] = draw(
        st.sampled_from(
            [
                lambda: drawn_path(rng, steps_max=5, names="abc", stars=0.2),
                lambda: drawn_tree(rng, nodes_max=5, names="abc", stars=0.2),
                lambda: drawn_pattern(rng, for_oracle=False),
                lambda: draw(subscriptions()).text,
                lambda: drawn_path(Random(rng.random()), steps_max=4, stars=0) + "[@x]/c",
            ]
        )
    )
    return parsed(*(sort() for _ in range(draw(st.integers(1, size_max)))))


@st.composite
def contents(draw: st.DrawFn) -> bytes:
    """Documents that such patterns meet."""
    rng = draw(st.randoms(use_true_random=False))
    return draw(st.one_of(thickets(), documents(), st.builds(lambda: drawn_document(rng))))


@st.composite
def sent_for(draw: st.DrawFn, patterns: Sequence[Pattern]) -> list[Pattern]:
    """What a broker with these patterns sends: all of them, the widest, or aggregates."""
    match draw(st.sampled_from(["all", "roots", "aggregates", "aggregates"])):
        case "all":
            return list(patterns)
        case "roots":
            return roots(patterns)
        case _:
            percent = draw(st.sampled_from([100, 75, 50, 25, 5]))
            found = aggregate(patterns, steps_max=space_budget(patterns, percent))
            return [one.pattern for one in found.aggregates]
