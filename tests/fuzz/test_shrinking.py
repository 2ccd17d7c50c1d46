"""Cases that fail are made smaller without changing what they ask."""

from __future__ import annotations

import msgspec

from fuzz.shrinking import shrunk


class ExpressionPair(msgspec.Struct):
    """An expression, and what libxml2 is asked instead."""

    text: str
    oracle: str = ""


class Case(msgspec.Struct):
    """Some expressions."""

    expressions: list[ExpressionPair]


def _smallest(case: Case, needle: str) -> Case:
    """The case made as small as it gets while an expression still has the needle in it."""

    def still_fails(tried: Case) -> bool:
        return any(needle in expression.text for expression in tried.expressions)

    smallest = shrunk(case, Case, still_fails, is_over=lambda: False)
    assert isinstance(smallest, Case)
    return smallest


def test_an_expression_and_its_oracle_are_shortened_together() -> None:
    case = Case(
        [ExpressionPair("true() and //a[b]", "true() and //a[b]"), ExpressionPair("//c", "//c")]
    )
    assert _smallest(case, "[b]") == Case([ExpressionPair("[b]", "[b]")])


def test_an_expression_stays_whole_where_its_oracle_is_written_otherwise() -> None:
    case = Case([ExpressionPair("a[b]", "//a[b]"), ExpressionPair("c", "//c")])
    assert _smallest(case, "[b]") == Case([ExpressionPair("a[b]", "//a[b]")])


def test_a_text_without_an_oracle_is_shortened() -> None:
    case = Case([ExpressionPair("<a><b/></a>")])
    assert _smallest(case, "<b/>") == Case([ExpressionPair("<b/>")])
