"""Routing strategies: the patterns that a broker sends to its neighbours, as values.

A broker has the patterns of its own clients, and those received from each neighbour. What it sends
to a neighbour is made of all that but the neighbour's own, in four steps, and a strategy is a
choice for each:

1. *widen* each pattern: leave it as it is, or keep its structure prefix alone (YAK, 4.3);
2. *hold back* what another makes redundant: nothing, what has a structure prefix among the others
   (YAK, 4.3.1), or what is covered (XNET, section 3; Dissemination, 1.5.1);
3. *direct* the rest: over every link, over those that lead to a producer (XNET), or over those by
   which an advertisement came that it overlaps (Dissemination, 1.4);
4. *merge* what is left, now and then (Dissemination, 1.5.3), or aggregate it to a share of its
   steps (Piggyback, section 2).

    >>> str(advertised(merging="imperfect", degree=0.2))
    'advertised(merging=imperfect, degree=0.2)'
    >>> strategy("prefix(depth=3)") == prefix(depth=3)
    True

``flooding`` sends no patterns, and documents go everywhere. ``piggyback`` takes over the steps of
another strategy, and lets documents carry what their last broker has found out about them:

    >>> str(piggyback("eager", on=advertised(merging="perfect")))
    'piggyback(protocol=eager, on=advertised(merging=perfect))'

Whatever the choice, each subscription receives the same documents; only the traffic and the work
differ.
"""

from __future__ import annotations

import inspect
import re
import warnings
from collections.abc import Callable
from dataclasses import dataclass, fields, replace
from math import inf
from typing import Any, Final, Literal, TypeAlias

from twigcast.display import one_line, shown
from twigcast.door import door
from twigcast.errors import FloodingWarning, UsageError
from twigcast.routing.annotations.annotations import ANNOTATION_BYTES_MAX
from twigcast.routing.annotations.kinds import Kinds

__all__ = [
    "STRATEGIES",
    "HoldBack",
    "Merging",
    "Protocol",
    "Strategy",
    "Towards",
    "Unadvertised",
    "Unit",
    "advertised",
    "best",
    "covering",
    "flooding",
    "flooding_notice",
    "identity",
    "piggyback",
    "prefix",
    "strategy",
]

HoldBack: TypeAlias = Literal["everything", "nothing", "prefixed", "covered"]
Towards: TypeAlias = Literal["all", "producers", "advertisers"]
Merging: TypeAlias = Literal["none", "perfect", "imperfect", "space"]
Unadvertised: TypeAlias = Literal["flood", "refuse"]
Unit: TypeAlias = Literal["document", "path"]
Protocol: TypeAlias = Literal["none", "eager", "lazy", "adaptive"]

_UNITS: Final = ("document", "path")

MERGE_EVERY: Final = 60.0
"""Seconds between two merge ticks: merging takes a quarter of a millisecond a pattern, so a broker
with 100,000 spends less than half its time on it."""

SPACE: Final = 0.25
"""The share of steps that Piggyback (6.1) aggregates to."""


