"""The values that both sides of a workload draw from."""

from __future__ import annotations

import pytest

from twigcast.errors import UsageError
from twigcast.language.dtd.schema import AttributeDeclaration, AttributeType, Presence
from twigcast.workload import Vocabulary

VOCABULARY = Vocabulary()


def test_a_name_has_numbers_or_words_always() -> None:
    for name in ("width", "title", "price", "author"):
        values = VOCABULARY.values(name)
        assert values == Vocabulary().values(name)
        assert all(value.isdigit() for value in values) is VOCABULARY.is_numeric(name)
    kinds = {VOCABULARY.is_numeric(f"name{number}") for number in range(20)}
    assert kinds == {True, False}


def test_enumerations_and_fixed_attributes_have_their_own_values() -> None:
    listed = AttributeDeclaration("a", AttributeType.ENUMERATION, ("x", "y"))
    fixed = AttributeDeclaration("a", AttributeType.CDATA, (), Presence.FIXED, "1.0")
    assert VOCABULARY.attribute_values(listed) == ("x", "y")
    assert VOCABULARY.attribute_values(fixed) == ("1.0",)


def test_predicates_on_ids_ask_for_the_first_ones() -> None:
    identifier = AttributeDeclaration("a", AttributeType.ID)
    assert VOCABULARY.attribute_values(identifier)[0] == "i1"


@pytest.mark.parametrize("wrong", [{"numbers": 0}, {"words": ()}, {"words": ("two words",)}])
def test_a_vocabulary_that_cannot_be_used_is_refused(wrong: dict[str, object]) -> None:
    with pytest.raises(UsageError):
        Vocabulary(**wrong)  # type: ignore[arg-type]
