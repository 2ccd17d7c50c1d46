"""Sessions: how the changes of a link are numbered, and what is wrong with a number.

Whenever a link comes up, each side begins a *session* with a higher number than any before, and
numbers its changes 1, 2, 3 … within it. The first is the whole table. So a broker always knows
whether it has seen everything, and a link that was lost needs no history to be right again.
"""

from __future__ import annotations

from dataclasses import dataclass

from twigcast.routing.events import Change


@dataclass(slots=True)
class Session:
    """Where the numbers of one link stand, in both directions."""

    ours: int
    """Our session on this link."""
    sent: int = 0
    """Changes sent in it."""
    theirs: int = 0
    """The far broker's session; 0 before its first."""
    received: int = 0
    """Changes received in it."""

    def begin(self, ours: int) -> None:
        """Begin another session of ours, on the same link: the whole table is sent next."""
        self.ours, self.sent = ours, 0

    def number(self) -> int:
        """The number of the change that is sent next."""
        self.sent += 1
        return self.sent

    def fault(self, change: Change) -> str | None:
        """What is wrong with the numbers of a change that came, or None."""
        if change.number == 1:
            if change.session <= self.theirs:
                return (
                    f"a session begins with number {change.session}, but session {self.theirs} "
                    "was here before; begin with a higher number"
                )
            if change.withdrawn or change.unadvertised:
                return "the first change of a session is the whole table, so it withdraws nothing"
            return None
        if change.session != self.theirs:
            return f"session {change.session} is not the one that is open here ({self.theirs})"
        if change.number != self.received + 1:
            return (
                f"change {change.number} follows change {self.received}: something is missing or "
                "came twice; begin a new session"
            )
        return None

    def accept(self, change: Change) -> None:
        """A change with right numbers was taken in."""
        self.theirs, self.received = change.session, change.number