@dataclass(frozen=True, slots=True)
class Strategy:
    """What a broker forwards. Make one with the function of its name."""

    name: str
    hold_back: HoldBack
    """What is not forwarded because of something else; ``everything`` is flooding."""
    towards: Towards = "all"
    depth: int | None = None
    """Of structure prefixes (YAK's InterestedDepth); None for whole ones."""
    merging: Merging = "none"
    degree: float = 0.0
    merge_every: float = MERGE_EVERY
    unadvertised: Unadvertised = "flood"
    """What becomes of a document that departs from what its publisher has advertised."""
    unit: Unit = "document"
    """What is sent and counted: documents, or their paths one by one (Dissemination, 1.4.1)."""
    protocol: Protocol = "none"
    """When a document is forwarded (Piggyback, 3.2); ``none`` is without any annotations."""
    annotations: str = ""
    """Kinds of annotations, as Piggyback writes them: ``+s``, ``+sd``, ``-d``, ``+s-sd`` ..."""
    on: str = ""
    """Whose steps these are, if it annotates."""
    space: float | None = None
    """With merging by ``space``, the share of the steps that remains."""
    threshold: float = 0.5
    """Where the adaptive protocol turns from eager to lazy, as a share of the document."""
    annotation_bytes_max: int = 1024
    audit: float = 0.0
    """Which share of the annotated documents is matched again, to find brokers that lie."""

    @property
    def floods(self) -> bool:
        """Whether every document goes everywhere."""
        return self.hold_back == "everything"

    @property
    def needs_advertisements(self) -> bool:
        """Whether documents of a publisher who has advertised nothing go everywhere."""
        return self.towards != "all"

    @property
    def perfect(self) -> bool:
        """Whether no document crosses a link that leads to no match."""
        whole = self.hold_back in {"nothing", "covered"}
        exact = self.merging in {"none", "perfect"}
        return whole and exact and self.unit == "document"

    def __str__(self) -> str:
        """The name with the options that are not as usual; :func:`strategy` reads it.

        One that was made by hand has its name alone.
        """
        if self.name not in STRATEGIES:
            return one_line(self.name)
        usual = _usual(self)
        options = [
            f"{option}={_written(value)}"
            for option, value in _options(self).items()
            if value != usual[option]
        ]
        return f"{self.name}({', '.join(options)})" if options else self.name


@door("making a strategy")
def flooding() -> Strategy:
    """Nothing is forwarded, documents go everywhere: the naive way, and the others' oracle."""
    return Strategy("flooding", "everything")


@door("making a strategy")
def identity(*, unit: Unit = "document") -> Strategy:
    """Every distinct subscription is forwarded everywhere, as in Gryphon."""
    _one_of("unit", unit, _UNITS)
    return Strategy("identity", "nothing", unit=unit)


@door("making a strategy")
def prefix(depth: int | None = None) -> Strategy:
    """Structure prefixes are forwarded, of at most ``depth`` steps (YAK, 4.3)."""
    if depth is not None and (type(depth) is not int or depth < 1):
        raise UsageError(f"depth is a whole number of steps, 1 or more, not {shown(depth)}")
    return Strategy("prefix", "prefixed", depth=depth)


@door("making a strategy")
def covering(towards: Literal["all", "producers"] = "all", *, unit: Unit = "document") -> Strategy:
    """The minimal covering set is forwarded (XNET, section 3), everywhere or towards producers."""
    _one_of("towards", towards, ("all", "producers"))
    _one_of("unit", unit, _UNITS)
    return Strategy("covering", "covered", towards=towards, unit=unit)


@door("making a strategy")
def advertised(
    *,
    covering: bool = True,
    merging: Merging = "none",
    degree: float = 0.1,
    merge_every: float = MERGE_EVERY,
    unadvertised: Unadvertised = "flood",
    unit: Unit = "document",
) -> Strategy:
    """Subscriptions go towards the advertisements that they overlap (Dissemination, 1.4 and 1.5).

    With or without covering, merged perfectly or imperfectly (up to ``degree``) every
    ``merge_every`` seconds. A publisher who has advertised is held to it: a document that departs
    from its advertisements is flooded or refused, as ``unadvertised`` says. Documents of a
    publisher without any are flooded.
    """
    if not isinstance(covering, bool):
        raise UsageError(f"covering is true or false, not {shown(covering)}")
    _one_of("merging", merging, ("none", "perfect", "imperfect"))
    _one_of("unadvertised", unadvertised, ("flood", "refuse"))
    _one_of("unit", unit, _UNITS)
    _number("degree", degree, "lies in 0 … 1", most=1)
    _number("merge_every", merge_every, "is a number of seconds", most=inf)
    return Strategy(
        "advertised",
        "covered" if covering else "nothing",
        towards="advertisers",
        merging=merging,
        degree=degree,
        merge_every=merge_every,
        unadvertised=unadvertised,
        unit=unit,
    )


@door("making a strategy")
def best() -> Strategy:
    """The default: as ``covering``, so that no document goes astray, whoever publishes.

    It does not follow advertisements: whoever does has to flood the documents of publishers who
    have made none. DESIGN.md has the measurements.
    """
    return Strategy("best", "covered")


