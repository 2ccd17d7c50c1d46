"""Label paths collected from documents."""

from __future__ import annotations

import pytest

from twigcast.covering.advertisements.advertisement import (
    Advertisement,
    overlaps,
)
from twigcast.covering.paths.automaton import AutomatonLimits
from twigcast.errors import DocumentLimitError, UsageError
from twigcast.language import Document, Pattern


def of(*contents: bytes) -> Advertisement:
    return Advertisement.of_documents(map(Document.parse, contents))


def test_no_path_is_made_up_from_samples() -> None:
    advertisement = of(b"<a><a><b/></a></a>")
    assert overlaps(advertisement, Pattern.parse("/a/a/b"))
    assert not overlaps(advertisement, Pattern.parse("/a/b"))
    assert not overlaps(advertisement, Pattern.parse("/a/a/a"))
    assert not advertisement.statistics().recursive


def test_samples_are_needed() -> None:
    with pytest.raises(UsageError, match="at least one document"):
        of()


def test_too_many_different_paths_are_refused_with_the_document() -> None:
    content = b"<a>" + b"".join(b"<e%d/>" % n for n in range(20)) + b"</a>"
    with pytest.raises(DocumentLimitError, match="states_max") as caught:
        Advertisement.of_documents(
            [Document.parse(content, name="wide.xml")], limits=AutomatonLimits(states_max=10)
        )
    assert caught.value.document == "wide.xml"
