"""Links in simulated time: latency, bandwidth, and what is lost with a link.

A message of n bytes occupies its direction of the link for n · 8 / bandwidth seconds, then travels
for the latency; so messages arrive in the order in which they were sent, and the two directions do
not disturb each other::

    sent         |■■■■| occupied                  a second one, sent too early, waits
                      └──── latency ────▶ arrives

A link can be lost and return. What is on its way then is lost, and so is what a broker sends that
does not know yet: each time a link returns is another *session*, and a message belongs to the
session that its sender knew of.

Sizes are computed and not written out (:func:`~twigcast.routing.in_memory.traffic.message_bytes`):
writing 64,000 patterns over 126 links just to count them would take longer than all the rest.
"""

from __future__ import annotations

from dataclasses import dataclass

from twigcast.routing.topology.model import Link


@dataclass(slots=True)
class SimulatedLink:
    """A link in simulated time, for both directions."""

    latency: float
    """Seconds."""
    bandwidth: float | None
    """Bits per second in each direction; None where only the latency counts."""
    up: bool = False
    session: int = 0
    """How many times the link has come up."""
    free_at: tuple[float, float] = (0.0, 0.0)
    """When each direction will have sent all that it was given."""

    @classmethod
    def of(cls, link: Link) -> SimulatedLink:
        """A link of a topology, not up yet."""
        megabits = link.bandwidth_mbps
        return cls(link.latency_ms / 1000, None if megabits is None else megabits * 1e6)

    def arrival(self, now: float, size_bytes: int, *, forth: bool) -> float:
        """When a message that is sent now will arrive; its direction is taken until it is out."""
        occupied = size_bytes * 8 / self.bandwidth if self.bandwidth else 0.0
        there, back = self.free_at
        out = max(now, there if forth else back) + occupied
        self.free_at = (out, back) if forth else (there, out)
        return out + self.latency

    def rise(self, now: float) -> None:
        """The link comes up, empty."""
        self.up = True
        self.session += 1
        self.free_at = (now, now)

    def fall(self) -> None:
        """The link is lost, with all that is on it."""
        self.up = False
