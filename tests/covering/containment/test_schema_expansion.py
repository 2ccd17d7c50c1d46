"""What is covered by the names of a schema alone."""

from __future__ import annotations

import pytest

from twigcast.covering import covers
from twigcast.language import Schema

STOCKS = Schema.parse(
    b"""<!ELEMENT stocks (stock | index)*> <!ELEMENT stock (price, note?)> <!ELEMENT index (price)>
        <!ELEMENT price (#PCDATA)> <!ELEMENT note (#PCDATA | b)*> <!ELEMENT b (#PCDATA | b)*>
        <!ATTLIST stock id CDATA #REQUIRED> <!ATTLIST price unit (eur | usd) "eur">"""
)


@pytest.mark.parametrize(
    ("wider", "narrower"),
    [
        ("/stocks/stock/note", "//note"),
        ("/stocks/*/price", "//price"),
        ("/stocks/stock[@id]", "//@id"),
        ("//stock/note/b", "//b"),
        ("//stock[note]/price", "//*[note]/price"),
        ("/stocks/stock/price | /stocks/index/price", "//price"),
        ("//price[@unit = 'usd']", "//*[@unit = 'usd']"),
        ("/stocks//b", "//b//b"),
        ("//stock[price]/note//b", "//*[.//b]/price"),
        ("/stocks/stock[note]/@id", "//*[.//note][@id]"),
        # These match no document of the schema.
        ("//a", "//stock/b"),
        ("//a", "//index[note]"),
        ("//a", "//index/@id | //c | //stocks[@*]"),
    ],
)
def test_it_covers_by_the_schema_alone(wider: str, narrower: str) -> None:
    assert covers(wider=wider, narrower=narrower, schema=STOCKS)
    assert not covers(wider=wider, narrower=narrower)


@pytest.mark.parametrize(
    ("wider", "narrower"),
    [
        ("//stock/price", "//price"),
        ("//b/b", "//b"),
        ("//stock/note", "//stock"),
        ("//price[@unit]", "//price"),
        ("//stock[price][note]", "//stock/price"),
        ("//stock[note]", "//stock[price] | //note"),
    ],
)
def test_it_does_not_cover_by_the_schema(wider: str, narrower: str) -> None:
    assert not covers(wider=wider, narrower=narrower, schema=STOCKS)
