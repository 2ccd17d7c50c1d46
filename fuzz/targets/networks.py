"""Small networks under any strategy, with any subscriptions and documents: flooding's deliveries.

The books and the oracle are those of the tests (:mod:`tests.routing.networks`). Among the documents
are some that nobody can read: they are delivered to nobody, and change nothing for those behind.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from functools import cache
from random import Random
from typing import Final

import msgspec
from lxml import etree

from fuzz.cases import as_bytes, as_text
from fuzz.drawing import drawer
from fuzz.matchers import ENGINE_NAMES
from fuzz.mutation import XML_PIECES, mutated
from fuzz.oracle import tree_of
from fuzz.target import ACCEPTED, REFUSED, UNDECIDED, Fault, Target
from fuzz.xml_text import random_document
from tests.oracle import oracle_tree
from tests.routing.networks import Fault as NetworkFault
from tests.routing.networks import Play, tree
from tests.routing.vocabulary import DOCUMENTS, EXPRESSIONS, STRATEGIES, Expression, annotating
from tests.strategies import ExpressionPair, subscriptions
from twigcast.errors import DocumentError, FloodingWarning, InternalError, PatternError
from twigcast.language import Document, Pattern

ALL_STRATEGIES: Final = (
    *STRATEGIES,
    *annotating("lazy", "+sd-sd"),
    *annotating("eager", "+s"),
    *annotating("adaptive", "+s-sd"),
)
_TOO_COSTLY: Final = "too costly to decide"
"""What a dead letter says of a document that is not decided; such a network is not by_oracle on."""

BROKERS_MAX: Final = 7
_KINDS: Final = ("subscribe",) * 6 + (
    "unsubscribe",
    "advertise",
    "unadvertise",
    "link",
    "cut",
    "merge",
)


class Move(msgspec.Struct):
    """Something that happens; numbers are taken modulo what there is."""

    do: str
    broker: int
    number: int
    text: str = ""
    oracle: str = ""


class Case(msgspec.Struct):
    """A network and its life."""

    parents: list[int]
    strategy: int
    engine: str
    moves: list[Move]


@cache
def _draw() -> Callable[[Random], ExpressionPair]:
    return drawer(subscriptions())


def generate(rng: Random) -> Case:
    """Subscriptions and promises come and go, links break, and documents are published between."""
    moves = [_move(rng) for _ in range(rng.randint(5, 30))]
    return Case(
        parents=[rng.randrange(BROKERS_MAX) for _ in range(rng.randint(1, BROKERS_MAX - 1))],
        strategy=rng.randrange(len(ALL_STRATEGIES)),
        engine=rng.choice(ENGINE_NAMES),
        moves=moves,
    )


def _move(rng: Random) -> Move:
    broker, number = rng.randrange(BROKERS_MAX), rng.randrange(1_000)
    if rng.randrange(2):
        content = rng.choice(DOCUMENTS) if rng.randrange(3) else random_document(rng, errors=0.4)
        if rng.randrange(5) == 0:
            content = mutated(rng, content, XML_PIECES)
        return Move("publish", broker, number, as_text(content))
    do = rng.choice(_KINDS)
    if do != "subscribe":
        return Move(do, broker, number)
    if rng.randrange(4):
        expression = rng.choice(EXPRESSIONS)
        return Move(do, broker, number, expression.text, expression.oracle)
    drawn = _draw()(rng)
    return Move(do, broker, number, drawn.text, drawn.oracle)


def check(case: Case) -> str:
    """Play it; whoever is wrong raises."""
    engine = case.engine if case.engine in ENGINE_NAMES else ENGINE_NAMES[0]
    strategy = ALL_STRATEGIES[case.strategy % len(ALL_STRATEGIES)]
    play = Play(tree(case.parents or [0]), strategy, engine)
    refused = False
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FloodingWarning)  # publishers here promise what they like
        try:
            for move in case.moves:
                refused |= _made(play, move)
        except NetworkFault as fault:
            if fault.kind == "dead letter" and _TOO_COSTLY in str(fault):
                return UNDECIDED
            raise
        play.check_annotations()
    return REFUSED if refused else ACCEPTED


def _made(play: Play, move: Move) -> bool:
    """Make a move; whether it was refused."""
    match move.do:
        case "publish":
            return _published(play, move.broker, as_bytes(move.text))
        case "subscribe":
            expression = Expression(move.text, move.oracle)
            try:
                Pattern.parse(expression.text, expression.namespaces)
            except PatternError:
                return True
            play.subscribe(move.broker, "xyz"[move.number % 3], expression)
        case "unsubscribe":
            play.unsubscribe(move.number)
        case "advertise":
            play.advertise(move.broker, None, move.number)
        case "unadvertise":
            play.unadvertise(move.number)
        case "link":
            play.add_link(move.broker, move.number)
        case "cut":
            play.remove_link(move.number)
        case _:
            play.merge()
    return False


def _published(play: Play, broker: int, content: bytes) -> bool:
    """Publish a document; whether it was refused."""
    if _is_readable(content):
        play.publish(broker, None, content)
        return False
    at = play.brokers[broker % len(play.brokers)]
    before = [play.network.tables(each) for each in play.brokers]
    try:
        outcome = play.network.publish(at, content)
    except InternalError:
        raise
    except DocumentError:
        outcome = None
    if outcome is not None and outcome.deliveries and tree_of(content) is None:
        raise Fault("an unreadable document is delivered", repr(content))
    if before != [play.network.tables(each) for each in play.brokers]:
        raise Fault("an unreadable document changes tables", repr(content))
    return True


def _is_readable(content: bytes) -> bool:
    """Whether a document is within the limits, and plain enough for the oracle of the tests."""
    try:
        Document.parse(content)
        oracle_tree(content)
    except (DocumentError, etree.XMLSyntaxError, UnicodeDecodeError):
        return False
    return tree_of(content) is not None


TARGET: Final = Target(
    name="networks",
    summary="small networks under every strategy, against flooding",
    kind=Case,
    generate=generate,
    check=check,
)
