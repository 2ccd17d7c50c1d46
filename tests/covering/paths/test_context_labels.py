"""Labels and label sequences that can stand at a position of a path, by the DTD."""

from __future__ import annotations

from twigcast import Pattern, Schema
from twigcast.covering.containment.covers import paths_of
from twigcast.covering.paths.context_labels import ContextLabels
from twigcast.covering.paths.linear import LinearPath, linear_path
from twigcast.language.condition.model import Kind, Reach

PLACES = ContextLabels(
    paths_of(
        Schema.parse(
            b"<!ELEMENT news (head, body)> <!ELEMENT head (title)> <!ELEMENT body (section|note)*>"
            b"<!ELEMENT section (title?, para*)> <!ELEMENT note (para)> <!ELEMENT para (#PCDATA)>"
            b"<!ELEMENT title (#PCDATA)> <!ATTLIST para lang CDATA #IMPLIED id ID #IMPLIED>"
        )
    ).automaton
)
RECURSIVE = ContextLabels(
    paths_of(
        Schema.parse(b"<!ELEMENT a (b | z)> <!ELEMENT b (b | z)> <!ELEMENT z EMPTY>")
    ).automaton
)


def steps(text: str) -> LinearPath:
    """The steps of a path; ``.`` is the empty one."""
    found = () if text == "." else linear_path(Pattern.parse(text).condition)
    assert found is not None
    return found


def labels(before: str, behind: str = ".", reach: Reach = Reach.CHILD) -> list[str]:
    found = PLACES.labels_at(
        before=steps(before), reach=reach, kind=Kind.ELEMENT, behind=steps(behind)
    )
    return sorted(label.local or "" for label in found)


def test_labels_are_those_between_what_is_before_and_behind() -> None:
    assert labels("/news/body") == ["note", "section"]
    assert labels("/news/body", "/para/@lang") == ["note", "section"]
    assert labels("/news/body", "/title") == ["section"]
    assert labels("/news", "//para") == ["body"]
    assert labels(".", "/title", Reach.DESCENDANT) == ["head", "section"]
    assert labels("/news/body", "/head") == []
    assert labels("/nothing") == []


def test_attributes_are_labels_too() -> None:
    found = PLACES.labels_at(
        before=steps("//para"), reach=Reach.CHILD, kind=Kind.ATTRIBUTE, behind=()
    )
    assert {label.local for label in found} == {"lang", "id"}


def test_ways_are_rows_of_labels() -> None:
    found = PLACES.sequences_between(before=steps("/news"), behind=steps("/title/text()"), most=9)
    assert found is not None
    assert {tuple(label.local for label in way) for way in found} == {
        ("head",),
        ("body", "section"),
    }


def test_too_many_sequences_and_infinitely_many_are_not_returned() -> None:
    assert PLACES.sequences_between(before=(), behind=steps("/para"), most=1) is None
    assert RECURSIVE.sequences_between(before=steps("/a"), behind=steps("/z"), most=9) is None
    assert (
        RECURSIVE.sequences_between(before=steps("/a/z"), behind=steps("/z"), most=9) == frozenset()
    )
