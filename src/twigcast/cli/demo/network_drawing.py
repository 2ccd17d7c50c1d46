"""The network as inline SVG: a tree from left to right, its links as wide as their traffic.

Brokers stand where :mod:`~twigcast.routing.topology.layout` puts them::

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
from html import escape
from typing import Final

from twigcast.cli.demo.strategy_traffic import LinkLoad
from twigcast.display import counted
from twigcast.routing import Topology
from twigcast.routing.topology.layout import Point, downwards, points, tree_layout

_WIDTH: Final = 940
_ROW: Final = 25
_LEFT, _RIGHT, _TOP, _BOTTOM = 62, 190, 30, 52
_BAND: Final = 15.0
"""The width of a link that all documents crossed."""
_LINE_MIN: Final = 0.8
_RADIUS: Final = 6
_NOTHING: Final = LinkLoad(0, 0, 0)

_LIST_WIDTH: Final = 340
_LIST_ROW: Final = 26
_LIST_INDENT: Final = 14
_LIST_NAMED_DEPTH: Final = 2
"""Brokers so near to the first one have their names in bold."""
_LIST_BAR_LEFT, _LIST_BAR_WIDTH, _LIST_BAR_HEIGHT = 124, 112, 12


def network_drawing(
    topology: Topology,
    links: Mapping[tuple[str, str], LinkLoad],
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
    label = f"{len(places)} brokers as a tree, with the documents that crossed each link"
    return (
        f'<svg class="network" viewBox="0 0 {_WIDTH} {height:g}" role="img" '
        f'aria-label="{escape(label, quote=True)}">{"".join(parts)}</svg>'
    )


def network_list(
    topology: Topology,
    links: Mapping[tuple[str, str], LinkLoad],
    copies: Mapping[str, int],
    *,
    documents: int,
) -> str:
    """The same as a list, narrow enough for a telephone."""
    first = topology.brokers[0]
    tree = tree_layout(first, topology)
    behind = {broker: place.behind for broker, place in tree.items()}
    parts: list[str] = []
    for row, broker in enumerate(downwards(first, behind)):
        above, depth = tree[broker].above, tree[broker].depth
        y = row * _LIST_ROW
        if above is not None:
            carried = links.get((above, broker), _NOTHING)
            parts += _bar(y + 7, carried.documents / documents, _link_label(above, broker, carried))
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
    label = f"{len(tree)} brokers as a list, with the share of the documents that reached each"
    return (
        f'<svg class="network-list" viewBox="0 0 {_LIST_WIDTH} {height}" '
        f'role="img" aria-label="{escape(label, quote=True)}">{"".join(parts)}</svg>'
    )


def _bar(y: int, share: float, label: str) -> Iterator[str]:
    at = f'x="{_LIST_BAR_LEFT}" y="{y}" height="{_LIST_BAR_HEIGHT}"'
    yield (
        f'<rect class="band" {at} width="{_LIST_BAR_WIDTH}"><title>{escape(label)}</title></rect>'
    )
    yield f'<rect class="line" {at} width="{_LIST_BAR_WIDTH * share:.1f}"/>'


def _places(topology: Topology) -> dict[str, Point]:
    """Rows for leaves from the top, columns by the distance from the first broker."""
    places = tree_layout(topology.brokers[0], topology)
    column = (_WIDTH - _LEFT - _RIGHT) / max(1, *(place.depth for place in places.values()))
    return points(places, left=_LEFT, column=column, top=_TOP, row=_ROW)


def _link_label(above: str, broker: str, carried: LinkLoad) -> str:
    crossings = counted(carried.documents, "crossing")
    return f"{above} → {broker}: {crossings}, {carried.bytes / 1e6:,.1f} MB"


def _bands(places: Mapping[str, Point], links: Mapping[tuple[str, str], LinkLoad]) -> Iterator[str]:
    for broker, place in places.items():
        if place.above is not None:
            carried = links.get((place.above, broker), _NOTHING)
            label = _link_label(place.above, broker, carried)
            yield (
                f'<path class="band" d="{_curve(places[place.above], place)}" '
                f'stroke-width="{_BAND}"><title>{escape(label)}</title></path>'
            )


def _lines(
    places: Mapping[str, Point], links: Mapping[tuple[str, str], LinkLoad], documents: int
) -> Iterator[str]:
    for broker, place in places.items():
        if place.above is not None:
            carried = links.get((place.above, broker), _NOTHING)
            if carried.documents:
                width = max(_LINE_MIN, _BAND * carried.documents / documents)
                curve = _curve(places[place.above], place)
                yield f'<path class="line" d="{curve}" stroke-width="{width:.2f}"/>'


def _curve(near: Point, far: Point) -> str:
    half = (near.x + far.x) / 2
    return (
        f"M{near.x:.1f} {near.y:.1f}C{half:.1f} {near.y:.1f} "
        f"{half:.1f} {far.y:.1f} {far.x:.1f} {far.y:.1f}"
    )


def _brokers(places: Mapping[str, Point], copies: Mapping[str, int]) -> Iterator[str]:
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
    for x, kind, width, label in (
        (10, "band", _BAND, flooded),
        (400, "line", _BAND / 3, "crossings that there were, to the same scale"),
    ):
        yield f'<path class="{kind}" d="M{x} {y - 4:g}h34" stroke-width="{width:.1f}"/>'
        yield f'<text class="faint" x="{x + 46}" y="{y:g}">{escape(label)}</text>'
