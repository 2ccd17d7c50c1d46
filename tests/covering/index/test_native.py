"""The engine ``native`` of the cover index: sure only of coverings, and open about all others.

What it leaves open is nobody's mistake, so the tests also see to it that this is little, and none
of what is made of paths, branches and value tests alone.
"""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from random import Random
from typing import TYPE_CHECKING, NamedTuple

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.covering.drawn import drawn_path, drawn_pattern, drawn_tree
from tests.strategies import NAMESPACES, THOROUGH
from twigcast.covering import covers
from twigcast.covering.containment.covers import CompiledPattern, compiled_form, decide_compiled
from twigcast.covering.index import native
from twigcast.covering.index.native import NativeCandidates
from twigcast.files.schemas import shipped_schema
from twigcast.language import Pattern, PatternLimits
from twigcast.language.condition.model import Condition
from twigcast.workload import PatternShape, generate_patterns

if TYPE_CHECKING:
    import twigcast_kernel

pytestmark = pytest.mark.skipif(
    not native.AVAILABLE, reason="the kernel (the package twigcast-kernel) has no cover index"
)

randoms = st.randoms(use_true_random=False)


def made(text: str) -> CompiledPattern:
    return compiled_form(Pattern.parse(text, NAMESPACES).condition)


def drawn_valued(rng: Random) -> str:
    """A tree with tests of values, which follow from each other or exclude each other."""
    tests = (
        "[@x]", "[@x = '1']", "[@x = '2']", "[@x = 2]", "[@x > 1]", "[@x >= 2]", "[@x < 2][@x > 0]",
        "[@x != '1']", "[. = 'xy']", "[contains(., 'x')]", "[text() = 'xy']", "[b = 'xy']",
        "[b > 5]", "[starts-with(@y, 'ab')]", "[starts-with(@y, 'a')]", "[@*]", "[text()]",
        "[.//@x = '1']",
    )  # fmt: skip
    return drawn_tree(rng, nodes_max=3) + "".join(rng.sample(tests, rng.randint(0, 2)))


def drawn_anything(rng: Random) -> str:
    return drawn_pattern(rng, for_oracle=False, depth=rng.choice((1, 2)))


class Outcome(NamedTuple):
    """What came of searches."""

    wrong: list[tuple[Condition, Condition]]
    """Pairs, the wider first, on which the engine and ``covers`` differ."""
    left_open: int

    def __add__(self, other: Outcome) -> Outcome:  # type: ignore[override]  # no mere tuple
        return Outcome(self.wrong + other.wrong, self.left_open + other.left_open)


def searched(
    candidates: NativeCandidates, held: dict[int, CompiledPattern], probe: CompiledPattern
) -> Outcome:
    """Both searches, compared with ``covers`` pair by pair."""
    found = Outcome([], 0)
    for search, is_wider in ((candidates.covering, True), (candidates.covered, False)):
        sure, maybe = search(probe)
        assert len({*sure, *maybe}) == len(sure) + len(maybe)
        pairs = {
            number: (kept, probe) if is_wider else (probe, kept) for number, kept in held.items()
        }
        wrong = [
            (wider.condition, narrower.condition)
            for number, (wider, narrower) in pairs.items()
            # Of equal patterns the index around it knows.
            if number not in maybe and wider.condition is not narrower.condition
            if (number in sure) is not decide_compiled(wider=wider, narrower=narrower).covers
        ]
        found += Outcome(wrong, len(maybe))
    return found


def played(rng: Random, draw: Callable[[Random], str]) -> Outcome:
    """Patterns come and go and are searched for."""
    candidates = NativeCandidates()
    held: dict[int, CompiledPattern] = {}
    found = Outcome([], 0)
    for _ in range(10):
        number = rng.randrange(8)
        if held.pop(number, None) is not None:
            candidates.remove(number)
        else:
            held[number] = made(draw(rng))
            candidates.add(number, held[number])
        found += searched(candidates, held, made(draw(rng)))
    assert len(candidates) == len(held)
    for number in held:
        candidates.remove(number)
    assert_empty(candidates)
    return found


def assert_empty(candidates: NativeCandidates) -> None:
    statistics = candidates.statistics()
    assert (statistics.patterns, statistics.nodes, statistics.labels) == (0, 0, 0)
    assert (statistics.tests, statistics.features, statistics.bytes) == (0, 0, 0)


@pytest.mark.parametrize("draw", [drawn_tree, drawn_path, drawn_valued])
@given(rng=randoms)
@THOROUGH
def test_trees_paths_and_values_are_all_decided_as_covers_does(
    draw: Callable[[Random], str], rng: Random
) -> None:
    assert played(rng, draw) == ([], 0)


@given(rng=randoms)
@THOROUGH
def test_patterns_of_all_sorts_are_decided_as_covers_does(rng: Random) -> None:
    assert played(rng, drawn_anything).wrong == []


