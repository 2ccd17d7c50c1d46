"""Callers' slips are told as such: no public entrance answers an odd value with an InternalError.

Every parameter of every entrance that :mod:`tests.test_doors` knows is given every odd value in
turn. The call may succeed, or raise an error of ours that says what is wrong; and where it raises,
the object that it was asked of is what it was before.
"""

from __future__ import annotations

import dataclasses
import inspect
import warnings
from collections.abc import Callable, Iterator
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

from tests.simulator.schedules import publishes, schedule, subscribes
from tests.test_doors import CALLED_BY_US, ROOMS, entrances
from twigcast import Document, Matcher, Network, Pattern, Schema
from twigcast.covering import (
    Advertisement,
    CoverIndex,
    FactorizationTree,
    MergedSet,
    SubscriptionTree,
    aggregate,
    merge_degree,
)
from twigcast.covering.paths.automaton import AutomatonLimits
from twigcast.door import door
from twigcast.errors import InternalError, TwigcastError, UsageError
from twigcast.files import (
    PublicationLimits,
    SubscriptionLimits,
    list_documents,
    read_subscriptions,
    write_index,
)
from twigcast.language import DocumentLimits, PatternLimits, SchemaLimits
from twigcast.routing import Router, RouterLimits, Topology, Traffic, flooding, piggyback
from twigcast.routing.annotations.annotations import AnnotationLimits
from twigcast.routing.events import (
    BrokerId,
    Change,
    Decide,
    Deliver,
    LinkUp,
    Publication,
    Publish,
    SubscriptionId,
)
from twigcast.routing.path_unit.path_messages import PathLimits
from twigcast.routing.topology.model import TopologyLimits
from twigcast.routing.wire import frames as wire
from twigcast.routing.wire.frames import WireLimits
from twigcast.simulator import Results, Scenario, Schedule, Simulation, SimulationLimits

DOCUMENT = b"<a><b c='1'>2</b></a>"
DTD = b"<!ELEMENT a (b*)><!ELEMENT b (#PCDATA)>"
SCENARIO = {
    "topology": {"links": [["a", "b"]]},
    "workload": {"dtds": ["parts"], "subscriptions": 1, "documents": 1},
}
PUBLICATION = Publication("p", BrokerId("here"), "ann", DOCUMENT)


class Raised(Exception):  # noqa: N818  # It is the caller's, and no error of ours.
    """What a caller's own code raises."""


class Lying:
    """A path that is none."""

    def __fspath__(self) -> Any:  # noqa: ANN401
        return 5


class Failing:
    """A path, an iterable and a mapping that fails."""

    def __fspath__(self) -> str:
        raise Raised

    def __iter__(self) -> Iterator[object]:
        raise Raised

    def keys(self) -> object:
        raise Raised


class Text(str):
    """A text all the same."""

    __slots__ = ()


class Unshowable:
    """A value that cannot even be told."""

    def __repr__(self) -> str:
        raise Raised


def failing_iterator() -> Iterator[object]:
    yield 1
    raise Raised


def released() -> memoryview:
    view = memoryview(b"abc")
    view.release()
    return view


def mutual() -> list[object]:
    inner: list[object] = []
    inner.append(inner)
    return inner


