"""Groups of spines that a merger could be made of."""

from __future__ import annotations

from twigcast import Pattern
from twigcast.covering.merging.candidates import ElementGroups, MergeGroup, by_part
from twigcast.covering.merging.spine import Spine, spine_of


def spines(*texts: str) -> dict[int, Spine]:
    found = {}
    for number, text in enumerate(texts):
        spine = spine_of(Pattern.parse(text))
        assert spine is not None
        found[number] = spine
    return found


def test_spines_that_differ_in_one_label_meet_in_a_group() -> None:
    groups = ElementGroups()
    there = spines("/a/b/d", "/a/c/d", "/a/c//d", "/a/c/e", "/a/x[y]/d")
    for number, spine in there.items():
        groups.add(number, spine)
    found = [(place.before, place.behind, place.members) for place in groups.fresh(there)]
    assert found[0] == (1, 1, (0, 1, 2))
    assert (2, 0, (1, 2, 3)) in found
    assert groups.fresh(there) == []


def test_who_is_gone_is_in_no_group() -> None:
    groups = ElementGroups()
    there = spines("/a/b", "/a/c")
    for number, spine in there.items():
        groups.add(number, spine)
    del there[0]
    assert groups.fresh(there) == []


def test_spines_that_differ_in_a_part_meet_by_what_is_around_it() -> None:
    four = spines("/a/b/c/z", "/a/d/z", "/a/b/c/d/e/z", "/a/q")
    for steps_max, members in ((2, (0, 1)), (4, (0, 1, 2))):
        found = list(by_part(four, steps_max=steps_max))
        there = [place.members for place in found if (place.before, place.behind) == (1, 1)]
        assert there == [members]


def test_of_groups_with_the_same_members_the_one_where_most_is_left_is_returned() -> None:
    assert list(by_part(spines("/a/b/c/z", "/a/b/d/e/z"))) == [MergeGroup(2, 1, (0, 1))]
