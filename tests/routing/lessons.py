"""What a broker learns from what it is told, and whether it is true."""

from __future__ import annotations

from tests.matching.following import cut_off, tags
from tests.oracle import oracle_tree
from tests.routing.annotated import (
    matches,
    parsed,
    table_of,
)
from twigcast.language import Pattern
from twigcast.matching import Matcher
from twigcast.routing.annotations.annotations import (
    AnnotationLimits,
    Kinds,
    LinkFindings,
    annotate,
)
from twigcast.routing.annotations.hints import HintTable
from twigcast.routing.piggyback.inference import Lessons, learn


def assert_true(lessons: Lessons, content: bytes) -> None:
    """Ask libxml2; and of positions, whether all that matches does so as far as there."""
    assert all(matches(one, content) for one in lessons.matched)
    assert not any(matches(one, content) for one in lessons.hopeless)
    assert not lessons.matched & lessons.hopeless
    events = tags(oracle_tree(content))
    ends_at = [place for place, (event, _) in enumerate(events, 1) if event == "end"]
    for ends, patterns in lessons.hopeless_from.items():
        seen = ends_at[ends - 1]
        before = cut_off(content, seen)
        for pattern in patterns:
            assert not matches(pattern, content) or matches(pattern, before)
            moment = moment_of(pattern, content)
            assert moment is None or moment <= seen


def moment_of(pattern: Pattern, content: bytes) -> int | None:
    """How many tags it took to decide for a match."""
    matcher = Matcher(engine="streaming")
    matcher.add(0, pattern)
    moment = matcher.follow(content).decided.get(0)
    return None if moment is None else moment.element + moment.ends


def told(
    kinds: Kinds, table: HintTable, findings: LinkFindings, limits: AnnotationLimits
) -> Lessons:
    """What a broker learns from what it is told."""
    annotations = annotate(kinds, table.hints, findings, session=3, number=7, limits=limits)
    if annotations is None:
        return Lessons()
    assert annotations.size <= limits.bytes_max
    assert kinds.ps or not annotations.matched
    assert kinds.pd or not annotations.last
    assert kinds.ns or annotations.unmatched is None
    assert kinds.nd or annotations.absent is None
    return learn(annotations, table)


PATTERNS = parsed("/a/b/c", "/a/x/c", "//d/e", "//d/f", "//g/h")
SAID = parsed("/a/*/c", "//d/*", "//g/h")
"""In the order of their texts: ``//d/*``, ``//g/h``, ``/a/*/c``."""
LETTER = b"<a><b><c/></b><d><e/></d><x/></a>"
TABLE = table_of(SAID, PATTERNS)
ROWS = len(TABLE.hints.rows)