ODD: dict[str, Callable[[], object]] = {
    "None": lambda: None,
    "5": lambda: 5,
    "-1": lambda: -1,
    "0": lambda: 0,
    "10**5000": lambda: 10**5000,
    "2**64": lambda: 2**64,
    "True": lambda: True,
    "nan": lambda: float("nan"),
    "inf": lambda: float("inf"),
    "empty text": lambda: "",
    "surrogate": lambda: "\ud800",
    "control": lambda: "\x1b[2J\n",
    "zero": lambda: "a\0b",
    "text": lambda: "nobody knows",
    "str subclass": lambda: Text("b//c"),
    "no bytes": lambda: b"",
    "bytes": lambda: b"\xff",
    "[]": list,
    "[[]]": lambda: [[]],
    "[5]": lambda: [5],
    "[None]": lambda: [None],
    "[10**5000]": lambda: [10**5000],
    "[surrogate]": lambda: ["\ud800"],
    "nested lists": lambda: [[[["a"]]]],
    "a list in itself": mutual,
    "{}": dict,
    "{'a': 5}": lambda: {"a": 5},
    "{'a': None}": lambda: {"a": None},
    "{'a': [[]]}": lambda: {"a": [[]]},
    "{'a': [10**5000]}": lambda: {"a": [10**5000]},
    "{'a': surrogate}": lambda: {"a": "\ud800"},
    "{5: 'a'}": lambda: {5: "a"},
    "{5: [5]}": lambda: {5: [5]},
    "{None: [5]}": lambda: {None: [5]},
    "{surrogate: 'urn:a'}": lambda: {"\ud800": "urn:a"},
    "mixed set": lambda: {1, "a", None, 2.5, (1,)},
    "tuple": lambda: (1, "a"),
    "object": object,
    "class": lambda: int,
    "function": lambda: len,
    "released": released,
    "view": lambda: memoryview(b"abcd").cast("I"),
    "failing iterator": failing_iterator,
    "generator": lambda: iter([[], 1]),
    "lying path": Lying,
    "failing": Failing,
    "unshowable": Unshowable,
    "folder": Path,
    "complex": lambda: 1j,
    "pattern": lambda: Pattern("//a"),
}


def matcher_of(rules: object, engine: str) -> Matcher:
    made = Matcher(rules, engine=engine)  # type: ignore[arg-type]
    if engine == "streaming":
        made.watch(1, "/a")
        made.watch("w", "/a/b")
    return made


def network() -> Network:
    made = Network({"links": [["n", "s"], ["s", "w"]]}, "covering")
    made.subscribe("s", "ann", "//b")
    made.advertise("n", DTD, publisher="p")
    return made


def told_matcher(made: Matcher) -> object:
    here = [len(made), made.match(DOCUMENT), made.statistics().subscriptions, made.to_bytes()]
    if made.statistics().engine == "streaming":
        here.append(made.follow(DOCUMENT, eager=False))
    return here


def told_network(made: Network) -> object:
    outcome = made.publish("n", DOCUMENT)
    delivered = [(each.subscriber, each.subscription) for each in outcome.deliveries]
    tables = [made.tables(name) for name in made.brokers]
    return delivered, outcome.crossings, tables, made.topology, repr(made)


def router() -> Router:
    made = Router("here", piggyback())
    made.handle(LinkUp(BrokerId("there")), now=0.0)
    made.handle(Publish(PUBLICATION), now=0.0)
    return made


def question() -> Decide:
    """What such a router has asked about its document."""
    made = Router("here", piggyback())
    made.handle(LinkUp(BrokerId("there")), now=0.0)
    asked = made.handle(Publish(PUBLICATION), now=0.0)
    return next(one for one in asked if isinstance(one, Decide))


def cover_index() -> CoverIndex:
    made = CoverIndex()
    made.add(1, "//a")
    return made


def factorization_tree() -> FactorizationTree:
    made = FactorizationTree()
    made.add(1, "/a/b")
    return made


def subscription_tree() -> SubscriptionTree:
    made = SubscriptionTree()
    made.subscribe(1, "//a")
    return made


def merged_set() -> MergedSet:
    made = MergedSet(Schema.parse(DTD))
    made.add("/a/b")
    return made


def a_schedule() -> Schedule:
    return schedule([["a", "b"]], [subscribes("a", 1, "//b")], [publishes("b", "p")])


def scenario() -> Scenario:
    return Scenario.of(SCENARIO, name="s", folder=Path())


def results() -> Results:
    return Simulation(a_schedule()).run()


def same(_: object) -> None:
    """What does not change."""


