"""A network on a stage: what the plans fused and hops tell of the same documents."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from random import Random
from typing import Any
from uuid import uuid4

import pyarrow as pa
import pyarrow.parquet as pq

from tests.routing.networks import line, star, tree
from tests.routing.vocabulary import (
    THEMES,
    WILDCARDS,
    advertisement_of,
)
from twigcast.files import Subscription, SubscriptionFile
from twigcast.language import Pattern
from twigcast.matching import Matcher
from twigcast.routing import Topology
from twigcast.routing.static.route_computation import spread
from twigcast.routing.strategy import Strategy
from twigcast.spark.storage.tables import TABLES, parquet_schema
from twigcast.spark.worker.broker_tree import BrokerTree
from twigcast.spark.worker.crossings import crossing_model
from twigcast.spark.worker.hops.files import (
    VisitPiece,
    read_visits,
    shared_out,
    write_plan,
)
from twigcast.spark.worker.hops.hop import (
    HopTaskOutput,
    made_path,
    make_visits,
    spool_documents,
    write_hop,
)
from twigcast.spark.worker.hops.needless import count_needless
from twigcast.spark.worker.hops.tables import HopTables, tables_of, write_tables
from twigcast.spark.worker.labels import labels_of
from twigcast.spark.worker.matching import match_batches
from twigcast.spark.worker.parquet_parts import DEAD_LETTERS, DELIVERIES, write_outcomes

SCHEMAS = {table: parquet_schema(TABLES[table]) for table in (DELIVERIES, DEAD_LETTERS)}
Document = tuple[str, bytes | str | None, str | None]
"""Name, content and origin; a batch has text or bytes."""


@dataclass(frozen=True)
class Found:
    """All that a plan tells, in an order that both plans have."""

    deliveries: Counter[tuple[Any, ...]]
    dead_letters: Counter[tuple[Any, ...]]
    documents: int
    bytes: int
    traffic: dict[int, tuple[int, ...]]


class Stage:
    """A network, its subscriptions, and a folder for what workers write."""

    def __init__(
        self,
        folder: Path,
        topology: Mapping[str, object],
        asked: Sequence[tuple[str, Pattern]],
        strategy: Strategy,
        advertisements: Mapping[str, int] | None = None,
    ) -> None:
        self.folder, self.strategy = folder, strategy
        for table in SCHEMAS:
            (folder / table).mkdir()
        whole = Topology.of(topology).tree()
        self.tree = BrokerTree.of(whole)
        self.patterns = [pattern for _, pattern in asked]
        brokers = [broker for broker, _ in asked]
        subscriptions = [
            Subscription(number, pattern.text, f"s{number}", broker, line=number)
            for number, (broker, pattern) in enumerate(asked)
        ]
        self.labels = labels_of(SubscriptionFile(tuple(subscriptions)), self.tree)
        self.places = [self.tree.number(broker) or 0 for broker in brokers]
        advertised = {
            broker: (advertisement_of(number),) for broker, number in (advertisements or {}).items()
        }
        own: dict[str, list[Pattern]] = {}
        for broker, pattern in asked:
            own.setdefault(broker, []).append(pattern)
        said = spread(whole, strategy, own, advertised).forwarded
        self.routes = pa.table(
            {
                "broker": [link[0] for link, all_ in said.items() for _ in all_],
                "neighbour": [link[1] for link, all_ in said.items() for _ in all_],
                "pattern": [each.text for all_ in said.values() for each in all_],
            },
            schema=pa.schema(dict.fromkeys(("broker", "neighbour", "pattern"), pa.string())),
        )
        self._prepare(said, advertised)

    def _prepare(self, said: Mapping[Any, Any], advertised: Mapping[str, Any]) -> None:
        self.matcher = Matcher()
        for position, pattern in enumerate(self.patterns):
            self.matcher.add(position, pattern)
        led: dict[Pattern, list[int]] = {}
        for (broker, far), patterns in said.items():
            link = self.tree.link(self.tree.names.index(broker), self.tree.names.index(far))
            for pattern in patterns:
                led.setdefault(pattern, []).append(link)
        is_read_off = self.strategy.perfect or self.strategy.floods
        for number, pattern in enumerate({} if is_read_off else led, start=len(self.patterns)):
            self.matcher.add(number, pattern)
        places = self.labels.column("broker").indices.to_numpy()  # type: ignore[attr-defined]
        self.crossing_model = crossing_model(
            self.tree,
            self.strategy,
            origin=0,
            brokers=places,
            routes=[] if is_read_off else list(led.values()),
            advertisements={
                self.tree.names.index(broker): each for broker, each in advertised.items()
            },
        )

    # Two plans.

    def fused(self, documents: Sequence[Document], count: int = 1) -> Found:
        outcomes = match_batches(
            batches(documents, count), self.matcher, crossing_model=self.crossing_model
        )
        (receipt,) = self._written(outcomes, "fused")
        links: dict[int, tuple[int, ...]] = {
            each.pop("link"): tuple(each.values()) for each in receipt["traffic"]
        }
        return self._found([receipt], receipt["documents"], receipt["bytes"], links)

    def hops(self, documents: Sequence[Document], tasks: int = 1) -> Found:
        tables = self.tables()
        first = [self._hop(partial(self._spooled, few)) for few in batches(documents, tasks)]
        receipts, last, number = [*first], first, 0
        while pieces := [
            VisitPiece(each["part"], **piece) for each in last for piece in each["pieces"]
        ]:
            plan = f"{self.folder}/hop-{number}-{uuid4().hex}.arrow"
            runs = shared_out(pieces, tasks)
            write_plan(plan, runs)
            last = [
                self._hop(partial(self._visited, plan, task, tables, number))
                for task in range(len(runs))
            ]
            receipts += last
            number += 1
        return self._found(
            receipts,
            sum(each["documents"] for each in first),
            sum(each["bytes"] for each in first),
            self._traffic(receipts),
        )

    def tables(self) -> HopTables:
        """The file of tables, as workers have it."""
        found = tables_of(
            self.tree,
            self.strategy,
            patterns=self.patterns,
            places=self.places,
            routes=self.routes,
        )
        file = write_tables(self.folder, found.values(), self.strategy)
        return HopTables(str(file.path), file.version, self.strategy)

    def _spooled(self, few: pa.RecordBatch, hop: HopTaskOutput) -> Iterator[pa.RecordBatch]:
        return spool_documents(
            [few],
            hop,
            folder=str(self.folder),
            spool=uuid4().bytes,
            crossing_model=self.crossing_model,
        )

    def _visited(
        self, plan: str, task: int, tables: HopTables, number: int, hop: HopTaskOutput
    ) -> Iterator[pa.RecordBatch]:
        visits = read_visits(str(self.folder), plan, task)
        folder = str(self.folder)
        return make_visits(visits, hop, folder=folder, tree=self.tree, tables=tables, hops=number)

    def _hop(self, outcomes: Callable[[HopTaskOutput], Iterator[pa.RecordBatch]]) -> dict[str, Any]:
        part = f"part-{uuid4()}.parquet"
        counted = not (self.strategy.perfect and self.strategy.towards == "all")
        hop = HopTaskOutput(str(self.folder), part, is_counted=counted)
        (receipt,) = write_hop(
            outcomes(hop),
            hop,
            folder=str(self.folder),
            part=part,
            schemas=SCHEMAS,
            labels=self.labels,
            crossing_model=self.crossing_model,
        )
        return dict(receipt.to_pylist()[0])

    def _written(self, outcomes: Iterator[pa.RecordBatch], part: str) -> list[dict[str, Any]]:
        (receipt,) = write_outcomes(
            outcomes,
            folder=str(self.folder),
            part=part,
            schemas=SCHEMAS,
            labels=self.labels,
            crossing_model=self.crossing_model,
        )
        return [dict(row) for row in receipt.to_pylist()]

    # What they tell.

    def _traffic(self, receipts: list[dict[str, Any]]) -> dict[int, tuple[int, ...]]:
        sums: dict[int, list[int]] = {}
        for each in receipts:
            for row in each["traffic"]:
                link = sums.setdefault(row["link"], [0, 0, 0, 0])
                link[0] += row["documents"]
                link[1] += row["bytes"]
        made = [made_path(str(self.folder), each["part"]) for each in receipts if each["visits"]]
        visits = [batch for path in made for batch in pq.read_table(path).to_batches()]
        for counted in count_needless(visits, self.tree):
            for row in counted.to_pylist():
                sums[row["link"]][2:] = row["needless"], row["needless_bytes"]
        return {link: tuple(each) for link, each in sums.items()}

    def _found(
        self,
        receipts: list[dict[str, Any]],
        documents: int,
        size: int,
        traffic: dict[int, tuple[int, ...]],
    ) -> Found:
        rows: dict[str, Counter[tuple[Any, ...]]] = {table: Counter() for table in SCHEMAS}
        for table, counted in rows.items():
            for each in receipts:
                if each[table]:
                    read = pq.read_table(self.folder / table / each["part"]).to_pylist()
                    counted.update(tuple(row.values()) for row in read)
        return Found(rows[DELIVERIES], rows[DEAD_LETTERS], documents, size, traffic)


def batches(documents: Sequence[Document], count: int) -> list[pa.RecordBatch]:
    share = -(-len(documents) // count)
    runs = [documents[start : start + share] for start in range(0, len(documents), share)]
    return [_batch(run) for run in runs]


def _batch(documents: Sequence[Document]) -> pa.RecordBatch:
    names, contents, origins = zip(*documents, strict=True)
    kind = pa.string() if any(isinstance(each, str) for each in contents) else pa.binary()
    return pa.RecordBatch.from_arrays(
        [pa.array(names, pa.string()), pa.array(contents, kind), pa.array(origins, pa.string())],
        ["document", "content", "origin"],
    )


def drawn_stage(folder: Path, strategy: Strategy, rng: Random) -> tuple[Stage, list[Document]]:
    """A network, subscriptions and documents by chance, broken ones and lost ones among them."""
    theme = WILDCARDS if strategy.protocol != "none" else rng.choice(list(THEMES.values()))
    topology = rng.choice(
        [line(5), star(6), tree([rng.randrange(99) for _ in range(rng.randint(1, 10))])]
    )
    brokers = topology["brokers"]
    asked = [(rng.choice(brokers), rng.choice(theme.spoken).pattern) for _ in range(25)]
    advertisements = {broker: rng.choice(theme.schemas) for broker in brokers if rng.random() < 0.5}
    stage = Stage(folder, topology, asked, strategy, advertisements)
    contents: list[bytes | None] = [rng.choice(theme.documents) for _ in range(25)]
    contents += [None, b"<a>", b"", b"<a/>", b"<a/>"]
    documents: list[Document] = [
        (f"d{number % 28}", content, rng.choice([*brokers, None, None, "nowhere"]))
        for number, content in enumerate(contents)
    ]
    return stage, documents
