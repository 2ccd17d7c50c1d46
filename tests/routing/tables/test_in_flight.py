"""Answers come in any order; per origin they count in the order the documents came."""

from __future__ import annotations

from itertools import permutations

import pytest

from twigcast.routing.events import BrokerId, Decide, Decided, Publication
from twigcast.routing.tables.in_flight import OpenDocument, OpenDocuments
from twigcast.routing.tables.route_table import RouteTable

LINKS = tuple(map(BrokerId, ("east", "north", "west")))


def opened(*origins: str) -> OpenDocuments:
    """Documents 0, 1, 2 … of these origins."""
    documents = OpenDocuments()
    for number, origin in enumerate(origins):
        publication = Publication(f"p{number}", BrokerId(origin), "", b"<a/>")
        assert documents.next_number == number
        effect = Decide(number, publication, None, 1)
        documents.add(OpenDocument(effect, RouteTable("lxml").snapshot()))
    return documents


def answered(documents: OpenDocuments, answer: Decided) -> list[tuple[int, Decided]]:
    """The answers that count now, with the numbers of their documents."""
    return [(document.effect.number, due) for document, due in documents.answer(answer)]


@pytest.mark.parametrize("order", list(permutations(range(3))))
def test_answers_in_any_order_count_in_the_order_of_the_documents(order: tuple[int, ...]) -> None:
    documents = opened("a", "a", "a")
    due = [number for each in order for number, _ in answered(documents, Decided(each))]
    assert due == [0, 1, 2]
    assert len(documents) == 0


def test_an_early_answer_waits_with_all_its_parts() -> None:
    documents = opened("a", "a")
    parts = [Decided(1, (link,), final=link == LINKS[-1]) for link in LINKS]
    for part in parts:
        assert answered(documents, part) == []
    assert answered(documents, Decided(0)) == [(0, Decided(0)), *((1, part) for part in parts)]


def test_parts_of_the_first_document_count_at_once() -> None:
    documents = opened("a", "a")
    first, last = Decided(0, LINKS[:1], final=False), Decided(0, LINKS[1:])
    assert answered(documents, Decided(1)) == []
    assert answered(documents, first) == [(0, first)]
    assert answered(documents, last) == [(0, last), (1, Decided(1))]


def test_a_part_of_the_next_document_counts_when_its_turn_comes() -> None:
    documents = opened("a", "a")
    part = Decided(1, LINKS[:1], final=False)
    assert answered(documents, part) == []
    assert answered(documents, Decided(0)) == [(0, Decided(0)), (1, part)]
    assert documents.fault(Decided(1)) is None
    assert answered(documents, Decided(1)) == [(1, Decided(1))]


def test_origins_do_not_wait_for_each_other() -> None:
    documents = opened("a", "b", "a")
    assert answered(documents, Decided(1)) == [(1, Decided(1))]
    assert answered(documents, Decided(2)) == []
    assert len(documents) == 2


def test_a_final_answer_is_waited_for_once() -> None:
    documents = opened("a", "a")
    assert documents.fault(Decided(1)) is None
    assert answered(documents, Decided(1)) == []
    assert documents.fault(Decided(1)) == "no document waits for the answer 1"
    assert documents.fault(Decided(7)) == "no document waits for the answer 7"
    assert documents[1].is_answered
    assert len(documents) == 2


def test_an_origin_may_begin_again_when_all_its_documents_are_answered() -> None:
    documents = opened("a")
    assert answered(documents, Decided(0)) == [(0, Decided(0))]
    publication = Publication("again", BrokerId("a"), "", b"<a/>")
    documents.add(OpenDocument(Decide(1, publication, None, 2), RouteTable("lxml").snapshot()))
    assert answered(documents, Decided(1)) == [(1, Decided(1))]
    assert (len(documents), documents.next_number) == (0, 2)
