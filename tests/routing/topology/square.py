"""A topology of four brokers in a square, and links as pairs."""

from __future__ import annotations

from typing import Any

from twigcast.routing.topology.model import Link

SQUARE: dict[str, Any] = {
    "brokers": ["a", "b", "c", "d"],
    "links": [
        {"between": ["a", "b"], "latency_ms": 4},
        {"between": ["b", "c"], "latency_ms": 1},
        {"between": ["c", "d"], "latency_ms": 3, "bandwidth_mbps": 10},
        {"between": ["d", "a"], "latency_ms": 2},
    ],
}


def pairs(links: tuple[Link, ...]) -> list[str]:
    return ["".join(link.between) for link in links]
