"""Label paths are remembered within a bound, until the patterns change."""

from __future__ import annotations

from tests.matching.streaming.small_engines import engine_of, matches
from twigcast.language import Pattern


def test_names_that_nobody_mentions_are_remembered_once() -> None:
    engine = engine_of("//a/*[@x]", "//p:*")
    many = b"".join(b"<n%d a%d='1' x='1'/>" % (one, one) for one in range(500))
    assert matches(engine, b"<a>" + many + b"</a>") == (0,)
    few = engine.statistics().remembered
    assert matches(engine, b"<a>" + many * 3 + b"</a>") == (0,)
    assert engine.statistics().remembered == few
    assert few < 500 * 2 + 100  # A reference for each name that was seen, and one path for all.


def test_what_is_remembered_is_forgotten_when_it_grows_over_its_bound() -> None:
    names = [f"n{one}" for one in range(100)]
    engine = engine_of(*(f"//{name}/@x" for name in names), remembered_max=1_000)
    content = b"<r>" + b"".join(b"<%s x=''/>" % name.encode() for name in names) + b"</r>"
    for _ in range(3):
        assert matches(engine, content) == tuple(range(100))
        assert 0 < engine.statistics().remembered <= 1_000


def test_a_change_forgets_what_is_remembered_and_a_double_does_not() -> None:
    engine = engine_of("//a", "//b")
    matches(engine, b"<a><b/></a>")
    remembered = engine.statistics().remembered
    engine.add(5, Pattern.parse("//a"))
    assert engine.statistics().remembered == remembered > 0
    engine.add(6, Pattern.parse("//c"))
    assert engine.statistics().remembered == 0
    assert matches(engine, b"<a><b/></a>") == (0, 1, 5)
