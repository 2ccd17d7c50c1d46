"""Overlap: never a no for a pattern that some document of the advertisement matches.

For patterns that are paths there is never a wrong yes, either.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from random import Random

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from tests.covering.path_oracles import PREFIXES, tiny_schemas, universal_documents
from tests.language.schema_strategies import declarations
from tests.oracle import oracle
from tests.strategies import NAMESPACES, THOROUGH, ExpressionPair, documents, subscriptions
from twigcast.covering.advertisements.advertisement import Advertisement, overlaps
from twigcast.covering.advertisements.overlap import REMEMBERED_SETS_MAX
from twigcast.errors import SchemaError, UsageError
from twigcast.files.schemas import read_schema, shipped_schema, shipped_schema_names
from twigcast.language import Document, Pattern, Schema
from twigcast.matching import Matcher
from twigcast.workload import PatternShape, generate_documents, generate_patterns
from twigcast.workload.patterns import PREDICATE_KINDS


def advertisement_of(dtd: str, *roots: str) -> Advertisement:
    return Advertisement.of_schema(Schema.parse(dtd.encode()), roots=roots or None)


def overlap(advertisement: Advertisement, *expressions: str) -> list[bool]:
    return [overlaps(advertisement, Pattern.parse(text, PREFIXES)) for text in expressions]


# Exact for paths.

_steps = st.sampled_from(["a", "b", "p:f", "*"])
_last_steps = st.sampled_from(["a", "b", "p:f", "*", "@x", "@y", "@*"])


@st.composite
def _paths(draw: st.DrawFn) -> str:
    text = ""
    for step in draw(st.lists(_steps, max_size=1)):
        text += draw(st.sampled_from(["/", "//"])) + step
    return text + draw(st.sampled_from(["/", "//"] if text else ["//"])) + draw(_last_steps)


@THOROUGH
@given(tiny_schemas(), _paths())
def test_a_path_overlaps_exactly_if_a_document_with_everything_matches_it(
    schema: Schema, text: str
) -> None:
    advertisement = Advertisement.of_schema(schema)
    # Two steps, three elements: the shortest way to a match has at most six.
    found = any(oracle(text, document, PREFIXES) for document in universal_documents(schema, 6))
    assert overlap(advertisement, text) == [found]


@given(tiny_schemas(), st.lists(_paths(), min_size=1, max_size=3))
def test_branches_are_met_at_the_same_element(schema: Schema, branches: list[str]) -> None:
    text = f"//*{''.join(f'[.{branch}]' for branch in branches)}"
    found = any(oracle(text, document, PREFIXES) for document in universal_documents(schema, 6))
    assert overlap(Advertisement.of_schema(schema), text) == [found]


# Sound for everything.


@THOROUGH
@given(declarations(), st.lists(subscriptions(), min_size=1, max_size=4), st.integers(0, 999))
def test_a_pattern_that_a_document_of_the_schema_matches_overlaps(
    declared: tuple[object, ...], expressions: list[ExpressionPair], seed: int
) -> None:
    schema = Schema(declared)  # type: ignore[arg-type]  # The strategy draws declarations.
    assume(schema.heights)
    root = Random(seed).choice(sorted(schema.heights))
    schema = Schema(schema.declarations, root)
    advertisement = Advertisement.of_schema(schema)
    for content in generate_documents(schema, rng=Random(seed), count=2, elements=20):
        assert advertisement.departure(Document.parse(content)) is None
        for one in expressions:
            if oracle(one.oracle, content, NAMESPACES):
                assert overlaps(advertisement, Pattern.parse(one.text, NAMESPACES))


@given(
    st.lists(documents(depth=3), min_size=1, max_size=3),
    documents(depth=3),
    st.lists(subscriptions(), min_size=1, max_size=4),
)
def test_a_pattern_that_an_included_document_matches_overlaps(
    samples: list[bytes], other: bytes, expressions: list[ExpressionPair]
) -> None:
    advertisement = Advertisement.of_documents(map(Document.parse, samples))
    for content in (*samples, other):
        included = advertisement.includes(Document.parse(content))
        assert included or content is other
        for one in expressions if included else ():
            if oracle(one.oracle, content, NAMESPACES):
                assert overlaps(advertisement, Pattern.parse(one.text, NAMESPACES))


SCOPED = Advertisement.of_schema(
    Schema.parse(
        b"<!ELEMENT a (a|b|c)*><!ELEMENT b (#PCDATA|a|b|c)*><!ELEMENT c (a|b|q:b|c)*>"
        b"<!ELEMENT q:b EMPTY><!ATTLIST a xmlns CDATA #FIXED 'urn:p' x CDATA #IMPLIED>"
        b"<!ATTLIST c xmlns CDATA #IMPLIED> <!ATTLIST q:b p:x CDATA #IMPLIED>"
        b"<!ATTLIST b xmlns:q CDATA #FIXED 'urn:q'>"
    )
)


@st.composite
def scoped_documents(draw: st.DrawFn, depth: int = 3, *, is_root: bool = True) -> str:
    """A document of that schema in which elements bind namespaces or leave them as they are."""
    name = draw(st.sampled_from("abc"))
    bound = {
        "a": ["", " xmlns='urn:p'", " x='1'"],
        "b": ["", " xmlns:q='urn:q'"],
        "c": ["", " xmlns='urn:q'", " xmlns='urn:p'", " xmlns=''"],
    }
    scope = draw(st.sampled_from(bound[name]))
    prefixes = " xmlns:p='urn:p' xmlns:q='urn:q'" if is_root else ""
    if is_root and "xmlns:q" in scope:
        scope = ""
    count = draw(st.integers(0, 2 if depth else 0))
    below = "".join(draw(scoped_documents(depth - 1, is_root=False)) for _ in range(count))
    if name == "c" and draw(st.booleans()):
        below += "<q:b p:x='1'/>"
    return f"<{name}{scope}{prefixes}>{below}</{name}>"


@given(scoped_documents(), st.lists(subscriptions(), min_size=1, max_size=4))
def test_namespaces_that_documents_bind_are_all_allowed_for(
    text: str, expressions: list[ExpressionPair]
) -> None:
    content = text.encode()
    assert SCOPED.departure(Document.parse(content)) is None
    for one in expressions:
        if oracle(one.oracle, content, NAMESPACES):
            assert overlaps(SCOPED, Pattern.parse(one.text, NAMESPACES))


def bound_prefixes(schema: Schema) -> dict[str, str]:
    """The prefixes of a schema, as generated documents bind them."""
    names = [
        name
        for element in schema.declarations
        for name in (element.name, *(attribute.name for attribute in element.attributes))
    ]
    prefixes = {name.partition(":")[0] for name in names if ":" in name} - {"xml", "xmlns"}
    return {prefix: schema.namespaces.get(prefix, f"urn:{prefix}") for prefix in prefixes}


def check_workload(schema: Schema, *, documents_count: int, patterns_count: int) -> int:
    """Match generated patterns with generated documents; returns how many overlapped in earnest."""
    advertisement = Advertisement.of_schema(schema)
    matcher = Matcher(engine="lxml")
    patterns: list[str] = []
    shapes = PatternShape(nested=0.3), PatternShape(predicates=1.0), PatternShape(attributes=0.5)
    for seed, shape in enumerate(shapes):
        patterns += generate_patterns(
            schema,
            rng=Random(seed),
            count=patterns_count,
            shape=replace(shape, distinct=False, predicate_kinds=PREDICATE_KINDS),
        )
    prefixes = bound_prefixes(schema)
    for number, text in enumerate(patterns):
        matcher.add(number, text, prefixes)
    matched: set[int] = set()
    for content in generate_documents(schema, rng=Random(7), count=documents_count):
        assert advertisement.departure(Document.parse(content)) is None
        matched.update(matcher.match(content))
    for number in matched:
        assert overlaps(advertisement, Pattern.parse(patterns[number], prefixes))
    return len(matched)


@pytest.mark.parametrize("name", shipped_schema_names())
def test_what_generated_documents_match_overlaps(name: str) -> None:
    assert check_workload(shipped_schema(name), documents_count=5, patterns_count=60)


REAL = (
    "checkstyle/configuration_1_3.dtd",
    "checkstyle/suppressions_1_2.dtd",
    "dblp/dblp.dtd",
    "docbook-4.5/docbookx.dtd",
    "hibernate-mapping/hibernate-mapping-3.0.dtd",
    "jats-nlm-publishing-3.0/journalpublishing3.dtd",
    "jats-nlm-publishing-3.0/mathml2.dtd",
    "jats-nlm-publishing-3.0/base-test3.dtd",
    "ncbi/NCBI_BlastOutput.dtd",
    "ncbi/eSearch_020511.dtd",
    "ncbi/eSummary_041029.dtd",
    "ncbi/pubmed_190101.dtd",
    "ncbi/taxon.dtd",
    "newsml-1.2/NewsML_1.2.dtd",
    "newsml-1.2/NewsMLv1.2.dtd",
    "nitf-2.5/nitf-2-5.dtd",
    "nitf-2.5/nitf-2-5-nocomments.dtd",
    "plist/plist-0_9.dtd",
    "rss-0.91/rss-0.9.dtd",
    "rss-0.91/rss-0.91.dtd",
    "shakespeare/play.dtd",
    "sigmodrecord/SigmodRecord.dtd",
    "struts/struts-2.5.dtd",
    "tei-lite/teilite.dtd",
    "web-app/web-app_2_3.dtd",
    "web-app/web-jsptaglibrary_1_2.dtd",
    "xbel/xbel-1.0.dtd",
    "xhtml1/xhtml1-strict.dtd",
    "xhtml1/xhtml1-frameset.dtd",
    "xhtml1/xhtml1-transitional.dtd",
    "xmark/auction.dtd",
)


@pytest.mark.parametrize("name", REAL)
def test_what_documents_of_real_schemas_match_overlaps(
    name: str, shared_path: Callable[[str], Path]
) -> None:
    schema = read_schema(shared_path(f"data/dtd/{name}"), skip_missing=True)
    if schema.root is None:
        roots = [root for root in (*schema.roots, *schema.elements) if root in schema.heights]
        schema = Schema(
            schema.declarations, max(roots, key=lambda root: len(schema.reachable(root)))
        )
    assert check_workload(schema, documents_count=2, patterns_count=15)


# Case by case.


def test_siblings_that_a_content_model_forbids_are_taken_to_be_possible() -> None:
    either = advertisement_of("<!ELEMENT a (b | c)><!ELEMENT b EMPTY><!ELEMENT c EMPTY>")
    assert overlap(either, "/a[b][c]", "/a[b][d]") == [True, False]


def test_negation_may_always_hold_but_of_a_label() -> None:
    always = advertisement_of("<!ELEMENT a (b)><!ELEMENT b EMPTY>")
    assert overlap(always, "/a[not(b)]", "/a[not(b[c])]") == [True, True]
    assert overlap(always, "/a/*[not(self::b)]", "/a/*[not(self::c)]") == [False, True]
    assert overlap(always, "/*[not(self::a or self::b)]", "//*[not(self::*)]") == [False, False]


def test_one_alternative_is_enough() -> None:
    only = advertisement_of("<!ELEMENT a (b)><!ELEMENT b EMPTY>")
    assert overlap(only, "/a[x or b]", "/a[x or y]", "/x | /a", "/x | /y") == [
        True,
        False,
        True,
        False,
    ]


def test_of_what_libxml2_would_decide_the_necessary_condition_counts() -> None:
    only = advertisement_of("<!ELEMENT a (b*)><!ELEMENT b EMPTY>")
    assert overlap(only, "/a/b[2]", "/a[count(c) > 1]", "/a/b/following::c") == [
        True,
        False,
        False,
    ]


def test_absolute_paths_inside_are_decided_at_the_document() -> None:
    only = advertisement_of("<!ELEMENT a (b*)><!ELEMENT b EMPTY>", "a")
    assert overlap(only, "//b[/a]", "//b[/b]", "//b[not(/a)]") == [True, False, True]


def test_enumerated_and_fixed_values_can_rule_a_pattern_out() -> None:
    order = advertisement_of(
        "<!ELEMENT order EMPTY><!ATTLIST order state (open | paid) #REQUIRED"
        " version CDATA #FIXED '1.0' note CDATA #IMPLIED>"
    )
    assert overlap(order, "/order/@state", "//@state[. = 'paid']", "//@state[. = 'sent']") == [
        True,
        True,
        False,
    ]
    assert overlap(order, "//order[@version = '1.0']", "//order[@version = '2.0']") == [True, False]
    assert overlap(order, "//order[@note = 'x']", "//order[@state != 'open']") == [True, True]
    assert overlap(
        order,
        "//order[contains(@state, 'pe')]",
        "//order[contains(@state, 'x')]",
        "//order[starts-with(@state, 'pa')]",
        "//order[starts-with(@state, 'ai')]",
    ) == [True, False, True, False]


def test_spaces_around_a_value_are_seen_by_readers_without_the_schema() -> None:
    order = advertisement_of("<!ELEMENT order EMPTY><!ATTLIST order state (open | paid) #REQUIRED>")
    spaced = b"<order state=' paid  '/>"
    assert order.includes(Document.parse(spaced))
    for text in (
        "/order[@state = ' paid  ']",
        "/order[starts-with(@state, ' pa')]",
        "/order[contains(@state, 'd  ')]",
        "/order[starts-with(@state, ' ')]",
    ):
        assert oracle(text, spaced)
        assert overlap(order, text) == [True]
    assert overlap(order, "/order[starts-with(@state, ' x')]") == [False]


def test_elements_without_text_have_white_space_at_most() -> None:
    book = advertisement_of("<!ELEMENT book (page)><!ELEMENT page EMPTY>", "book")
    assert overlap(book, "/book[. = 'x']", "/book[text() = 'x']", "/book[. > 3]") == [False] * 3
    assert overlap(book, "/book[. = ' ']", "/book/text()", "/book[. != 3]") == [True] * 3
    assert overlap(book, "//page[. = ' ']", "//page/text()", "//page[. = '']") == [
        False,
        False,
        True,
    ]
    spaced = b"<book> <page/></book>"
    assert oracle("/book[. = ' '][text()]", spaced)
    assert overlap(book, "/book[. = ' '][text()]") == [True]


def test_text_further_below_counts_for_the_value_of_an_element() -> None:
    deep = advertisement_of("<!ELEMENT a (b)><!ELEMENT b (#PCDATA)>", "a")
    assert overlap(deep, "/a[. = 'x']", "/a[text() = 'x']", "/a//text()[. = 'x']") == [
        True,
        False,
        True,
    ]


def test_a_prefix_that_is_not_fixed_may_be_bound_to_anything() -> None:
    free = advertisement_of("<!ELEMENT p:a EMPTY><!ATTLIST p:a q:x CDATA #IMPLIED>")
    assert overlap(free, "/p:a", "//{urn:else}a", "//p:b", "//@{urn:q}x", "//a") == [
        True,
        True,
        False,
        True,
        True,
    ]


def test_a_fixed_prefix_stands_for_its_namespace() -> None:
    fixed = advertisement_of("<!ELEMENT p:a EMPTY><!ATTLIST p:a xmlns:p CDATA #FIXED 'urn:p'>")
    assert overlap(fixed, "/p:a", "/*:a", "/a", "//{urn:else}a") == [True, True, False, False]
    assert overlap(fixed, "//@*") == [False]


def test_a_fixed_default_namespace_is_there_if_the_document_writes_it() -> None:
    page = advertisement_of(
        "<!ELEMENT html (body)><!ATTLIST html xmlns CDATA #FIXED 'urn:p'><!ELEMENT body EMPTY>",
        "html",
    )
    assert overlap(page, "/p:html/p:body", "/html/body", "/p:html/body", "/html/p:body") == [
        True,
        True,
        False,
        False,
    ]


def test_without_declarations_of_namespaces_names_are_in_none() -> None:
    plain = advertisement_of("<!ELEMENT a EMPTY><!ATTLIST a xml:lang CDATA #IMPLIED>")
    assert overlap(plain, "/a", "/p:a", "//@xml:lang", "//@lang") == [True, False, True, False]


def test_any_element_may_be_the_root_unless_one_is_named() -> None:
    dtd = "<!ELEMENT a (b?)><!ELEMENT b (a?)>"
    assert overlap(advertisement_of(dtd), "/a", "/b") == [True, True]
    assert overlap(advertisement_of(dtd, "b"), "/a", "/b", "/b/a/b") == [False, True, True]
    with pytest.raises(UsageError, match="declares no element 'c'"):
        advertisement_of(dtd, "c")


def test_paths_beside_elements_that_never_end_are_none() -> None:
    dtd = "<!ELEMENT a ((b, endless) | c)><!ELEMENT b EMPTY><!ELEMENT c EMPTY>"
    dtd += "<!ELEMENT endless (endless)>"
    assert overlap(advertisement_of(dtd, "a"), "/a/c", "/a/b", "//endless") == [True, False, False]
    with pytest.raises(SchemaError, match="no document can begin with endless"):
        advertisement_of(dtd, "endless")


def test_always_and_never_are_what_they_are() -> None:
    any_advertisement = advertisement_of("<!ELEMENT a EMPTY>")
    assert overlap(any_advertisement, "true()", "false()", "/self::node()[a]") == [
        True,
        False,
        True,
    ]


def test_what_is_remembered_is_bounded() -> None:
    advertisement = Advertisement.of_schema(shipped_schema("news"))
    for number in range(REMEMBERED_SETS_MAX + 100):
        assert not overlap(advertisement, f"//none{number}")[0]
    assert advertisement.statistics().remembered <= REMEMBERED_SETS_MAX


def test_a_deep_pattern_needs_no_deep_stack() -> None:
    from twigcast.language.condition.model import TRUE, AllOf, Condition, Exists, Kind, Label, Reach

    condition: Condition = TRUE
    name = Label(Kind.ELEMENT, "", "a")
    for _ in range(5_000):
        condition = Exists(Reach.CHILD, name, AllOf((condition, Exists(Reach.CHILD, name, TRUE))))
    recursive = advertisement_of("<!ELEMENT a (a*)>")
    assert overlaps(recursive, Pattern(condition))


def test_attributes_that_differ_in_their_prefix_alone_may_have_the_values_of_either() -> None:
    declared = "<!ELEMENT e EMPTY> <!ATTLIST e xmlns:p CDATA {0} xmlns:q CDATA {0} {1} {2}>"
    listed, others, any_value = (f"{it} #IMPLIED" for it in ("p:x (a|b)", "q:x (c|d)", "q:x CDATA"))
    for first, second in ((listed, others), (others, listed)):
        fixed = advertisement_of(declared.format("#FIXED 'u'", first, second))
        assert overlap(fixed, "//@{u}x[. = 'a']", "//@{u}x[. = 'c']") == [True, True]
        assert overlap(fixed, "//@{u}x[. = 'e']") == [False]
        assert fixed.includes(Document.parse(b'<e xmlns:q="u" q:x="c"/>'))
    for first, second in ((listed, any_value), (any_value, listed)):
        free = advertisement_of(declared.format("#IMPLIED", first, second))
        assert overlap(free, "//@*:x[. = 'zzz']", "//@{v}x[. = 'zzz']") == [True, True]
