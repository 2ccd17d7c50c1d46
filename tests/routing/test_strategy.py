"""Strategies by name and as values: what is read, printed and refused."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from twigcast.errors import UsageError
from twigcast.routing import strategy as strategies
from twigcast.routing.strategy import (
    STRATEGIES,
    Strategy,
    advertised,
    best,
    covering,
    flooding,
    identity,
    prefix,
    strategy,
)

_ADVERTISED = st.builds(
    advertised,
    covering=st.booleans(),
    merging=st.sampled_from(["none", "perfect", "imperfect"]),
    degree=st.floats(0, 1),
    merge_every=st.floats(0, allow_nan=False),
    unadvertised=st.sampled_from(["flood", "refuse"]),
    unit=st.sampled_from(["document", "path"]),
)
_ANY = st.one_of(
    st.sampled_from([flooding(), identity(), best(), covering(), covering("producers")]),
    st.builds(prefix, st.none() | st.integers(1, 1_000)),
    _ADVERTISED,
)


@given(_ANY)
def test_what_is_printed_is_read_again(value: Strategy) -> None:
    assert strategy(str(value)) == value


@pytest.mark.parametrize("name", STRATEGIES)
def test_a_name_stands_for_the_function_of_that_name(name: str) -> None:
    assert strategy(name) == strategy(f" {name} ( ) ") == getattr(strategies, name)()
    assert str(strategy(name)) == name
    assert strategy(name).name == name


def test_a_value_stays_as_it_is() -> None:
    value = prefix(depth=3)
    assert strategy(value) is value


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("prefix(depth=3)", prefix(depth=3)),
        ("prefix(depth=None)", prefix()),
        (" covering ( towards = 'producers' ) ", covering("producers")),
        ("advertised(covering=no)", advertised(covering=False)),
        ("advertised(covering=False, unit=path,)", advertised(covering=False, unit="path")),
        ("advertised(merging=none)", advertised()),
        (
            'advertised(merging="imperfect", degree=0.25, merge_every=5)',
            advertised(merging="imperfect", degree=0.25, merge_every=5.0),
        ),
    ],
)
def test_options_are_read_as_they_are_meant(text: str, value: Strategy) -> None:
    assert strategy(text) == value


def test_only_what_is_not_as_usual_is_printed() -> None:
    assert str(advertised(covering=False, degree=0.1)) == "advertised(covering=false)"
    assert str(advertised(unadvertised="refuse")) == "advertised(unadvertised=refuse)"
    assert str(covering("all")) == "covering"


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("", "no strategy ''; there are flooding, identity, prefix"),
        ("gossip", "no strategy 'gossip'"),
        ("Covering", "no strategy 'Covering'"),
        ("prefix(depth=3", "no strategy 'prefix\\(depth=3'"),
        ("prefix(3)", "written name=value, not '3'"),
        ("prefix(depth=)", "written name=value, not 'depth='"),
        ("prefix(=3)", "written name=value, not '=3'"),
        ("prefix(width=3)", "prefix does not take 'width'; it takes depth"),
        ("best(depth=3)", "best does not take 'depth'; it takes no options"),
        ("advertised(hold_back=covered)", "does not take 'hold_back'; it takes covering, merging"),
        ("prefix(depth=1, depth=2)", "'depth' is said twice"),
    ],
)
def test_what_is_no_strategy_is_refused_with_what_there_is(text: str, reason: str) -> None:
    with pytest.raises(UsageError, match=reason):
        strategy(text)


def test_something_else_than_a_text_is_refused() -> None:
    given: Any = None
    with pytest.raises(UsageError, match="a name or a value, not None"):
        strategy(given)


@pytest.mark.parametrize(
    ("text", "option"),
    [
        ("prefix(depth=0)", "depth"),
        ("prefix(depth=1.5)", "depth"),
        ("prefix(depth=true)", "depth"),
        ("prefix(depth=deep)", "depth"),
        ("covering(towards=advertisers)", "towards is one of all, producers"),
        ("advertised(covering=3)", "covering is true or false"),
        ("advertised(merging=some)", "merging is one of none, perfect, imperfect"),
        ("advertised(degree=1.1)", "degree lies in 0 … 1"),
        ("advertised(degree=-0.1)", "degree lies in 0 … 1"),
        ("advertised(degree=nan)", "degree lies in 0 … 1"),
        ("advertised(degree=true)", "degree lies in 0 … 1"),
        ("advertised(merge_every=-1)", "merge_every is a number of seconds"),
        ("advertised(merge_every=nan)", "merge_every is a number of seconds"),
        ("advertised(merge_every=often)", "merge_every is a number of seconds"),
        ("advertised(unadvertised=drop)", "unadvertised is one of flood, refuse"),
        ("advertised(unit=byte)", "unit is one of document, path"),
    ],
)
def test_a_value_that_an_option_cannot_have_is_refused_by_its_name(text: str, option: str) -> None:
    with pytest.raises(UsageError, match=option):
        strategy(text)


def test_strategies_that_say_all_they_were_asked_for_are_perfect() -> None:
    perfect = [identity(), covering(), covering("producers"), best(), advertised()]
    perfect += [advertised(merging="perfect"), advertised(covering=False)]
    assert all(each.perfect for each in perfect)
    others = [flooding(), prefix(), prefix(1), advertised(merging="imperfect")]
    others += [advertised(unit="path")]
    assert not any(each.perfect for each in others)


def test_flooding_alone_floods() -> None:
    assert [name for name, make in STRATEGIES.items() if make().floods] == ["flooding"]