def test_little_of_the_whole_language_is_left_open() -> None:
    rng = Random(5)
    held = {number: made(drawn_anything(rng)) for number in range(100)}
    candidates = NativeCandidates()
    for number, kept in held.items():
        candidates.add(number, kept)
    outcomes = [searched(candidates, held, made(drawn_anything(rng))) for _ in range(30)]
    assert not any(outcome.wrong for outcome in outcomes)
    left_open = sum(outcome.left_open for outcome in outcomes)
    assert 0 < left_open == candidates.statistics().open < 0.02 * 2 * 30 * 100


@pytest.mark.parametrize(
    ("wider", "narrower"),
    [
        # Needs the canonical models: there is no homomorphism.
        ("/*[*][.//b]", "//a[b]"),
        ("/*[*[*]][.//b]", "//b[b[b]]"),
        ("/a//*/b", "/a/*//b"),
        # Tests of values that follow, at nodes where they do.
        ("//stock[price > 10]", "/market/stock[price > 15][@id]"),
        ("//a[contains(., 'x')]", "//a[b = 'xy']"),
        ("//a[@x != 5]", "//a[@x = '7']"),
        # Labels that include others.
        ("//*:a", "//p:a"),
        ("//p:*/@*", "/p:a/@x"),
        # Alternatives on both sides, and what holds nowhere or everywhere.
        ("//a/b | //a/*//b", "//a//b"),
        ("//a | //b", "//a[c] | //b[d]"),
        ("//a", "/a and /b"),
        ("true()", "//a"),
        # Opaque tests that stand there as they are.
        ("//a[not(b)]", "//a[not(b)][c]"),
        ("//a[b[2]]", "//a[b[2]][c]"),
    ],
)
def test_a_covering_is_sure(wider: str, narrower: str) -> None:
    candidates = NativeCandidates()
    candidates.add(1, made(wider))
    candidates.add(2, made(narrower))
    assert decide_compiled(wider=made(wider), narrower=made(narrower)).covers
    assert 1 in candidates.covering(made(narrower))[0]
    assert 2 in candidates.covered(made(wider))[0]


@pytest.mark.parametrize(
    ("wider", "narrower"),
    [("//*[not(self::b)]", "//a"), ("//a[not(@x = '2')]", "//a[@x = '1']")],
)
def test_what_depends_on_the_surroundings_of_a_node_is_left_open(wider: str, narrower: str) -> None:
    candidates = NativeCandidates()
    candidates.add(1, made(wider))
    assert covers(wider=wider, narrower=narrower)
    assert candidates.covering(made(narrower)) == ([], [1])


def test_patterns_without_a_name_of_the_others_are_not_even_looked_at() -> None:
    candidates = NativeCandidates()
    for number in range(1000):
        candidates.add(number, made(f"/a/b{number}[@x = '{number}']/c"))
    before = candidates.statistics().decided
    assert candidates.covering(made("/a/b7[@x = '7']/c/d")) == ([7], [])
    assert candidates.covered(made("//b7")) == ([7], [])
    assert candidates.statistics().decided - before <= 2


def test_a_set_drawn_from_a_schema_is_decided_wholly() -> None:
    schema = shipped_schema("news")
    texts = generate_patterns(
        schema,
        rng=Random(3),
        count=330,
        shape=PatternShape(
            depth_max=10,
            wildcard=0.1,
            descendant=0.05,
            nested=0.1,
            predicates=0.5,
            predicate_kinds=("equal", "order", "exists", "contains"),
            skew=1,
        ),
    )
    patterns = list(map(made, texts))
    candidates, held = NativeCandidates(), dict(enumerate(patterns[:300]))
    for number, pattern in held.items():
        candidates.add(number, pattern)
    assert all(searched(candidates, held, probe) == ([], 0) for probe in patterns[300:])
    assert 0 < candidates.statistics().bytes < 1500 * len(held)


def test_a_pattern_of_hundreds_of_steps_is_left_open_where_it_could_cover() -> None:
    limits = PatternLimits(steps_in_row_max=1000)
    deep = compiled_form(Pattern.parse("/a" * 200, limits=limits).condition)
    candidates = NativeCandidates()
    for number, text in enumerate(("//a", "//b", "/a/a")):
        candidates.add(number, made(text))
    candidates.add(3, deep)
    assert sorted(candidates.covering(deep)[1]) == [0, 2, 3]
    assert candidates.covered(made("/a//a/a")) == ([], [3])
    for number in range(4):
        candidates.remove(number)
    assert_empty(candidates)


