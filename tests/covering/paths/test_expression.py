"""Path expressions that cannot be read."""

from __future__ import annotations

import pytest

from twigcast.covering.advertisements.advertisement import (
    Advertisement,
)
from twigcast.covering.advertisements.display import path_expressions
from twigcast.covering.paths.expression import (
    Recursion,
    expression_text,
    read_expression,
    recursion_of,
)
from twigcast.errors import PatternError


def shown(advertisement: Advertisement) -> list[str]:
    return [expression_text(one) for one in path_expressions(advertisement).expressions]


def test_expressions_that_are_none_are_refused_with_their_column() -> None:
    for text, column in (
        ("a/b", 1),
        ("/a//b", 3),
        ("/a(b", 5),
        ("/a)+", 3),
        ("/a()+", 4),
        ("/a(b)", 5),
        ("/a/@x/b", 6),
        ("/a(@x)+", 4),
        ("/a/1", 3),
        ("/a b", 3),
        ("/a/@*", 3),
    ):
        with pytest.raises(PatternError) as caught:
            Advertisement.of_expressions([text])
        assert (caught.value.text, caught.value.column) == (text, column)


def test_expressions_over_a_limit_are_refused() -> None:
    with pytest.raises(PatternError, match="EXPRESSION_CHARACTERS_MAX"):
        Advertisement.of_expressions(["/a" * 4000])
    with pytest.raises(PatternError, match="fewer"):
        Advertisement.of_expressions(["/a" + "(" * 50])


def test_each_form_of_recursion_is_shown_as_such() -> None:
    forms = {
        "/a/b/@c": Recursion.NONE,
        "/a(b/c)+/d": Recursion.SIMPLE,
        "/a(b)+(c/d)+/e": Recursion.SERIES,
        "/a(b(c)+/d)+/e": Recursion.EMBEDDED,
    }
    for text, form in forms.items():
        assert shown(Advertisement.of_expressions([text])) == [text]
        assert recursion_of(read_expression(text)) is form
