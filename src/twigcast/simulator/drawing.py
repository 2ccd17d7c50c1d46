"""A picture of a network and what went over it, as SVG.

The tree is drawn from left to right, from its middle to its leaves
(:mod:`~twigcast.routing.topology.layout`)::

    middle ──┬── b2 ──┬── b4
             │        └── b5
             └── b3 ───── b6

A broker's disc grows with its table, a link's line with the documents it carried, and the line is
the redder the more of them crossed it needlessly. A link that carried nothing is thin and grey.
Pointing at one shows its figures. There is no script and nothing from elsewhere in the picture; it
is the same text each time.
"""

from __future__ import annotations

from collections.abc import Iterator
from html import escape
from math import sqrt
from typing import Final

from twigcast.door import door
from twigcast.routing.events import BrokerId
from twigcast.routing.topology.layout import Point, points, tree_layout
from twigcast.routing.topology.model import Tree
from twigcast.simulator.results import LinkDocuments, Results

_ROWS: Final = (26, 44)
"""The height of a row where there are many leaves, and where there are few."""
_FEW: Final = 20
_COLUMN: Final = 130
_MARGIN: Final = 40
_HEAD: Final = 64
_FOOT: Final = 74
_LETTER: Final = 7.5
"""The width of a letter, about: names must find room at the right."""
_WIDTH_MIN: Final = 720
"""As much as the legend needs."""

_RADIUS: Final = (3.5, 11.0)
_LINE: Final = (1.5, 9.0)
_UNUSED: Final = "#b8bec6"
_NEEDED: Final = (43, 110, 165)
_NEEDLESS: Final = (205, 60, 40)

_STYLE: Final = (
    "text{font:12px system-ui,sans-serif;fill:#20262e;paint-order:stroke;stroke:#fff;"
    "stroke-width:3px;stroke-linejoin:round}"
    ".title{font-size:17px;font-weight:600}.faint{fill:#5a6472}"
    ".link{fill:none;stroke-linecap:round}"
    ".broker{fill:#39424e;stroke:#fff;stroke-width:1.5}"
)


@door("drawing a network")
def drawn_network(network: Tree, results: Results, *, title: str) -> str:
    """The network with what a run brought over its links, as the text of an SVG file."""
    places = _places(network)
    longest = max(len(broker) for broker in network.brokers)
    right = max(place.x for place in places.values()) + _RADIUS[1] + 8 + longest * _LETTER
    heading = _MARGIN + max(len(title) * 1.4, len(_summary(results))) * _LETTER
    width = round(max(right + _MARGIN, heading + _MARGIN, _WIDTH_MIN))
    height = round(max(place.y for place in places.values()) + _ROWS[0] + _FOOT)
    most = max(
        (_both_directions(results, *link.between).crossings for link in network.links), default=0
    )
    largest = max((tables.routes for tables in results.tables.values()), default=0)
    size = f'width="{width}" height="{height}"'
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" {size} viewBox="0 0 {width} {height}">',
        f"<title>{_text(title)}</title>",
        f"<style>{_STYLE}</style>",
        f'<rect {size} fill="#fff"/>',
        *_heading(results, title),
        *_links(network, results, places, most),
        *_brokers(results, places, largest),
        *_legend(height - _FOOT + 30, most, largest),
        "</svg>",
    ]
    return "\n".join(parts) + "\n"


# Where things stand.


def _places(network: Tree) -> dict[str, Point]:
    """Rows for leaves from the top, columns by the distance from the middle; names have room."""
    places = tree_layout(_middle(network), network)
    name = max(map(len, places)) * _LETTER
    left, column = max(_MARGIN, name / 2 + 8), max(_COLUMN, name + 40)
    row = _ROWS[max(place.row for place in places.values()) < _FEW]
    return points(places, left=left, column=column, top=_HEAD + row, row=row)


