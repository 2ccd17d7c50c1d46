"""Workers bring documents from broker to broker, and the tables are those of the plan ``fused``.

Here the hops are made in this process, one task after the other, shared out as the driver does.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from hashlib import sha256
from pathlib import Path
from random import Random
from types import SimpleNamespace
from typing import Any
from uuid import uuid4

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from tests.routing.networks import line, star, tree
from tests.routing.vocabulary import STRATEGIES, THEMES, WILDCARDS, advertisement_of, annotating
from twigcast.errors import UsageError
from twigcast.files import Subscription, SubscriptionFile
from twigcast.language import Pattern
from twigcast.matching import Matcher
from twigcast.routing import Topology
from twigcast.routing.static.route_computation import spread
from twigcast.routing.strategy import Strategy, advertised, covering, flooding, piggyback
from twigcast.spark.storage.tables import TABLES, parquet_schema
from twigcast.spark.worker.broker_tree import BrokerTree
from twigcast.spark.worker.crossings import crossing_model
from twigcast.spark.worker.hops import hop as hop_worker
from twigcast.spark.worker.hops import tables as hop_tables
from twigcast.spark.worker.hops.decisions import BatchDecision, Visited, answers_to
from twigcast.spark.worker.hops.files import (
    HOP_VISITS,
    SPOOLED,
    NextVisits,
    RecordPart,
    VisitPiece,
    ahead_path,
    forget_files,
    read_documents,
    read_visits,
    shared_out,
    spool_path,
    spooled,
    write_plan,
)
from twigcast.spark.worker.hops.hop import (
    MADE,
    HopTaskOutput,
    made_path,
    make_visits,
    spool_documents,
    write_hop,
)
from twigcast.spark.worker.hops.needless import count_needless
from twigcast.spark.worker.hops.tables import HopTables, tables_of, write_tables
from twigcast.spark.worker.labels import labels_of
from twigcast.spark.worker.matching import BATCH_BYTES_MAX, BATCH_DOCUMENTS_MAX, match_batches
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


ANNOTATING = [
    *annotating("lazy", "+s-sd"),
    *annotating("eager", "+s"),
    piggyback("adaptive", "+sd-sd"),
]


@pytest.mark.parametrize("strategy", [*STRATEGIES, *ANNOTATING], ids=str)
def test_both_plans_give_the_same_under(strategy: Strategy, tmp_path: Path) -> None:
    rng = Random(f"hops, {strategy}")
    stage, documents = drawn_stage(tmp_path, strategy, rng)
    expected = stage.fused(documents)
    assert expected.deliveries
    assert expected.dead_letters
    for tasks in (1, 3):
        assert stage.hops(documents, tasks) == expected


ENCODINGS = ("UTF-16", "US-ASCII", "ISO-8859-1", "UTF-8")


@pytest.mark.parametrize("strategy", [covering(), *ANNOTATING], ids=str)
def test_text_was_decoded_already_whatever_it_declares(strategy: Strategy, tmp_path: Path) -> None:
    asked = [("B3", Pattern.parse(each)) for each in ("/a[b = 'é']", "//b", "/a[b = 'Ã©']")]
    stage = Stage(tmp_path, line(3), asked, strategy)
    documents: list[Document] = []
    for encoding in ENCODINGS:
        text = f'<?xml version="1.0" encoding="{encoding}"?><a><b>é</b></a>'
        encoded = text.encode(encoding, "xmlcharrefreplace")
        documents += [(f"{encoding}, decoded", text, None), (encoding, encoded, None)]
    documents.sort(key=lambda document: isinstance(document[1], str))
    expected = stage.fused(documents, 2)
    assert not expected.dead_letters
    received = {(row[0], row[2]) for row in expected.deliveries}
    assert received == {(name, which) for name, _, _ in documents for which in ("0", "1")}
    hashes = {row[0]: row[1] for row in expected.deliveries}
    for name, content, _ in documents:
        published = content.encode() if isinstance(content, str) else content
        assert hashes[name] == sha256(published or b"").hexdigest()
    assert stage.hops(documents, 2) == expected


@pytest.mark.parametrize("encoding", ENCODINGS)
def test_text_is_held_to_what_is_advertised_whatever_it_declares(
    encoding: str, tmp_path: Path
) -> None:
    asked = [("B2", Pattern.parse("/a[b = 'nobody has this']"))]
    stage = Stage(tmp_path, line(2), asked, advertised(), {"B1": 0})
    declared = f'<?xml version="1.0" encoding="{encoding}"?>'
    for plan in (stage.fused, stage.hops):
        assert plan([("kept", f"{declared}<a><b>é</b></a>", None)]).traffic == {}
        assert plan([("departs", f"{declared}<a><z>é</z></a>", None)]).traffic.keys() == {0}


def test_an_undecided_pair_is_a_dead_letter_and_its_document_goes_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    costly = Pattern.parse("count(//*[count(//*) > 1]) > 1")
    stage = Stage(tmp_path, line(3), [("B2", costly), ("B3", costly)], covering())
    stage.matcher = Matcher(residual_cost_max=10)
    for position, pattern in enumerate(stage.patterns):
        stage.matcher.add(position, pattern)
    frugal = partial(Matcher.from_buffer, residual_cost_max=10)
    monkeypatch.setattr(hop_tables, "Matcher", SimpleNamespace(from_buffer=frugal))
    document: Document = ("d", b"<a>" + b"<b/>" * 100 + b"</a>", None)
    expected = stage.fused([document])
    assert [row[1:3] for row in sorted(expected.dead_letters)] == [("0", "match"), ("1", "match")]
    assert len(expected.traffic) == 2
    assert stage.hops([document]) == expected


def test_what_nobody_foresaw_costs_a_document_the_rest_of_its_way(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked = [(f"B{number}", Pattern.parse("//a")) for number in (1, 2, 3)]
    stage = Stage(tmp_path, line(3), asked, covering())
    good: list[Document] = [(f"d{number}", b"<a/>", None) for number in range(5)]
    expected = stage.hops(good)

    def fails(visited: Visited, broker: Any) -> BatchDecision:  # noqa: ANN401
        if visited.broker == 1 and b"<a>poison</a>" in visited.documents["content"].to_pylist():
            raise KeyError("poison")
        return answers_to(visited, broker)

    monkeypatch.setattr(hop_worker, "answers_to", fails)
    found = stage.hops([*good[:3], ("poison", b"<a>poison</a>", None), *good[3:]])
    ((letter, count),) = found.dead_letters.items()
    assert (letter[0], letter[2], count) == ("poison", "internal", 1)
    assert "KeyError: 'poison'" in letter[3]
    assert sum(found.deliveries.values()) == sum(expected.deliveries.values()) + 1
    assert found.documents == 6


def test_what_a_task_that_fails_has_written_is_removed(tmp_path: Path) -> None:
    stage = Stage(tmp_path, line(2), [("B1", Pattern.parse("//a"))], flooding())

    def failing(hop: HopTaskOutput) -> Iterator[pa.RecordBatch]:
        for outcomes in stage._spooled(batches([("d", b"<a/>", None)], 1)[0], hop):
            yield outcomes
            raise OSError("no space left on the device")

    before = sorted(tmp_path.rglob("*.arrow"))
    with pytest.raises(OSError, match="no space left"):
        stage._hop(failing)
    left = set(tmp_path.rglob("*")) - {tmp_path / table for table in SCHEMAS} - set(before)
    assert {path.name.partition("-")[0] for path in left} <= {"spool"}, "nothing that counts"


# Files between hops.


def _visits(brokers: Sequence[int], size: int = 1) -> pa.RecordBatch:
    rows = [
        {"spool": b"s", "batch": 0, "row": row, "bytes": size, "broker": broker, "came_by": -1}
        for row, broker in enumerate(brokers)
    ]
    return pa.RecordBatch.from_pylist(
        [{**row, "flooded": False} for row in rows], schema=HOP_VISITS
    )


def test_visits_to_one_broker_come_together_in_batches_of_a_good_size(tmp_path: Path) -> None:
    folder, parts = str(tmp_path), ["one", "two"]
    pieces = []
    for part in parts:
        ahead = NextVisits(RecordPart(ahead_path(folder, part), "visits"), part)
        ahead.add(_visits([3, 1, 3] * 500))
        ahead.add(_visits([1] * 5, size=BATCH_BYTES_MAX // 2))
        ahead.add(_visits([7, 7]))
        ahead.finish()
        pieces += ahead.pieces
    assert sum(piece.rows for piece in pieces) == 2 * 1507
    assert all(piece.rows <= BATCH_DOCUMENTS_MAX for piece in pieces)
    assert all(piece.bytes <= BATCH_BYTES_MAX for piece in pieces)
    runs = shared_out(pieces, 4)
    assert 1 < len(runs) <= 4
    assert [piece.broker for run in runs for piece in run] == sorted(each.broker for each in pieces)
    write_plan(f"{folder}/plan", runs)
    read = [list(read_visits(folder, f"{folder}/plan", task)) for task in range(len(runs))]
    found = [batch for task in read for batch in task]
    assert all(len(set(batch.column("broker").to_pylist())) == 1 for batch in found)
    assert sum(map(len, found)) == 2 * 1507
    assert len(found) < len(pieces), "small pieces are put together"


def test_documents_are_found_again_whatever_the_order_of_visits(tmp_path: Path) -> None:
    folder = str(tmp_path)
    for spool in (b"a", b"b"):
        file = RecordPart(spool_path(folder, spool), "spool")
        for batch in range(3):
            rows = [{"document": f"{spool!r} {batch} {row}"} for row in range(4)]
            file.write(spooled(pa.RecordBatch.from_pylist(rows, schema=SPOOLED)))
        file.close()
    places = [(spool, batch, row) for spool in (b"a", b"b") for batch in range(3) for row in (3, 0)]
    Random(7).shuffle(places)
    told = [dict(zip(("spool", "batch", "row"), place, strict=True)) for place in places]
    found = read_documents(folder, pa.RecordBatch.from_pylist(told, schema=HOP_VISITS))
    expected = [f"{spool!r} {batch} {row}" for spool, batch, row in places]
    assert found.column("document").to_pylist() == expected


@pytest.mark.parametrize("kind", ["spool", "visits", "pieces", "brokers"])
def test_every_byte_between_hops_counts(tmp_path: Path, kind: str) -> None:
    """What is damaged or cut off is refused by name, or makes no difference."""
    stage = Stage(tmp_path, line(2), [("B1", Pattern.parse("//a"))], covering())
    folder, spool = str(tmp_path), b"s"
    contents = {"document": "d", "document_hash": "5e", "bytes": 4, "origin": 0, "content": b"<a/>"}
    file = RecordPart(spool_path(folder, spool), "spool")
    file.write(spooled(pa.RecordBatch.from_pylist([contents] * 3, schema=SPOOLED)))
    file.close()
    visit = {"spool": spool, "batch": 0, "row": 1, "bytes": 4, "broker": 0, "came_by": -1}
    ahead = NextVisits(RecordPart(ahead_path(folder, "p"), "visits"), "p")
    ahead.add(pa.RecordBatch.from_pylist([{**visit, "flooded": False}], schema=HOP_VISITS))
    ahead.finish()
    plan = f"{folder}/hop-0.arrow"
    write_plan(plan, [ahead.pieces])
    tables = stage.tables()

    def found() -> Any:  # noqa: ANN401
        forget_files()
        hop_tables._mapped.cache_clear()
        hop_tables._loaded_broker.cache_clear()
        (visits,) = read_visits(folder, plan, 0)
        broker: Any = tables.broker(0)
        documents = read_documents(folder, visits).to_pylist()
        return visits.to_pylist(), documents, broker.matcher.match("<a/>"), broker.links

    paths = {"spool": spool_path(folder, spool), "visits": ahead_path(folder, "p")}
    path = Path({**paths, "pieces": plan, "brokers": tables.path}[kind])
    content, expected = path.read_bytes(), found()
    for place in range(0, len(content), 1 if len(content) < 2_000 else 3):
        changed = content[:place] + bytes([content[place] ^ 0x11]) + content[place + 1 :]
        for written in (changed, content[:place]):
            path.write_bytes(written)
            try:
                assert found() == expected, place
            except UsageError as error:
                assert str(path) in str(error)  # noqa: PT017


def test_a_crossing_is_needless_if_nobody_behind_it_wants_the_document() -> None:
    """The example of the module, and the same document published a second time elsewhere."""
    network = {"links": [["north", "hub"], ["hub", "south"], ["hub", "west"]]}
    tree = BrokerTree.of(Topology.of(network))
    north, hub, south, west = range(4)
    made = [
        (0, north, -1, 0, False), (0, hub, north, 1, False), (0, south, hub, 2, True),
        (0, west, hub, 2, False), (1, west, -1, 0, True), (1, hub, west, 1, False),
    ]  # fmt: skip
    rows = [
        {"spool": b"s", "batch": 0, "row": row, "bytes": 10 + row, "broker": broker,
         "came_by": came_by, "hops": hops, "wanted": wanted}
        for row, broker, came_by, hops, wanted in made
    ]  # fmt: skip
    (found,) = count_needless([pa.RecordBatch.from_pylist(rows, schema=MADE)], tree)
    counted = {tree.links[row["link"]]: tuple(row.values())[1:] for row in found.to_pylist()}
    assert counted == {(hub, west): (1, 10), (west, hub): (1, 11)}


def test_tables_of_equal_content_have_one_name(tmp_path: Path) -> None:
    stage = Stage(tmp_path, line(3), [("B3", Pattern.parse("//a"))], piggyback())
    one, other = stage.tables(), stage.tables()
    assert one == other
    assert one.broker(1) is other.broker(1)
    assert one.loads == 1
    assert not list(tmp_path.glob("*.tmp"))
