"""The definitions of rules that people wrote.

The numbers of matches are libxml2's, found before this project looked at the rules; every run also
compares each single answer.
"""

from __future__ import annotations

from benchmarks.bars import Bar
from benchmarks.definition import Definition


def _rules(genre: str, rules: int, documents: int, *, matches: int, times_lxml: int) -> Definition:
    return Definition(
        name=f"rules-{genre}",
        kind="rules",
        workload=f"rules/{genre}",
        subscriptions=rules,
        documents=documents,
        engines=("native", "streaming", "one by one"),
        expected={"matches": matches, "differences": 0},
        bars=(
            Bar(
                says=f"native: the rules of {genre} cost at most 4 times the parse",
                engine="native",
                figure="times_parse",
                at_most=4,
            ),
            Bar(
                says="native: first sight costs at most 3 times a warm matcher",
                engine="native",
                figure="first_sight_us",
                over=("native", "warm_us"),
                at_most=3,
            ),
            Bar(
                says=f"native: at least {times_lxml} times as fast as lxml one by one",
                engine="one by one",
                figure="warm_us",
                over=("native", "warm_us"),
                at_least=times_lxml,
            ),
            Bar(
                says="native: no pair is undecided",
                engine="native",
                figure="undecided",
                at_most=0,
            ),
            Bar(
                says="native: adding a rule beyond the index costs at most 50 µs",
                engine="native",
                figure="residual_add_us",
                at_most=50,
            ),
        ),
    )


RULE_DEFINITIONS = (
    _rules("ubl-cii", 781, 72, matches=11_450, times_lxml=10),
    _rules("html", 2_722, 6, matches=191, times_lxml=20),
    _rules("jats", 1_070, 22, matches=5_729, times_lxml=20),
    _rules("docbook", 2_039, 28, matches=10_912, times_lxml=20),
)
