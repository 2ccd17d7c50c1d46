"""Reading a document takes a bounded number of steps; what is left open then is told, never wrong.

Steps are counted, so no test here looks at a clock.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.matching.test_bounded_work import BUDGETS, expressions, trees
from tests.oracle import oracle
from twigcast.language.condition.model import Kind
from twigcast.matching import Matcher
from twigcast.matching.residual.libxml2 import DOCUMENT_COST_MAX
from twigcast.matching.streaming import engine as streaming
from twigcast.matching.streaming import run as reading
from twigcast.matching.streaming.automaton import Leaf
from twigcast.matching.streaming.engine import StreamingStatistics
from twigcast.matching.streaming.joins import holds_at

DEEP = b"<a>" * 200 + b"x" * 2_000 + b"</a>" * 200
MANY = b"<r>" + (b"<a>" * 50 + b"<c/>" + b"</a>" * 50) * 60 + b"</r>"
WORDS = "".join("ab"[n * n % 7 % 2] for n in range(150))
LEARNED = "".join(f"<{one}>" for one in WORDS) + "".join(f"</{one}>" for one in reversed(WORDS))

HARD: dict[str, tuple[Callable[[int], str], bytes]] = {
    "needles": (lambda n: f"//a[contains(., 'z{n:03}')]", DEEP),
    "negations": (lambda n: f"//a[not(.//b{n})]//z", MANY),
    "alternatives": (lambda n: f"//a[c or q{n}][.//d{n}]", MANY),
    "paths": (
        lambda n: "//" + "".join("ab"[n >> k & 1] + "///"[k % 2 :][:2] for k in range(8)) + "c",
        LEARNED.encode(),
    ),
}


def details(matcher: Matcher) -> StreamingStatistics:
    found = matcher.statistics().details
    assert isinstance(found, StreamingStatistics)
    return found


def matcher_of(
    rules: Mapping[int | str, str] | Mapping[int, str], document_cost_max: int = DOCUMENT_COST_MAX
) -> Matcher:
    return Matcher(rules, engine="streaming", document_cost_max=document_cost_max)


@pytest.mark.parametrize("name", ["needles", "negations"])
def test_leaves_that_hold_nowhere_in_a_document_are_looked_at_a_few_times_only(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    looks = 0

    def counting(
        leaf: Leaf,
        kind: Kind,
        tag: str,
        *,
        found: Collection[Leaf] = (),
        value: Callable[[], str] | None = None,
    ) -> bool | None:
        nonlocal looks
        looks += 1
        return holds_at(leaf, kind, tag, found=found, value=value)

    monkeypatch.setattr(reading, "holds_at", counting)
    xpath, content = HARD[name]
    assert matcher_of({n: xpath(n) for n in range(100)}).match(content) == []
    assert looks < 100 * content.count(b"<a>") / 5


@pytest.mark.parametrize("name", HARD)
def test_the_reading_ends_where_its_steps_are_spent_and_no_answer_is_wrong(name: str) -> None:
    xpath, content = HARD[name]
    rules = {n: xpath(n) for n in range(100)} | {"cheap": "/*"}
    whole = matcher_of(rules)
    right = whole.decide(content)
    assert (right.undecided, details(whole).costly_documents) == ((), 0)
    steps = details(whole).steps
    short = matcher_of(rules, document_cost_max=20_000)
    decision = short.decide(content)
    assert details(short).costly_documents >= 1
    assert details(short).steps < steps / 2
    assert set(decision.matches) | set(decision.undecided) >= set(right.matches)
    assert set(decision.matches) <= set(right.matches)
    assert "cheap" in decision.matches
    enough = matcher_of(rules, document_cost_max=2 * steps * streaming.STEP)
    assert enough.decide(content) == right


@pytest.mark.parametrize("name", HARD)
def test_steps_depend_neither_on_what_was_read_before_nor_on_who_came_first(name: str) -> None:
    xpath, content = HARD[name]
    rules = {n: xpath(n) for n in range(60)}
    turned = dict(reversed(rules.items()))
    counts, decisions = set(), set()
    for held in (rules, turned):
        for budget in (DOCUMENT_COST_MAX, 100_000):
            matcher = matcher_of(held, document_cost_max=budget)
            for _ in range(3):
                before = details(matcher).steps
                decisions.add((budget, matcher.decide(content)))
                counts.add((budget, details(matcher).steps - before))
                matcher.match(b"<r><a><c/></a><b/></r>")
    assert len(counts) == len(decisions) == 2


@given(st.lists(expressions(), min_size=1, max_size=8, unique=True), trees())
def test_moments_told_are_right_whatever_the_bound(xpaths: list[str], inside: str) -> None:
    content = f"<r>{inside}</r>".encode()
    rules = dict(enumerate(xpaths))
    whole = matcher_of(rules).follow(content)
    assert set(whole.decided) == {one for one in rules if oracle(rules[one], content)}
    groups = [[one] for one in rules]
    for budget in BUDGETS:
        matcher = matcher_of(rules, document_cost_max=budget)
        matcher.watch("r", "/r")
        matcher.watch("z", "//z")
        account = matcher.follow(content, groups)
        undecided = set(account.undecided)
        assert account.decided.items() <= whole.decided.items()
        assert set(account.decided) | undecided >= set(whole.decided)
        assert not set(account.decided) & undecided
        assert account.end == whole.end
        assert list(account.links) == [account.decided.get(one) for one in rules]
        # A path is told to be there, not to be, or nothing is told of it.
        assert set(account.last) <= {"r"}
        assert set(account.never) <= {"z"}
        skipped = matcher.follow(content, skip_from={0: list(rules)})
        assert (skipped.decided, skipped.undecided) == ({}, ())


def test_what_may_have_matched_behind_the_end_of_the_steps_has_no_moment() -> None:
    content = b"<r>" + b"<a><b/></a>" * 2_000 + b"<z/><y/></r>"
    rules = {"early": "/r/a", "late": "/r[a/b]/z", "no": "/r/y/z", "absent": "//q"}
    busy = {n: f"//a[not(c{n})]/d" for n in range(50)}
    matcher = matcher_of(rules | busy, document_cost_max=200_000)
    matcher.watch("z", "/r/z")
    account = matcher.follow(content)
    assert account.decided == {"early": (2, 0)}
    assert account.undecided == ("late",)
    assert (account.last, account.never, account.end) == ({}, (), (4_003, 4_003))
    assert matcher.decide(content).matches == ("early", "late")


def test_a_document_with_too_much_to_learn_is_decided_pattern_by_pattern(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(streaming, "LEARNED_MAX", 500)
    xpath, content = HARD["paths"]
    rules = {n: xpath(n) for n in range(100)} | {"a": "//a", "b": "/b//b/a[not(c)]"}
    matcher = matcher_of(rules)
    assert matcher.match(content) == Matcher(rules, engine="lxml").match(content)
    assert details(matcher).costly_documents == 1
    assert details(matcher).remembered < 5_000


def test_leaves_that_hold_somewhere_are_found_after_pruning() -> None:
    late = b"<a>z007<b9/></a>"
    content = b"<r>" + (b"<a>" * 50 + b"<c/>" + b"</a>" * 50) * 60 + late + b"</r>"
    rules = {n: f"//a[contains(., 'z{n:03}')]" for n in range(50)}
    rules |= {n + 100: f"//a[not(q) and b{n} and not(.//c)]" for n in range(50)}
    assert matcher_of(rules).match(content) == [7, 109]
