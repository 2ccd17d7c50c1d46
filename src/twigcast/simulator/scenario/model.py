"""A scenario: the description of an experiment, as people write it in TOML.

Seven tables, none of which need be there but the first::

    [topology]                     generate = "binary-tree", or file = "net.toml", or brokers, links
    [workload]                     subscriptions and publications, where and when
    [strategy]                     name = "covering", and the options of that strategy
    [cost]                         how long a broker is busy with what comes to it
    [churn]                        clients that come and go, links that are lost and return
    [[change]]                     at = 2.5, do = "link_down", between = ["north", "south"]
    [run]                          seed, limits

What is not given has a default, or is drawn from the seed. :attr:`Scenario.options` has all of it
as it is in effect, and is a scenario again. A key that does not exist, or a value that cannot be
meant, is a UsageError that names the place.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from inspect import signature
from pathlib import Path
from typing import Any, Final

from twigcast.door import door
from twigcast.errors import UsageError
from twigcast.files.notation import toml_table
from twigcast.files.opening import checked_path
from twigcast.matching.matcher import ENGINES
from twigcast.routing.strategy import STRATEGIES, Strategy, strategy
from twigcast.simulator.cost_model import CostModel
from twigcast.simulator.engine.simulation import SimulationLimits
from twigcast.simulator.scenario.table_reader import Keys
from twigcast.simulator.scenario.topology_spec import NetworkPlan, read_network_plan
from twigcast.workload import PatternShape, generate_documents

CHURN_MAX: Final = 5_000_000
"""Comings and goings that a scenario may ask for; each is drawn before the run, and kept."""

SUBSCRIPTIONS_MAX: Final = 2_000_000
"""Subscriptions that a scenario may ask for, all brokers or clients together: twice the largest
table we know."""

DOCUMENTS_MAX: Final = 1_000_000
"""Documents that a scenario may ask for, and publishers."""

DRAWN_ELEMENTS_MAX: Final = 20_000_000
"""Elements of all its documents, which are drawn before the run, and kept: some 1 GB."""

_ELEMENT_BYTES: Final = 50
_SUBSCRIPTIONS: Final[Any] = {"most": SUBSCRIPTIONS_MAX, "limit": "SUBSCRIPTIONS_MAX"}
_DOCUMENTS: Final[Any] = {"most": DOCUMENTS_MAX, "limit": "DOCUMENTS_MAX"}

SCENARIO_BYTES_MAX: Final = 4 * 1024**2
"""Of a scenario file: some ten thousand changes written by hand, or links of an inline topology."""


@dataclass(frozen=True, slots=True)
class Workload:
    """Subscriptions and publications."""

    dtds: tuple[str, ...] = ("news",)
    """Kinds of documents: DTDs that come with Twigcast, or files."""
    subscriptions: int = 10
    """Of each broker that has subscribers, or of each client."""
    per: str = "broker"
    subscribers_at: tuple[str, ...] = ("all",)
    interests: int | None = None
    """How many of the kinds each broker's clients are interested in (YAK, 6.5.3); None for all."""
    pool: int | None = None
    """Subscriptions are chosen from as many different ones for each kind; None for no bound."""
    subscriptions_file: str | None = None
    subscribe_every: float = 0.0
    """Seconds between two subscriptions, broker after broker; 0 for all at once."""
    documents: int = 10
    documents_from: tuple[str, ...] = ()
    publishers: int | None = None
    """None for one at a random broker, or one at each broker that is named."""
    publishers_at: tuple[str, ...] = ("random",)
    publishes: int | None = None
    """How many of the kinds each publisher publishes; None for all."""
    advertise: bool = True
    publish_every: float = 1.0
    publish_rate: float | None = None
    """Documents per second on average, at random; None for every so many seconds."""
    publish_times: tuple[float, ...] | None = None
    numbers: int = 20
    pattern_shape: PatternShape = field(default_factory=PatternShape)
    document_options: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Churn:
    """What comes and goes at random, per second, while the churn lasts."""

    seconds: float = 0.0
    subscribe: float = 0.0
    unsubscribe: float = 0.0
    link_loss: float = 0.0
    down_seconds: float = 1.0


