"""A target with faults planted in it, of every kind that a runner has to notice.

What a case does is written in it: whoever finds ``wrong`` in a list of words fails, ``hang`` never
ends, ``die`` takes the process along, ``eat`` asks for more memory than there is. ``history`` fails
only where a case before had it, too.
"""

from __future__ import annotations

import os
import threading
from random import Random
from typing import Final

import msgspec

from fuzz.target import ACCEPTED, REFUSED, Fault, Target

PLANTED: Final = os.environ.get("TWIGCAST_FUZZ_PLANTED", "")
"""The word that makes trouble; none in a decent run."""

CASES_BETWEEN: Final = 40
"""Each so many cases, one has the word in it, on average."""

_seen: set[str] = set()


class Case(msgspec.Struct):
    """Some words."""

    words: list[str]


def generate(rng: Random) -> Case:
    """Words that mean nothing; at times the planted one is among them."""
    words = [rng.choice(("lorem", "ipsum", "dolor", "sit")) for _ in range(rng.randint(2, 12))]
    if PLANTED and rng.randrange(CASES_BETWEEN) == 0:
        words.insert(rng.randrange(len(words)), PLANTED)
    return Case(words)


def check(case: Case) -> str:
    """Do what the words ask for."""
    for word in case.words:
        match word:
            case "wrong":
                raise Fault("a wrong word", " ".join(case.words))
            case "raise":
                raise ZeroDivisionError("planted")
            case "hang":
                threading.Event().wait()
            case "die":
                os._exit(7)
            case "eat":
                _seen.add("x" * (1 << 40))
            case "history":
                if word in _seen:
                    raise Fault("seen before", word)
                _seen.add(word)
            case _:
                pass
    return REFUSED if "ipsum" in case.words else ACCEPTED


TARGET: Final = Target(
    name="planted",
    summary="words, some of which are trouble",
    kind=Case,
    generate=generate,
    check=check,
)
