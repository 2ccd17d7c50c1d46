"""What an internal subset holds, seen where libxml2 sees it and nowhere else.

That is comments and instructions, and what entities stand for: libxml2 keeps it in their
declarations, too, and some axes lead there.
"""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.oracle import oracle
from tests.strategies import THOROUGH
from twigcast import Matcher, covers
from twigcast.language import Pattern
from twigcast.language.pattern import CANONICAL_LIMITS
from twigcast.matching import Finding, Findings, FoundNode
from twigcast.matching.engines.native import AVAILABLE
from twigcast.matching.explain.explain import explain

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


def _told_nodes(finding: Finding) -> list[FoundNode]:
    return [*finding.nodes, *(node for part in finding.parts for node in _told_nodes(part))]


def _check_paths(found: Findings, content: bytes) -> None:
    """Every path that is told selects the node that it is told of, and no other."""
    for node in (one for finding in found.values() for one in _told_nodes(finding)):
        if node.path is not None and not node.path.startswith("namespace::"):
            (again,) = Matcher({1: node.path}).find(content)[1].nodes
            assert again == node


@THOROUGH
@given(EXPRESSIONS, st.sampled_from(SUBSETS), st.sampled_from(BODIES))
def test_every_engine_sees_what_libxml2_sees(xpath: str, subset: str, body: str) -> None:
    content = _document(subset, body)
    expected = oracle(xpath, content)
    for engine in ENGINES:
        matcher = Matcher({1: xpath}, engine=engine)
        assert (matcher.match(content) == [1]) is expected
        found = matcher.find(content)
        assert (1 in found) is expected
        _check_paths(found, content)
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
    assert (Matcher({1: again}).match(content) == [1]) is oracle(xpath, content)


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
    assert bool(Matcher({1: xpath}, engine=engine).match(content)) == oracle(xpath, content)


# Entities.

AXES = [
    "ancestor", "ancestor-or-self", "attribute", "child", "descendant", "descendant-or-self",
    "following", "following-sibling", "namespace", "parent", "preceding", "preceding-sibling",
    "self",
]  # fmt: skip
TESTS_OF_ENTITIES = ["text()", "node()", "*", "b", "c", "comment()", "processing-instruction()"]
VALUES = ["E", "F", "xE", "Ey", "EF", "1", "c"]
PIECES = ["E", "F", "1", "<b/>", "<b>E</b>", "<b k='E'>x<c>F</c></b>", "<!--c-->", "<?p c?>"]

_ANY = 10**18
"""The documents are tiny, and expressions that lead nowhere cost nothing."""

values = st.sampled_from(VALUES)
value_tests = st.one_of(
    st.builds("{} {} '{}'".format, st.just("."), st.sampled_from(["=", "!="]), values),
    st.builds("{}(., '{}')".format, st.sampled_from(["contains", "starts-with"]), values),
    st.builds("not({} = '{}')".format, st.just("."), values),
    st.sampled_from([". > 0", "string-length() = 1", "not(..)", "not(contains(., 'x'))"]),
)


@st.composite
def entity_steps(draw: st.DrawFn, depth: int = 2) -> str:
    step = f"{draw(st.sampled_from(AXES))}::{draw(st.sampled_from(TESTS_OF_ENTITIES))}"
    for _ in range(draw(st.integers(0, 2)) if depth else 0):
        nested = entity_paths(depth=depth - 1)
        compared = st.builds("{} = '{}'".format, nested, values)
        step += f"[{draw(st.one_of(value_tests, value_tests, nested, compared))}]"
    return step


@st.composite
def entity_paths(draw: st.DrawFn, depth: int = 2) -> str:
    steps = draw(st.lists(entity_steps(depth), min_size=1, max_size=3))
    return draw(st.sampled_from(["/", "/", "//"])).join(steps)


entity_expressions = st.one_of(
    st.builds("//{}/{}".format, st.sampled_from(["c", "b", "comment()", "*"]), entity_paths()),
    st.builds("//{}[{}]".format, st.sampled_from(["c", "b", "*", "node()"]), entity_paths()),
    st.builds("(//c/{})[{}]".format, entity_paths(1), value_tests),
    st.builds("//c/{} = '{}'".format, entity_paths(1), values),
)
texts_of_entities = st.builds(
    "//{}/{}::text()[{}]".format,
    st.sampled_from(["c", "comment()", "c/preceding::*", "c/preceding::node()"]),
    st.sampled_from(AXES),
    value_tests,
)
"""Those that are most likely to find something."""


@st.composite
def documents_with_entities(draw: st.DrawFn) -> bytes:
    """A document whose entities stand for texts, elements, comments, and one for another."""
    first = "".join(draw(st.lists(st.sampled_from(PIECES), min_size=1, max_size=3)))
    second = "".join(
        draw(st.lists(st.sampled_from([*PIECES, "&e;", "<c>x&e;</c>"]), min_size=1, max_size=3))
    )
    third = draw(st.sampled_from(["E", "<b>&e;</b>", "never used"]))
    before, subset = (draw(st.sampled_from(["", "<!--c-->"])) for _ in range(2))
    used = ["&e;", "&f;", "x&e;y", "<b>&f;</b>", "<b k='1'>&e;&f;</b>", "E", "<c/>", "<!--c-->"]
    body = "".join(draw(st.lists(st.sampled_from(used), min_size=1, max_size=4)))
    entities = {"e": first, "f": second, "g": third}
    declared = "".join(f'<!ENTITY {name} "{value}">' for name, value in entities.items())
    return f"{before}<!DOCTYPE a [{subset}{declared}]><a>{body}<c/></a>".encode()


