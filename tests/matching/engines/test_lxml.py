"""The engine lxml asks the kernel only for what libxml2 leaves undecided."""

from __future__ import annotations

from collections.abc import Collection

from twigcast.language import Document, Pattern
from twigcast.matching import Decision
from twigcast.matching.engines.lxml import LxmlEngine
from twigcast.matching.interface.engine import Verdicts


class Wrong:
    """A kernel that has everything wrong, but for what is undecided."""

    costly_documents = 0

    def __init__(self) -> None:
        self.ids: set[int] = set()

    def add(self, id: int, pattern: Pattern) -> None:
        assert pattern.text
        self.ids.add(id)

    def remove(self, id: int) -> bool:
        there = id in self.ids
        self.ids.discard(id)
        return there

    def verdicts(self, document: Document, skip: Collection[int]) -> Verdicts:
        tree = document.tree
        found = {one for one in self.ids - {*skip} if tree.xpath(f"boolean(//b[{one}])")}
        return Verdicts(sorted(self.ids - found), [3], [9])


def test_the_engine_lxml_takes_only_what_is_undecided_from_the_kernel() -> None:
    engine = LxmlEngine(kernel=Wrong)
    for number in range(1, 10):
        engine.add(number, Pattern(f"//b[{number}]"))
    document = Document.parse(b"<a>" + b"<b/>" * 5 + b"</a>")
    assert engine.decide(document, ()) == Decision((1, 2, 3, 4, 5), (9,))
    engine.remove(2)
    assert engine.decide(document, [1]) == Decision((3, 4, 5), (9,))
    assert engine.decide_links(document, [[1, 6], [6, 7], [7, 9]], ()) == (
        [True, False, False],
        (9,),
    )
