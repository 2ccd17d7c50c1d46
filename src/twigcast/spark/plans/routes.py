"""The routes of a tree, computed by Spark round by round.

Two sweeps suffice (:mod:`~twigcast.routing.static.route_computation`): every broker sends up to
the first broker, then down from it. Brokers of the same depth do not wait for each other, so each
round is a Spark job, whose tasks are the steps of some brokers
(:mod:`~twigcast.spark.worker.route_round`)::

    driver    own, sent so far ──plan──▶        ┌──▶ sent so far ──plan──▶          routes
    tasks                       4, 5, 6, 7 send             2, 3 send      …, 1, …

Between rounds, what was sent comes back to the driver: as numbers, for each text is kept once. Of
1,000,000 subscriptions at 127 brokers that is some megabytes a round where most are covered, and
tens where few are. To keep it on the workers would need a shuffle of texts for each round, and
brings nothing: the next round waits for all of the last one anyway.

A network of few subscriptions is done here, in this process, before Spark would have begun.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from itertools import accumulate
from typing import TYPE_CHECKING, Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from twigcast.covering import Advertisement
from twigcast.files.writing.versioned_files import write_versioned
from twigcast.language import Pattern
from twigcast.routing.static.route_computation import (
    SweepStep,
    passed_on,
    received_before,
    rounds,
    spread,
)
from twigcast.routing.strategy import Strategy
from twigcast.routing.topology.model import Tree
from twigcast.slips import caller_result
from twigcast.spark.plans.distribution import discard, located, share, shared_folder
from twigcast.spark.session.compatibility import from_arrow_schema
from twigcast.spark.session.progress import Progress
from twigcast.spark.worker.route_round import (
    OWN,
    PLAN,
    SENT,
    Round,
    plan_bytes,
    read_pattern,
    run_steps,
)

if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any, TypeAlias

    from pyspark.sql import SparkSession

    from twigcast.spark.session.progress import Listener
    from twigcast.spark.worker.route_round import Numbers

    Column: TypeAlias = pa.ChunkedArray[Any]

SPARK_ROUTES_MIN: Final = 30_000
"""Subscriptions from which on Spark is worth its while: a round costs it a third of a second
whatever there is to do, and this many take about as long as the rounds of a hundred brokers."""

TASK_ROWS: Final = 10_000
"""Rows that a task is given, unless one broker has more: about a second's work, beside which the
cost of a task is small."""

_TEXT = pa.dictionary(pa.int32(), pa.string())
_FIELDS: Mapping[str, pa.DataType] = {"broker": _TEXT, "neighbour": _TEXT, "pattern": _TEXT}
ROUTES = pa.schema(_FIELDS)
"""At ``broker``, documents that match ``pattern`` go to ``neighbour``."""


def compute_routes(  # noqa: PLR0917 - the order is that of the guide: where, how, what
    spark: SparkSession,
    tree: Tree,
    strategy: Strategy,
    own: pa.Table,
    advertisements: Mapping[str, Collection[Advertisement]] | None = None,
    *,
    listener: Listener | None = None,
    spark_min: int = SPARK_ROUTES_MIN,
) -> pa.Table:
    """The routes of all brokers, in the order of the topology and then of texts.

    ``own`` has the columns ``broker`` and ``pattern``: a canonical text, or any expression without
    prefixes. With fewer than ``spark_min`` rows, Spark is left alone.
    """
    store = _PatternStore(tree, own)
    if strategy.floods:
        return store.routes()
    if own.num_rows < spark_min:
        patterns = {broker: store.patterns(broker) for broker in tree.brokers}
        found = spread(tree, strategy, patterns, advertisements, hints=False)
        for (broker, neighbour), sent in found.forwarded.items():
            store.add_received(broker, neighbour, (each.text for each in sent))
        return store.routes()
    passed_on_to = passed_on(tree, strategy, advertisements or {})
    sweep = rounds(tree)
    total, done = sum(map(len, sweep)), 0
    for steps in sweep:
        tasks, plan = store.plan(steps)
        links = {(step.broker, link) for step in steps for link in step.to}
        sweep_round = Round(
            strategy,
            tree.brokers,
            tasks,
            {link: passed for link, passed in passed_on_to.items() if link in links},
        )
        store.add_sent(_sent(spark, plan, sweep_round))
        done += len(steps)
        if listener is not None:
            caller_result(listener, Progress("routes", done, total))
    return store.routes()


def _sent(spark: SparkSession, plan: bytes, sweep_round: Round) -> pa.Table:
    """A round on Spark: what is sent over each link."""
    file = write_versioned(shared_folder(), stem="round", ending=".arrow", content=plan)
    share(spark, file)

    def answer(numbers: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        yield from run_steps(numbers, located(file), sweep_round)

    tasks = spark.range(0, len(sweep_round.tasks), 1, len(sweep_round.tasks))
    sent = tasks.mapInArrow(answer, from_arrow_schema(SENT)).toArrow()
    discard(file)
    return sent


class _PatternStore:
    """The patterns that each broker has and has received, every text once."""

    def __init__(self, tree: Tree, own: pa.Table) -> None:
        self._tree = tree
        self._place = {broker: place for place, broker in enumerate(tree.brokers)}
        self._received: dict[tuple[str, str], Numbers] = {}
        """By (broker, neighbour) the numbers of texts that lead from one to the other."""
        self._plan_codes: Numbers = np.zeros(0, np.int32)
        """Of each text of the last plan its number here."""
        self._texts, codes = _numbered(own.column("pattern"))
        self._codes = {text: code for code, text in enumerate(self._texts)}
        self._own = self._dealt(own.column("broker"), codes)

    def _dealt(self, column: Column, codes: Numbers) -> dict[str, Numbers]:
        """The numbers of texts by broker; UsageError for a broker that is not in the tree."""
        names, places = _numbered(column)
        for name in names:
            self._tree.neighbours(name)
        order = np.argsort(places, kind="stable")
        ends = np.searchsorted(places[order], np.arange(len(names) + 1))
        return {
            name: codes[order[ends[place] : ends[place + 1]]] for place, name in enumerate(names)
        }

    def patterns(self, broker: str) -> list[Pattern]:
        """The patterns of a broker's own clients."""
        return [read_pattern(self._texts[code]) for code in self._own.get(broker, ())]

    # Rounds.

    def plan(self, steps: Sequence[SweepStep]) -> tuple[tuple[tuple[SweepStep, ...], ...], bytes]:
        """The steps of a round shared out to tasks, and the patterns that these need."""
        sources = [self._sources(step) for step in steps]
        works = [1 + sum(map(len, codes.values())) for codes in sources]
        tasks = _shared_out(works, min(len(steps), 1 + sum(works) // TASK_ROWS))
        used = np.zeros(len(self._texts), bool)
        for codes in sources:
            for each in codes.values():
                used[each] = True
        self._plan_codes = np.flatnonzero(used).astype(np.int32)
        in_plan = (np.cumsum(used) - 1).astype(np.int32)
        texts = pa.array([self._texts[code] for code in self._plan_codes], pa.string())
        batches = []
        for task in tasks:
            rows = [
                (self._place[steps[each].broker], source, in_plan[codes])
                for each in task
                for source, codes in sources[each].items()
            ]
            batches.append(_batch(rows, texts))
        return tuple(tuple(steps[each] for each in task) for task in tasks), plan_bytes(batches)

    def _sources(self, step: SweepStep) -> dict[int, Numbers]:
        """The numbers of all that a broker has and has received, by the number of the source."""
        links = received_before(self._tree, step, self._received)
        received = {self._place[link]: self._received[step.broker, link] for link in links}
        return {OWN: self._own.get(step.broker, _NONE), **received}

    def add_sent(self, sent: pa.Table) -> None:
        """Add what was sent in the round of the last plan."""
        columns = [sent.column(name).to_pylist() for name in SENT.names]
        for sender, receiver, known, new in zip(*columns, strict=True):
            codes = self._plan_codes[np.frombuffer(known, np.int32)]
            link = self._tree.brokers[receiver], self._tree.brokers[sender]
            self._received[link] = np.concatenate([codes, self._coded(new)])

    def add_received(self, broker: str, neighbour: str, texts: Iterable[str]) -> None:
        """Add what a broker has received from a neighbour."""
        self._received[broker, neighbour] = self._coded(texts)

    def _coded(self, texts: Iterable[str]) -> Numbers:
        codes = []
        for text in texts:
            code = self._codes.setdefault(text, len(self._texts))
            if code == len(self._texts):
                self._texts.append(text)
            codes.append(code)
        return np.array(codes, np.int32)

    # The end.

    def routes(self) -> pa.Table:
        """All that was sent, as a table."""
        links = sorted(
            self._received, key=lambda link: (self._place[link[0]], self._place[link[1]])
        )
        used = np.zeros(len(self._texts), bool)
        for codes_of_link in self._received.values():
            used[codes_of_link] = True
        codes = sorted(map(int, np.flatnonzero(used)), key=self._texts.__getitem__)
        ranks = np.zeros(len(self._texts), np.int32)
        ranks[codes] = np.arange(len(codes), dtype=np.int32)
        sizes = [len(self._received[link]) for link in links]
        ends = [np.array([self._place[link[end]] for link in links], np.int32) for end in (0, 1)]
        names = pa.array(self._tree.brokers, pa.string())
        texts = pa.array([self._texts[code] for code in codes], pa.string())
        patterns = [np.sort(ranks[self._received[link]]) for link in links]
        columns = [
            *(_encoded(np.repeat(each, sizes), names) for each in ends),
            _encoded(np.concatenate([_NONE, *patterns]), texts),
        ]
        return pa.Table.from_arrays(columns, schema=ROUTES)


_NONE: Final = np.zeros(0, np.int32)


def _batch(rows: Iterable[tuple[int, int, Numbers]], texts: pa.StringArray) -> pa.RecordBatch:
    """The rows of a task: broker, source and numbers of texts."""
    listed = list(rows)
    sizes = [len(codes) for _, _, codes in listed]
    brokers = np.repeat(np.array([broker for broker, _, _ in listed], np.int32), sizes)
    sources = np.repeat(np.array([source for _, source, _ in listed], np.int32), sizes)
    codes = np.concatenate([_NONE, *(codes for _, _, codes in listed)])
    columns = [pa.array(brokers), pa.array(sources), _encoded(codes, texts)]
    return pa.RecordBatch.from_arrays(columns, schema=PLAN)


def _numbered(column: Column) -> tuple[list[str], Numbers]:
    """The different texts of a column, and for each row the number of its text."""
    encoded: Any = pc.dictionary_encode(column.cast(pa.string())).combine_chunks()
    return encoded.dictionary.to_pylist(), np.asarray(encoded.indices, np.int32)


def _encoded(codes: Numbers, texts: pa.StringArray) -> pa.DictionaryArray[Any, Any]:
    return pa.DictionaryArray.from_arrays(pa.array(codes, pa.int32()), texts)


def _shared_out(works: Sequence[int], count: int) -> list[list[int]]:
    """Runs of steps of about equal work.

    >>> _shared_out([5, 1, 1, 1, 5], 3)
    [[0], [1, 2, 3], [4]]
    """
    total = sum(works)
    runs: dict[int, list[int]] = {}
    for step, (work, until) in enumerate(zip(works, accumulate(works), strict=True)):
        # A step goes where its middle falls.
        runs.setdefault((2 * until - work) * count // (2 * total), []).append(step)
    return list(runs.values())
