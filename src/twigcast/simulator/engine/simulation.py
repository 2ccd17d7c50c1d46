"""A network of routers in simulated time: a schedule is played, and what came of it is recorded.

Each broker is a :class:`~twigcast.routing.Router` with a queue in front of it, and does one thing
after the other. What comes in waits for its turn, takes as long as the costs say, and only then
are its effects performed: messages go onto the wires, deliveries are noted. A document that has to
be decided is next in its broker's turn, before whatever waits; if it is answered in parts, what
comes of each is performed as soon as its own work is done, and the broker stays at it until the
last. When a router wants to be woken, it is, behind what waits already::

    from outside ──▶ queue ──▶ router.handle ──▶ Send ──▶ wire ──▶ queue of the far broker
                       ▲           │
                       └─ Woken ───┴─ Decide ──▶ router.decide ──▶ router.handle ──▶ …

The simulator decides nothing: it carries messages and keeps time. Of simulated time, of events and
of each broker's queue there is a bound; a run that reaches one is stopped, and its results say so.
A run that was interrupted cannot go on: what was on its way then is lost.
"""

from __future__ import annotations

import logging
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from time import perf_counter
from typing import Final, TypeAlias, assert_never

from twigcast.copies import Uncopied
from twigcast.display import one_line, shown
from twigcast.door import door
from twigcast.errors import InternalError, UsageError
from twigcast.routing.broker.remedies import Remedies, Remedy, dead_letter
from twigcast.routing.broker.router import ROUTER_LIMITS, Router, RouterLimits
from twigcast.routing.events import (
    Accuse,
    Advertise,
    BrokerId,
    DeadLetter,
    Decide,
    Decided,
    Deliver,
    Effect,
    Event,
    LinkDown,
    LinkId,
    LinkUp,
    Message,
    Publish,
    Received,
    Refuse,
    Send,
    Subscribe,
    Unadvertise,
    Unsubscribe,
    Woken,
)
from twigcast.routing.strategy import Strategy, strategy
from twigcast.simulator.cost_model import Answered, CostModel, Costs
from twigcast.simulator.engine.event_queue import EventQueue
from twigcast.simulator.engine.links import SimulatedLink
from twigcast.simulator.engine.oracle import DeliveryOracle
from twigcast.simulator.engine.recorder import Record
from twigcast.simulator.results import BrokerTables, Results
from twigcast.simulator.schedule import (
    ClientEvent,
    LinkLost,
    LinkReturns,
    Phase,
    Schedule,
    TimedEvent,
)
from twigcast.slips import caller_result, check_fields

_DEFAULT_COSTS: Final = CostModel()


_LOGGER: Final = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class SimulationLimits:
    """Bounds of a run. One that reaches a bound is stopped there."""

    events_max: int = 20_000_000
    """Events that happen: some ten minutes of real time."""
    seconds_max: float = 1_000_000.0
    """Simulated; eleven days are more than any experiment of the papers lasts."""
    queue_max: int = 1_000_000
    """What waits for one broker: a few hundred megabytes."""

    def __post_init__(self) -> None:
        check_fields(self)


SIMULATION_LIMITS = SimulationLimits()

_Work: TypeAlias = Event | Decide


@dataclass(slots=True)
class _Broker:
    """A router, what waits for it, and what it knows of its links."""

    router: Router
    queue: deque[_Work] = field(default_factory=deque)
    is_busy: bool = False
    sessions: dict[LinkId, int] = field(default_factory=dict)
    """Of each link how many times it has come up, as far as the broker knows."""
    answered: Decided | None = None
    """The last answer to the document that it is at, if there are more to come."""
    wakes_at: float | None = None
    is_being_woken: bool = False
    counted: tuple[int, int] = (-1, 0)
    """A version of the tables, and how many routes it has."""

    def routes(self, decide: Decide) -> int:
        """By how many routes a document is decided; counted once for each version of the tables."""
        if self.counted[0] != decide.version:
            self.counted = decide.version, self.router.statistics().routes
        return self.counted[1]

    @property
    def name(self) -> BrokerId:
        return self.router.name


