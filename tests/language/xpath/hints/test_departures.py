"""What is named of a refused expression that is not XPath 1.0, and the advice on it."""

from __future__ import annotations

import pytest

from tests.language.xpath.refusals import LOWER, refused
from twigcast.language import Pattern


@pytest.mark.parametrize(
    ("text", "column", "origin", "advice"),
    [
        ("//a[matches(b, 'x+')]", 5, "XPath 2.0", "no regular expressions"),
        ("//a[d > current-date()]", 9, "XPath 2.0", "write the date into the expression"),
        ("lower-case(//a) = string-join(//b, ',')", 19, "XPath 2.0", "string(x)"),
        ("//a[count(distinct-values(b)) > 1]", 11, "XPath 2.0", "preceding::"),
        ("//a[matches(b, '^[Ss]torm')]", 5, "XPath 2.0", "no regular expressions"),
        ("some $x in //a satisfies $x = b", 1, "XPath 2.0", "p[q]"),
        ("some $x in //a satisfies //b[. = $x]", 1, "XPath 2.0", "p[q]"),
        ("//a[b lt 'm']", 7, "XPath 2.0", "compares numbers"),
        ("//a[. << //b]", 7, "XPath 2.0", "preceding::"),
        ("//a[b instance of element()]", 7, "XPath 2.0", "no types"),
        ("//a/(b | c)[1]", 5, "XPath 2.0", "write the paths in full"),
        ("sort(//a)", 1, "XPath 3.1", "nothing like it"),
        ("//a[matches(b, 'É', 'i')]", 5, "XPath 2.0", "no regular expressions"),
        ("//a[tokenize(b, 'ab+') = 'x']", 5, "XPath 2.0", "to test for a word"),
        ("//a[tokenize(b, 'aa') = 'x']", 5, "XPath 2.0", "to test for a word"),
        ("//a[replace(b, '\\s', '') = 'x']", 5, "XPath 2.0", "single letters"),
        ("//a[head((b, c)) = 'x']", 5, "XPath 3.0", "(p)[1]"),
        ("//a[(b, c)[1] = 'x']", 5, "XPath 2.0", "one comparison for each value"),
        ("//a[subsequence(b, 2, 1000000)]", 5, "XPath 2.0", "position() >= 2"),
        ("//a[index-of(b, 'x') = 2]", 5, "XPath 2.0", "whether it is there"),
        ("//a[reverse(b)]", 5, "XPath 2.0", "nothing like it"),
        ("//a[current()/b]", 5, "XSLT", "from the root"),
        ("key('k', 'v')", 1, "XSLT", "predicate"),
        ("document('a.xml')//a", 1, "XSLT", "one document"),
        ("regexp:test(//a, '[a-z]')", 1, "EXSLT", "no regular expressions"),
        ("str:tokenize(//a)", 1, "EXSLT", "nothing like it"),
        # What is wrong besides does not hide where it comes from.
        ("//a[lower-case(b) = ]", 5, "XPath 2.0", "translate("),
        ("//a[b eq ]", 7, "XPath 2.0", "write ="),
        ("if (a) then", 1, "XPath 2.0", "(a and b)"),
    ],
)
def test_what_has_no_rewrite_is_named_with_what_comes_closest(
    text: str, column: int, origin: str, advice: str
) -> None:
    error = refused(text)
    assert error.column == column
    assert error.expected.startswith("XPath 1.0, but ")
    assert error.expected.endswith(f" of {origin}")
    assert error.hint is not None
    assert advice in error.hint


MEANT = [
    ("a==b", 2, "a = b"),
    ("//a[b === 'x']", 7, "//a[b = 'x']"),
    ("//a[b <> 'x']", 7, "//a[b != 'x']"),
    ("//a[@b == 'x' && c]", 8, "//a[@b = 'x' and c]"),
    ("//a[b = 'x' || c = 'y' || d]", 13, "//a[b = 'x' or c = 'y' or d]"),
    ("//a[b || c]", 7, "//a[b or c]"),
    ("a[b='x' AND c]", 9, "a[b = 'x' and c]"),
    ("a[b='x' OR NOT(c)]", 9, "a[b = 'x' or not(c)]"),
    ("//a[not @b]", 5, "//a[not(@b)]"),
    ("//a[!b and !(c = 'x')]", 5, "//a[not(b) and not(c = 'x')]"),
    ("//a[. = \u2018x\u2019]", 9, "//a[. = 'x']"),
    ("//a[. = \u201cx\u201d and @b=\u00aby\u00bb]", 9, "//a[. = 'x' and @b = 'y']"),
    ("//a[b\u00a0= 'x']", 6, "//a[b = 'x']"),
    ("//a[b &gt; 5]", 7, "//a[b > 5]"),
    ("//a[b = &quot;x&quot; and c &lt;= 5]", 9, "//a[b = 'x' and c <= 5]"),
    ("//a[b='x'];", 11, "//a[b = 'x']"),
    ("//a[b in ('x','y')]", 7, "//a[b = 'x' or b = 'y']"),
    ("//a[b like '%x%']", 7, "//a[contains(b, 'x')]"),
    ("//a[b LIKE 'x%']", 7, "//a[starts-with(b, 'x')]"),
    ("//a[b contains 'x']", 7, "//a[contains(b, 'x')]"),
    ("//a[containes(b, 'x')]", 5, "//a[contains(b, 'x')]"),
    ("//a[startswith(b, 'x')]", 5, "//a[starts-with(b, 'x')]"),
    ("//a[trim(b) = 'x']", 5, "//a[normalize-space(b) = 'x']"),
    ("//a[toLower(b) = 'x']", 5, f"//a[translate(b, {LOWER}) = 'x']"),
    ("a/b/", 5, "a/b"),
    ("///a", 3, "//a"),
    ("//a/[b]", 5, "//a[b]"),
    ("//*:*", 4, "//*"),
]


@pytest.mark.parametrize(("text", "column", "meant"), MEANT)
def test_habits_of_other_languages_are_answered_with_what_was_meant(
    text: str, column: int, meant: str
) -> None:
    error = refused(text)
    assert (error.column, error.hint) == (column, f"did you mean {meant}?")
    Pattern.parse(meant)
