"""Patterns that come from a stranger: what is taken can be worked with, honest ones are taken."""

from __future__ import annotations

import json
import pickle
import threading
from collections.abc import Callable
from pathlib import Path
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.expressions import PREFIXES, expression
from twigcast.covering import covers
from twigcast.errors import PatternError, ProtocolError
from twigcast.language import Pattern
from twigcast.language.pattern import CANONICAL_LIMITS
from twigcast.matching import ENGINES, Matcher
from twigcast.matching.explain.explain import explain
from twigcast.routing import Network, Router
from twigcast.routing.events import (
    BrokerId,
    Change,
    Decide,
    LinkUp,
    Publication,
    Publish,
    Received,
    Refuse,
    Subscribe,
    SubscriptionId,
)
from twigcast.routing.wire import frames as wire
from twigcast.routing.wire.texts import pattern_refusal, read_pattern

NORTH = BrokerId("north")
DEEP = b"<a>" * 250 + b"x" + b"</a>" * 250
FLAT = b"<a><b/><c0/>1</a>"


def _nested(front: str, behind: str, times: int, inside: str) -> str:
    return "//" + front * times + inside + behind * times


LARGEST = {
    "steps in a row": "/" + "/".join("a" * 175),
    "descendants in a row": "//a" * 87,
    "descendants and a position": "//a" * 86 + "[2]",
    "a comparison at the end of a path": "/" + "/".join("a" * 64) + " = 'x'",
    "predicates inside each other": _nested("a[c][.//", "]/d", 30, "b"),
    "negations": _nested("a[not(", ")]", 28, "b"),
    "negations around what is left to libxml2": _nested("a[not(", ")]", 28, "b[2]"),
    "negations of alternatives": _nested("a[not(.//*[c='x' or ", "])]", 19, "b"),
    "alternatives inside each other": _nested("a[c or ", "]", 60, "b"),
    "alternatives side by side": "//z[" + " or ".join(f"a{n}" for n in range(400)) + "]",
    "a long union": "(" + " | ".join(f"//a{n}" for n in range(150)) + ")[2]",
    "a sum": "+".join(["1"] * 150) + " > a",
    "calls": "//a[" + "string(" * 60 + "b" + ")" * 60 + "]",
    "signs": "//a[" + "-" * 60 + "b > 1]",
    "filters": "(" * 50 + "//a" + ")[b][2]/c" * 50,
    "the first of many steps": "//a[contains(" + "/".join("b" * 60) + ", 'x')]",
    "branches": "//a" + "".join(f"[b{n}]" for n in range(300)),
    "a long literal": "//a[. = '" + "x" * 60_000 + "']",
}
"""An expression near each limit of the wire, in all the ways there are to be large."""


def in_thread(work: Callable[[], object]) -> object:
    """What the work gives on a thread of its own, with a stack of the usual size."""
    found: list[object] = []

    def run() -> None:
        try:
            found.append(work())
        except Exception as error:  # noqa: BLE001 (whatever it is, the test fails with it)
            found.append(error)

    thread = threading.Thread(target=run)
    thread.start()
    thread.join()
    if isinstance(found[0], Exception):
        raise found[0]
    return found[0]


def taken(name: str) -> Pattern:
    text = Pattern.parse(LARGEST[name], None, CANONICAL_LIMITS).text
    return read_pattern("routes[0]", text)


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("name", LARGEST)
def test_every_engine_decides_what_the_wire_takes(name: str, engine: str) -> None:
    pattern = taken(name)

    def decide() -> None:
        matcher = Matcher(engine=engine)
        matcher.add(1, pattern)
        matcher.add(2, "//a")
        for content in (DEEP, FLAT):
            decision = matcher.decide(content)
            assert 2 in decision.matches
        matcher.remove(1)

    in_thread(decide)


@pytest.mark.parametrize("name", LARGEST)
def test_what_the_wire_takes_can_be_written_compared_copied_and_explained(name: str) -> None:
    pattern = taken(name)

    def work() -> None:
        assert pickle.loads(pickle.dumps(pattern)) is pattern
        assert pattern.text in repr(pattern)
        assert pattern.for_libxml2()
        assert pattern.necessary.exact
        assert covers(pattern, pattern) is not False
        covers(Pattern("//*[b]//c"), pattern)
        covers(pattern, Pattern("//a"))
        explain(pattern, FLAT)

    in_thread(work)


