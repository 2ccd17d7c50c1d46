"""Strategies by name and as values: what is read, printed and refused."""

from __future__ import annotations

from itertools import permutations
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
    piggyback,
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
_PLAIN = st.one_of(
    st.sampled_from([flooding(), identity(), best(), covering(), covering("producers")]),
    st.builds(prefix, st.none() | st.integers(1, 1_000)),
    _ADVERTISED,
)
_POSITIVE = ("", "+s", "+d", "+sd")
_NEGATIVE = ("", "-s", "-d", "-sd")
_KINDS = [positive + negative for positive in _POSITIVE for negative in _NEGATIVE]
_SHARE = st.floats(0, 1, exclude_min=True)


@st.composite
def _piggyback(draw: st.DrawFn) -> Strategy:
    on = draw(_PLAIN.filter(lambda each: not each.floods and each.unit == "document"))
    protocol: Any = draw(st.sampled_from(["eager", "lazy", "adaptive"]))
    kinds = st.sampled_from(_POSITIVE if protocol == "eager" else _KINDS)
    options: dict[str, st.SearchStrategy[Any]] = {
        "annotations": kinds,
        "space": st.none() | _SHARE if on.merging == "none" else st.none(),
        "threshold": st.floats(0, 1),
        "bytes_max": st.integers(0, 65_536),
        "audit": st.floats(0, 1),
        "merge_every": st.floats(0, allow_nan=False),
    }
    given: Any = draw(st.fixed_dictionaries({}, optional=options))
    return piggyback(protocol, on=str(on) if draw(st.booleans()) else on, **given)


@given(st.one_of(_PLAIN, _piggyback()))
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
        ("piggyback(space=none)", piggyback(space=None)),
        ("piggyback(annotations='', protocol=eager)", piggyback("eager", "")),
        ("piggyback(on='prefix(depth=2)', audit=1)", piggyback(on=prefix(2), audit=1)),
        (
            " piggyback( on = advertised ( merging=none , degree=0.5 ) , bytes_max = 9 )",
            piggyback(on=advertised(degree=0.5), bytes_max=9),
        ),
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
    assert str(piggyback("lazy", "-ds+s", on=covering(), space=0.25)) == "piggyback"
    assert str(piggyback("eager", "")) == "piggyback(protocol=eager, annotations='')"


@pytest.mark.parametrize(
    "text",
    [
        "piggyback(protocol=eager, on=advertised(merging=perfect))",
        "piggyback(annotations=+sd, on=advertised(covering=false, degree=0.5), space=0.125)",
        "piggyback(protocol=adaptive, space=None, threshold=0.75)",
    ],
)
def test_a_strategy_within_another_is_read_and_printed(text: str) -> None:
    assert str(strategy(text)) == text


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
        ("prefix(depth=1, depth=2)", "'depth' is given twice"),
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
        ("piggyback(protocol=none)", "protocol is one of eager, lazy, adaptive"),
        ("piggyback(annotations=s)", "annotations are positive ones"),
        ("piggyback(annotations=+x)", "annotations are positive ones"),
        ("piggyback(annotations=+)", "annotations are positive ones"),
        ("piggyback(annotations=3)", "annotations are positive ones"),
        ("piggyback(space=0)", "space is a share"),
        ("piggyback(space=1.5)", "space is a share"),
        ("piggyback(space=true)", "space is a share"),
        ("piggyback(space=small)", "space is a share"),
        ("piggyback(threshold=2)", "threshold lies in 0 … 1"),
        ("piggyback(bytes_max=65537)", "at most 65,536, not 65537"),
        ("piggyback(bytes_max=-1)", "bytes_max is a whole number of bytes"),
        ("piggyback(bytes_max=0.5)", "bytes_max is a whole number of bytes"),
        ("piggyback(audit=1.1)", "audit lies in 0 … 1"),
        ("piggyback(merge_every=-1)", "merge_every is a number of seconds"),
        ("piggyback(on=gossip)", "no strategy 'gossip'"),
        ("piggyback(on=covering(towards=all)", "no strategy 'covering\\(towards=all'"),
        ("piggyback(on=3)", "a name or a value, not 3"),
        ("piggyback(on=flooding)", "not on flooding"),
        ("piggyback(on=piggyback)", "not on piggyback"),
        ("piggyback(on=advertised(unit=path))", "sends documents whole"),
        ("piggyback(on=advertised(merging=perfect), space=0.5)", "merges already"),
    ],
)
def test_a_value_that_an_option_cannot_have_is_refused_by_its_name(text: str, option: str) -> None:
    with pytest.raises(UsageError, match=option):
        strategy(text)


