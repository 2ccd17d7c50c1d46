"""What is forwarded as structure prefixes is a function of what came from elsewhere."""

from __future__ import annotations

from random import Random

from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule

from tests.oracle import oracle
from tests.routing.forwarding.structure_oracle import is_structure_prefix
from twigcast.covering.delta import Difference
from twigcast.language import Pattern
from twigcast.routing.events import LinkId
from twigcast.routing.forwarding.prefix_suppression import PrefixSuppression
from twigcast.routing.forwarding.structure_prefix import structure_prefixes

LINKS = tuple(map(LinkId, ("east", "north", "west")))
EAST, NORTH, WEST = LINKS
SOURCES: tuple[LinkId | None, ...] = (None, *LINKS)


def patterns(*expressions: str) -> tuple[Pattern, ...]:
    return tuple(map(Pattern.parse, expressions))


ASKED = patterns(
    "/a", "/a[@x = 1]", "/a/b", "/a/b[. = 1]", "/a/b/c", "/a/b/c[@x]", "/a/b/d", "/a/c", "/a/c/d/e",
    "/a//b", "//b", "//b/c", "//b[@x]", "/b", "/b/c", "/*", "/*/a", "not(//c)", "false()",
    "/a/b | /b/c", "/a/b/c[@x] | //b/c/d", "/a/b[c]/d", "//a[2]/b", "/*:a/b", "//@x",
)  # fmt: skip


def naive(
    came: set[tuple[Pattern, LinkId | None]], link: LinkId, depth: int | None
) -> set[Pattern]:
    """The prefixes from elsewhere that no other prefix from elsewhere begins."""
    elsewhere = {
        prefix
        for pattern, source in came
        if source != link
        for prefix in structure_prefixes(pattern, depth)
    }
    return {
        prefix
        for prefix in elsewhere
        if not any(
            is_structure_prefix(shorter=other, longer=prefix) for other in elsewhere - {prefix}
        )
    }


class PrefixRoutesMachine(RuleBasedStateMachine):
    """Patterns and links come and go; what is forwarded is always what the definition says."""

    def __init__(self) -> None:
        super().__init__()
        self.came: set[tuple[Pattern, LinkId | None]] = set()
        self.links: set[LinkId] = set()
        self.sent: dict[LinkId, set[Pattern]] = {}

    @initialize(
        depth=st.one_of(st.none(), st.integers(1, 3)), links=st.sets(st.sampled_from(LINKS))
    )
    def begin(self, depth: int | None, links: set[LinkId]) -> None:
        self.depth = depth
        self.routes = PrefixSuppression(depth)
        for link in sorted(links):
            self.switch(link)

    @rule(pattern=st.sampled_from(ASKED), source=st.sampled_from(SOURCES))
    def add(self, pattern: Pattern, source: LinkId | None) -> None:
        if source is None or source in self.links:
            self.routes.add(pattern, source)
            self.came.add((pattern, source))

    @rule(pattern=st.sampled_from(ASKED), source=st.sampled_from(SOURCES))
    def remove(self, pattern: Pattern, source: LinkId | None) -> None:
        self.routes.remove(pattern, source)
        self.came.discard((pattern, source))

    @rule(rng=st.randoms(use_true_random=False))
    def take_one_that_came(self, rng: Random) -> None:
        if self.came:
            ordered = sorted(self.came, key=lambda each: (each[0].text, each[1] or ""))
            self.remove(*rng.choice(ordered))

    @rule(link=st.sampled_from(LINKS))
    def switch(self, link: LinkId) -> None:
        """A link comes or goes."""
        if link in self.links:
            self.routes.remove_link(link)
            self.links.discard(link)
            del self.sent[link]
            self.came = {(pattern, source) for pattern, source in self.came if source != link}
        else:
            self.routes.add_link(link)
            self.links.add(link)
            self.sent[link] = set()

    @rule()
    def flush(self) -> None:
        """The far brokers are told what has changed, and nothing that has not."""
        changes = self.routes.changes()
        assert list(changes) == sorted(changes)
        for link, (added, removed) in changes.items():
            assert added or removed
            assert self.sent[link].isdisjoint(added)
            assert self.sent[link].issuperset(removed)
            self.sent[link] = (self.sent[link] | set(added)) - set(removed)
        for link in self.links:
            assert self.sent[link] == naive(self.came, link, self.depth)
        assert self.routes.changes() == {}

    @invariant()
    def forwards_what_the_definition_says(self) -> None:
        for link in self.links:
            forwarded = self.routes.forwarded(link)
            assert list(forwarded) == sorted(forwarded, key=lambda each: each.text)
            assert set(forwarded) == naive(self.came, link, self.depth)

    def teardown(self) -> None:
        self.flush()
        for pattern, source in sorted(self.came, key=lambda each: each[0].text):
            self.remove(pattern, source)
        self.flush()
        assert not any(self.sent.values())