@door("making a strategy")
def piggyback(
    protocol: Literal["eager", "lazy", "adaptive"] = "lazy",
    annotations: str | None = None,
    *,
    on: Strategy | str = "covering",
    space: float | Literal["usual", "none"] | None = "usual",
    threshold: float = 0.5,
    bytes_max: int = 1024,
    audit: float = 0.0,
    merge_every: float | None = None,
) -> Strategy:
    """The steps of another strategy, and documents annotated with what a broker has found out.

    ``annotations`` are kinds as the paper writes them: by default ``+s-sd``, its best, or ``+s`` if
    documents are forwarded eagerly, that is before anything is known not to occur. What the other
    strategy says is aggregated to a share of its steps, ``space``, every ``merge_every`` seconds;
    with None it is sent as it is, which is usual for strategies that merge already or hold nothing
    back. Annotations take at most ``bytes_max`` bytes for each document and link.
    """
    base = strategy(on)
    if base.floods or base.unit != "document" or base.protocol != "none":
        raise UsageError(
            f"piggyback goes on a strategy that forwards patterns and sends documents whole, "
            f"without annotations of its own; not on {base}"
        )
    _one_of("protocol", protocol, ("eager", "lazy", "adaptive"))
    if annotations is None:
        annotations = "+s" if protocol == "eager" else "+s-sd"
    share = _share(space, base)
    _number("threshold", threshold, "lies in 0 … 1", most=1)
    _number("audit", audit, "lies in 0 … 1", most=1)
    if type(bytes_max) is not int or not 0 <= bytes_max <= ANNOTATION_BYTES_MAX:
        raise UsageError(
            f"bytes_max is a whole number of bytes, at most {ANNOTATION_BYTES_MAX:,}, "
            f"not {shown(bytes_max)}"
        )
    if merge_every is None:
        merge_every = base.merge_every
    _number("merge_every", merge_every, "is a number of seconds", most=inf)
    return replace(
        base,
        name="piggyback",
        merging=base.merging if share is None else "space",
        merge_every=merge_every,
        protocol=protocol,
        annotations=_kinds(annotations, protocol),
        on=str(base),
        space=share,
        threshold=threshold,
        annotation_bytes_max=bytes_max,
        audit=audit,
    )


def _share(space: object, base: Strategy) -> float | None:
    """The share of the steps that remains of what a strategy sends; None for all of it."""
    if space == "usual":
        return SPACE if base.merging == "none" and base.hold_back != "nothing" else None
    if space is None or space == "none":
        return None
    _number("space", space, "is a share of the steps, above 0 and up to 1", most=1)
    assert isinstance(space, int | float)
    if not space:
        raise UsageError("space is a share of the steps; nothing at all cannot be enough")
    if base.merging != "none":
        raise UsageError(f"{base} merges already, so space is none, not {shown(space)}")
    return space


def _kinds(annotations: object, protocol: Protocol) -> str:
    """Kinds of annotations as the paper writes them, whatever the order they were given in."""
    if not isinstance(annotations, str) or not re.fullmatch(r"([+-][sd]+)*", annotations):
        raise UsageError(
            f"annotations are positive ones, negative ones or both, of subscriptions and of data, "
            f"as +s, +d, +sd, -s, -d, -sd, +s-sd; not {shown(annotations)}"
        )
    signed = re.findall(r"([+-])([sd]+)", annotations)
    found = {sign + letter for sign, letters in signed for letter in letters}
    kinds = Kinds(ps="+s" in found, pd="+d" in found, ns="-s" in found, nd="-d" in found)
    if protocol == "eager" and (kinds.ns or kinds.nd):
        raise UsageError(
            f"annotations {kinds} mean nothing if documents are forwarded eagerly: what does not "
            f"occur is known at the end of a document only (Piggyback, 3.3)"
        )
    return str(kinds)


@door("writing a notice")
def flooding_notice(of: Strategy, *, who: str, remedy: str) -> str:
    """The notice for users of a strategy of advertisements without any.

    >>> print(flooding_notice(advertised(), who="publisher 'Post'", remedy="let it advertise"))
    publisher 'Post' has advertised nothing, so under advertised its documents go over every link;
    let it advertise, or take the strategy best, which needs no advertisements
    """
    return one_line(
        f"{who} has advertised nothing, so under {of} its documents go over every link; "
        f"{remedy}, or take the strategy best, which needs no advertisements"
    )