def test_strategies_that_say_all_they_were_asked_for_are_perfect() -> None:
    perfect = [identity(), covering(), covering("producers"), best(), advertised()]
    perfect += [advertised(merging="perfect"), advertised(covering=False)]
    perfect += [piggyback(space=None), piggyback(on=advertised(merging="perfect"))]
    assert all(each.perfect for each in perfect)
    others = [flooding(), prefix(), prefix(1), advertised(merging="imperfect")]
    others += [advertised(unit="path"), piggyback(), piggyback(on="prefix", space=None)]
    assert not any(each.perfect for each in others)


def test_flooding_alone_floods() -> None:
    assert [name for name, make in STRATEGIES.items() if make().floods] == ["flooding"]


# Piggyback.


@given(_piggyback())
def test_annotations_go_on_the_steps_of_another_strategy(value: Strategy) -> None:
    on = strategy(value.on)
    assert on.protocol == "none"
    steps = ("hold_back", "towards", "depth", "degree", "unadvertised", "unit")
    assert all(getattr(value, step) == getattr(on, step) for step in steps)
    assert value.merging == ("space" if value.space is not None else on.merging)


@pytest.mark.parametrize(
    ("on", "space"),
    [
        ("covering", 0.25),
        ("best", 0.25),
        ("prefix(depth=3)", 0.25),
        ("advertised", 0.25),
        ("identity", None),
        ("advertised(covering=false)", None),
        ("advertised(merging=imperfect)", None),
    ],
)
def test_what_is_aggregated_already_or_not_meant_to_be_is_usually_left(
    on: str, space: float | None
) -> None:
    assert piggyback(on=on).space == space


def test_what_holds_nothing_back_can_be_aggregated() -> None:
    assert piggyback(on="identity", space=0.5).merging == "space"


def test_merging_happens_as_often_as_where_it_is_put_on_if_nothing_else_is_said() -> None:
    often = advertised(merge_every=5)
    assert piggyback(on=often).merge_every == 5
    assert piggyback(on=often, merge_every=7).merge_every == 7


def test_lazily_all_sixteen_combinations_of_annotations_can_be_had() -> None:
    for protocol in ("lazy", "adaptive"):
        made = [strategy(f"piggyback(protocol={protocol}, annotations='{k}')") for k in _KINDS]
        assert [each.annotations for each in made] == _KINDS


def test_eagerly_negative_annotations_mean_nothing() -> None:
    assert [piggyback("eager", kinds).annotations for kinds in _POSITIVE] == list(_POSITIVE)
    for kinds in set(_KINDS) - set(_POSITIVE):
        with pytest.raises(UsageError, match="mean nothing if documents are forwarded eagerly"):
            piggyback("eager", kinds)


def test_eagerly_the_usual_annotations_are_positive() -> None:
    assert (piggyback().annotations, piggyback("eager").annotations) == ("+s-sd", "+s")


def test_kinds_of_annotations_may_come_in_any_order() -> None:
    for order in permutations(["+s", "+d", "-d", "-s"]):
        assert piggyback(annotations="".join(order)).annotations == "+sd-sd"
    assert piggyback(annotations="-ds+d").annotations == "+d-sd"
