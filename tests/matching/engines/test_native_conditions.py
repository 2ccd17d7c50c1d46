"""Patterns that the kernel tells are those that it was given."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.engines import NATIVE
from tests.matching.engines.native_matchers import matcher_of
from tests.strategies import NAMESPACES, ExpressionPair, subscriptions
from twigcast.errors import UsageError
from twigcast.language import Pattern
from twigcast.language.condition.model import (
    AllOf,
    AnyOf,
    AtDocument,
    Condition,
    Exists,
    FirstStep,
    FirstValue,
    Not,
    ValueTest,
)
from twigcast.language.condition.normal_form import all_of, any_of
from twigcast.language.condition.value_tests import constant_number
from twigcast.language.pattern import CANONICAL_LIMITS
from twigcast.language.xpath.syntax import Number
from twigcast.matching.engines.native import NativeEngine
from twigcast.matching.engines.native_conditions import _written

pytestmark = NATIVE


def renumbered(condition: Condition) -> Condition:
    """The condition with its numbers written as the kernel writes them."""
    match condition:
        case Exists():
            return Exists(condition.reach, condition.label, renumbered(condition.where))
        case ValueTest(operator, Number() as number):
            return ValueTest(operator, Number(_written(constant_number(number))))
        case FirstValue(steps, test):
            kept = [FirstStep(reach, label, renumbered(where)) for reach, label, where in steps]
            written = renumbered(test)
            assert isinstance(written, ValueTest)
            return FirstValue(tuple(kept), written)
        case AllOf():
            return all_of(map(renumbered, condition.parts))
        case AnyOf():
            return any_of(map(renumbered, condition.parts))
        case Not():
            return Not(renumbered(condition.part))
        case AtDocument():
            return AtDocument(renumbered(condition.condition))
        case _:
            return condition


@given(st.lists(subscriptions(exact=True), min_size=1, max_size=4))
def test_the_kernel_tells_the_very_patterns_that_it_was_given(said: list[ExpressionPair]) -> None:
    engine = NativeEngine()
    for number, one in enumerate(said):
        engine.add(number, Pattern.parse(one.text, NAMESPACES))
    for number, one in enumerate(said):
        given_ = Pattern.parse(one.text, NAMESPACES)
        told = engine.patterns[number]
        assert told.condition in {renumbered(given_.condition), given_.condition}
        assert Pattern.parse(told.text, None, CANONICAL_LIMITS) is told


@given(st.from_regex(r"-?[0-9]{1,16}(\.[0-9]{1,8})?", fullmatch=True))
def test_a_number_that_the_kernel_tells_is_the_number_that_was_written(text: str) -> None:
    engine = NativeEngine()
    engine.add(1, Pattern.parse(f"//a[. < {text}]"))
    (told,) = engine.patterns.values()
    assert isinstance(told.condition, Exists)
    assert isinstance(told.condition.where, ValueTest)
    assert constant_number(told.condition.where.constant) == constant_number(Number(text))


@pytest.mark.parametrize("sign", ["", "-"])
def test_a_number_beyond_all_others_can_be_told(sign: str) -> None:
    matcher = matcher_of((f"//a[. > {sign}{'9' * 400}]", f"//a[. < {sign}{'9' * 400}]"))
    written = [matcher._pattern_under(number).text for number in range(2)]
    content = b"<a>5</a>"
    assert matcher_of(written, "lxml").match(content) == matcher.match(content)
    assert matcher.bindings(content, [0, 1]) == matcher_of(written, "lxml").bindings(
        content, [0, 1]
    )


def test_bindings_come_from_the_patterns_that_the_kernel_tells() -> None:
    xpaths = ("/r/*[b]", "//*[@x = 5.50]", "/*/a")
    content = b"<r><a><b/></a><c x='5.5'/></r>"
    native, lxml = matcher_of(xpaths), matcher_of(xpaths, "lxml")
    assert native.bindings(content, [0, 1, 2]) == lxml.bindings(content, [0, 1, 2])
    with pytest.raises(UsageError, match="no subscription with id 9"):
        native.bindings(content, [9])
