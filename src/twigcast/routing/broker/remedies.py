"""Remedies for drivers of routers, after a message on which something unforeseen has failed.

The router has refused it and goes on as if it had not come
(:mod:`~twigcast.routing.broker.router`). A document is a dead letter then. A change is missing at
one end of a link, so that the next would not follow on it: the link is taken down and up again, and
both ends send their whole tables. Should that fail, too, the change stays refused: what fails
each time would keep the driver busy for ever.

The network in memory and the simulator both use it.
"""

from __future__ import annotations

from enum import Enum, auto

from twigcast.routing.events import (
    Arrive,
    Change,
    DeadLetter,
    Decided,
    Event,
    Garbled,
    LinkUp,
    Publish,
    Received,
)


class Remedy(Enum):
    """What is to be done."""

    DEAD_LETTER = auto()
    """Instead of what the router answered: :func:`dead_letter`."""
    RENEW = auto()
    """Take the link down and up again, at both ends, instead of what the router answered."""
    REPEAT = auto()
    """Hand in the event once more."""
    NONE = auto()
    """The answer of the router stands: the event is refused."""


class Remedies:
    """Which links are being begun anew; each once, until a change was taken in over it."""

    def __init__(self) -> None:
        self._tried: set[tuple[str, str]] = set()

    def after_failure(self, broker: str, event: Event) -> Remedy:
        """What to do about an event that failed at a broker."""
        match event:
            case Received(message=Arrive()):
                return Remedy.DEAD_LETTER
            case Received(link, Change()) if (broker, link) not in self._tried:
                self._tried.add((broker, link))
                return Remedy.RENEW
            case LinkUp(link) if (broker, link) not in self._tried:
                self._tried.add((broker, link))
                return Remedy.REPEAT
            case _:
                return Remedy.NONE

    def after_success(self, broker: str, event: Event) -> None:
        """An event was taken in at a broker, and nothing failed."""
        match event:
            case Received(link, Change()):
                self._tried.discard((broker, link))
            case _:
                pass


def is_about_a_document(event: Event) -> bool:
    """Whether an event changes no table, so that none need be made anew if it fails."""
    match event:
        case Publish() | Decided() | Garbled() | Received(message=Arrive()):
            return True
        case _:
            return False


def dead_letter(event: Event) -> DeadLetter:
    """What becomes of a document on which something failed as it arrived."""
    assert isinstance(event, Received)
    assert isinstance(event.message, Arrive)
    return DeadLetter(event.message.publication, None, "something failed here; see the log")