class Simulation(Uncopied, instead="make another of the same schedule"):
    """One run of a schedule under one strategy.

    ``clock`` measures the real time that the run takes; it has no influence on anything else.
    """

    @door("making a simulation")
    def __init__(
        self,
        schedule: Schedule,
        strategy_or_name: Strategy | str = "best",
        *,
        costs: Costs = _DEFAULT_COSTS,
        limits: SimulationLimits = SIMULATION_LIMITS,
        router_limits: RouterLimits = ROUTER_LIMITS,
        engine: str = "auto",
        clock: Callable[[], float] = perf_counter,
    ) -> None:
        self.schedule = schedule
        self.strategy = strategy(strategy_or_name)
        self.limits = limits
        self._costs = costs
        self._clock = clock
        self._events = EventQueue()
        self._brokers = {
            name: _Broker(
                Router(
                    name,
                    self.strategy,
                    engine=engine,
                    limits=router_limits,
                    report=partial(self._failed, name),
                )
            )
            for name in map(BrokerId, schedule.network.brokers)
        }
        self._links = {
            frozenset(link.between): SimulatedLink.of(link) for link in schedule.network.links
        }
        # What reads in order is slow, and the oracle need not know when something was certain.
        self._oracle = DeliveryOracle(self._brokers, "auto" if engine == "streaming" else engine)
        self._record = Record(schedule.network, floods=self.strategy.floods)
        self._stopped: str | None = None
        self._is_torn = False
        """Whether it was interrupted, so that brokers and links may be in any state."""
        self._failures = 0
        """How many failures nobody foresaw were reported so far."""
        self._remedies = Remedies()

    @door("simulating a schedule")
    def run(self) -> Results:
        """Play the schedule to its end; may be called once."""
        begun = caller_result(self._clock)
        self.set_stage()
        return self._results(
            self._play_schedule(self.schedule.then), caller_result(self._clock) - begun
        )

    @door("setting the stage of a schedule")
    def set_stage(self) -> None:
        """Play all that comes before the schedule; for those who do not call :meth:`run`."""
        schedule = self.schedule
        links_up = tuple(
            LinkReturns(0.0, (BrokerId(one), BrokerId(other)))
            for one, other in (link.between for link in schedule.network.links)
        )
        for phase in (links_up, *schedule.stage):
            self._put(phase)
            self._play(until=schedule.start)

    @door("playing a phase")
    def play(self, then: Phase, strategy_or_name: Strategy | str | None = None) -> Results:
        """Play a phase on the stage as it is now; the results are of this phase alone.

        So many phases can be played where setting the stage takes long. Another strategy may take
        over, if only the protocol differs by which documents are annotated and forwarded.
        """
        begun = caller_result(self._clock)
        if strategy_or_name is not None:
            self.strategy = strategy(strategy_or_name)
            for broker in self._brokers.values():
                broker.router.switch_to(self.strategy)
        self._record = self._record.anew()
        return self._results(self._play_schedule(then), caller_result(self._clock) - begun)

    def _play_schedule(self, then: Phase) -> float:
        """Play a phase to its end; the time at which the stage was set."""
        set_up_at = self._events.now
        self._events.now = max(self._events.now, self.schedule.start or 0.0)
        self._put(then)
        self._play()
        return set_up_at

    @door("looking up a router")
    def router(self, broker: str) -> Router:
        """The router of a broker, to be looked at; UsageError if there is none."""
        if broker not in self._brokers:
            raise UsageError(f"there is no broker {shown(broker)} in the schedule")
        return self._brokers[BrokerId(broker)].router

    # Time.

    def _put(self, phase: Phase) -> None:
        begins = self._events.now
        for timed in phase:
            self._events.put(begins + timed.at, partial(self._apply, timed))

    def _play(self, *, until: float | None = None) -> None:
        """Let things happen until nothing is left, or a time has come, or a bound is reached."""
        if self._is_torn:
            raise UsageError("this simulation was interrupted, so it cannot go on; make another")
        try:
            self._step(until)
        except BaseException:
            self._is_torn = True
            raise

    def _step(self, until: float | None) -> None:
        events, limits = self._events, self.limits
        while not self._stopped and (at := events.next_at()) is not None:
            if until is not None and at > until:
                return
            if at > limits.seconds_max:
                self._stopped = f"{limits.seconds_max:,} simulated seconds (seconds_max)"
            elif events.steps >= limits.events_max:
                self._stopped = f"{limits.events_max:,} events (events_max)"
            else:
                events.step()

    # From outside.

    def _apply(self, timed: TimedEvent) -> None:
        match timed:
            case ClientEvent():
                self._hand_in(timed)
            case LinkReturns(between=(one, other)):
                self._link_up(one, other)
            case LinkLost(between=(one, other)):
                self._link_down(one, other)
            case _:
                assert_never(timed)

    def _hand_in(self, handed: ClientEvent) -> None:
        broker, event = handed.broker, handed.event
        match event:
            case Subscribe():
                self._oracle.subscribe(broker, event.subscription, event.pattern)
                self._record.subscriptions += 1
            case Unsubscribe():
                self._oracle.unsubscribe(broker, event.subscription)
            case Publish():
                expectation = self._oracle.expect(event.publication.content, broker)
                self._record.handed_in(event.publication, expectation, self._events.now)
            case Advertise() | Unadvertise():
                pass
            case _:
                assert_never(event)
        self._enqueue(self._brokers[broker], event)

    def _link_up(self, one: BrokerId, other: BrokerId) -> None:
        link_state = self._links[frozenset((one, other))]
        if not link_state.up:
            link_state.rise(self._events.now)
            self._oracle.link(one, other)
            self._enqueue(self._brokers[one], LinkUp(other))
            self._enqueue(self._brokers[other], LinkUp(one))

    def _link_down(self, one: BrokerId, other: BrokerId) -> None:
        link_state = self._links[frozenset((one, other))]
        if link_state.up:
            link_state.fall()
            self._oracle.unlink(one, other)
            self._enqueue(self._brokers[one], LinkDown(other))
            self._enqueue(self._brokers[other], LinkDown(one))

    # A broker's turn.

    def _enqueue(self, broker: _Broker, work: _Work) -> None:
        queue = broker.queue
        queue.append(work)
        if len(queue) > self.limits.queue_max:
            self._stopped = f"{len(queue):,} events waiting at {broker.name} (queue_max)"
        self._record.queue_longest = max(self._record.queue_longest, len(queue))
        if not broker.is_busy:
            self._begin(broker)

    def _begin(self, broker: _Broker) -> None:
        broker.is_busy = True
        effects, seconds = self._effects_of(broker, broker.queue.popleft())
        self._record.busy[broker.name] += seconds
        self._events.put(self._events.now + seconds, partial(self._end, broker, effects))

    def _end(self, broker: _Broker, effects: tuple[Effect, ...]) -> None:
        broker.is_busy = False
        delivered = [effect for effect in effects if isinstance(effect, Deliver)]
        if delivered:
            # A popular document has thousands of these, so they are noted together.
            self._record.delivered(broker.name, delivered, self._events.now)
        if len(delivered) < len(effects):
            self._perform(broker, effects)
        self._wake_later(broker)
        if broker.queue:
            self._begin(broker)

    def _effects_of(self, broker: _Broker, work: _Work) -> tuple[tuple[Effect, ...], float]:
        router, now = broker.router, self._events.now
        if isinstance(work, Decide):
            return self._answer(broker, work)
        match work:
            case LinkUp():
                broker.sessions[work.link] = broker.sessions.get(work.link, 0) + 1
            case Woken():
                broker.is_being_woken = False
            case _:
                pass
        failures = self._failures
        effects, seconds = self._costs.of_event(work, lambda: router.handle(work, now=now))
        if failures == self._failures:
            self._remedies.after_success(broker.name, work)
            return effects, seconds
        return self._set_aside(broker, work, effects), seconds

    def _set_aside(
        self, broker: _Broker, event: Event, effects: tuple[Effect, ...]
    ) -> tuple[Effect, ...]:
        """What is done about an event that failed at a broker."""
        match self._remedies.after_failure(broker.name, event):
            case Remedy.DEAD_LETTER:
                return (dead_letter(event),)
            case Remedy.RENEW:
                assert isinstance(event, Received)
                self._link_down(broker.name, event.link)
                self._link_up(broker.name, event.link)
                return ()
            case Remedy.REPEAT:
                assert isinstance(event, LinkUp)
                broker.sessions[event.link] -= 1
                broker.queue.appendleft(event)
                return ()
            case Remedy.NONE:
                return effects

    def _failed(self, broker: BrokerId, error: InternalError) -> None:
        """Something failed at a broker that nobody foresaw; it goes on without it."""
        self._failures += 1
        _LOGGER.error("broker %s: %s", one_line(broker), error, exc_info=error)

    def _answer(self, broker: _Broker, question: Decide) -> tuple[tuple[Effect, ...], float]:
        """What comes of the next answer; if others follow, it is the broker's turn again."""
        router, now = broker.router, self._events.now

        def work() -> Answered:
            answer = router.decide(question)
            return answer, router.handle(answer, now=now)

        before, routes = broker.answered, broker.routes(question)
        (answer, effects), seconds = self._costs.of_document(question, before, routes, work)
        broker.answered = None if answer.final else answer
        if not answer.final:
            broker.queue.appendleft(question)
        self._record.answered(answer)
        return effects, seconds

    def _perform(self, broker: _Broker, effects: tuple[Effect, ...]) -> None:
        to_decide: list[Decide] = []
        for effect in effects:
            match effect:
                case Deliver():
                    pass
                case Send():
                    self._send(broker, effect.link, effect.message)
                case Decide():
                    to_decide.append(effect)
                case Refuse():
                    self._record.refused(broker.name, effect, self._events.now)
                case DeadLetter():
                    self._record.dead(broker.name, effect, self._events.now)
                case Accuse():
                    pass  # Simulated brokers are honest; should one not be, statistics show it.
                case _:
                    assert_never(effect)
        # In their own order, and before whatever waits.
        broker.queue.extendleft(reversed(to_decide))

    def _wake_later(self, broker: _Broker) -> None:
        wanted = broker.router.wake_at()
        if wanted is None or broker.is_being_woken:
            return
        at = max(wanted, self._events.now)
        if broker.wakes_at is None or at < broker.wakes_at:
            broker.wakes_at = at
            self._events.put(at, partial(self._wake, broker, at))

    def _wake(self, broker: _Broker, at: float) -> None:
        if broker.wakes_at != at:
            return  # An earlier wake-up has taken the place of this one.
        broker.wakes_at = None
        wanted = broker.router.wake_at()
        if wanted is not None and wanted <= self._events.now:
            broker.is_being_woken = True
            self._enqueue(broker, Woken())
        else:
            self._wake_later(broker)

    # On the links.

    def _send(self, broker: _Broker, link: LinkId, message: Message) -> None:
        link_state = self._links[frozenset((broker.name, link))]
        session = broker.sessions[link]
        if not link_state.up or session != link_state.session:
            self._record.lost += 1
            return
        size_bytes = self._record.sent(broker.name, link, message)
        at = link_state.arrival(self._events.now, size_bytes, forth=broker.name < link)
        self._events.put(at, partial(self._arrive, broker.name, link, message, session))

    def _arrive(self, sender: BrokerId, to: BrokerId, message: Message, session: int) -> None:
        link_state = self._links[frozenset((sender, to))]
        if not link_state.up or session != link_state.session:
            self._record.lost += 1
            return
        self._enqueue(self._brokers[to], Received(sender, message))

    # The end.

    def _results(self, set_up_at: float, real_seconds: float) -> Results:
        tables = {}
        for name, broker in self._brokers.items():
            statistics = broker.router.statistics()
            tables[name] = BrokerTables(
                routes=statistics.routes,
                subscriptions=statistics.subscriptions,
                advertisements=statistics.advertisements,
                forwarded=statistics.forwarded,
            )
        return self._record.results(
            strategy=self.strategy,
            tables=tables,
            stopped=self._stopped,
            events=self._events.steps,
            set_up_seconds=set_up_at,
            simulated_seconds=self._events.now,
            real_seconds=real_seconds,
        )
