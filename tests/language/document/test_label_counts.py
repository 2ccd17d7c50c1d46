"""Labels are counted alike, however many names a document has."""

from __future__ import annotations

import pytest
from hypothesis import given

from tests.strategies import documents
from twigcast.language import Document
from twigcast.language.condition.model import Kind, Label
from twigcast.language.document import label_counts


def test_a_label_counts_by_its_full_name_and_by_its_local_name() -> None:
    labels = Document.parse(b"<a xmlns='u' x='1'><b/><b xmlns='' x='2'/></a>").labels
    assert labels == {
        Label(Kind.ELEMENT, "u", "a"): 1,
        Label(Kind.ELEMENT, None, "a"): 1,
        Label(Kind.ELEMENT, "u", "b"): 1,
        Label(Kind.ELEMENT, "", "b"): 1,
        Label(Kind.ELEMENT, None, "b"): 2,
        Label(Kind.ATTRIBUTE, "", "x"): 2,
        Label(Kind.ATTRIBUTE, None, "x"): 2,
    }


@given(documents())
def test_many_names_are_counted_as_few_are(content: bytes) -> None:
    few = Document.parse(content).labels
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(label_counts, "_VOCABULARY_MAX", 0)
        many = Document.parse(content).labels
    assert not isinstance(many, dict)
    assert dict(many) == few
    assert len(many) == len(few)
    assert Label(Kind.ELEMENT, "urn:nowhere", "a") not in many
    assert Label(Kind.ATTRIBUTE, None, "nowhere") not in many
    assert Label(Kind.ELEMENT) not in many
    assert Label(Kind.TEXT) not in many


def test_a_document_of_more_names_than_any_vocabulary_is_counted() -> None:
    names = b"".join(b"<n%d/><p:n%d n%d=''/>" % (n, n, n) for n in range(3_000))
    labels = Document.parse(b"<a xmlns:p='u'>%s</a>" % names).labels
    assert labels[Label(Kind.ELEMENT, "u", "n2999")] == 1
    assert labels[Label(Kind.ELEMENT, None, "n2999")] == 2
    assert labels[Label(Kind.ATTRIBUTE, "", "n2999")] == 1
    assert len(labels) == 3_000 * 5 + 2