RECEIVERS: dict[str, tuple[list[Callable[[], Any]], Callable[[Any], object]]] = {
    "Matcher": (
        [
            partial(matcher_of, rules, engine)
            for engine in ("native", "streaming", "lxml")
            for rules in ({1: "//b", 2: "//c"}, {"x": "//b", 3: "/a/*"})
        ],
        told_matcher,
    ),
    "Network": ([network], told_network),
    "Router": ([router], lambda made: (made.tables(), made.statistics())),
    "CoverIndex": (
        [cover_index],
        lambda made: (made.roots(), made.covered("//*"), made.statistics()[:3]),
    ),
    "FactorizationTree": ([factorization_tree], lambda made: (made.covered("//*"), len(made))),
    "SubscriptionTree": (
        [subscription_tree],
        lambda made: (made.forwarded(), made.statistics()),
    ),
    "MergedSet": ([merged_set], lambda made: (made.patterns(), made.merger_of("/a/b"))),
    "Advertisement": ([lambda: Advertisement.of_schema(Schema.parse(DTD))], same),
    "Aggregation": ([lambda: aggregate(["/a/b", "/a/c"], steps_max=3)], same),
    "Degree": (
        [lambda: merge_degree(Pattern("/a"), [Pattern("/a/b")], schema=Schema.parse(DTD))],
        same,
    ),
    "Finding": ([lambda: Matcher({1: "//b"}).find(DOCUMENT)[1]], same),
    "Explanation": ([lambda: import_module("twigcast").explain("//b", DOCUMENT)], same),
    "Topology": ([lambda: Topology.of({"links": [["n", "s"]]})], lambda made: made.to_table()),
    "Traffic": ([Traffic], lambda made: made.by_link()),
    "Assembler": ([wire.Assembler], lambda made: (made.held_bytes, made.held_routes)),
    "Schema": ([lambda: Schema.parse(DTD)], same),
    "Results": ([results], same),
    "Simulation": ([lambda: Simulation(a_schedule())], same),
    "Pattern": ([lambda: Pattern("//b")], same),
}
"""How to make an object of each class, and what tells whether it is what it was."""

FRAME = wire.encode(Change(1, 1))

SEARCHES = ("CoverIndex", "FactorizationTree", "SubscriptionTree")

