"""``twigcast generate topology``: brokers and links drawn from a seed, as a topology file.

The four trees need only a size. ``transit-stub`` draws an internet and puts brokers and clients on
it, as YAK, 6.1, did; an option that means nothing for a kind is refused rather than ignored.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from random import Random
from typing import TYPE_CHECKING, Annotated, Any, Final, TypeAlias

import typer

from twigcast.cli.options.grouped import grouped
from twigcast.cli.output import write_note, write_text
from twigcast.display import counted
from twigcast.errors import UsageError

if TYPE_CHECKING:
    from twigcast.routing.topology.model import Topology
    from twigcast.workload import TopologyTable

EXAMPLES = (
    "twigcast generate topology binary-tree --levels 7 --out net.toml",
    "twigcast generate topology transit-stub --brokers 20 --tree > net.json",
)

_NETWORK: Final = (
    "transit_domains",
    "transit_nodes",
    "stubs",
    "stub_nodes",
    "domain_share",
    "transit_share",
    "stub_share",
    "extra_transit_stub",
    "extra_stub_stub",
)
_OPTIONS: Final[Mapping[str, tuple[str, ...]]] = {
    "line": ("brokers", "latency_ms"),
    "star": ("brokers", "latency_ms"),
    "binary-tree": ("levels", "latency_ms"),
    "random-tree": ("brokers", "latency_ms"),
    "transit-stub": ("brokers", "clients", "clients_each", *_NETWORK),
}
"""The kinds, and what can be said of each."""

_INTERNET: Final = "Only transit-stub: "


def complete_kind(incomplete: str) -> list[str]:
    """The kinds that begin like this, for the shell."""
    return [kind for kind in _OPTIONS if kind.startswith(incomplete)]


Kind: TypeAlias = Annotated[
    str,
    typer.Argument(
        metavar="KIND",
        help=f"{', '.join(_OPTIONS)}.",
        show_default=False,
        autocompletion=complete_kind,
    ),
]


@dataclass(frozen=True)
class SizeOptions:
    """What can be asked of a topology; None is left to its kind."""

    brokers: Annotated[
        int | None, typer.Option(help="How many; 7, or 20 for transit-stub, if you do not say.")
    ] = None
    levels: Annotated[
        int | None, typer.Option(help="Of a binary-tree: 3 levels have 7 brokers, 7 have 127.")
    ] = None
    latency_ms: Annotated[
        tuple[float, float] | None,
        typer.Option(
            metavar="LEAST MOST", help="Draw the latency of each link of a tree from these."
        ),
    ] = None
    clients: Annotated[
        int | None,
        typer.Option(help=f"{_INTERNET}how many; all places are taken, if you do not say."),
    ] = None
    clients_each: Annotated[
        int | None, typer.Option(help=f"{_INTERNET}places for clients at a broker (10).")
    ] = None
    transit_domains: Annotated[
        int | None, typer.Option(help=f"{_INTERNET}domains that carry traffic (8).")
    ] = None
    transit_nodes: Annotated[
        int | None, typer.Option(help=f"{_INTERNET}nodes of a transit domain (10).")
    ] = None
    stubs: Annotated[
        int | None, typer.Option(help=f"{_INTERNET}stub domains at each transit node (6).")
    ] = None
    stub_nodes: Annotated[
        int | None, typer.Option(help=f"{_INTERNET}nodes of a stub domain (9).")
    ] = None
    domain_share: Annotated[
        float | None,
        typer.Option(help=f"{_INTERNET}share of transit domains that are joined (0.6)."),
    ] = None
    transit_share: Annotated[
        float | None,
        typer.Option(help=f"{_INTERNET}share of pairs joined in transit domains (0.5)."),
    ] = None
    stub_share: Annotated[
        float | None, typer.Option(help=f"{_INTERNET}share of pairs joined in stub domains (0.4).")
    ] = None
    extra_transit_stub: Annotated[
        int | None, typer.Option(help=f"{_INTERNET}links more between transit and stub nodes (0).")
    ] = None
    extra_stub_stub: Annotated[
        int | None, typer.Option(help=f"{_INTERNET}links more between stub domains (0).")
    ] = None


@grouped
def topology(
    kind: Kind,
    sizes: SizeOptions = SizeOptions(),
    seed: Annotated[int, typer.Option(help="Equal seeds give equal output.")] = 1,
    out: Annotated[
        str | None,
        typer.Option(metavar="FILE", help="Write there: JSON or TOML, as its name ends."),
    ] = None,
    tree: Annotated[
        bool, typer.Option("--tree", help="Keep only the links of the minimum spanning tree.")
    ] = False,
) -> None:
    """Draw a topology: brokers, the links between them, and their latencies.

    It goes to standard output as JSON, or to a file. transit-stub draws an internet first, and
    puts brokers and clients on it.
    """
    options = {name: value for name, value in vars(sizes).items() if value is not None}
    _check(kind, options)
    from twigcast.routing.topology.model import Topology

    drawn = Topology.of(_drawn(kind, options, Random(seed)))
    _hand_out(drawn.tree() if tree else drawn, out, seed)


def _check(kind: str, options: Mapping[str, object]) -> None:
    """Whether the kind exists, and takes these options."""
    if kind not in _OPTIONS:
        raise UsageError(f"no topology {kind!r}; there are {', '.join(_OPTIONS)}")
    for option in options:
        if option not in _OPTIONS[kind]:
            taken = ", ".join(_spelt(name) for name in _OPTIONS[kind])
            raise UsageError(f"{_spelt(option)} means nothing for {kind}, which takes {taken}")


def _spelt(option: str) -> str:
    return f"--{option.replace('_', '-')}"


def _drawn(kind: str, options: dict[str, Any], rng: Random) -> TopologyTable:
    """What the generator of that kind draws; it has its own word on sizes and ranges."""
    from twigcast import workload

    if kind == "transit-stub":
        shape = {name: options.pop(name) for name in _NETWORK if name in options}
        options.setdefault("brokers", 20)
        options.setdefault("clients_each", 10)
        options.setdefault("clients", options["brokers"] * options["clients_each"])
        network = workload.transit_stub(workload.TransitStub(**shape), rng=rng)
        return workload.overlay(network, rng=rng, **options)
    if kind == "binary-tree":
        return workload.binary_tree(options.pop("levels", 3), rng=rng, **options)
    draw = {"line": workload.line, "star": workload.star, "random-tree": workload.random_tree}[kind]
    return draw(options.pop("brokers", 7), rng=rng, **options)


def _hand_out(drawn: Topology, out: str | None, seed: int) -> None:
    from twigcast.files import topology_text, write_topology

    if out is None:
        write_text(topology_text(drawn).rstrip("\n"))
    else:
        write_topology(drawn, out)
    sizes = [counted(len(drawn.brokers), "broker"), counted(len(drawn.links), "link")]
    if drawn.clients:
        sizes.append(counted(len(drawn.clients), "client"))
    place = "" if out is None else f" in {out}"
    write_note(f"{', '.join(sizes)}{place}; seed {seed}")