@dataclass(frozen=True, slots=True)
class Scenario:
    """An experiment, as far as it is described; what is left open is drawn from the seed."""

    name: str
    folder: Path
    """Where files are looked for."""
    network: NetworkPlan
    workload: Workload
    strategy: Strategy
    cost: CostModel | None
    """None where it is measured."""
    churn: Churn
    changes: tuple[Mapping[str, object], ...]
    seed: int
    start: float | None
    batch_delay: float
    limits: SimulationLimits
    engine: str = "auto"
    options: Mapping[str, object] = field(default_factory=dict)
    """Every option with the value it has."""

    @classmethod
    @door("reading a scenario")
    def of(
        cls, given: Mapping[str, object], *, name: str, folder: Path, seed: int | None = None
    ) -> Scenario:
        """The scenario of a dictionary; a ``seed`` takes the place of the one in it."""
        keys = Keys(given, name)
        run = keys.table("run")
        own_seed = run.whole("seed", 1)
        if seed is not None:
            run.taken["seed"] = own_seed = seed
        scenario = cls(
            name=name,
            folder=folder,
            network=read_network_plan(keys.table("topology"), folder),
            workload=_workload(keys.table("workload")),
            strategy=_strategy(keys),
            cost=_cost(keys.table("cost")),
            churn=_churn(keys.table("churn")),
            changes=_changes(keys),
            seed=own_seed,
            start=run.number_or_none("start"),
            batch_delay=run.number("batch_delay", 0.0),
            limits=_limits(run),
            engine=run.one_of("engine", ENGINES, "auto"),
            options=keys.taken,
        )
        run.end()
        keys.end()
        return scenario


@door("reading a scenario")
def read_scenario(path: str | Path, *, seed: int | None = None) -> Scenario:
    """The scenario of a TOML file; UsageError if it cannot be read, or makes no sense."""
    path = Path(checked_path(path, "a scenario"))
    try:
        with path.open("rb") as file:
            content = file.read(SCENARIO_BYTES_MAX + 1)
    except OSError as error:
        raise UsageError(f"cannot read the scenario {path}: {error.strerror or error}") from error
    if len(content) > SCENARIO_BYTES_MAX:
        raise UsageError(
            f"the scenario {path} has more than {SCENARIO_BYTES_MAX:,} bytes (SCENARIO_BYTES_MAX); "
            "put its topology and its subscriptions into files of their own"
        )
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise UsageError(f"{path.name}, byte {error.start + 1}: not UTF-8") from None
    table = toml_table(text, path.name)
    return Scenario.of(table, name=path.name, folder=path.parent, seed=seed)


def _workload(keys: Keys) -> Workload:
    usual = Workload()
    workload = Workload(
        dtds=keys.texts("dtds", usual.dtds),
        subscriptions=keys.whole("subscriptions", usual.subscriptions, **_SUBSCRIPTIONS),
        per=keys.one_of("per", ("broker", "client"), usual.per),
        subscribers_at=keys.texts("subscribers_at", usual.subscribers_at),
        interests=keys.whole_or_none("interests"),
        pool=keys.whole_or_none("pool", **_SUBSCRIPTIONS),
        subscriptions_file=keys.text("subscriptions_file"),
        subscribe_every=keys.number("subscribe_every", usual.subscribe_every),
        documents=keys.whole("documents", usual.documents, **_DOCUMENTS),
        documents_from=keys.texts("documents_from"),
        publishers=keys.whole_or_none("publishers", **_DOCUMENTS),
        publishers_at=keys.texts("publishers_at", usual.publishers_at),
        publishes=keys.whole_or_none("publishes"),
        advertise=keys.flag("advertise", default=usual.advertise),
        publish_every=keys.number("publish_every", usual.publish_every),
        publish_rate=keys.number_or_none("publish_rate", least=1e-9),
        publish_times=keys.numbers("publish_times"),
        numbers=keys.whole("numbers", usual.numbers, least=1),
        pattern_shape=_pattern_shape(keys.table("patterns")),
        document_options=_document_options(keys.table("document")),
    )
    keys.end()
    if not workload.dtds:
        raise UsageError(f"{keys.where}: dtds names at least one DTD")
    _check_elements(workload, keys.where)
    return workload


def _check_elements(workload: Workload, where: str) -> None:
    """All documents are drawn before the run, so they have to fit into memory together."""
    each = workload.document_options["elements"]
    if "bytes_target" in workload.document_options:
        each = workload.document_options["bytes_target"] // _ELEMENT_BYTES + 1
    if workload.documents * each > DRAWN_ELEMENTS_MAX:
        raise UsageError(
            f"{where}: the documents would have some {workload.documents * each:,} elements "
            f"together, where at most {DRAWN_ELEMENTS_MAX:,} are allowed (DRAWN_ELEMENTS_MAX)"
        )