NEEDED: dict[str, Callable[[], dict[str, Any]]] = {
    "Advertisement.of_schema": lambda: {"schema": Schema.parse(DTD)},
    "Advertisement.of_documents": lambda: {"documents": [Document.parse(DOCUMENT)]},
    "Advertisement.of_expressions": lambda: {"expressions": ["/a/b"]},
    "Advertisement.parse": lambda: {"text": Advertisement.of_expressions(["/a/b"]).text},
    "Advertisement.includes": lambda: {"document": Document.parse(DOCUMENT)},
    "Advertisement.departure": lambda: {"document": Document.parse(DOCUMENT)},
    "CoverIndex.pattern": lambda: {"id": 1},
    **{f"{search}.add": lambda: {"id": 7, "pattern": "/a/c"} for search in SEARCHES},
    **{f"{search}.remove": lambda: {"id": 1} for search in SEARCHES},
    **{f"{search}.covered": lambda: {"pattern": "/a"} for search in SEARCHES},
    **{f"{search}.covering": lambda: {"pattern": "/a/b"} for search in SEARCHES},
    "SubscriptionTree.subscribe": lambda: {"id": 7, "pattern": "//b"},
    "SubscriptionTree.unsubscribe": lambda: {"id": 1},
    "MergedSet.__init__": lambda: {"schema": Schema.parse(DTD)},
    "MergedSet.merger_of": lambda: {"pattern": "/a/b"},
    "MergedSet.parts_of": lambda: {"merger": "/a/b"},
    "MergedSet.add": lambda: {"pattern": "/a"},
    "MergedSet.under": lambda: {"schema": Schema.parse(DTD)},
    "Degree.within": lambda: {"bound": 0.5},
    "advertisement_covers": lambda: {
        "wider": Advertisement.of_expressions(["/a/b"]),
        "narrower": Advertisement.of_expressions(["/a/b"]),
    },
    "aggregate": lambda: {"patterns": ["/a/b"], "steps_max": 5},
    "decide": lambda: {"wider": "//a", "narrower": "/a"},
    "covers": lambda: {"wider": "//a", "narrower": "/a"},
    "overlaps": lambda: {"advertisement": Advertisement.of_expressions(["/a/b"]), "pattern": "//b"},
    "merge": lambda: {"patterns": ["/a/b", "/a"], "schema": Schema.parse(DTD)},
    "merge_degree": lambda: {
        "merger": Pattern("/a"),
        "parts": [Pattern("/a/b")],
        "schema": Schema.parse(DTD),
    },
    "paths_of": lambda: {"schema": Schema.parse(DTD)},
    "reduced": lambda: {"patterns": ["/a/b", "/a"]},
    "simple_bindings": lambda: {"aggregate": Pattern("/a"), "part": Pattern("/a")},
    "space_budget": lambda: {"patterns": ["/a/b"], "percent": 50.0},
    "Document.__init__": lambda: {"content": DOCUMENT, "tree": None, "name": None},
    "Document.parse": lambda: {"source": DOCUMENT},
    "Findings.__init__": lambda: {"findings": {}},
    "Pattern.parse": lambda: {"text": "//p:a", "namespaces": {"p": "urn:p"}},
    "Schema.parse": lambda: {"content": DTD},
    "Schema.children": lambda: {"name": "a"},
    "Schema.root_or": lambda: {"name": "a"},
    "explain": lambda: {"xpath": "//b", "document": DOCUMENT},
    "substituted": lambda: {"pattern": Pattern("/*"), "bindings": [(1, ("a",))]},
    "Matcher.add": lambda: {"id": 9, "xpath": "//d"},
    "Matcher.remove": lambda: {"id": 3},
    "Matcher.match": lambda: {"document": DOCUMENT},
    "Matcher.decide": lambda: {"document": DOCUMENT},
    "Matcher.find": lambda: {"document": DOCUMENT},
    "Matcher.groups": lambda: {"members": {"g": [1, 2]}},
    "Matcher.match_links": lambda: {"document": DOCUMENT, "groups": {"g": [1, 2]}},
    "Matcher.follow": lambda: {"document": DOCUMENT},
    "Matcher.watch": lambda: {"id": 9, "xpath": "/a"},
    "Matcher.unwatch": lambda: {"id": 1},
    "Matcher.bindings": lambda: {"document": DOCUMENT, "ids": []},
    "Matcher.match_batch": lambda: {"documents": import_module("pyarrow").array([DOCUMENT])},
    "Matcher.from_buffer": lambda: {"buffer": Matcher({1: "//b"}).to_bytes()},
    "Matcher.from_file": lambda: {"path": "rules.txt"},
    "Network.__init__": lambda: {"topology": {"links": [["n", "s"]]}},
    "Network.publish": lambda: {"broker": "n", "document": DOCUMENT},
    "Network.subscribe": lambda: {"broker": "n", "subscriber": "bob", "xpath": "//b"},
    "Network.unsubscribe": lambda: {"id": 1},
    "Network.advertise": lambda: {"broker": "n", "schema": DTD},
    "Network.unadvertise": lambda: {"id": 2},
    "Network.remove_link": lambda: {"one": "n", "other": "s"},
    "Network.add_link": lambda: {"one": "n", "other": "w"},
    "Network.tables": lambda: {"broker": "n"},
    "Network.statistics": lambda: {"broker": "n"},
    "Router.__init__": lambda: {"name": "here"},
    "Router.handle": lambda: {"event": LinkUp(BrokerId("east")), "now": 0.0},
    "Router.switch_to": lambda: {"strategy": piggyback("eager")},
    "Router.decide": lambda: {"effect": question()},
    "Topology.of": lambda: {"given": {"links": [["n", "s"]]}},
    "Topology.neighbours": lambda: {"broker": "n"},
    "Topology.link": lambda: {"one": "n", "other": "s"},
    "Traffic.count": lambda: {"direction": ("n", "s"), "message": Change(1, 1)},
    "flooding_notice": lambda: {"of": flooding(), "who": "ann", "remedy": "advertise"},
    "strategy": lambda: {"given": "best"},
    "Assembler.take": lambda: {"content": FRAME},
    "decode": lambda: {"content": FRAME},
    "decode_effect": lambda: {
        "content": wire.encode(Deliver("ann", SubscriptionId(1), PUBLICATION))
    },
    "decode_event": lambda: {"content": wire.encode(LinkUp(BrokerId("n")))},
    "encode": lambda: {"value": Change(1, 1)},
    "frames": lambda: {"message": Change(1, 1)},
    "received": lambda: {"link": "n", "content": FRAME},
    "refusal": lambda: {"event": LinkUp(BrokerId("n"))},
    "Results.total": lambda: {"kind": "publish"},
    "Scenario.of": lambda: {"given": SCENARIO, "name": "s", "folder": Path()},
    "Simulation.__init__": lambda: {"schedule": a_schedule()},
    "Simulation.play": lambda: {"then": ()},
    "Simulation.router": lambda: {"broker": "a"},
    "drawn_network": lambda: {"network": a_schedule().network, "results": results(), "title": "t"},
    "options_text": lambda: {"options": {"a": 1}},
    "read_scenario": lambda: {"path": "s.toml"},
    "simulate": lambda: {"scenario": scenario()},
    "generate_schedule": lambda: {"scenario": scenario()},
    "read_documents": lambda: {"paths": ["."]},
    "read_subscriptions": lambda: {"path": "rules.txt"},
    "compile_subscriptions": lambda: {
        "file": read_subscriptions("rules.txt"),
        "add": Matcher().add,
    },
    "gather_subscriptions": lambda: {"rows": []},
    "list_documents": lambda: {"paths": ["."]},
    "open_entries": lambda: {"entries": list(list_documents("."))},
    "read_index": lambda: {"path": write_index("index", Matcher({1: "//b"})).path},
    "read_topology": lambda: {"path": "t.json"},
    "topology_text": lambda: {"topology": Topology.of({"links": [["n", "s"]]})},
    "write_index": lambda: {"folder": "index", "matcher": Matcher({1: "//b"})},
    "write_topology": lambda: {
        "topology": Topology.of({"links": [["n", "s"]]}),
        "path": "t.json",
    },
}
"""What an entrance cannot be called without."""