def test_a_budget_that_does_not_suffice_leaves_the_pair_open() -> None:
    wider, narrower = made("/*[*][.//b]"), made("//a[b]")
    steps = decide_compiled(wider=wider, narrower=narrower).steps
    for budget, answer in ((steps, ([1], [])), (steps - 1, ([], [1]))):
        candidates = NativeCandidates(budget=budget)
        candidates.add(1, wider)
        assert candidates.covering(narrower) == answer


def test_numbers_are_used_once_and_removed_once() -> None:
    candidates = NativeCandidates()
    candidates.add(7, made("//a[@x > 1]"))
    with pytest.raises(KeyError):
        candidates.add(7, made("//b[@y > 1]"))
    with pytest.raises(KeyError):
        candidates.remove(8)
    candidates.remove(7)
    assert_empty(candidates)
    candidates.add(7, made("//b"))
    assert candidates.covering(made("//b")) == ([7], [])


def test_searches_leave_nothing_behind() -> None:
    candidates = NativeCandidates()
    candidates.add(1, made("//a[@x > 1]"))
    held = candidates.statistics()
    for number in range(300):
        probe = made(f"//a[@x = '{number}']/b{number}[c > {number}]")
        assert candidates.covering(probe) == (([1], []) if number > 1 else ([], []))
        assert candidates.covered(probe) == ([], [])
    after = candidates.statistics()
    assert (after.labels, after.tests, after.features) == (held.labels, held.tests, held.features)
    candidates.remove(1)
    assert_empty(candidates)


def test_threads_search_while_others_add_and_remove() -> None:
    candidates = NativeCandidates()
    candidates.add(-1, made("//a[@x > 0]"))
    probes = [made(f"//a[@x = '{number}'][b{number} > {number}]") for number in range(1, 60)]

    def churn() -> None:
        for number, probe in enumerate(probes):
            candidates.add(number, probe)
            candidates.remove(number)

    def search() -> None:
        for probe in probes:
            assert -1 in candidates.covering(probe)[0]
            assert candidates.covered(made("//a"))[0][:1] == [-1]

    with ThreadPoolExecutor(3) as pool:
        for job in [pool.submit(churn), pool.submit(search), pool.submit(search)]:
            job.result()
    assert len(candidates) == 1


# Its face: mistakes of ours are exceptions, and leave it as it was.

_LABELS = (None, ("element", "", "a"))
_TWIG = (_LABELS, (-1, 0), (0, 0), ((), ()))


@pytest.mark.parametrize(
    "twig",
    [
        (),
        ((), (), (), ()),
        ((None,), (-1, 0), (0,), ((),)),
        (_LABELS, (-1, 1), (0, 0), ((), ())),
        (_LABELS, (-1, -1), (0, 0), ((), ())),
        (_LABELS, (0, 0), (0, 0), ((), ())),
        (_LABELS, (-1, 0), (0, -1), ((), ())),
        (_LABELS, (-1, 0), (0, 0), ((), ([],))),
        ((None, ("comment", "", "a")), (-1, 0), (0, 0), ((), ("test",))),
        ((None, ("element", 5, "a")), (-1, 0), (0, 0), ((), ())),
        ((None, ("element",)), (-1, 0), (0, 0), ((), ())),
        ((None, "element"), (-1, 0), (0, 0), ((), ())),
    ],
)
def test_what_is_no_twig_is_refused_and_leaves_nothing_behind(twig: tuple[object, ...]) -> None:
    candidates = kernel_candidates()
    calls: list[Callable[[], object]] = [
        lambda: candidates.add(1, ((_TWIG, twig),), (_TWIG,)),
        lambda: candidates.add(1, ((_TWIG,),), (_TWIG, twig)),
        lambda: candidates.covering((_TWIG, twig)),
        lambda: candidates.covered(((_TWIG,), (twig,))),
    ]
    for call in calls:
        with pytest.raises((TypeError, ValueError, IndexError, OverflowError)):
            call()
    assert len(candidates) == 0
    candidates.add(1, ((_TWIG,),), (_TWIG,))
    assert 1 in candidates
    assert candidates.covering((_TWIG,)) == ([1], [])
    assert candidates.remove(1)
    assert candidates.statistics()["bytes"] == candidates.statistics()["labels"] == 0


def test_an_exception_of_a_callback_comes_through() -> None:
    def fail(_stronger: object, _weaker: object) -> bool:
        raise ZeroDivisionError

    candidates = kernel_candidates(fail)
    one, other = ((*_TWIG[:3], ((), (test,))) for test in ("one", "other"))
    candidates.add(1, ((one,),), (one,))
    for _ in range(2):
        with pytest.raises(ZeroDivisionError):
            candidates.covering((other,))
    assert candidates.covering((one,)) == ([1], [])


def kernel_candidates(
    follows: Callable[..., bool | None] = lambda *_: False,
) -> twigcast_kernel.Candidates:
    import twigcast_kernel  # It may not be there.

    return twigcast_kernel.Candidates(follows, lambda _: None, 1000)
