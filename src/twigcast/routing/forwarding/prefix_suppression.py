"""Structure prefixes, forwarded unless a shorter one is: the strategy ``prefix`` (YAK, 4.3).

Whatever comes is first cut down to its structure
(:mod:`~twigcast.routing.forwarding.structure_prefix`); what came over a link has been cut before
and stays as it is. The prefixes make a trie, a step an edge, and each node knows from which sources
a prefix ends there. Here /a came from the broker's own clients (None), /a/b from the link east,
/a/b/c and /a/d from west:

    (everything)
      └ /a  {None}              forwarded over east and west
          ├ /b  {east}          held back: over west /a is forwarded, and east sent it itself
          │   └ /c  {west}      held back over east by /a
          └ /d  {west}          held back over east by /a

Over a link we forward the prefixes from elsewhere that no other prefix from elsewhere begins: on
each way down from the root, the first node where some source other than the link ends. That depends
on what is there and not on the order in which it came. The links over which a prefix is forwarded
are its *forward list* in YAK.

**Leaving.** YAK deletes a subscription and tells whoever is in its forward list; what had been held
back because of it is never forwarded, and its documents are lost. Here, when a prefix ends no more,
the next ones below it take its place: had /a left, /a/b would be forwarded over west, and /a/b/c
and /a/d over east.

**Cost.** A node counts, for each source, at how many nodes of its subtree the source ends. So a put
or a take looks at the steps of its prefix, once for each link it matters to; and going down from a
node to those that it holds back, or no longer does, every way that is followed ends at a prefix
whose state changes.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TypeAlias

from twigcast.covering.delta import DeltaSet, Difference
from twigcast.covering.paths.linear import PathStep
from twigcast.language import Pattern
from twigcast.routing.events import LinkId
from twigcast.routing.forwarding.structure_prefix import EVERYTHING, Structure, structures

_Source: TypeAlias = LinkId | None


class _Node:
    """A node of the trie: a prefix, whether or not one ends here."""

    __slots__ = ("below", "children", "ending", "parent", "pattern", "step")

    def __init__(self, step: PathStep | None = None, parent: _Node | None = None) -> None:
        self.step = step
        self.parent = parent
        self.pattern = EVERYTHING
        """The prefix, if one has ever ended here."""
        self.children: dict[PathStep, _Node] = {}
        self.ending: dict[_Source, int] = {}
        """How many patterns of each source have this prefix."""
        self.below: dict[_Source, int] = {}
        """At how many nodes each source ends, of this one and all below it."""

    def concerns(self, link: LinkId) -> bool:
        """Whether the prefix came from elsewhere."""
        return len(self.ending) > (link in self.ending)

    def leads_to_some(self, link: LinkId) -> bool:
        """Whether this prefix, or one that it begins, came from elsewhere."""
        return len(self.below) > (link in self.below)

    def upwards(self) -> Iterator[_Node]:
        """This node, its parent and so on to the root."""
        node: _Node | None = self
        while node is not None:
            yield node
            node = node.parent

    def next_for(self, link: LinkId) -> Iterator[_Node]:
        """On each way down, the first node below this one whose prefix came from elsewhere."""
        unseen = list(self.children.values())
        while unseen:
            node = unseen.pop()
            if node.concerns(link):
                yield node
            elif node.leads_to_some(link):
                unseen += node.children.values()


class PrefixSuppression:
    """What is forwarded over each link as structure prefixes; keeps to the protocol Forwarded.

    >>> routes = PrefixSuppression(depth=None)
    >>> routes.add_link(LinkId("east"))
    >>> routes.add(Pattern.parse("/a/b[@x = 1]"), None)
    >>> routes.add(Pattern.parse("/a/b/c"), None)
    >>> routes.forwarded(LinkId("east"))
    (Pattern('/a/b'),)
    >>> routes.remove(Pattern.parse("/a/b[@x = 1]"), None)
    >>> routes.forwarded(LinkId("east"))
    (Pattern('/a/b/c'),)
    """

    def __init__(self, depth: int | None = None) -> None:
        self._depth = depth
        self._root = _Node()
        self._came: dict[_Source, dict[Pattern, tuple[_Node, ...]]] = {}
        self._links: dict[LinkId, DeltaSet] = {}

    def add_link(self, link: LinkId) -> None:
        """From now on report what is forwarded over a link, too: its first change is all of it."""
        sent = self._links[link] = DeltaSet()
        first = [self._root] if self._root.concerns(link) else self._root.next_for(link)
        for node in first:
            sent.add(node.pattern)

    def remove_link(self, link: LinkId) -> None:
        """Forget a link, and all that came from it."""
        del self._links[link]
        for pattern in list(self._came.get(link, ())):
            self.remove(pattern, link)

    def add(self, pattern: Pattern, source: LinkId | None) -> None:
        """A pattern came from a source; nothing happens if it had come from there before."""
        came = self._came.setdefault(source, {})
        if pattern in came:
            return
        came[pattern] = tuple(map(self._node, structures(pattern, self._depth)))
        for node in came[pattern]:
            if source in node.ending:
                node.ending[source] += 1
            else:
                self._begin(node, source)

    def remove(self, pattern: Pattern, source: LinkId | None) -> None:
        """A source takes a pattern back; nothing happens if it did not come from there."""
        came = self._came.get(source, {})
        for node in came.pop(pattern, ()):
            if node.ending[source] > 1:
                node.ending[source] -= 1
            else:
                self._end(node, source)
        if source in self._came and not came:
            del self._came[source]

    def changes(self) -> dict[LinkId, Difference]:
        """What is forwarded anew and what no more over each link, since the last call."""
        differences = {link: self._links[link].difference() for link in sorted(self._links)}
        return {link: difference for link, difference in differences.items() if any(difference)}

    def forwarded(self, link: LinkId) -> tuple[Pattern, ...]:
        """All that is forwarded over a link, in the order of texts."""
        return self._links[link].patterns()

    def _node(self, structure: Structure) -> _Node:
        """The node of a prefix, made if it was not there."""
        node = self._root
        for step in structure.path:
            child = node.children.get(step)
            if child is None:
                child = node.children[step] = _Node(step, node)
            node = child
        node.pattern = structure.pattern
        return node

    def _begin(self, node: _Node, source: _Source) -> None:
        """A source had no pattern with this prefix, and now has one."""
        for link in self._deciding(node, source):
            sent = self._links[link]
            for longer in node.next_for(link):
                sent.remove(longer.pattern)
            sent.add(node.pattern)
        node.ending[source] = 1
        for each in node.upwards():
            each.below[source] = each.below.get(source, 0) + 1

    def _end(self, node: _Node, source: _Source) -> None:
        """A source has no pattern with this prefix any more."""
        del node.ending[source]
        for each in node.upwards():
            each.below[source] -= 1
            if not each.below[source]:
                del each.below[source]
        for link in self._deciding(node, source):
            sent = self._links[link]
            sent.remove(node.pattern)
            for longer in node.next_for(link):
                sent.add(longer.pattern)
        self._prune(node)

    def _deciding(self, node: _Node, source: _Source) -> list[LinkId]:
        """The links over which a prefix is forwarded with this source, and not without it.

        The source is not among those that end at the node: not yet, or no more.
        """
        links = [link for link in self._links if link != source]
        for each in node.upwards():
            if not links:
                break
            # Of the links, at most the one that sent it is left.
            if each.ending:
                links = [link for link in links if not each.concerns(link)]
        return links

    def _prune(self, node: _Node) -> None:
        """Forget the nodes from here upwards below which nothing ends."""
        while node.parent is not None and node.step is not None and not node.below:
            del node.parent.children[node.step]
            node = node.parent