@THOROUGH
@given(st.one_of(entity_expressions, texts_of_entities), documents_with_entities())
def test_every_engine_sees_the_entities_that_libxml2_sees(xpath: str, content: bytes) -> None:
    expected = oracle(xpath, content)
    for engine in ENGINES:
        matcher = Matcher({1: xpath}, engine=engine, residual_cost_max=_ANY, document_cost_max=_ANY)
        assert (matcher.match(content) == [1]) is expected
        found = matcher.find(content)
        assert (1 in found) is expected
        _check_paths(found, content)
    assert explain(xpath, content, residual_cost_max=_ANY).matches is expected


@THOROUGH
@given(
    st.one_of(entity_expressions, texts_of_entities),
    st.one_of(
        st.builds("//text()[{}]".format, value_tests),
        st.builds("//*[{}]".format, st.one_of(value_tests, entity_paths(1))),
        st.sampled_from(["//b", "//b/c", "//@k", "//text()", "//b/text()", "//b[c]"]),
    ),
    documents_with_entities(),
)
def test_what_covers_sees_the_entities_too(narrower: str, wider: str, content: bytes) -> None:
    if oracle(narrower, content) and not oracle(wider, content):
        assert not covers(wider, narrower)


DECLARED_TEXT = b"<!DOCTYPE a [<!--c--><!ENTITY e 'E'>]><a>x&e;y<b/>z<c/></a>"


@pytest.mark.parametrize(
    "xpath",
    [
        "//c/preceding::text()[. = 'E']",
        "//c/preceding::text() = 'E'",
        "//c[preceding::text()[. = 'E']]",
        "//c[preceding::node()[self::text()[. = 'E']]]",
        "//c/preceding::node()/self::text()[. = 'E']",
        "//c/preceding::node()/descendant-or-self::text()[. = 'E']",
        "//c/preceding::text()/ancestor-or-self::text()[not(contains(., 'x'))][. = 'E']",
        "//comment()/following::text()[. = 'E']",
        "//comment()/following::text()[string-length() = 1][starts-with(., 'E')]",
    ],
)
@pytest.mark.parametrize("engine", ENGINES)
def test_a_declared_text_is_a_text_of_its_own(xpath: str, engine: str) -> None:
    assert oracle(xpath, DECLARED_TEXT)
    assert Matcher({1: xpath}, engine=engine).match(DECLARED_TEXT) == [1]
    assert not covers("//text()[. = 'E']", xpath)
    assert covers("//text()", xpath)


@pytest.mark.parametrize(
    ("xpath", "content", "told"),
    [
        ("//comment()", "<!DOCTYPE a [<!--x-->]><a/>", [(None, "x")]),
        ("//comment()", "<!DOCTYPE a [<!--x-->]><!--y--><a/>", [(None, "x"), ("/comment()", "y")]),
        (
            "//processing-instruction()",
            "<!DOCTYPE a [<?t in?>]><?t out?><a><?t deep?></a>",
            [
                (None, "in"),
                ("/processing-instruction()", "out"),
                ("/a/processing-instruction()", "deep"),
            ],
        ),
        (
            "//c/preceding::text()",
            "<!DOCTYPE a [<!ENTITY e 'E'>]><a>x&e;y<c/></a>",
            [(None, "E"), ("/a/text()", "xEy")],
        ),
        (
            "//c/preceding::node()",
            "<!DOCTYPE a [<!ENTITY e '<b>E</b>F'>]><a>&e;<c/></a>",
            [
                (None, "E"), (None, "E"), (None, "F"),
                ("/a/b", "E"), ("/a/b/text()", "E"), ("/a/text()", "F"),
            ],
        ),
        (
            "//c/preceding::b/@k",
            "<!DOCTYPE a [<!ENTITY e '<b k=\"1\"/>'>]><a>&e;<c/></a>",
            [(None, "1"), ("/a/b/@k", "1")],
        ),
    ],
)  # fmt: skip
def test_no_path_is_told_of_what_none_leads_to(
    xpath: str, content: str, told: list[tuple[str | None, str]]
) -> None:
    found = Matcher({1: xpath}).find(content)
    assert [(node.path, node.text) for node in found[1].nodes] == told
    _check_paths(found, content.encode())
    assert "(in the DOCTYPE)" in str(found)
    assert "(in the DOCTYPE)" in found._repr_html_()


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize(
    "xpath",
    [
        "string(/) = 'xyx'", "string(/) != 'xyx'", "/ = 'xyx'", "/ != 'xyx'", "//a/.. = 'xyx'",
        "/self::node()[. = 'xyx']", "//a[../self::node() = 'xyx']", "/ = //b", "/ != //b",
        "contains(/, 'xy')", "string(/) = 'yx'", "//a[string(/) = 'xyx']", "concat(/, '') = 'xyx'",
    ],
)  # fmt: skip
def test_what_equals_the_document_node_is_what_libxml2_finds_equal(xpath: str, engine: str) -> None:
    for content in (b"<a>y&e;<b>xyx</b></a>", b"<a>y&e;</a>", b"<a>xyx</a>"):
        document = b"<!DOCTYPE a [<!ENTITY e 'x'>]>" + content
        assert bool(Matcher({1: xpath}, engine=engine).match(document)) == oracle(xpath, document)
