"""Parents of the patterns that are held back."""

from __future__ import annotations

from twigcast.covering.index.incremental_cover import IncrementalCover
from twigcast.language import Pattern

LINKS = ("east", "north", "south", "west")


def test_two_parents_serve_for_any_number_of_links() -> None:
    """What comes from one link alone is no reason to hold something back from that link."""
    sets: IncrementalCover[str] = IncrementalCover()
    for link in LINKS:
        sets.add_link(link)
    narrow, wide, other = (Pattern.parse(text) for text in ("/a/b/c", "/a", "/a/b"))
    sets.add(narrow, None)
    sets.add(wide, "north")
    assert sets.forwarded("north") == (narrow,)
    assert sets.forwarded("south") == sets.forwarded("east") == (wide,)
    sets.add(other, "south")
    assert sets.forwarded("north") == (other,)
    assert sets.forwarded("south") == (wide,)
    sets.remove(wide, "north")
    assert sets.forwarded("south") == (narrow,)
    assert sets.forwarded("west") == (other,)
    assert sets.statistics() == (2, 1, 0)