def _middle(network: Tree) -> str:
    """The broker half way on the longest path: from there the tree is least deep."""
    far = [*tree_layout(network.brokers[0], network)][-1]
    places = tree_layout(far, network)
    path: list[str] = []
    here: str | None = [*places][-1]
    while here is not None:
        path.append(here)
        here = places[here].above
    return path[len(path) // 2]


# What is drawn.


def _heading(results: Results, title: str) -> Iterator[str]:
    yield f'<text class="title" x="{_MARGIN}" y="32">{_text(title)}</text>'
    yield f'<text class="faint" x="{_MARGIN}" y="52">{_text(_summary(results))}</text>'


def _summary(results: Results) -> str:
    share = _percent(results.needless, results.crossings)
    return (
        f"{results.strategy}: {results.publications:,} documents, "
        f"{results.delivered:,} deliveries, {results.crossings:,} crossings, "
        f"{share} of them needless"
    )


def _links(network: Tree, results: Results, places: dict[str, Point], most: int) -> Iterator[str]:
    for link in network.links:
        near, far = sorted(link.between, key=lambda broker: places[broker].x)
        there, back = _one_direction(results, near, far), _one_direction(results, far, near)
        both = _both_directions(results, near, far)
        title = "; ".join(
            f"{one} → {other}: {way.crossings:,} documents, {way.needless:,} needless"
            for one, other, way in ((near, far, there), (far, near, back))
        )
        yield (
            f'<path class="link" d="{_curve(places[near], places[far])}" {_stroke(both, most)}>'
            f"<title>{_text(f'{title}; {link.latency_ms:g} ms')}</title></path>"
        )


def _curve(near: Point, far: Point) -> str:
    half = (near.x + far.x) / 2
    return f"M{near.x:g} {near.y:g}C{half:g} {near.y:g} {half:g} {far.y:g} {far.x:g} {far.y:g}"


def _stroke(carried: LinkDocuments, most: int) -> str:
    if not carried.crossings:
        return f'stroke="{_UNUSED}" stroke-width="1" stroke-dasharray="3 4"'
    width = _scaled(carried.crossings / most, _LINE)
    return f'stroke="{_colour(carried.needless / carried.crossings)}" stroke-width="{width:.2f}"'


def _brokers(results: Results, places: dict[str, Point], largest: int) -> Iterator[str]:
    for broker, place in places.items():
        tables = results.tables[BrokerId(broker)]
        radius = _radius(tables.routes, largest)
        title = (
            f"{broker}: {tables.routes:,} routes, {tables.subscriptions:,} subscriptions, "
            f"{tables.advertisements:,} advertisements, {tables.forwarded:,} forwarded"
        )
        yield (
            f'<circle class="broker" cx="{place.x:g}" cy="{place.y:g}" r="{radius:.2f}">'
            f"<title>{_text(title)}</title></circle>"
        )
        if place.is_leaf:
            at = f'x="{place.x + radius + 6:.1f}" y="{place.y + 4:g}"'
        else:
            at = f'x="{place.x:g}" y="{place.y - radius - 5:.1f}" text-anchor="middle"'
        yield f"<text {at}>{_text(broker)}</text>"


def _legend(y: float, most: int, largest: int) -> Iterator[str]:
    x = float(_MARGIN)
    yield f'<g class="faint"><text class="faint" x="{x:g}" y="{y - 14:g}">documents</text>'
    for number in sorted({1, max(most // 2, 1), max(most, 1)}):
        width = _scaled(number / max(most, 1), _LINE)
        stroke = f'stroke="{_colour(0)}" stroke-width="{width:.2f}"'
        yield f'<path class="link" d="M{x:g} {y + 6:g}h26" {stroke}/>'
        yield f'<text class="faint" x="{x + 34:g}" y="{y + 10:g}">{number:,}</text>'
        x += 86
    x = _MARGIN + 280
    yield f'<text class="faint" x="{x:g}" y="{y - 14:g}">needless share</text>'
    for step in range(11):
        colour = _colour(step / 10)
        yield f'<rect x="{x + step * 14:g}" y="{y:g}" width="14" height="10" fill="{colour}"/>'
    yield f'<text class="faint" x="{x:g}" y="{y + 25:g}">0 %</text>'
    yield f'<text class="faint" x="{x + 154:g}" y="{y + 25:g}" text-anchor="end">100 %</text>'
    x = _MARGIN + 480
    yield f'<text class="faint" x="{x:g}" y="{y - 14:g}">routes in the table</text>'
    for number in sorted({0, largest}):
        radius = _radius(number, largest)
        yield f'<circle class="broker" cx="{x + 10:g}" cy="{y + 6:g}" r="{radius:.2f}"/>'
        yield f'<text class="faint" x="{x + 28:g}" y="{y + 10:g}">{number:,}</text>'
        x += 70
    yield "</g>"


# Figures as shapes.


def _one_direction(results: Results, one: str, other: str) -> LinkDocuments:
    return results.documents[one, other]


def _both_directions(results: Results, one: str, other: str) -> LinkDocuments:
    there, back = results.documents[one, other], results.documents[other, one]
    return LinkDocuments(
        there.crossings + back.crossings,
        there.needless + back.needless,
        there.flooded + back.flooded,
    )


def _scaled(share: float, between: tuple[float, float]) -> float:
    low, high = between
    return low + share * (high - low)


def _radius(routes: int, largest: int) -> float:
    """By the root, so that the disc itself grows with the table."""
    return _scaled(sqrt(routes / largest) if largest else 0.0, _RADIUS)


def _colour(share: float) -> str:
    mixed = (round(_scaled(share, ends)) for ends in zip(_NEEDED, _NEEDLESS, strict=True))
    return "#" + "".join(f"{part:02x}" for part in mixed)


def _percent(part: int, whole: int) -> str:
    return f"{100 * part / whole:.1f} %" if whole else "none"


def _text(text: str) -> str:
    """A text as SVG takes it: escaped, and without signs that no XML may have."""
    return escape(
        "".join(sign if sign.isprintable() else "\N{REPLACEMENT CHARACTER}" for sign in text)
    )
