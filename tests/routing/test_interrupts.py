"""Ctrl-C in the middle of a network, or no memory: whatever is called later is exact.

An interrupt is raised at some Python call within the package, drawn by chance, under every
strategy; often another one comes while the first is being repaired. What was interrupted counts as
not done, except that a link may have come or gone, which the topology tells. The oracle
(:mod:`tests.routing.networks`) then holds the network to the same law as ever.
"""

from __future__ import annotations

import logging
import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path
from random import Random
from types import FrameType

import pytest
from hypothesis import settings

import twigcast
from tests.routing.networks import MOVES, Fault, Mood, Play, random_topology, spanning
from tests.routing.vocabulary import STRATEGIES, annotating
from twigcast import Network
from twigcast.errors import TwigcastError, UsageError
from twigcast.language import Pattern
from twigcast.routing.broker.router import Router
from twigcast.routing.events import Subscribe, SubscriptionId
from twigcast.routing.strategy import Strategy

pytestmark = [
    pytest.mark.filterwarnings("ignore::twigcast.errors.FloodingWarning"),
    # What is raised while Python lets go of an object it drops, and tells.
    pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning"),
]

PACKAGE = str(Path(twigcast.__file__).parent)
INTERRUPTS = (KeyboardInterrupt, SystemExit, GeneratorExit, MemoryError)
LINKS = {"links": [["north", "hub"], ["hub", "south"]]}


def interrupted(
    action: Callable[[], object], at: int, kind: type[BaseException] = KeyboardInterrupt
) -> bool:
    """Do something, and raise at one of the Python calls in it; whether that was reached.

    Out of memory is one more failure that nobody foresaw: it is told as one, if the call itself
    failed, and a document is a dead letter. An interrupt leaves as it is.
    """
    left = at

    def at_each_call(frame: FrameType, event: str, _: object) -> None:
        nonlocal left
        if event == "call" and frame.f_code.co_filename.startswith(PACKAGE):
            left -= 1
            if left == 0:
                raise kind

    before = sys.getprofile()
    sys.setprofile(at_each_call)
    told = (TwigcastError, Fault) if issubclass(kind, Exception) else ()
    try:
        action()
    except (kind, *told):
        pass
    finally:
        sys.setprofile(before)
    return left <= 0


def books_follow(play: Play) -> None:
    """What the oracle knows of links, after one may have come or gone."""
    play.known = {frozenset(link.between): link.latency_ms for link in play.network.topology.links}
    play.links = spanning(play.known)


def check_clients(play: Play) -> None:
    """No subscription is there that the oracle does not know of, and none is missing."""
    for broker in play.brokers:
        known = sorted(
            (each.subscriber, each.expression.pattern.text)
            for each in play.subscriptions.values()
            if each.broker == broker
        )
        assert list(play.network.tables(broker).subscriptions) == known


def interrupted_play(rng: Random, strategy: Strategy, *, moves: int = 15) -> int:
    """A play by chance in which every other move is interrupted; how many were."""
    play = Play(random_topology(rng, brokers_max=6), strategy)
    mood, count = Mood(rng), 0
    chosen = rng.choices(list(MOVES.values()), [weight for weight, _ in MOVES.values()], k=moves)
    for _, move in chosen:
        if rng.random() < 0.5:
            at, kind = int(10 ** rng.uniform(0, 3.5)), rng.choice(INTERRUPTS)
            if interrupted(partial(move, mood, play), at, kind):
                play.calls[-1] += f"  # {kind.__name__} at call {at}"
                books_follow(play)
                count += 1
                if rng.random() < 0.5:
                    check_clients(play)
        else:
            play.attempt(partial(move, mood, play))
    for content in mood.documents[:6]:
        play.attempt(partial(play.publish, mood.number(), rng.choice(mood.publishers), content))
    check_clients(play)
    play.attempt(play.check_tables)
    return count


@pytest.mark.parametrize("strategy", [*STRATEGIES, *annotating("adaptive", "+sd-sd")], ids=str)
def test_whatever_is_interrupted_the_law_holds_afterwards(
    strategy: Strategy, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.CRITICAL, "twigcast")
    count = 0
    for seed in range(max(4, settings().max_examples // 10)):
        count += interrupted_play(Random(f"{strategy}, {seed}"), strategy)
    assert count


def test_an_interrupt_while_the_network_is_made_anew_is_no_end() -> None:
    """Interrupted at one call after the other until nothing is left to interrupt."""
    network = Network(LINKS, "best")
    early = network.subscribe("south", "ann", "/news")
    assert interrupted(lambda: network.subscribe("north", "bob", "//price"), 60)
    for at in range(1, 10_000):
        if not interrupted(network.settle, at):
            break
    assert at > 100
    late = network.subscribe("hub", "eve", "//price")
    for broker in network.brokers:
        outcome = network.publish(broker, b"<news><price/></news>")
        assert sorted(each.subscription for each in outcome.deliveries) == [early, late]
    assert network.tables("north").subscriptions == ()


def test_a_document_that_was_interrupted_holds_up_no_other_and_counts_stay() -> None:
    at, was_interrupted = 0, True
    while was_interrupted:
        at += 1
        network = Network(LINKS, "covering")
        network.subscribe("south", "ann", "//b")
        network.publish("north", b"<b/>")
        was_interrupted = interrupted(lambda: network.publish("north", b"<b/>"), at)  # noqa: B023
        assert len(network.publish("north", b"<b/>").deliveries) == 1
        assert network.statistics("south").deliveries in {2, 3}
        assert {network.statistics(each).open_documents for each in network.brokers} == {0}
    assert at > 50


def test_a_router_that_was_interrupted_does_not_pretend_to_be_whole() -> None:
    router = Router("hub", "covering")
    event = Subscribe(SubscriptionId(1), "ann", Pattern("//b"))
    assert interrupted(lambda: router.handle(event, now=0.0), 12)
    for asked in (lambda: router.handle(event, now=0.0), router.tables):
        with pytest.raises(UsageError, match="'hub' was interrupted in the middle of an event"):
            asked()
    another = router.anew()
    assert another.handle(event, now=0.0) == ()
    assert another.tables().subscriptions == (("ann", "//b"),)
