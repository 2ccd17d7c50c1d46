"""Patterns drawn from schemas: what they look like, how often, and when they run out."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections import Counter
from itertools import islice, pairwise
from math import inf, nan
from random import Random
from typing import Any

import pytest
from lxml import etree

from twigcast.errors import UsageError
from twigcast.files.schemas import shipped_schema, shipped_schema_names
from twigcast.language import Pattern
from twigcast.language.dtd.schema import Schema
from twigcast.workload import PatternShape, Vocabulary, generate_documents, generate_patterns
from twigcast.workload.patterns import LEVELS_MAX, PREDICATE_KINDS, STEPS_MAX

NEWS = shipped_schema("news")
SMALL = Schema.parse(b"<!ELEMENT a (b?, c*)><!ELEMENT b EMPTY><!ELEMENT c (b | c)*>")

STEP = re.compile(r"(//?)(@?[^/\[]+)((?:\[[^\]]*\])*)")


def drawn(
    schema: Schema = NEWS,
    *,
    seed: int = 1,
    count: int = 1000,
    root: str | None = None,
    vocabulary: Vocabulary | None = None,
    **shape: Any,  # noqa: ANN401 - whatever a shape takes
) -> list[str]:
    patterns = generate_patterns(
        schema,
        rng=Random(seed),
        count=count,
        shape=PatternShape(**shape),
        root=root,
        vocabulary=vocabulary,
    )
    return list(patterns)


def steps(pattern: str) -> list[tuple[str, str, str]]:
    """Slashes, name and predicates of each step, for patterns without paths in predicates."""
    return [(found[1], found[2], found[3]) for found in STEP.finditer(pattern)]


@pytest.mark.parametrize("name", shipped_schema_names())
def test_patterns_of_every_shape_are_exact_patterns(name: str) -> None:
    patterns = drawn(
        shipped_schema(name),
        count=300,
        depth_max=8,
        nested=0.2,
        nested_levels=2,
        predicates=1.5,
        predicate_kinds=PREDICATE_KINDS,
        attributes=0.2,
        skew=0.5,
        marker="test",
    )
    for text in patterns:
        assert Pattern.parse(text).exact, text
        etree.XPath(text)  # the oracle takes them as they are


def test_the_same_seed_gives_the_same_patterns() -> None:
    assert drawn(nested=0.2, predicates=1) == drawn(nested=0.2, predicates=1)
    assert drawn(seed=1) != drawn(seed=2)


def test_the_same_seed_gives_the_same_patterns_in_another_process() -> None:
    program = (
        "from random import Random; from twigcast.files.schemas import shipped_schema\n"
        "from twigcast.workload import PatternShape, generate_patterns\n"
        "print(*generate_patterns(shipped_schema('news'), rng=Random(1), count=200,"
        " shape=PatternShape(nested=0.3, predicates=1, skew=1)), sep='\\n')"
    )
    for hash_seed in ("0", "1"):
        finished = subprocess.run(
            [sys.executable, "-c", program],
            capture_output=True,
            text=True,
            check=True,
            env=os.environ | {"PYTHONHASHSEED": hash_seed},
        )
        assert finished.stdout.split("\n")[:-1] == drawn(
            count=200, nested=0.3, predicates=1, skew=1
        )


def test_distinct_patterns_are_distinct_and_others_need_not_be() -> None:
    assert len(set(drawn(count=5000))) == 5000
    assert len(set(drawn(count=5000, distinct=False))) < 5000


@pytest.mark.parametrize("depth_max", [1, 3, 6])
def test_no_pattern_has_more_steps_than_allowed(depth_max: int) -> None:
    lengths = Counter(len(steps(text)) for text in drawn(depth_max=depth_max, distinct=False))
    assert max(lengths) == depth_max
    assert min(lengths) == 1


@pytest.mark.parametrize(("wildcard", "descendant"), [(0.0, 0.0), (0.1, 0.3), (0.5, 0.05)])
def test_wildcards_and_descendants_are_as_frequent_as_asked(
    wildcard: float, descendant: float
) -> None:
    patterns = drawn(count=8000, distinct=False, wildcard=wildcard, descendant=descendant)
    found = [step for text in patterns for step in steps(text)]
    assert sum(name == "*" for _, name, _ in found) / len(found) == pytest.approx(
        wildcard, abs=0.02
    )
    assert sum(slashes == "//" for slashes, _, _ in found) / len(found) == pytest.approx(
        descendant, abs=0.02
    )


def test_distinct_patterns_keep_the_frequencies_while_there_are_plenty() -> None:
    found = [step for text in drawn(count=3000, depth_max=10, predicates=1) for step in steps(text)]
    assert sum(name == "*" for _, name, _ in found) / len(found) == pytest.approx(0.2, abs=0.05)
    assert sum(slashes == "//" for slashes, _, _ in found) / len(found) == pytest.approx(
        0.2, abs=0.05
    )


def test_paths_follow_the_schema() -> None:
    for text in drawn(wildcard=0, descendant=0):
        names = text[1:].split("/")
        assert names[0] == "news"
        for parent, child in pairwise(names):
            assert child in NEWS.children(parent)


def test_descendants_can_skip_levels() -> None:
    texts = drawn(SMALL, count=100, wildcard=0, descendant=0.5, depth_max=3, distinct=False)
    assert any(text.startswith("//b") for text in texts)
    assert not any(text.startswith("/b") for text in texts)


def test_another_root_can_be_named() -> None:
    texts = drawn(root="table", wildcard=0, descendant=0, count=200)
    assert all(text.startswith("/table") for text in texts)


def test_skew_prefers_what_content_models_name_first() -> None:
    flat = Schema.parse(
        b"<!ELEMENT r (a | b | c | d)*>"
        + b"".join(b"<!ELEMENT %c EMPTY>" % letter for letter in b"abcd")
    )

    def counts(skew: float) -> Counter[str]:
        texts = drawn(
            flat, count=10_000, depth_max=2, wildcard=0, descendant=0, skew=skew, distinct=False
        )
        return Counter(text[-1] for text in texts if text.count("/") == 2)

    even, skewed = counts(0), counts(1)
    assert even["a"] / even.total() == pytest.approx(1 / 4, abs=0.03)
    weights = {"a": 1, "b": 1 / 2, "c": 1 / 3, "d": 1 / 4}
    for letter, weight in weights.items():
        share = weight / sum(weights.values())
        assert skewed[letter] / skewed.total() == pytest.approx(share, abs=0.03)


@pytest.mark.parametrize("predicates", [0, 0.5, 1, 2.25])
def test_value_predicates_come_in_the_number_asked_for(predicates: float) -> None:
    texts = drawn(count=4000, predicates=predicates, distinct=False)
    assert sum(text.count("[") for text in texts) / len(texts) == pytest.approx(
        predicates, abs=0.05
    )


def test_nested_paths_are_as_frequent_as_asked_and_not_too_long() -> None:
    texts = drawn(count=4000, nested=0.3, nested_depth=2, distinct=False, wildcard=0, descendant=0)
    able = total = 0
    for text in texts:
        branches = re.findall(r"\[([^\]]*)\]", text)
        assert all(len(branch.split("/")) <= 2 for branch in branches)
        names = re.sub(r"\[[^\]]*\]", "", text)[1:].split("/")
        able += sum(bool(NEWS.children(name)) for name in names)
        total += len(branches)
    assert total / able == pytest.approx(0.3, abs=0.03)


def test_branches_have_branches_down_to_the_level_asked_for() -> None:
    one = drawn(count=500, nested=0.8, nested_levels=1)
    three = drawn(count=500, nested=0.8, nested_levels=3)
    assert max(deepest(text) for text in one) == 1
    assert max(deepest(text) for text in three) == 3


def deepest(text: str) -> int:
    depth = found = 0
    for character in text:
        depth += {"[": 1, "]": -1}.get(character, 0)
        found = max(found, depth)
    return found


def test_some_patterns_end_in_an_attribute() -> None:
    texts = drawn(count=2000, attributes=0.5, distinct=False, wildcard=0, descendant=0)
    ends = [text.rpartition("/") for text in texts]
    asked = [(path, name) for path, _, name in ends if name.startswith("@")]
    assert len(asked) / len(texts) == pytest.approx(0.5, abs=0.05)
    for path, name in asked:
        declared = NEWS.elements[path.rpartition("/")[2]].attributes
        assert name[1:] in {attribute.name for attribute in declared}


def test_a_marker_is_demanded_by_every_pattern() -> None:
    assert all(text.endswith("[//test]") for text in drawn(count=100, marker="test"))


@pytest.mark.parametrize("kind", PREDICATE_KINDS)
def test_predicates_of_every_kind_are_met_by_documents(kind: str) -> None:
    shape: dict[str, Any] = {
        "predicates": 1,
        "predicate_kinds": (kind,),
        "depth_max": 3,
        "wildcard": 0,
    }
    patterns = [text for text in drawn(count=400, **shape) if "[" in text]
    documents = [
        etree.fromstring(document)
        for document in generate_documents(NEWS, rng=Random(5), count=40, elements=150)
    ]
    met = sum(any(document.xpath(text) for document in documents) for text in patterns)
    assert met > 0.1 * len(patterns)


def test_another_vocabulary_gives_other_values() -> None:
    texts = drawn(count=500, predicates=1, vocabulary=Vocabulary(numbers=1, words=("only",)))
    values = {value for text in texts for value in re.findall(r"text\(\)=([^]]*)", text)}
    assert values == {"1", "'only'"}


@pytest.mark.parametrize("count", [10, 1_000_000])
def test_when_there_are_no_more_the_error_says_how_many_there_were(count: int) -> None:
    # /a, /a/b, /a/c, and nothing else.
    patterns = generate_patterns(
        SMALL, rng=Random(1), count=count, shape=PatternShape(depth_max=2, wildcard=0, descendant=0)
    )
    assert sorted(islice(patterns, 3)) == ["/a", "/a/b", "/a/c"]
    with pytest.raises(UsageError, match=f"only about 3 distinct patterns .* not {count:,}"):
        next(patterns)


def test_as_many_patterns_as_there_are_can_be_had() -> None:
    # One step: / or //, and a or *; below // also b and c.
    texts = drawn(SMALL, count=6, depth_max=1)
    assert sorted(texts) == ["/*", "//*", "//a", "//b", "//c", "/a"]


@pytest.mark.deep
def test_a_million_distinct_patterns_can_be_had() -> None:
    assert len(set(generate_patterns(NEWS, rng=Random(1), count=1_000_000))) == 1_000_000


def test_branches_within_branches_stay_within_an_expression() -> None:
    loop = Schema.parse(b"<!ELEMENT a (b*)><!ELEMENT b (b, c)*><!ELEMENT c (b*)>")
    texts = generate_patterns(
        loop,
        rng=Random(1),
        count=5,
        shape=PatternShape(
            depth_max=STEPS_MAX,
            nested=1.0,
            nested_depth=STEPS_MAX,
            nested_levels=LEVELS_MAX,
            distinct=False,
        ),
    )
    for text in texts:
        assert len(re.findall(r"/+|\[(?!\.)", text)) <= STEPS_MAX


@pytest.mark.parametrize(
    ("wrong", "reason"),
    [
        ({"wildcard": 1.5}, "wildcard is a probability"),
        ({"descendant": -0.1}, "descendant is a probability"),
        ({"depth_max": 0}, "depth_max must be at least 1"),
        ({"count": -1}, "count must be at least 0, not -1"),
        ({"skew": -1}, "skew is a number from 0 on, not -1"),
        ({"predicates": -1}, "predicates is a number from 0 to 32"),
        ({"predicates": nan}, "predicates is a number from 0 to 32"),
        ({"predicates": 2**31}, "PREDICATES_MAX"),
        ({"skew": nan}, "skew is a number from 0 on, not nan"),
        ({"skew": inf}, "skew is a number from 0 on, not inf"),
        ({"count": 2**63}, "PATTERNS_MAX"),
        ({"depth_max": 2**31}, "STEPS_MAX"),
        ({"depth_max": 1.5}, "depth_max is a whole number, not 1.5"),
        ({"nested_depth": 2**31}, "STEPS_MAX"),
        ({"nested_levels": 2**31}, "LEVELS_MAX"),
        ({"predicate_kinds": ("like",)}, "predicate_kinds are some of"),
        ({"root": "nothing"}, "declares no element 'nothing'"),
    ],
)
def test_mistakes_are_told_before_anything_is_drawn(wrong: dict[str, Any], reason: str) -> None:
    with pytest.raises(UsageError, match=reason):
        drawn(**{"count": 1, **wrong})
