"""Which links a document needs to cross."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from twigcast.routing.static.crossing_rules import needed_links
from twigcast.routing.topology.model import Topology


@given(st.data())
def test_a_link_is_needed_if_it_leads_away_from_the_origin_to_who_wants_the_document(
    data: st.DataObject,
) -> None:
    size = data.draw(st.integers(2, 9))
    above = [data.draw(st.integers(0, number - 1)) for number in range(1, size)]
    links = [(str(parent), str(child)) for child, parent in enumerate(above, start=1)]
    kept = data.draw(st.lists(st.sampled_from(links), unique=True))
    names = [str(number) for number in range(size)]
    wanted, origin = (
        set(data.draw(st.lists(st.sampled_from(names)))),
        data.draw(st.sampled_from(names)),
    )
    neighbours = Topology.of({"brokers": names, "links": [*map(list, kept)]}).neighbours

    expected = set()
    for one, other in [*kept, *((other, one) for one, other in kept)]:
        rest = [list(link) for link in kept if {one, other} != set(link)]
        parts = Topology.of({"brokers": names, "links": rest}).parts
        (here,) = (part for part in parts if one in part)
        (behind,) = (part for part in parts if other in part)
        if origin in here and wanted & set(behind):
            expected.add((one, other))
    assert needed_links(origin, wanted, neighbours) == expected
