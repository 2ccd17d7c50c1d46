"""A histogram and bars as inline SVG: a few shapes and texts, no library, sharp at any size.

Colours are those of the page, by CSS classes, so that the plot follows light and dark. The letters
are sized for a plot of about 440 pixels, half of a wide page; on a telephone, where a plot has
some 320, the page makes them larger.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from html import escape
from itertools import count
from math import ceil, floor, log10
from typing import NamedTuple

_WIDTH, _HEIGHT = 440, 300
_LEFT, _RIGHT, _TOP, _BOTTOM = 46, 8, 12, 48
_BARS_MAX = 16
_TICKS = 4
_LABEL_WIDTH = 26
_BAR_ROW, _BAR_HEIGHT = 40, 13


class ChartBar(NamedTuple):
    """A number with a name; a part of it may be wasted."""

    name: str
    number: int
    wasted: int = 0


def histogram(counts: Mapping[int, int], *, across: str, upwards: str) -> str:
    """The plot of how often each whole number occurs, neighbours joined where there are many."""
    bins = _bins(counts)
    top = _round_up(max((number for _, number in bins), default=1))
    width = (_WIDTH - _LEFT - _RIGHT) / max(len(bins), 1)
    parts = [*_grid(top), *_bars(bins, top, width), *_labels(bins, width)]
    middle = (_LEFT + _WIDTH - _RIGHT) / 2
    parts.append(_text(middle, _HEIGHT - 8, across + _steps(bins), "middle"))
    summary = escape(f"{upwards} by {across}", quote=True)
    return (
        f'<svg class="plot" viewBox="0 0 {_WIDTH} {_HEIGHT}" role="img" aria-label="{summary}">'
        + "".join(parts)
        + "</svg>"
    )


def bars(rows: Sequence[ChartBar], *, across: str) -> str:
    """The plot of named numbers, one below the other, what is wasted at the end of each bar."""
    most = max((row.number for row in rows), default=0) or 1
    parts: list[str] = []
    for place, (name, number, wasted) in enumerate(rows):
        y = place * _BAR_ROW
        title = f"{name}: {number:,}" + (f", {wasted:,} of them needless" if wasted else "")
        used, whole = ((number - wasted) / most * _WIDTH, number / most * _WIDTH)
        parts += [
            _text(0, y + 15, name, "start"),
            _text(_WIDTH, y + 15, f"{number:,}", "end"),
            f'<rect class="track" x="0" y="{y + 21}" width="{_WIDTH}" height="{_BAR_HEIGHT}"/>',
            f"<g><title>{escape(title)}</title>",
            _bar("bar", 0, y, used),
            *([_bar("bar none", used, y, whole - used)] if wasted else []),
            "</g>",
        ]
    height = len(rows) * _BAR_ROW + 4
    return (
        f'<svg class="plot bars-plot" viewBox="0 0 {_WIDTH} {height}" role="img" '
        f'aria-label="{escape(across, quote=True)}">{"".join(parts)}</svg>'
    )


def _bar(kind: str, x: float, y: float, width: float) -> str:
    return (
        f'<rect class="{kind}" x="{x:.1f}" y="{y + 21}" '
        f'width="{width:.1f}" height="{_BAR_HEIGHT}"/>'
    )


def _bins(counts: Mapping[int, int]) -> list[tuple[tuple[int, int], int]]:
    """Ranges of equal width, and how many fall into each; 0 stays alone, for it is special."""
    if not counts:
        return []
    last = max(counts)
    step = next(width for width in _widths() if last <= width * _BARS_MAX)
    ranges = [(0, 0), *((start, start + step - 1) for start in range(1, last + 1, step))]
    return [(span, sum(counts.get(n, 0) for n in range(span[0], span[1] + 1))) for span in ranges]


def _steps(bins: Sequence[tuple[tuple[int, int], int]]) -> str:
    """A note on the width of the ranges, if they are ranges."""
    first, last = bins[-1][0] if bins else (0, 0)
    return f" (in steps of {last - first + 1})" if last > first else ""


def _widths() -> Iterator[int]:
    """1, 2, 5, 10, 20, 50 and so on."""
    return (lead * 10**power for power in count() for lead in (1, 2, 5))


def _round_up(number: int) -> int:
    """The next number that divides well into ticks.

    >>> _round_up(137), _round_up(350), _round_up(9)
    (160, 400, 12)
    """
    power: int = 10 ** floor(log10(max(number, 1)))
    tops = (power * lead // 10 for lead in (12, 16, 20, 24, 32, 40, 60, 80, 100, 120))
    return next(top for top in tops if number <= top and top % _TICKS == 0)


def _height(number: float, top: int) -> float:
    """Where a number stands, counted from the top of the plot."""
    return _TOP + (_HEIGHT - _TOP - _BOTTOM) * (1 - number / top)


def _grid(top: int) -> list[str]:
    lines = []
    for tick in range(_TICKS + 1):
        number = top * tick / _TICKS
        y = _height(number, top)
        lines.append(f'<path class="grid" d="M{_LEFT} {y:.1f}H{_WIDTH - _RIGHT}"/>')
        lines.append(_text(_LEFT - 6, y + 4, f"{number:,.4g}", "end"))
    return lines


def _bars(bins: Sequence[tuple[tuple[int, int], int]], top: int, width: float) -> list[str]:
    bars = []
    for place, (span, number) in enumerate(bins):
        x, y = _LEFT + place * width, _height(number, top)
        kind = "bar none" if span == (0, 0) else "bar"
        title = f"<title>{_span(span)}: {number:,}</title>"
        bars.append(
            f'<rect class="{kind}" x="{x + width * 0.1:.1f}" y="{y:.1f}" rx="2" '
            f'width="{width * 0.8:.1f}" height="{_height(0, top) - y:.1f}">{title}</rect>'
        )
    return bars


def _labels(bins: Sequence[tuple[tuple[int, int], int]], width: float) -> list[str]:
    """The beginnings of the ranges, as many as fit side by side."""
    every = max(1, ceil(_LABEL_WIDTH / width))
    return [
        _text(_LEFT + (place + 0.5) * width, _HEIGHT - _BOTTOM + 17, str(span[0]), "middle")
        for place, (span, _) in enumerate(bins)
        if place % every == 0
    ]


def _span(span: tuple[int, int]) -> str:
    return str(span[0]) if span[0] == span[1] else f"{span[0]}–{span[1]}"


def _text(x: float, y: float, text: str, anchor: str) -> str:
    return f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}">{escape(text)}</text>'
