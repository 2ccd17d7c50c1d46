"""Patterns that come from several sources."""

from __future__ import annotations

from twigcast.covering.index.incremental_cover import IncrementalCover
from twigcast.language import Pattern


def test_a_pattern_from_two_links_is_forwarded_to_both() -> None:
    sets: IncrementalCover[str] = IncrementalCover()
    sets.add_link("north")
    sets.add_link("south")
    pattern = Pattern.parse("//a")
    sets.add(pattern, "north")
    assert sets.forwarded("north") == ()
    sets.add(pattern, "south")
    assert sets.forwarded("north") == sets.forwarded("south") == (pattern,)
    sets.remove(pattern, "north")
    assert sets.forwarded("south") == ()
    assert sets.forwarded("north") == (pattern,)