@pytest.mark.parametrize("name", LARGEST)
def test_a_router_decides_documents_by_what_it_takes(name: str) -> None:
    router = Router("hub")
    router.handle(LinkUp(NORTH), now=0.0)
    frame = wire.encode(Change(1, 1, (taken(name), Pattern("//b"))))
    event = wire.received(NORTH, frame)
    assert isinstance(event, Received)
    assert router.handle(event, now=0.0) == ()
    for content in (DEEP, FLAT):
        (effect,) = router.handle(Publish(Publication("1", router.name, "", content)), now=1.0)
        assert isinstance(effect, Decide)
        answer = in_thread(lambda effect=effect: router.decide(effect))  # type: ignore[misc]
        assert answer.error is None  # type: ignore[attr-defined]
        router.handle(answer, now=1.0)  # type: ignore[arg-type]


def test_a_subscription_that_no_neighbour_could_read_is_refused_at_once() -> None:
    union = "(a | b)"
    for _ in range(7):
        union = f"(a | b)[{union}]"
    pattern = Pattern.parse(" and ".join(f"{union}[c{n}]" for n in range(3)))
    router = Router("hub")
    (effect,) = router.handle(Subscribe(SubscriptionId(1), "ann", pattern), now=0.0)
    assert isinstance(effect, Refuse)
    assert "other brokers could not read the pattern" in effect.reason
    assert "steps_max" in effect.reason
    assert router.tables().subscriptions == ()


@pytest.mark.parametrize(
    "text",
    [
        "/" + "/".join("a" * 64) + " = 'x'",
        "/" + "/".join(["descendant::a"] * 64) + " = 'x'",
        "(" + "|".join(f"a{n}" for n in range(20)) + ")[" + "][".join(
            f"b{n} = 'x'" for n in range(20)) + "]",
    ],
)  # fmt: skip
def test_what_a_client_may_write_reaches_the_next_broker(text: str) -> None:
    pattern = Pattern.parse(text)
    assert pattern_refusal(pattern) is None
    assert read_pattern("routes[0]", pattern.text) is pattern


@given(st.integers(0, 2**32), st.integers(0, 5))
def test_what_a_router_takes_from_a_client_its_neighbours_take(seed: int, depth: int) -> None:
    text = expression(Random(seed), depth)
    try:
        pattern = Pattern.parse(text, PREFIXES)
    except PatternError:
        return
    told = pattern_refusal(pattern)
    try:
        assert read_pattern("routes[0]", pattern.text) is pattern
    except ProtocolError as error:
        assert told is not None, error  # noqa: PT017
    else:
        assert told is None


def test_the_rules_that_people_wrote_reach_the_next_broker(
    shared_path: Callable[[str], Path],
) -> None:
    for path in sorted(shared_path("bench/rules").glob("*/rules.jsonl")):
        for line in path.read_text(encoding="utf-8").splitlines():
            rule = json.loads(line)
            pattern = Pattern.parse(rule["xpath"], rule["namespaces"])
            assert read_pattern("routes[0]", pattern.text) is pattern
            assert pattern_refusal(pattern) is None


def test_a_change_with_an_unreadable_route_is_refused_whole_and_the_link_goes_on() -> None:
    router = Router("hub")
    router.handle(LinkUp(NORTH), now=0.0)
    good = wire.encode(Change(1, 1, (Pattern("//b"),)))
    bad = wire.encode(Change(1, 2, (Pattern("//c"), Pattern("//d"))))
    router.handle(wire.received(NORTH, good), now=0.0)
    before = router.tables()
    (effect,) = router.handle(wire.received(NORTH, bad.replace(b"//d", b"d//")), now=0.0)
    assert isinstance(effect, Refuse)
    assert (effect.link, router.tables()) == (NORTH, before)
    assert router.handle(wire.received(NORTH, bad), now=0.0) == ()
    assert router.tables().routes[NORTH] == ("//b", "//c", "//d")


def test_a_network_takes_what_its_brokers_forward() -> None:
    network = Network({"links": [["north", "hub"], ["hub", "south"]]})
    network.subscribe("south", "ann", "/self::node()[name() = '']/a")
    network.subscribe("south", "bob", "/" + "/".join("a" * 64) + " = 'x'")
    for broker in ("north", "hub"):
        for texts in network.tables(broker).routes.values():
            for text in texts:
                assert read_pattern("routes[0]", text).text == text
    assert [each.subscriber for each in network.publish("north", b"<a/>").deliveries] == ["ann"]