def warn_of_flooding(notice: str) -> None:
    """Warn at the line outside this package that led here, however many calls lie between."""
    depth, frame = 1, inspect.currentframe()
    while frame is not None and frame.f_globals.get("__name__", "").startswith("twigcast."):
        depth, frame = depth + 1, frame.f_back
    warnings.warn(notice, FloodingWarning, stacklevel=depth)


STRATEGIES: Final[dict[str, Callable[..., Strategy]]] = {
    "flooding": flooding,
    "identity": identity,
    "prefix": prefix,
    "covering": covering,
    "advertised": advertised,
    "best": best,
    "piggyback": piggyback,
}
"""Each strategy under its name."""


@door("reading a strategy")
def strategy(given: str | Strategy) -> Strategy:
    """The strategy of a name, with options in parentheses if any; a strategy as it is.

    Raises UsageError for a name or an option that does not exist.
    """
    if isinstance(given, Strategy):
        return given
    if not isinstance(given, str):
        raise UsageError(f"a strategy is a name or a value, not {shown(given)}")
    read = re.fullmatch(r"\s*([a-z]+)\s*(?:\((.*)\))?\s*", given)
    if read is None or read[1] not in STRATEGIES:
        raise UsageError(f"no strategy {shown(given)}; there are {', '.join(STRATEGIES)}")
    make = STRATEGIES[read[1]]
    taken = tuple(_options(make()))
    options: dict[str, Any] = {}
    # A comma that only a closing bracket follows lies within the options of another strategy.
    for text in re.split(r",(?![^()]*\))", read[2] or ""):
        if text.strip():
            option, value = _option(given, text)
            if option not in taken:
                raise UsageError(
                    f"strategy {shown(given)}: {read[1]} does not take {shown(option)}; "
                    f"it takes {', '.join(taken) or 'no options'}"
                )
            if option in options:
                raise UsageError(f"strategy {shown(given)}: {shown(option)} is given twice")
            options[option] = value
    return make(**options)


def _options(of: Strategy) -> dict[str, Any]:
    """The options that the function of that name takes, with the values they have here."""
    taken = STRATEGIES[of.name].__annotations__
    values: dict[str, Any] = {"covering": of.hold_back == "covered"}
    for field in fields(of):
        values[field.name.removeprefix("annotation_")] = getattr(of, field.name)
    return {option: value for option, value in values.items() if option in taken}


def _usual(of: Strategy) -> dict[str, Any]:
    """The same options with the values they have if none are given."""
    usual = _options(STRATEGIES[of.name]())
    if of.protocol != "none":
        # What is usual for the others depends on these two.
        alike = STRATEGIES[of.name](of.protocol, on=of.on)
        return _options(alike) | {option: usual[option] for option in ("protocol", "on")}
    return usual


def _written(value: object) -> str:
    """A value as :func:`strategy` reads it."""
    return str(value).lower() if isinstance(value, bool) else str(value) or "''"


def _option(given: str, text: str) -> tuple[str, Any]:
    name, found, value = (part.strip() for part in text.partition("="))
    if not found or not name or not value:
        raise UsageError(
            f"strategy {shown(given)}: an option is written name=value, not {text.strip()!r}"
        )
    return name, _value(value.strip("'\""))


def _value(text: str) -> Any:  # noqa: ANN401 - what a value means is for the option to say
    match text.lower():
        case "true" | "yes":
            return True
        case "false" | "no":
            return False
        case "none" | "null":
            return None if text != "none" else "none"
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            continue
    return text


def _number(option: str, value: object, meaning: str, *, most: float) -> None:
    if type(value) not in {int, float} or not 0 <= value <= most:  # type: ignore[operator]
        raise UsageError(f"{option} {meaning}; {shown(value)} is none of that")


def _one_of(option: str, value: str, allowed: tuple[str, ...]) -> None:
    if value not in allowed:
        raise UsageError(f"{option} is one of {', '.join(allowed)}, not {shown(value)}")