TestPrefixRoutes = PrefixRoutesMachine.TestCase


def routes_of(*links: LinkId, depth: int | None = None) -> PrefixSuppression:
    routes = PrefixSuppression(depth)
    for link in links:
        routes.add_link(link)
    return routes


def test_the_picture_of_the_module() -> None:
    routes = routes_of(EAST, WEST)
    a, ab, abc, ad = patterns("/a", "/a/b", "/a/b/c", "/a/d")
    for pattern, source in ((abc, WEST), (ad, WEST), (ab, EAST), (a, None)):
        routes.add(pattern, source)
    assert routes.changes() == {EAST: Difference((a,)), WEST: Difference((a,))}
    routes.remove(a, None)
    assert routes.changes() == {EAST: Difference((abc, ad), (a,)), WEST: Difference((ab,), (a,))}


def test_patterns_of_one_source_with_one_prefix_are_counted() -> None:
    routes = routes_of(EAST)
    one, two, bare = patterns("/a[@x = 1]", "/a[@x = 2]", "/a")
    routes.add(one, None)
    routes.add(one, None)
    routes.add(two, None)
    routes.changes()
    routes.remove(one, None)
    assert routes.changes() == {}
    routes.remove(one, None)
    assert routes.forwarded(EAST) == (bare,)
    routes.remove(two, None)
    assert routes.changes() == {EAST: Difference((), (bare,))}


def test_nothing_is_forwarded_back_to_where_it_came_from() -> None:
    routes = routes_of(EAST, WEST)
    (a,) = patterns("/a")
    routes.add(a, EAST)
    assert routes.changes() == {WEST: Difference((a,))}
    routes.add(a, WEST)
    assert routes.changes() == {EAST: Difference((a,))}


def test_everything_holds_back_all_else() -> None:
    routes = routes_of(EAST)
    for pattern in patterns("/a", "//b/c", "not(//d)"):
        routes.add(pattern, None)
    assert routes.forwarded(EAST) == patterns("/*")


def test_a_structure_prefix_is_not_held_back_by_a_pattern_that_only_covers_it() -> None:
    routes = routes_of(EAST)
    for pattern in patterns("/a/b", "//b"):
        routes.add(pattern, None)
    assert routes.forwarded(EAST) == patterns("//b", "/a/b")


def test_what_is_beyond_the_interested_depth_changes_nothing() -> None:
    """YAK, 4.3.2."""
    routes = routes_of(EAST, depth=3)
    routes.add(Pattern.parse("/a/b/c/e/f"), None)
    assert routes.changes() == {EAST: Difference(patterns("/a/b/c"))}
    routes.add(Pattern.parse("/a/b/c/f/e"), None)
    assert routes.changes() == {}


def test_the_first_change_over_a_new_link_is_all_of_it() -> None:
    routes = routes_of(EAST)
    for pattern, source in zip(patterns("/a/b", "/a/b/c", "/d"), (None, EAST, EAST), strict=True):
        routes.add(pattern, source)
    routes.changes()
    routes.add_link(WEST)
    assert routes.changes() == {WEST: Difference(patterns("/a/b", "/d"))}


def test_losing_a_link_takes_back_what_came_from_it() -> None:
    routes = routes_of(EAST, WEST)
    a, ab = patterns("/a", "/a/b")
    routes.add(ab, None)
    routes.add(a, EAST)
    routes.changes()
    routes.remove_link(EAST)
    assert routes.changes() == {WEST: Difference((ab,), (a,))}
    routes.add_link(EAST)
    assert routes.changes() == {EAST: Difference((ab,))}


# YAK, Figure 5: B1 in the middle of B2, B3 and B4.

B1, B2, B3, B4 = map(LinkId, ("B1", "B2", "B3", "B4"))
Q1, Q2, Q3 = patterns("/a", "/a/b[@d]", "/a/b/c")
AB = Pattern.parse("/a/b")