TAKEN_FROM_US = CALLED_BY_US | {"PublicationLimits.unpacked_bytes_max", "Tally.count"}
"""What is public to be read, and is called by Twigcast itself, with what it has made."""


CALLBACKS = {"add", "clock", "compiled_of", "report", "resolve", "tell"}
"""Functions of the caller's: what they raise is its own, whatever it is."""


def tried() -> Iterator[tuple[str, str, Any]]:
    """Every entrance that takes something, once: its room, its name and what it is."""
    seen: set[object] = set()
    for room in ROOMS:
        for name, made in entrances(room):
            taken = [*inspect.signature(made).parameters][int("." in name) :]
            if taken and made not in seen and name not in TAKEN_FROM_US:
                seen.add(made)
                yield room, name, made


def callers(room: str, name: str) -> Iterator[tuple[Callable[[], Any], Any]]:
    """What makes the object that an entrance is asked of, and what tells how that object is."""
    if "." not in name:
        yield (lambda: None), same
        return
    kind, method = name.split(".")
    owner = getattr(import_module(room), kind)
    is_of_class = isinstance(inspect.getattr_static(owner, method), classmethod)
    if is_of_class or method == "__init__":
        yield (lambda: owner), same
        return
    makers, account = RECEIVERS[kind]
    for maker in makers:
        yield maker, account


def call(made: Any, name: str, receiver: object, arguments: dict[str, Any]) -> object:  # noqa: ANN401
    """Ask the entrance, and for all that it gives."""
    more = [
        arguments.pop(one.name)
        for one in inspect.signature(made).parameters.values()
        if one.kind is one.VAR_POSITIONAL and one.name in arguments
    ]
    if name.endswith(".__init__"):
        return receiver(*more, **arguments)  # type: ignore[operator]
    given = made(*([receiver] if "." in name else []), *more, **arguments)
    return list(given) if inspect.isgenerator(given) else given