def _pattern_shape(keys: Keys) -> PatternShape:
    """How patterns are drawn; what is not given is as usual."""
    usual = PatternShape()
    shape = PatternShape(
        wildcard=keys.number("wildcard", usual.wildcard),
        descendant=keys.number("descendant", usual.descendant),
        nested=keys.number("nested", usual.nested),
        predicates=keys.number("predicates", usual.predicates),
        attributes=keys.number("attributes", usual.attributes),
        skew=keys.number("skew", usual.skew),
        depth_max=keys.whole("depth_max", usual.depth_max),
        nested_depth=keys.whole("nested_depth", usual.nested_depth),
        nested_levels=keys.whole("nested_levels", usual.nested_levels),
        predicate_kinds=keys.texts("predicate_kinds", usual.predicate_kinds),
        distinct=keys.flag("distinct", default=usual.distinct),
    )
    keys.end()
    return shape


def _document_options(keys: Keys) -> Mapping[str, Any]:
    """Options of ``generate_documents``; those that are missing have its defaults."""
    usual = {key: each.default for key, each in signature(generate_documents).parameters.items()}
    options: dict[str, Any] = {
        "elements": keys.whole("elements", usual["elements"], least=1),
        "depth_max": keys.whole("depth_max", usual["depth_max"], least=1),
        "attributes": keys.number("attributes", usual["attributes"]),
    }
    if (size := keys.whole_or_none("bytes")) is not None:
        options["bytes_target"] = size
    keys.end()
    return options


def _strategy(keys: Keys) -> Strategy:
    """A text such as ``prefix(depth=3)``, or a table with the name and the options."""
    given = keys.raw("strategy", "best")
    try:
        if isinstance(given, str):
            chosen = strategy(given)
        else:
            table = Keys(given, keys.where, "strategy")
            chosen = _of_table(table)
    except UsageError as error:
        where, text = f"{keys.where}, [strategy]", str(error)
        raise UsageError(text if text.startswith(where) else f"{where}: {text}") from None
    keys.taken["strategy"] = str(chosen)
    return chosen


def _of_table(keys: Keys) -> Strategy:
    name = keys.one_of("name", tuple(STRATEGIES), "best")
    make = STRATEGIES[name]
    known = [key for key in make.__annotations__ if key != "return"]
    options = {key: keys.raw(key) for key in known if key in keys}
    keys.taken.update(dict.fromkeys(key for key in known if key not in options))
    keys.end()
    return make(**options)


def _cost(keys: Keys) -> CostModel | None:
    model = keys.one_of("model", ("constants", "measured"), "constants")
    usual = CostModel()
    names = [each.name for each in fields(CostModel)]
    if model == "measured":
        keys.end()
        return None
    costs = CostModel(**{name: keys.number(name, getattr(usual, name)) for name in names})
    keys.end()
    return costs


def _churn(keys: Keys) -> Churn:
    usual = Churn()
    names = [each.name for each in fields(Churn)]
    churn = Churn(**{name: keys.number(name, getattr(usual, name)) for name in names})
    keys.end()
    expected = churn.seconds * (churn.subscribe + churn.unsubscribe + churn.link_loss)
    if expected > CHURN_MAX:
        raise UsageError(
            f"{keys.where}: {expected:,.0f} comings and goings are to be expected, where at most "
            f"{CHURN_MAX:,} are allowed (CHURN_MAX); let it last less long"
        )
    return churn


def _changes(keys: Keys) -> tuple[Mapping[str, object], ...]:
    given = keys.raw("change", [])
    if not isinstance(given, list) or not all(isinstance(each, Mapping) for each in given):
        raise UsageError(f"{keys.where}: changes are tables, each begun by [[change]]")
    return tuple(given)


def _limits(run: Keys) -> SimulationLimits:
    usual = SimulationLimits()
    return SimulationLimits(
        events_max=run.whole("events_max", usual.events_max, least=1),
        seconds_max=run.number("seconds_max", usual.seconds_max),
        queue_max=run.whole("queue_max", usual.queue_max, least=1),
    )