class Star:
    """Four brokers that hand each other their changes."""

    def __init__(self) -> None:
        self.brokers = {B1: routes_of(B2, B3, B4)}
        self.brokers |= {outer: routes_of(B1) for outer in (B2, B3, B4)}
        self.came: dict[LinkId, set[tuple[Pattern, LinkId | None]]] = {
            broker: set() for broker in self.brokers
        }

    def subscribe(self, broker: LinkId, pattern: Pattern) -> None:
        self._put(broker, pattern, None)
        self._settle()

    def unsubscribe(self, broker: LinkId, pattern: Pattern) -> None:
        self._take(broker, pattern, None)
        self._settle()

    def forward_list(self, broker: LinkId, prefix: Pattern) -> tuple[LinkId, ...]:
        """The links over which a prefix is forwarded, in the order of names (YAK, 4.1)."""
        routes = self.brokers[broker]
        links = (B2, B3, B4) if broker == B1 else (B1,)
        return tuple(link for link in links if prefix in routes.forwarded(link))

    def subscription_list(self, broker: LinkId, pattern: Pattern) -> set[LinkId | None]:
        return {source for each, source in self.came[broker] if each is pattern}

    def publish(
        self, broker: LinkId, document: bytes
    ) -> tuple[set[tuple[LinkId, LinkId]], set[LinkId]]:
        """The links that the document crosses, and the brokers with a client that receives it."""
        crossed, delivered = set(), set()
        on_its_way: list[tuple[LinkId, LinkId | None]] = [(broker, None)]
        while on_its_way:
            here, came_by = on_its_way.pop()
            for pattern, source in self.came[here]:
                text, namespaces = pattern.for_libxml2()
                if not oracle(text, document, namespaces):
                    continue
                if source is None:
                    delivered.add(here)
                elif source != came_by and (here, source) not in crossed:
                    crossed.add((here, source))
                    on_its_way.append((source, here))
        return crossed, delivered

    def _put(self, broker: LinkId, pattern: Pattern, source: LinkId | None) -> None:
        self.brokers[broker].add(pattern, source)
        self.came[broker].add((pattern, source))

    def _take(self, broker: LinkId, pattern: Pattern, source: LinkId | None) -> None:
        self.brokers[broker].remove(pattern, source)
        self.came[broker].discard((pattern, source))

    def _settle(self) -> None:
        unsettled = True
        while unsettled:
            unsettled = False
            for here, routes in self.brokers.items():
                for there, (added, removed) in routes.changes().items():
                    unsettled = True
                    for pattern in added:
                        self._put(there, pattern, here)
                    for pattern in removed:
                        self._take(there, pattern, here)


def figure_5a() -> Star:
    star = Star()
    star.subscribe(B1, Q1)
    return star


def figure_5b() -> Star:
    star = figure_5a()
    star.subscribe(B4, Q2)
    return star


def figure_5c() -> Star:
    star = figure_5b()
    star.subscribe(B3, Q3)
    return star


def test_a_query_is_forwarded_to_all_neighbours() -> None:
    """YAK, Figure 5(a)."""
    star = figure_5a()
    assert star.forward_list(B1, Q1) == (B2, B3, B4)
    for outer in (B2, B3, B4):
        assert star.subscription_list(outer, Q1) == {B1}
        assert star.forward_list(outer, Q1) == ()


def test_the_structure_of_a_query_is_held_back_by_its_prefix() -> None:
    """YAK, Figure 5(b)."""
    star = figure_5b()
    assert star.forward_list(B4, AB) == (B1,)
    assert star.subscription_list(B1, AB) == {B4}
    assert star.forward_list(B1, AB) == ()
    assert star.forward_list(B1, Q1) == (B2, B3, B4)
    assert star.came[B2] == star.came[B3] == {(Q1, B1)}


def test_a_longer_query_goes_no_further_than_where_its_prefix_came_from() -> None:
    """YAK, Figure 5(c)."""
    star = figure_5c()
    assert star.forward_list(B3, Q3) == (B1,)
    assert star.subscription_list(B1, Q3) == {B3}
    assert star.forward_list(B1, Q3) == ()
    assert star.came[B2] == {(Q1, B1)}
    assert star.came[B4] == {(Q1, B1), (Q2, None)}


def test_a_deletion_goes_as_far_as_the_query_had_gone() -> None:
    """YAK, Figure 5(d)."""
    star = figure_5c()
    star.unsubscribe(B4, Q2)
    assert star.came[B4] == {(Q1, B1)}
    assert star.came[B1] == {(Q1, None), (Q3, B3)}
    assert star.forward_list(B1, Q1) == (B2, B3, B4)
    assert star.forward_list(B1, Q3) == ()


def test_a_publication_goes_wherever_its_structure_is_asked_for() -> None:
    """YAK, Figure 5(e): it comes to B4 by its structure, and lacks what the client there wants."""
    crossed, delivered = figure_5c().publish(B2, b"<a><b><c/></b></a>")
    assert crossed == {(B2, B1), (B1, B3), (B1, B4)}
    assert delivered == {B1, B3}


def test_what_a_deleted_query_alone_held_back_is_forwarded() -> None:
    """YAK's deletion would leave B2 with nothing, and the document below with nobody."""
    star = figure_5c()
    star.unsubscribe(B1, Q1)
    assert star.forward_list(B1, Q1) == ()
    assert star.forward_list(B1, AB) == (B2, B3)
    assert star.forward_list(B1, Q3) == (B4,)
    crossed, delivered = star.publish(B2, b"<a><b d='1'><c/></b></a>")
    assert crossed == {(B2, B1), (B1, B3), (B1, B4)}
    assert delivered == {B3, B4}
