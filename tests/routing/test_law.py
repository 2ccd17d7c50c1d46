"""The law of routing: whatever happens, each subscription receives what flooding would deliver.

Hypothesis plays with networks of up to 15 brokers under every strategy: clients come and go,
publishers promise and take back, links break and other links join what is left, patterns are merged
at odd moments. The oracle (:mod:`tests.routing.networks`) watches each publication, and in the end
compares all tables with those of a network that has had no past.
"""

from __future__ import annotations

from collections.abc import Sequence
from random import Random
from typing import TypeVar

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, precondition, rule

from tests.routing.networks import PUBLISHERS, Play, line, random_play, star, tree
from tests.routing.vocabulary import DOCUMENTS, STRATEGIES, THEMES, keeps
from twigcast.routing.strategy import Strategy

pytestmark = pytest.mark.filterwarnings("ignore::twigcast.errors.FloodingWarning")
"""Networks are drawn with publishers who have advertised nothing, and flooding is right there."""

NUMBERS = st.integers(0, 14)
"""Which broker, link, subscription ...: taken modulo what there is."""
CHOICES = st.integers(0, 150)
"""Which of what the theme offers, likewise."""

T = TypeVar("T")


def _of(whole: Sequence[T], number: int) -> T:
    return whole[number % len(whole)]


class Life(RuleBasedStateMachine):
    """A network's life."""

    def __init__(self) -> None:
        super().__init__()
        self.play = Play(line(2), STRATEGIES[0])
        self.theme = THEMES["everything"]

    @initialize(
        topology=st.one_of(
            st.builds(line, st.integers(2, 15)),
            st.builds(star, st.integers(3, 15)),
            st.builds(tree, st.lists(st.integers(0, 13), min_size=3, max_size=14)),
        ),
        strategy=st.sampled_from(STRATEGIES),
        theme=st.sampled_from(list(THEMES)),
    )
    def begin(self, topology: dict[str, object], strategy: Strategy, theme: str) -> None:
        self.play, self.theme = Play(topology, strategy), THEMES[theme]

    @rule(broker=NUMBERS, subscriber=st.sampled_from("xyz"), asked=CHOICES)
    def subscribe(self, broker: int, subscriber: str, asked: int) -> None:
        self.play.subscribe(broker, subscriber, _of(self.theme.spoken, asked))

    @precondition(lambda self: self.play.subscriptions)
    @rule(number=NUMBERS)
    def unsubscribe(self, number: int) -> None:
        self.play.unsubscribe(number)

    @rule(broker=NUMBERS, publisher=st.sampled_from(PUBLISHERS), schema=CHOICES)
    def advertise(self, broker: int, publisher: str | None, schema: int) -> None:
        self.play.advertise(broker, publisher, _of(self.theme.schemas, schema))

    @precondition(lambda self: self.play.advertisements)
    @rule(number=NUMBERS)
    def unadvertise(self, number: int) -> None:
        self.play.unadvertise(number)

    @rule(broker=NUMBERS, publisher=st.sampled_from(PUBLISHERS), content=CHOICES)
    def publish(self, broker: int, publisher: str | None, content: int) -> None:
        self.play.publish(broker, publisher, _of(self.theme.documents, content))

    @precondition(lambda self: self.play.advertisements)
    @rule(number=NUMBERS, content=CHOICES)
    def publish_as_advertised(self, number: int, content: int) -> None:
        advertised = _of(list(self.play.advertisements.values()), number)
        kept = [each for each in DOCUMENTS if keeps(advertised.schema, each)]
        broker = self.play.brokers.index(advertised.broker)
        self.play.publish(broker, advertised.publisher, _of(kept, content))

    @precondition(lambda self: self.play.known)
    @rule(number=NUMBERS)
    def remove_link(self, number: int) -> None:
        self.play.remove_link(number)

    @rule(number=NUMBERS, far=NUMBERS, latency=st.sampled_from((1.0, 0.5, 2.0)))
    def add_link(self, number: int, far: int, latency: float) -> None:
        self.play.add_link(number, far, latency)

    @rule()
    def merge(self) -> None:
        self.play.merge()

    def teardown(self) -> None:
        for number, content in enumerate(self.theme.documents[::4]):
            self.play.publish(number, _of(PUBLISHERS, number), content)
        self.play.check_tables()


TestLife = Life.TestCase
TestLife.settings = settings(stateful_step_count=30)
TestLife.pytestmark = pytest.mark.timeout(3_600)  # type: ignore[attr-defined]


@pytest.mark.parametrize("strategy", STRATEGIES, ids=str)
def test_chance_finds_no_fault_under(strategy: Strategy) -> None:
    """Plain chance mixes more evenly than Hypothesis does, and says which strategy it is."""
    for seed in range(max(2, settings().max_examples // 14)):
        play = random_play(Random(f"{strategy}, {seed}"), strategies=[strategy])
        assert len(play.calls) > 1
