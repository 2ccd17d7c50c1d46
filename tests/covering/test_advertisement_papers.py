"""The examples of Dissemination, section 1.4, and where we differ.

The scan lost slashes: ``/b/*/*c/c/d`` is ``/b/*/*/c/c/d``, ``/*c/*b/c`` is ``/*/c/*/b/c``, and
``/a/*c(e/d)+*c/e`` is ``/a/*/c(e/d)+/*/c/e``.
"""

from __future__ import annotations

from functools import cache

import pytest
from hypothesis import given
from hypothesis import strategies as st

from twigcast.covering.advertisements.advertisement import (
    Advertisement,
    advertisement_covers,
    overlaps,
)
from twigcast.covering.paths.expression import Recursion, read_expression, recursion_of
from twigcast.language import Pattern


@cache
def advertised(text: str) -> Advertisement:
    return Advertisement.of_expressions([text])


def overlap(text: str, subscribed: str) -> bool:
    return overlaps(advertised(text), Pattern.parse(subscribed))


def test_an_absolute_subscription_fails_at_its_fourth_element() -> None:
    """Section 1.4.2, Figure 1.4: c is advertised in the fourth place, b required."""
    assert not overlap("/b/*/*/c/c/d", "/*/c/*/b/c")
    assert overlap("/b/*/*/c/c/d", "/*/c/*/c/c")


def test_a_subscription_longer_than_the_advertisement_fails() -> None:
    """Section 1.4.2, line 1 of Figure 1.4."""
    assert overlap("/a/b/c", "/a/b/c")
    assert not overlap("/a/b/c", "/a/b/c/*")
    assert not overlap("/a/b/c", "//b/*/*")


def test_descendant_operators_find_their_parts_one_after_the_other() -> None:
    """Section 1.4.2, Figure 1.7: a = /a/*/e/*/d/*/c/b, s = */a//d/*/c//b.

    The slashes of the example are restored; the first part is relative and needs something above
    an a, which the paper finds in ``a/*``: the second place is a wildcard.
    """
    assert overlap("/a/*/e/*/d/*/c/b", "*/a//d/*/c//b")
    assert not overlap("/a/*/e/*/d/*/c/b", "*/a//d/*/c//b/b")


def test_a_greedy_scan_by_the_next_table_would_miss_a_match() -> None:
    """Figures 1.5 and 1.6 shift by a table that takes matching to be transitive.

    It is not once ``*`` matches anything: a meets *, * meets b, a does not meet b. The definition
    decides: is there a path in both?
    """
    assert overlap("/a/a/b/c", "//a/*/c")
    assert overlap("/a/*/a/*/b/c", "//a/*/b/c")
    assert overlap("/a/b/a/a/b/b", "//a/*/b/b")


def test_the_example_of_a_simple_recursive_advertisement() -> None:
    """Section 1.4.3, Figure 1.8: the recursive part has to stand there twice."""
    assert overlap("/a/*/c(e/d)+/*/c/e", "/*/a/c/*/d/e/d/*")
    assert not overlap("/a/*/c/e/d/*/c/e", "/*/a/c/*/d/e/d/*")


FORMS = {
    "/a/b/c": Recursion.NONE,
    "/a/b(c/d)+/e": Recursion.SIMPLE,
    "/a(b)+/c(d/e)+/f": Recursion.SERIES,
    "/a(b(c/d)+/e)+/f": Recursion.EMBEDDED,
}


@pytest.mark.parametrize("text", FORMS)
def test_the_forms_of_advertisements(text: str) -> None:
    """Section 1.4.1."""
    assert recursion_of(read_expression(text)) is FORMS[text]


@pytest.mark.parametrize("text", FORMS)
@given(data=st.data())
def test_a_recursive_advertisement_overlaps_as_one_of_its_unrollings_does(
    text: str, data: st.DataObject
) -> None:
    """Figures 1.8 to 1.10 try numbers of repetitions; for three steps a few are enough."""
    steps = data.draw(st.lists(st.sampled_from("abcdef*"), min_size=1, max_size=3))
    slashes = data.draw(st.lists(st.sampled_from(["/", "//"]), min_size=3, max_size=3))
    subscribed = "".join(slash + step for slash, step in zip(slashes, steps, strict=False))
    unrolled = [path for path in _unrolled(text) if overlap(path, subscribed)]
    assert overlap(text, subscribed) == bool(unrolled)


def _unrolled(text: str) -> list[str]:
    """The expression with each repeated part written out one to three times."""
    match text:
        case "/a/b(c/d)+/e":
            return ["/a/b" + "/c/d" * n + "/e" for n in range(1, 4)]
        case "/a(b)+/c(d/e)+/f":
            many = range(1, 4)
            return ["/a" + "/b" * n + "/c" + "/d/e" * m + "/f" for n in many for m in many]
        case "/a(b(c/d)+/e)+/f":
            inner = ["/b" + "/c/d" * n + "/e" for n in range(1, 4)]
            once = [f"/a{one}/f" for one in inner]
            return once + [f"/a{one}{two}/f" for one in inner for two in inner] + _thrice(inner)
        case _:
            return [text]


def _thrice(inner: list[str]) -> list[str]:
    short = inner[:2]
    return [f"/a{x}{y}{z}/f" for x in short for y in short for z in short]


def test_covering_of_non_recursive_advertisements_is_that_of_absolute_subscriptions() -> None:
    """Section 1.5.2, last remark, and where we differ: advertisements guarantee, not request.

    ``/a/*`` as a subscription covers ``/a/b/c``, since a document with the longer path has the
    shorter one. As an advertisement it does not: ``/a/b/c`` would be a path not advertised.
    """

    def covers(wider: str, narrower: str) -> bool:
        return advertisement_covers(
            wider=advertised(wider),
            narrower=advertised(narrower),
        )

    assert covers("/a/*/c", "/a/b/c")
    assert not covers("/a/b/c", "/a/*/c")
    assert not covers("/a/*", "/a/b/c")
    assert covers("/a/b/c", "/a/b")
    assert covers("/a/b(c/d)+/e", "/a/b/c/d/c/d/e")
