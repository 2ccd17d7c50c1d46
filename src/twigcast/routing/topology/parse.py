"""The reader of topology files, key by key, which makes a :class:`Topology`.

The dictionary may come from a file, a scenario or a notebook, and from people: so each complaint is
one sentence: what is wrong, where, and what to do::

    net.toml, link 3: there is no broker 'nort'; add it to 'brokers', or correct the name

Links and clients are counted from 1.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Final, TypeGuard

from twigcast.errors import UsageError
from twigcast.routing.topology.model import LATENCY_MS, Client, Link, Topology, TopologyLimits

_KEYS: Final = ("brokers", "links", "clients")
_LINK_KEYS: Final = ("between", "latency_ms", "bandwidth_mbps")
_CLIENT_KEYS: Final = ("name", "broker", "latency_ms")
_SHOWN_CHARACTERS_MAX = 60
_PLAIN_NUMBER_MAX = 10**15


def read_topology_table(
    table: Mapping[str, object], *, name: str, limits: TopologyLimits
) -> Topology:
    """The topology that a dictionary describes; UsageError that begins with the name if it is none.

    >>> from twigcast.routing.topology.model import TOPOLOGY_LIMITS
    >>> read_topology_table({"links": [["a", "b"]]}, name="t", limits=TOPOLOGY_LIMITS).brokers
    ('a', 'b')
    """
    if not isinstance(table, Mapping):
        raise UsageError(
            f"{name}: expected a table with 'brokers' and 'links', not {_shown(table)}"
        )
    _check_keys(table, _KEYS, name)
    links = tuple(
        _link(given, where=f"{name}, link {number}", limits=limits)
        for number, given in enumerate(_list(table, "links", name, limits.links_max), start=1)
    )
    brokers = _brokers(table, links, name, limits)
    _check_links(links, frozenset(brokers), name)
    return Topology(brokers, links, _clients(table, frozenset(brokers), name, limits))


def _brokers(
    table: Mapping[str, object], links: tuple[Link, ...], name: str, limits: TopologyLimits
) -> tuple[str, ...]:
    """The brokers that are listed or, where there is no list, that the links name."""
    if "brokers" in table:
        listed = _list(table, "brokers", name, limits.brokers_max)
        brokers = [
            _name(given, where=f"{name}, broker {number}", limits=limits)
            for number, given in enumerate(listed, start=1)
        ]
    else:
        brokers = list(dict.fromkeys(broker for link in links for broker in link.between))
        _check_number(len(brokers), "brokers", name, limits.brokers_max)
    if not brokers:
        raise UsageError(f"{name}: there are no brokers; name at least one in 'brokers'")
    _check_distinct(brokers, "broker", name)
    return tuple(brokers)


def _link(value: object, *, where: str, limits: TopologyLimits) -> Link:
    """A link by itself; whether its brokers exist is not known yet."""
    if isinstance(value, Mapping):
        _check_keys(value, _LINK_KEYS, where)
        if "between" not in value:
            raise UsageError(f'{where}: say which brokers it joins, as between = ["a", "b"]')
        ends = value["between"]
    else:
        ends, value = value, {}
    if not _is_list(ends) or len(ends) != 2:  # noqa: PLR2004 - a link has two ends
        raise UsageError(f'{where}: a link joins two brokers, ["a", "b"], not {_shown(ends)}')
    one, other = (_name(end, where=where, limits=limits) for end in ends)
    if one == other:
        raise UsageError(f"{where}: it leads from broker {one!r} to itself; leave it out")
    bandwidth = value.get("bandwidth_mbps")
    return Link(
        (one, other),
        _amount(value.get("latency_ms", LATENCY_MS), "latency_ms", where),
        None if bandwidth is None else _amount(bandwidth, "bandwidth_mbps", where, above_zero=True),
    )


def _check_links(links: tuple[Link, ...], brokers: frozenset[str], name: str) -> None:
    """Whether all ends are brokers, and no two brokers are joined twice."""
    numbers: dict[tuple[str, str], int] = {}
    for number, link in enumerate(links, start=1):
        where = f"{name}, link {number}"
        for broker in link.between:
            _check_known(broker, brokers, where)
        before = numbers.setdefault(link.pair, number)
        if before != number:
            one, other = link.between
            raise UsageError(
                f"{where}: brokers {one!r} and {other!r} are joined by link {before} already; "
                "keep one of the two"
            )


def _clients(
    table: Mapping[str, object], brokers: frozenset[str], name: str, limits: TopologyLimits
) -> tuple[Client, ...]:
    clients = []
    for number, given in enumerate(_list(table, "clients", name, limits.clients_max), start=1):
        where = f"{name}, client {number}"
        if not isinstance(given, Mapping) or not {"name", "broker"} <= given.keys():
            raise UsageError(
                f"{where}: a client is a table with 'name' and 'broker', not {_shown(given)}"
            )
        _check_keys(given, _CLIENT_KEYS, where)
        broker = _name(given["broker"], where=where, limits=limits)
        _check_known(broker, brokers, where)
        clients.append(
            Client(
                _name(given["name"], where=where, limits=limits),
                broker,
                _amount(given.get("latency_ms", 0.0), "latency_ms", where),
            )
        )
    _check_distinct([client.name for client in clients], "client", name)
    return tuple(clients)


def _name(value: object, *, where: str, limits: TopologyLimits) -> str:
    """A name as it is: a text that can be printed on a line, and not too long."""
    if not isinstance(value, str):
        raise UsageError(f"{where}: a name is a text in quotes, not {_shown(value)}")
    if not value or value != value.strip() or not value.isprintable():
        raise UsageError(
            f"{where}: {_shown(value)} is no name; write letters, digits and signs, "
            "without blanks at the ends"
        )
    if len(value) > limits.name_characters_max:
        raise UsageError(
            f"{where}: the name {_shown(value)} has {len(value):,} characters; "
            f"shorten it to {limits.name_characters_max:,} (name_characters_max)"
        )
    return value


def _amount(given: object, key: str, where: str, *, above_zero: bool = False) -> float:
    """A number that is not negative, and in some places not 0 either."""
    wanted = "a number above 0" if above_zero else "a number, 0 or more"
    if isinstance(given, int | float) and not isinstance(given, bool):
        try:
            amount = float(given)
        except OverflowError:
            amount = math.inf
        if math.isfinite(amount) and (amount > 0 if above_zero else amount >= 0):
            return amount + 0.0  # a zero loses its sign
    raise UsageError(f"{where}: {key} is {wanted}, not {_shown(given)}")


def _list(table: Mapping[str, object], key: str, name: str, allowed: int) -> Sequence[object]:
    given = table.get(key, ())
    if not _is_list(given):
        raise UsageError(f"{name}: {key!r} is a list in brackets, not {_shown(given)}")
    _check_number(len(given), key, name, allowed)
    return given


def _is_list(given: object) -> TypeGuard[Sequence[object]]:
    return isinstance(given, list | tuple)


def _check_number(given: int, what: str, name: str, allowed: int) -> None:
    if given > allowed:
        raise UsageError(
            f"{name}: {given:,} {what}, where at most {allowed:,} are allowed ({what}_max); "
            "take fewer"
        )


def _check_keys(table: Mapping[str, object], known: tuple[str, ...], where: str) -> None:
    for key in table:
        if key not in known:
            raise UsageError(
                f"{where}: nobody knows what {_shown(key)} means; there are {', '.join(known)}"
            )


def _check_known(broker: str, brokers: frozenset[str], where: str) -> None:
    if broker not in brokers:
        raise UsageError(
            f"{where}: there is no broker {broker!r}; add it to 'brokers', or correct the name"
        )


def _check_distinct(names: list[str], what: str, where: str) -> None:
    seen: set[str] = set()
    for name in names:
        if name in seen:
            raise UsageError(f"{where}: {what} {name!r} is there twice; give each its own name")
        seen.add(name)


def _shown(given: object) -> str:
    """A value as its author may recognise it, cut where it gets long."""
    if isinstance(given, int) and abs(given) >= _PLAIN_NUMBER_MAX:
        return "a huge number"  # Python does not even write down the largest ones
    text = repr(given) if isinstance(given, str | int | float | None) else _kind(given)
    return text if len(text) <= _SHOWN_CHARACTERS_MAX else f"{text[:_SHOWN_CHARACTERS_MAX]}…"


def _kind(given: object) -> str:
    if isinstance(given, Mapping):
        return f"a table of {len(given):,}"
    return f"a list of {len(given):,}" if _is_list(given) else f"a {type(given).__name__}"
