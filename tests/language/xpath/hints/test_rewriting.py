"""Rewritings of refused expressions: the answers of the original, within bounds, or none."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.language.xpath.refusals import LOWER, mistake_in, refused, rewritten
from tests.oracle import oracle
from twigcast.errors import PatternError
from twigcast.language import Pattern
from twigcast.language.pattern import PatternLimits


@pytest.mark.parametrize(
    "text",
    [
        "//if[eq = 1]", "//for/some/every", "if", "some", "//a[eq and lt or is]", "let[in]",
        "//a[then = else]", "//to[idiv]", "instance/of", "cast[as]", "//union | //except",
        "//element[attribute]", "//a[eq = 'eq']", "matches", "//exists[empty = data]", "//in[like]",
        "//AND[OR]", "//item", "//a[. = '||' or . = '(: :)' or . = '$x']", "contains[b]", "NOT",
    ],
)  # fmt: skip
def test_elements_may_be_named_like_words_of_later_xpath(text: str) -> None:
    assert mistake_in(text) is None


def test_a_rewrite_keeps_the_prefixes_of_the_author() -> None:
    error = refused("//p:a[lower-case(p:b) = 'x']", {"p": "urn:p"})
    assert error.hint == f"write //p:a[translate(p:b, {LOWER}) = 'x']"


def test_a_limit_that_is_overstepped_brings_no_rewrite() -> None:
    with pytest.raises(PatternError) as caught:
        Pattern.parse("a" + "/b" * 70 + "[c eq 'x']")
    assert caught.value.hint is None


# A rewrite has the results of the original, which libxml2 cannot evaluate.

SHOP = b"""<shop>
<item id='A-1' class='new  sale'><name>Storm Lamp</name><price>9.5</price><on>2024-02-01</on></item>
<item id='B-22' class='old'><name>storm</name><price>120</price><price>80</price></item>
<item id='C-3' class='resale'><name>Oil.pdf</name><price>-3</price><on>2023-12-31</on><sold/></item>
</shop>"""


@pytest.mark.parametrize(
    ("text", "ids"),
    [
        ("lower-case(name) = 'storm lamp'", "A"),
        ("upper-case(name) = 'STORM'", "B"),
        ("ends-with(name, '.pdf')", "C"),
        ("ends-with(name, 'Lamp')", "A"),
        ("ends-with(name, 'a much longer text than any name')", ""),
        ("ends-with(@id, concat('-', '3'))", "C"),
        ("matches(name, '^Storm')", "A"),
        ("matches(name, '^storm', 'i')", "AB"),
        ("matches(name, 'm$')", "B"),
        ("matches(name, '\\.pdf$')", "C"),
        ("matches(@id, '-\\d$')", "AC"),
        ("matches(@id, '\\d{2}')", "B"),
        ("matches(price[1], '^\\d+$')", "B"),
        ("matches(on, '^\\d{4}-\\d{2}-\\d{2}$')", "AC"),
        ("matches(name, 'Lamp|Oil')", "AC"),
        ("matches(@class, '^(old|new)$')", "B"),
        ("tokenize(@class, '\\s+') = 'sale'", "A"),
        ("tokenize(@class, '\\s+') = ('old', 'resale')", "BC"),
        ("contains-token(@class, 'new')", "A"),
        ("tokenize(@id, '-') = '22'", "B"),
        ("empty(sold)", "AB"),
        ("exists(sold) or exists(price[2])", "BC"),
        ("max(price) > 100", "B"),
        ("max(price) < 100", "AC"),
        ("min(price) >= 80", "B"),
        ("min(price) < 0", "C"),
        ("sum(../item/xs:decimal(price)) > 206", "ABC"),
        ("sum(self::item/number(price)) > 119", "B"),
        ("max(price) = 120", "B"),
        ("min(price) = 120", ""),
        ("avg(price) = 100", "B"),
        ("abs(price[1]) = 3", "C"),
        ("abs(price[1]) gt 9", "AB"),
        ("price = 1 to 3", ""),
        ("price = 60 to 90", "B"),
        ("price = 0 to 90", "B"),
        ("price = (9.5, 80)", "AB"),
        ("not(name = ('storm', 'x'))", "AC"),
        ("name eq 'storm'", "B"),
        ("name ne 'storm'", "AC"),
        ("price[1] ge 9.5 and price[1] le 120", "AB"),
        ("on lt '2024-01-01'", "C"),
        ("xs:date(on) ge xs:date('2024-02-01')", "A"),
        ("xs:date(on) = xs:date('2023-12-31')", "C"),
        ("year-from-date(xs:date(on)) = 2024", "A"),
        ("month-from-date(xs:date(on)) = 12", "C"),
        ("on castable as xs:date", "AC"),
        ("price[1] castable as xs:integer", "BC"),
        ("price[1] castable as xs:double", "ABC"),
        ("name castable as xs:decimal", ""),
        ("price[1] idiv 100 = 1", "B"),
        ("if (on) then price > 0 else price[2]", "AB"),
        ("if (sold) then true() else price > 100", "BC"),
        ("(if (sold) then name else @class) = ('Oil.pdf', 'old')", "BC"),
        ("some $p in price satisfies $p > 100", "B"),
        ("some $p in price satisfies $p[. = 80]", "B"),
        ("every $p in price satisfies $p > 0", "AB"),
        ("every $p in nothing satisfies $p > 0", "ABC"),
        ("some $w in ('Lamp', 'Oil') satisfies contains(name, $w)", "AC"),
        ("every $w in ('Storm', 'Lamp') satisfies contains(name, $w)", "A"),
        ("some $p in price, $q in $p/.. satisfies $q/sold", "C"),
        ("for $p in price return $p[. > 100]", "B"),
        ("let $limit := 100 return price > $limit", "B"),
        ("price/number(.) = 80", "B"),
        ("(name | on)/lower-case(.) = 'storm'", "B"),
        ("* except (name, price, on)", "C"),
        ("@* except @id", "ABC"),
        ("* intersect //sold", "C"),
        ("(* except //price) = 'storm'", "B"),
        ("name is *[1]", "ABC"),
        ("name is *[2]", ""),
        ("sold is name", ""),
        ("sold is nothing", ""),
        ("name || '!' = 'storm!'", "B"),
        ("replace(on, '-', '') = '20240201'", "A"),
        ("self::element(item)/element(sold)", "C"),
        ("(name, on) = 'storm'", "B"),
        ("head(price) = 80", ""),
        ("tail(price) = 80", "B"),
        ("price[position() = 2 to 3]", "B"),
        ("xs:boolean(sold)", ""),
        ("index-of(price, 80)", "B"),
    ],
)
def test_a_rewrite_gives_the_answers_of_the_original(text: str, ids: str) -> None:
    found = rewritten(f"//item[{text}]")
    matching = "".join(one for one in "ABC" if oracle(f"{found}[starts-with(@id, '{one}')]", SHOP))
    assert matching == ids, found


def test_for_to_and_choices_outside_predicates_give_the_same_answers() -> None:
    for text, expected in [
        ("for $i in //item return $i/sold", True),
        ("every $i in //item satisfies $i/price", True),
        ("every $i in //item satisfies $i/on", False),
        ("if (//sold) then //none else //item", False),
        ("if (//none) then //none else //item", True),
        ("count(//item) = 2 to 4", True),
        ("//name/lower-case(.) = 'oil.pdf'", True),
        ("//item/(sold, none)", True),
        ("//item/(none | nothing)/name", False),
    ]:
        assert oracle(rewritten(text), SHOP) is expected, text


# Whatever is written, nothing but a PatternError comes of it, and soon.

WORDS = [
    "if", "for", "some", "every", "let", "$x", "in", "satisfies", "return", "then", "else", "(",
    ")", "[", "]", ",", "/", "//", "|", "||", "!", "=", "==", "!=", "<", ">", "<<", ">>", "eq",
    "ne", "is", "to", "div", "idiv", "and", "or", "AND", "not", "lower-case(", "matches(",
    "tokenize(", "ends-with(", "max(", "exists(", "'a'", '"b"', "'a''b'", "'^a$'", "1", "2.5",
    "a", "b", "@x", "*", ".", "..", "::", "child::", "element(", "text()", "Q{u}a", ":=", "=>",
    "instance", "of", "cast", "as", "castable", "xs:date(", "xs:integer", "intersect", "except",
    "union", "fn:contains(", "\u2018x\u2019", "\u201c", "&lt;", ";", "#", "{", "}", "?",
    "current()", "(:", ":)", "contains(", "in", "like", "NOT(", "re:test(", "count(",
    "position()", "to",
]  # fmt: skip


@given(st.lists(st.sampled_from(WORDS), min_size=1, max_size=16))
def test_any_words_of_later_xpath_are_an_expression_or_a_pattern_error(tokens: list[str]) -> None:
    text = " ".join(tokens)
    error = mistake_in(text)
    assert error is None or 1 <= error.column <= len(text) + 1
    hint = (error.hint if error else None) or ""
    if hint.startswith("did you mean ") and not hint.endswith(("()?", "::?")):
        assert mistake_in(hint.removeprefix("did you mean ").removesuffix("?")) is None


@pytest.mark.parametrize(
    "text",
    [
        "a eq 'x' and " * 600 + "b",
        "lower-case(" * 400 + "a" + ")" * 400,
        "if (a) then " * 400 + "b" + " else c" * 400,
        "if (" * 2000 + "a",
        "not " * 2000 + "a",
        "!" * 8000,
        "a" + "/(b)" * 1990,
        "some $x in ('a', 'b') satisfies " * 250 + "$x",
        "(" + "1," * 1900 + "1) = (" + "1," * 1900 + "1)",
        '"' * 7999,
        "\u2018" * 8000,
        "(:" * 2000 + ":)" * 2000,
        "&lt;" * 2000,
        "a" + ";" * 7990,
        "matches(a, '" + "a|" * 3900 + "')",
        "#a" * 4000,
        "$" + ".a" * 3900,
        "1 or 1 and 1 = 1 || 1 to 1 + 1 * 1 | 1 intersect (" * 150,
        "a" + " => lower-case()" * 490,
        "a" + " ! b" * 1900,
        "let $a := //a return " + "let $a := concat($a, $a) return " * 200 + "$a",
        "let $a := ('a', 'b') return " + "let $a := ($a, $a) return " * 40 + "//a = $a",
        "/" * 8000,
        "x" * 7990 + "(",
    ],
    ids=lambda text: text[:12],
)
def test_a_hostile_expression_is_refused_within_bounds(text: str) -> None:
    with pytest.raises(PatternError) as caught:
        Pattern.parse(text, limits=PatternLimits(characters_max=8192))
    assert len(caught.value.reason) < 9000


def test_dates_are_not_subtracted_as_numbers() -> None:
    assert refused("//a[xs:date(b) - xs:date(c) > 5]").hint is None
