"""A copy of what can be changed is one of its own, or is refused with what to do.

The classes come from ``__all__``, so whoever adds one that can be changed hears of it here.
"""

from __future__ import annotations

import copy
import dataclasses
import inspect
import pickle
from collections.abc import Callable
from importlib import import_module
from typing import Any, NamedTuple

import pytest

from tests.simulator.schedules import publishes, schedule, subscribes
from twigcast import CoverIndex, Document, Findings, Matcher, Network, Schema
from twigcast.covering import FactorizationTree, MergedSet, SubscriptionTree, Tally, Verdict
from twigcast.covering.index import native
from twigcast.errors import UsageError
from twigcast.routing import Router, RouterLimits, Traffic
from twigcast.routing.events import Change
from twigcast.simulator import Measured, Simulation

ROOMS = (
    "twigcast",
    "twigcast.covering",
    "twigcast.routing",
    "twigcast.simulator",
    "twigcast.spark",
)
DOCUMENT = b"<!DOCTYPE a [<!ENTITY e 'x'>]><a><b c='1'>&e;</b></a>"
LINKS = {"links": [["a", "b"], ["b", "c"], ["a", "c"]]}


def pickled(made: object) -> Any:  # noqa: ANN401
    return pickle.loads(pickle.dumps(made))


COPIES = pytest.mark.parametrize("copied", [copy.copy, copy.deepcopy, pickled])


class Case(NamedTuple):
    """How to make an object, what is seen of it, and a change that is seen."""

    make: Callable[[], Any]
    seen: Callable[[Any], object]
    change: Callable[[Any], object] = lambda made: None  # noqa: ARG005  # Some have none.


def network() -> Network:
    made = Network(LINKS, "covering")
    made.subscribe("c", "ann", "//b[@c]")
    made.unsubscribe(made.subscribe("c", "bob", "//b"))
    made.advertise("a", b"<!ELEMENT a (b*)><!ELEMENT b ANY>", publisher="p")
    made.remove_link("a", "c")
    made.publish("a", DOCUMENT)
    return made


def seen_of_network(made: Network) -> object:
    tables = [made.tables(one) for one in made.brokers]
    outcome = made.publish("a", DOCUMENT)
    delivered = [(one.subscriber, one.subscription) for one in outcome.deliveries]
    return made.topology, made.strategy, tables, repr(made), delivered, outcome.crossings


def change_network(made: Network) -> None:
    made.add_link("a", "c")
    made.subscribe("a", "eve", "//*")


def cover_index(engine: Any = "auto") -> CoverIndex:  # noqa: ANN401
    made = CoverIndex(engine, budget=5_000)
    for one, text in enumerate(["//a", "//a", "/a/b", "/a//b", "//d", "//a"]):
        made.add(one, text)
    made.remove(0)
    return made


def seen_of_index(made: CoverIndex) -> object:
    return made.roots(), made.covering("/a/b[c]"), made.covered("/a//b"), made.pattern(5), len(made)


def change_index(made: CoverIndex) -> None:
    made.add(7, "//*")
    made.remove(2)


def factorization_tree() -> FactorizationTree:
    made = FactorizationTree()
    for one, text in enumerate(["/a/b/c", "/a" * 60, "/a/b//d", "/a[c]"]):
        made.add(one, text)
    made.remove(0)
    return made


def change_factorization(made: FactorizationTree) -> None:
    made.add(7, "/a")
    made.remove(1)


def subscription_tree() -> SubscriptionTree:
    made = SubscriptionTree(budget=5_000)
    made.subscribe(1, "/a/b")
    made.subscribe(2, "/a//b")
    return made


def merged_set() -> MergedSet:
    made = MergedSet(Schema.parse(b"<!ELEMENT a (b|c)*><!ELEMENT b EMPTY><!ELEMENT c EMPTY>"))
    made.add("/a/b")
    made.add("/a/c")
    made.merge()
    return made


