"""The network as inline SVG: a tree from left to right, its links as wide as their traffic.

Each leaf has a row of its own, and each broker stands half way between the first and the last of
those behind it, so no two lines cross and no two names overlap::

    Capital ──┬── West ──┬── Coast   3,204 copies
              │          └── Port    2,987 copies
              └── East ───── Hills   1,518 copies

Each link is drawn twice: a pale band for all documents, which is what flooding sends, and on it a
line for what was really sent. A telephone has no room for that, so there the same brokers stand one
below the other, each with a bar for the link that leads to it::

    Capital
      West    ██████████░░
        Coast ████░░░░░░░░   3,204 copies

Colours are those of the page, by CSS classes, so that the drawings
follow light and dark; pointing at a link or a broker shows its figures.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from html import escape
from typing import Final, NamedTuple

from twigcast.cli.demo.strategy_traffic import Carried
from twigcast.display import counted
from twigcast.routing import Topology

_WIDTH: Final = 940
_ROW: Final = 25
_LEFT, _RIGHT, _TOP, _BOTTOM = 62, 190, 30, 52
_BAND: Final = 15.0
"""The width of a link that all documents crossed."""
_LINE_MIN: Final = 0.8
_RADIUS: Final = 6
_NOTHING: Final = Carried(0, 0, 0)

_LIST_WIDTH: Final = 340
_LIST_ROW: Final = 26
_LIST_INDENT: Final = 14
_LIST_NAMED_DEPTH: Final = 2
"""Brokers so near to the first one have their names in bold."""
_LIST_BAR_LEFT, _LIST_BAR_WIDTH, _LIST_BAR_HEIGHT = 124, 112, 12


@dataclass(frozen=True, slots=True)
class _Place:
    """Where a broker stands, behind whom, and whether others stand behind it."""

    x: float
    y: float
    above: str | None
    is_leaf: bool


def network_drawing(
    topology: Topology,
    links: Mapping[tuple[str, str], Carried],
    copies: Mapping[str, int],
    *,
    documents: int,
) -> str:
    """The drawing of documents that went out from the first broker of a topology.

    ``links`` are what went over links by (broker, neighbour), ``copies`` what brokers handed over.
    """
    places = _places(topology)
    height = max(place.y for place in places.values()) + _BOTTOM
    parts = [
        *_bands(places, links),
        *_lines(places, links, documents),
        *_brokers(places, copies),
        *_legend(height - 14, documents),
    ]
    words = f"{len(places)} brokers as a tree, with the documents that crossed each link"
    return (
        f'<svg class="network" viewBox="0 0 {_WIDTH} {height:g}" role="img" '
        f'aria-label="{escape(words, quote=True)}">{"".join(parts)}</svg>'
    )


def network_list(
    topology: Topology,
    links: Mapping[tuple[str, str], Carried],
    copies: Mapping[str, int],
    *,
    documents: int,
) -> str:
    """The same as a list, narrow enough for a telephone."""
    tree = _tree(topology)
    parts: list[str] = []
    for row, broker in enumerate(_downwards(topology.brokers[0], tree)):
        above, depth, _ = tree[broker]
        y = row * _LIST_ROW
        if above is not None:
            carried = links.get((above, broker), _NOTHING)
            parts += _bar(y + 7, carried.documents / documents, _link_words(above, broker, carried))
        name = "name" if depth < _LIST_NAMED_DEPTH else "leaf"
        x, y = depth * _LIST_INDENT, y + 18
        parts.append(f'<text class="{name}" x="{x}" y="{y}">{escape(broker)}</text>')
        if copies.get(broker):
            number = counted(copies[broker], "copy", "copies")
            at = f'x="{_LIST_WIDTH}" y="{y}" text-anchor="end"'
            parts.append(f'<text class="faint" {at}>{number}</text>')
    height = (len(tree) + 1) * _LIST_ROW
    legend = f"bars: crossings to the broker, of {counted(documents, 'document')}"
    parts.append(f'<text class="faint" x="0" y="{height - 6}">{legend}</text>')
    words = f"{len(tree)} brokers as a list, with the share of the documents that reached each"
    return (
        f'<svg class="network-list" viewBox="0 0 {_LIST_WIDTH} {height}" '
        f'role="img" aria-label="{escape(words, quote=True)}">{"".join(parts)}</svg>'
    )


def _bar(y: int, share: float, words: str) -> Iterator[str]:
    at = f'x="{_LIST_BAR_LEFT}" y="{y}" height="{_LIST_BAR_HEIGHT}"'
    yield (
        f'<rect class="band" {at} width="{_LIST_BAR_WIDTH}"><title>{escape(words)}</title></rect>'
    )
    yield f'<rect class="line" {at} width="{_LIST_BAR_WIDTH * share:.1f}"/>'


class _Standing(NamedTuple):
    """Where in the tree a broker stands."""

    above: str | None
    depth: int
    behind: tuple[str, ...]


def _tree(topology: Topology) -> dict[str, _Standing]:
    """All brokers, those nearer to the first one earlier."""
    first = topology.brokers[0]
    above: dict[str, str | None] = {first: None}
    depth = {first: 0}
    tree: dict[str, _Standing] = {}
    order = [first]
    for broker in order:  # which grows meanwhile
        behind = tuple(one for one in topology.neighbours(broker) if one not in above)
        above.update(dict.fromkeys(behind, broker))
        depth.update(dict.fromkeys(behind, depth[broker] + 1))
        order.extend(behind)
        tree[broker] = _Standing(above[broker], depth[broker], behind)
    return tree


def _downwards(broker: str, tree: Mapping[str, _Standing]) -> Iterator[str]:
    """A broker, then each of those behind it with all that stand behind them."""
    yield broker
    for below in tree[broker].behind:
        yield from _downwards(below, tree)


def _places(topology: Topology) -> dict[str, _Place]:
    """Rows for leaves from the top, columns by the distance from the first broker."""
    tree = _tree(topology)
    leaves = (one for one in _downwards(topology.brokers[0], tree) if not tree[one].behind)
    rows = {broker: float(row) for row, broker in enumerate(leaves)}
    for broker, (_, _, behind) in reversed(tree.items()):
        if behind:
            rows[broker] = (rows[behind[0]] + rows[behind[-1]]) / 2
    column = (_WIDTH - _LEFT - _RIGHT) / max(1, *(depth for _, depth, _ in tree.values()))
    return {
        broker: _Place(
            _LEFT + depth * column, _TOP + rows[broker] * _ROW, above, is_leaf=not behind
        )
        for broker, (above, depth, behind) in tree.items()
    }


def _link_words(above: str, broker: str, carried: Carried) -> str:
    crossings = counted(carried.documents, "crossing")
    return f"{above} → {broker}: {crossings}, {carried.bytes / 1e6:,.1f} MB"


def _bands(places: Mapping[str, _Place], links: Mapping[tuple[str, str], Carried]) -> Iterator[str]:
    for broker, place in places.items():
        if place.above is not None:
            carried = links.get((place.above, broker), _NOTHING)
            words = _link_words(place.above, broker, carried)
            yield (
                f'<path class="band" d="{_curve(places[place.above], place)}" '
                f'stroke-width="{_BAND}"><title>{escape(words)}</title></path>'
            )


def _lines(
    places: Mapping[str, _Place], links: Mapping[tuple[str, str], Carried], documents: int
) -> Iterator[str]:
    for broker, place in places.items():
        if place.above is not None:
            carried = links.get((place.above, broker), _NOTHING)
            if carried.documents:
                width = max(_LINE_MIN, _BAND * carried.documents / documents)
                curve = _curve(places[place.above], place)
                yield f'<path class="line" d="{curve}" stroke-width="{width:.2f}"/>'


def _curve(near: _Place, far: _Place) -> str:
    half = (near.x + far.x) / 2
    return (
        f"M{near.x:.1f} {near.y:.1f}C{half:.1f} {near.y:.1f} "
        f"{half:.1f} {far.y:.1f} {far.x:.1f} {far.y:.1f}"
    )


def _brokers(places: Mapping[str, _Place], copies: Mapping[str, int]) -> Iterator[str]:
    for broker, place in places.items():
        number = copies.get(broker, 0)
        title = f"<title>{escape(broker)}: {counted(number, 'copy', 'copies')} handed over</title>"
        yield f'<circle cx="{place.x:.1f}" cy="{place.y:.1f}" r="{_RADIUS}">{title}</circle>'
        if place.is_leaf:
            x, y = place.x + _RADIUS + 8, place.y + 4.5
            yield f'<text x="{x:.1f}" y="{y:.1f}">{escape(broker)}</text>'
            yield (
                f'<text class="faint" x="{_WIDTH - 4}" y="{y:.1f}" text-anchor="end">'
                f"{counted(number, 'copy', 'copies')}</text>"
            )
        else:
            y = place.y - _BAND / 2 - 7
            at = f'x="{place.x:.1f}" y="{y:.1f}" text-anchor="middle"'
            yield f'<text class="name" {at}>{escape(broker)}</text>'


def _legend(y: float, documents: int) -> Iterator[str]:
    flooded = f"as wide as all {counted(documents, 'document')}, which flooding sends"
    for x, kind, width, words in (
        (10, "band", _BAND, flooded),
        (400, "line", _BAND / 3, "crossings that there were, to the same scale"),
    ):
        yield f'<path class="{kind}" d="M{x} {y - 4:g}h34" stroke-width="{width:.1f}"/>'
        yield f'<text class="faint" x="{x + 46}" y="{y:g}">{escape(words)}</text>'
