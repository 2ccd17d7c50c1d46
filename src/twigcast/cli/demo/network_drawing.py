"""The network as inline SVG: a tree from left to right, its links as wide as their traffic.

Each leaf has a row of its own, and each broker stands half way between the first and the last of
those behind it, so no two lines cross and no two names overlap::

    Capital ──┬── West ──┬── Coast   3,204 copies
              │          └── Port    2,987 copies
              └── East ───── Hills   1,518 copies

Each link is drawn twice: a pale band for all documents, which is what flooding sends, and on it a
line for what was really sent. Colours are those of the page, by CSS classes, so that the drawing
follows light and dark; pointing at a link or a broker shows its figures.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from html import escape
from typing import Final

from twigcast.cli.demo.traffic import Carried
from twigcast.cli.speaking import counted
from twigcast.routing import Topology

__all__ = ["network_drawing"]

_WIDTH: Final = 940
_ROW: Final = 25
_LEFT, _RIGHT, _TOP, _BOTTOM = 62, 190, 30, 52
_BAND: Final = 15.0
"""The width of a link that all documents crossed."""
_LINE_MIN: Final = 0.8
_RADIUS: Final = 6
_NOTHING: Final = Carried(0, 0, 0)


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
        *_bands(places, links, documents),
        *_lines(places, links, documents),
        *_brokers(places, copies),
        *_legend(height - 14, documents),
    ]
    words = f"{len(places)} brokers as a tree, with the documents that crossed each link"
    return (
        f'<svg class="network" viewBox="0 0 {_WIDTH} {height:g}" role="img" '
        f'aria-label="{escape(words, quote=True)}">{"".join(parts)}</svg>'
    )


def _places(topology: Topology) -> dict[str, _Place]:
    """Rows for leaves from the top, columns by the distance from the first broker."""
    above: dict[str, str | None] = {topology.brokers[0]: None}
    behind: dict[str, list[str]] = {}
    order = [topology.brokers[0]]
    for broker in order:  # which grows meanwhile
        behind[broker] = [one for one in topology.neighbours(broker) if one not in above]
        above.update(dict.fromkeys(behind[broker], broker))
        order.extend(behind[broker])
    depth: dict[str, int] = {}
    for broker in order:
        parent = above[broker]
        depth[broker] = 0 if parent is None else depth[parent] + 1
    rows = {broker: float(row) for row, broker in enumerate(_leaves(order[0], behind))}
    for broker in reversed(order):
        if behind[broker]:
            rows[broker] = (rows[behind[broker][0]] + rows[behind[broker][-1]]) / 2
    column = (_WIDTH - _LEFT - _RIGHT) / max(1, *depth.values())
    return {
        broker: _Place(
            _LEFT + depth[broker] * column,
            _TOP + rows[broker] * _ROW,
            above[broker],
            not behind[broker],
        )
        for broker in order
    }


def _leaves(broker: str, behind: Mapping[str, list[str]]) -> Iterator[str]:
    if not behind[broker]:
        yield broker
    for below in behind[broker]:
        yield from _leaves(below, behind)


def _bands(
    places: Mapping[str, _Place], links: Mapping[tuple[str, str], Carried], documents: int
) -> Iterator[str]:
    for broker, place in places.items():
        if place.above is not None:
            carried = links.get((place.above, broker), _NOTHING)
            told = (
                f"{place.above} → {broker}: {carried.documents:,} of "
                f"{counted(documents, 'document')}, {carried.bytes / 1e6:,.1f} MB"
            )
            yield (
                f'<path class="band" d="{_curve(places[place.above], place)}" '
                f'stroke-width="{_BAND}"><title>{escape(told)}</title></path>'
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
        (400, "line", _BAND / 3, "documents that were sent, to the same scale"),
    ):
        yield f'<path class="{kind}" d="M{x} {y - 4:g}h34" stroke-width="{width:.1f}"/>'
        yield f'<text class="faint" x="{x + 46}" y="{y:g}">{escape(words)}</text>'