def change_merged(made: MergedSet) -> None:
    made.add("/a")
    made.remove("/a/b")


def traffic() -> Traffic:
    made = Traffic()
    made.count(("a", "b"), Change(1, 1))
    return made


def seen_of_findings(made: Findings) -> object:
    return str(made), dict(made), made.undecided


CASES = {
    Matcher: Case(
        lambda: Matcher({1: "//b", "x": "//c"}, document_cost_max=7_000),
        lambda made: (made.match(DOCUMENT), len(made), made._document_cost_max),
        lambda made: made.remove(1),
    ),
    Network: Case(network, seen_of_network, change_network),
    CoverIndex: Case(cover_index, seen_of_index, change_index),
    FactorizationTree: Case(
        factorization_tree,
        lambda made: (made.covered("//*"), made.covering("/a/b/d"), made.statistics()),
        change_factorization,
    ),
    SubscriptionTree: Case(
        subscription_tree,
        lambda made: (made.forwarded(), made.statistics()),
        lambda made: made.unsubscribe(2),
    ),
    MergedSet: Case(
        merged_set,
        lambda made: (made.patterns(), made.merger_of("/a/c"), made.merged),
        change_merged,
    ),
    Traffic: Case(
        traffic,
        lambda made: (made.by_link(), made.total("bytes"), made.total()),
        lambda made: made.count(("a", "b"), Change(1, 2)),
    ),
    Tally: Case(Tally, repr, lambda made: made.count(Verdict(True, True))),  # noqa: FBT003
    Document: Case(
        lambda: Document.parse(DOCUMENT, name="a.xml"),
        lambda made: (made.content, made.name, made.element_count, made.grows),
    ),
    Findings: Case(lambda: Matcher(["//b"]).find(DOCUMENT), seen_of_findings),
    Measured: Case(Measured, type),
}
"""What has copies."""

REFUSED: dict[str, Callable[[], object]] = {
    "Router": lambda: Router("a"),
    "Simulation": lambda: Simulation(
        schedule([["a", "b"]], [subscribes("a", 1, "//b")], [publishes("b", "p")])
    ),
    "Pipeline": lambda: made_by_spark("Pipeline"),
    "Stream": lambda: made_by_spark("Stream"),
}
"""What has none."""


def made_by_spark(name: str) -> object:
    pytest.importorskip("pyspark")
    kind = getattr(import_module("twigcast.spark"), name)
    return kind.__new__(kind)


def changing_classes() -> set[str]:
    """The public classes whose objects are no values."""
    found = set()
    for room in map(import_module, ROOMS):
        if room.__name__ == "twigcast.spark":
            pytest.importorskip("pyspark")
        for name in room.__all__:
            made = getattr(room, name)
            if not inspect.isclass(made) or issubclass(made, BaseException | tuple):
                continue
            options: Any = getattr(made, "__dataclass_params__", None)
            if not (dataclasses.is_dataclass(made) and options.frozen):
                found.add(name)
    return found


def test_every_class_that_can_change_is_known_here() -> None:
    assert changing_classes() == {kind.__name__ for kind in CASES} | set(REFUSED)


ALL = pytest.mark.parametrize("kind", CASES, ids=lambda kind: kind.__name__)


@ALL
@COPIES
def test_a_copy_is_one_of_its_own(copied: Callable[[Any], Any], kind: type) -> None:
    make, seen, change = CASES[kind]
    made, untouched = make(), seen(make())
    twin = copied(made)
    assert type(twin) is kind
    assert seen(twin) == untouched
    change(twin)
    assert seen(made) == untouched
    changed = seen(twin)
    again = copied(made)
    change(made)
    assert seen(again) == untouched
    assert seen(made) == changed


class Beside:
    """What a subclass may add: an ``__init__`` that takes something else, and keeps it."""

    def __init__(self, kept: list[str], *rest: Any) -> None:  # noqa: ANN401
        super().__init__(*rest)
        self.kept = kept