def slips(room: str, name: str, made: Any) -> Iterator[str]:  # noqa: ANN401
    """What an entrance does wrong when it is given odd values."""
    taken = [*inspect.signature(made).parameters][int("." in name) :]
    for maker, account in callers(room, name):
        receiver = maker()
        before = account(receiver)
        for parameter in taken:
            for odd, value in ODD.items():
                if parameter in CALLBACKS and odd in {"class", "function"}:
                    continue
                arguments = NEEDED.get(name, dict)() | {parameter: value()}
                try:
                    call(made, name, receiver, arguments)
                except InternalError as error:
                    yield f"{name}({parameter}={odd}): {error}"
                except Raised:
                    pass  # It is the caller's own.
                except TwigcastError as error:
                    if not str(error).isprintable():
                        yield f"{name}({parameter}={odd}) tells raw {str(error)!r}"
                except Exception as error:  # noqa: BLE001 (that there is none is what is tested)
                    yield f"{name}({parameter}={odd}): {type(error).__name__}: {error!r}"
                else:
                    receiver = maker()
                    before = account(receiver)
                    continue
                if account(receiver) != before:
                    yield f"{name}({parameter}={odd}) has changed something"
                    receiver = maker()
                    before = account(receiver)


@pytest.fixture(autouse=True)
def _quietly_in_a_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.chdir(tmp_path)
    Path("rules.txt").write_text("//b\n")
    Path("t.json").write_text('{"links": [["n", "s"]]}')
    Path("s.toml").write_text('topology.links = [["a", "b"]]\nworkload.dtds = ["parts"]')
    Path("a.xml").write_bytes(DOCUMENT)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield


every_entrance = pytest.mark.parametrize(
    ("room", "name", "made"), [pytest.param(*one, id=f"{one[0]}:{one[1]}") for one in tried()]
)


@every_entrance
def test_what_is_no_slip_is_taken(room: str, name: str, made: Any) -> None:  # noqa: ANN401
    refusals: list[TwigcastError] = []
    ways = list(callers(room, name))
    for maker, _ in ways:
        try:
            call(made, name, maker(), NEEDED.get(name, dict)())
        except TwigcastError as error:
            refusals.append(error)
    assert len(refusals) < len(ways), refusals


@every_entrance
def test_a_slip_is_told_as_one_and_changes_nothing(room: str, name: str, made: Any) -> None:  # noqa: ANN401
    assert list(slips(room, name, made)) == []


LIMITS = (
    AnnotationLimits,
    AutomatonLimits,
    DocumentLimits,
    PathLimits,
    PatternLimits,
    PublicationLimits,
    RouterLimits,
    SchemaLimits,
    SimulationLimits,
    SubscriptionLimits,
    TopologyLimits,
    WireLimits,
)


@pytest.mark.parametrize("kind", LIMITS)
def test_a_limit_is_a_number_from_0_on(kind: type[Any]) -> None:
    for field in dataclasses.fields(kind):
        taken = {odd for odd, value in ODD.items() if is_taken(kind, field.name, value())}
        allowed = {"0", "5", "inf", "2**64"} if field.type == "float" else {"0", "5"}
        assert taken <= allowed, field.name


def is_taken(kind: type[Any], name: str, value: object) -> bool:
    try:
        kind(**{name: value})
    except UsageError as error:
        assert name in str(error)  # noqa: PT017  # The other half of the test is that there is one.
        return False
    return True


def test_a_slip_deep_inside_is_told_at_the_entrance_that_was_called() -> None:
    with pytest.raises(UsageError, match="matching a document: skip is Collection"):
        Matcher({1: "//b"}).match(DOCUMENT, [[]])  # type: ignore[list-item]


def test_what_fails_although_the_call_is_right_is_ours() -> None:
    @door("trying")
    def entrance(given: int) -> float:
        return 1 / given

    with pytest.raises(InternalError):
        entrance(0)


@pytest.mark.parametrize("error", [MemoryError(), OSError(28, "No space left on device")])
def test_what_the_machine_cannot_do_is_nobodys_slip(error: Exception) -> None:
    @door("trying")
    def entrance(given: int) -> int:
        if given:
            raise error
        return given

    with pytest.raises(InternalError):
        entrance("no number")  # type: ignore[arg-type]
