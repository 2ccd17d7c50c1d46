"""Brokers that lie about documents are found out, and named.

With ``audit``, a share of the documents that come with annotations is decided without them and
compared. Whoever told something untrue is accused by the next broker, and the document goes where
it has to go all the same.
"""

from __future__ import annotations

from collections.abc import Sequence
from random import Random
from typing import Any

import pytest

from tests.engines import EVERY_ENGINE
from tests.routing.neighbours import EAST, UP, WEST, broker
from tests.routing.networks import random_play
from tests.routing.test_planted_bugs import LIARS, PLAYS_MAX, Effects, Liar
from tests.routing.vocabulary import WILDCARDS, annotating
from twigcast.covering import Bound
from twigcast.routing.broker.router import Router
from twigcast.routing.events import Accuse, Deliver, Event, Send

pytestmark = pytest.mark.filterwarnings("ignore::twigcast.errors.FloodingWarning")
"""Networks are drawn with publishers who have advertised nothing, and flooding is right there."""

THE_LIAR = "B2"
"""In every topology of a play it has a neighbour."""


class Court:
    """Keeps the accusations of a play."""

    def __init__(self, patch: pytest.MonkeyPatch) -> None:
        self.accused: list[tuple[str, Accuse]] = []
        honest = Router.handle

        def handle(router: Router, event: Event, *, now: float) -> Effects:
            effects = honest(router, event, now=now)
            self.accused += [
                (router.name, effect) for effect in effects if isinstance(effect, Accuse)
            ]
            return effects

        patch.setattr(Router, "handle", handle)


# In a network.