class OwnMatcher(Beside, Matcher):
    pass


class OwnNetwork(Beside, Network):
    pass


class OwnCoverIndex(Beside, CoverIndex):
    pass


class OwnFactorizationTree(Beside, FactorizationTree):
    __slots__ = ("slot",)


class OwnSubscriptionTree(Beside, SubscriptionTree):
    pass


class OwnMergedSet(Beside, MergedSet):
    pass


class OwnTraffic(Beside, Traffic):
    pass


@pytest.mark.parametrize(
    ("kind", "more"),
    [
        (OwnMatcher, [["//b"]]),
        (OwnNetwork, [LINKS, "covering"]),
        (OwnCoverIndex, ["python"]),
        (OwnFactorizationTree, []),
        (OwnSubscriptionTree, []),
        (OwnMergedSet, [None]),
        (OwnTraffic, []),
    ],
)
@COPIES
def test_a_subclass_may_have_another_init(
    copied: Callable[[Any], Any], kind: Callable[..., Any], more: list[object]
) -> None:
    made: Any = kind(["x"], *more)
    if kind is OwnFactorizationTree:
        made.slot = 5
    twin: Any = copied(made)
    assert type(twin) is kind
    assert twin.kept == ["x"]
    assert getattr(twin, "slot", None) == getattr(made, "slot", None)
    if kind is OwnNetwork:
        assert twin.subscribe("a", "ann", "//b")
        assert repr(made) != repr(twin)


@pytest.mark.parametrize("name", REFUSED)
@COPIES
def test_what_has_no_copy_says_what_to_do(copied: Callable[[Any], Any], name: str) -> None:
    made = REFUSED[name]()
    with pytest.raises(UsageError, match=f"a {name} is not copied; "):
        copied(made)


@pytest.mark.parametrize("engine", ["python", "native"])
@COPIES
def test_a_copied_index_has_engine_and_budget(copied: Callable[[Any], Any], engine: str) -> None:
    if engine == "native" and not native.AVAILABLE:
        pytest.skip("the kernel is not installed")
    made = cover_index(engine)
    made.covering("//b")
    twin = copied(made)
    assert (twin.engine, twin._budget) == (engine, 5_000)
    assert twin.statistics().searches == 0
    assert seen_of_index(twin) == seen_of_index(made)


@COPIES
def test_a_copied_network_counts_on_and_reports_for_itself(copied: Callable[[Any], Any]) -> None:
    limits = RouterLimits(links_max=5)
    made = Network(LINKS, "covering", engine="streaming", limits=limits)
    first = made.subscribe("c", "ann", "//b")
    twin = copied(made)
    assert twin.traffic.total() == 0
    assert twin.subscribe("a", "bob", "//b") == made.subscribe("a", "bob", "//b") == first + 1
    assert {router._engine for router in twin._routers.values()} == {"streaming"}
    assert {router.limits.links_max for router in twin._routers.values()} == {5}
    for router in twin._routers.values():
        assert router._failures.report.func.__self__ is twin
    twin.unsubscribe(first)
    assert len(made.publish("a", DOCUMENT).deliveries) == 2
    assert len(twin.publish("a", DOCUMENT).deliveries) == 1


@COPIES
def test_a_network_in_two_parts_is_copied_and_one_inside_a_batch_is_not(
    copied: Callable[[Any], Any],
) -> None:
    made = Network({"links": [["a", "b"]]})
    made.subscribe("b", "ann", "//b")
    made.remove_link("a", "b")
    twin = copied(made)
    assert twin.publish("a", DOCUMENT).deliveries == ()
    twin.add_link("a", "b")
    assert len(twin.publish("a", DOCUMENT).deliveries) == 1
    with made.batch(), pytest.raises(UsageError, match="behind the block"):
        copied(made)
