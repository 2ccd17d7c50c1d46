"""Comments and instructions of an internal subset: seen where libxml2 sees them, nowhere else."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.judge import judge
from tests.strategies import THOROUGH
from twigcast import Matcher, explain
from twigcast.language import Pattern
from twigcast.language.pattern import CANONICAL_LIMITS
from twigcast.matching.native import AVAILABLE

ENGINES = ["native", "streaming", "lxml"] if AVAILABLE else ["streaming", "lxml"]
TESTS = ["comment()", "processing-instruction()", "processing-instruction('p')", "node()", "text()"]
PREDICATES = [
    "", "[1]", "[last()]", "[. = 'c']", "[string-length(.) = 1]", "[1 or b]", "[not(self::*)]",
    "[../self::a]", "[not(..)]", "[following::a]", "[contains(., 'c')]", "[position() > 1]",
]  # fmt: skip
PATHS = [
    "//{0}{1}", "/{0}{1}", "/descendant::{0}{1}", "/descendant-or-self::node()/{0}{1}",
    "(//{0}){1}", "(/descendant::{0}){1}", "//./{0}{1}", "/.//{0}{1}", "//{0}{1}/..", "//a/{0}{1}",
    "//{0}{1}/following::{0}", "//a/preceding::{0}{1}", "//a/preceding-sibling::{0}{1}",
    "/descendant::{0}{1}/following::a", "(//{0} | //b){1}",
    "//{0}{1}/self::node()", "//{0}/self::node(){1}", "//node()/{0}{1}", "/self::node()//{0}{1}",
    "(//{0}{1})[. = 'c']", "((//{0}){1})[1]", "(//{0})/self::node(){1}",
    "//self::node()/{0}{1}", "//./self::node()/././{0}{1}", "//self::node()//{0}{1}",
    "/descendant-or-self::node()/self::node()/self::node()/{0}{1}", "//self::node()/./..//{0}{1}",
]  # fmt: skip

AROUND = [
    "{0}", "not({0})", "count({0}) > 0", "count({0}) = 1", "count({0}) = 0", "{0} = 'c'",
    "{0} | //b", "boolean({0})", "string({0}) = 'c'", "contains({0}, 'c')", "//a[{0}]",
    "{0} and //a", "{0} or //b", "not(not({0}))",
]  # fmt: skip
SUBSETS = ["", "<!--c-->", "<?p c?>", "<!--c--><?p x?>", "<!ENTITY e 'x<!--c--><b/>'><!--cd-->"]
BODIES = ["<a/>", "<a><!--c--></a>", "<a>c<?p?><b/></a>", "<!--k--><a/><?p c?>", "<a>&e;</a>"]

EXPRESSIONS = st.builds(
    lambda around, path, test, predicate: around.format(path.format(test, predicate)),
    st.sampled_from(AROUND),
    st.sampled_from(PATHS),
    st.sampled_from(TESTS),
    st.sampled_from(PREDICATES),
)


def _document(subset: str, body: str) -> bytes:
    known = subset if "&e;" not in body or "ENTITY" in subset else f"{subset}<!ENTITY e 'y'>"
    return f"<!DOCTYPE a [{known}]>{body}".encode()


@THOROUGH
@given(EXPRESSIONS, st.sampled_from(SUBSETS), st.sampled_from(BODIES))
def test_every_engine_sees_what_libxml2_sees(xpath: str, subset: str, body: str) -> None:
    content = _document(subset, body)
    expected = judge(xpath, content)
    for engine in ENGINES:
        matcher = Matcher({1: xpath}, engine=engine)
        assert (matcher.match(content) == [1]) is expected
        assert (1 in matcher.find(content)) is expected
    assert explain(xpath, content).matches is expected


@pytest.mark.parametrize(
    "xpath",
    [
        "//comment()[string-length(.) = 1]",
        "//processing-instruction()[1 or b]",
        "//node()[not(self::*)]",
        "(//comment())[. = 'c']",
        "//comment()",
        "/descendant::comment()[. = 'c']",
    ],
)
def test_a_canonical_text_sees_the_same(xpath: str) -> None:
    content = b"<!DOCTYPE a [<?p x?><!--c-->]><a/>"
    again = Pattern.parse(Pattern(xpath).text, None, CANONICAL_LIMITS)
    assert (Matcher({1: again}).match(content) == [1]) is judge(xpath, content)


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("body", BODIES)
@pytest.mark.parametrize(
    "xpath",
    [
        "//self::node()/comment()",
        "//self::node()/self::node()/processing-instruction()",
        "/descendant-or-self::node()/self::node()/comment()",
        "//./self::node()/./comment()",
        "not(//self::node()/comment())",
        "count(//self::node()/node()) = 2",
        "//self::node()//comment()",
        "//./comment()",
    ],
)
def test_a_node_of_its_own_is_no_internal_subset(xpath: str, body: str, engine: str) -> None:
    content = _document("<!--c--><?p x?>", body)
    assert bool(Matcher({1: xpath}, engine=engine).match(content)) == judge(xpath, content)