@pytest.mark.parametrize(("liar", "kinds"), LIARS, ids=lambda each: getattr(each, "__name__", each))
def test_who_lies_is_named_and_documents_go_where_they_have_to_go(
    liar: type[Liar], kinds: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The oracle of the law finds no fault, though one of the brokers lies all the time."""
    monkeypatch.setattr(liar, "lies", lambda _, router: router.name == THE_LIAR)
    liar(monkeypatch)
    court = Court(monkeypatch)
    strategies = annotating("lazy", kinds, audit=1.0)
    for seed in range(PLAYS_MAX):
        random_play(
            Random(seed),
            strategies=strategies,
            engine="streaming",
            tables=False,
            brokers_max=6,
            theme=WILDCARDS if seed % 2 else None,
        )
        if seed >= 2 and len(court.accused) > 1:
            break
    assert {accusation.link for _, accusation in court.accused} == {THE_LIAR}
    assert THE_LIAR not in {accuser for accuser, _ in court.accused}
    for _, accusation in court.accused:
        assert accusation.publication.startswith("p")
        assert accusation.reason.endswith("that is not so")


# By hand.

CONTENT = b"<r><a><b/></a><c/></r>"


def lies(engine: str, kinds: str, **options: Any) -> Any:  # noqa: ANN401 - see broker
    """A broker with clients for //a and //z, and neighbours that ask for //a/b and //c."""
    return broker(
        "lazy",
        kinds,
        own={1: "//a", 2: "//z"},
        east=("//a/b",),
        west=("//c", "//a/*"),
        engine=engine,
        audit=1.0,
        **options,
    )


@pytest.mark.parametrize("engine", EVERY_ENGINE)
@pytest.mark.parametrize(
    ("denied", "reason"),
    [
        (("//z", "//c"), "it says that //c does not match; that is not so"),
        (("//z", "//a/b"), "it says that //a/b does not match; that is not so"),
        ((), "it says that //z matches; that is not so"),
        (("//z",), None),
    ],
)
def test_an_accusation_names_the_link_the_document_and_what_is_untrue(
    engine: str, denied: tuple[str, ...], reason: str | None
) -> None:
    made = lies(engine, "-s")
    (answer,) = made.answers(made.arrives(CONTENT, made.unmatched(*denied), name="p7"))
    accused = [effect for effect in made.effects if isinstance(effect, Accuse)]
    assert accused == ([Accuse(UP, "p7", reason)] if reason else [])
    assert made.router.statistics().lies == len(accused)
    assert not answer.is_unread
    links = {effect.link for effect in made.effects if isinstance(effect, Send)}
    clients = {effect.subscriber for effect in made.effects if isinstance(effect, Deliver)}
    assert (links, clients) == ({EAST, WEST}, {"s1"})


@pytest.mark.parametrize("engine", EVERY_ENGINE)
def test_what_contradicts_itself_is_ignored_and_not_a_lie(engine: str) -> None:
    """Without //a there can be no //a/b: nobody can mean that, so it is a fault of the form."""
    made = lies(engine, "-s")
    (answer,) = made.answers(made.arrives(CONTENT, made.unmatched("//z", "//a")))
    assert (answer.ignored, answer.lie) == (
        "message, matched: something both matches and does not",
        None,
    )
    assert made.router.statistics().annotations_ignored == 1


@pytest.mark.parametrize("engine", EVERY_ENGINE)
def test_a_wildcard_that_stood_for_something_else_is_a_lie(engine: str) -> None:
    made = broker(
        "lazy", "+s", own={1: "/a/b/c", 2: "/a/*/c"}, engine=engine, audit=1.0, covered=True
    )
    place = made.place("/a/*/c")
    (wildcard,) = made.hints.by_place[place].wildcards
    told = made.annotations(matched=((place, (Bound(wildcard, ("b",)),)),))
    (answer,) = made.answers(made.arrives(b"<a><x><c/></x></a>", told))
    assert answer.lie == "it says that /a/b/c matches; that is not so"
    assert answer.subscriptions == (2,)
    (answer,) = made.answers(made.arrives(b"<a><b><c/></b></a>", told, name="q"))
    assert (answer.lie, answer.subscriptions) == (None, (1, 2))


@pytest.mark.parametrize("engine", EVERY_ENGINE)
def test_a_row_that_occurs_and_is_denied_is_a_lie(engine: str) -> None:
    made = broker("lazy", "-d", own={1: "//a/b/c", 2: "//a/b/d"}, engine=engine, audit=1.0)
    told = made.annotations(absent=bytes([1 << made.row("//a/b")]))
    (answer,) = made.answers(made.arrives(b"<a><b><c/></b></a>", told))
    assert answer.lie == "it says that //a/b/c does not match; that is not so"
    assert answer.subscriptions == (1,)
    (answer,) = made.answers(made.arrives(b"<a><c/></a>", told, name="q"))
    assert answer.lie is None


@pytest.mark.parametrize("name", ["c", "d"])
def test_a_position_that_is_too_early_is_a_lie(name: str) -> None:
    """About a subscription here, or about what a neighbour asks for."""
    made = broker("lazy", "+d", own={1: "//a/b/c"}, east=("//a/b/d",), audit=1.0)
    content = f"<r><x/><y/><a><b><{name}/></b></a><z/></r>".encode()
    row = made.row("//a/b")
    (answer,) = made.answers(made.arrives(content, made.annotations(last=((row, 1),))))
    assert answer.lie == f"it says that //a/b/{name} does not match; that is not so"
    assert (answer.links, answer.subscriptions) == (((), (1,)) if name == "c" else ((EAST,), ()))
    (answer,) = made.answers(made.arrives(content, made.annotations(last=((row, 5),)), name="q"))
    assert answer.lie is None


@pytest.mark.parametrize("engine", EVERY_ENGINE)
def test_an_auditor_tells_the_truth_about_rows(engine: str) -> None:
    """What it sends on is what it has found itself."""
    made = broker("lazy", "-d", east=("//a/b/c", "//a/b/d"), engine=engine, audit=1.0)
    told = made.annotations(absent=bytes([1 << made.row("//a/b")]))
    (answer,) = made.answers(made.arrives(b"<a><b><c/></b></a>", told))
    assert answer.lie
    (sent,) = answer.annotations
    assert sent is not None
    far = broker("lazy", "-d", own={1: "//a/b/c", 2: "//a/b/d"}, engine=engine, audit=1.0)
    (answer,) = far.answers(far.arrives(b"<a><b><c/></b></a>", far.annotations(absent=sent.absent)))
    assert answer.lie is None


# A share of them.

IDS = [f"north-{number}" for number in range(10_000)]


def audited(engine: str, share: float, *, own: str = "//z", ids: Sequence[str] = IDS) -> set[str]:
    """Of which of many documents a lie is found."""
    made = broker("lazy", "-s", own={1: own}, engine=engine, audit=share)
    told = made.unmatched()
    found = set()
    for name in ids:
        (answer,) = made.answers(made.arrives(b"<a/>", told, name=name))
        if answer.lie is not None:
            found.add(name)
        assert answer.is_unread == (name not in found)
    assert made.router.statistics().lies == len(found)
    return found


def test_the_share_of_audited_documents_is_as_asked_and_the_same_everywhere() -> None:
    found = audited("streaming", 0.01)
    assert 70 <= len(found) <= 130
    assert audited("lxml", 0.01, own="//y") == found


def test_more_is_audited_with_a_larger_share_and_nothing_with_none() -> None:
    some, more, none = (audited("lxml", share, ids=IDS[:1_000]) for share in (0.01, 0.2, 0.0))
    assert none < some < more
    assert not none
    assert 150 <= len(more) <= 250
