"""Value tests pass where libxml2 finds the same comparison true."""

from __future__ import annotations

from hypothesis import assume, given
from hypothesis import strategies as st
from lxml import etree

from twigcast.language.condition.model import Operator, ValueTest
from twigcast.language.condition.value_tests import passes
from twigcast.language.xpath.syntax import Literal, Number

VALUES = st.sampled_from(
    ["", " ", "0", "-0", "5", " 5 ", "5.0", "05", "1e3", "1E-3", ".5", "5.", "+5", "x", "xy", "5x",
     "NaN", "Infinity", "-5", "9007199254740993", "1" * 400, "5\n"]
)  # fmt: skip
CONSTANTS = st.one_of(
    VALUES.map(Literal),
    st.sampled_from(["0", "5", "1.5", "1000", "1e3", ".5", "9007199254740992"]).map(Number),
)


@given(st.sampled_from(Operator), CONSTANTS, VALUES)
def test_a_value_passes_if_libxml2_says_so(
    operator: Operator, constant: Literal | Number, value: str
) -> None:
    written = f"'{constant.value}'" if isinstance(constant, Literal) else constant.text
    is_call = operator in {Operator.CONTAINS, Operator.STARTS_WITH}
    assume(not (is_call and isinstance(constant, Number)))
    text = f"{operator}(., {written})" if is_call else f". {operator} {written}"
    element = etree.Element("a")
    element.text = value
    expected = bool(etree.XPath(f"boolean({text})")(element))
    assert passes(ValueTest(operator, constant), value) is expected
